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
		mode, key string
		sent      bool
	}{
		"edit, VIEW":      {"VIEW", "e", false},
		"drop, VIEW":      {"VIEW", "d", false},
		"send now, VIEW":  {"VIEW", "s", true},
		"edit, INPUT":     {"INPUT", "e", false},
		"drop, INPUT":     {"INPUT", "d", false},
		"send now, INPUT": {"INPUT", "s", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, gate := waiting(t, say("second answer"))
			if c.mode == "VIEW" {
				r.Type(tuitest.Tab)
				r.Wait(" VIEW ")
			}
			r.answerQueued(c.key)
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
