package modelfilter

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/checkpoint"
)

// namesOf are n names of models as providers give them, 20 characters in the mean.
func namesOf(n int) (names []string) {
	families := []string{"gpt-%d.%d", "claude-sonnet-%d-%d", "gemini-%d.%d-flash", "mistral-large-%d%d", "qwen%d.%d", "llama-%d.%d", "deepseek-v%d.%d", "grok-%d.%d"}
	variants := []string{"", "-mini", "-preview", "-instruct", "-audio-preview", "-2026-03-04", "-turbo-16k", "-70b"}
	for i := 0; len(names) < n; i++ {
		names = append(names, fmt.Sprintf(families[i%8], 1+i/64%5, i/320)+variants[i/8%8])
	}
	return names
}

// sessionWith starts a session over the window with a model that says what script says.
func sessionWith(t *testing.T, f *fixture, script *assistanttest.Script) *assistant.Session {
	t.Helper()
	registry := &llm.Registry{}
	f.must(registry.Add(llm.Provider{Name: "test", Model: script, Known: []llm.ModelInfo{{ID: "test/script", Context: 200_000, Known: true, Tools: true}}}))
	journal, err := checkpoint.Open(filepath.Join(t.TempDir(), "journal"), checkpoint.Options{})
	f.must(err)
	t.Cleanup(func() { _ = journal.Close() })
	pages := &assistant.Pages{}
	f.must(Register(pages, f.Window))
	s, err := assistant.NewSession(registry, assistant.Options{Window: f.Window, Pages: pages, Journal: journal, Model: "test/script"})
	f.must(err)
	f.must(s.Start(t.Context()))
	return s
}

// TestPromptSize bounds the system prompt, which names each model once and no tool's schema.
func TestPromptSize(t *testing.T) {
	for n, most := range map[int]int{28: 2800, 416: 5500} {
		f := fresh(t, plainEnv)
		list := ModelList{Source: "live", At: f.opts.Now()}
		for _, name := range namesOf(n) {
			list.IDs = append(list.IDs, "openai/"+name)
		}
		f.shelf.lists["openai"] = list
		script := assistanttest.NewScript(assistanttest.Answer{assistanttest.Say("Hello.")})
		say(t, sessionWith(t, f, script), "hello")
		system := script.Requests()[0].Messages[0].Content
		got := budget.Params{}.Estimate(system)
		t.Logf("%d models: %d tokens, %d for the instructions", n, got, budget.Params{}.Estimate(system[:strings.Index(system, "## Current Context")]))
		if got > most {
			t.Errorf("with %d models the prompt has %d tokens, want %d at most", n, got, most)
		}
		for _, name := range namesOf(n) {
			if strings.Count(system, `"`+name+`"`) != 1 {
				t.Fatalf("the prompt names %s %d times", name, strings.Count(system, `"`+name+`"`))
			}
		}
		for _, want := range []string{`"available_providers":["openai"`, `"search_query":"","has_unsaved_changes":false,"highlighted_rule":null,"highlighted_models":[]`, "at most 5 rounds of calls, and a response at most 64 calls", "can undo it", `"source":"live"`, `"as_of":"`, `{"provider":"openai","shown":`, `"ignore_rules":2`, "hidden", "allows"} {
			if !strings.Contains(system, want) {
				t.Errorf("the prompt lacks %q", want)
			}
		}
		if strings.Contains(system, "== TOOLS ==") {
			t.Error("the prompt repeats the tools")
		}
	}
}
