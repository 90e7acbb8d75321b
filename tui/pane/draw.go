package pane

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/assistant/safetext"
	"winnow/tui/style"
)

// Piece is text in one style.
type Piece struct {
	Text  string
	Style style.Style
}

// maxVisible is how many bytes of an untrusted text are drawn on one line.
const maxVisible = 2000

// Visible returns an untrusted text, for example of a model or a file, as it is drawn on one
// line: with invisible and control characters made visible, and cut if it is long.
func Visible(text string) string {
	if len(text) > maxVisible {
		end := maxVisible
		for end > maxVisible-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	return string(safetext.Visible(text))
}

// FitName is style.Fit for names, which often differ only at their ends: a name that is too
// long is shortened in the middle.
func FitName(text string, w int, ellipsis string) string {
	n, tail := style.Width(text), (w-style.Width(ellipsis))/2
	if n <= w || tail <= 0 {
		return style.Fit(text, w, ellipsis)
	}
	end := style.TruncateLeft(text, n-tail, "")
	if style.Width(end) > tail { // a wide character was cut in half
		end = style.TruncateLeft(text, n-tail+1, "")
	}
	head := style.Truncate(text, w-style.Width(ellipsis)-style.Width(end), "")
	return style.Fit(head+ellipsis+end, w, "")
}

// FirstFitting returns the first of texts that fits into w cells, or the last one if none does.
func FirstFitting(w int, texts ...string) string {
	for _, t := range texts[:len(texts)-1] {
		if style.Width(t) <= w {
			return t
		}
	}
	return texts[len(texts)-1]
}

// Spread draws left and right at the edges of w cells. fit shortens pieces of left that do
// not fit; right is omitted if it would take more than half of the cells.
func Spread(w int, fit func(text string, w int, ellipsis string) string, ellipsis string, left, right []Piece) string {
	rightWidth := 0
	for _, r := range right {
		rightWidth += style.Width(r.Text)
	}
	if rightWidth+1 > w/2 {
		right, rightWidth = nil, 0
	}
	room, gap := w-rightWidth, 0
	if rightWidth > 0 {
		room, gap = room-1, 1
	}
	var b strings.Builder
	b.Grow(2 * w) // most rows have as many bytes of styles as of text
	for _, l := range left {
		n := style.Width(l.Text)
		if n > room {
			l.Text, n = fit(l.Text, room, ellipsis), room
		}
		b.WriteString(l.Style.Render(l.Text))
		room -= n
	}
	b.WriteString(strings.Repeat(" ", max(0, room+gap)))
	for _, r := range right {
		b.WriteString(r.Style.Render(r.Text))
	}
	return b.String()
}

// Note is a text in the foot of a pane.
type Note struct {
	Rank     int    // notes with a higher rank are left out first
	Text     string // safe to show; if MaxLines is 0, already drawn
	Short    string // replaces Text if that would be cut to one line; "" if Text is cut
	Style    style.Style
	MaxLines int // maximum number of lines after wrapping; 0 means one line that is already drawn
}

// LayoutNotes draws notes in order, in at most n lines of w cells. In order of rank, each
// note first gets one line; then the remaining lines go to notes that need more. A text that
// is cut ends with the ellipsis.
func LayoutNotes(notes []Note, w, n int, ellipsis string) []string {
	wrapped, lines := make([][]string, len(notes)), make([]int, len(notes))
	highest := 0
	for i, note := range notes {
		highest = max(highest, note.Rank)
		if note.MaxLines > 0 {
			wrapped[i] = style.Wrap(note.Text, max(1, w-1))
		}
	}
	grant := func(want func(i int) int) {
		for rank := 0; rank <= highest; rank++ {
			for i, note := range notes {
				if note.Rank == rank {
					more := min(n, max(0, want(i)-lines[i]))
					lines[i], n = lines[i]+more, n-more
				}
			}
		}
	}
	grant(func(int) int { return 1 })
	grant(func(i int) int { return min(len(wrapped[i]), notes[i].MaxLines) })
	var out []string
	for i, note := range notes {
		switch {
		case lines[i] == 0:
		case note.MaxLines == 0:
			out = append(out, note.Text)
		default:
			text := wrapped[i]
			if note.Short != "" && lines[i] == 1 && len(text) > 1 {
				text = style.Wrap(note.Short, max(1, w-1))
			}
			if len(text) > lines[i] {
				last := strings.TrimRight(text[lines[i]-1], " ")
				text = append(text[:lines[i]-1:lines[i]-1], style.Truncate(last, w-1-style.Width(ellipsis), "")+ellipsis)
			}
			for _, l := range text {
				out = append(out, note.Style.Render(style.Fit(" "+l, w, ellipsis)))
			}
		}
	}
	return out
}

// Join joins the sentences that are not empty with " · ". A hint, for example, is empty if no
// key is bound to its action.
func Join[S ~string](sentences ...S) S {
	var all S
	for _, s := range sentences {
		if all != "" && s != "" {
			all += " · "
		}
		all += s
	}
	return all
}

// ArgumentLine returns the arguments of a tool call in one line, sorted by name. Strings are
// shown without their names, which the tool's name implies. Invisible characters are made
// visible.
func ArgumentLine(raw json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return Visible(string(raw))
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if text, ok := fields[name].(string); ok {
			words = append(words, Visible(text))
			continue
		}
		value, _ := json.Marshal(fields[name]) // cannot fail, because the value was read from JSON
		words = append(words, name+"="+Visible(string(value)))
	}
	return strings.Join(words, " ")
}
