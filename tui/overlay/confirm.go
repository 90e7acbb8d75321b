package overlay

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// GuardTime is how long a question is on the screen before a key answers it:
// about the time it takes to see that the screen has changed.
const GuardTime = 300 * time.Millisecond

// Answer is one way to answer a question.
type Answer struct {
	Key   string // the key that gives it, never enter or the send key
	Label string
}

// Question asks, and takes no for an answer unless told otherwise.
type Question struct {
	title   string
	lines   []string
	answers []Answer
	no      string // the answer of esc and enter
	asked   time.Time
	now     func() time.Time
	top     int
	rows    int
}

// NewQuestion asks with these answers; no is the one that Esc and Enter give.
// lines are safe to show.
func NewQuestion(title string, lines []string, answers []Answer, no string, now func() time.Time) *Question {
	return &Question{title: title, lines: lines, answers: answers, no: no, asked: now(), now: now}
}

// Title implements Overlay.
func (q *Question) Title() string { return q.title }

// Key implements Overlay.
func (q *Question) Key(name, _ string) Outcome {
	read := q.now().Sub(q.asked) >= GuardTime // else it was typed before the question could be read
	switch {
	case name == "esc", name == "enter" && read:
		return Chosen{Value: q.no, Key: name}
	case read && slices.ContainsFunc(q.answers, func(a Answer) bool { return a.Key == name }):
		return Chosen{Value: name, Key: name}
	}
	switch name {
	case "up", "k":
		q.top--
	case "down", "j":
		q.top++
	case "pgup":
		q.top -= q.rows
	case "pgdown":
		q.top += q.rows
	}
	return Stay{}
}

// Paste implements Overlay.
func (q *Question) Paste(string) {}

// Hints implements hinter: the answers stand in the question.
func (q *Question) Hints() string { return "the keys that answer stand in the question · esc: no" }

// Click implements Overlay: a question takes a key for an answer, nothing that
// can happen by a slip of the hand.
func (q *Question) Click(int) Outcome { return Stay{} }

// Scroll implements Overlay.
func (q *Question) Scroll(n int) { q.top += n }

// Size implements Overlay.
func (q *Question) Size(w, h int) (int, int) {
	widest := ansi.StringWidth(q.plainAnswers())
	for _, l := range q.lines {
		widest = max(widest, ansi.StringWidth(l))
	}
	return min(max(widest, 36), w*9/10), min(len(q.lines)+2, h*9/10)
}

// Cursor implements Overlay.
func (q *Question) Cursor() (x, y int, ok bool) { return 0, 0, false }

// Body implements Overlay.
func (q *Question) Body(w, h int, st style.Styles) []string {
	q.rows = max(1, h-2)
	q.top = min(max(q.top, 0), max(0, len(q.lines)-q.rows))
	lines := append([]string(nil), q.lines[q.top:min(len(q.lines), q.top+q.rows)]...)
	for len(lines) < h-1 {
		lines = append(lines, "")
	}
	parts := make([]string, len(q.answers))
	for i, a := range q.answers {
		parts[i] = st.Overlay.Key.Render(a.Key) + " " + st.Overlay.Text.Render(a.Label)
	}
	return append(lines, strings.Join(parts, "   "))
}

func (q *Question) plainAnswers() string {
	parts := make([]string, len(q.answers))
	for i, a := range q.answers {
		parts[i] = a.Key + " " + a.Label
	}
	return strings.Join(parts, "   ")
}
