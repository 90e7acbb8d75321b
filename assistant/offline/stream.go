package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// runesPerToken is the estimate behind the reported usage, the one winnow uses.
const runesPerToken = 3.5

// argumentPiece is how many bytes of a call's arguments go into one chunk.
const argumentPiece = 24

// completion is a reply as the wire shows it. Its id comes from the request,
// and its time is 0: the same request gives the same bytes.
type completion struct {
	id     string
	reply  reply
	prompt int // tokens
	output int
}

func newCompletion(body []byte, r reply) *completion {
	h := fnv.New64a()
	_, _ = h.Write(body) // a hash never fails
	c := &completion{id: fmt.Sprintf("chatcmpl-%016x", h.Sum64()), reply: r, prompt: tokens(utf8.RuneCount(body))}
	n := utf8.RuneCountInString(r.text) + utf8.RuneCountInString(r.thought)
	for _, p := range r.calls {
		n += utf8.RuneCountInString(p.name) + utf8.RuneCount(p.args)
	}
	c.output = tokens(n)
	return c
}

func tokens(runes int) int { return int((float64(runes) + runesPerToken - 1) / runesPerToken) }

func (c *completion) finish() string {
	if len(c.reply.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (c *completion) usage() map[string]any {
	return map[string]any{"prompt_tokens": c.prompt, "completion_tokens": c.output, "total_tokens": c.prompt + c.output}
}

// whole is the reply as one document.
func (c *completion) whole() map[string]any {
	msg := map[string]any{"role": "assistant", "content": c.reply.text, "reasoning_content": c.reply.thought}
	if len(c.reply.calls) > 0 {
		var calls []any
		for _, p := range c.reply.calls {
			calls = append(calls, map[string]any{
				"id": p.id, "type": "function",
				"function": map[string]any{"name": p.name, "arguments": string(p.args)},
			})
		}
		msg["tool_calls"] = calls
	}
	return map[string]any{
		"id": c.id, "object": "chat.completion", "created": 0, "model": ModelID, "usage": c.usage(),
		"choices": []any{map[string]any{"index": 0, "message": msg, "finish_reason": c.finish()}},
	}
}

// stream writes the reply as server-sent events and stops at once when ctx ends.
func (c *completion) stream(ctx context.Context, w http.ResponseWriter, delay time.Duration, usage bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &sender{ctx: ctx, w: w, flush: http.NewResponseController(w), delay: delay}
	s.delta(c, map[string]any{"role": "assistant", "content": ""})
	for _, p := range pieces(c.reply.thought) {
		s.delta(c, map[string]any{"reasoning_content": p})
	}
	for _, p := range pieces(c.reply.text) {
		s.delta(c, map[string]any{"content": p})
	}
	for i, p := range c.reply.calls {
		c.streamCall(s, i, p)
	}
	s.event(c.chunk(map[string]any{}, c.finish()))
	if usage {
		last := c.chunk(nil, nil)
		last["choices"], last["usage"] = []any{}, c.usage()
		s.event(last)
	}
	s.done()
}

// streamCall sends a call's name, then its arguments in pieces.
func (c *completion) streamCall(s *sender, i int, p pending) {
	head := map[string]any{"index": i, "id": p.id, "type": "function", "function": map[string]any{"name": p.name, "arguments": ""}}
	s.delta(c, map[string]any{"tool_calls": []any{head}})
	for _, piece := range runs(string(p.args), argumentPiece) {
		s.delta(c, map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": piece}}}})
	}
}

func (c *completion) chunk(delta map[string]any, finish any) map[string]any {
	return map[string]any{
		"id": c.id, "object": "chat.completion.chunk", "created": 0, "model": ModelID,
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
	}
}

// sender writes events until the client is gone.
type sender struct {
	ctx   context.Context
	w     http.ResponseWriter
	flush *http.ResponseController
	delay time.Duration
	sent  bool
	err   error
}

func (s *sender) delta(c *completion, d map[string]any) { s.event(c.chunk(d, nil)) }

func (s *sender) event(v any) {
	if s.err != nil {
		return
	}
	if s.pause(); s.err != nil {
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		s.err = err
		return
	}
	s.write("data: " + string(b) + "\n\n")
}

func (s *sender) done() { s.write("data: [DONE]\n\n") }

func (s *sender) write(text string) {
	if s.err == nil {
		_, s.err = s.w.Write([]byte(text))
	}
	if s.err == nil {
		if err := s.flush.Flush(); err != nil && !strings.Contains(err.Error(), "not supported") {
			s.err = err
		}
	}
}

// pause waits between chunks, and ends the stream with its client.
func (s *sender) pause() {
	if s.err = s.ctx.Err(); s.err != nil || s.delay <= 0 || !s.sent {
		s.sent = true
		return
	}
	timer := time.NewTimer(s.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
		s.err = s.ctx.Err()
	}
}

// pieces splits text after each word, so that joining them gives it back.
func pieces(text string) []string {
	var out []string
	for text != "" {
		i := strings.IndexAny(text, " \n")
		if i < 0 {
			return append(out, text)
		}
		for i < len(text) && (text[i] == ' ' || text[i] == '\n') {
			i++
		}
		out = append(out, text[:i])
		text = text[i:]
	}
	return out
}

// runs splits text into pieces of about n bytes, never inside a rune.
func runs(text string, n int) []string {
	var out []string
	for len(text) > n {
		i := n
		for i < len(text) && !utf8.RuneStart(text[i]) {
			i++
		}
		out = append(out, text[:i])
		text = text[i:]
	}
	return append(out, text)
}
