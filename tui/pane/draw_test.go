package pane

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

func TestNamesLoseTheirMiddle(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want string
	}{
		{"short", 8, "short   "},
		{"claude-3-opus-latest", 11, "claud…atest"},
		{"claude-3-opus-latest", 2, "c…"},
		{"模型模型模型", 7, "模型…型"},
	} {
		got := FitName(c.text, c.w, "…")
		if ansi.StringWidth(got) != c.w || strings.TrimRight(got, " ") != strings.TrimRight(c.want, " ") {
			t.Errorf("FitName(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
}

func TestTheLongestTextThatFitsIsShown(t *testing.T) {
	for w, want := range map[int]string{20: "three hidden models", 8: "3 hidden", 2: "3"} {
		if got := FirstFitting(w, "three hidden models", "3 hidden", "3"); got != want {
			t.Errorf("in %d cells stands %q, want %q", w, got, want)
		}
	}
	if got := FirstFitting(1, "ab", "cd"); got != "cd" {
		t.Errorf("where nothing fits stands %q, want the last", got)
	}
}

func TestSpreadFillsTheLine(t *testing.T) {
	left, right := []Piece{{Text: "name"}, {Text: " and more"}}, []Piece{{Text: "12"}}
	for w, want := range map[int]string{
		20: "name and more     12",
		12: "name and… 12",
		4:  "name", // the right side would take more than half
	} {
		got := Spread(w, style.Fit, "…", left, right)
		if ansi.StringWidth(got) != w || got != want {
			t.Errorf("in %d cells: %q, want %q", w, got, want)
		}
	}
}

func TestForeignTextIsVisibleAndBounded(t *testing.T) {
	if got := Visible("a\u202eb\x1b[31m"); got != "a‹U+202E›b‹U+001B›[31m" {
		t.Errorf("Visible = %q", got)
	}
	long := Visible(strings.Repeat("é", maxVisible))
	if len(long) > maxVisible || strings.ContainsRune(long, '\uFFFD') {
		t.Errorf("a long text has %d bytes, or is cut inside a character", len(long))
	}
}

func TestAPaneOfNothing(t *testing.T) {
	n := None{}
	if got := n.Status().Title; got != "chat" || n.Typing() || len(n.Lines(10, 3)) != 3 {
		t.Errorf("the title is %q, it types %v, it has %d lines", got, n.Typing(), len(n.Lines(10, 3)))
	}
	for _, a := range []Action{n.Do("add-ignore"), n.Key("a", "a"), n.Click(1, 1)} {
		if a != Action(Nothing{}) {
			t.Errorf("it asks for %#v", a)
		}
	}
}
