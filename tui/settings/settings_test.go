package settings

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/workspace"
	"winnow/tui/overlay"
	"winnow/tui/style"
)

func newWorkspace(t *testing.T) *workspace.Workspace {
	t.Helper()
	session, err := assistant.NewSession(&llm.Registry{}, assistant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return workspace.New(workspace.Options{Session: session})
}

func TestEverySettingTakesAllItsValuesInTurn(t *testing.T) {
	for _, s := range All(newWorkspace(t), &Screen{}) {
		first, seen := s.Value(), map[string]bool{}
		for range s.values {
			if err := s.Next(); err != nil {
				t.Errorf("%s: %v", s.Key, err)
			}
			seen[s.Value()] = true
		}
		if len(seen) != len(s.values) {
			t.Errorf("%s takes %v of %v, from %s on", s.Key, seen, s.values, first)
		}
	}
}

// A screen of 40 columns shows every title and every value whole.
func TestANarrowListCutsNothing(t *testing.T) {
	const width = 32 // cells that such a screen has for the list
	for _, s := range All(newWorkspace(t), &Screen{}) {
		for range s.values {
			list := overlay.NewPicker("", []overlay.Entry{s.Entry()}, 0).Body(width, 4, style.New(style.Options{}))
			if line := ansi.Strip(list[2]); strings.Contains(line, "…") || !strings.Contains(line, s.Title) || ansi.StringWidth(line) > width {
				t.Errorf("%s is cut: %q", s.Key, line)
			}
			if err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheThemeIsStoredAsOneValue(t *testing.T) {
	var screen Screen
	set := func(key string) {
		for _, s := range All(newWorkspace(t), &screen) {
			if s.Key == key {
				if err := s.Next(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, step := range []struct{ change, want string }{{"", "auto"}, {"theme", "dark"}, {"theme", "light"}, {"colours", "dusk-light"}, {"theme", "dusk"}} {
		set(step.change)
		if key, value := screen.theme(); key != "theme" || value != step.want {
			t.Errorf("after %q the setting is %s = %s, want %s", step.change, key, value, step.want)
		}
	}
}
