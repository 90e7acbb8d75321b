package assistanttest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/llm"
)

// waitLimit is how long a helper waits before it fails the test.
const waitLimit = 10 * time.Second

// Gate blocks until the test opens it. Create it with NewGate.
type Gate struct {
	reach, open   sync.Once
	reached, free chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{reached: make(chan struct{}), free: make(chan struct{})}
}

// Open opens the gate permanently. It may be called more than once.
func (g *Gate) Open() { g.open.Do(func() { close(g.free) }) }

// Reached is closed once something has arrived at the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Wait waits until something has arrived at the gate.
func (g *Gate) Wait(t testing.TB) {
	t.Helper()
	receive(t, g.reached, "nothing reached the gate")
}

// Pass waits until the gate is open. If ctx ends first, Pass returns ctx.Err().
func (g *Gate) Pass(ctx context.Context) error {
	g.reach.Do(func() { close(g.reached) })
	select {
	case <-g.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// receive reads from c and fails the test if nothing arrives in time.
func receive[T any](t testing.TB, c <-chan T, otherwise string, args ...any) (v T, ok bool) {
	t.Helper()
	timer := time.NewTimer(waitLimit)
	defer timer.Stop()
	select {
	case v, ok = <-c:
	case <-timer.C:
		t.Fatalf(otherwise, args...)
	}
	return v, ok
}

// Sender starts turns: a Session or a Workspace.
type Sender interface {
	Begin(ctx context.Context, p assistant.Prompt) (after int64, err error)
	Events(ctx context.Context, after int64) iter.Seq[assistant.Event]
}

// Send starts a turn and returns its events. The channel is closed after the last one.
func Send(ctx context.Context, s Sender, p assistant.Prompt) (<-chan assistant.Event, error) {
	after, err := s.Begin(ctx, p)
	if err != nil {
		return nil, err
	}
	return Read(s, after), nil
}

// Read returns the events of the turn for which Begin returned after.
func Read(s Sender, after int64) <-chan assistant.Event {
	events := make(chan assistant.Event, 256)
	go func() {
		defer close(events)
		for e := range s.Events(context.Background(), after) {
			events <- e
		}
	}()
	return events
}

// Events reads the events of a turn until its channel is closed.
func Events(t testing.TB, events <-chan assistant.Event) (all []assistant.Event) {
	t.Helper()
	for {
		e, ok := receive(t, events, "the turn did not end; events so far: %#v", all)
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

// Until reads events up to and including the first of type E.
func Until[E assistant.Event](t testing.TB, events <-chan assistant.Event) (all []assistant.Event, found E) {
	t.Helper()
	for {
		e, ok := receive(t, events, "no %T arrived; events so far: %#v", found, all)
		if !ok {
			t.Fatalf("the turn ended without %T: %#v", found, all)
		}
		all = append(all, e)
		if found, ok = e.(E); ok {
			return all, found
		}
	}
}

// Only picks the events of one type.
func Only[E assistant.Event](events []assistant.Event) (picked []E) {
	for _, e := range events {
		if e, ok := e.(E); ok {
			picked = append(picked, e)
		}
	}
	return picked
}

// EventText returns the text of the answer in events.
func EventText(events []assistant.Event) string {
	var all strings.Builder
	for _, e := range Only[assistant.TextDelta](events) {
		all.WriteString(string(e.Text))
	}
	return all.String()
}

// Terminal reports whether e ends a turn.
func Terminal(e assistant.Event) bool {
	switch e.(type) {
	case assistant.Complete, assistant.Error, assistant.Cancelled:
		return true
	default:
		return false
	}
}

// DecodeEvent reads the output of assistant.EncodeEvent. The error for an unknown type names
// the type.
func DecodeEvent(text string) (assistant.Event, error) {
	var head struct{ Type string }
	if err := json.Unmarshal([]byte(text), &head); err != nil {
		return nil, err
	}
	for _, zero := range assistant.Events() {
		raw, err := assistant.EncodeEvent(zero)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(string(raw), `{"type":"`+head.Type+`"`) {
			continue
		}
		e := reflect.New(reflect.TypeOf(zero))
		err = json.Unmarshal([]byte(text), e.Interface())
		return e.Elem().Interface().(assistant.Event), err
	}
	return nil, fmt.Errorf("event type %q is unknown", head.Type)
}

// Parts reads a stream to its end and returns its parts, and the error if it broke off.
func Parts(stream iter.Seq2[llm.Part, error]) (all []llm.Part, err error) {
	for part, err := range stream {
		if err != nil {
			return all, err
		}
		all = append(all, part)
	}
	return all, nil
}

// JoinParts joins the text and the reasoning of parts, and returns the End, if any.
func JoinParts(parts []llm.Part) (text, reasoning string, end *llm.End) {
	for _, part := range parts {
		switch part := part.(type) {
		case llm.Text:
			text += string(part.Text)
		case llm.Reasoning:
			reasoning += string(part.Text)
		case llm.End:
			end = &part
		default:
		}
	}
	return text, reasoning, end
}

// soakEnv is the environment variable that selects the long forms of tests, set by task
// soak.
const soakEnv = "WINNOW_SOAK"

// Rounds returns how often a random or exhaustive test repeats: few times normally, or
// many times if WINNOW_SOAK is set.
func Rounds(few, many int) int {
	if os.Getenv(soakEnv) != "" {
		return many
	}
	return few
}
