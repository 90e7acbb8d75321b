package serve

import (
	"context"
	"log/slog"
	"math"
	"os"
	"slices"
	"time"

	"winnow/assistant/history"
	"winnow/assistant/share"
	"winnow/checkpoint"
)

const (
	// gather is how long RecordChanges waits for further changes before it adds one.
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

// RecordOptions configures RecordChanges.
type RecordOptions struct {
	Changes *Log[share.Change] // what the hub announces; RecordChanges ends after it is closed
	// Read returns the log of the window, oldest first.
	Read    func() []checkpoint.Change
	History history.WindowLog
	Host    string // "" is the name of this machine
	Path    string // of the file of the window
	Log     *slog.Logger
}

// RecordChanges adds the log of a served window to its history: at once what it lacks, then each
// change soon after it is announced, until the hub has closed and what changed last is
// added. No change waits for it. While the history cannot be written it tries again, at
// the end once more. wait waits for that end.
func RecordChanges(o RecordOptions) (wait func()) {
	if o.Host == "" {
		o.Host, _ = os.Hostname() // "" where the system does not tell
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&recorder{RecordOptions: o}).run()
	}()
	return func() { <-done }
}

// recorder is a running RecordChanges.
type recorder struct {
	RecordOptions
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
	all = slices.DeleteFunc(all, func(c checkpoint.Change) bool { return c.Seq <= r.added })
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

// ChangeSource returns the changes that it has not returned before, oldest first. Its first call
// returns only the newest of them, as many as JournalChanges or HistoryChanges was told.
type ChangeSource func(ctx context.Context) ([]history.WindowChange, error)

// JournalChanges reads the log of the journal at a path, which another process may write. Changes
// of the values at the ignored paths of the window's state are left out.
func JournalChanges(path string, last int, ignored ...string) ChangeSource {
	var size, seq int64
	return func(context.Context) (out []history.WindowChange, err error) {
		defer func() { last = math.MaxInt32 }()
		info, err := os.Stat(path)
		if err != nil || info.Size() == size {
			return nil, nil // it is not there yet, or nothing was added
		}
		j, err := checkpoint.Open(path, checkpoint.Options{ReadOnly: true})
		if err != nil {
			return nil, err
		}
		size = info.Size()
		for _, c := range checkpoint.Changes(j, ignored...) {
			if c.Seq > seq {
				out, seq = append(out, history.WindowChange{Change: c}), c.Seq
			}
		}
		return out[max(0, len(out)-last):], nil
	}
}

// HistoryChanges reads the logs of all windows that a history has.
func HistoryChanges(log history.WindowLog, last int) ChangeSource {
	newest := int64(0)
	return func(ctx context.Context) (out []history.WindowChange, err error) {
		out, newest, err = log.WindowChanges(ctx, newest, last)
		last = math.MaxInt32
		return out, err
	}
}
