package assistant

import (
	"sync"
	"sync/atomic"

	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// WindowLog holds the parts of a State that the sessions of a window share. A part is computed
// once, by the first reader in any session. All sessions take their version numbers from it.
type WindowLog struct {
	window  Window
	journal *checkpoint.Journal
	others  func() windowlock.Others // nil if only one session uses the window
	version atomic.Int64             // the newest version of any part or session

	making sync.Mutex // held while parts are computed; locked before mu

	mu      sync.Mutex // guards the fields below, and is held only briefly
	steps   int        // number of steps in progress, see step
	touched int        // counts the calls to Changed
	wake    chan struct{}
	parts   windowParts
}

type windowParts struct {
	window      part[WindowState, *WindowState]
	checkpoints part[Checkpoints, *Checkpoints]
	others      part[Others, *Others]
	newest      int64 // version of the newest part
}

// Snapshotter is a Window that publishes what its pane draws. Its methods answer from memory
// and never wait for the disk or the network.
type Snapshotter interface {
	// Revision grows with every change to the snapshot.
	Revision() int64
	// Snapshot returns the window as it is now, with its revision. The value never changes,
	// because all readers share it.
	Snapshot() (value any, revision int64)
	// Changed returns a channel that is closed when Revision next changes.
	Changed() <-chan struct{}
}

// NewWindowLog returns the log of a window and its journal, which may be nil. others returns who
// is in the window, without waiting; nil means that only one session uses the window.
func NewWindowLog(w Window, j *checkpoint.Journal, others func() windowlock.Others) *WindowLog {
	return &WindowLog{window: w, journal: j, others: others}
}

// Changed wakes the readers of all sessions: something may have changed in the window, in its journal, or among the
// users of the window. It computes no part, so it takes the same short time however many readers there are.
func (l *WindowLog) Changed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.touched++
	if l.wake != nil {
		close(l.wake)
		l.wake = nil
	}
}

// step begins a step that changes the window and its journal. The parts do not change until
// end is called, so that readers get the whole step in one Update.
func (l *WindowLog) step() (end func()) {
	l.count(1)
	return func() { l.count(-1); l.Changed() }
}

func (l *WindowLog) count(steps int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps += steps
}

// changed returns a channel that is closed by the next call to Changed.
func (l *WindowLog) changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wake == nil {
		l.wake = make(chan struct{})
	}
	return l.wake
}

// windowChanged returns a channel that is closed when the window changes; nil if the window is
// not a Snapshotter.
func (l *WindowLog) windowChanged() <-chan struct{} {
	if w, ok := l.window.(Snapshotter); ok {
		return w.Changed()
	}
	return nil
}

// next returns a new version.
func (l *WindowLog) next() int64 { return l.version.Add(1) }

// made returns the parts as they were last computed.
func (l *WindowLog) made() windowParts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parts
}

// refresh computes the parts whose state has changed, unless a step is in progress. It must be
// called without the mutex of a session, so that no turn waits for it.
func (l *WindowLog) refresh() {
	l.making.Lock()
	defer l.making.Unlock()
	l.mu.Lock()
	touched, now, wait := l.touched, l.parts, l.steps > 0 && l.parts.newest > 0
	l.mu.Unlock()
	if wait {
		return
	}
	next := func() int64 {
		now.newest = l.next()
		return now.newest
	}
	if l.window != nil {
		revision := int64(touched)
		snapshots, publishes := l.window.(Snapshotter)
		if publishes {
			revision = snapshots.Revision()
		}
		now.window.refresh(revision, next, func() WindowState { return l.windowState(snapshots, revision) }, equalWindow)
	}
	now.checkpoints.refresh(l.journal.Seq(), next, func() Checkpoints { return newCheckpoints(l.journal) }, equalCheckpoints)
	if l.others != nil {
		now.others.refresh(touched, next, func() Others { return Others{Others: l.others()} }, func(a, b Others) bool { return a.Others.Equal(b.Others) })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts = now
}

// windowState reads the window.
func (l *WindowLog) windowState(snapshots Snapshotter, revision int64) WindowState {
	w := WindowState{Revision: revision}
	if snapshots != nil {
		w.Value, w.Revision = snapshots.Snapshot()
	}
	if d, ok := l.window.(Dirtier); ok {
		w.Unsaved = d.Dirty()
	}
	if s, ok := l.window.(Saver); ok {
		w.Saves, w.Changes = true, s.PlanDiscard("").Changes
	}
	return w
}
