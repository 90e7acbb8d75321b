package serve

import (
	"context"
	"log/slog"
	"math"
	"os"
	"slices"
	"time"

	"winnow/assistant/history"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

const (
	// gather is how long RecordChanges waits after a change for further ones before it adds them to the history.
	gather = 500 * time.Millisecond
	// retryFirst and retryLast are the first and the longest pause after an error; each pause is twice as long as the
	// previous one.
	retryFirst = 5 * time.Second
	retryLast  = time.Minute
	// addTimeout limits one attempt to add changes, so that wait cannot delay the end of the process for long.
	addTimeout = 5 * time.Second
	// addAtOnce is the number of changes added in one transaction.
	addAtOnce = 200
)

// RecordOptions configures RecordChanges.
type RecordOptions struct {
	Changes *Log[windowlock.Change] // the hub's announcements; RecordChanges ends once this log is closed
	// Read returns the change log of the window, oldest change first.
	Read    func() []checkpoint.Change
	History history.WindowLog
	Host    string // "" means the name of this machine
	Path    string // path of the window's file
	Log     *slog.Logger
}

// RecordChanges copies the change log of a served window to its history, in the background: first all changes that the
// history lacks, then each change shortly after it is announced, until the hub has closed. It never delays a change to
// the window. If the history cannot be written, RecordChanges retries, for the last time when the hub closes. wait
// blocks until the copying has ended.
func RecordChanges(o RecordOptions) (wait func()) {
	if o.Host == "" {
		o.Host, _ = os.Hostname() // the name stays "" if it is unknown
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		(&recorder{RecordOptions: o}).run()
	}()
	return func() { <-done }
}

// recorder is the state of a running RecordChanges.
type recorder struct {
	RecordOptions
	added int64 // Seq of the newest change known to be in the history
}

// run adds changes until the hub has closed.
func (r *recorder) run() {
	pause := time.Duration(0) // the current pause; 0 after a success
	for open := true; open; {
		seen := r.Changes.Last()
		err := r.add()
		switch {
		case err == nil && pause > 0:
			r.Log.Info("resumed storing the window's changes in the history")
		case err != nil && pause == 0:
			r.Log.Warn("the window's changes could not be stored in the history; will retry", "error", err)
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
		r.Log.Warn("the window's newest changes could not be stored in the history; they will be stored at the next start", "error", err)
	}
}

// add adds the changes that the history lacks.
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

// next waits until the change after the change with number n is announced, or until the hub closes. It returns false if
// the hub had already closed.
func (r *recorder) next(n int64) bool {
	entries, more, err := r.Changes.After(n)
	if err != nil || len(entries) > 0 {
		return true
	}
	if more == nil {
		return false
	}
	<-more
	return true
}

// sleep waits for d; it returns false if the hub closes in the meantime.
func (r *recorder) sleep(d time.Duration) bool {
	for over := time.After(d); ; {
		entries, more, err := r.Changes.After(r.Changes.Last())
		switch {
		case err != nil || len(entries) > 0: // a change was added at the same moment
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

// ChangeSource returns the changes that it has not returned before, oldest first. The first call returns only the
// newest changes, at most as many as the limit given to JournalChanges or HistoryChanges.
type ChangeSource func(ctx context.Context) ([]history.WindowChange, error)

// JournalChanges reads the change log of the journal at a path, which another process may be writing. It omits changes
// to the parts of the window's state whose paths are in ignored.
func JournalChanges(path string, limit int, ignored ...string) ChangeSource {
	var size, seq int64
	return func(context.Context) (out []history.WindowChange, err error) {
		defer func() { limit = math.MaxInt32 }()
		info, err := os.Stat(path)
		if err != nil || info.Size() == size {
			return nil, nil // the journal does not exist yet or has not grown
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
		return out[max(0, len(out)-limit):], nil
	}
}

// HistoryChanges reads the change logs of all windows in a history.
func HistoryChanges(log history.WindowLog, limit int) ChangeSource {
	newest := int64(0)
	return func(ctx context.Context) (out []history.WindowChange, err error) {
		out, newest, err = log.WindowChanges(ctx, newest, limit)
		limit = math.MaxInt32
		return out, err
	}
}
