package overview_test

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
	"testing/synctest"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/tui/rules/overview"
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

func (s *source) Seen(string) error { return nil }

var names = []string{"anthropic", "gemini", "openai"}

// open opens a window on three providers with the same models.
func open(t *testing.T, env string) (*modelfilter.Window, *source) {
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

// read reads until nothing is out of date.
func read(t *testing.T, o *overview.Overview) {
	t.Helper()
	for o.Stale() {
		if err := o.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
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
	w, _ := open(t, "IGNORE_MODELS_OPENAI=a*\nWHITELIST_MODELS_OPENAI=abc\n")
	o, seen := overview.New(w), int64(-1)
	for step := range 60 {
		scope, err := w.On(names[random.IntN(len(names))])
		if err != nil {
			t.Fatal(err)
		}
		list, pattern := modelfilter.List(random.IntN(2)), patterns[random.IntN(len(patterns))]
		if _, err := scope.Add(list, pattern); err != nil {
			_ = scope.Remove(list, pattern) // it is there already
		}
		_, before := o.Rows()
		stale := w.Revision() != seen
		seen = w.Revision()
		read(t, o)
		rows, revision := o.Rows()
		if (revision != before) != stale {
			t.Fatalf("step %d: the revision was %d and is %d; the window has changed: %v", step, before, revision, stale)
		}
		var total, changes int
		for _, n := range rows {
			shown, hidden, allowed := counted(t, w, n.Name)
			if c := n.Counts; !n.Read || c.Available != shown || c.Hidden != hidden || c.Whitelisted != allowed || c.Total != shown+hidden {
				t.Fatalf("step %d: %s has %+v, its models are %d shown, %d hidden, %d allowed", step, n.Name, c, shown, hidden, allowed)
			}
			if got := o.Of(n.Name); got.Counts != n.Counts || got.Changes != n.Changes {
				t.Fatalf("step %d: %s alone has %+v, in the list %+v", step, n.Name, got, n)
			}
			total, changes = total+shown, changes+n.Changes
		}
		if sum, unknown := overview.Sum(rows); sum.Counts.Available != total || sum.Changes != changes || changes != len(w.Diff()) || unknown != len(rows)-len(names) {
			t.Fatalf("step %d: the sum is %+v, %d unknown; want %d shown, %d unsaved", step, sum, unknown, total, len(w.Diff()))
		}
	}
}

// line is the line of a provider in words.
func line(o *overview.Overview, name string) string {
	rows, _ := o.Rows()
	i := slices.IndexFunc(rows, func(n overview.Numbers) bool { return n.Name == name })
	styles := style.New(style.Options{Profile: style.NoColor, Unicode: true})
	text := ""
	for _, p := range (overview.Table{W: 60, Icons: &styles.Icons}).Line(name, rows[i]) {
		text += p.Text
	}
	return strings.Join(strings.Fields(text), " ")
}

// A provider has no numbers until its list of models was read; while it is asked again it
// says so, and then has those of the answer, or its old ones.
func TestAProviderWhoseListIsLoading(t *testing.T) {
	w, s := open(t, "")
	o := overview.New(w)
	if got := line(o, "gemini"); got != "✓ gemini loading…" && got != "gemini loading…" {
		t.Errorf("before it was read the line is %q", got)
	}
	if rows, _ := o.Rows(); o.Of("gemini").Read || rows[0].Counts.Total != 0 {
		t.Error("there are numbers before any list was read")
	}
	read(t, o)
	started, release := make(chan struct{}), make(chan error)
	s.fetch = func(provider string) (modelfilter.ModelList, error) {
		started <- struct{}{}
		return modelfilter.ModelList{Provider: provider, IDs: []string{provider + "/one"}, Source: "live"}, <-release
	}
	for _, answer := range []struct {
		err  error
		want string
	}{{errors.New("refused"), "gemini 9 shown 0 hidden"}, {nil, "gemini 1 shown 0 hidden"}} {
		failed := make(chan map[string]error)
		go func() { failed <- o.Refresh(t.Context(), []string{"gemini"}) }()
		<-started
		if got := line(o, "gemini"); !strings.HasSuffix(got, "gemini asking…") {
			t.Errorf("while it is asked the line is %q", got)
		}
		if got := line(o, "openai"); !strings.HasSuffix(got, "openai 9 shown 0 hidden") {
			t.Errorf("meanwhile another one is %q", got)
		}
		if !o.Stale() {
			t.Error("nobody waits for the answer")
		}
		ended := make(chan error)
		go func() { ended <- o.Read(t.Context()) }() // ends with the answer
		release <- answer.err
		if got := <-failed; (got["gemini"] != nil) != (answer.err != nil) {
			t.Errorf("failed: %v, want %v", got, answer.err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		read(t, o)
		if got := line(o, "gemini"); !strings.HasSuffix(got, answer.want) {
			t.Errorf("after %v the line is %q, want %q", answer.err, got, answer.want)
		}
	}
}

func TestTheTextOfWhoAnswered(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e"}
	for n, want := range []string{"5 providers answered", "4 of 5 providers answered; the lists of a stay as they were", "", "", "1 of 5 providers answered; the lists of a, b, c and 1 more stay as they were"} {
		failed := map[string]error{}
		for _, name := range all[:n] {
			failed[name] = fmt.Errorf("%s is away", name)
		}
		if got := overview.AnsweredText(all, failed); want != "" && got != want {
			t.Errorf("%d failed: %q, want %q", n, got, want)
		}
	}
}

// loads reads o until it is up to date, at most limit times. It returns how often it read.
func loads(t *testing.T, o *overview.Overview, limit int) (n int) {
	t.Helper()
	for n < limit && o.Stale() {
		if err := o.Read(t.Context()); err != nil {
			t.Error(err)
		}
		n++
	}
	return n
}

// A Read that waits for a provider ends when the window changes, and when the provider
// has answered; until then nothing is read again and again.
func TestAReadWaitsForWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := open(t, "")
		o := overview.New(w)
		loads(t, o, 100)
		if o.Stale() {
			t.Fatal("there is something to read, but nothing has changed")
		}
		release := make(chan struct{})
		s.fetch = func(provider string) (modelfilter.ModelList, error) {
			<-release
			return modelfilter.ModelList{Provider: provider, IDs: []string{provider + "/one"}, Source: "live"}, nil
		}
		asked := make(chan error)
		go func() {
			_, err := o.Ask(t.Context(), "gemini")
			asked <- err
		}()
		synctest.Wait()
		const limit = 10
		done := make(chan int, 1)
		go func() { done <- loads(t, o, limit) }()
		synctest.Wait()
		if len(done) > 0 {
			t.Fatalf("the reader ended after %d reads, although the provider has not answered", <-done)
		}

		scope, err := w.On("openai")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scope.Add(modelfilter.Ignore, "a*"); err != nil {
			t.Fatal(err)
		}
		if o.Stale() {
			t.Error("a second reader is wanted beside the one that waits")
		}
		synctest.Wait()
		if got := o.Of("openai"); got.Counts.Hidden == 0 || got.Changes != 1 {
			t.Errorf("a change during the wait is not counted: %+v", got)
		}
		if len(done) > 0 {
			t.Fatalf("the reader ended after %d reads, although the provider has not answered", <-done)
		}

		close(release)
		if err := <-asked; err != nil {
			t.Error(err)
		}
		if n := <-done; n == limit {
			t.Error("the reader did not wait")
		}
		if got := o.Of("gemini"); got.Counts.Total != 1 || o.Stale() {
			t.Errorf("after the answer gemini has %+v", got)
		}
	})
}

// One caller at a time is sent to read, and a cancelled wait is no error.
func TestOneReaderAtATime(t *testing.T) {
	w, _ := open(t, "")
	o := overview.New(w)
	if !o.Stale() {
		t.Fatal("nothing is to be read of a new overview")
	}
	if o.Stale() {
		t.Error("a second reader is wanted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Read(ctx); err != nil || o.Of(names[0]).Read {
		t.Errorf("a cancelled Read returns %v and has read %v", err, o.Of(names[0]).Read)
	}
	if !o.Stale() {
		t.Error("nobody reads, and nobody is wanted to")
	}
	if err := o.Read(t.Context()); err != nil {
		t.Error(err)
	}
	read(t, o)
	for range 2 { // the first may meet the signal of the second reader
		if err := o.Read(ctx); err != nil { // it would wait for a provider
			t.Error(err)
		}
	}
}

// The first Reads read eight lists of models each; once they are known one Read counts
// all providers.
func TestAReadReadsEightLists(t *testing.T) {
	env := ""
	for i := range 20 {
		env += fmt.Sprintf("P%02d_API_KEY=x-long-enough\nP%02d_API_BASE=https://p%02d.example/v1\n", i, i, i)
	}
	w, _ := open(t, env)
	o := overview.New(w)
	known := func() (n int) {
		rows, _ := o.Rows()
		for _, r := range rows {
			if r.Read {
				n++
			}
		}
		return n
	}
	rows, _ := o.Rows()
	if len(rows) <= 16 {
		t.Fatalf("there are %d providers; want more than two Reads read", len(rows))
	}
	if sum, _ := overview.Sum(rows); sum.Read {
		t.Error("the sum of lists that were not read counts as read")
	}
	for _, want := range []int{8, 16} {
		if n := loads(t, o, 1); n != 1 || known() != want {
			t.Errorf("after a Read %d lists are known, want %d", known(), want)
		}
	}
	rows, _ = o.Rows()
	if sum, _ := overview.Sum(rows); !sum.Read {
		t.Error("the sum counts as unread beside lists that were read")
	}
	loads(t, o, 100)
	scope, err := w.On("openai")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scope.Add(modelfilter.Ignore, "a*"); err != nil {
		t.Fatal(err)
	}
	if n := loads(t, o, 100); n != 1 || known() != len(rows) {
		t.Errorf("a change took %d Reads, and %d of %d are known", n, known(), len(rows))
	}
}
