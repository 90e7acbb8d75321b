package assistant_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// socket keeps the brightness that a lamp has when the power comes back. Other programs
// set it too.
type socket struct {
	mu     sync.Mutex
	preset int           // in percent
	set    chan struct{} // closed when preset is set
}

func newSocket(preset int) *socket { return &socket{preset: preset, set: make(chan struct{})} }

func (s *socket) read() (preset int, set <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.preset, s.set
}

func (s *socket) write(preset int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.preset = preset
	close(s.set)
	s.set = make(chan struct{})
}

// deskLamp is a window that implements every interface of the package. Its brightness
// is unsaved until the socket has it as its preset.
type deskLamp struct {
	socket *socket

	mu       sync.Mutex // guards the fields below
	level    int        // in percent
	preset   int        // of the socket, as it was read last
	by       assistant.Author
	locked   bool
	tab      string // the open one
	budget   int    // tokens of the context
	log      assistant.Entries
	revision int64
	changed  chan struct{}
}

var (
	_ assistant.Window      = (*deskLamp)(nil)
	_ sync.Locker           = (*deskLamp)(nil)
	_ assistant.Log         = (*deskLamp)(nil)
	_ assistant.Proposer    = (*deskLamp)(nil)
	_ assistant.Actor       = (*deskLamp)(nil)
	_ assistant.Describer   = (*deskLamp)(nil)
	_ assistant.Exporter    = (*deskLamp)(nil)
	_ assistant.Budgeter    = (*deskLamp)(nil)
	_ assistant.Positioned  = (*deskLamp)(nil)
	_ assistant.Placer      = (*deskLamp)(nil)
	_ assistant.Applier     = (*deskLamp)(nil)
	_ assistant.Dirtier     = (*deskLamp)(nil)
	_ assistant.Pager       = (*deskLamp)(nil)
	_ assistant.Saver       = (*deskLamp)(nil)
	_ assistant.Refresher   = (*deskLamp)(nil)
	_ assistant.Watcher     = (*deskLamp)(nil)
	_ assistant.Rebaser     = (*deskLamp)(nil)
	_ assistant.Snapshotter = (*deskLamp)(nil)
	_ assistant.Act         = dim{}
)

func newDeskLamp(s *socket) *deskLamp {
	preset, _ := s.read()
	return &deskLamp{socket: s, level: preset, preset: preset, changed: make(chan struct{})}
}

// dimTo changes the brightness. mu is locked.
func (l *deskLamp) dimTo(level int, by assistant.Author) {
	l.level, l.by = level, by
	l.publish()
}

// publish wakes the readers of the snapshot. mu is locked.
func (l *deskLamp) publish() {
	l.revision++
	close(l.changed)
	l.changed = make(chan struct{})
}

// What the model sees and does.

func (l *deskLamp) Describe() string { return "You look after the lamp on the desk." }

// Context leaves out the preset where the budget is very small.
func (l *deskLamp) Context() (any, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const small = 10 // tokens
	now := map[string]int{"brightness": l.level}
	if l.budget == 0 || l.budget >= small {
		now["preset"] = l.preset
	}
	return now, nil
}

func (l *deskLamp) SetContextBudget(tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budget = tokens
}

func (l *deskLamp) Where() assistant.Location { return assistant.Location{} } // no page is registered

func (l *deskLamp) Tools() []assistant.Tool {
	type level struct {
		Percent int `json:"percent" jsonschema:"0 is off"`
	}
	dimLamp := assistant.NewTool("dim_lamp", "Set the brightness.", func(_ context.Context, a level) (string, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.dimTo(a.Percent, assistant.Author{User: "anna", Assistant: true})
		return fmt.Sprintf("The brightness is %d %%.", a.Percent), nil
	})
	dimLamp.Write = true
	return []assistant.Tool{dimLamp}
}

// What the user does.

// dim is the act of turning the knob.
type dim struct{ level int }

func (d dim) Step() string { return fmt.Sprintf("dim to %d %%", d.level) }

func (l *deskLamp) Act(_ context.Context, act assistant.Act, revision int64) (safetext.Text, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch d, ok := act.(dim); {
	case !ok:
		return "", fmt.Errorf("a lamp does not know %T", act)
	case l.locked:
		return "", assistant.ErrBusy
	case revision != l.revision:
		return "", fmt.Errorf("the lamp has %w", assistant.ErrMoved)
	default:
		l.dimTo(d.level, assistant.Author{User: "anna"})
		l.log.Continue(assistant.NewEntry("dimmed", time.Now(), map[string]any{"percent": d.level}))
		return safetext.Sprintf("Dimmed to %d %%.", d.level), nil
	}
}

func (l *deskLamp) Changes(mark int64) ([]assistant.Entry, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Since(mark)
}

func (l *deskLamp) Lock()   { l.setLocked(true) }
func (l *deskLamp) Unlock() { l.setLocked(false) }

func (l *deskLamp) setLocked(locked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.locked = locked
}

// What checkpoints and sessions store.

// lampState is what a checkpoint restores.
type lampState struct {
	Percent int `json:"percent"`
}

func (l *deskLamp) State() (json.RawMessage, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Marshal(lampState{l.level})
}

func (l *deskLamp) Apply(raw json.RawMessage) error {
	var s lampState
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dimTo(s.Percent, assistant.Author{})
	return nil
}

func (l *deskLamp) Mark() (restore func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	level, by := l.level, l.by
	return func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.dimTo(level, by)
		return nil
	}
}

func (l *deskLamp) Proposals(before, after json.RawMessage) ([]assistant.Payload, error) {
	if bytes.Equal(before, after) {
		return nil, nil
	}
	return []assistant.Payload{{Type: "brightness", Data: after}}, nil
}

func (l *deskLamp) DescribeChange(before, after json.RawMessage) string {
	var was, is lampState
	if errors.Join(json.Unmarshal(before, &was), json.Unmarshal(after, &is)) != nil || was == is {
		return ""
	}
	if is.Percent < was.Percent {
		return fmt.Sprintf("dimmed to %d %%", is.Percent)
	}
	return fmt.Sprintf("brightened to %d %%", is.Percent)
}

func (l *deskLamp) Position() (json.RawMessage, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Marshal(l.tab)
}

func (l *deskLamp) SetPosition(position json.RawMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return json.Unmarshal(position, &l.tab)
}

// What a screen draws.

func (l *deskLamp) Revision() int64 { _, revision := l.Snapshot(); return revision }

func (l *deskLamp) Snapshot() (any, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return lampState{l.level}, l.revision
}

func (l *deskLamp) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Export implements assistant.Exporter.
func (l *deskLamp) Export(context.Context) (any, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return map[string]int{"preset": l.preset}, nil
}
