package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/style"
)

func testNotices() *Notices {
	return &Notices{Now: func() time.Time { return time.Date(2026, 5, 4, 12, 30, 0, 0, time.Local) }}
}

func TestAllNoticesCanBeReadAgain(t *testing.T) {
	n := testNotices()
	n.Info("first")
	n.Clear()
	n.Fail("second\x1b[2J")
	lines := n.Lines(style.New(style.Options{}))
	if len(lines) != 2 || ansi.Strip(lines[1]) != "12:30:00  first" || !strings.HasPrefix(ansi.Strip(lines[0]), "12:30:00  second") {
		t.Errorf("the notices are %q", lines)
	}
	styles := style.New(style.Options{})
	if styled := n.Lines(styles); !strings.HasPrefix(styled[0], styles.Overlay.Muted.Render("12:30:00")+"  "+styles.Footer.Bad.Render(string(n.Text))) ||
		!strings.HasSuffix(styled[1], styles.Overlay.Text.Render("first")) {
		t.Errorf("what failed is not told from the rest: %q", styled)
	}
	if n.Info("\x1b"); len(n.Lines(styles)) != 2 {
		t.Errorf("a notice without text can be read: %q", n.Lines(styles))
	}
	n.Fail("second\x1b[2J")
	if strings.Contains(string(n.Text), "\x1b") || !n.Failed {
		t.Errorf("the footer shows %q, failed %v", n.Text, n.Failed)
	}
	for i := range 2 * maxNotices {
		n.Info(safetext.Text(fmt.Sprint(i)))
	}
	if got := len(n.Lines(style.New(style.Options{}))); got != maxNotices {
		t.Errorf("%d notices are stored, want %d", got, maxNotices)
	}
}

func TestWhatOthersDoReplacesNoFailure(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*Notices)
		quiet  bool
		want   string
	}{
		"nothing before": {func(*Notices) {}, false, "theirs"},
		"quiet":          {func(n *Notices) { n.Info("mine") }, true, "mine"},
		"info before":    {func(n *Notices) { n.Info("mine") }, false, "theirs"},
		"failure before": {func(n *Notices) { n.Fail("mine") }, false, "mine"},
		"cleared":        {func(n *Notices) { n.Fail("mine"); n.Clear() }, false, "theirs"},
	} {
		n := testNotices()
		c.before(n)
		n.Add("theirs", c.quiet)
		if string(n.Text) != c.want {
			t.Errorf("%s: the footer shows %q, want %q", name, n.Text, c.want)
		}
		if lines := n.Lines(style.New(style.Options{})); !strings.Contains(lines[0], "theirs") {
			t.Errorf("%s: the newest notice is %q", name, lines[0])
		}
	}
}

// Where there is no room for all of a notice, its way out stays.
func TestTheWayOutIsShownFirst(t *testing.T) {
	const text = "the model test/gone is no longer served by its endpoint · ctrl+l chooses another"
	for _, c := range []struct {
		text string
		w    int
		want string
	}{
		{text, 90, text},
		{text, 50, "the model test/gone is n… · ctrl+l chooses another"},
		{text, 40, "the model test… · ctrl+l chooses another"},
		{text, 30, "the model test/g… f4 shows all"},
		{"the window has unsaved changes · ctrl+z undoes them, ctrl+s saves", 51, "the window has unsaved changes · ctrl+z undoes them"},
		{"the window has unsaved changes · ctrl+z undoes them, ctrl+s saves", 40, "the window has uns… · ctrl+z undoes them"},
		{"the window has unsaved changes · enter saves them", 32, "the window h… · enter saves them"},
		{"the window has unsaved changes · u takes them back", 36, "the window has … · u takes them back"},
		{"bert hid 2 models · ignore rule gpt-4*", 30, "bert hid 2 model… f4 shows all"},
		{"a sentence without a way out", 24, "a sentence… f4 shows all"},
	} {
		if got := FitNotice(c.text, c.w, "…", "f4 shows all"); got != c.want {
			t.Errorf("in %d cells: %q, want %q", c.w, got, c.want)
		}
	}
}
