package overlay

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// GuardTime is how long no key must come before a question takes one: a hand
// that types on has not seen the question, and begins the time anew.
const GuardTime = 500 * time.Millisecond

// Answer is one way to answer a question.
type Answer struct {
	Key   string // the key that gives it, never enter or the send key
	Label string
}

// Question asks, and takes no for an answer unless told otherwise.
type Question struct {
	scroller // all of the text can be read before it is confirmed
	title    string
	answers  []Answer
	no       string    // the answer of esc and enter
	lastKey  time.Time // or when the question opened
	now      func() time.Time
}

// NewQuestion asks with these answers; no is the key of the one that esc and
// enter give. lines are safe to show.
func NewQuestion(title string, lines []string, answers []Answer, no string, now func() time.Time) *Question {
	return &Question{title: title, scroller: scroller{lines: lines}, answers: answers, no: no, lastKey: now(), now: now}
}

// Title implements Overlay.
func (q *Question) Title() string { return q.title }

// Key implements Overlay.
func (q *Question) Key(name, text string) Outcome {
	now := q.now()
	typedAhead := now.Sub(q.lastKey) < GuardTime
	isAnswer := slices.ContainsFunc(q.answers, func(a Answer) bool { return a.Key == name })
	if name == "esc" || !typedAhead && (isAnswer || name == "enter") {
		if !isAnswer {
			return Chosen{Value: q.no, Key: name}
		}
		return Chosen{Value: name, Key: name}
	}
	if typedAhead && (text != "" || name == "enter") {
		q.lastKey = now
		if text != "" {
			return Unread{}
		}
		return Stay{}
	}
	q.scrollKey(name)
	return Stay{}
}

// Hints implements hinter.
func (q *Question) Hints() string {
	if q.Place() != "" {
		return "↑ ↓ scroll · press one of the keys shown above"
	}
	return "press one of the keys shown above"
}

// Size implements Overlay.
func (q *Question) Size(w, h int) (int, int) {
	const least = 36 // a short sentence
	cells := -len(answerGap)
	for _, a := range q.answers {
		cells += a.width() + len(answerGap)
	}
	widest := min(q.widest(max(least, cells)), w*9/10)
	return widest, min(len(q.wrap(widest))+1+len(q.answerLines(widest)), h*9/10)
}

const answerGap = "   "

func (a Answer) width() int { return ansi.StringWidth(a.Key + " " + a.Label) }

// answerLines are the answers in as many lines of w cells as they take.
func (q *Question) answerLines(w int) (lines [][]Answer) {
	room := 0
	for _, a := range q.answers {
		if n := a.width() + len(answerGap); lines == nil || n-len(answerGap) > room {
			lines, room = append(lines, []Answer{a}), w-n
		} else {
			lines[len(lines)-1] = append(lines[len(lines)-1], a)
			room -= n
		}
	}
	return lines
}

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
