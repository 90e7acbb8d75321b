package usecase

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/assistant/windowlock"
	"winnow/assistant/workspace"
)

const (
	// AnimationFrame is the duration of one frame of an animation; eight frames per second
	// look smooth.
	AnimationFrame = 125 * time.Millisecond
	// TextFrame is the minimum time between two pieces of text; nobody reads faster. It is
	// shorter than the pause between two reads of a connection, so that the text of each read
	// is shown at once.
	TextFrame = 32 * time.Millisecond
)

// LogRead contains what has changed in the session. While an animation runs it may be
// empty, which means that nothing has changed for an AnimationFrame. LogRead is not an
// Outcome, because it does not answer a request.
type LogRead struct {
	assistant.Update
	Done   []windowlock.Change // changes by others in a shared window, oldest first
	Missed bool                // some earlier changes are missing from Done
}

// Follower reads the log of the session. Call Wait again after each LogRead. The changes in
// the log arrive in order, independently of the outcomes of commands. The zero value reads
// nothing.
type Follower struct {
	work    *workspace.Workspace
	ctx     context.Context //nolint:containedctx // of the screen
	version int64           // version of the last update that was read
	served  *serve.Session  // nil if the session does not share its window
	done    int64           // number of the newest windowlock.Change read so far
	drawn   time.Time       // when the last piece of text was returned
}

// Follow returns a Follower that reads every change after an update, until ctx ends.
func (c *Commands) Follow(ctx context.Context, after assistant.Update) Follower {
	f := Follower{work: c.work, served: c.served, ctx: ctx, version: after.Version}
	if after.Others != nil {
		f.done = after.Others.Changes
	}
	return f
}

// Wait waits for the next LogRead; with animate, at most for an AnimationFrame. Only one
// Wait may run at a time.
func (f *Follower) Wait(animate bool) tea.Cmd {
	return func() tea.Msg {
		ctx := f.ctx
		if animate {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, AnimationFrame)
			defer cancel()
		}
		u, err := f.work.Next(ctx, f.version)
		if pause := TextFrame - time.Since(f.drawn); err == nil && isText(u.Event) && pause > 0 {
			select {
			case <-time.After(pause):
			case <-f.ctx.Done():
			}
			u, err = f.work.Next(f.ctx, f.version) // the new update also contains pieces that arrived during the pause
		}
		switch {
		case f.ctx.Err() != nil:
			return nil
		case err != nil:
			return LogRead{}
		case isText(u.Event):
			f.drawn = time.Now()
		}
		f.version = u.Version
		read := LogRead{Update: u}
		if u.Others != nil {
			read.Done, read.Missed = f.others(u.Others.Changes)
		}
		return read
	}
}

// others returns what other users in a shared window have done, up to the change with the
// number upTo. missed reports that some changes are no longer available.
func (f *Follower) others(upTo int64) (done []windowlock.Change, missed bool) {
	if f.served == nil || upTo <= f.done {
		return nil, false
	}
	entries, _, err := f.served.Changes().After(f.done)
	entries = entries[:min(int64(len(entries)), upTo-f.done)]
	f.done = upTo
	for _, e := range entries {
		if e.Session != f.served.ID() {
			done = append(done, e)
		}
	}
	return done, err != nil
}

// Read returns what has changed so far without waiting; ok is false if nothing has changed.
func (f *Follower) Read() (u assistant.Update, ok bool) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // the cancelled context makes Next return at once
	u, err := f.work.Next(ctx, f.version)
	if err == nil {
		f.version = u.Version
	}
	return u, err == nil
}

func isText(e assistant.Event) bool {
	switch e.(type) {
	case assistant.TextDelta, assistant.ReasoningDelta:
		return true
	default:
		return false
	}
}

// Started contains what the first screen needs.
type Started struct {
	Update       assistant.Update // all parts of the state
	Draft        history.Draft
	Recall       workspace.Recall
	Recent       []string // recently picked models
	Favourites   []string // favourite models
	FailedStarts int      // number of failed starts before this start, see workspace.FailedStarts
	PayloadTypes []assistant.PayloadType
	Err          error // why the pairs or the draft could not be loaded
}

// Start loads what the first screen needs, such as the pairs of the session and the stored
// draft. The only reported errors are that the pairs or the draft could not be loaded.
func (c *Commands) Start(ctx context.Context) Started {
	w := c.work
	s := Started{Err: w.LoadView(ctx)}
	s.Update, _ = w.Next(ctx, -1) // version -1 makes Next return at once
	var unread error
	if s.Draft, unread = w.Draft(ctx); s.Err == nil {
		s.Err = unread
	}
	s.Recall = w.Recall(ctx)
	s.FailedStarts = w.FailedStarts(ctx)
	s.Recent, s.Favourites = w.RecentModels(ctx), w.FavouriteModels(ctx)
	s.PayloadTypes = w.Session().PayloadTypes()
	return s
}
