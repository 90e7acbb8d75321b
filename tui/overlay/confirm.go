package overlay

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// GuardTime is how long a question is on the screen before a key answers it:
// about the time it takes to see that the screen has changed. A hand that types
// on meanwhile has not seen it, and begins the time anew.
const GuardTime = 300 * time.Millisecond

// Answer is one way to answer a question.
type Answer struct {
	Key   string // the key that gives it, never enter or the send key
	Label string
}

// Question asks, and takes no for an answer unless told otherwise.
type Question struct {
	reading // what is confirmed is what is shown, to its last character
	title   string
	answers []Answer
	no      string    // the answer of esc and enter
	asked   time.Time // or when the last letter came that was typed without reading
	now     func() time.Time
}

// NewQuestion asks with these answers; no is the one that Esc and Enter give.
// lines are safe to show.
func NewQuestion(title string, lines []string, answers []Answer, no string, now func() time.Time) *Question {
	return &Question{title: title, reading: reading{lines: lines}, answers: answers, no: no, asked: now(), now: now}
}

// Title implements Overlay.
func (q *Question) Title() string { return q.title }

// Key implements Overlay.
func (q *Question) Key(name, text string) Outcome {
	now := q.now()
	read := now.Sub(q.asked) >= GuardTime // else it was typed before the question could be read
	switch {
	case text != "" && !read:
		q.asked = now
		return Unread{}
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
func (q *Question) Hints() string {
	if q.Place() != "" {
		return "↑ ↓ read on · the keys that answer stand below · esc: no"
	}
	return "the keys that answer stand in the question · esc: no"
}

// Click implements Overlay: a question takes a key for an answer, nothing that
// can happen by a slip of the hand.
func (q *Question) Click(int) Outcome { return Stay{} }

// Size implements Overlay.
func (q *Question) Size(w, h int) (int, int) {
	const least = 36 // a short sentence
	widest := min(q.widest(max(least, ansi.StringWidth(q.plainAnswers()))), w*9/10)
	return widest, min(len(q.wrapped(widest))+1+len(q.answerLines(widest)), h*9/10)
}

// answerLines are the answers in as many lines as they take, as numbers of them.
func (q *Question) answerLines(w int) [][]Answer {
	lines := [][]Answer{nil}
	used := 0
	for _, a := range q.answers {
		cells := ansi.StringWidth(a.Key+" "+a.Label) + len(answerGap)
		if last := len(lines) - 1; used > 0 && used+cells-len(answerGap) > w {
			lines, used = append(lines, nil), 0
			lines[last+1] = append(lines[last+1], a)
		} else {
			lines[last] = append(lines[last], a)
		}
		used += cells
	}
	return lines
}

const answerGap = "   "

// Cursor implements Overlay.
func (q *Question) Cursor() (x, y int, ok bool) { return 0, 0, false }

// Body implements Overlay.
func (q *Question) Body(w, h int, st style.Styles) []string {
	answers := q.answerLines(w)
	lines := q.show(w, max(1, h-1-len(answers)))
	for len(lines) < h-len(answers) {
		lines = append(lines, "")
	}
	for _, line := range answers {
		parts := make([]string, len(line))
		for i, a := range line {
			parts[i] = st.Overlay.Key.Render(a.Key) + " " + st.Overlay.Text.Render(a.Label)
		}
		lines = append(lines, strings.Join(parts, answerGap))
	}
	return lines
}

func (q *Question) plainAnswers() string {
	parts := make([]string, len(q.answers))
	for i, a := range q.answers {
		parts[i] = a.Key + " " + a.Label
	}
	return strings.Join(parts, answerGap)
}
