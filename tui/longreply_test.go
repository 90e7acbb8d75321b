package tui

import (
	"fmt"
	"image"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// manyLines is an answer that no screen holds.
func manyLines() string {
	var b strings.Builder
	b.WriteString("The first line.\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "more %d\n\n", i)
	}
	return b.String() + "The last line."
}

func TestALongReplyLeavesTheFocusInTheInput(t *testing.T) {
	for value, firstLine := range map[string]bool{"": false, overlay.ReplyStay: false, overlay.ReplyTop: true} {
		t.Run("long_reply "+value, func(t *testing.T) {
			d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{say(manyLines())}, change: func(o *Options) { o.LongReply = value }})
			d.ask("talk", "line.")
			d.Until(func(frame string) bool {
				shown := "The last line."
				if firstLine {
					shown = "The first line."
				}
				return strings.Contains(frame, shown) && strings.Contains(frame, "› talk") && strings.HasPrefix(footerOf(frame), " INPUT ")
			})
			d.Type("red") // r is no command
			d.Wait("› red")
		})
	}
}

// Above the screen the question is named, and how much of the answer is there; below it how
// much is left, with a key that works here. A click goes there.
func TestALongAnswerSaysWhatIsAboveAndBelow(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	s.opts.Mouse = true
	p := told("which models?\nand why?", manyLines())
	s.pairs(p)
	rows := func() []string { return strings.Split(plainFrame(s.frame()), "\n") }
	if got := rows(); !strings.HasPrefix(got[1], "  › which models?  ") || !strings.Contains(got[1], "↑ ") || strings.Contains(got[19], "↓") {
		t.Fatalf("at the end of the answer:\n%s", strings.Join(got, "\n"))
	}
	s.do(s.onKey(tea.KeyPressMsg{Code: tea.KeyPgUp}))
	if got := rows(); !strings.Contains(got[19], "─ ↓ ") || !strings.Contains(got[19], " lines · pgdown ─") {
		t.Errorf("in INPUT the sign is %q", got[19])
	}
	s.keys("esc")
	if got := rows(); !strings.Contains(got[19], " lines · G ─") {
		t.Errorf("in VIEW the sign is %q", got[19])
	}
	s.do(s.onClick(5, 1))
	if got := rows(); strings.Contains(got[1], "›") || !strings.Contains(strings.Join(got[1:5], "\n"), "which models?") {
		t.Errorf("after a click on the question:\n%s", strings.Join(got, "\n"))
	}
	s.do(s.onClick(5, 19))
	if got := rows(); !strings.Contains(strings.Join(got, "\n"), "The last line.") || strings.Contains(got[19], "↓") || s.mode != keymap.View {
		t.Errorf("after a click on the sign below, in %s:\n%s", s.mode, strings.Join(got, "\n"))
	}
}

// The sign below names a key only where the key works; while a text line or the pane has the
// focus, none does.
func TestTheSignBelowNamesOnlyAKeyThatWorks(t *testing.T) {
	for _, c := range []struct {
		mode keymap.Mode
		line string // the key that opens a text line
		key  string
	}{{keymap.Input, "", " · pgdown"}, {keymap.View, "", " · G"}, {keymap.View, "f", ""}, {keymap.View, "/", ""}, {keymap.Pane, "", ""}} {
		s := newStill(t, style.Options{Unicode: true}, 120, 24)
		s.pairs(told("which models?", manyLines()))
		s.do(s.onKey(tea.KeyPressMsg{Code: tea.KeyPgUp}))
		s.setMode(c.mode)
		s.keys(strings.Fields(c.line)...)
		_, sign, _ := strings.Cut(plainFrame(s.frame()), "─ ↓ ")
		if sign, _, _ = strings.Cut(sign, " ─"); !strings.HasSuffix(sign, " lines"+c.key) {
			t.Errorf("in %s after %q, the sign is %q, want the key %q", c.mode, c.line, sign, c.key)
		}
	}
}

// While only the question is above the screen, no number stands beside it.
func TestTheStickyQuestionCountsNoLinesIfNoneIsAbove(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	s.pairs(told("which models?", manyLines()))
	s.keys("esc", "g")
	for range 3 {
		s.conv.chat.ScrollBy(1)
		if row := strings.Split(plainFrame(s.frame()), "\n")[1]; strings.Contains(row, "↑ 0") {
			t.Errorf("the sticky line is %q", row)
		}
	}
}

// A heavy part of the line beside the chat, or of its last column, is the scroll bar.
func TestTheScrollBarShowsWhereTheScreenIs(t *testing.T) {
	for _, w := range []int{80, 120} {
		thumb := func(s *still) (from, to int) {
			from = -1
			for y, row := range strings.Split(plainFrame(s.frame()), "\n") {
				if r := []rune(row); len(r) == w && r[w-1] == '┃' {
					if from < 0 {
						from = y
					}
					to = y
				}
			}
			return from, to
		}
		short := newStill(t, style.Options{Unicode: true}, w, 30)
		short.pairs(told("short", "answer"))
		if from, _ := thumb(short); from >= 0 {
			t.Errorf("%d cells: there is a scroll bar where all is shown", w)
		}
		s := newStill(t, style.Options{Unicode: true}, w, 30)
		s.pairs(told("short", "answer"), told("long", manyLines()))
		bottom := s.layout.Chat.Max.Y - 1
		from, to := thumb(s)
		if to != bottom || from <= 2 {
			t.Errorf("%d cells, at the end: the bar is in %d to %d of %v", w, from, to, image.Pt(2, bottom))
		}
		s.keys("esc", "g")
		if from, to = thumb(s); from != 2 || to >= bottom {
			t.Errorf("%d cells, at the beginning: the bar is in %d to %d of %v", w, from, to, image.Pt(2, bottom))
		}
	}
}

// Beside the pane the scroll bar is part of the line between them.
func TestTheScrollBarIsPartOfTheLineBesideThePane(t *testing.T) {
	d := startProgram(t, setup{pairs: []assistant.Pair{told("long", manyLines())}})
	at := func(frame, mark string) bool {
		return strings.Contains(frame, "  "+mark+"  ignore") // the line beside the first rule
	}
	d.Until(func(frame string) bool { return at(frame, "│") && strings.Contains(frame, "  ┃") })
	d.Type(tuitest.Esc, "g")
	d.Until(func(frame string) bool { return at(frame, "┃") })
}

// The height that counts is the reply's: a long question does not scroll.
func TestALongQuestionIsNoLongReply(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{say("short")}, change: func(o *Options) { o.LongReply = overlay.ReplyTop }})
	d.Paste(strings.Repeat("a line\n", 40))
	d.Type(tuitest.Send)
	d.Wait("short")
	d.hold("the view follows its end", func() bool { return strings.Contains(d.Frame(), "short") })
}
