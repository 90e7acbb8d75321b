package tui

import (
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// TestQueuedEndsTheTurnAfterItsTools: the response that streams runs to its
// end, its tools run and are recorded, and then the queued message is the next
// turn. The model is not asked again for the first one.
func TestQueuedEndsTheTurnAfterItsTools(t *testing.T) {
	gate := at.NewGate()
	r := start(t, 100, 24,
		at.Answer{at.Say("Adding."), at.Call{Name: "add_word", Arguments: `{"word":"three"}`}, at.Stop{At: gate}},
		say("second answer"), say("never"))
	r.Type("first", tuitest.Send)
	gate.Wait(t)
	r.Type("second", tuitest.Send)
	r.Wait("queued: second")
	gate.Open()
	r.Wait("second answer")
	r.Wait("✓ add_word")
	r.Wait("2/2")
	r.WaitGone("working")
	if got := strings.Join(r.window.Words(), " "); got != "one two three" {
		t.Errorf("the words are %q", got)
	}
	requests := r.script.Requests()
	if len(requests) != 2 || lastUser(r.script) != "second" {
		t.Fatalf("%d requests, the last asks %q; want the queued message as the second", len(requests), lastUser(r.script))
	}
	var roles []string
	for _, m := range requests[1].Messages {
		roles = append(roles, string(m.Role))
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool user" {
		t.Errorf("the second request holds %s; want the exchange of the first turn, whole", got)
	}
	pairs := r.pairs(t)
	if len(pairs) != 2 || pairs[0].State != assistant.PairComplete || len(pairs[0].ToolCalls) != 1 {
		t.Errorf("the pairs are %+v; want the first one complete, with its call", pairs)
	}
}

// pairs are all that is stored.
func (r *rig) pairs(t *testing.T) []assistant.Pair {
	t.Helper()
	refs, err := r.store.Refs(t.Context(), "", 3.5)
	if err != nil {
		t.Fatal(err)
	}
	seqs := make([]int64, len(refs))
	for i, ref := range refs {
		seqs[i] = ref.Seq
	}
	pairs, err := r.store.Load(t.Context(), seqs)
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

func TestQueuedWorksFromEveryMode(t *testing.T) {
	for name, c := range map[string]struct {
		keys []any
		sent bool
	}{
		"edit, VIEW":         {[]any{tuitest.Tab, tuitest.Key("alt+e")}, false},
		"drop, VIEW":         {[]any{tuitest.Tab, tuitest.Key("alt+x")}, false},
		"send now, VIEW":     {[]any{tuitest.Tab, tuitest.Key("alt+s")}, true},
		"edit by its card":   {[]any{tuitest.Key("alt+q"), "e"}, false},
		"drop by its card":   {[]any{tuitest.Key("alt+q"), "d"}, false},
		"send now, its card": {[]any{tuitest.Key("alt+q"), "s"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, gate := waiting(t, say("second answer"))
			r.Type(c.keys[0])
			r.clock.Advance(overlayGuard)
			r.Type(c.keys[1])
			r.WaitGone("queued: second")
			gate.Open()
			if c.sent {
				r.Wait("second answer")
			}
			r.WaitGone("working")
			if got := lastUser(r.script) == "second"; got != c.sent {
				t.Errorf("the message was sent: %v, want %v", got, c.sent)
			}
		})
	}
}
