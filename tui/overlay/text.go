package overlay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/tui/keymap"
	"winnow/tui/list"
	"winnow/tui/style"
)

// GuardTime is how long no key may come before a question accepts one. A key in
// that time restarts it: a user who is still typing has not seen the question.
const GuardTime = 500 * time.Millisecond

// Answer is one way to answer a question.
type Answer struct {
	Action keymap.Action // of the mode Question, or of one that extends it
	Label  string
}

// Text shows lines to read, and below them a hint or the answers of a question.
// It cuts nothing: a long line is wrapped, and what does not fit is scrolled.
type Text struct {
	title   string
	lines   []string    // safe to show; may contain our styles
	wrapped []string    // for width
	width   int         // 0 is not wrapped yet
	shown   list.Cursor // on the first line of the screen

	keys *keymap.Map
	hint string      // what else can be done, in the last line
	mode keymap.Mode // of the answers

	answers []Answer      // of a question
	no      keymap.Action // the answer that changes nothing
	early   keymap.Key    // the answer that came last within GuardTime, for the hint
	lastKey time.Time
	now     func() time.Time
}

// NewText makes an overlay of lines that are safe to show.
func NewText(title string, lines []string) *Text {
	return &Text{title: title, lines: lines}
}

// NewQuestion asks with these answers; no is the one that AnswerSafe and AnswerCancel
// give. lines are safe to show: the user can scroll through all of them before
// answering.
func NewQuestion(title string, lines []string, answers []Answer, no keymap.Action, now func() time.Time) *Text {
	mode := keymap.Question
	for _, a := range answers {
		mode = max(mode, keymap.Home(a.Action)) // one that extends it comes later
	}
	return &Text{title: title, lines: lines, mode: mode, answers: answers, no: no, lastKey: now(), now: now}
}

// WithHint says in the last line what else can be done; who has opened the text does it.
func (t *Text) WithHint(hint string) *Text {
	t.hint = strings.TrimSpace(hint)
	return t
}

// Escape implements Overlay: a question gets the answer that changes nothing.
func (t *Text) Escape() Outcome {
	if t.answers != nil {
		return Chosen{Action: t.no}
	}
	return Closed{}
}

// SetKeys implements Overlay.
func (t *Text) SetKeys(keys *keymap.Map) { t.keys = keys }

// SetLines shows other lines, at the same place.
func (t *Text) SetLines(lines []string) { t.lines, t.width = lines, 0 }

// Title implements Overlay.
func (t *Text) Title() string { return t.title }

// Key implements Overlay.
func (t *Text) Key(name keymap.Key, text string) Outcome {
	if t.answers != nil {
		if out := t.answer(name, text); out != nil {
			return out
		}
	}
	a := t.keys.Action(keymap.Text, name)
	if a == keymap.TextClose && t.answers == nil {
		return Closed{}
	}
	t.shown.Do(a, len(t.wrapped))
	return Stay{}
}

// answer handles a key of a question; nil is for one that scrolls.
func (t *Text) answer(name keymap.Key, text string) Outcome {
	now := t.now()
	typedAhead := now.Sub(t.lastKey) < GuardTime
	given := t.keys.Action(t.mode, name)
	isAnswer := slices.ContainsFunc(t.answers, func(a Answer) bool { return a.Action == given })
	switch {
	case given == keymap.AnswerCancel, given == keymap.AnswerSafe && !typedAhead:
		return Chosen{Action: t.no}
	case isAnswer && !typedAhead:
		return Chosen{Action: given}
	case typedAhead && given == keymap.AnswerSafe:
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
		return t.scrolls() + " · " + t.keys.Hints(keymap.Text, keymap.To("closes", keymap.TextClose))
	case t.early != "":
		return string(t.early) + " was too early: press it again"
	case t.Position() != "":
		return t.scrolls() + " · press one of the keys above"
	}
	return "press one of the keys above"
}

func (t *Text) scrolls() string {
	return t.keys.Hints(keymap.Text, keymap.To("scroll", keymap.TextUp, keymap.TextDown))
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
		if columns, ok := style.LayColumns(l, wideWidth); ok {
			l = columns[0]
		}
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
		if columns, ok := style.LayColumns(l, max(1, w)); ok {
			t.wrapped = append(t.wrapped, columns...)
			continue
		}
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
		lines = style.Wrap(l, w)
	}
	if !strings.Contains(l, "\x1b") {
		return lines
	}
	return strings.Split(lipgloss.Wrap(strings.Join(lines, "\n"), 0, ""), "\n") // only repeats the style on each line
}

// hintLines are a hint in lines of w cells, one for "".
func hintLines(hint string, w int, st style.Styles) []string {
	return strings.Split(st.Overlay.Muted.Render(strings.Join(style.Wrap(hint, w), "\n")), "\n")
}

// foot is a gap and the hint, or a gap and the answers in as many lines of w cells
// as they take.
func (t *Text) foot(w int, st style.Styles) (lines []string) {
	if t.hint != "" {
		return append([]string{""}, hintLines(t.hint, w, st)...)
	}
	for _, a := range t.answers {
		label := st.Overlay.Key.Render(t.keys.Binding(t.mode, a.Action).Help().Key) + " " + st.Overlay.Text.Render(a.Label)
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
