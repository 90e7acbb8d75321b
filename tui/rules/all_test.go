package rules

import (
	"context"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

const severalEnv = someEnv + "GEMINI_API_KEY=x-long-enough\nIGNORE_MODELS_GEMINI=*pro*\nGROQ_API_KEY=x-long-enough\n"

// openAll opens the tab of all providers, of which groq has no list of models.
func openAll(t *testing.T) *bench {
	t.Helper()
	b := open(t, severalEnv, someModels)
	b.shelf.lists["gemini"] = modelfilter.ModelList{Provider: "gemini", IDs: []string{"gemini/flash", "gemini/nano", "gemini/pro"}, Source: "cache"}
	b.shelf.lists["anthropic"] = modelfilter.ModelList{Provider: "anthropic", IDs: []string{"anthropic/claude-haiku", "anthropic/claude-opus"}, Source: "catalogue"}
	b.Do("previous-tab")
	return b
}

// line is the line of the frame that begins with a name, in words.
func (b *bench) line(name string) string {
	b.t.Helper()
	for line := range strings.Lines(ansi.Strip(b.screen(50, 20))) {
		words := strings.Fields(strings.TrimSpace(line))
		for len(words) > 0 && (words[0] == "›" || words[0] == "✓" || words[0] == "›✓") {
			words = words[1:]
		}
		if len(words) > 0 && strings.TrimPrefix(words[0], "›") == name {
			return strings.Join(words[1:], " ")
		}
	}
	b.t.Fatalf("no line begins with %s:\n%s", name, b.screen(50, 20))
	return ""
}

func (b *bench) lines(want map[string]string) {
	b.t.Helper()
	for name, numbers := range want {
		if got := b.line(name); got != numbers {
			b.t.Errorf("%s: %q, want %q", name, got, numbers)
		}
	}
}

// On the tab of all providers, / searches the models of all of them; enter goes to the one found.
func TestTheSearchOnTheTabOfAllProvidersSearchesAll(t *testing.T) {
	b := openAll(t)
	b.show()
	b.do("pane-search")
	b.keys("pro")
	if screen := ansi.Strip(b.screen(50, 20)); b.tabs.Open != tabAll || !strings.Contains(screen, "gemini/pro") || !strings.Contains(screen, "1 of 18 models") {
		t.Fatalf("on tab %d:\n%s", b.tabs.Open, screen)
	}
	b.keys("<enter>")
	b.on("gemini/pro")
	b.do("pane-highlight")
	b.show()
	if r, _ := b.tabs.List().Current(); b.tabs.Open != tabModels || b.w.Provider() != "gemini" || r.kind != rowModel || b.data.Models[r.index].ID != "gemini/pro" {
		t.Errorf("enter goes to %s, tab %d, row %+v:\n%s", b.w.Provider(), b.tabs.Open, r, b.screen(50, 20))
	}
}

func TestAllProvidersAreCountedInTheBackground(t *testing.T) {
	b := openAll(t)
	b.lines(map[string]string{"openai": "10 shown 3 hidden", "gemini": "loading…", "groq": "loading…", "all": "10 shown 3 hidden"})
	b.show()
	b.lines(map[string]string{"openai": "10 shown 3 hidden", "gemini": "2 shown 1 hidden", "anthropic": "2 shown 0 hidden", "groq": "unknown", "all": "14 shown 4 hidden"})
	if c := b.w.Counts(); c.Shown != 10 || c.Hidden != 3 {
		t.Errorf("the window counts %+v of openai", c)
	}
	golden(t, b, "all")
}

func TestAllProvidersFollowEveryChange(t *testing.T) {
	b := openAll(t)
	b.show()
	gemini, err := b.w.On("gemini")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gemini.Add(modelfilter.Ignore, "*nano*"); err != nil { // as a tool of the assistant does
		t.Fatal(err)
	}
	b.show()
	b.lines(map[string]string{"gemini": "1 shown 2 hidden ●1", "all": "13 shown 5 hidden ●1"})
	b.do("show-rules")
	b.on("gpt-3.5*")
	b.do("delete-rule", "previous-tab")
	b.lines(map[string]string{"openai": "12 shown 1 hidden ●1", "gemini": "1 shown 2 hidden ●1", "all": "15 shown 3 hidden ●2"})
	golden(t, b, "all-unsaved")
	if _, err := b.w.Save(context.Background(), assistant.Basis{}); err != nil {
		t.Fatal(err)
	}
	b.show()
	b.lines(map[string]string{"openai": "12 shown 1 hidden", "all": "15 shown 3 hidden"})
}

func TestTheRowOfAProviderSaysWhatSavingDoes(t *testing.T) {
	b := openAll(t)
	b.show()
	b.do("show-rules")
	b.on("gpt-3.5*")
	b.do("delete-rule", "previous-tab")
	if frame := ansi.Strip(b.screen(110, 20)); !strings.Contains(frame, "shows 2") {
		t.Errorf("the wide table does not say it:\n%s", frame)
	}
	for row, want := range map[string]string{
		"openai": "openai: saving 1 change shows 2 · 1 allowed · from the catalogue · 4 rules",
		"groq":   "groq: nothing unsaved",
		"all":    "all providers: saving 1 change shows 2 · 1 allowed · models of 1 provider unknown",
	} {
		b.on(row)
		if text, _ := b.aboutRow(); text != want {
			t.Errorf("%s: %q, want %q", row, text, want)
		}
	}
}

func TestEnterGoesToTheProvider(t *testing.T) {
	b := openAll(t)
	b.show()
	b.on("gemini")
	if said := b.do("add-ignore"); said != "choose the provider first · enter goes there" || b.Typing() {
		t.Errorf("a rule on another provider: said %q, typing %v", said, b.Typing())
	}
	if said := b.do("pane-highlight"); said != "switched to gemini: 2 of 3 shown" || b.tabs.Open != tabRules || b.w.Provider() != "gemini" {
		t.Errorf("enter: said %q, tab %d of %s", said, b.tabs.Open, b.w.Provider())
	}
	b.do("previous-tab")
	if r, _ := b.tabs.List().Current(); r.text != "gemini" {
		t.Errorf("the cursor is on %q, want the current provider", r.text)
	}
	b.w.Lock()
	b.show()
	b.on("openai")
	if said := b.do("pane-highlight"); said != "assistant is working · esc cancels" || b.w.Provider() != "gemini" || b.tabs.Open != tabAll {
		t.Errorf("while the assistant works: said %q, %s", said, b.w.Provider())
	}
}

func TestTheProviderListBeginsWithAll(t *testing.T) {
	b := openAll(t)
	b.show()
	b.do("show-rules")
	pick := b.Do("provider").(pane.Pick)
	if first := pick.Entries[0]; first.Text != "all providers" || len(pick.Entries) != 5 {
		t.Errorf("the list begins with %+v", first)
	}
	b.perform(pick.Then(pick.Entries[0].Value))
	if b.tabs.Open != tabAll || b.w.Where().Tab != modelfilter.TabAll {
		t.Errorf("tab %d, in the window %s", b.tabs.Open, b.w.Where().Tab)
	}
}

// What was asked shows that it waits, and each answer as it comes.
func TestAskingAllProviders(t *testing.T) {
	b := openAll(t)
	b.show()
	release, running := make(chan struct{}), make(chan string, 9)
	b.shelf.fetch = func(provider string) (modelfilter.ModelList, error) {
		running <- provider
		<-release
		return modelfilter.ModelList{Provider: provider, IDs: []string{provider + "/one"}, Source: "live"}, nil
	}
	b.on("all")
	ask := b.Do("refresh-models").(pane.Edit)
	said := make(chan safetext.Text)
	go func() {
		text, _ := b.w.Act(context.Background(), ask.Act, ask.Revision)
		said <- text
	}()
	asked := map[string]bool{<-running: true, <-running: true, <-running: true}
	b.show()
	for name := range asked {
		b.lines(map[string]string{name: "asking…"})
	}
	if len(running) > 0 {
		t.Error("more than three are asked at once")
	}
	close(release)
	if text := <-said; text != "4 providers answered" {
		t.Errorf("said %q", text)
	}
	b.show()
	b.lines(map[string]string{"openai": "1 shown 0 hidden", "groq": "1 shown 0 hidden", "all": "4 shown 0 hidden"})
}

func TestProvidersThatDoNotAnswerAreNamed(t *testing.T) {
	b := openAll(t)
	b.show()
	b.on("all")
	if said, want := b.do("refresh-models"), "0 of 4 providers answered; the lists of anthropic, gemini, groq and 1 more are unchanged"; said != want {
		t.Errorf("said %q, want %q", said, want)
	}
	b.on("groq")
	if said := b.do("refresh-models"); !strings.Contains(said, "the models of groq could not be refreshed") {
		t.Errorf("one provider: said %q", said)
	}
	b.lines(map[string]string{"openai": "10 shown 3 hidden"})
}

// The tab of all providers says how other proxies differ, once they have been asked in the background, and asks them
// again with the models.
func TestAllShowsHowOtherProxiesDiffer(t *testing.T) {
	asked := 0
	views := []modelfilter.TargetView{{Name: "staging", Rules: 2, Models: 7}, {Name: "twin"}, {Name: "gone", Problem: "the server cannot be reached"}}
	b := openWith(t, severalEnv, someModels, modelfilter.Options{Targets: func(_ context.Context, own modelfilter.Exported) []modelfilter.TargetView {
		asked++
		if len(own.Providers) == 0 {
			t.Error("the window exports nothing")
		}
		return views
	}})
	b.Do("previous-tab")
	if asked != 0 || !strings.Contains(b.screen(60, 20), "asking…") {
		t.Errorf("asked %d times before the tab was drawn:\n%s", asked, b.screen(60, 20))
	}
	wanted := 0
	for range 10 { // while the answer is awaited, nothing is asked again
		e, ok := b.Wants()
		if !ok {
			continue
		}
		if _, compares := e.Act.(modelfilter.CompareTargets); compares {
			wanted++
		} else if _, err := b.w.Act(t.Context(), e.Act, e.Revision); err != nil {
			t.Fatal(err)
		}
		snapshot, _ := b.w.Snapshot()
		b.Show(pane.State{Window: snapshot})
	}
	if wanted != 1 || asked != 0 {
		t.Errorf("the pane asked %d times", wanted)
	}
	if _, err := b.w.Act(t.Context(), modelfilter.CompareTargets{}, 0); err != nil {
		t.Fatal(err)
	}
	b.show()
	screen := ansi.Strip(b.screen(60, 20))
	for _, want := range []string{"other proxies", "staging: 2 rules and 7 models differ", "twin: same rules, same models", "gone: the server cannot be reached"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the tab lacks %q:\n%s", want, screen)
		}
	}
	b.show()
	if asked != 1 {
		t.Errorf("the other proxies were asked %d times", asked)
	}
	views = []modelfilter.TargetView{{Name: "staging"}}
	if _, err := b.w.Act(t.Context(), modelfilter.RefreshModels{Providers: []string{"openai", "gemini"}}, 0); err != nil {
		t.Fatal(err)
	}
	b.show()
	if screen := ansi.Strip(b.screen(60, 20)); asked != 2 || !strings.Contains(screen, "staging: same rules, same models") || strings.Contains(screen, "gone") {
		t.Errorf("asked %d times:\n%s", asked, screen)
	}
}
