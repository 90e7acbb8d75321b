package chat

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/tui/markdown"
	"winnow/tui/style"
)

// search is the search in the conversation: case-insensitive, over what the
// pairs in view say and have done.
type search struct {
	needle string
	again  bool // more pairs were loaded
}

// Search looks for a text; "" ends the search.
func (v *View) Search(needle string) { v.found.needle = strings.ToLower(needle) }

// Searching says what is searched for.
func (v *View) Searching() string { return v.found.needle }

// NextFound gives the focus to the next pair that holds the text, or the one
// before, and returns it; it wraps round. ok is false when there is none. Of a
// pair that is not loaded, stored tells: the sorted Seqs of those that hold it.
func (v *View) NextFound(back bool, stored []int64) (seq int64, ok bool) {
	n := v.Len()
	if v.found.needle == "" || n == 0 {
		return 0, false
	}
	step := 1
	if back {
		step = -1
	}
	from := v.list.Focused()
	if from < 0 {
		_, from = v.list.Visible()
	}
	for i := 1; i <= n; i++ {
		at := ((from+step*i)%n + n) % n
		seq := v.src.refs[at].Seq
		_, kept := slices.BinarySearch(stored, seq)
		if it := v.src.item(seq); it.holds(v.found.needle) || (kept && !it.loaded) {
			return seq, v.ShowAt(at, true)
		}
	}
	return 0, false
}

func (it *item) holds(needle string) bool {
	if !it.loaded {
		return false
	}
	for _, p := range it.parts {
		if strings.Contains(strings.ToLower(p.source()), needle) {
			return true
		}
	}
	return false
}

// mark shows the hits in a drawn line.
func (s *search) mark(row string, st style.Styles) string {
	if s.needle == "" {
		return row
	}
	plain := ansi.Strip(row)
	at := strings.Index(strings.ToLower(plain), s.needle)
	if at < 0 || len(strings.ToLower(plain)) != len(plain) {
		return row
	}
	from := ansi.StringWidth(plain[:at])
	to := from + ansi.StringWidth(plain[at:at+len(s.needle)])
	width := ansi.StringWidth(row)
	return ansi.Cut(row, 0, from) + st.Chat.Found.Render(plain[at:at+len(s.needle)]) + ansi.Cut(row, to, width)
}

// Answer is the text of the focused pair's answer, without markers; the whole
// logical text, never what is on the screen.
func (v *View) Answer() (string, bool) {
	p, ok := v.Focused()
	if !ok {
		return "", false
	}
	return answerText(p), true
}

func answerText(p assistant.Pair) string {
	var parts []string
	for _, piece := range assistant.Pieces(p.AssistantText, len(cardsOf(p))) {
		if piece.Call < 0 {
			parts = append(parts, strings.TrimSpace(piece.Text))
		}
	}
	return strings.Join(parts, "\n\n")
}

// Markdown is the whole focused pair as Markdown.
func (v *View) Markdown() (string, bool) {
	p, ok := v.Focused()
	if !ok {
		return "", false
	}
	var b strings.Builder
	b.WriteString("**You:** " + p.UserText + "\n\n**" + p.Model + ":**\n\n")
	cards := cardsOf(p)
	for _, piece := range assistant.Pieces(p.AssistantText, len(cards)) {
		if piece.Call >= 0 {
			c := cards[piece.Call]
			b.WriteString("> `" + c.name + " " + string(c.input) + "`: " + firstLine(c.message) + "\n\n")
			continue
		}
		b.WriteString(strings.TrimSpace(piece.Text) + "\n\n")
	}
	return strings.TrimSpace(b.String()) + "\n", true
}

// Code lists the code blocks of the focused pair.
func (v *View) Code() []markdown.Code {
	it := v.focused()
	if it == nil {
		return nil
	}
	var out []markdown.Code
	for _, p := range it.parts {
		if t, ok := p.(*textPart); ok {
			out = append(out, t.doc.Code()...)
		}
	}
	return out
}
