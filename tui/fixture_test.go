package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	historywindow "winnow/adapters/history"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/rules"
	"winnow/tui/style"
	"winnow/tui/terminal"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// fixture is the whole program with its first window, the model filter, on a
// terminal in memory. It is read by its frames alone, as a user does.
type fixture struct {
	*tuitest.Screen
	t       testing.TB
	session *assistant.Session
	window  *modelfilter.Window
	script  *at.Script
	store   history.Store
	clock   *tuitest.Clock
	file    string   // the .env
	copied  []string // what went to the clipboard
}

// setup is what differs from fixture to fixture. The zero value has an empty
// history, one ignore rule and no answers.
type setup struct {
	w, h     int    // 0 is 120×32: chat and pane side by side
	env      string // "" is testEnv
	pairs    []assistant.Pair
	answers  []at.Answer
	change   func(*Options)
	lends    bool                      // the program lends its terminal to others
	history  func(history.Store) error // prepares what else is stored
	model    llm.Model                 // what answers; nil is a script of the answers
	known    []llm.ModelInfo           // by which names; nil is test/script and test/other
	noModel  bool                      // the session starts without one
	ids      []string                  // what is filtered; nil is testModels
	payloads []assistant.PayloadType   // besides those of the window
	wrap     func(history.Store) history.Store
	keys     *terminal.KeyReader // where they are read; nil: the test types them
	path     string              // of the .env, as a save shows it; "" is the true one
	// other makes the window of the session from its history; nil is the model filter.
	other func(history.Store) assistant.Window
}

// elsewhere is a window whose file seems to be at a path that every run knows.
type elsewhere struct {
	*modelfilter.Window
	path string
}

func (w elsewhere) PlanSave(ctx context.Context, only string) (assistant.SavePlan, error) {
	plan, err := w.Window.PlanSave(ctx, only)
	plan.Files[0].Path = w.path
	return plan, err
}

const testEnv = "OPENAI_API_KEY=sk-not-a-real-key\nANTHROPIC_API_KEY=sk-nor-this\nIGNORE_MODELS_OPENAI=gpt-3.5*,o3*\n"

// testModels are the models of the shown provider.
var testModels = []string{
	"openai/gpt-3.5-turbo", "openai/gpt-4o", "openai/gpt-4o-preview", "openai/gpt-5", "openai/gpt-5-preview", "openai/o3", "openai/o4-mini",
}

// shelf is a source of models without a network.
type shelf struct{ ids []string }

func (s shelf) Cached(provider string) (modelfilter.ModelList, bool) {
	return modelfilter.ModelList{Provider: provider, IDs: s.ids, Source: "catalogue"}, provider == "openai"
}

func (shelf) Models(context.Context, string) (modelfilter.ModelList, error) {
	return modelfilter.ModelList{}, errors.New("the network is down")
}

func (shelf) MarkSeen(string) error { return nil }

// newProgram is the model of a fixture before a terminal is put before it.
func newProgram(t testing.TB, f setup) (*Model, *fixture) {
	t.Helper()
	o, d := programOptions(t, f)
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m, d
}

// readLog shows what has changed in the session, as its follower does.
func readLog(t testing.TB, m *Model) {
	t.Helper()
	if m.follower == (usecase.Follower{}) {
		m.follower = m.commands.Follow(t.Context(), assistant.Update{})
	}
	for u, ok := m.follower.Read(); ok; u, ok = m.follower.Read() {
		m.show(u)
	}
}

// partsOf is what a screen over a session shows; store may be nil.
func partsOf(s *assistant.Session, store history.Store, p pane.Pane, now func() time.Time) Parts {
	o := workspace.Options{Session: s, Now: now}
	if store != nil {
		o.History = store
	}
	return Parts{Source: usecase.Source{Work: workspace.New(o), History: store}, Pane: p}
}

// emptyHistory returns the file of a history without pairs, so that its tables are created once
// for all tests.
var emptyHistory = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "winnow")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "history.db")
	store, err := sqlite.Open(context.Background(), path, sqlite.Options{Now: tuitest.NewClock().Now})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// programOptions are the options of such a model.
func programOptions(t testing.TB, f setup) (Options, *fixture) {
	t.Helper()
	d := &fixture{t: t, script: at.NewScript(f.answers...), clock: tuitest.NewClock()}
	dir := t.TempDir()
	d.file = filepath.Join(dir, ".env")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if f.env == "" {
		f.env = testEnv
	}
	if f.ids == nil {
		f.ids = testModels
	}
	if f.known == nil {
		f.known = []llm.ModelInfo{
			{ID: "test/script", Context: 64_000, Known: true, Tools: true},
			{ID: "test/other", Context: 128_000, Known: true, Tools: true, Facts: llm.Facts{PriceIn: llm.PriceOf(2), PriceOut: llm.PriceOf(8)}},
		}
	}
	must(os.WriteFile(d.file, []byte(f.env), 0o600))
	var err error
	d.window, err = modelfilter.Open(t.Context(), modelfilter.Options{
		EnvFile: d.file, Environ: func() []string { return nil }, Models: shelf{f.ids}, Now: d.clock.Now,
	})
	must(err)
	journal, err := checkpoint.Open(filepath.Join(dir, "journal", "log"), checkpoint.Options{Now: d.clock.Now})
	must(err)
	t.Cleanup(func() { _ = journal.Close() })
	database := filepath.Join(dir, "data", "history.db")
	empty, err := emptyHistory()
	must(err)
	must(os.Mkdir(filepath.Dir(database), 0o700))
	must(os.WriteFile(database, empty, 0o600))
	d.store, err = sqlite.Open(t.Context(), database, sqlite.Options{Now: d.clock.Now})
	must(err)
	t.Cleanup(func() { _ = d.store.Close() })
	if len(f.pairs) > 0 {
		batch := &assistant.Batch{}
		for i, p := range f.pairs {
			p.CreatedAt = minute(i)
			batch.Put = append(batch.Put, &p)
		}
		must(d.store.Commit(t.Context(), batch))
	}
	if f.history != nil {
		must(f.history(d.store))
	}
	if f.wrap != nil {
		d.store = f.wrap(d.store)
	}
	registry, pages := &llm.Registry{}, &assistant.Pages{}
	must(modelfilter.Register(pages, d.window))
	for _, p := range f.payloads {
		must(pages.AddPayload(p))
	}
	if f.model == nil {
		f.model = d.script
	}
	must(registry.Add(llm.Provider{Name: "test", Model: f.model, Known: f.known}))
	model := f.known[0].ID
	if f.noModel {
		model = ""
	}
	var window assistant.Window = d.window
	if f.path != "" {
		window = elsewhere{d.window, f.path}
	}
	if f.other != nil {
		window = f.other(d.store)
		if w, ok := window.(*historywindow.Window); ok {
			must(historywindow.Register(pages, w))
		}
	}
	d.session, err = assistant.NewSession(registry, assistant.Options{
		ID: "s1", Window: window, Pages: pages, Store: d.store, Journal: journal, Model: model, Now: d.clock.Now,
	})
	must(err)
	must(d.session.Start(t.Context()))
	o := Options{
		Context: t.Context(),
		Parts:   partsOf(d.session, d.store, rules.New(rules.Options{Home: filepath.Dir(d.file)}), d.clock.Now), Now: d.clock.Now, ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Dark: true, Unicode: true}},
		Clipboard: func(text string) error { d.copied = append(d.copied, text); return nil },
	}
	o.Examples, o.Input = []string{"first example", "second example"}, f.keys
	if f.change != nil {
		f.change(&o)
	}
	return o, d
}

func (f setup) input() io.Reader {
	if f.keys == nil {
		return nil
	}
	return f.keys
}

// startProgram starts the program.
func startProgram(t *testing.T, f setup) *fixture {
	t.Helper()
	if f.w == 0 {
		f.w, f.h = 120, 32
	}
	m, d := newProgram(t, f)
	d.Screen = tuitest.Start(t, m, f.w, f.h, tuitest.Options{Clock: d.clock, Input: f.input(), File: f.lends})
	d.in("INPUT")
	d.WaitGone("loading…")
	return d
}

// told is a pair of the session that a fixture begins with.
func told(user, answer string) assistant.Pair {
	return assistant.Pair{Session: "s1", Model: "test/script", UserText: safetext.Text(user), AssistantText: safetext.Text(answer), Flag: true, State: assistant.PairComplete}
}

// failed is one that ended with an error.
func failed(user string) assistant.Pair {
	p := told(user, "")
	p.State, p.ErrorCode, p.ErrorMessage = assistant.PairError, "net", "the line is dead"
	return p
}

// in waits for a mode, by its name in the footer.
func (d *fixture) in(mode string) {
	d.t.Helper()
	d.Until(func(frame string) bool { return strings.HasPrefix(footerOf(frame), " "+mode+" ") })
}

func footerOf(frame string) string { return frame[strings.LastIndexByte(frame, '\n')+1:] }

// goTo leads from INPUT with an empty box to a mode.
func (d *fixture) goTo(mode string) {
	d.t.Helper()
	switch mode {
	case "VIEW":
		d.Type(tuitest.Tab)
	case "PANE":
		d.Type(tuitest.ShiftTab)
	case "COMMAND":
		d.Type(tuitest.Tab, "f")
	}
	d.in(mode)
}

// says waits for a notice in the footer.
func (d *fixture) says(text string) {
	d.t.Helper()
	d.Until(func(frame string) bool { return strings.Contains(footerOf(frame), text) })
}

// ask sends a message and waits for the end of its turn.
func (d *fixture) ask(text, shown string) {
	d.t.Helper()
	d.Type(text, tuitest.Send)
	d.Wait(shown)
	d.rest()
}

// rest waits until no turn runs and the screen says so.
func (d *fixture) rest() {
	d.t.Helper()
	d.Until(func(frame string) bool {
		head, _, _ := strings.Cut(frame, "\n")
		return !strings.Contains(head, "working") && idle(d.Screen, d.session)
	})
}

// box is what stands in the input box, its lines joined by "|".
func (d *fixture) box(text string) {
	d.t.Helper()
	d.Until(func(frame string) bool { return boxOf(frame) == text })
}

func boxOf(frame string) string {
	lines := strings.Split(frame, "\n")
	from := len(lines) - 2
	for from > 0 && !strings.HasPrefix(lines[from], "───") {
		from--
	}
	var out []string
	for _, line := range lines[from+1 : len(lines)-1] {
		out = append(out, strings.TrimPrefix(strings.TrimSpace(line), "› "))
	}
	return strings.TrimRight(strings.Join(out, "|"), "|")
}

// focused waits until the mark of the focus stands at a line with this text.
func (d *fixture) focused(text string) {
	d.t.Helper()
	d.Until(func(frame string) bool { return strings.Contains(focusOf(frame), text) })
}

// focusOf are the lines of the chat that have the mark.
func focusOf(frame string) string {
	var out []string
	for _, line := range strings.Split(frame, "\n") {
		if after, ok := strings.CutPrefix(line, "▌ "); ok {
			out = append(out, after)
		}
	}
	return strings.Join(out, "\n")
}

// texts are the stored pairs, as "message=answer" or "message!code".
func (d *fixture) texts() string {
	d.t.Helper()
	refs, err := d.store.Refs(d.t.Context(), "", 3.5)
	if err != nil {
		d.t.Fatal(err)
	}
	seqs := make([]int64, len(refs))
	for i, r := range refs {
		seqs[i] = r.Seq
	}
	pairs, err := d.store.Load(d.t.Context(), seqs)
	if err != nil {
		d.t.Fatal(err)
	}
	out := make([]string, len(pairs))
	for i, p := range pairs {
		if out[i] = string(p.UserText + "=" + p.AssistantText); p.State == assistant.PairError {
			out[i] = string(p.UserText+"!") + p.ErrorCode
		}
	}
	return strings.Join(out, " ")
}

// rules are the patterns of both lists of the shown provider.
func (d *fixture) rules() string {
	var out []string
	for _, list := range []modelfilter.List{modelfilter.Ignore, modelfilter.Allow} {
		for _, r := range d.window.Rules(list) {
			out = append(out, fmt.Sprintf("%s %s", list, r.Pattern))
		}
	}
	return strings.Join(out, ", ")
}

// env is what the file says.
func (d *fixture) env() string {
	d.t.Helper()
	text, err := os.ReadFile(d.file)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// hold waits for something behind the screen, which changes by the time a
// frame is drawn.
func (d *fixture) hold(what string, ok func() bool) {
	d.t.Helper()
	d.Until(func(string) bool { return ok() })
	if !ok() {
		d.t.Errorf("%s does not hold", what)
	}
}
