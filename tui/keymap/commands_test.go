package keymap

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWhatIsACommand(t *testing.T) {
	for draft, want := range map[string][2]string{
		"/help": {"help"}, "/Model openai/gpt-5 ": {"model", "openai/gpt-5"}, "/undo-pairs\n": {"undo-pairs"},
		"/usr is full": {"usr", "is full"}, "/1": {"1"}, "/filter c'a b' & x": {"filter", "c'a b' & x"},
	} {
		if name, argument, ok := ParseCommand(draft); !ok || name != want[0] || argument != want[1] {
			t.Errorf("ParseCommand(%q) = %q, %q, %v, want %q", draft, name, argument, ok, want)
		}
	}
	for _, draft := range []string{
		"", "/", "//help", " /help", "help", "/etc/hosts is empty", "/^a+$/ matches", "/help\nand more", "/*.go", "/ help", "/-x", "/a.b", "/änder",
	} {
		if name, argument, ok := ParseCommand(draft); ok {
			t.Errorf("ParseCommand(%q) = %q, %q, want a message", draft, name, argument)
		}
	}
}

func TestTwoSlashesBeginAMessage(t *testing.T) {
	for draft, want := range map[string]string{"//help": "/help", "///x": "//x", "/etc/x": "/etc/x", " //x": " //x", "a": "a", "\n\na\nb": "a\nb", "\n//x": "/x"} {
		if got := MessageOf(draft); got != want {
			t.Errorf("MessageOf(%q) = %q, want %q", draft, got, want)
		}
	}
}

var palette = screenCommands([]SlashCommand{
	{Action: "help", Help: "Help"},
	{Action: "models", Help: "Select a model"},
	{Action: "filter", Help: "Filter"},
	{Action: "topics", Help: "Select a topic"},
	{Action: "new-session", Help: "New session"},
	{Action: "exact-request", Help: "Show the exact request"},
	{Action: "sessions", Help: "Sessions"},
	{Action: "save", Help: "Save the rules"},
})

func TestEveryActionHasAName(t *testing.T) {
	for name, action := range map[string]Action{
		"help": "help", "model": "models", "models": "models", "new": "new-session", "new-session": "new-session",
		"exact-request": "exact-request", "session": "sessions", "topic": "topics",
	} {
		if c, err := FindCommand(palette, name, ""); err != nil || c.Action != action {
			t.Errorf("/%s is %q, %v, want %q", name, c.Action, err, action)
		}
	}
	if _, err := FindCommand(palette, "undo", ""); err == nil {
		t.Error("a command of the table without an action of the screen is found")
	}
	seen := map[string]bool{}
	for _, c := range CommandTable() {
		if seen[c.Name] || c.Help == "" && c.Action == "" {
			t.Errorf("/%s is there twice, or is of no front end", c.Name)
		}
		seen[c.Name] = true
	}
}

func TestWhatIsNoCommandSaysSo(t *testing.T) {
	for draft, want := range map[string]string{
		"/modle gpt":                      "there is no command /modle · did you mean /model",
		"/usr is":                         "there is no command /usr · to send it as a message, begin it with //",
		"/new plans:":                     "/new takes no argument · to send it as a message, begin it with //",
		"/" + strings.Repeat("x", 99_999): "there is no command /",
	} {
		name, argument, _ := ParseCommand(draft)
		_, err := FindCommand(palette, name, argument)
		e, isSlash := errors.AsType[*CommandError](err)
		if !isSlash || !strings.HasPrefix(err.Error(), want) || e.Unknown == (name == "new") {
			t.Errorf("%.20s: %.99v, want %q", draft, err, want)
		}
	}
}

func TestModelsByName(t *testing.T) {
	ids := []string{"openai/gpt-5", "openai/gpt-5-mini", "azure/gpt-4o", "openai/gpt-4o", "anthropic/claude-opus"}
	for argument, want := range map[string]string{
		"openai/gpt-4o": "openai/gpt-4o", "GPT-5": "openai/gpt-5", "opus": "anthropic/claude-opus", "mini": "openai/gpt-5-mini",
		"other/unlisted": "other/unlisted",
	} {
		if got, err := ModelNamed(argument, ids); got != want || err != nil {
			t.Errorf("ModelNamed(%q) = %q, %v, want %q", argument, got, err, want)
		}
	}
	for argument, want := range map[string]string{
		"gpt-4o": "2 models match gpt-4o · did you mean azure/gpt-4o or openai/gpt-4o?", "gtp": "there is no model gtp",
	} {
		if got, err := ModelNamed(argument, ids); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("ModelNamed(%q) = %q, %v, want %q", argument, got, err, want)
		}
	}
}

func TestTopicsOfTheHelp(t *testing.T) {
	pages := []HelpTopic{{Name: "keys"}, {Name: "filter"}}
	if p, err := TopicNamed("Filter", pages); err != nil || p.Name != "filter" {
		t.Errorf("filter is %q, %v", p.Name, err)
	}
	if _, err := TopicNamed("filt", pages); err == nil || !strings.Contains(err.Error(), "did you mean filter?") {
		t.Errorf("filt is %v", err)
	}
}

func FuzzDrafts(f *testing.F) {
	for _, s := range []string{"/help", "//", "/etc/hosts", "/filter t'AI", "/model \xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, draft string) {
		name, argument, ok := ParseCommand(draft)
		if MessageOf(draft) != draft && ok {
			t.Errorf("%q is both a command and an escaped message", draft)
		}
		if ok {
			if _, err := FindCommand(palette, name, argument); err != nil && err.Error() == "" {
				t.Errorf("%q is refused without a reason", draft)
			}
		}
	})
}

// Commands and palette offer the same; those of a chat without rules leave out what is on
// rules.
func TestCommandsAreThoseOfThePalette(t *testing.T) {
	for _, plainChat := range []bool{false, true} {
		var typed []Action
		for _, c := range Commands(plainChat) {
			typed = append(typed, c.Action)
		}
		for _, e := range (*Map)(nil).Palette(plainChat) {
			if !slices.Contains(typed, e.Action) {
				t.Errorf("%s is in the palette and cannot be typed", e.Action)
			}
		}
		for _, a := range []Action{Save, GoToPane, AddIgnore} {
			if got := slices.Contains(typed, a); got == plainChat {
				t.Errorf("without rules %v: %s can be typed: %v", plainChat, a, got)
			}
		}
	}
}
