package chat

import (
	"strings"

	"winnow/tui/markdown"
)

// tabStop is how many cells a tab takes in plain text.
const tabStop = 4

// stretch is a part of a text, and the column at which a line shows it. One
// with nothing in it stands for a line that shows no text.
type stretch struct{ from, to, x int }

// sheet is plain text laid out: lines, and for each the part of the text that
// it shows. A text is put in piece by piece; between two pieces is a new line.
type sheet struct {
	text  strings.Builder
	lines []string
	rows  []stretch
}

// add puts in a line that shows no text.
func (s *sheet) add(line string) {
	s.lines, s.rows = append(s.lines, line), append(s.rows, stretch{})
}

// begin starts a new piece of text and gives its place.
func (s *sheet) begin(text string) int {
	if s.text.Len() > 0 {
		s.text.WriteByte('\n')
	}
	at := s.text.Len()
	s.text.WriteString(text)
	return at
}

// put lays out a piece of text in lines of at most width cells, x cells from the
// left; draw makes a line of each.
func (s *sheet) put(text string, x, width int, draw func(i int, line string) string) {
	at := s.begin(text)
	for i, b := range breakText(nil, text, 0, width) {
		s.lines = append(s.lines, draw(i, untabbed(text[b.from:b.to])))
		s.rows = append(s.rows, stretch{at + b.from, at + b.to, x})
	}
}

// putLine lays out a piece of text on one line that is drawn already and shows it
// from column x on; what did not fit on it belongs to it all the same.
func (s *sheet) putLine(text string, x int, line string) {
	at := s.begin(text)
	s.lines, s.rows = append(s.lines, line), append(s.rows, stretch{at, at + len(text), x})
}

// glyphs are the characters on line y; those right of width are not seen.
func (s *sheet) glyphs(y, width int) []markdown.Glyph {
	if y < 0 || y >= len(s.rows) {
		return nil
	}
	return s.rows[y].glyphs(s.text.String(), width)
}

// glyphs are the characters of text in the stretch.
func (r stretch) glyphs(text string, width int) []markdown.Glyph {
	var out []markdown.Glyph
	x := r.x
	for at, state := r.from, byte(0); at < r.to; {
		w, n, next := grapheme(text[at:r.to], state)
		if w > 0 && x+w <= width {
			out = append(out, markdown.Glyph{X: x, Width: w, Start: at, End: at + n})
		}
		x, at, state = x+w, at+n, next
	}
	return out
}

// grapheme is the width and the length of the first character of text.
func grapheme(text string, state byte) (width, n int, next byte) {
	if text[0] == '\t' {
		return tabStop, 1, 0
	}
	_, width, n, next = markdown.Character(text, state)
	return width, max(n, 1), next
}

func untabbed(line string) string {
	return strings.ReplaceAll(line, "\t", strings.Repeat(" ", tabStop))
}

// breakText breaks text into lines of at most width cells, which dst is given: at
// its own line breaks, at blanks, behind hyphens and slashes, beside wide
// characters, and inside what is longer than a line. The first begins at byte at
// of a longer text. Line breaks at the end of text are not shown.
func breakText(dst []stretch, text string, at, width int) []stretch {
	text = strings.TrimRight(text, "\n")
	for start := 0; start <= len(text); {
		end := start + strings.IndexByte(text[start:], '\n')
		if end < start {
			end = len(text)
		}
		dst = breakLine(dst, text[start:end], at+start, max(width, 1))
		start = end + 1
	}
	return dst
}

// breakLine breaks one line.
func breakLine(dst []stretch, line string, at, width int) []stretch {
	start, used := 0, 0 // of the line being filled
	breakAt := -1       // where it may end
	wide := false       // the character before is a wide one
	for i, state := 0, byte(0); i < len(line); {
		w, n, next := grapheme(line[i:], state)
		state = next
		blank := line[i] == ' '
		if i > start && (blank || w > 1 || wide) {
			breakAt = i
		}
		wide = w > 1
		if used+w > width && !blank && i > start {
			end := i
			if breakAt > start {
				end = breakAt
			}
			dst = append(dst, stretch{from: at + start, to: at + start + len(strings.TrimRight(line[start:end], " "))})
			for end < len(line) && line[end] == ' ' {
				end++
			}
			start, used, breakAt, i, state, wide = end, 0, -1, end, 0, false
			continue
		}
		used += w
		i += n
		if c := line[i-1]; (c == '-' || c == '/') && i > start+1 {
			breakAt = i
		}
	}
	return append(dst, stretch{from: at + start, to: at + start + len(strings.TrimRight(line[start:], " "))})
}

// pen draws all lines of a piece of text alike, behind a lead.
func pen(lead string, render func(...string) string) func(int, string) string {
	return func(_ int, line string) string { return lead + render(line) }
}
