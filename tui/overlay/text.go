package overlay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

// GuardTime is how long the user must press no key before a question accepts a key. A key
// press restarts this time, because a user who is still typing has not read the question.
const GuardTime = 500 * time.Millisecond

// Answer is one of the answers to a question.
type Answer struct {
	Action keymap.Action // action of the mode Question, or of a mode that extends it
	Label  string
}

// Text shows lines to read, with a hint or the answers to a question below them. Nothing is
// cut off: long lines are wrapped, and the user can scroll.
type Text struct {
	title   string
	lines   []string   // safe to show; may contain styles
	wrapped []string   // for width
	width   int        // width for which the lines are wrapped; 0 if they are not wrapped yet
	shown   ListCursor // At is the first visible line

	keys *keymap.Map
	hint string      // hint about other keys, shown on the last line
	mode keymap.Mode // mode of the answers

	answers []Answer      // answers to a question
	no      keymap.Action // the answer that changes nothing
	marked  int           // index of the answer that AnswerMarked gives; -1 means no
	early   keymap.Key    // key of the last answer given too early, see GuardTime; "" if none
	lastKey time.Time
	now     func() time.Time
}

// NewText returns an overlay with lines that are safe to show.
func NewText(title safetext.Text, lines []string) *Text {
	return &Text{title: string(title), lines: lines}
}

// NewQuestion asks a question with these answers; no is the answer given by AnswerCancel
// and, until the user marks another answer, by AnswerMarked. lines must be safe to show;
// the user can scroll through all of them before answering.
func NewQuestion(title safetext.Text, lines []string, answers []Answer, no keymap.Action, now func() time.Time) *Text {
	mode := keymap.Question
	for _, a := range answers {
		mode = max(mode, keymap.Home(a.Action)) // modes that extend Question come after it
	}
	marked := slices.IndexFunc(answers, func(a Answer) bool { return a.Action == no })
	return &Text{title: string(title), lines: lines, mode: mode, answers: answers, no: no, marked: marked, lastKey: now(), now: now}
}

// WithHint adds a last line about other keys, which the code that opens the text must
// handle.
func (t *Text) WithHint(hint string) *Text {
	t.hint = strings.TrimSpace(hint)
	return t
}

// Escape implements Overlay. A question gets the answer that changes nothing.
func (t *Text) Escape() Outcome {
	if t.answers != nil {
		return Chosen{Action: t.no}
	}
	return Closed{}
}

// SetKeys implements Overlay.
func (t *Text) SetKeys(keys *keymap.Map) { t.keys = keys }

// SetLines replaces the lines, keeping the position.
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

// answer handles a key of a question; it returns nil for a key that scrolls.
func (t *Text) answer(name keymap.Key, text string) Outcome {
	now := t.now()
	typedAhead := now.Sub(t.lastKey) < GuardTime
	given := t.keys.Action(t.mode, name)
	isAnswer := slices.ContainsFunc(t.answers, func(a Answer) bool { return a.Action == given })
	switch {
	case given == keymap.AnswerCancel:
		return Chosen{Action: t.no}
	case given == keymap.AnswerMarked && !typedAhead:
		return Chosen{Action: t.markedAnswer().Action}
	case given == keymap.AnswerNext || given == keymap.AnswerPrevious:
		if typedAhead {
			t.lastKey = now
			return Stay{}
		}
		t.mark(map[keymap.Action]int{keymap.AnswerNext: 1, keymap.AnswerPrevious: -1}[given])
		return Stay{}
	case isAnswer && !typedAhead:
		return Chosen{Action: given}
	case typedAhead && given == keymap.AnswerMarked:
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

// mark marks the next answer if n is 1, the previous one if it is -1.
func (t *Text) mark(n int) {
	count := len(t.answers)
	t.marked = (max(t.marked, 0) + n + count) % count
}

// markedAnswer returns the answer that AnswerMarked gives.
func (t *Text) markedAnswer() Answer {
	if t.marked < 0 {
		return Answer{Action: t.no}
	}
	return t.answers[t.marked]
}

// Scroll implements Overlay.
func (t *Text) Scroll(n int) { t.shown.MoveTo(t.shown.At+n, len(t.wrapped)) }

// Click implements Overlay. A click chooses nothing.
func (t *Text) Click(int) Outcome { return Stay{} }

// Cursor implements Overlay.
func (t *Text) Cursor() (x, y int, ok bool) { return 0, 0, false }

// Position implements Overlay: last visible line / number of lines.
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
		return t.scrolls() + " · " + t.answering()
	}
	return t.answering()
}

// answering says which keys answer the question: the keys of the answers, the key for the
// marked answer, and the key for the answer that changes nothing.
func (t *Text) answering() string {
	text := "press a key above"
	i := slices.IndexFunc(t.answers, func(a Answer) bool { return a.Action == t.no })
	switch {
	case i < 0:
		return text
	case i == t.marked:
		return text + " · " + t.keys.Hints(t.mode, keymap.To(t.answers[i].Label, keymap.AnswerMarked, keymap.AnswerCancel))
	}
	return text + " · " + t.keys.Hints(t.mode, keymap.To(t.answers[t.marked].Label, keymap.AnswerMarked), keymap.To(t.answers[i].Label, keymap.AnswerCancel))
}

func (t *Text) scrolls() string {
	return t.keys.Hints(keymap.Text, keymap.To("scroll", keymap.TextUp, keymap.TextDown))
}

const (
	minText     = 40 // width of a short line in cells
	minQuestion = 36 // width of a short sentence in cells
	answerGap   = " "
	answerLead  = "  " // cells before an answer, for the sign of the marked one
)

// Size implements Overlay.
func (t *Text) Size(w, h int) (int, int) {
	widest := max(minText, style.Width(t.hint))
	if t.answers != nil {
		widest = max(minQuestion, style.Width(strings.Join(t.foot(1<<20, style.Styles{}), "")))
	}
	for _, l := range t.lines {
		if columns, ok := style.LayColumns(l, wideWidth); ok {
			for _, row := range columns {
				widest = max(widest, style.Width(row))
			}
			continue
		}
		widest = max(widest, style.Width(l))
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
			for _, row := range columns {
				t.wrapped = append(t.wrapped, wrapRow(row, w)...)
			}
			continue
		}
		t.wrapped = append(t.wrapped, wrapRules(l, max(1, w))...)
	}
	return t.wrapped
}

// wrapRow wraps a row of columns to w cells. What continues the row has its indent.
func wrapRow(row string, w int) []string {
	item := strings.TrimLeft(row, " ")
	indent := min(len(row)-len(item), w/2)
	lines := wrapRules(item, max(1, w-indent))
	for i, l := range lines {
		lines[i] = strings.Repeat(" ", indent) + l
	}
	return lines
}

// wrapRules wraps a line to w cells. It breaks a list of rules after a comma, not at a hyphen
// within a rule, by temporarily replacing hyphens with a control character, which no
// displayed text contains.
func wrapRules(l string, w int) []string {
	const hyphen = "\x01"
	wrapped := strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(l, "-", hyphen), w, ","), hyphen, "-")
	lines := strings.Split(wrapped, "\n")
	if lipgloss.Width(wrapped) > w { // x/ansi puts a wide character after a comma at the end of a line
		lines = style.Wrap(l, w)
	}
	if !strings.Contains(l, "\x1b") {
		return lines
	}
	return strings.Split(lipgloss.Wrap(strings.Join(lines, "\n"), 0, ""), "\n") // this only repeats the style on each line
}

// hintLines wraps a hint to w cells; "" gives one line.
func hintLines(hint string, w int, st style.Styles) []string {
	return strings.Split(st.Overlay.Muted.Render(strings.Join(style.WrapClauses(hint, w), "\n")), "\n")
}

// foot returns a blank line followed by the hint, or else by the answers, in lines of w
// cells; nothing if there is neither.
func (t *Text) foot(w int, st style.Styles) (lines []string) {
	if t.hint != "" {
		return append([]string{""}, hintLines(t.hint, w, st)...)
	}
	for i, a := range t.answers {
		key, text, lead := st.Overlay.Key, st.Overlay.Text, answerLead
		if i == t.marked {
			key, text, lead = st.Overlay.Selected, st.Overlay.Selected, style.Fit(st.Icons.Selected, len(answerLead), "")
		}
		label := text.Render(lead) + key.Render(t.keys.Binding(t.mode, a.Action).Help().Key) + text.Render(" "+a.Label+" ")
		switch last := len(lines) - 1; {
		case last < 0:
			lines = append(lines, "", label)
		case style.Width(lines[last]+answerGap+label) <= w:
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
	if len(foot) >= h && len(foot) > 0 {
		foot = foot[1:] // drops the gap, so that no answer is dropped
	}
	rows := max(0, h-len(foot))
	if t.answers != nil {
		rows = max(rows, min(1, len(all)))
	}
	t.shown.Rows = rows
	t.shown.MoveTo(t.shown.At, len(all)-rows+1)
	lines := slices.Clone(all[t.shown.At:min(len(all), t.shown.At+rows)])
	for len(lines) < rows && foot != nil {
		lines = append(lines, "")
	}
	return append(lines, foot...)
}
