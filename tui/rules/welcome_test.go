package rules

import (
	"path/filepath"
	"strings"
	"testing"

	"winnow/adapters/modelfilter"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// The welcome names the file, the providers in use with their numbers, and requests that
// fit the rules.
func TestWelcome(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.opts.Home = filepath.Dir(b.file)
	b.welcome = welcomeCache{}
	b.w.ReadModels(t.Context())
	b.show()
	w, ok := b.Welcome()
	if !ok || len(w.Facts) != 3 {
		t.Fatalf("%+v, %v", w, ok)
	}
	if w.Facts[0].Text != "~/.env" || w.Facts[1].Name != "openai" || w.Facts[1].Text != "10 shown, 3 hidden · 5 rules" {
		t.Errorf("facts %+v", w.Facts)
	}
	if got := strings.Join(w.Requests, "; "); got != "which models of openai are hidden, and why?; hide every mini model of openai; hide every embedding model of openai" {
		t.Errorf("requests: %s", got)
	}
	if again, _ := b.Welcome(); &again.Facts[0] != &w.Facts[0] {
		t.Error("the same snapshot is read twice")
	}
}

// Without rules the pane opens on the providers with a key, else on the rules.
func TestThePaneOpensWhereRulesAre(t *testing.T) {
	if b := open(t, "", someModels); b.tabs.Open != tabRules {
		t.Errorf("without a provider in use it opens tab %d", b.tabs.Open)
	}
	if b := open(t, someEnv, someModels); b.tabs.Open != tabRules {
		t.Errorf("with rules it opens tab %d", b.tabs.Open)
	}
	if b := open(t, "OPENAI_API_KEY=sk-not-a-real-key\n", someModels); b.tabs.Open != tabRules {
		t.Errorf("with one provider it opens tab %d", b.tabs.Open)
	}
	b := open(t, "OPENAI_API_KEY=sk-not-a-real-key\nGEMINI_API_KEY=sk-not-a-real-key\n", someModels)
	if b.tabs.Open != tabAll {
		t.Errorf("without rules it opens tab %d", b.tabs.Open)
	}
	w, _ := b.Welcome()
	if want := "which models of openai are hidden, and why?"; strings.Contains(strings.Join(w.Requests, " "), want) || len(w.Requests) != 3 {
		t.Errorf("requests %q", w.Requests)
	}
	if now, _ := b.w.Snapshot(); now.(*modelfilter.Snapshot).Tab != modelfilter.TabAll {
		t.Error("the window was not told")
	}
}

// What is typed after /why is explained: a model of any provider, or a rule.
func TestWhyAModelIsHidden(t *testing.T) {
	b := openAll(t)
	for name, want := range map[string]string{
		"gpt-3.5-turbo": "openai/gpt-3.5-turbo: hidden by ignore gpt-3.5*", "openai/gpt-5": "openai/gpt-5: shown: no rule matches",
		"gpt-4o-audio-preview": "allowed by gpt-4o-audio-preview", "gpt-9*": "ignore gpt-9*: .env:4 · matches no known model",
	} {
		if said, ok := b.DoWith(keymap.WhyModel, name).(pane.Notify); !ok || !strings.Contains(string(said.Text), want) {
			t.Errorf("%s: %+v, want %s", name, said, want)
		}
	}
	for name, want := range map[string]string{
		"Gemini/pro": "gemini/pro is hidden by the ignore rule *pro*", "claude-opus": "anthropic/claude-opus is shown: no rule matches it",
		"gpt-55":    "no provider lists gpt-55; did you mean gpt-5?",
		"gpt-3.5-x": "no provider lists gpt-3.5-x; on openai, the ignore rule gpt-3.5* would keep it hidden",
	} {
		e, ok := b.DoWith(keymap.WhyModel, name).(pane.Edit)
		if !ok {
			t.Fatalf("%s: %+v", name, e)
		}
		said, err := b.w.Act(t.Context(), e.Act, e.Revision)
		if err != nil {
			said = safetext.Clean(err.Error())
		}
		if string(said) != want {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
	}
}
