package assistant_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/markup"
	"winnow/checkpoint"
)

// store is a MemoryStore that a test can look into and break, and that stores
// requests.
type store struct {
	assistant.MemoryStore
	mu       sync.Mutex
	before   func(b *assistant.Batch) error // called ahead of every commit; nil does nothing
	requests map[int64][]assistant.SentRequest
}

func (s *store) Commit(ctx context.Context, b *assistant.Batch) error {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if err := before(b); err != nil {
			return err
		}
	}
	if err := s.MemoryStore.Commit(ctx, b); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests == nil {
		s.requests = map[int64][]assistant.SentRequest{}
	}
	for _, seq := range b.Delete {
		delete(s.requests, seq)
	}
	for _, r := range b.Requests {
		s.requests[r.Pair.Seq] = append(s.requests[r.Pair.Seq], r.SentRequest)
	}
	return nil
}

// Requests implements assistant.RequestStore.
func (s *store) Requests(_ context.Context, seq int64) ([]assistant.SentRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests[seq]), nil
}

// onCommit sets what happens ahead of every commit.
func (s *store) onCommit(f func(b *assistant.Batch) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// rig is a session on a scripted model, with a real journal.
type rig struct {
	t       testing.TB
	session *assistant.Session
	window  *at.Window
	script  *at.Script
	journal *checkpoint.Journal
	path    string // of the journal
	store   *store
	records []budget.Record
	options assistant.Options
}

// startTime is when the clock of a rig stands still.
var startTime = time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)

// newRig begins a session; change, when given, sets options before.
func newRig(t testing.TB, script *at.Script, change ...func(*assistant.Options)) *rig {
	t.Helper()
	r := &rig{t: t, window: at.NewWindow("one"), script: script, store: &store{}}
	r.path = filepath.Join(t.TempDir(), "journal", "log")
	r.openJournal()
	r.options = assistant.Options{
		ID: "s1", Window: r.window, Store: r.store, Journal: r.journal, Model: "test/script",
		Now:       func() time.Time { return startTime },
		Telemetry: func(rec budget.Record) { r.records = append(r.records, rec) },
	}
	for _, f := range change {
		f(&r.options)
	}
	if w, ok := r.options.Window.(*at.Window); ok {
		r.window = w
	}
	r.open()
	return r
}

func (r *rig) openJournal() {
	r.t.Helper()
	j, err := checkpoint.Open(r.path, checkpoint.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { j.Close() })
	r.journal = j
}

// open makes the session anew from the rig's options.
func (r *rig) open() {
	r.t.Helper()
	session, err := assistant.NewSession(registryOf(r.t, r.script), r.options)
	if err != nil {
		r.t.Fatal(err)
	}
	r.session = session
	r.must(session.Start(context.Background()))
	r.must(session.LoadView(context.Background()))
}

// registryOf serves a model as test/script with 100,000 tokens and test/small with 300.
func registryOf(t interface{ Fatal(...any) }, m llm.Model) *llm.Registry {
	registry := &llm.Registry{}
	err := registry.Add(llm.Provider{Name: "test", Model: m, Known: []llm.ModelInfo{
		{ID: "test/script", Context: 100_000, Known: true, Tools: true},
		{ID: "test/small", Context: 300, Known: true, Tools: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// send runs a turn to its end.
func (r *rig) send(text string) []assistant.Event {
	r.t.Helper()
	return r.turn(assistant.Prompt{Text: text})
}

func (r *rig) turn(p assistant.Prompt) []assistant.Event {
	r.t.Helper()
	events, err := at.Send(context.Background(), r.session, p)
	r.must(err)
	return r.checked(at.Events(r.t, events))
}

// checked holds what is true of every turn that has ended: one end, at the
// end, the window free, nothing running, and each marker behind its result.
func (r *rig) checked(events []assistant.Event) []assistant.Event {
	r.t.Helper()
	ends := 0
	for i, e := range events {
		if at.Terminal(e) {
			ends++
		}
		if done, ok := e.(assistant.ToolComplete); ok && i+1 < len(events) && !at.Terminal(events[i+1]) {
			if next := events[i+1]; next != (assistant.TextDelta{Text: markup.CardMarker(done.Index)}) {
				r.t.Errorf("after %#v comes %#v, want its marker", done, next)
			}
		}
	}
	if ends != 1 || !at.Terminal(events[len(events)-1]) {
		r.t.Errorf("the turn has %d ends: %#v", ends, events)
	}
	if r.window.Locked() || r.window.Fault() != nil {
		r.t.Errorf("after the turn the window is locked: %v, fault: %v", r.window.Locked(), r.window.Fault())
	}
	if r.session.Busy() {
		r.t.Error("the session is busy after the end of its turn")
	}
	return events
}

// last is the newest pair in view.
func (r *rig) last() assistant.Pair {
	r.t.Helper()
	refs := r.session.Visible()
	if len(refs) == 0 {
		r.t.Fatal("no pair is in view")
	}
	return r.pair(refs[len(refs)-1].Seq)
}

func (r *rig) pair(seq int64) assistant.Pair {
	r.t.Helper()
	pairs, err := r.session.Pairs(context.Background(), []int64{seq})
	if err != nil || len(pairs) != 1 {
		r.t.Fatalf("pair %d: %d pairs, %v", seq, len(pairs), err)
	}
	return pairs[0]
}

// end returns the last event as E.
func end[E assistant.Event](t testing.TB, events []assistant.Event) E {
	t.Helper()
	e, ok := events[len(events)-1].(E)
	if !ok {
		t.Fatalf("the turn ended with %#v, want %T", events[len(events)-1], e)
	}
	return e
}

// wantError holds the end of a turn against an error code.
func wantError(t testing.TB, events []assistant.Event, code string) assistant.Error {
	t.Helper()
	e := end[assistant.Error](t, events)
	if e.Code != code {
		t.Errorf("the turn ended with error %q (%s), want %q", e.Code, e.Message, code)
	}
	return e
}

func call(name, arguments string) at.Call { return at.Call{Name: name, Arguments: arguments} }

func addWord(word string) at.Call { return call("add_word", `{"word":"`+word+`"}`) }

// said are the user's messages of a request, in order.
func said(req llm.Request) []string {
	var out []string
	for _, m := range req.Messages {
		if m.Role == llm.RoleUser {
			out = append(out, m.Content)
		}
	}
	return out
}

// results decodes the tool messages of a request.
func results(t testing.TB, req llm.Request) []assistant.ToolResult {
	t.Helper()
	var out []assistant.ToolResult
	for _, m := range req.Messages {
		if m.Role == llm.RoleTool {
			var r assistant.ToolResult
			if err := json.Unmarshal([]byte(m.Content), &r); err != nil {
				t.Fatalf("tool message %q: %v", m.Content, err)
			}
			out = append(out, r)
		}
	}
	return out
}

func wantEqual[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func wantList(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}

func wantIn(t testing.TB, text string, parts ...string) {
	t.Helper()
	at := 0
	for _, p := range parts {
		i := strings.Index(text[at:], p)
		if i < 0 {
			t.Errorf("%q is missing, or not in order, in:\n%s", p, text)
			return
		}
		at += i + len(p)
	}
}

func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
