package history

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/safetext"
)

// day is the first moment of the tests' clock; each pair is a minute later.
var day = time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)

func clock() time.Time { return day.Add(24 * time.Hour) }

func newStore(t testing.TB) history.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "data", "history.db"), sqlite.Options{Now: clock})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// spoken is a complete pair.
func spoken(session, topic, user, answer string) *assistant.Pair {
	return &assistant.Pair{
		Session: session, Topic: topic, Model: "openai/gpt-5.1", UserText: safetext.Text(user), AssistantText: safetext.Text(answer),
		Flag: true, State: assistant.PairComplete,
	}
}

// put appends pairs; in an empty store they are numbered from 1.
func put(t testing.TB, s history.Store, pairs ...*assistant.Pair) {
	t.Helper()
	for i, p := range pairs {
		if p.CreatedAt.IsZero() {
			p.CreatedAt = day.Add(time.Duration(i) * time.Minute)
		}
	}
	if err := s.Commit(context.Background(), &assistant.Batch{Put: pairs}); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

// library is a store with six pairs, 1 to 6.
func library(t testing.TB) (history.Store, *Window) {
	t.Helper()
	s := newStore(t)
	error3 := spoken("s1", "AI > Agents", "third: what broke", "")
	error3.State, error3.ErrorCode = assistant.PairError, "net"
	other := spoken("s2", "Work", "fourth: an invoice for kubernetes", "Forty euros.")
	other.Model = "anthropic/claude"
	put(t, s,
		spoken("s1", "AI", "first: what is a goat", "An animal with horns."),
		spoken("s1", "AI > Agents", "second: agents", "They run kubernetes in a loop."),
		error3, other,
		spoken("s2", "", "fifth: thanks", "You're welcome."),
		spoken("s2", "", "sixth: a GOAT again", "Still an animal."),
	)
	return s, New(s, Options{Now: clock, Selected: func() Selected { return Selected{Session: "s2", Topic: "AI"} }})
}

// call runs a tool.
func call(t testing.TB, w *Window, name, args string) assistant.ToolResult {
	t.Helper()
	return tool(t, w, name).Run(context.Background(), json.RawMessage(args))
}

func tool(t testing.TB, w *Window, name string) assistant.Tool {
	t.Helper()
	for _, x := range w.Tools() {
		if x.Name == name {
			return x
		}
	}
	t.Fatalf("there is no tool %s", name)
	return assistant.Tool{}
}

// good runs a tool that must succeed, and returns its data as it is sent.
func good(t testing.TB, w *Window, name, args string) map[string]any {
	t.Helper()
	r := call(t, w, name, args)
	if !r.Success {
		t.Fatalf("%s(%s) = %s: %s", name, args, r.ErrorCode, r.Message)
	}
	data := map[string]any{}
	if r.Data != nil {
		if err := json.Unmarshal([]byte(asJSON(t, r.Data)), &data); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// stateOf is the state as a checkpoint has it.
func stateOf(t testing.TB, w *Window) string {
	t.Helper()
	s, err := w.State()
	if err != nil {
		t.Fatalf("State: %v", err)
	}
	return string(s)
}

// marksOf lists what can be marked of all uncut pairs: "1:0+AI".
func marksOf(t testing.TB, s history.Store) string {
	t.Helper()
	refs, err := s.Refs(t.Context(), "", 3.5)
	if err != nil {
		t.Fatal(err)
	}
	var all []int64
	for _, r := range refs {
		all = append(all, r.Seq)
	}
	loaded, err := s.Load(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, p := range loaded {
		flag := "-"
		if p.Flag {
			flag = "+"
		}
		out += fmt.Sprintf("%d:%d%s%s ", p.Seq, p.Star, flag, p.Topic)
	}
	return out
}

func contextOf(t testing.TB, w *Window) Context {
	t.Helper()
	v, err := w.Context()
	if err != nil {
		t.Fatalf("Context: %v", err)
	}
	return v.(Context)
}
