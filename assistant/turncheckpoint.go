package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"winnow/checkpoint"
)

// errNoCheckpoint is why a write tool does not run in a session without journal.
var errNoCheckpoint = errors.New("no checkpoint can be made without a journal")

// approve asks the user where the policy says so. It waits for Answer.
func (t *turn) approve(ctx context.Context, tool Tool, args json.RawMessage) (bool, error) {
	policy := t.settings.Confirm
	always := policy == ConfirmAlways && tool.Write
	if policy == ConfirmNever || (!tool.Lasting && !always) {
		return true, nil
	}
	diff, ask, err := tool.preview(ctx, args)
	if err != nil {
		return false, err
	}
	if !ask && !always {
		return true, nil
	}
	id, answer := t.s.open()
	t.emit(ConfirmRequest{ID: id, Tool: tool.Name, Diff: diff})
	select {
	case yes := <-answer:
		return yes, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// open registers a question.
func (s *Session) open() (id string, answer chan bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id = NewID(s.now())
	answer = make(chan bool, 1) // Answer must not wait for the turn
	s.answers[id] = answer
	return id, answer
}

// Answer answers a ConfirmRequest.
func (s *Session) Answer(id string, yes bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, open := s.answers[id]
	if !open {
		return ErrNotAsked
	}
	delete(s.answers, id)
	answer <- yes
	return nil
}

// before makes the turn's checkpoint, once, before its first write tool.
func (t *turn) before(writes []ToolCall) error {
	j := t.s.opts.Journal
	switch {
	case t.checkpoint != "" || t.s.opts.Window == nil:
		return nil
	case j == nil && t.s.opts.WithoutCheckpoints:
		return nil
	case j == nil:
		return errNoCheckpoint
	}
	state, err := windowState(t.s.opts.Window)
	if err != nil {
		return err
	}
	meta := checkpoint.Checkpoint{Kind: checkpoint.KindTurn, Session: t.session, Position: t.pair.Seq}
	for _, c := range writes {
		meta.Tools = append(meta.Tools, checkpoint.ToolSummary{Name: c.Name, Args: string(c.Arguments)})
	}
	made, err := j.Add(meta, state)
	if err != nil {
		return fmt.Errorf("no checkpoint could be made: %w", err)
	}
	t.checkpoint = made.ID
	t.s.log.Info("checkpoint", "id", made.ID, "tools", len(meta.Tools))
	t.emit(CheckpointCreated{ID: made.ID, Description: made.Description})
	return nil
}

// after records the state that a write tool left, and its result, before
// anyone is told.
func (t *turn) after(c ToolCall) error {
	if t.s.opts.Window != nil && t.s.opts.Journal != nil {
		err := t.s.recordState(checkpoint.ToolSummary{
			Name: c.Name, Args: string(c.Arguments), Effect: c.Result.Message, OK: c.Result.Success,
		})
		if err != nil {
			return err
		}
	}
	return t.commit()
}

// recordState writes down the state after a write tool.
func (s *Session) recordState(summary checkpoint.ToolSummary) error {
	state, err := windowState(s.opts.Window)
	if err != nil {
		return err
	}
	if err := s.opts.Journal.Record(state, []checkpoint.ToolSummary{summary}); err != nil {
		return fmt.Errorf("the change could not be recorded: %w", err)
	}
	return s.markSaved(state)
}

func windowState(w Window) (json.RawMessage, error) {
	value, err := w.State()
	if err != nil {
		return nil, fmt.Errorf("read the window's state: %w", err)
	}
	return PlainJSON(value)
}
