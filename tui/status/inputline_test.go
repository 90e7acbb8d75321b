package status

import (
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/filter"
	"winnow/assistant/safetext"
)

func TestALineShowsWhereItIsWrong(t *testing.T) {
	var l InputLine
	l.Open("x&q")
	if !l.Active || l.Text() != "x&q" || l.Edit("", "\n") && strings.Contains(l.Text(), "\n") {
		t.Errorf("the line is %+v", l)
	}
	l.Open("x&q")
	_, err := filter.Parse(l.Text())
	l.Fail(err)
	mark := func(s string) string { return "<" + s + ">" }
	if got := ansi.Strip(l.Draw(20, mark)); !l.Wrong || !strings.HasPrefix(got, "x&<q>") {
		t.Errorf("%q, %+v", got, l)
	}
	l.Fail(errors.New("no\x1b[31m room\nand more"))
	if l.Hint != "no room" || l.Column != 0 {
		t.Errorf("the hint is %q, the column %d", l.Hint, l.Column)
	}
	l.SetHint(safetext.Text("12 pairs " + strings.Repeat("x", 100)))
	if room, hint := l.Room(" : ", 40); l.Wrong || room < 8 || room+3+ansi.StringWidth(hint) > 40 {
		t.Errorf("%d cells for the line beside %q", room, hint)
	}
}

// Where there is little room the last clause stays: it says how to get out.
