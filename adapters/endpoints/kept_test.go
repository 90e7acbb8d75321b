package endpoints

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"winnow/adapters/config"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/checkpoint/privatefile"
)

// runs makes the endpoints of one run after another, over one folder of what is kept.
func runs(t *testing.T, url string) func() *Set {
	t.Helper()
	o := Options{BaseURL: url, Provider: "mine", CacheDir: filepath.Join(t.TempDir(), "cache")}
	return func() *Set { return find(t, "", o) }
}

// ids are those of a list that are models of the endpoint "mine".
func ids(list []llm.ModelInfo) string {
	var all []string
	for _, m := range list {
		if strings.HasPrefix(m.ID, "mine/") {
			all = append(all, m.ID)
		}
	}
	return strings.Join(all, " ")
}

func TestAModelThatVanishedBetweenTwoRuns(t *testing.T) {
	s := assistanttest.NewServer(t).Models(assistanttest.ModelList("a", "b", "openai/c"))
	next := runs(t, s.URL)
	if err := next().Ask(t.Context(), "mine/b"); err != nil {
		t.Fatal(err)
	}
	seen := time.Now()

	s.Models(assistanttest.ModelList("a"))
	set := next()
	if err := set.Describe("mine/b"); err != nil {
		t.Errorf("before the endpoint is asked: %v", err)
	}
	err := set.Ask(t.Context(), "mine/b")
	var gone *llm.GoneError
	if !errors.As(err, &gone) || gone.ID != "mine/b" || gone.Seen.After(seen) || seen.Sub(gone.Seen) > time.Hour {
		t.Errorf("Ask = %v, want that mine/b is gone, and since when", err)
	}
	if got := ids(set.Registry.Models()); got != "mine/a" {
		t.Errorf("listed: %s", got)
	}
	if got := ids(set.Registry.Gone()); got != "mine/b mine/openai/c" {
		t.Errorf("gone: %s", got)
	}

	// It stays gone, as of the same time, in the run after that.
	first := gone.Seen
	if err := next().Ask(t.Context(), "mine/b"); !errors.As(err, &gone) || !gone.Seen.Equal(first) {
		t.Errorf("a run later: %v, want the same time %v", err, first)
	}
	s.Models(assistanttest.ModelList("a", "b"))
	set = next()
	if err := set.Ask(t.Context(), "mine/b"); err != nil || ids(set.Registry.Gone()) != "mine/openai/c" {
		t.Errorf("listed again: %v, gone %s", err, ids(set.Registry.Gone()))
	}
}

func TestAListThatCannotBeAskedForMarksNothing(t *testing.T) {
	s := assistanttest.NewServer(t).Models(assistanttest.ModelList("a", "b"))
	next := runs(t, s.URL)
	if err := next().Ask(t.Context(), "mine/a"); err != nil {
		t.Fatal(err)
	}
	s.Models(assistanttest.ModelList("a"))
	if err := next().Ask(t.Context(), "mine/a"); err != nil {
		t.Fatal(err)
	}
	for name, reply := range map[string]assistanttest.Reply{
		"a failure":     assistanttest.Respond(http.StatusServiceUnavailable, "no"),
		"an empty list": assistanttest.Respond(http.StatusOK, `{"data":[]}`),
		"no JSON":       assistanttest.Respond(http.StatusOK, `<html>`),
	} {
		s.Models(reply)
		set := next()
		if err := set.Ask(t.Context(), "mine/b"); err == nil || errors.Is(err, llm.ErrModelGone) {
			t.Errorf("%s: Ask = %v, want the error of the request", name, err)
		}
		kept := set.Registry.Models()
		if ids(kept) != "mine/a" || len(set.Registry.Gone()) != 0 {
			t.Errorf("%s: known %s, gone %s; want the kept list, and none", name, ids(kept), ids(set.Registry.Gone()))
		}
		for _, m := range kept {
			if m.ID == "mine/a" && (m.Source != "cache" || m.Retrieved.IsZero()) {
				t.Errorf("%s: %+v, want its age", name, m)
			}
		}
	}
}

func TestAModelThatNoListEverNamedIsNotGone(t *testing.T) {
	s := assistanttest.NewServer(t).Models(assistanttest.ModelList("a"))
	next := runs(t, s.URL)
	for range 2 {
		if err := next().Ask(t.Context(), "mine/by-hand"); err != nil {
			t.Errorf("Ask = %v, want none", err)
		}
	}
}

// What is kept belongs to the address: another name of the endpoint finds it, another
// address does not.
func TestWhatIsKeptBelongsToTheAddress(t *testing.T) {
	s := assistanttest.NewServer(t).Models(assistanttest.ModelList("a", "b"))
	dir := t.TempDir()
	set := find(t, "", Options{BaseURL: s.URL, Provider: "mine", CacheDir: dir})
	if err := set.Ask(t.Context(), "mine/a"); err != nil {
		t.Fatal(err)
	}
	set.Registry.LearnLimit("mine/a", 4096, time.Now())
	for url, want := range map[string]int{s.URL: 4096, refused: 0} {
		other := find(t, "", Options{BaseURL: url, Provider: "yours", CacheDir: dir})
		if _, _, m, err := other.Registry.Open("yours/a"); err != nil || m.Context != want {
			t.Errorf("%s: %+v, %v; want the limit %d", url, m, err, want)
		}
		if kept := other.All[0].kept().Models; (len(kept) == 2) != (want > 0) {
			t.Errorf("%s: kept %+v", url, kept)
		}
	}
}

func TestTheLimitThatAnErrorNamesIsKnownToTheNextRun(t *testing.T) {
	s := assistanttest.NewServer(t).Models(assistanttest.ModelList("gpt-4o"))
	next := runs(t, s.URL)
	set := next()
	set.Registry.LearnLimit("mine/gpt-4o", 8192, time.Now())
	set = next()
	check := func(when string) {
		t.Helper()
		_, _, m, err := set.Registry.Open("mine/gpt-4o")
		if err != nil || m.Limit().ML() != 8192 || !m.Known || !strings.Contains(m.LimitFrom(), "an overflow error, "+time.Now().Format("2006-")) {
			t.Errorf("%s: %+v, %v; want 8192 from an error", when, m, err)
		}
	}
	check("before anything is asked")
	if err := set.Describe("mine/gpt-4o"); err != nil {
		t.Fatal(err)
	}
	check("described from the catalogue")
	if err := set.Ask(t.Context(), "mine/gpt-4o"); err != nil {
		t.Fatal(err)
	}
	check("listed")
}

// An endpoint may raise a limit: one that an error named long ago is forgotten.
func TestAnOldLimitIsForgotten(t *testing.T) {
	next := runs(t, refused)
	set := next()
	for model, age := range map[string]time.Duration{"old": limitAge + time.Hour, "new": limitAge - time.Hour, "of the future": -time.Hour} {
		set.Registry.LearnLimit("mine/"+model, 8192, time.Now().Add(-age))
	}
	set = next()
	for model, want := range map[string]int{"old": 0, "new": 8192, "of the future": 0} {
		if _, _, m, err := set.Registry.Open("mine/" + model); err != nil || m.Context != want {
			t.Errorf("%s: %+v, %v; want %d", model, m, err, want)
		}
	}
}

func TestNothingIsKeptWithoutAFolder(t *testing.T) {
	s := assistanttest.NewServer(t).Models(assistanttest.ModelList("a"))
	set := find(t, "", Options{BaseURL: s.URL, Provider: "mine"})
	set.Registry.LearnLimit("mine/a", 4096, time.Now())
	if err := set.Ask(t.Context(), "mine/a"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("limits"); err == nil {
		t.Error("a file was written into the working folder")
	}
}

// The number of models that an address is remembered to have listed is bounded; the
// ones that were last seen first are forgotten first.
func TestOldGoneModelsAreForgotten(t *testing.T) {
	s := assistanttest.NewServer(t).Models(assistanttest.ModelList("a"))
	e := runs(t, s.URL)().All[0]
	if err := os.MkdirAll(e.cacheDir, 0o700); err != nil {
		t.Fatal(err)
	}
	full := keptList{}
	start := time.Now().Add(-24 * time.Hour)
	for i := range maxGone + 5 {
		full.Gone = append(full.Gone, llm.ModelInfo{ID: "old" + strings.Repeat("x", i%7) + time.Duration(i).String(), Retrieved: start.Add(time.Duration(i) * time.Second)})
	}
	if err := privatefile.WriteDocument(e.keptPath(), full); err != nil {
		t.Fatal(err)
	}
	listed, err := e.listForRegistry(t.Context())
	if err != nil || len(listed) != 1+maxGone || listed[1].Retrieved.Before(start.Add(5*time.Second)) {
		t.Errorf("%d models, the second of %v, %v", len(listed), listed[1].Retrieved, err)
	}
}

func TestAnAnswerIsPassedOn(t *testing.T) {
	s := assistanttest.NewServer(t).Models(assistanttest.ModelList("openai/gpt-4o"))
	set := find(t, "", Options{Settings: &config.Settings{Providers: []config.Provider{provider(s.URL)}}})
	var got []models.Answer
	set.Feed(func(a models.Answer) { got = append(got, a) })
	if err := set.Ask(t.Context(), "mine/openai/gpt-4o"); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Name != "mine" || got[0].BaseURL != s.URL || len(got[0].Models) != 1 || got[0].Models[0].Context != 0 {
		t.Errorf("passed on %+v, want the answer as it came, once", got)
	}
}
