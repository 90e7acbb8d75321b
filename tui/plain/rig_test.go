package plain

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// terminal is the other side of the console: what it wrote, with an echo of
// what was typed, as a terminal shows it.
type terminal struct {
	t    *testing.T
	mu   sync.Mutex
	text strings.Builder
	seen int // up to where wait has looked
	news chan struct{}
	keys *io.PipeWriter
}

func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.text.Write(p)
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *terminal) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait waits for text behind what was waited for before.
func (s *terminal) wait(text string) {
	s.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		all := s.all()
		if i := strings.Index(all[s.seen:], text); i >= 0 {
			s.seen += i + len(text)
			return
		}
		select {
		case <-s.news:
		case <-timer.C:
			s.t.Fatalf("%q does not come; after what was seen:\n%s\nall:\n%s", text, all[s.seen:], all)
		}
	}
}

// blind types a line whatever the console does.
func (s *terminal) blind(text string) {
	s.t.Helper()
	s.Write([]byte(text + "\n")) //nolint:errcheck // a buffer
	if _, err := io.WriteString(s.keys, text+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// say waits for the prompt of a message and types one.
func (s *terminal) say(text string) {
	s.t.Helper()
	s.wait("You: ")
	s.blind(text)
}

// clock is a clock that the test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// newClock stands in the middle of an hour, so that no test leaves its minute.
func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// rulesOf lists the words of a window.
func rulesOf(w *at.Window) func() []string {
	return func() []string {
		var out []string
		for _, word := range w.Words() {
			out = append(out, "word "+word)
		}
		return append(out, fmt.Sprintf("%d words.", len(out)))
	}
}

var (
	_ assistant.Saver           = savedWords{}
	_ interface{ Dirty() bool } = savedWords{}
)

// savedWords is the window of the tests as the session sees it.
type savedWords struct {
	*at.Window
	saved   safetext.Text // the warning of a save
	applied func()        // runs after Apply; nil does nothing
}

func (w savedWords) Apply(state json.RawMessage) error {
	err := w.Window.Apply(state)
	if w.applied != nil {
		w.applied()
	}
	return err
}

// Where is the page whose actions an answer may suggest.
func (w savedWords) Where() assistant.Location { return assistant.Location{Page: "words"} }

func (w savedWords) Dirty() bool { return !slices.Equal(w.Words(), w.Saved()) }

func (w savedWords) PlanSave(context.Context, string) (assistant.SavePlan, error) {
	return w.PlanDiscard(""), nil
}

func (w savedWords) PlanDiscard(string) assistant.SavePlan {
	plan := assistant.SavePlan{}
	if w.Dirty() {
		plan.Files = []assistant.FileDiff{{Path: "words", Lines: []assistant.FileLine{{Kind: "-", Text: safetext.Visible(strings.Join(w.Saved(), " "))}, {Kind: "+", Text: safetext.Visible(strings.Join(w.Words(), " "))}}}}
		for _, word := range w.Words() {
			if !slices.Contains(w.Saved(), word) {
				plan.Changes = append(plan.Changes, assistant.Change{Title: "word", After: word})
			}
		}
	}
	plan.Digest = assistant.Digest("words", plan.Changes)
	return plan
}

func (w savedWords) Save(ctx context.Context, basis assistant.Basis) (assistant.Saved, error) {
	if plan := w.PlanDiscard(""); basis.Digest != "" && basis.Digest != plan.Digest {
		return assistant.Saved{}, &assistant.PlanChanged{Plan: plan}
	}
	for _, tool := range w.Tools() {
		if tool.Name == "save_words" {
			tool.Run(ctx, json.RawMessage(`{}`))
		}
	}
	return assistant.Saved{Path: "words", Written: true, Warning: w.saved, Message: safetext.Sprintf("%d words in the file.", len(w.Words()))}, nil
}

func (w savedWords) Discard(basis assistant.Basis) ([]assistant.Change, error) {
	plan := w.PlanDiscard("")
	if basis.Digest != "" && basis.Digest != plan.Digest {
		return nil, &assistant.PlanChanged{Plan: plan}
	}
	state, err := json.Marshal(map[string]any{"words": w.Saved()})
	if err != nil {
		return nil, err
	}
	return plan.Changes, w.Apply(state)
}

// rig is a console with everything around it.
type rig struct {
	*terminal
	script  *at.Script
	window  *at.Window
	session *assistant.Session
	clock   *clock
	ctrlC   chan os.Signal
	err     *terminal
	ended   chan int
	status  int
	over    bool
	stop    func() // ends the console's context
}

// testOptions are Options with the history of the workspace.
type testOptions struct {
	Options
	History history.Store
}

// start runs a console on a terminal. change may alter its options.
func start(t *testing.T, script *at.Script, change func(*testOptions), sessions ...func(*assistant.Options)) *rig {
	t.Helper()
	in, keys := io.Pipe()
	r := &rig{
		terminal: &terminal{t: t, news: make(chan struct{}, 1), keys: keys},
		err:      &terminal{t: t, news: make(chan struct{}, 1)},
		script:   script, window: at.NewWindow("ant"),
		clock: newClock(),
		ctrlC: make(chan os.Signal), ended: make(chan int, 1),
	}
	journal, err := checkpoint.Open(filepath.Join(t.TempDir(), "journal"), checkpoint.Options{Now: r.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { journal.Close() })
	registry := &llm.Registry{}
	for _, name := range []string{"test", "other"} {
		if err := registry.Add(llm.Provider{Name: name, Model: script, Known: []llm.ModelInfo{
			{ID: name + "/one", Context: 100_000, Known: true, Tools: true},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	o := testOptions{Options: Options{
		In: in, Out: r.terminal, Err: r.err, Interactive: true, Interrupt: r.ctrlC, Now: r.clock.Now,
		Examples: []string{"add a cat"},
	}}
	so := assistant.Options{Window: savedWords{Window: r.window}, Journal: journal, Model: "test/one", Now: r.clock.Now}
	if change != nil {
		change(&o)
	}
	if o.History != nil {
		so.Store = o.History
	}
	for _, change := range sessions {
		change(&so)
	}
	if r.session, err = assistant.NewSession(registry, so); err != nil {
		t.Fatal(err)
	}
	if err := r.session.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Workspace = workspace.New(workspace.Options{Session: r.session, History: o.History, Now: r.clock.Now})
	o.Title, o.Rules = func() string { return "words" }, rulesOf(r.window)
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() { r.ended <- Run(ctx, o.Options) }()
	t.Cleanup(func() {
		cancel()
		keys.Close()
		if !r.over {
			r.end()
		}
		if err := r.window.Fault(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// end waits for the end of the console and returns its status.
func (r *rig) end() int {
	r.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case r.status = <-r.ended:
		r.over = true
	case <-timer.C:
		r.t.Fatalf("the console does not end:\n%s", r.all())
	}
	return r.status
}

// answer answers the open question after it could be read.
func (r *rig) answer(prompt, word string) {
	r.t.Helper()
	r.wait(prompt)
	r.clock.pass(time.Second)
	r.blind(word)
}

// store is a history of its own.
func store(t *testing.T) history.Store {
	t.Helper()
	h, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func add(word string) at.Call {
	return at.Call{Name: "add_word", Arguments: fmt.Sprintf(`{"word":%q}`, word)}
}

var save = at.Call{Name: "save_words", Arguments: `{}`}

// golden compares text with a file; WINNOW_UPDATE=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("WINNOW_UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", path, got, want)
	}
}
