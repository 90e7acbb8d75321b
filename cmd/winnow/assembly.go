package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	// finishTime is how long what is opened beside the screen may go on once the
	// program ends: ten times what it needs on a slow disk.
	finishTime = 200 * time.Millisecond
	// abandonTime is how long it may then take to stop. With finishTime it stays
	// below closeTime.
	abandonTime = 100 * time.Millisecond
)

// assembly is what is opened beside the screen, which stands already. It
// happens at most once, and not after the end.
type assembly struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu          sync.Mutex
	begun, over bool
	done        chan struct{} // closed when nothing is opened any more
	result      *program
}

func newAssembly(ctx context.Context) *assembly {
	s := &assembly{done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// run opens everything. After the end it is context.Canceled.
func (s *assembly) run(open func(context.Context) (*program, error)) (*program, error) {
	s.mu.Lock()
	late := s.over || s.begun
	s.begun = true
	s.mu.Unlock()
	if late {
		return nil, context.Canceled
	}
	defer close(s.done) // also when it breaks down
	p, err := open(s.ctx)
	s.result = p
	return p, err
}

// end sees to it that nothing is opened any more, and returns what was, whole;
// nil when it did not come to that. What does not stop in time is left behind:
// ended is false then.
func (s *assembly) end() (p *program, ended bool) {
	s.mu.Lock()
	s.over = true
	begun := s.begun
	s.mu.Unlock()
	defer s.cancel()
	if !begun {
		return nil, true
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

// heldLines keeps what is written while a screen is drawn, until it is gone.
// Its methods are safe from any goroutine.
type heldLines struct {
	to io.Writer

	mu   sync.Mutex
	free bool
	held bytes.Buffer
}

// Write implements io.Writer.
func (h *heldLines) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free {
		return h.to.Write(p)
	}
	return h.held.Write(p)
}

// lines are what is held, each line once.
func (h *heldLines) lines() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	seen := map[string]bool{}
	for line := range strings.Lines(h.held.String()) {
		if line = strings.TrimRight(line, "\n"); line != "" && !seen[line] {
			seen[line] = true
			out = append(out, line)
		}
	}
	return out
}

// release writes what is held, and from then on everything at once.
func (h *heldLines) release() {
	lines := h.lines()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.free && len(lines) > 0 {
		// Whoever could be told that this failed reads the same stream.
		_, _ = io.WriteString(h.to, strings.Join(lines, "\n")+"\n")
	}
	h.free = true
	h.held.Reset()
}
