package assistanttest

import (
	"iter"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
)

// Events reads the events of a turn until its channel is closed, and fails the
// test when nothing comes for too long. What came is returned either way.
func Events(t testing.TB, events <-chan assistant.Event) []assistant.Event {
	t.Helper()
	var all []assistant.Event
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return all
			}
			all = append(all, e)
			timer.Reset(patience)
		case <-timer.C:
			t.Fatalf("the turn does not end; so far: %#v", all)
		}
	}
}

// Until reads events up to and including the first of type E.
func Until[E assistant.Event](t testing.TB, events <-chan assistant.Event) (all []assistant.Event, found E) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("the turn ended without %T: %#v", found, all)
			}
			all = append(all, e)
			if found, ok = e.(E); ok {
				return all, found
			}
		case <-timer.C:
			t.Fatalf("%T does not come; so far: %#v", found, all)
		}
	}
}

// Only picks the events of one type.
func Only[E assistant.Event](events []assistant.Event) []E {
	var picked []E
	for _, e := range events {
		if e, ok := e.(E); ok {
			picked = append(picked, e)
		}
	}
	return picked
}

// EventText is the answer that the events spell out.
func EventText(events []assistant.Event) string {
	var all strings.Builder
	for _, e := range Only[assistant.TextDelta](events) {
		all.WriteString(e.Text)
	}
	return all.String()
}

// Parts reads a stream to its end.
func Parts(stream iter.Seq2[assistant.Part, error]) ([]assistant.Part, error) {
	var all []assistant.Part
	for part, err := range stream {
		if err != nil {
			return all, err
		}
		all = append(all, part)
	}
	return all, nil
}

// Spoken puts the text and the reasoning of parts together, and returns the End
// when there is one.
func Spoken(parts []assistant.Part) (text, reasoning string, end *assistant.End) {
	var t, r strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case assistant.Text:
			t.WriteString(part.Text)
		case assistant.Reasoning:
			r.WriteString(part.Text)
		case assistant.End:
			end = &part
		default:
		}
	}
	return t.String(), r.String(), end
}
