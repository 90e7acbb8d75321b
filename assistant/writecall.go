package assistant

import (
	"encoding/json"
	"errors"
	"fmt"

	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// ConfirmPolicy says for which tools the user is asked before they run.
type ConfirmPolicy string

// The values of the setting "confirm". A model cannot change it.
const (
	ConfirmSave   ConfirmPolicy = "save"   // tools with Lasting set; the default
	ConfirmAlways ConfirmPolicy = "always" // every write tool, and tools with Lasting set
	ConfirmNever  ConfirmPolicy = "never"
)

// approve asks the user if the policy requires it, and asks again if the plan of the call
// changed before the user answered. shown is the digest of the approved plan; "" if
// the user was not asked.
func (t *turn) approve(c *checkedCall) (approved bool, shown string, err error) {
	policy := t.settings.Confirm
	always := policy == ConfirmAlways && c.tool.Write
	if policy == ConfirmNever || t.prompt.Confirmed || (!c.tool.Lasting && !always) {
		return true, "", nil
	}
	plan, err := c.tool.preview(t.ctx, c.Arguments)
	for note := safetext.Text(""); ; {
		if err != nil || (!plan.Ask && !always) {
			return err == nil, "", err
		}
		mark := t.s.opts.Journal.Seq()
		yes, err := t.ask(ConfirmRequest{ID: NewID(t.now()), Tool: c.Name, Diff: plan.Text, Digest: plan.Digest, Note: note, Server: c.tool.Server})
		if err != nil || !yes {
			return false, "", err
		}
		if t.s.opts.Journal.Seq() != mark {
			t.checkpoint, t.announced = nil, false // the window has changed since the checkpoint
		}
		now, err := c.tool.preview(t.ctx, c.Arguments)
		if err == nil && now.Digest == plan.Digest {
			return true, plan.Digest, nil
		}
		changed := PlanChanged{By: t.s.changedBy(mark)}
		plan, note = now, safetext.Sprintf("%s. This is what would be done now.", changed.Changed(t.s.opts.Author))
	}
}

// ask asks the user and waits for Answer. While it waits, others may change a shared window.
func (t *turn) ask(question ConfirmRequest) (yes bool, err error) {
	answer := make(chan bool, 1) // Answer must not wait for the turn
	t.s.mu.Lock()
	t.s.answers[question.ID], t.asks = answer, &question
	t.s.mu.Unlock()
	locked := t.unlock != nil
	t.unlockJournal() // other programs can use the journal while the user decides
	lockAgain := t.s.opts.Member.Wait(t.session, question.Tool)
	t.emit(question)
	asked := t.now()
	select {
	case yes = <-answer:
	case <-t.ctx.Done():
	}
	t.waited += t.now().Sub(asked)
	t.s.mu.Lock()
	t.asks = nil
	t.s.mu.Unlock()
	if err = errors.Join(t.ctx.Err(), lockAgain(t.ctx, func(e *windowlock.LockedError) { t.emit(Status{e.Error()}) })); err == nil && yes && locked {
		err = t.lockJournal()
	}
	return yes, err
}

// beforeWrite makes the turn's checkpoint, once, before its first write tool. The
// checkpoint is reported when a tool has changed the window. calls are the response's
// calls that have not run yet.
func (t *turn) beforeWrite(calls []checkedCall) error {
	if t.checkpoint != nil || t.s.opts.Window == nil {
		return nil
	}
	j := t.s.opts.Journal
	switch {
	case j == nil && t.s.opts.WithoutCheckpoints:
		return nil
	case j == nil:
		return errors.New("this session has no journal, so no checkpoint can be made")
	}
	state, err := windowState(t.s.opts.Window)
	if err != nil {
		return err
	}
	meta := checkpoint.Checkpoint{Kind: checkpoint.KindTurn, Session: t.session, PairSeq: t.pair.Seq}
	for _, c := range calls {
		if c.invalid == nil && c.tool.Write {
			meta.Tools = append(meta.Tools, checkpoint.ToolSummary{Name: c.Name, Args: string(c.Arguments)})
		}
	}
	made, err := j.Add(meta, state)
	if err != nil {
		return fmt.Errorf("no checkpoint could be made: %w", err)
	}
	t.checkpoint = &made
	t.log.Info("checkpoint", "id", made.ID, "tools", len(meta.Tools))
	return nil
}

// afterWrite implements toolRunner.
func (t *turn) afterWrite(c *checkedCall) error {
	if !c.tool.Write {
		return t.commit()
	}
	defer t.s.updates.window.Changed()
	return t.storeWrite(c)
}

// storeWrite records the state that a write tool left, and the call's result, before the
// result is reported. A change that cannot be recorded is undone, unless it is lasting.
func (t *turn) storeWrite(c *checkedCall) error {
	w, j := t.s.opts.Window, t.s.opts.Journal
	if w == nil || j == nil {
		return t.commit()
	}
	before := j.Current()
	err := t.record(c, before)
	if err == nil {
		return t.commit()
	}
	if c.tool.Lasting && c.Result.Success {
		c.Result.Message += " The result was not recorded: " + err.Error()
		return fmt.Errorf("%s has run, but its result could not be recorded: %w", c.Name, err)
	}
	if undone := w.Apply(before); undone != nil {
		return fmt.Errorf("the change could not be recorded: %w", errors.Join(err, undone))
	}
	*c.Result = Fail(CodeFailed, "nothing was changed: the change could not be recorded: %v", err)
	return fmt.Errorf("the change could not be recorded: %w", err)
}

// record records in the journal what a write tool did.
func (t *turn) record(c *checkedCall, before json.RawMessage) error {
	state, err := windowState(t.s.opts.Window)
	if err != nil {
		return err
	}
	summary := checkpoint.ToolSummary{
		Name: c.Name, Args: string(c.Arguments), OK: c.Result.Success,
		Effect:  describeChange(t.s.opts.Window, before, state, c.Result.Message),
		Lasting: c.tool.Lasting && c.Result.Success && jsondelta.Equal(before, state), // a rollback undoes a changed state
	}
	kind := windowlock.ToolRan
	if summary.Lasting && !t.s.opts.Journal.Clean() {
		kind = windowlock.Saved
	}
	if err := t.s.opts.Journal.Record(state, []checkpoint.ToolSummary{summary}); err != nil {
		return err
	}
	t.s.opts.Member.Announce(kind, t.session, c.Name, before, state)
	if t.checkpoint != nil && !t.announced && !jsondelta.Equal(before, state) {
		t.announced = true
		t.emit(CheckpointCreated{ID: t.checkpoint.ID, Description: summary.Effect})
	}
	return t.s.markSaved(state)
}
