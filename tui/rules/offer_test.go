package rules

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// offered opens the line on a model, which offers its name.
func offered(t testing.TB) *bench {
	t.Helper()
	b := open(t, "OPENAI_API_KEY=x-long-enough\n", someModels)
	b.do("show-models")
	b.on("gpt-4o-mini")
	b.do("add-ignore")
	return b
}

func TestWhatIsOfferedIsTypedOver(t *testing.T) {
	for name, c := range map[string]struct{ keys, want string }{
		"taken":              {"", "gpt-4o-mini"},
		"typed over":         {"codex*", "codex*"},
		"a wildcard":         {"*", "*"},
		"one of one":         {"<home><delete><delete>", "t-4o-mini"},
		"end keeps":          {"<end>*", "gpt-4o-mini*"},
		"ctrl+e keeps":       {"<ctrl+e>*", "gpt-4o-mini*"},
		"left keeps":         {"<left>x", "gpt-4o-minxi"},
		"right keeps":        {"<right>*", "gpt-4o-mini*"},
		"home keeps":         {"<home>*", "*gpt-4o-mini"},
		"backspace keeps":    {"<backspace>*", "gpt-4o-min*"},
		"ctrl+w keeps":       {"<ctrl+w>*", "gpt-4o-*"},
		"moving about":       {"<up><down>x", "x"},
		"keys without text":  {"<f5>x", "x"},
		"esc":                {"<esc>x", "x"},
		"only once replaced": {"ab<backspace>c", "ac"},
	} {
		t.Run(name, func(t *testing.T) {
			b := offered(t)
			b.keys(c.keys)
			if got := b.input.Text(); got != c.want || b.input.preview.pattern != c.want {
				t.Errorf("text = %q, preview of %q, want %q", got, b.input.preview.pattern, c.want)
			}
		})
	}
}

func TestAPasteTakesThePlaceOfWhatIsOffered(t *testing.T) {
	b := offered(t)
	b.Key("", "o3")
	if b.input.Text() != "o3" {
		t.Errorf("text = %q", b.input.Text())
	}
	b = offered(t)
	b.Key("", "\x00\x1b")
	if b.input.Text() != "gpt-4o-mini" {
		t.Errorf("a paste of nothing left %q", b.input.Text())
	}
}

func TestTypingOverByOneCharacterIsSeen(t *testing.T) {
	b := open(t, "OPENAI_API_KEY=x-long-enough\n", []string{"openai/a", "openai/b"})
	b.do("show-models", "add-ignore")
	b.keys("b") // as long as what was offered
	if b.input.Text() != "b" || b.input.preview.pattern != "b" {
		t.Errorf("text = %q, preview of %q", b.input.Text(), b.input.preview.pattern)
	}
}

func TestWhatIsOfferedLooksAndReadsSo(t *testing.T) {
	b := offered(t)
	frame := b.screen(38, 22) // the styles of the test have no colours
	if !regexp.MustCompile("ignore gpt-4o-mini +suggested").MatchString(ansi.Strip(frame)) {
		t.Errorf("nothing says that the pattern is suggested:\n%s", ansi.Strip(frame))
	}
	for line := range strings.Lines(frame) {
		if strings.Contains(line, "suggested") && !strings.Contains(line, b.styles.Selected.Render("gpt-4o-mini")) {
			t.Errorf("what is offered looks as if it had been typed: %q", line)
		}
	}
	b.keys("<end>")
	if frame := ansi.Strip(b.screen(60, 22)); strings.Contains(frame, "suggested") {
		t.Errorf("what is edited is still said to be suggested:\n%s", frame)
	}
}

func TestASearchIsTypedOver(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.do("show-models", "pane-search")
	b.keys("audio<enter>")
	b.do("pane-search")
	if b.input.Text() != "audio" || b.hits() != 1 {
		t.Fatalf("the line holds %q, %d hits", b.input.Text(), b.hits())
	}
	b.keys("mini")
	if b.input.Text() != "mini" || b.hits() != 2 {
		t.Errorf("the line holds %q, %d hits", b.input.Text(), b.hits())
	}
}

func TestASearchWithoutHitsSaysHowToGoOn(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.do("show-models", "pane-search")
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() { b.keys("zzz") }, " esc shows all models"},
		{func() { b.keys("<enter>") }, " esc shows all models"},
		{func() { b.do("pane-search") }, " esc shows all models"},
		{func() { b.keys("<esc><esc>") }, "gpt-4o-mini"},
	} {
		step.do()
		if frame := ansi.Strip(b.screen(60, 22)); !strings.Contains(frame, step.want) {
			t.Errorf("step %d: nothing says %q:\n%s", i, step.want, frame)
		}
	}
}

// twoPatterns selects two models that no one pattern tells from the others, and
// asks to allow them.
func twoPatterns(t testing.TB) *bench {
	t.Helper()
	b := open(t, someEnv, someModels)
	b.do("show-models")
	for _, id := range []string{"o3", "gpt-4-turbo"} {
		b.on(id)
		b.do("pane-select")
	}
	if said := b.do("add-allow"); said != "2 patterns match the selected models · enter shows what they change" {
		t.Fatalf("said %q", said)
	}
	return b
}

// Several suggested patterns are an import: it can be edited, and enter asks.
func TestSeveralPatternsAreAskedAbout(t *testing.T) {
	b := twoPatterns(t)
	if frame := ansi.Strip(b.screen(60, 24)); !strings.Contains(frame, "2 allow rules") || !strings.Contains(frame, "enter previews it · esc clears") {
		t.Errorf("the pane says:\n%s", frame)
	}
	b.keys("<end>,o1*")
	if b.input.Text() != "allow: gpt-4-turbo,o3,o1*" {
		t.Errorf("the line is %q", b.input.Text())
	}
	c, ok := b.Key(keymap.LineAccept, "").(pane.Confirm)
	if !ok || !slices.Contains(c.Lines, "+ allow gpt-4-turbo") {
		t.Fatalf("enter asks %+v", c)
	}
	b.perform(c.Then())
	if got := b.rules(modelfilter.Allow); got != "gpt-4o-audio-preview gpt-4-turbo o3 o1*" || b.Typing() {
		t.Errorf("allow = %s, typing %v", got, b.Typing())
	}
}

func TestSuggestedPatternsWithSpacesStayWhole(t *testing.T) {
	b := open(t, "OPENAI_API_KEY=x-long-enough\n", []string{"openai/my own", "openai/my", "openai/yours", "openai/yours truly"})
	b.openSuggested(modelfilter.Ignore, []string{"my own", "yours truly"})
	if c, ok := b.Key(keymap.LineAccept, "").(pane.Confirm); !ok || c.Lines[0] != "2 ignore rules: hides 2 more models" {
		t.Errorf("enter asks %+v", c)
	}
}

func TestALockedLineSaysThatNothingIsAdded(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.do("add-ignore")
	b.keys("a*")
	b.w.Lock()
	b.show()
	if frame := ansi.Strip(b.screen(40, 20)); !strings.Contains(frame, "the assistant has locked the rules") || strings.Contains(frame, "enter adds") {
		t.Errorf("the pane says:\n%s", frame)
	}
}

// The lock of a turn of another user may be published before that user is: a change waits for
// it, as for a known one.
func TestAChangeWaitsForAnotherWhoIsNotKnownYet(t *testing.T) {
	for holder, text := range map[string]string{"": "another assistant is working", "anna": "anna's assistant is working"} {
		b := open(t, someEnv, someModels)
		b.others, b.holder = true, holder
		b.w.Lock()
		b.show()
		if frame := ansi.Strip(b.screen(60, 20)); !strings.Contains(frame, text) || strings.Contains(frame, "cancels") {
			t.Errorf("the pane lacks %q:\n%s", text, frame)
		}
		b.do("add-ignore")
		b.keys("a*")
		if a, ok := b.Key(keymap.LineAccept, "").(pane.Edit); !ok {
			t.Errorf("%q: enter is %#v", holder, a)
		}
	}
}

func TestHints(t *testing.T) {
	words := func(hints []pane.Hint) string {
		var out []string
		for _, h := range hints {
			out = append(out, h.Key+" "+h.Text)
		}
		return strings.Join(out, " · ")
	}
	for name, c := range map[string]struct {
		do   func(b *bench)
		want string
	}{
		"at rest":          {func(*bench) {}, ""},
		"nothing typed":    {func(b *bench) { b.do("add-ignore") }, "esc leaves"},
		"typed before":     {func(b *bench) { b.do("add-ignore"); b.keys("a<esc>") }, "esc leaves · ↑ brings back your text"},
		"pattern":          {func(b *bench) { b.do("add-ignore"); b.keys("a*") }, "enter adds it · esc clears"},
		"only space":       {func(b *bench) { b.do("add-ignore"); b.keys(" ") }, "esc clears"},
		"refused":          {func(b *bench) { b.do("add-ignore"); b.keys("gpt-3.5-turbo*") }, "esc clears"},
		"locked":           {func(b *bench) { b.do("add-ignore"); b.keys("a*"); b.w.Lock(); b.show() }, "esc clears"},
		"search":           {func(b *bench) { b.do("pane-search"); b.keys("a") }, "enter applies it · esc clears"},
		"import":           {func(b *bench) { b.do("import-rules"); b.keys("a, b") }, "enter previews it · esc clears"},
		"nothing to bring": {func(b *bench) { b.do("import-rules"); b.keys(",") }, "esc clears"},
		"left":             {func(b *bench) { b.do("add-ignore"); b.Escape() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, someEnv, someModels)
			c.do(b)
			got := words(b.Hints())
			if got != c.want {
				t.Errorf("Hints() = %q, want %q", got, c.want)
			}
			if frame := ansi.Strip(b.screen(78, 30)); !strings.Contains(frame, c.want) {
				t.Errorf("the pane does not say %q:\n%s", c.want, frame)
			}
		})
	}
}
