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

// runesPerToken is the estimate behind the reported usage, the one winnow uses.
const runesPerToken = 3.5

// completion is a reply as the wire shows it. Its id comes from the request,
// and its time is 0: the same request gives the same bytes.
type completion struct {
	id    string
	reply reply
	usage map[string]any
}

func newCompletion(body []byte, r reply) *completion {
	h := fnv.New64a()
	_, _ = h.Write(body) // a hash never fails
	out := r.text + r.thought
	for _, p := range r.calls {
		out += p.name + p.args
	}
	prompt, output := tokens(utf8.RuneCount(body)), tokens(utf8.RuneCountInString(out))
	return &completion{fmt.Sprintf("chatcmpl-%016x", h.Sum64()), r, map[string]any{
		"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output,
	}}
}

func tokens(runes int) int { return int((float64(runes) + runesPerToken - 1) / runesPerToken) }

func (c *completion) finish() string {
	if len(c.reply.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// document is what whole answers and chunks have in common.
func (c *completion) document(object string, choices ...any) map[string]any {
	return map[string]any{"id": c.id, "object": object, "created": 0, "model": ModelID, "choices": append([]any{}, choices...)}
}

// toolCall is a call on the wire.
func toolCall(i int, p pending, arguments string) map[string]any {
	return map[string]any{"index": i, "id": p.id, "type": "function", "function": map[string]any{"name": p.name, "arguments": arguments}}
}

// whole is the reply as one document.
func (c *completion) whole() map[string]any {
	msg := map[string]any{"role": "assistant", "content": c.reply.text, "reasoning_content": c.reply.thought}
	var calls []any
	for i, p := range c.reply.calls {
		calls = append(calls, toolCall(i, p, p.args))
		msg["tool_calls"] = calls
	}
	d := c.document("chat.completion", map[string]any{"index": 0, "message": msg, "finish_reason": c.finish()})
	d["usage"] = c.usage
	return d
}

// chunks are the documents of the reply as a stream: a word, or a call, each.
func (c *completion) chunks(usage bool) []map[string]any {
	var out []map[string]any
	add := func(delta map[string]any, finish any) {
		out = append(out, c.document("chat.completion.chunk", map[string]any{"index": 0, "delta": delta, "finish_reason": finish}))
	}
	add(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, w := range wordsAndSpace.FindAllString(c.reply.thought, -1) {
		add(map[string]any{"reasoning_content": w}, nil)
	}
	for _, w := range wordsAndSpace.FindAllString(c.reply.text, -1) {
		add(map[string]any{"content": w}, nil)
	}
	for i, p := range c.reply.calls {
		add(map[string]any{"tool_calls": []any{toolCall(i, p, "")}}, nil)
		add(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": p.args}}}}, nil)
	}
	add(map[string]any{}, c.finish())
	if usage {
		last := c.document("chat.completion.chunk")
		last["usage"] = c.usage
		out = append(out, last)
	}
	return out
}

// stream writes the reply as server-sent events, with a pause between them, and
// stops at once when ctx ends.
func (c *completion) stream(ctx context.Context, w http.ResponseWriter, delay time.Duration, usage bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	send := func(data []byte) bool {
		_, err := fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush() // a writer that cannot flush sends at the end
		return err == nil
	}
	for i, chunk := range c.chunks(usage) {
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

// wordsAndSpace are a word and the space behind it, so that joining them gives
// the text back.
var wordsAndSpace = regexp.MustCompile(`[^ \n]*[ \n]+|[^ \n]+`)
