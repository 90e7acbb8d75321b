package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"regexp"
	"time"
	"unicode/utf8"
)

// wordsAndSpace are a word and the space behind it, so that joining them gives
// the text back.
var wordsAndSpace = regexp.MustCompile(`[^ \n]*[ \n]+|[^ \n]+`)

// chunks are the documents of a reply as a stream: a word, or a call, each. The
// id comes from the request's body, and the time is 0: the same request gives
// the same bytes. With usage the last one holds the estimated tokens.
func chunks(body []byte, usage bool, r reply) []map[string]any {
	h := fnv.New64a()
	_, _ = h.Write(body) // a hash never fails
	id := fmt.Sprintf("chatcmpl-%016x", h.Sum64())
	chunk := func(choices ...any) map[string]any {
		return map[string]any{"id": id, "object": "chat.completion.chunk", "created": 0, "model": ModelID, "choices": append([]any{}, choices...)}
	}
	var out []map[string]any
	add := func(delta map[string]any, finish any) {
		out = append(out, chunk(map[string]any{"index": 0, "delta": delta, "finish_reason": finish}))
	}
	add(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, w := range wordsAndSpace.FindAllString(r.thought, -1) {
		add(map[string]any{"reasoning_content": w}, nil)
	}
	for _, w := range wordsAndSpace.FindAllString(r.text, -1) {
		add(map[string]any{"content": w}, nil)
	}
	finish := "stop"
	for i, p := range r.calls {
		finish = "tool_calls"
		add(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": p.id, "type": "function", "function": map[string]any{"name": p.name, "arguments": ""}}}}, nil)
		add(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": p.args}}}}, nil)
	}
	add(map[string]any{}, finish)
	if usage {
		prompt, output := tokens(utf8.RuneCount(body)), tokens(utf8.RuneCountInString(r.text+r.thought))
		last := chunk()
		last["usage"] = map[string]any{"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
		out = append(out, last)
	}
	return out
}

// tokens is winnow's estimate of a text's size.
func tokens(runes int) int {
	const runesPerToken = 3.5
	return int((float64(runes) + runesPerToken - 1) / runesPerToken)
}

// stream writes chunks as server-sent events, with a pause between them, and
// stops at once when ctx ends.
func stream(ctx context.Context, w http.ResponseWriter, chunks []map[string]any, delay time.Duration) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	send := func(data []byte) bool {
		_, err := fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush() // a writer that cannot flush sends at the end
		return err == nil
	}
	for i, chunk := range chunks {
		if i > 0 && delay > 0 {
			select {
			case <-time.After(delay):
			case <-ctx.Done():
			}
		}
		data, err := json.Marshal(chunk)
		if err != nil || ctx.Err() != nil || !send(data) {
			return
		}
	}
	send([]byte("[DONE]"))
}
