package audit

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"time"

	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/assistant/share"
	"winnow/checkpoint/changelog"
)

const (
	// gather is how long Record waits for further changes before it adds one.
	gather = 500 * time.Millisecond
	// retryFirst and retryLast bound the pauses after failures; each is twice the one
	// before.
	retryFirst = 5 * time.Second
	retryLast  = time.Minute
	// addTimeout bounds one attempt, and so how long the end of a hub waits.
	addTimeout = 5 * time.Second
	// addAtOnce is how many changes one transaction adds.
	addAtOnce = 200
)

// Options configures Record.
type Options struct {
	Changes *serve.Log[share.Change] // what the hub announces; Record ends after it is closed
	// Read returns the log of the window, oldest first.
	Read    func() []changelog.Change
	History history.WindowLog
	Host    string // "" is the name of this machine
	Path    string // of the file of the window
	Log     *slog.Logger
}

// Record adds the log of a served window to its history: at once what it lacks, then each
// change soon after it is announced, until the hub has closed and what changed last is
// added. No change waits for it. While the history cannot be written it tries again, at
// the end once more. wait waits for that end.
func Record(o Options) (wait func()) {
	if o.Host == "" {
		o.Host, _ = os.Hostname() // "" where the system does not tell
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&recorder{Options: o}).run()
	}()
	return func() { <-done }
}

// recorder is a running Record.
type recorder struct {
	Options
	added int64 // Seq of the newest change that the history has, as far as is known
}

// run adds changes until the hub has closed.
func (r *recorder) run() {
	pause := time.Duration(0) // after the last failure; 0 after a success
	for open := true; open; {
		seen := r.Changes.Last()
		err := r.add()
		switch {
		case err == nil && pause > 0:
			r.Log.Info("the history has the changes of the window again")
		case err != nil && pause == 0:
			r.Log.Warn("the changes of the window are not in the history yet", "error", err)
		}
		if err == nil {
			pause = 0
			open = r.next(seen) && r.sleep(gather)
		} else {
			pause = min(max(2*pause, retryFirst), retryLast)
			open = r.sleep(pause)
		}
	}
	if err := r.add(); err != nil {
		r.Log.Warn("the newest changes of the window are not in the history; the next start adds them", "error", err)
	}
}

// add adds what the history lacks.
func (r *recorder) add() error {
	ctx, cancel := context.WithTimeout(context.Background(), addTimeout)
	defer cancel()
	all := r.Read()
	all = slices.DeleteFunc(all, func(c changelog.Change) bool { return c.Seq <= r.added })
	for part := range slices.Chunk(all, addAtOnce) {
		if err := r.History.AddWindowChanges(ctx, r.Host, r.Path, part); err != nil {
			return err
		}
		r.added = part[len(part)-1].Seq
	}
	return nil
}

// next waits for an announced change after the one with a number; false when there will be
// none.
func (r *recorder) next(number int64) bool {
	entries, more, err := r.Changes.After(number)
	if err != nil || len(entries) > 0 {
		return true
	}
	if more == nil {
		return false
	}
	<-more
	return true
}

// sleep waits for a while; false when the hub closes meanwhile.
func (r *recorder) sleep(d time.Duration) bool {
	for over := time.After(d); ; {
		entries, more, err := r.Changes.After(r.Changes.Last())
		switch {
		case err != nil || len(entries) > 0: // of this instant
		case more == nil:
			return false
		default:
			select {
			case <-more:
			case <-over:
				return true
			}
		}
	}
}
