package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"winnow/checkpoint"
)

// ErrNothingToUndo is returned by UndoSteps if the session's assistant has no step in
// effect.
var ErrNothingToUndo = errors.New("the assistant has made no change in this session that could be undone")

// NotYoursError is returned by UndoSteps if the newest step, which must be undone first, was
// not made by the session's assistant.
type NotYoursError struct{ What string } // describes the newest step

func (e *NotYoursError) Error() string {
	return fmt.Sprintf("the newest change was not made by the assistant of this session: %s; only the user can undo it", e.What)
}

var errNoTurn = errors.New("only a tool call in a session with checkpoints can undo steps")

type undoKey struct{}

// UndoSteps undoes the last n steps of the session's assistant; a turn with changes is one
// step. It returns descriptions of the undone steps, newest first. There are fewer than n if
// the next older step was not made by the assistant, or if there is none. What a step wrote
// to a file stays written. ctx must be the context of a write tool call in a session with
// checkpoints. Errors are ErrNothingToUndo, a *NotYoursError, or one from the window.
func UndoSteps(ctx context.Context, n int) (undone []string, err error) {
	undo, ok := ctx.Value(undoKey{}).(func(int) ([]string, error))
	if !ok {
		return nil, errNoTurn
	}
	return undo(n)
}

// step is a change to the window that is in effect, made by a turn or otherwise.
type step struct {
	before, after string // states without the position
	state         json.RawMessage
	turn          string // checkpoint id of the turn; "" if the step is not by this session's assistant
	tools         []checkpoint.ToolSummary
	what          string // description, if the step is not by this session's assistant
}

func (s *step) text() string {
	if s.turn != "" {
		return checkpoint.Describe(s.tools)
	}
	return s.what
}

// undo implements UndoSteps for the running turn.
func (t *turn) undo(n int) (undone []string, err error) {
	w := t.s.opts.Window
	if w == nil || t.s.opts.Journal == nil {
		return nil, errNoTurn
	}
	steps := t.steps(positionOf(w))
	var state json.RawMessage
	for i := len(steps) - 1; i >= 0 && len(undone) < n && steps[i].turn != ""; i-- {
		undone, state = append(undone, steps[i].text()), steps[i].state
	}
	switch {
	case len(undone) > 0:
		return undone, applyInPlace(w, state)
	case len(steps) > 0 && n > 0:
		return nil, &NotYoursError{steps[len(steps)-1].text()}
	}
	return nil, ErrNothingToUndo
}

// steps lists the steps in effect, oldest first. A change that returns to an earlier state,
// as undo does, cancels the steps in between. Changes to the position are not steps.
func (t *turn) steps(position []string) (out []step) {
	mine := map[string]bool{} // checkpoints of this session's turns
	t.s.opts.Journal.Replay(func(r checkpoint.Record) {
		if c := r.Checkpoint; c != nil && c.Kind == checkpoint.KindTurn && c.Session == t.session {
			mine[c.ID] = true
		}
		if r.Before.Text() == "" || r.Before.Text() == r.After.Text() {
			return
		}
		s := step{before: without(r.Before.Raw(), position), after: without(r.After.Raw(), position), state: r.Before.Raw(), what: "a change outside winnow"}
		switch {
		case s.before == s.after:
			return
		case r.Op == checkpoint.OpRecord && mine[r.For]:
			s.turn, s.tools = r.For, r.Tools
		case r.Checkpoint != nil:
			s.what = r.Checkpoint.Description
		case r.Op == checkpoint.OpRecord && r.For != "":
			s.what = checkpoint.Describe(r.Tools)
		}
		if i := slices.IndexFunc(out, func(earlier step) bool { return earlier.before == s.after }); i >= 0 {
			out = out[:i]
			return
		}
		if i := len(out) - 1; i >= 0 && s.turn != "" && out[i].turn == s.turn {
			out[i].after, out[i].tools = s.after, append(slices.Clip(out[i].tools), s.tools...)
			return
		}
		out = append(out, s)
	})
	return out
}

// positionOf returns the names of the fields of the window's state that are its position.
func positionOf(w Window) (names []string) {
	p, ok := w.(Positioned)
	if !ok {
		return nil
	}
	raw, err := p.Position()
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	for name := range fields {
		names = append(names, name)
	}
	return names
}

// without returns a state without the named fields, as text for comparisons.
func without(state json.RawMessage, names []string) string {
	var fields map[string]json.RawMessage
	if len(names) == 0 || json.Unmarshal(state, &fields) != nil {
		return string(state)
	}
	for _, name := range names {
		delete(fields, name)
	}
	text, err := PlainJSON(fields)
	if err != nil {
		return string(state)
	}
	return string(text)
}

// applyInPlace restores a state but keeps the position.
func applyInPlace(w Window, state json.RawMessage) error {
	p, ok := w.(Positioned)
	if !ok {
		return w.Apply(state)
	}
	at, err := p.Position()
	if err != nil {
		return err
	}
	if err := w.Apply(state); err != nil {
		return err
	}
	return p.SetPosition(at)
}
