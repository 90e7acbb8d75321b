package overlay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/tui/list"
	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// GuardTime is how long no key may come before a question accepts one. A key in
// that time restarts it: a user who is still typing has not seen the question.
const GuardTime = 500 * time.Millisecond

// Answer is one way to answer a question.
type Answer struct {
	Key   string // the key that gives it, never enter or the send key
	Label string
}

// Text shows lines to read, and below them a hint or the answers of a question.
// It cuts nothing: a long line is wrapped, and what does not fit is scrolled.
type Text struct {
	title   string
	lines   []string    // safe to show; may contain our styles
	wrapped []string    // for width
	width   int         // 0 is not wrapped yet
	shown   list.Cursor // on the first line of the screen

	hint string
	keys []string // that choose

	answers []Answer // of a question
	no      string   // the answer of esc and enter
	early   string   // the answer that came last within GuardTime, for the hint
	lastKey time.Time
	now     func() time.Time
}

// NewText makes an overlay of lines that are safe to show.
func NewText(title string, lines []string) *Text { return &Text{title: title, lines: lines} }

// NewQuestion asks with these answers; no is the key of the one that esc and enter
// give. lines are safe to show: the user can scroll through all of them before
// answering.
func NewQuestion(title string, lines []string, answers []Answer, no string, now func() time.Time) *Text {
	return &Text{title: title, lines: lines, answers: answers, no: no, lastKey: now(), now: now}
}

// WithKeys lets keys choose; hint names them in the last line.
func (t *Text) WithKeys(hint string, keys ...string) *Text {
	t.hint, t.keys = strings.TrimSpace(hint), keys
	return t
}

// SetLines shows other lines, at the same place.
func (t *Text) SetLines(lines []string) { t.lines, t.width = lines, 0 }

// Title implements Overlay.
func (t *Text) Title() string { return t.title }

// Key implements Overlay.
func (t *Text) Key(name, text string) Outcome {
	if t.answers != nil {
		if out := t.answer(name, text); out != nil {
			return out
		}
	} else if slices.Contains(t.keys, name) {
		return Chosen{Value: name, Key: name}
	} else if name == "esc" || name == "q" || name == "enter" {
		return Closed{}
	}
	if name == "space" {
		name = "pgdown"
	}
	t.shown.Key(name, len(t.wrapped))
	return Stay{}
}

// answer handles a key of a question; nil is for one that scrolls.
func (t *Text) answer(name, text string) Outcome {
	now := t.now()
	typedAhead := now.Sub(t.lastKey) < GuardTime
	isAnswer := slices.ContainsFunc(t.answers, func(a Answer) bool { return a.Key == name })
	switch {
	case name == "esc", name == "enter" && !typedAhead:
		return Chosen{Value: t.no, Key: name}
	case isAnswer && !typedAhead:
		return Chosen{Value: name, Key: name}
	case typedAhead && name == "enter":
		t.lastKey = now
		return Stay{}
	case typedAhead && text != "":
		t.lastKey = now
		if isAnswer {
			t.early = name
		}
		return TypedAhead{}
	}
	return nil
}

// Scroll implements Overlay.
func (t *Text) Scroll(n int) { t.shown.MoveTo(t.shown.At+n, len(t.wrapped)) }

// Click implements Overlay: a stray click chooses nothing.
func (t *Text) Click(int) Outcome { return Stay{} }

// Cursor implements Overlay.
func (t *Text) Cursor() (x, y int, ok bool) { return 0, 0, false }

// Position implements Overlay: the last line on the screen, of how many.
func (t *Text) Position() string {
	if t.shown.Rows <= 0 || len(t.wrapped) <= t.shown.Rows {
		return ""
	}
	return fmt.Sprintf("%d/%d", min(t.shown.At+t.shown.Rows, len(t.wrapped)), len(t.wrapped))
}

// Hints implements Overlay.
func (t *Text) Hints() string {
	switch {
	case t.answers == nil:
		return "↑ ↓ scroll · esc closes"
	case t.early != "":
		return t.early + " was too early: press it again"
	case t.Position() != "":
		return "↑ ↓ scroll · press one of the keys above"
	}
	return "press one of the keys above"
}

const (
	minText     = 40 // cells of a short line
	minQuestion = 36 // cells of a short sentence
	answerGap   = "   "
)

// Size implements Overlay.
func (t *Text) Size(w, h int) (int, int) {
	widest := max(minText, ansi.StringWidth(t.hint))
	if t.answers != nil {
		widest = max(minQuestion, ansi.StringWidth(strings.Join(t.foot(1<<20, style.Styles{}), "")))
	}
	for _, l := range t.lines {
		widest = max(widest, ansi.StringWidth(l))
	}
	widest = min(widest, w*9/10)
	return widest, min(len(t.wrap(widest))+len(t.foot(widest, style.Styles{})), h*9/10)
}

func (t *Text) wrap(w int) []string {
	if t.width == w {
		return t.wrapped
	}
	t.wrapped, t.width = t.wrapped[:0], w
	for _, l := range t.lines {
		t.wrapped = append(t.wrapped, wrapRules(l, max(1, w))...)
	}
	return t.wrapped
}

// wrapRules wraps a line. A list of rules is broken after a comma, not at a hyphen within
// a rule: for that a control character, which no text on the screen has, stands for the
// hyphens.
func wrapRules(l string, w int) []string {
	const hyphen = "\x01"
	wrapped := strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(l, "-", hyphen), w, ","), hyphen, "-")
	lines := strings.Split(wrapped, "\n")
	if lipgloss.Width(wrapped) > w { // x/ansi puts a wide character behind a comma at the end of a line
		lines = textwidth.Wrap(l, w)
	}
	if !strings.Contains(l, "\x1b") {
		return lines
	}
	return strings.Split(lipgloss.Wrap(strings.Join(lines, "\n"), 0, ""), "\n") // only repeats the style on each line
}

// hintLines are a hint in lines of w cells, one for "".
func hintLines(hint string, w int, st style.Styles) []string {
	return strings.Split(st.Overlay.Muted.Render(strings.Join(textwidth.Wrap(hint, w), "\n")), "\n")
}

// foot is a gap and the hint, or a gap and the answers in as many lines of w cells
// as they take.
func (t *Text) foot(w int, st style.Styles) (lines []string) {
	if t.hint != "" {
		return append([]string{""}, hintLines(t.hint, w, st)...)
	}
	for _, a := range t.answers {
		label := st.Overlay.Key.Render(a.Key) + " " + st.Overlay.Text.Render(a.Label)
		switch last := len(lines) - 1; {
		case last < 0:
			lines = append(lines, "", label)
		case ansi.StringWidth(lines[last]+answerGap+label) <= w:
			lines[last] += answerGap + label
		default:
			lines = append(lines, label)
		}
	}
	return lines
}

// Body implements Overlay.
func (t *Text) Body(w, h int, st style.Styles) []string {
	foot := t.foot(w, st)
	all := t.wrap(w)
	rows := max(0, h-len(foot))
	if t.answers != nil {
		rows = max(1, rows)
	}
	t.shown.Rows = rows
	t.shown.MoveTo(t.shown.At, len(all)-rows+1)
	lines := slices.Clone(all[t.shown.At:min(len(all), t.shown.At+rows)])
	for len(lines) < rows && foot != nil {
		lines = append(lines, "")
	}
	return append(lines, foot...)
}
