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
	// AnimationFrame is the duration of one frame of an animation: eight frames a second
	// look smooth.
	AnimationFrame = 125 * time.Millisecond
	// TextFrame is the minimum time between two pieces of text: faster than anyone reads.
	// It is shorter than the pause between two reads of a connection, so that what is read
	// is shown at once.
	TextFrame = 32 * time.Millisecond
)

// LogRead contains what has changed in the session. With animation it may be empty: nothing
// has changed for an AnimationFrame. It is not an Outcome, because no request asks for it.
type LogRead struct {
	assistant.Update
	Done   []windowlock.Change // changes by others in a shared window, oldest first
	Missed bool                // earlier changes were dropped
}

// Follower reads the log of the session, one message at a time: each LogRead must be
// followed by the next Wait. What arrives only in the log is in order, whatever the
// commands do. The zero value reads nothing.
type Follower struct {
	work    *workspace.Workspace
	ctx     context.Context //nolint:containedctx // of the screen
	version int64           // version read so far
	served  *serve.Session  // nil if the session has its window to itself
	done    int64           // number of the newest windowlock.Change that was read
	drawn   time.Time       // when a piece of text was last returned
}

// Follow returns a follower of everything after an update, until ctx ends.
func (c *Commands) Follow(ctx context.Context, after assistant.Update) Follower {
	f := Follower{work: c.work, served: c.served, ctx: ctx, version: after.Version}
	if after.Others != nil {
		f.done = after.Others.Changes
	}
	return f
}

// Wait waits for the next LogRead; with animate, no longer than an AnimationFrame. Only one
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
			u, err = f.work.Next(f.ctx, f.version) // includes pieces that arrived in the meantime
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

// others returns what others in a shared window have done, up to the change with number
// upTo.
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

// Read returns what has already changed; ok is false if nothing has.
func (f *Follower) Read() (u assistant.Update, ok bool) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // so that it does not wait
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

// Started contains what the first screen shows.
type Started struct {
	Update       assistant.Update // all parts
	Draft        history.Draft
	Recall       workspace.Recall
	Recent       []string // models
	Favourites   []string // likewise
	FailedStarts int      // before this start, see workspace.FailedStarts
	PayloadTypes []assistant.PayloadType
	Err          error // why the pairs could not be read
}

// Start loads what the first screen needs: the pairs of the session, the stored draft, and
// the names for completion. The only error is that pairs cannot be read.
func (c *Commands) Start(ctx context.Context) Started {
	w := c.work
	s := Started{Err: w.LoadView(ctx)}
	s.Update, _ = w.Next(ctx, -1) // does not wait
	s.Draft, _ = w.Draft(ctx)
	s.Recall = w.Recall(ctx)
	s.FailedStarts = w.FailedStarts(ctx)
	s.Recent, s.Favourites = w.RecentModels(ctx), w.FavouriteModels(ctx)
	s.PayloadTypes = w.Session().PayloadTypes()
	return s
}
