package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// followedModels lists the models of one provider.
type followedModels struct{}

func (followedModels) Cached(provider string) (modelfilter.ModelList, bool) {
	return modelfilter.ModelList{Provider: provider, IDs: []string{"openai/gpt-4", "openai/gpt-4-mini", "openai/o3"}}, provider == "openai"
}

func (followedModels) Models(context.Context, string) (modelfilter.ModelList, error) {
	return modelfilter.ModelList{}, errors.New("the network is down")
}

func (followedModels) MarkSeen(string) error { return nil }

// side is one of two programs that share a window.
type side struct {
	*workspace.Workspace
	window  *modelfilter.Window
	journal *checkpoint.Journal
}

func newSide(t *testing.T, dir string) *side {
	t.Helper()
	s := &side{}
	var err error
	if s.window, err = modelfilter.Open(t.Context(), modelfilter.Options{EnvFile: filepath.Join(dir, ".env"), Models: followedModels{}, Environ: func() []string { return nil }}); err != nil {
		t.Fatal(err)
	}
	if s.journal, err = checkpoint.Open(filepath.Join(dir, "journal", "log"), checkpoint.Options{
		Program: "winnow", Adopt: func(j *checkpoint.Journal) error { return adoptRules(context.Background(), s.window, j) },
	}); err != nil {
		t.Fatal(err)
	}
	session, err := assistant.NewSession(&llm.Registry{}, assistant.Options{ID: assistant.NewID(time.Now()), Window: s.window, Journal: s.journal})
	if err != nil {
		t.Fatal(err)
	}
	s.Workspace = workspace.New(workspace.Options{Session: session})
	return s
}

func (s *side) rules() string {
	var out []string
	for _, r := range s.window.Rules(modelfilter.Ignore) {
		sign := ""
		if r.Unsaved {
			sign = "+"
		}
		out = append(out, sign+r.Pattern)
	}
	return strings.Join(out, " ")
}

func TestASecondProgramFollowsTheFirst(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".env")
	write := func(text string) {
		if err := errors.Join(os.WriteFile(file+"~", []byte(text), 0o600), os.Rename(file+"~", file)); err != nil { // atomically
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write("OPENAI_API_KEY=x\nIGNORE_MODELS_OPENAI=o3\n")
	first := newSide(t, dir)
	add := func(pattern string) func() error {
		return func() error {
			_, err := first.window.Add(modelfilter.Ignore, pattern)
			return err
		}
	}
	must(first.Edit("before the second", add("*mini*")))
	second := newSide(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	said, done := make(chan string, 100), make(chan bool)
	go func() {
		defer close(done)
		followOthers(ctx, second.window, second.journal, slog.New(slog.DiscardHandler), func(who, what string) { said <- who + " " + what })
	}()
	waits := func(what, sentence, rules string) {
		t.Helper()
		limit := time.After(time.Minute)
		for {
			select {
			case s := <-said:
				if !strings.HasPrefix(s, "winnow (process ") {
					t.Errorf("%s: %q does not say who", what, s)
				}
				if strings.HasSuffix(s, sentence) {
					if got := second.rules(); got != rules {
						t.Errorf("%s: the rules are %q, want %q", what, got, rules)
					}
					return
				}
			case <-limit:
				t.Fatalf("%s: %q was not announced; the rules are %q", what, sentence, second.rules())
			}
		}
	}
	must(second.window.SetSearch("gpt"))
	must(first.Edit("add", add("gpt-4")))
	waits("an edit", "hid *mini*, gpt-4 on openai (2 models)", "o3 +*mini* +gpt-4")
	if got := second.window.Search(); got != "gpt" {
		t.Errorf("the search of the second program is %q", got)
	}
	_, err := first.Rollback(t.Context(), first.Newest(), checkpoint.ScopeWindow, first.Newest())
	must(err)
	waits("an undo", "stopped hiding gpt-4 on openai (1 model shown)", "o3 +*mini*")
	_, err = first.Save(t.Context(), assistant.Basis{})
	must(err)
	waits("a save", "saved the rules", "o3 *mini*")

	// The second program also writes, each on top of the other's changes.
	must(second.Edit("add", func() error { _, err := second.window.Add(modelfilter.Ignore, "gpt-4"); return err }))
	must(first.Edit("add", add("*nano*")))
	if got := first.rules(); got != "o3 *mini* +gpt-4 +*nano*" {
		t.Errorf("the rules of the first program are %q", got)
	}
	waits("another edit", "hid *nano* on openai (changes no model)", "o3 *mini* +gpt-4 +*nano*")
	discards, err := second.PlanDiscard("")
	must(err)
	_, err = second.Discard("discard", assistant.Basis{Digest: discards.Digest})
	must(err)
	must(first.Edit("add", add("o1")))
	if got := first.rules(); got != "o3 *mini* +o1" {
		t.Errorf("after the second program's discard the rules of the first are %q", got)
	}
	cancel()
	<-done
	must(errors.Join(first.journal.Close(), second.journal.Close()))
}
