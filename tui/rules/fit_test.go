package rules

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/pane"
	"winnow/tui/style"
)

func TestNamesAreCutInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want string
	}{
		{"gpt-4o", 8, "gpt-4o  "},
		{"claude-sonnet-4-5-2025-10-0657", 13, "claude…0-0657"},
		{"界界界界界界", 7, "界界…界"},
		{"界界界界界界", 8, "界界…界 "},
		{"abc", 2, "a…"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
	} {
		if got := pane.FitName(c.text, c.w, "…"); got != c.want {
			t.Errorf("pane.FitName(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
	for w := range 60 {
		for _, id := range hostileIDs {
			if got := ansi.StringWidth(pane.FitName(pane.Visible(id), w, "…")); got != w {
				t.Errorf("pane.FitName(%q, %d) is %d cells wide", id, w, got)
			}
		}
	}
}

func TestModelsThatDifferAtTheirEndsLookDifferent(t *testing.T) {
	b := open(t, someEnv, []string{"openai/claude-sonnet-4-5-audio-preview-2025-04-0003", "openai/claude-sonnet-4-5-audio-preview-2025-04-0087"})
	b.do("show-models")
	lines := strings.Split(ansi.Strip(b.screen(40, 20)), "\n")
	for i, end := range []string{"-04-0003 ■", "-04-0087 ■"} {
		if !strings.Contains(lines[2+i], end) {
			t.Errorf("row %d = %q, want its end %q", i, lines[2+i], end)
		}
	}
}

func TestOneLineOfARowLeavesOutItsName(t *testing.T) {
	b := open(t, someEnv, many(400))
	b.do("show-models")
	b.on("preview")
	if got := ansi.Strip(b.screen(40, 6)); !strings.Contains(got, " hidden by ignore *-preview* (.env:4)") {
		t.Errorf("one line does not say why the model is hidden:\n%s", got)
	}
	if got := ansi.Strip(b.screen(40, 30)); !strings.Contains(got, " openai/") {
		t.Errorf("where there is room the id is not said:\n%s", got)
	}
}

// "No rule holds nano": what the assistant suggests from another tab is searched
// among the models.
func TestFindModelsOpensTheModels(t *testing.T) {
	b := open(t, someEnv, []string{"openai/gpt-5-nano", "openai/gpt-4o"})
	b.do("show-rules", "find-models")
	b.keys("nano")
	if got := ansi.Strip(b.screen(60, 20)); !strings.Contains(got, "gpt-5-nano") || strings.Contains(got, "gpt-4o") {
		t.Errorf("the models are not searched:\n%s", got)
	}
}

// The row with the cursor is one bar from edge to edge.
func TestTheSelectedRowIsOneBar(t *testing.T) {
	for _, profile := range []style.Profile{style.TrueColor, style.ANSI256, style.ANSI16, style.NoColor} {
		b := open(t, someEnv, many(40))
		st := style.New(style.Options{Dark: true, Unicode: true, Profile: profile})
		b.SetStyles(st)
		b.SetFocus(true)
		b.on("preview")
		found := false
		for _, line := range b.Lines(60, 12) {
			plain := []rune(ansi.Strip(line))
			if inner := string(plain[1 : len(plain)-1]); strings.HasPrefix(inner, st.Icons.Selected) && !strings.Contains(inner, "Rules") {
				found = true
				if want := st.Rules.Selected.Render(inner); !strings.Contains(line, want) {
					t.Errorf("profile %d: the row is %q, want %q in it", profile, line, want)
				}
			}
		}
		if !found {
			t.Fatalf("no row has the cursor:\n%s", ansi.Strip(b.screen(60, 12)))
		}
	}
}
