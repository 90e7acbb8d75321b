package rules

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/keymap"
)

// listed is how many rows of the list a frame shows.
func (b *bench) listed(w, h int) int {
	b.t.Helper()
	b.version++
	b.Lines(w, h)
	v := &b.tabs.Lists[b.tabs.Open]
	return v.Visible()
}

// unwrapped is a frame as one line of words, without its border.
func unwrapped(frame string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("┃", " ", "│", " ", "─", " ").Replace(ansi.Strip(frame))), " ")
}

func TestWhatIsSaidOfARowGrowsIntoTheEmptyLines(t *testing.T) {
	b := open(t, someEnv, someModels)
	for _, size := range [][2]int{{40, 23}, {40, 17}, {40, 60}} {
		if got := unwrapped(b.screen(size[0], size[1])); !strings.Contains(got, "without it 2 more models would be shown") {
			t.Errorf("%d×%d cuts what is said:\n%s", size[0], size[1], ansi.Strip(b.screen(size[0], size[1])))
		}
	}
}

func TestNotesOfTheFileCanBeReadWhole(t *testing.T) {
	b := open(t, someEnv, someModels)
	if err := os.Chmod(b.file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := b.w.RefreshSaved(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	b.show()
	b.do("show-changes", "pane-last")
	if r, _ := b.tabs.List().Current(); r.kind != rowNotice {
		t.Fatalf("the cursor is on %+v", r)
	}
	if row := ansi.Strip(b.drawRow(b.tabs.Lists[tabChanges].Rows[b.tabs.Lists[tabChanges].Cursor.At], true, 60)); !strings.Contains(row, "! .env: other users can read") {
		t.Errorf("the row begins with the folder of the file: %q", row)
	}
	if got := unwrapped(b.screen(40, 23)); !strings.Contains(got, "saving does not change the mode") {
		t.Errorf("the note is cut:\n%s", ansi.Strip(b.screen(40, 23)))
	}
}

func TestNotesOfTheFileShowHiddenCharactersOnce(t *testing.T) {
	b := open(t, "K\u202e=1\nK\u202e=2\n", nil)
	b.do("show-changes", "pane-last")
	if got, want := unwrapped(b.screen(60, 30)), "K‹U+202E› has no effect here"; strings.Count(got, want) != 2 {
		t.Errorf("the row and the foot do not both say %q:\n%s", want, ansi.Strip(b.screen(60, 30)))
	}
}

// TestALongListKeepsItsRows holds the list against what it had when the words
// of the row under the cursor had an eighth of the pane at most.
func TestALongListKeepsItsRows(t *testing.T) {
	b := open(t, someEnv, append(many(400), "openai/"+strings.Repeat("a-very-", 60)+"long-id"))
	b.do("show-models", "pane-first")
	for h := 5; h < 60; h++ {
		inside := h - 2
		notes := 1 + 1 + max(1, inside/8) + 1 // the line across, the row, the bar, the source
		foot := min(notes, max(inside/2, inside-minRows, 1))
		if got := b.listed(40, h); got < inside-foot {
			t.Errorf("%d lines: the list shows %d rows, had %d", h, got, inside-foot)
		}
	}
}

func TestAShortListIsNeverCutByTheFoot(t *testing.T) {
	b := open(t, someEnv, someModels)
	b.w.HighlightRule(0, "*-preview*")
	b.show()
	for h := 16; h < 50; h++ {
		if got, all := b.listed(40, h), len(b.tabs.Lists[tabRules].Rows); got < all {
			t.Errorf("%d lines: %d of %d rows are seen:\n%s", h, got, all, ansi.Strip(b.screen(40, h)))
		}
	}
}

func TestWhatIsCutSaysSo(t *testing.T) {
	b := open(t, someEnv, many(400))
	b.do("show-models")
	b.on("preview")
	for h := 4; h < 30; h++ {
		got := unwrapped(b.screen(24, h))
		if !strings.Contains(got, "by ignore *-preview* (.env:4)") && strings.Contains(got, "openai/") && !strings.Contains(got, "…") {
			t.Errorf("%d lines: a text ends without a sign:\n%s", h, ansi.Strip(b.screen(24, h)))
		}
	}
}

func TestAnEmptyListSaysWhatItsRulesAreFor(t *testing.T) {
	for w, want := range map[int][2]string{
		40: {"none · h adds one: it hides models", "none · a adds one: it shows models"},
		24: {"none", "none"},
	} {
		for i, other := range []string{"WHITELIST", "IGNORE"} {
			b := open(t, "OPENAI_API_KEY=x-long-enough\n"+other+"_MODELS_OPENAI=o3\n", someModels)
			if frame := ansi.Strip(b.screen(w, 20)); !strings.Contains(frame, want[i]+" ") {
				t.Errorf("%d cells: nothing says %q:\n%s", w, want[i], frame)
			}
		}
	}
}

func TestSignsThatMeanOneThing(t *testing.T) {
	b := open(t, someEnv, someModels)
	icons := &b.st.Icons
	b.do("show-models", "pane-select")
	row := ansi.Strip(b.screen(60, 20))
	for i, sign := range icons.RuleIcons {
		if strings.Contains(row, sign+" 1 selected") || strings.Contains(row, " "+sign+" · gpt-3.5-turbo ") {
			t.Errorf("what is selected has the sign of rule %d:\n%s", i, row)
		}
	}
	if !strings.Contains(row, fmt.Sprintf("%s 1 selected", icons.Ticked)) {
		t.Errorf("nothing says what is selected:\n%s", row)
	}
}

// A window in which rules were deleted and added shows each rule and its models with the
// sign, and so the colour, that a window shows which is opened on the result.
func TestEveryWindowShowsARuleWithTheSameSign(t *testing.T) {
	edited := open(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI=gpt-3.5*,*audio*\nWHITELIST_MODELS_OPENAI=gpt-4o-audio-preview\n", someModels)
	edited.on("gpt-3.5*")
	edited.do("delete-rule", "add-ignore")
	edited.keys("*mini*<enter>")
	edited.do("add-allow")
	edited.keys("gpt-5-mini<enter>")
	opened := open(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI=*audio*,*mini*\nWHITELIST_MODELS_OPENAI=gpt-4o-audio-preview,gpt-5-mini\n", someModels)
	signs := func(b *bench, tab keymap.Action, names ...string) (all []string) {
		b.do(tab)
		for _, name := range names {
			for _, row := range b.Lines(60, 30) {
				before, after, ok := strings.Cut(ansi.Strip(row), name)
				if _, sign, rule := strings.Cut(before, b.st.Icons.RuleBar); ok && rule {
					all = append(all, name+sign)
				} else if ok && tab == "show-models" {
					all = append(all, name+strings.TrimLeft(after, " "))
				}
			}
		}
		return all
	}
	rules, models := []string{"*audio*", "*mini*", "gpt-4o-audio-preview", "gpt-5-mini"}, []string{"gpt-4o-mini", "gpt-4o-audio", "gpt-5-mini"}
	got := append(signs(edited, "show-rules", rules...), signs(edited, "show-models", models...)...)
	want := append(signs(opened, "show-rules", rules...), signs(opened, "show-models", models...)...)
	if !slices.Equal(got, want) || len(got) != len(rules)+len(models) {
		t.Errorf("the signs are %q, in the other window %q", got, want)
	}
}

func TestNumbersAreNotLeftOutWhereTheyFit(t *testing.T) {
	b := open(t, "OPENAI_API_KEY=x-long-enough\nIGNORE_MODELS_OPENAI=*-preview-*\n", many(900))
	b.data.Source.At = time.Date(2026, time.March, 1, 12, 30, 0, 0, time.Local)
	frame := ansi.Strip(b.screen(40, 20))
	for _, want := range []string{"600 of 900 shown · 300 hidden", "from the catalogue 2026-03-01 12:30"} {
		if !strings.Contains(frame, want) {
			t.Errorf("40 cells do not hold %q:\n%s", want, frame)
		}
	}
}
