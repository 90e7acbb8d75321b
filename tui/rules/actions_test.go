package rules

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

func TestEditsByHand(t *testing.T) {
	for name, c := range map[string]struct {
		do            func(b *bench) string
		said          string // part of the last notice
		ignore, allow string // the rules afterwards
	}{
		"add ignore": {
			func(b *bench) string { b.do("add-ignore"); return b.keys("*mini*<enter>") },
			"added ignore rule “*mini*”: 2 models hidden", "gpt-3.5* *-preview* gpt-9* *audio* *mini*", "gpt-4o-audio-preview",
		},
		"add allow": {
			func(b *bench) string { b.do("add-allow"); return b.keys(" gpt-3.5-turbo <enter>") },
			"added allow rule “gpt-3.5-turbo”: 1 model shown", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview gpt-3.5-turbo",
		},
		"add on a model": {
			func(b *bench) string {
				b.do("show-models")
				b.on("gpt-5-mini")
				b.do("add-ignore")
				return b.keys("<enter>")
			},
			"added ignore rule “gpt-5-mini”: 1 model hidden", "gpt-3.5* *-preview* gpt-9* *audio* gpt-5-mini", "gpt-4o-audio-preview",
		},
		"covered": {
			func(b *bench) string { b.do("add-ignore"); return b.keys("gpt-3.5-turbo*<enter>") },
			"rule “gpt-3.5*” already covers it", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview",
		},
		"duplicate": {
			func(b *bench) string { b.do("add-ignore"); return b.keys("*audio*<enter>") },
			"the ignore rule already exists", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview",
		},
		"unwritable": {
			func(b *bench) string { b.do("add-ignore"); return b.keys("a,b<enter>") },
			"it cannot be saved", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview",
		},
		"empty": {
			func(b *bench) string { b.do("add-ignore"); return b.keys("  <enter>") },
			"", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview",
		},
		"delete": {
			func(b *bench) string { b.on("gpt-9*"); return b.do("delete-rule") },
			"deleted ignore rule “gpt-9*”: no model changes", "gpt-3.5* *-preview* *audio*", "gpt-4o-audio-preview",
		},
		"delete selected": {func(b *bench) string {
			b.on("gpt-9*")
			b.do("pane-select", "pane-select", "pane-select")
			return b.do("delete-rule")
		}, "deleted 3 rules: 1 model hidden", "gpt-3.5* *-preview*", ""},
		"unselect": {func(b *bench) string {
			b.on("gpt-9*")
			b.do("pane-select", "pane-up", "pane-select", "pane-first")
			return b.do("delete-rule")
		}, "deleted ignore rule “gpt-3.5*”: 2 models shown", "*-preview* gpt-9* *audio*", "gpt-4o-audio-preview"},
		"bring back": {
			func(b *bench) string { b.do("delete-rule"); b.on("deleted"); return b.do("delete-rule") },
			"restored ignore rule “gpt-3.5*”: 2 models hidden", "*-preview* gpt-9* *audio* gpt-3.5*", "gpt-4o-audio-preview",
		},
		"delete what decides": {
			func(b *bench) string { b.do("show-models"); b.on("gpt-3.5-turbo-16k"); return b.do("delete-rule") },
			"deleted ignore rule “gpt-3.5*”: 2 models shown", "*-preview* gpt-9* *audio*", "gpt-4o-audio-preview",
		},
		"nothing decides": {
			func(b *bench) string { b.do("show-models"); b.on("o3"); return b.do("delete-rule") },
			"no rule hides or allows this model", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview",
		},
		"take back": {func(b *bench) string {
			b.do("add-ignore")
			b.keys("*mini*<enter>")
			b.do("show-changes", "pane-first")
			return b.do("delete-rule")
		}, "deleted ignore rule “*mini*”: 2 models shown", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview"},
		"delete a finding": {
			func(b *bench) string { b.do("show-changes"); b.on("gpt-9*"); return b.do("delete-rule") },
			"deleted ignore rule “gpt-9*”: no model changes", "gpt-3.5* *-preview* *audio*", "gpt-4o-audio-preview",
		},
		"nothing to discard": {
			func(b *bench) string { return b.do("discard") },
			"there are no unsaved changes", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview",
		},
		"suggested": {func(b *bench) string {
			b.do("show-models")
			for _, id := range []string{"gpt-4o-mini", "gpt-5-mini"} {
				b.on(id)
				b.do("pane-select")
			}
			b.do("add-ignore")
			return b.keys("<enter>")
		}, "added ignore rule “*mini”: 2 models hidden", "gpt-3.5* *-preview* gpt-9* *audio* *mini", "gpt-4o-audio-preview"},
		"suggested, several": {func(b *bench) string {
			b.do("show-models")
			for _, id := range []string{"o3", "gpt-4-turbo"} {
				b.on(id)
				b.do("pane-select")
			}
			b.do("add-allow")
			return b.keys("<enter>")
		}, "added 2 allow rules: no model changes", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview gpt-4-turbo o3"},
		"import": {func(b *bench) string {
			b.do("import-rules")
			b.perform(b.Key("", "o1*, gpt-3.5-turbo*\nallow: o3,\nIGNORE_MODELS_OPENAI=\"x*,y*\""))
			return b.keys("<enter>")
		}, "added 3 ignore rules and 1 allow rule: no model changes · 1 refused", "gpt-3.5* *-preview* gpt-9* *audio* o1* x* y*", "gpt-4o-audio-preview o3"},
		"import, all refused": {
			func(b *bench) string { b.do("import-rules"); return b.keys("gpt-3.5-turbo*<enter>") },
			"error: ignore rule “gpt-3.5-turbo*” was not added: rule “gpt-3.5*” already covers it", "gpt-3.5* *-preview* gpt-9* *audio*", "gpt-4o-audio-preview",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, someEnv, someModels)
			if said := c.do(b); !strings.Contains(said, c.said) || c.said == "" && said != "" {
				t.Errorf("said %q, want %q", said, c.said)
			}
			if got := b.rules(modelfilter.Ignore); got != c.ignore {
				t.Errorf("ignore = %s, want %s", got, c.ignore)
			}
			if got := b.rules(modelfilter.Allow); got != c.allow {
				t.Errorf("allow = %s, want %s", got, c.allow)
			}
		})
	}
}

func TestLockedPaneRefusesEditsAndKeepsTheLine(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.do("add-ignore")
	b.keys("*mini*")
	b.w.Lock()
	b.show()
	if said := b.keys("<enter>"); said != "assistant is working" || !b.Typing() || b.input.Text() != "*mini*" {
		t.Errorf("enter said %q, the line holds %q", said, b.input.Text())
	}
	b.Escape()
	b.Escape()
	for _, action := range []keymap.Action{"add-ignore", "add-allow", "delete-rule", "provider", "import-rules", "discard"} {
		if said := b.do(action); said != "assistant is working · esc cancels" {
			t.Errorf("%s said %q", action, said)
		}
	}
	b.do("show-models", "pane-search") // looking for something changes no rule
	b.keys("mini<enter>")
	if b.w.Search() != "" || b.hits() != 2 {
		t.Errorf("search of the window = %q, hits = %d", b.w.Search(), b.hits())
	}
	b.w.Unlock()
	b.show()
	if b.w.Search() != "mini" {
		t.Errorf("after the lock the window searches for %q, want mini", b.w.Search())
	}
}

func TestSearchFollowsTheWindowAndTellsIt(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.do("pane-search")
	b.keys("audio<enter>")
	if b.w.Search() != "audio" || b.hits() != 2 {
		t.Errorf("search = %q, %d rules", b.w.Search(), b.hits())
	}
	if err := b.w.SetSearch("*-4o*"); err != nil { // a rollback, say
		t.Fatal(err)
	}
	b.show()
	b.do("show-models")
	if b.hits() != 3 {
		t.Errorf("hits of *-4o* = %d, want 3:\n%s", b.hits(), ansi.Strip(b.screen(60, 20)))
	}
	b.do("pane-search")
	b.Escape()
	if !b.Typing() || b.hits() != len(someModels) {
		t.Errorf("esc left %d hits, typing %v", b.hits(), b.Typing())
	}
	b.Escape()
	if b.Typing() || b.w.Search() != "" {
		t.Errorf("the second esc: typing %v, search %q", b.Typing(), b.w.Search())
	}
	if b.Escape() || b.Status().Searching {
		t.Error("without a search there is something to end")
	}
	b.do("pane-search")
	b.keys("audio<enter>")
	if !b.Status().Searching || !b.Escape() || b.Status().Searching || b.hits() != len(someModels) {
		t.Errorf("esc after a search leaves %d hits, searching %v", b.hits(), b.Status().Searching)
	}
}

func TestHighlightLinksBothWays(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.on("*-preview*")
	b.do("pane-highlight")
	if h := b.w.Highlighted(); h.Rule != "*-preview*" || len(h.Models) != 2 {
		t.Fatalf("highlighted = %+v", h)
	}
	b.do("next-tab")
	if r, _ := b.tabs.List().Current(); r.kind != rowModel || b.data.Models[r.index].ID != "openai/gpt-4-1106-preview" {
		t.Errorf("the tab of models opens on %+v", r)
	}
	b.on("gpt-4o-audio")
	b.do("pane-highlight", "previous-tab")
	if r, _ := b.tabs.List().Current(); r.kind != rowRule || r.list != modelfilter.Allow {
		t.Errorf("the tab of rules opens on %+v", r)
	}
	b.do("pane-highlight")
	if h := b.w.Highlighted(); h.Rule != "" || len(h.Models) != 0 {
		t.Errorf("enter on the highlighted rule highlights %+v, want nothing", h)
	}
}

func TestPreviewSaysWhatTheEngineSays(t *testing.T) {
	b := open(t, someEnv, someModels)
	for _, list := range lists {
		for _, pattern := range []string{"*", "*mini*", "gpt-4*", "zzz", "?3", "[og]*", "gpt-3.5-turbo", "other/*", "*audio*"} {
			b.openPattern(list, pattern)
			want := b.w.Preview(list, pattern)
			got := b.input.preview
			if got.change.Matches != want.Matches || len(got.change.Hidden) != len(want.Hidden) || len(got.change.Shown) != len(want.Shown) {
				t.Errorf("preview of %s %s = %+v, want %+v", list, pattern, got.change, want)
			}
			marked := strings.Count(ansi.Strip(b.screenOf(tabModels)), "would ")
			if n := len(want.Hidden) + len(want.Shown); marked != n {
				t.Errorf("%s %s: %d models are marked, want %d", list, pattern, marked, n)
			}
			_, err := b.w.Add(list, pattern)
			if (got.refusal != nil) != (err != nil) {
				t.Errorf("%s %s: the preview refuses with %v, adding with %v", list, pattern, got.refusal, err)
			}
			if _, err := b.w.Discard(assistant.Basis{}); err != nil {
				t.Fatal(err)
			}
			b.show()
		}
	}
}

// screenOf is a frame of a tab with room for all of it.
func (b *bench) screenOf(t int) string {
	b.openTab(t)
	return b.screen(120, 60)
}

func TestProviders(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.w.ReadModels(context.Background())
	b.show()
	pick, ok := b.Do("provider").(pane.Pick)
	if !ok || len(pick.Entries) != 3 {
		t.Fatalf("provider = %+v", pick)
	}
	if e := pick.Entries[1]; e.Text != "openai" || e.Extra != "10 of 13 · catalogue · 5 rules" || e.Mark != b.st.Icons.ToolOK || e.Mark == b.st.Icons.Selected {
		t.Errorf("entry = %+v", e)
	}
	if e := pick.Entries[2]; e.Text != "anthropic" || !strings.Contains(e.Extra, "no key") {
		t.Errorf("entry = %+v", e)
	}
	b.do("delete-rule") // the numbers of the list are those of now
	pick, _ = b.Do("provider").(pane.Pick)
	if e := pick.Entries[1]; !strings.HasPrefix(e.Extra, "12 of 13 · catalogue · 4 rules") {
		t.Errorf("after a rule was deleted: %+v", e)
	}
	if e, ok := pick.Then("anthropic").(pane.Edit); !ok || !e.ViewOnly || e.Act.Step() != "Switch to anthropic" {
		t.Errorf("the switch is %+v, want one that leaves nothing to save", e)
	}
	if e, ok := b.Do("delete-rule").(pane.Edit); !ok || e.ViewOnly {
		t.Errorf("a deletion is %+v, want one that can be saved", e)
	}
	if said := b.perform(pick.Then("anthropic")); said != "switched to anthropic" || b.Status().Subtitle != "anthropic" {
		t.Errorf("said %q, shows %q", said, b.Status().Subtitle)
	}
	if _, ok := pick.Then("anthropic").(pane.Nothing); !ok {
		t.Error("switching to the same provider is an edit")
	}
}

func TestSaveSheetShowsTheFileAndTheModels(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.do("delete-rule", "add-ignore")
	b.keys("*mini*<enter>")
	plan, err := b.w.PlanSave(t.Context(), "")
	if err != nil || b.Status().Unsaved != 2 {
		t.Fatal(err)
	}
	text := ansi.Strip(strings.Join(pane.SavePlanLines(plan, "", &b.st), "\n"))
	for _, want := range []string{
		"- IGNORE_MODELS_OPENAI=gpt-3.5*,*-preview*,gpt-9*,*audio*", "+ IGNORE_MODELS_OPENAI=*-preview*,gpt-9*,*audio*,*mini*",
		"openai: 2 models become shown", "gpt-3.5-turbo", "openai: 2 models become hidden", "gpt-5-mini", "restart the proxy",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the sheet lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "sk-not-a-real-key") {
		t.Error("the sheet shows a key")
	}
}

// The save key and the assistant show one dialog: the same lines in the same colours.
func TestBothSaveDialogsAreTheSame(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.do("delete-rule", "add-ignore")
	b.keys("*mini*<enter>")
	plan, err := b.w.PlanSave(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	tool := b.w.Tools()[slices.IndexFunc(b.w.Tools(), func(t assistant.Tool) bool { return t.Name == "save_changes" })]
	shown, err := tool.Preview(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	byKey := pane.SavePlanLines(plan, "", &b.st)
	byTool := pane.DiffLines(shown.Text.Lines(), &b.st)
	if !slices.Equal(byKey, byTool) {
		t.Errorf("the key shows\n%s\nthe assistant\n%s", strings.Join(byKey, "\n"), strings.Join(byTool, "\n"))
	}
}

func TestSaveCreatesTheFile(t *testing.T) {
	b := open(t, "", someModels)
	if !strings.Contains(b.screen(60, 20), "does not exist yet") {
		t.Errorf("nothing says that there is no file:\n%s", b.screen(60, 20))
	}
	b.do("add-ignore")
	b.keys("*mini*<enter>")
	if _, err := b.w.Save(t.Context(), assistant.Basis{}); err != nil {
		t.Fatal(err)
	}
	b.show()
	if b.Status().Unsaved > 0 {
		t.Error("saved rules are shown as unsaved")
	}
	if b.do("delete-rule"); strings.Contains(b.screen(60, 20), "does not exist") {
		t.Error("the file is said not to exist after a save")
	}
}

func TestDiscardAsks(t *testing.T) {
	b := open(t, someEnv, someModels)
	if said := b.do("discard"); said != "there are no unsaved changes" {
		t.Errorf("with nothing unsaved said %q", said)
	}
	b.do("delete-rule")
	if got := b.Do("discard"); got != pane.Action(pane.Discard{}) {
		t.Errorf("discard is %+v", got)
	}
}

func TestClick(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.Lines(60, 20)
	b.Click(12, 0)
	if b.tabs.Open != tabModels || b.w.Where().Tab != modelfilter.TabModels {
		t.Fatalf("a click on the title opened %v", b.tabs.Open)
	}
	b.Lines(60, 20)
	b.Click(5, 6) // below the names of the columns
	if r, _ := b.tabs.List().Current(); b.data.Models[r.index].ID != "openai/gpt-4-1106-preview" {
		t.Errorf("a click on a row went to %s", b.data.Models[r.index].ID)
	}
	b.Click(5, 6) // below the names of the columns
	if h := b.w.Highlighted(); h.Rule != "*-preview*" {
		t.Errorf("a second click highlights %+v", h)
	}
	for _, at := range [][2]int{{5, 19}, {-1, -1}, {500, 500}, {0, 0}} {
		b.Click(at[0], at[1])
	}
}

func TestCursorStaysOnItsRowWhenRowsChange(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.on("*audio*")
	if err := b.w.Remove(modelfilter.Ignore, "gpt-3.5*"); err != nil { // the assistant's doing
		t.Fatal(err)
	}
	b.show()
	if r, _ := b.tabs.List().Current(); b.rowID(r) != ruleID(modelfilter.Ignore, "*audio*") {
		t.Errorf("the cursor is on %q", b.rowID(r))
	}
}

// Of few rules the tab of changes lists the redundant ones, of many those that
// decide nothing.
func TestRulesThatDecideNothingAreListed(t *testing.T) {
	for name, more := range map[string]string{"few": "b*", "many": manyRules(fewRules)} {
		b := open(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI=a*,ab*,"+more+"\n", append(many(300), "openai/abc"))
		b.do("show-changes")
		b.on("ab*")
		if said := b.do("delete-rule"); said != "deleted ignore rule “ab*”: no model changes" {
			t.Errorf("%s rules: said %q", name, said)
		}
	}
}

func TestUnknownActionsDoNothing(t *testing.T) {
	b := open(t, "", nil)
	for _, action := range []keymap.Action{"", "no-such", "pane-select", "pane-highlight", "delete-rule", "pane-page-down", "pane-page-up", "pane-last", "find-models", "open-save"} {
		if _, ok := b.Do(action).(pane.Edit); ok {
			t.Errorf("%q edits an empty window", action)
		}
		b.Escape()
		b.Lines(30, 10)
	}
}

// Struck through is what is deleted, not a rule that matches none.
func TestOnlyDeletedRulesAreStruckThrough(t *testing.T) {
	b := open(t, someEnv, someModels)
	struck := func() (all []string) {
		for _, line := range b.Lines(80, 40) {
			if _, after, found := strings.Cut(line, "\x1b[2;9m"); found {
				text, _, _ := strings.Cut(after, "\x1b")
				all = append(all, strings.TrimSpace(text))
			}
		}
		return all
	}
	if !strings.Contains(ansi.Strip(b.screen(80, 40)), "matches none") || len(struck()) > 0 {
		t.Errorf("struck through: %q in\n%s", struck(), b.screen(80, 40))
	}
	b.on("gpt-9*")
	b.do("delete-rule")
	if got := struck(); !slices.Equal(got, []string{"gpt-9*"}) {
		t.Errorf("struck through after deleting: %q", got)
	}
}
