package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// An import is previewed as a whole: its allow rules may undo its ignore rules.
func TestImportPreviewSaysWhatTheRulesChangeTogether(t *testing.T) {
	for text, want := range map[string]string{
		"gpt-5*, allow: gpt-5*":   "1 ignore rule and 1 allow rule: changes nothing",
		"gpt-5*, *4o*":            "2 ignore rules: hides 4 more models",
		"o3, allow: gpt-3.5-*":    "1 ignore rule and 1 allow rule: hides 1 more model, shows 2 more models",
		"gpt-3.5-turbo*, *-none*": "2 ignore rules: changes nothing",
	} {
		b := open(t, someEnv, someModels)
		b.do("import-rules")
		b.keys(text)
		ask, ok := b.Key(keymap.LineAccept, "").(pane.Confirm)
		if !ok || ask.Lines[0] != want {
			t.Errorf("%s: the preview says %q, want %q", text, ask.Lines, want)
		}
		before := b.w.Counts().Shown
		b.perform(ask)
		hidden := strings.Count(want, "hides 1") + 4*strings.Count(want, "hides 4") - 2*strings.Count(want, "shows 2")
		if got := before - b.w.Counts().Shown; got != hidden {
			t.Errorf("%s: %d models became hidden, the preview says %q", text, got, want)
		}
	}
}

func TestImportPreviewNamesTheRefusedRules(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.do("import-rules")
	b.keys("x*, xy*, gpt-3.5-turbo*")
	ask, _ := b.Key(keymap.LineAccept, "").(pane.Confirm)
	text := strings.Join(ask.Lines, "\n")
	for _, want := range []string{"+ ignore x*\n", "✗ ignore xy*: rule “x*” already covers it", "✗ ignore gpt-3.5-turbo*: rule “gpt-3.5*” already covers it"} {
		if !strings.Contains(text, want) {
			t.Errorf("the preview does not say %q:\n%s", want, text)
		}
	}
}

// A rule that is added changes the sign of no other, and the rules of one list those of
// the other list neither.
func TestRulesKeepTheirColours(t *testing.T) {
	b := open(t, someEnv, someModels)
	signs := func() map[string]string {
		out := map[string]string{}
		for line := range strings.Lines(ansi.Strip(b.screen(60, 20))) {
			if _, rest, ok := strings.Cut(line, "▌"); ok {
				fields := strings.Fields(rest)
				out[fields[1]] = fields[0]
			}
		}
		return out
	}
	before := signs()
	b.do("add-ignore")
	b.keys("*mini*<enter>")
	after := signs()
	if len(after) != len(before)+1 || after["*mini*"] == "" {
		t.Fatalf("rules are %v, were %v", after, before)
	}
	for pattern, sign := range before {
		if after[pattern] != sign {
			t.Errorf("%s was %s and is %s", pattern, sign, after[pattern])
		}
		if after["*mini*"] == sign {
			t.Errorf("the new rule has the sign of %s", pattern)
		}
	}
	b.do("pane-first", "delete-rule")
	if allow := "gpt-4o-audio-preview"; signs()[allow] != before[allow] {
		t.Errorf("without the first ignore rule the signs are %v, were %v", signs(), before)
	}
}

func TestTextsNameTheKeysAsBound(t *testing.T) {
	keys := func(action keymap.Action) string {
		return map[keymap.Action]string{"add-ignore": "F7", "delete-rule": "F8", "discard": "F9", "escape": "ctrl+y", "provider": ""}[action]
	}
	b := open(t, "", someModels)
	b.SetKeys(keys)
	frame := ansi.Strip(b.screen(60, 20))
	if !strings.Contains(frame, "F7 adds an ignore rule") || strings.Contains(frame, "switches the provider") || strings.Contains(frame, " a adds") {
		t.Errorf("no rules:\n%s", frame)
	}
	b.do("add-ignore")
	b.keys("x*")
	if hints := b.Hints(); !slices.Contains(hints, pane.Hint{Key: "ctrl+y", Text: "clears"}) {
		t.Errorf("hints = %v", hints)
	}
	b.keys("<enter>")
	b.do("show-changes")
	if frame := ansi.Strip(b.screen(60, 20)); !strings.Contains(frame, "F8 undoes it") || !strings.Contains(frame, "F9 discards all") {
		t.Errorf("changes:\n%s", frame)
	}
}

func TestCompletionsAreRulesThenModels(t *testing.T) {
	b := open(t, someEnv, someModels)
	names := b.Completions()
	if !slices.Equal(names[:5], []string{"gpt-3.5*", "*-preview*", "gpt-9*", "*audio*", "gpt-4o-audio-preview"}) || !slices.Contains(names[5:], "gpt-4o") {
		t.Errorf("completions = %q", names)
	}
}

// With many rules a key compares the pattern with none of them; enter does.
func TestManyRulesAreComparedOnEnter(t *testing.T) {
	b := open(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI="+manyRules(2*fewRules)+"\n", many(2000))
	b.openPattern(modelfilter.Ignore, "?-00000")
	if v := b.input.preview; v.compared || v.refusal != nil {
		t.Errorf("preview = %+v", v)
	}
	if frame := ansi.Strip(b.screen(60, 20)); !strings.Contains(frame, "enter compares it with all rules") {
		t.Errorf("the pane does not say when it is compared:\n%s", frame)
	}
	if text := b.keys("<enter>"); text != "rule “*-00000” already covers it" {
		t.Errorf("enter said %q", text)
	}
}
