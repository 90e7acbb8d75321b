package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// Checkpoints lists the checkpoints of this session, oldest first; "Session
// start" is always the first. After a rollback, the checkpoint rolled back to
// stays in the list, marked Undone; later ones are removed.
func (s *Session) Checkpoints() []checkpoint.Checkpoint { return s.opts.Journal.List(s.ID()) }

// Changes returns the number of this session's changes that are in effect:
// its checkpoints except the session start and undone ones.
func (s *Session) Changes() int {
	undone := func(c checkpoint.Checkpoint) bool { return c.Undone || c.Kind == checkpoint.KindStart }
	return len(slices.DeleteFunc(s.Checkpoints(), undone))
}

// LastStep returns the newest change to the window, by any user, that can be
// undone. Rolling back to its ID undoes it.
func (s *Session) LastStep() (checkpoint.Checkpoint, bool) { return s.opts.Journal.LastStep() }

// Edit runs a change that the user makes to the window by hand, as one step
// that can be undone. description names the step if the window is not a
// Describer. The change ends up in both journal and window, or in neither. A
// change that leaves the state unchanged, such as saving, is not a step.
//
// If the user has RolePropose, the change is proposed instead of made, and the
// error is a *Proposed.
func (s *Session) Edit(description string, change func() error) error {
	err := s.Needs(RolePropose)
	if err != nil {
		return err
	}
	release, err := s.acquire(true)
	if err != nil {
		return err
	}
	defer release()
	ctx := context.Background()
	w, j := s.opts.Window, s.opts.Journal
	if w == nil || j == nil {
		return errors.Join(s.Needs(RoleWrite), change())
	}
	if err := errors.Join(s.ensureStarted(ctx), s.finishRollback(ctx)); err != nil {
		return err
	}
	before, err := windowState(w)
	if err != nil {
		return err
	}
	if saved, _ := j.SavedState(); !jsondelta.Equal(saved, before) {
		if err := s.markSaved(before); err != nil { // the next run compares its state with this one
			return err
		}
	}
	after, err := s.makeStep(description, before, change)
	if err != nil {
		return err
	}
	s.storeState(ctx)
	if err := s.markSaved(after); err != nil { // the step itself is recorded
		s.log.Error("saved state not recorded", "error", err)
	}
	return nil
}

// makeStep runs a change to the window, records it, and returns the state after it. A
// change that the user may only propose is undone and stored as proposals, and one that the
// user's role forbids is undone; both return an error.
func (s *Session) makeStep(description string, before json.RawMessage, change func() error) (after json.RawMessage, err error) {
	defer s.updates.window.step()()
	w, others, restore := s.opts.Window, s.othersUnsaved(), s.mark(before)
	if err := change(); err != nil {
		if now, readErr := windowState(w); readErr == nil && !jsondelta.Equal(before, now) { // part of the change was made
			err = errors.Join(err, restore())
		}
		return nil, err
	}
	after, err = windowState(w)
	if err == nil {
		payloads, forbidden := s.instead(before, after, others)
		if len(payloads) > 0 || forbidden != nil {
			if err = errors.Join(forbidden, restore()); err == nil {
				err = s.storeProposals(context.Background(), describeChange(w, before, after, description), payloads)
			}
			return nil, err
		}
	}
	if err == nil && !jsondelta.Equal(before, after) {
		description = describeChange(w, before, after, description)
		if _, err = s.opts.Journal.Edit(s.ID(), description, before, after); err == nil {
			s.opts.Member.Announce(windowlock.Edited, s.ID(), description, before, after)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("nothing was changed: %w", err), w.Apply(before))
	}
	return after, nil
}

// PlanSave returns the window's plan for a save, or ErrNotSaver if the window is not a Saver.
func (s *Session) PlanSave(ctx context.Context, only string) (SavePlan, error) {
	w, ok := s.opts.Window.(Saver)
	if !ok {
		return SavePlan{}, ErrNotSaver
	}
	seq := s.opts.Journal.Seq()
	plan, err := w.PlanSave(ctx, only)
	s.remember(plan.Digest, seq)
	return plan, err
}

// PlanDiscard returns the window's plan for a discard, or ErrNotSaver if the window is not
// a Saver.
func (s *Session) PlanDiscard(only string) (SavePlan, error) {
	w, ok := s.opts.Window.(Saver)
	if !ok {
		return SavePlan{}, ErrNotSaver
	}
	seq := s.opts.Journal.Seq()
	plan := w.PlanDiscard(only)
	s.remember(plan.Digest, seq)
	return plan, nil
}

// Save saves the changes that basis names. If nothing is unsaved afterwards, it
// records this in the journal. It returns ErrNotSaver if the window is not a
// Saver, or the errors of Saver.Save.
func (s *Session) Save(ctx context.Context, basis Basis) (Saved, error) {
	// A save also loads what other programs wrote to the file; the journal records that
	// load as a separate step.
	return s.Write(ctx, "Load what other programs saved", func() (Saved, error) {
		w, ok := s.opts.Window.(Saver)
		if !ok {
			return Saved{}, ErrNotSaver
		}
		saved, err := w.Save(ctx, basis)
		return saved, s.whoChanged(err, basis)
	})
}

// Write runs a change that writes the window's file. Its effect on the window is recorded
// as one step with this description. If recording the step fails after the write, the
// reason is in Saved.Warning.
func (s *Session) Write(ctx context.Context, description string, change func() (Saved, error)) (Saved, error) {
	if err := s.Needs(RoleSave); err != nil {
		return Saved{}, err
	}
	release, err := s.acquireWork(true)
	if err != nil {
		return Saved{}, err
	}
	defer release()
	if err := s.finishRollback(ctx); err != nil {
		return Saved{}, err
	}
	before, err := s.beforeWrite()
	if err != nil {
		return Saved{}, err
	}
	defer s.updates.window.step()()
	saved, err := change()
	if err != nil {
		return saved, err
	}
	if err := s.recordWrite(description, saved.Path, before); err != nil {
		s.log.Error("change of the file not recorded", "error", err)
		saved.Warning = safetext.Sprintf("%s The change was not recorded, so winnow log may not list it: %v.", saved.Warning, err).TrimSpace()
	}
	return saved, nil
}

// beforeWrite returns the state of the window before its file is written, or
// nil if there is no journal or no window.
func (s *Session) beforeWrite() (json.RawMessage, error) {
	if s.opts.Journal == nil || s.opts.Window == nil {
		return nil, nil
	}
	return windowState(s.opts.Window)
}

// recordWrite records the state of the window after its file was written.
func (s *Session) recordWrite(description, path string, before json.RawMessage) error {
	j := s.opts.Journal
	if before == nil {
		return nil
	}
	state, err := windowState(s.opts.Window)
	if err != nil {
		return err
	}
	s.opts.Member.Announce(windowlock.Saved, s.ID(), path, state, state)
	if !jsondelta.Equal(before, state) {
		if _, err := j.Edit(s.ID(), description, before, state); err != nil {
			return err
		}
	}
	return s.markSaved(state)
}

// Discard discards the changes that basis names, as one step that can be undone, and
// returns them. It returns ErrNotSaver, or an error of Saver.Discard or Edit.
func (s *Session) Discard(description string, basis Basis) (lost []Change, err error) {
	w, ok := s.opts.Window.(Saver)
	if !ok {
		return nil, ErrNotSaver
	}
	err = s.Edit(description, func() error {
		lost, err = w.Discard(basis)
		return s.whoChanged(err, basis)
	})
	return lost, err
}

// RefreshSaved reads the saved state again, as one step that can be undone.
// Unsaved changes are applied on top of it. If drop is not nil, the changes that
// it names are discarded first, as in Discard.
func (s *Session) RefreshSaved(ctx context.Context, description string, drop *Basis) (out Refreshed, err error) {
	r, ok := s.opts.Window.(Refresher)
	saver, saves := s.opts.Window.(Saver)
	if !ok || !saves {
		return out, ErrNotSaver
	}
	err = s.Edit(description, func() error {
		var dropped []Change
		if drop != nil {
			if dropped, err = saver.Discard(*drop); err != nil {
				return s.whoChanged(err, *drop)
			}
		}
		out, err = r.RefreshSaved(ctx, false)
		out.Dropped = append(out.Dropped, dropped...)
		return err
	})
	return out, err
}

// maxShown is the number of plans a session remembers.
const maxShown = 16

// shownPlan is a plan that was shown to the user.
type shownPlan struct {
	digest string
	seq    int64 // newest journal record when it was shown
}

// remember records that a plan was shown when the journal was at seq.
func (s *Session) remember(digest string, seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown[max(0, len(s.shown)-maxShown+1):], shownPlan{digest, seq})
}

// whoChanged adds to a *PlanChanged the users who changed the plan since it was
// shown, and remembers the new plan as shown.
func (s *Session) whoChanged(err error, basis Basis) error {
	changed, ok := errors.AsType[*PlanChanged](err)
	if !ok {
		return err
	}
	s.mu.Lock()
	after := int64(-1)
	for _, p := range s.shown {
		if p.digest == basis.Digest {
			after = p.seq
		}
	}
	s.mu.Unlock()
	for _, name := range s.changedBy(after) {
		if !slices.Contains(changed.By, name) {
			changed.By = append(changed.By, name)
		}
	}
	s.remember(changed.Plan.Digest, s.opts.Journal.Seq())
	return err
}

// changedBy names the users, their assistants and other programs that changed
// the window after a journal record. If after is -1, it names only the author
// of the last change.
func (s *Session) changedBy(after int64) (names []string) {
	if s.opts.Journal == nil {
		return nil
	}
	all := checkpoint.Changes(s.opts.Journal)
	if after < 0 {
		all = all[max(0, len(all)-1):]
	}
	for _, c := range all {
		name := Author{User: c.User, Assistant: c.Kind == checkpoint.TurnChange}.Name()
		if c.Kind == checkpoint.OutsideChange {
			name = OtherProgram
		}
		if c.Seq > after && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// markSaved records state as the saved state, unless the window has unsaved
// changes or state is nil.
func (s *Session) markSaved(state json.RawMessage) error {
	if d, ok := s.opts.Window.(Dirtier); !ok || d.Dirty() || state == nil {
		return nil
	}
	return s.opts.Journal.Saved(state)
}

func windowState(w Window) (json.RawMessage, error) {
	state, err := w.State()
	if err != nil {
		return nil, fmt.Errorf("the window's state could not be read: %w", err)
	}
	if !json.Valid(state) {
		return nil, fmt.Errorf("the window's state is not JSON: %.80q", state)
	}
	return state, nil
}

// Delete deletes pairs permanently.
func (s *Session) Delete(ctx context.Context, seqs ...int64) error {
	release, err := s.acquireWork(false)
	if err != nil {
		return err
	}
	defer release()
	if err := s.checkOwner(ctx, seqs...); err != nil {
		return err
	}
	if err := s.opts.Store.Commit(ctx, &Batch{Delete: seqs}); err != nil {
		return err
	}
	s.mu.Lock()
	s.view.drop(seqs)
	s.mu.Unlock()
	s.recountPayloads(ctx)
	return nil
}

// Mark changes the star, flag and topic of a pair. It may be called at any time, even
// for the running pair.
func (s *Session) Mark(ctx context.Context, m PairMark) error {
	if err := s.Needs(RolePropose); err != nil {
		return err
	}
	if err := s.opts.Store.Commit(ctx, &Batch{Marks: []PairMark{m}}); err != nil {
		return err
	}
	s.PairsChanged(m.Seq)
	return nil
}

// PairsChanged publishes that stored pairs have changed; without arguments, any pair may
// have changed.
func (s *Session) PairsChanged(seqs ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates.addStale(seqs...)
}
