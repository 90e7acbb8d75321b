package overlay

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/workspace"
	"winnow/tui/style"
)

// program has all settings at their defaults.
type program struct {
	*workspace.Workspace
	screen ScreenSettings
}

func newProgram(t *testing.T) *program {
	t.Helper()
	session, err := assistant.NewSession(&llm.Registry{}, assistant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &program{Workspace: workspace.New(workspace.Options{Session: session})}
}

func (p *program) all() []Setting { return AllSettings(p.Session().Settings(), &p.screen) }

// next sets the next value of a setting, and returns the setting as it is then.
func (p *program) next(t *testing.T, i int) Setting {
	t.Helper()
	s := p.all()[i]
	if !s.OfSession {
		s.Set(s.Step(1))
	} else if err := p.Set(s.Key, s.Step(1)); err != nil {
		t.Errorf("%s: %v", s.Key, err)
	}
	return p.all()[i]
}

func TestEverySettingTakesAllItsValuesInTurn(t *testing.T) {
	p := newProgram(t)
	for i, s := range p.all() {
		first, seen := s.Value(), map[string]bool{}
		for range s.values {
			before := s.value()
			if s = p.next(t, i); slices.Contains(s.values, before) && s.Step(-1) != before {
				t.Errorf("%s: before %s comes %s, not %s", s.Key, s.value(), s.Step(-1), before)
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
	p := newProgram(t)
	for i, s := range p.all() {
		for range s.values {
			list := NewPicker("", []Entry{s.Entry()}, 0).Body(width, 4, style.New(style.Options{}))
			if line := ansi.Strip(list[2]); strings.Contains(line, "…") || !strings.Contains(line, s.Title) || ansi.StringWidth(line) > width {
				t.Errorf("%s is cut: %q", s.Key, line)
			}
			s = p.next(t, i)
		}
	}
}

func TestTheThemeIsStoredAsOneValue(t *testing.T) {
	var screen ScreenSettings
	set := func(key string) {
		for _, s := range AllSettings(assistant.Settings{}, &screen) {
			if s.Key == key {
				s.Set(s.Step(1))
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
