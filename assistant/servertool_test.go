package assistant_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// serverTool is a tool of another program; ran is called in each call.
func serverTool(ran func(), asks bool) assistant.Tool {
	return assistant.Tool{
		Name: "post__send", Server: "post", Lasting: asks,
		Run: func(context.Context, json.RawMessage) assistant.ToolResult { ran(); return assistant.OK("sent", nil) },
	}
}

// A tool of another program asks, changes nothing of the window, and is stored at once.
func TestAToolOfAnotherProgram(t *testing.T) {
	for name, tt := range map[string]struct {
		confirm    assistant.ConfirmPolicy
		free       bool
		asks, runs bool
		answer     bool
	}{
		"agreed":                {asks: true, answer: true, runs: true},
		"declined":              {asks: true},
		"allowed by the user":   {free: true, runs: true},
		"allowed, always":       {confirm: assistant.ConfirmAlways, free: true, runs: true},
		"not allowed, always":   {confirm: assistant.ConfirmAlways, asks: true, answer: true, runs: true},
		"not allowed but never": {confirm: assistant.ConfirmNever, runs: true},
	} {
		t.Run(name, func(t *testing.T) {
			runs, stored := 0, atomic.Bool{}
			r := newRig(t, at.NewScript(at.Answer{at.Call{Name: "post__send", Arguments: `{}`}, at.Call{Name: "post__send", Arguments: `{}`}}, at.Answer{at.Say("done")}), func(o *assistant.Options) {
				o.Settings.Confirm = tt.confirm
				ran := func() {
					if runs++; runs == 2 && !stored.Load() {
						t.Error("the first call is not stored when the second one runs")
					}
				}
				o.Tools = func() []assistant.Tool { return []assistant.Tool{serverTool(ran, !tt.free)} }
			})
			r.store.onCommit(func(b *assistant.Batch) error {
				for _, p := range b.Put {
					if len(p.ToolCalls) > 0 {
						stored.Store(true)
					}
				}
				return nil
			})
			before := len(r.journal.List(""))
			after, err := r.session.Begin(context.Background(), assistant.Prompt{Text: "send it"})
			r.must(err)
			asked := false
			for e := range r.session.Events(context.Background(), after) {
				if ask, ok := e.(assistant.ConfirmRequest); ok {
					asked = true
					if ask.Server != "post" {
						t.Errorf("the question is %+v", ask)
					}
					r.must(r.session.Answer(ask.ID, tt.answer))
				}
			}
			if asked != tt.asks || (runs == 2) != tt.runs {
				t.Errorf("asked %v, %d runs; want %v, %v", asked, runs, tt.asks, tt.runs)
			}
			if now := len(r.journal.List("")); now != before {
				t.Errorf("%d checkpoints, want %d", now, before)
			}
		})
	}
}
