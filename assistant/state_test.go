package assistant_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// stateStore is a store that stores session states and queued messages.
type stateStore struct {
	store
	states map[string]json.RawMessage

	saving func(assistant.Prompt) // called by SaveQueued; nil for nothing

	cleared, forgot int // calls of ClearQueued, and commits that remove a queued message
}

func (s *stateStore) Commit(ctx context.Context, b *assistant.Batch) error {
	if len(b.Queued) > 0 && len(b.Put) == 1 {
		s.forgot++
	}
	return s.store.Commit(ctx, b)
}

func (s *stateStore) SaveQueued(_ context.Context, _ string, p assistant.Prompt) error {
	if s.saving != nil {
		s.saving(p)
	}
	return nil
}

func (s *stateStore) ClearQueued(context.Context, string) error {
	s.cleared++
	return nil
}

func (s *stateStore) Queued(context.Context, string) (p assistant.Prompt, found bool, err error) {
	return p, false, nil
}

func (s *stateStore) SetSessionState(_ context.Context, id string, state json.RawMessage) error {
	s.states[id] = state
	return nil
}

func (s *stateStore) SessionState(_ context.Context, id string) (json.RawMessage, error) {
	return s.states[id], nil
}

// tabbed is a window with an open tab.
type tabbed struct {
	*at.Window
	tab string
}

func (w *tabbed) Position() (json.RawMessage, error) { return json.Marshal(w.tab) }

func (w *tabbed) SetPosition(position json.RawMessage) error {
	return json.Unmarshal(position, &w.tab)
}

func TestASessionIsRestoredWhereItWasLeft(t *testing.T) {
	kept := &stateStore{states: map[string]json.RawMessage{}}
	w := &tabbed{Window: at.NewWindow("one"), tab: "rules"}
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Window, o.Store = w, kept })
	r.send("first")
	w.tab = "models"
	r.must(r.session.Edit("add two", func() error { return w.Type("two") }))
	r.must(r.session.Close(t.Context()))

	again := &tabbed{Window: at.NewWindow("one", "two")} // as the next process opens it
	r.options.Window = again
	r.open()
	wantEqual(t, "tab", again.tab, "models")
	r.send("second")
	wantIn(t, r.systemOf(1), "changes_since_last_message", "two")
	r.send("third")
	wantIn(t, r.systemOf(2), `"changes_since_last_message":[]`)
}

// Another program may change the window between two runs of a session. How the
// window got to its state in this run is no change.
func TestAChangeBetweenTwoRunsIsToldOnce(t *testing.T) {
	kept := &stateStore{states: map[string]json.RawMessage{}}
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Store = kept })
	r.send("first")
	r.must(r.session.Close(t.Context()))

	for _, c := range []struct{ word, want string }{{"", `"changes_since_last_message":[]`}, {"two", `"type":"context_changed"`}} {
		again := at.NewWindow("one")
		if c.word != "" {
			r.must(again.Type(c.word)) // logged by the new window
		}
		r.options.Window = again
		r.open()
		n := len(r.script.Requests())
		r.send("more")
		wantIn(t, r.systemOf(n), c.want)
		if strings.Count(r.systemOf(n), `"type":`) > 1 {
			t.Errorf("more than one change: %s", r.systemOf(n))
		}
		r.send("again")
		wantIn(t, r.systemOf(n+1), `"changes_since_last_message":[]`)
	}
}
