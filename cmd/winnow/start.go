package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui"
)

const (
	// finishTime is how long opening the program may go on after the screen has
	// ended: ten times what it needs on a slow disk.
	finishTime = 200 * time.Millisecond
	// abandonTime is how long it may then take to stop. With finishTime it stays
	// below closeTime.
	abandonTime = 100 * time.Millisecond
)

// start opens the program beside its screen, which is drawn already. It happens
// at most once, and not after the end.
type start struct {
	ctx    context.Context
	cancel context.CancelFunc
	begun  atomic.Bool
	done   chan struct{} // closed when nothing is opened any more
	result *program      // what was opened, once done is closed
}

func newStart(ctx context.Context) *start {
	s := &start{done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// run opens the program. After the end it is context.Canceled.
func (s *start) run(open func(context.Context) (*program, error)) (*program, error) {
	if !s.begun.CompareAndSwap(false, true) {
		return nil, context.Canceled
	}
	defer close(s.done) // also after a panic
	p, err := open(s.ctx)
	s.result = p
	return p, err
}

// end makes sure that nothing is opened any more, and returns what was; nil when
// nothing was. What does not stop in time is left behind: ended is false then.
func (s *start) end() (p *program, ended bool) {
	defer s.cancel()
	if s.begun.CompareAndSwap(false, true) {
		close(s.done)
	}
	for _, patience := range []time.Duration{finishTime, abandonTime} {
		select {
		case <-s.done:
			return s.result, true
		case <-time.After(patience):
			s.cancel()
		}
	}
	return nil, false
}

// heldLines keeps lines that are written while a screen is drawn until release.
// Its methods are safe from any goroutine.
type heldLines struct {
	to io.Writer

	mu   sync.Mutex
	free bool
	held []string // each line once
}

// Write implements io.Writer. It is called with whole lines.
func (h *heldLines) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free {
		return h.to.Write(p)
	}
	if line := strings.TrimRight(string(p), "\n"); !slices.Contains(h.held, line) {
		h.held = append(h.held, line)
	}
	return len(p), nil
}

// lines are the lines that are held.
func (h *heldLines) lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.held)
}

// release writes what is held, and from then on everything at once.
func (h *heldLines) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, line := range h.held {
		_, _ = io.WriteString(h.to, line+"\n") // a failure could only be reported on the same stream
	}
	h.free, h.held = true, nil
}

const (
	// warmAfter is when the work begins that nobody waits for yet: the first
	// frame and the draft of before are drawn by then.
	warmAfter = 400 * time.Millisecond
	// startGC is how much the heap may grow between two collections during the
	// start, in percent: what is allocated then stays, or is freed at once after.
	startGC = 400
)

// startFast makes garbage collection rare until calm is called.
func startFast() (calm func()) {
	usual := debug.SetGCPercent(startGC)
	return sync.OnceFunc(func() { debug.SetGCPercent(usual) })
}

// warm does in the background what the user will want next, after the first
// frame, and returns the memory that the start has used to the system.
func (p *program) warm(ctx context.Context, calm func()) {
	select {
	case <-time.After(warmAfter):
	case <-ctx.Done():
		return
	}
	calm()
	if p.rules != nil {
		p.rules.Warm(ctx)
	}
	releaseMemory()
}

// typeahead is what was typed in a run that ended before its history was open: a
// line of the file of that name.
type typeahead struct {
	Folder string
	history.Draft
}

// storeTypeahead writes what was typed where the next start finds it.
func (a *app) storeTypeahead(d history.Draft) error {
	if d.Text == "" && len(d.Stash) == 0 {
		return nil
	}
	h, err := a.folders()
	if err != nil {
		return err
	}
	line, err := json.Marshal(typeahead{a.folder(), d})
	if err != nil {
		return err
	}
	if err := makePrivate(h.state); err != nil {
		return err
	}
	file, err := os.OpenFile(h.typeahead(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Sync(), file.Close())
}

// restoreTypeahead puts into the history what earlier runs could not, oldest
// first. The file is removed once all of it is there.
func (a *app) restoreTypeahead(ctx context.Context, store history.Store) error {
	h, err := a.folders()
	if err != nil {
		return err
	}
	file, err := os.Open(h.typeahead())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() // it was only read
	for lines := bufio.NewReader(file); ; {
		line, end := lines.ReadBytes('\n')
		var d typeahead
		if json.Unmarshal(line, &d) == nil { // a line cut by a crash is left out
			if err := tui.KeepTyped(ctx, workspace.New(workspace.Options{History: store, Folder: d.Folder}), d.Draft); err != nil {
				return err
			}
		}
		if end != nil {
			return os.Remove(h.typeahead())
		}
	}
}
