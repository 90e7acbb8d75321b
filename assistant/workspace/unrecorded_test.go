package workspace_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/checkpoint"
)

// breakJournal makes every later write of the journal fail.
func (r *rig) breakJournal() { r.must(os.Remove(r.session.Journal().Path())) }

// What fails after a save or a rollback was done is a warning: it was done.
func TestWhatWasDoneIsNoError(t *testing.T) {
	r := newRig(t)
	r.typeWord("two")
	r.window.ran = r.breakJournal
	saved, err := r.Save(r.ctx, assistant.Basis{})
	if err != nil || !saved.Written || !strings.Contains(string(saved.Warning), "not recorded") {
		t.Errorf("Save = %+v, %v", saved, err)
	}
	if r.Unsaved() {
		t.Error("the words are not saved")
	}

	r = newRig(t)
	r.typeWord("two")
	r.window.applied = r.breakJournal
	back, err := r.undo(checkpoint.ScopeWindow)
	if err != nil || !strings.Contains(string(back.Warning), "the rollback was done, but could not be recorded") {
		t.Errorf("Rollback = %+v, %v", back, err)
	}
	if words := r.window.Words(); !slices.Equal(words, []string{"one"}) {
		t.Errorf("words = %q", words)
	}

	r = newRig(t)
	r.typeWord("two")
	_, err = r.undo(checkpoint.ScopeWindow)
	r.must(err)
	r.window.applied = r.breakJournal
	warning, _, err := r.UndoRollback(r.ctx, nil)
	if err != nil || !strings.Contains(string(warning), "the rollback was undone, but could not be recorded") {
		t.Errorf("UndoRollback = %q, %v", warning, err)
	}
}

// A tool whose change cannot be recorded is taken back, and said to have failed.
func TestAToolThatCannotBeRecorded(t *testing.T) {
	r := newRig(t, add("two"), say("done"))
	r.window.ran = r.breakJournal
	sent, err := at.Send(r.ctx, r, assistant.Prompt{Text: "add two"})
	r.must(err)
	events := at.Events(t, sent)
	for _, e := range events {
		if e, ok := e.(assistant.ToolComplete); ok && (e.Success || !strings.Contains(e.Message, "nothing was changed")) {
			t.Errorf("the tool ends with %+v", e)
		}
	}
	if _, failed := events[len(events)-1].(assistant.Error); !failed || len(r.window.Words()) != 1 {
		t.Errorf("words %q, the turn ends with %+v", r.window.Words(), events[len(events)-1])
	}
}

// once calls a function that is set, and unsets it.
func once(do *func()) {
	if f := *do; f != nil {
		*do = nil
		f()
	}
}

// Apply also calls applied once.
func (w *window) Apply(state json.RawMessage) error {
	err := w.Window.Apply(state)
	once(&w.applied)
	return err
}

// Tools also call ran once, after they ran.
func (w *window) Tools() []assistant.Tool {
	tools := w.Window.Tools()
	for i, t := range tools {
		tools[i].Run = func(ctx context.Context, args json.RawMessage) assistant.ToolResult {
			r := t.Run(ctx, args)
			once(&w.ran)
			return r
		}
	}
	return tools
}
