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

// Gate blocks something until the test opens it. Make it with NewGate.
type Gate struct {
	reach, open   sync.Once
	reached, free chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{reached: make(chan struct{}), free: make(chan struct{})}
}

// Open opens the gate for good. It may be called again.
func (g *Gate) Open() { g.open.Do(func() { close(g.free) }) }

// Reached is closed once something has arrived at the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Wait waits until something has arrived at the gate.
func (g *Gate) Wait(t testing.TB) {
	t.Helper()
	receive(t, g.reached, "nothing reached the gate")
}

// Pass waits until the gate is open; it returns the error of ctx when that ends before.
func (g *Gate) Pass(ctx context.Context) error {
	g.reach.Do(func() { close(g.reached) })
	select {
	case <-g.free:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// receive reads from c and fails the test when nothing comes for too long.
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

// Sender is what starts turns: a Session or a Workspace.
type Sender interface {
	Begin(ctx context.Context, p assistant.Prompt) (after int64, err error)
	Events(ctx context.Context, after int64) iter.Seq[assistant.Event]
}

// Send starts a turn and returns its events; the channel is closed after its end.
func Send(ctx context.Context, s Sender, p assistant.Prompt) (<-chan assistant.Event, error) {
	after, err := s.Begin(ctx, p)
	if err != nil {
		return nil, err
	}
	return Read(s, after), nil
}

// Read returns the events of the turn that began after a version.
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
		e, ok := receive(t, events, "the turn does not end; so far: %#v", all)
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
		e, ok := receive(t, events, "%T does not come; so far: %#v", found, all)
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

// EventText is the text of the answer in events.
func EventText(events []assistant.Event) string {
	var all strings.Builder
	for _, e := range Only[assistant.TextDelta](events) {
		all.WriteString(e.Text)
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

// DecodeEvent reads what assistant.EncodeEvent writes. An unknown type is an
// error that names it.
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

// Parts reads a stream to its end.
func Parts(stream iter.Seq2[llm.Part, error]) (all []llm.Part, err error) {
	for part, err := range stream {
		if err != nil {
			return all, err
		}
		all = append(all, part)
	}
	return all, nil
}

// JoinParts joins the text and the reasoning of parts, and returns the End when
// there is one.
func JoinParts(parts []llm.Part) (text, reasoning string, end *llm.End) {
	for _, part := range parts {
		switch part := part.(type) {
		case llm.Text:
			text += part.Text
		case llm.Reasoning:
			reasoning += part.Text
		case llm.End:
			end = &part
		default:
		}
	}
	return text, reasoning, end
}

// soakEnv asks for the long forms of tests, as task soak does.
const soakEnv = "WINNOW_SOAK"

// Rounds is how often a random or exhaustive test repeats: few times in an ordinary run,
// many times when WINNOW_SOAK is set.
func Rounds(few, many int) int {
	if os.Getenv(soakEnv) != "" {
		return many
	}
	return few
}
