package assistant_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/checkpoint"
)

// undoes returns a session whose model adds words or calls undo, one answer a message.
func undoes(t *testing.T, answers ...at.Answer) *rig {
	t.Helper()
	undo := assistant.NewTool("undo", "Undoes.", func(ctx context.Context, a struct {
		Steps int `json:"steps"`
	},
	) (string, error) {
		undone, err := assistant.UndoSteps(ctx, a.Steps)
		return strings.Join(undone, "; "), err
	})
	undo.Write, undo.Global = true, true
	pages := &assistant.Pages{}
	if err := pages.AddTool(undo); err != nil {
		t.Fatal(err)
	}
	var all []at.Answer
	for _, a := range answers {
		all = append(all, a, at.Answer{at.Say("ok")})
	}
	return newRig(t, at.NewScript(all...), func(o *assistant.Options) { o.Pages = pages })
}

func undoCall(steps string) at.Answer { return at.Answer{call("undo", `{"steps":`+steps+`}`)} }

// result sends a message and returns the result of the last tool.
func (r *rig) result(text string) assistant.ToolComplete {
	all := at.Only[assistant.ToolComplete](r.send(text))
	return all[len(all)-1]
}

func TestTheAssistantUndoesItsOwnSteps(t *testing.T) {
	r := undoes(t, at.Answer{addWord("two"), addWord("three")}, at.Answer{addWord("four")}, undoCall("1"), undoCall("1"), undoCall("1"))
	r.send("a")
	r.send("b")
	if got := r.result("undo"); !got.Success || !strings.Contains(got.Message, "four") {
		t.Errorf("undo = %+v", got)
	}
	wantList(t, "words", r.window.Words(), "one", "two", "three")
	r.result("undo once more: the turn before, not what was undone")
	wantList(t, "words", r.window.Words(), "one")
	if got := r.result("undo again"); got.Success || !strings.Contains(got.Message, assistant.ErrNothingToUndo.Error()) {
		t.Errorf("nothing to undo = %+v", got)
	}
	// An undo is a step like any other: the user can take it back.
	last, ok := r.session.LastStep()
	if !ok {
		t.Fatal("no step")
	}
	_, err := r.session.Rollback(t.Context(), last.ID, checkpoint.ScopeWindow, last.ID)
	r.must(err)
	wantList(t, "words", r.window.Words(), "one", "two", "three")
}

func TestTheAssistantUndoesWhatItsTurnDidSoFar(t *testing.T) {
	r := undoes(t, at.Answer{addWord("two")}, at.Answer{addWord("three"), call("undo", `{"steps":1}`), addWord("four")}, undoCall("5"))
	r.send("a")
	r.send("b")
	wantList(t, "words", r.window.Words(), "one", "two", "four")
	if got := r.result("undo"); !got.Success {
		t.Errorf("undo = %+v", got)
	}
	wantList(t, "words", r.window.Words(), "one")
}

func TestTheAssistantUndoesNothingOfTheUser(t *testing.T) {
	r := undoes(t, at.Answer{addWord("two")}, undoCall("1"), at.Answer{addWord("four")}, undoCall("3"), undoCall("1"))
	r.send("a")
	r.must(r.session.Edit("Add three", func() error { return r.window.Type("three") }))
	if got := r.result("undo"); got.Success || !strings.Contains(got.Message, "Add three") {
		t.Errorf("undo of the user's step = %+v", got)
	}
	r.send("four")
	r.result("undo three")
	wantList(t, "words", r.window.Words(), "one", "two", "three")
	// What another program changed is nobody's step.
	r.must(r.window.Type("outside"))
	if got := r.result("undo"); got.Success {
		t.Errorf("undo of a change outside = %+v", got)
	}
	wantList(t, "words", r.window.Words(), "one", "two", "three", "outside")
}

func TestUndoOutsideACall(t *testing.T) {
	if _, err := assistant.UndoSteps(t.Context(), 1); err == nil || errors.Is(err, assistant.ErrNothingToUndo) {
		t.Errorf("UndoSteps = %v", err)
	}
}
