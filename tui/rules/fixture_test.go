package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// shelf is a source of models in memory.
type shelf struct {
	lists map[string]modelfilter.ModelList
	fetch func(provider string) (modelfilter.ModelList, error)
	drift func(expected func(...string) []string) (models.Drift, error)
	seen  []string
	news  map[string][]models.Change // by provider
}

func (s *shelf) News(provider string) []models.Change { return s.news[provider] }

func (s *shelf) Cached(provider string) (modelfilter.ModelList, bool) {
	l, ok := s.lists[provider]
	return l, ok
}

func (s *shelf) Models(_ context.Context, provider string) (modelfilter.ModelList, error) {
	if s.fetch == nil {
		return modelfilter.ModelList{}, errors.New("the network is down")
	}
	return s.fetch(provider)
}

func (s *shelf) MarkSeen(provider string) error {
	s.seen = append(s.seen, provider)
	delete(s.news, provider)
	return nil
}

func (s *shelf) Drift(_ context.Context, _ string, expected func(...string) []string) (models.Drift, error) {
	if s.drift == nil {
		return models.Drift{}, errors.New("no proxy")
	}
	return s.drift(expected)
}

// someModels are the models of most tests.
var someModels = []string{
	"openai/gpt-3.5-turbo", "openai/gpt-3.5-turbo-16k", "openai/gpt-4", "openai/gpt-4-1106-preview", "openai/gpt-4-turbo",
	"openai/gpt-4o", "openai/gpt-4o-audio-preview", "openai/gpt-4o-mini", "openai/gpt-5", "openai/gpt-5-mini", "openai/o3",
	"openai/text-embedding-3-large", "other/stray",
}

const someEnv = `# the proxy
OPENAI_API_KEY=sk-not-a-real-key
ANTHROPIC_API_KEY=
IGNORE_MODELS_OPENAI=gpt-3.5*,*-preview*,gpt-9*,*audio*
WHITELIST_MODELS_OPENAI=gpt-4o-audio-preview
`

// bench is a pane with its window, its file and its source of models.
type bench struct {
	*Pane
	t      testing.TB
	w      *modelfilter.Window
	shelf  *shelf
	file   string
	others bool   // the turn of another user has the window
	holder string // who that is, if it is known
}

// open opens a pane; env "" is no file.
func open(t testing.TB, env string, ids []string, environ ...string) *bench {
	t.Helper()
	return openWith(t, env, ids, modelfilter.Options{Environ: func() []string { return environ }})
}

// openWith is open with options of the window.
func openWith(t testing.TB, env string, ids []string, o modelfilter.Options) *bench {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, ".env")
	if env != "" {
		if err := os.WriteFile(file, []byte(env), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &shelf{lists: map[string]modelfilter.ModelList{"openai": {Provider: "openai", IDs: ids, Source: "catalogue"}}}
	o.EnvFile, o.Models = file, s
	if o.Environ == nil {
		o.Environ = func() []string { return nil }
	}
	w, err := modelfilter.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{})
	p.SetStyles(style.New(style.Options{Dark: true, Profile: style.NoColor, Unicode: true}))
	p.SetKeys(tuitest.PaneKey)
	p.SetFocus(true)
	b := &bench{Pane: p, t: t, w: w, shelf: s, file: file}
	b.show()
	return b
}

// Escape and Click do what they do, and give the pane what it wants.
func (b *bench) Escape() bool {
	did := b.Pane.Escape()
	b.show()
	return did
}

func (b *bench) Click(x, y int) pane.Action {
	a := b.Pane.Click(x, y)
	b.show()
	return a
}

// show shows the pane what the window publishes now, and gives it what it wants.
func (b *bench) show() {
	b.t.Helper()
	for wants := true; wants; {
		snapshot, _ := b.w.Snapshot()
		b.Show(pane.State{Window: snapshot, Working: !b.others, Holder: b.holder})
		var e pane.Edit
		if e, wants = b.Wants(); wants {
			if _, err := b.w.Act(context.Background(), e.Act, e.Revision); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

// do performs actions as the screen would, questions answered with yes, and
// returns what was said.
func (b *bench) do(actions ...keymap.Action) string {
	b.t.Helper()
	said := ""
	for _, a := range actions {
		said = b.perform(b.Do(a))
	}
	return said
}

// press gives the text line a key, as it is bound by default.
func (b *bench) press(key string) pane.Action {
	keys, name := (*keymap.Map)(nil), keymap.Key(key)
	return b.Key(cmp.Or(keys.Action(keymap.Line, name), keys.Action(keymap.Editing, name)), "")
}

func (b *bench) perform(w pane.Action) string {
	b.t.Helper()
	var said safetext.Text
	var err error
	switch w := w.(type) {
	case pane.Edit:
		said, err = b.w.Act(context.Background(), w.Act, w.Revision)
	case pane.Compute:
		var result any
		if result, err = w.Run(); err == nil {
			return b.perform(b.Receive(result))
		}
	case pane.Confirm:
		return b.perform(w.Then())
	case pane.Notify:
		said = w.Text
	case pane.Nothing:
	default:
		b.t.Fatalf("an action of type %T", w)
	}
	b.show()
	if err != nil {
		return "error: " + err.Error()
	}
	return string(said)
}

// keys types into the line: words in <> are keys, all else is text.
func (b *bench) keys(text string) string {
	b.t.Helper()
	said := ""
	for text != "" {
		name, rest, ok := "", "", false
		if strings.HasPrefix(text, "<") {
			name, rest, ok = strings.Cut(text[1:], ">")
		}
		if ok {
			said, text = b.perform(b.press(name)), rest
			continue
		}
		r := []rune(text)
		said, text = b.perform(b.Key("", string(r[0]))), string(r[1:])
	}
	return said
}

// screen is the frame.
func (b *bench) screen(w, h int) string { return strings.Join(b.Lines(w, h), "\n") }

// on puts the cursor on the row with this text.
func (b *bench) on(text string) {
	b.t.Helper()
	v := &b.tabs.Lists[b.tabs.Open]
	for i, r := range v.Rows {
		if r.Selectable() && strings.Contains(ansi.Strip(b.drawRow(r, false, 200)), text) {
			v.Cursor.At = i
			b.version++
			return
		}
	}
	b.t.Fatalf("no row says %q:\n%s", text, b.screen(120, 60))
}

// rules are the patterns of a list of the shown provider.
func (b *bench) rules(list modelfilter.List) string {
	var out []string
	for _, r := range b.w.Rules(list) {
		out = append(out, r.Pattern)
	}
	return strings.Join(out, " ")
}

// many are n ids, and rules a list of n patterns for them.
func many(n int) []string {
	families := []string{"gpt", "claude", "gemini", "llama", "mistral", "qwen", "deepseek", "command"}
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("openai/%s-%d-%s-%05d", families[i%len(families)], i%97, []string{"mini", "preview", "large"}[i%3], i)
	}
	slices.Sort(ids)
	return ids
}

func manyRules(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("*-%05d", i*7)
	}
	return strings.Join(out, ",")
}
