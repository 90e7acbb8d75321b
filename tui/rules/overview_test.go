package rules

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// source is a source of models in memory; fetch answers for a provider that is asked.
type source struct {
	lists map[string]modelfilter.ModelList
	fetch func(provider string) (modelfilter.ModelList, error)
}

func (s *source) Cached(provider string) (modelfilter.ModelList, bool) {
	l, ok := s.lists[provider]
	return l, ok
}

func (s *source) Models(_ context.Context, provider string) (modelfilter.ModelList, error) {
	return s.fetch(provider)
}

func (s *source) MarkSeen(string) error { return nil }

var names = []string{"anthropic", "gemini", "openai"}

// open opens a window on three providers with the same models.
func openWindow(t *testing.T, env string) (*modelfilter.Window, *source) {
	t.Helper()
	s := &source{lists: map[string]modelfilter.ModelList{}}
	for _, name := range names {
		list := modelfilter.ModelList{Provider: name, Source: "cache"}
		for _, model := range []string{"a", "ab", "abc", "b", "bc", "mini-a", "mini-b", "pro-a", "pro-b-preview"} {
			list.IDs = append(list.IDs, name+"/"+model)
		}
		s.lists[name] = list
		env += strings.ToUpper(name) + "_API_KEY=x-long-enough\n"
	}
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := modelfilter.Open(t.Context(), modelfilter.Options{EnvFile: file, Environ: func() []string { return nil }, Models: s})
	if err != nil {
		t.Fatal(err)
	}
	return w, s
}

// rows are what the window publishes of its providers, once all were read.
func rows(w *modelfilter.Window) []modelfilter.ProviderView {
	snapshot, _ := w.Snapshot()
	return snapshot.(*modelfilter.Snapshot).Providers
}

// counted are the numbers of a provider, from the list of its models.
func counted(t *testing.T, w *modelfilter.Window, name string) (shown, hidden, allowed int) {
	t.Helper()
	scope, err := w.On(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range scope.Models() {
		switch m.Status {
		case engine.Ignored:
			hidden++
		case engine.Whitelisted:
			allowed++
			shown++
		default:
			shown++
		}
	}
	return shown, hidden, allowed
}

// What is counted of a provider is what its own list of models shows, whatever the rules
// are, and the sum is that of the providers.
func TestTheNumbersAreThoseOfTheModels(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	patterns := []string{"a*", "*b", "mini-*", "*-preview", "?", "[ab]c", "pro-a", "none*", "*", "*a*"}
	w, _ := openWindow(t, "IGNORE_MODELS_OPENAI=a*\nWHITELIST_MODELS_OPENAI=abc\n")
	w.ReadModels(t.Context())
	for step := range 60 {
		scope, err := w.On(names[random.IntN(len(names))])
		if err != nil {
			t.Fatal(err)
		}
		list, pattern := modelfilter.List(random.IntN(2)), patterns[random.IntN(len(patterns))]
		if _, err := scope.Add(list, pattern); err != nil {
			_ = scope.Remove(list, pattern) // it is there already
		}
		var total, changes int
		all := rows(w)
		for _, n := range all {
			shown, hidden, allowed := counted(t, w, n.Name)
			if c := n.Counts; !n.Read || c.Shown != shown || c.Hidden != hidden || c.Allowed != allowed || c.Total != shown+hidden {
				t.Fatalf("step %d: %s has %+v, its models are %d shown, %d hidden, %d allowed", step, n.Name, c, shown, hidden, allowed)
			}
			total, changes = total+shown, changes+n.Changes
		}
		if sum, unknown := sumNumbers(all); sum.Counts.Shown != total || sum.Changes != changes || changes != len(w.Diff()) || unknown != len(all)-len(names) {
			t.Fatalf("step %d: the sum is %+v, %d unknown; want %d shown, %d unsaved", step, sum, unknown, total, len(w.Diff()))
		}
	}
}

// line is the line of a provider in words.
func line(w *modelfilter.Window, name string) string {
	all := rows(w)
	i := slices.IndexFunc(all, func(n modelfilter.ProviderView) bool { return n.Name == name })
	styles := style.New(style.Options{Profile: style.NoColor, Unicode: true})
	text := ""
	for _, p := range (overviewTable{W: 60, Icons: &styles.Icons}).Line(name, providerNumbers{ProviderView: all[i]}) {
		text += p.Text
	}
	return strings.Join(strings.Fields(text), " ")
}

// A provider has no numbers until its list of models was read; while it is asked again it
// says so, and then has those of the answer, or its old ones.
func TestAProviderWhoseListIsLoading(t *testing.T) {
	w, s := openWindow(t, "")
	if got := line(w, "gemini"); got != "gemini loading…" {
		t.Errorf("before it was read the line is %q", got)
	}
	w.ReadModels(t.Context())
	started, release := make(chan struct{}), make(chan error)
	s.fetch = func(provider string) (modelfilter.ModelList, error) {
		started <- struct{}{}
		return modelfilter.ModelList{Provider: provider, IDs: []string{provider + "/one"}, Source: "live"}, <-release
	}
	for _, answer := range []struct {
		err  error
		want string
	}{{errors.New("refused"), "gemini 9 shown 0 hidden"}, {nil, "gemini 1 shown 0 hidden"}} {
		done := make(chan safetext.Text)
		go func() {
			said, _ := w.Act(t.Context(), modelfilter.RefreshModels{Providers: []string{"gemini", "openai"}[:1]}, 0)
			done <- said
		}()
		<-started
		if got := line(w, "gemini"); !strings.HasSuffix(got, "gemini asking…") {
			t.Errorf("while it is asked the line is %q", got)
		}
		if got := line(w, "openai"); !strings.HasSuffix(got, "openai 9 shown 0 hidden") {
			t.Errorf("meanwhile another one is %q", got)
		}
		changed := w.Changed()
		release <- answer.err
		<-changed
		if said := <-done; (said == "") != (answer.err != nil) {
			t.Errorf("said %q, want %v", said, answer.err)
		}
		if got := line(w, "gemini"); !strings.HasSuffix(got, answer.want) {
			t.Errorf("after %v the line is %q, want %q", answer.err, got, answer.want)
		}
	}
}

// An act reads eight lists of models: those before it are on the screen meanwhile.
func TestAnActReadsEightLists(t *testing.T) {
	env := ""
	for i := range 20 {
		env += fmt.Sprintf("P%02d_API_KEY=x-long-enough\nP%02d_API_BASE=https://p%02d.example/v1\n", i, i, i)
	}
	w, _ := openWindow(t, env)
	for want := 1; ; want = min(want+8, len(rows(w))) { // the current one is read by whoever looks
		read := 0
		for _, r := range rows(w) {
			if r.Read {
				read++
			}
		}
		if read != want {
			t.Fatalf("%d lists are read, want %d", read, want)
		}
		if read == len(rows(w)) {
			break
		}
		if _, err := w.Act(t.Context(), modelfilter.ReadModels{}, 0); err != nil {
			t.Fatal(err)
		}
	}
}
