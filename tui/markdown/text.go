package markdown

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Text is plain text of any length that may still grow. It makes the lines that are asked
// for, and remembers where every lineStep-th of them begins. The zero value is empty. Like
// a Doc it belongs to one goroutine.
type Text struct {
	src   strings.Builder
	solid int // up to here src is drawn: line breaks at its end are not, until more follows
	width int // cells of a line; 0 is not laid out

	next  lineStart   // the first line that is not counted
	count int         // lines before next
	marks []lineStart // where each lineStep-th line begins

	last     int // the line that was found last
	lastFrom lineStart
}

// lineStart is where a line begins in a text, and how it is joined to the one above.
type lineStart struct {
	at          int
	soft, space bool
}

const (
	lineStep = 32
	// maxBlanks is how many blanks that do not fit in a line stay at its end.
	maxBlanks = 256
	// textTab is how many cells a tab takes in plain text.
	textTab = 4
)

// Append adds to the text.
func (t *Text) Append(s string) {
	t.src.WriteString(s)
	if body := strings.TrimRight(s, "\n"); body != "" {
		t.solid = t.src.Len() - len(s) + len(body)
	}
}

// Source is the text so far.
func (t *Text) Source() string { return t.src.String() }

// LayOut counts the lines of at most width cells in about n more bytes, and returns how
// many bytes it has looked at.
func (t *Text) LayOut(width, n int) (used int) {
	if width = max(width, 1); width != t.width {
		t.width, t.next, t.count, t.marks = width, lineStart{}, 0, t.marks[:0]
		t.last, t.lastFrom = 0, lineStart{}
	}
	src := t.src.String()[:t.solid]
	for from := t.next.at; t.next.at-from < n && t.next.at < len(src); t.count++ {
		_, next := breakText(src, t.next, width)
		if next.at >= len(src) { // the last line may go on
			break
		}
		if t.count%lineStep == 0 {
			t.marks = append(t.marks, t.next)
		}
		used, t.next = next.at-from, next
	}
	return used
}

// LaidOut reports whether all lines are counted, for the width of the last LayOut.
func (t *Text) LaidOut() bool {
	if t.next.at >= t.solid {
		return true
	}
	_, next := breakText(t.src.String()[:t.solid], t.next, t.width)
	return next.at >= t.solid
}

// Len is the number of lines, 0 of an empty text. Of a text that is not laid out it is an
// estimate.
func (t *Text) Len() int {
	rest := t.solid - t.next.at
	switch {
	case rest <= 0:
		return t.count
	case t.LaidOut():
		return t.count + 1
	case t.count == 0:
		return 1 + rest/max(t.width, 1)
	}
	return t.count + 1 + int(float64(rest)*float64(t.count)/float64(t.next.at))
}

// Line is a line, and how it is copied. Those that are not counted yet are "…".
func (t *Text) Line(i int) (string, LineInfo) {
	if i > t.count || i == t.count && !t.LaidOut() {
		return tooWide, LineInfo{Lead: 255}
	}
	src := t.src.String()[:t.solid]
	if t.width == 0 || len(src) == 0 {
		return "", LineInfo{}
	}
	from := t.start(i)
	end, _ := breakText(src, from, t.width)
	return textLine(src[from.at:end], t.width), LineInfo{Soft: from.soft, Space: from.space}
}

// start is where a line begins that is counted; of one behind the last it is the end.
func (t *Text) start(i int) lineStart {
	src := t.src.String()[:t.solid]
	n, from := t.last, t.lastFrom
	if mark := min(i/lineStep, len(t.marks)-1); mark >= 0 && (n > i || n < mark*lineStep) {
		n, from = mark*lineStep, t.marks[mark]
	} else if n > i {
		n, from = 0, lineStart{}
	}
	for ; n < i && from.at < len(src); n++ {
		_, from = breakText(src, from, t.width)
	}
	t.last, t.lastFrom = n, from
	return from
}

// lineAt is the line of the byte at an offset.
func (t *Text) lineAt(at int) int {
	mark := sort.Search(len(t.marks), func(n int) bool { return t.marks[n].at > at }) - 1
	n, from := 0, lineStart{}
	if mark >= 0 {
		n, from = mark*lineStep, t.marks[mark]
	}
	for src := t.src.String()[:t.solid]; ; n++ {
		if _, from = breakText(src, from, t.width); from.at > at || from.at >= len(src) {
			return n
		}
	}
}

// Find is the next line behind from in which the needle begins, or the one before it, of a
// text that is laid out; from may be -1, or Len. It looks at the text, not at its lines.
func (t *Text) Find(needle Needle, from int, back bool) (line int, ok bool) {
	src := t.src.String()[:t.solid]
	if t.width == 0 || len(src) == 0 {
		return 0, false
	}
	if !back {
		begin := 0
		if from >= 0 {
			begin = t.start(from + 1).at
		}
		at, _ := needle.find(src[begin:])
		if at < 0 {
			return 0, false
		}
		return t.lineAt(begin + at), true
	}
	const window = 64 << 10
	for end := t.start(max(from, 0)).at; end > 0; end -= min(end, window) {
		begin, last := max(0, end-window), -1
		for at := begin; at < end; {
			n, length := needle.find(src[at:min(len(src), end+needle.longest())])
			if n < 0 || at+n >= end {
				break
			}
			last, at = at+n, at+n+length
		}
		if last >= 0 {
			return t.lineAt(last), true
		}
	}
	return 0, false
}

// textLine draws a line of plain text.
func textLine(s string, width int) string {
	if strings.Contains(s, "\t") {
		s = strings.ReplaceAll(s, "\t", strings.Repeat(" ", textTab))
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return strings.TrimRight(s, " ")
	}
	line := ""
	withCells(clean(s), func(all []cell) {
		for i := range all {
			if all[i].width > width {
				all[i].text, all[i].width = tooWide, 1
			}
		}
		line = renderCells(all)
	})
	return line
}

// breakText finds the end of the line of src that begins at from, and where the next one
// begins: behind a line break, at a blank, between wide graphemes, or inside of a word that
// is longer than a line.
func breakText(src string, from lineStart, width int) (end int, next lineStart) {
	used, breakAt, wide := 0, 0, false // breakAt: where the line may end
	for i := from.at; i < len(src); {
		c := src[i]
		if c == '\n' {
			return i, lineStart{at: i + 1}
		}
		w, n, blank := 1, 1, c == ' ' || c == '\t'
		switch {
		case c == '\t':
			w = textTab
		case c >= utf8.RuneSelf || i+1 < len(src) && src[i+1] >= utf8.RuneSelf:
			w, n = textCharacter(src[i:])
		}
		if w > width && !blank {
			w = 1
		}
		if used > 0 && (blank || w > 1 || wide) {
			breakAt = i
		}
		if used+w > width && (!blank || used > width+maxBlanks) {
			end = i
			if breakAt > from.at {
				end = breakAt
			}
			next = lineStart{at: end, soft: true}
			for next.at < len(src) && (src[next.at] == ' ' || src[next.at] == '\t') {
				next.at++
			}
			next.space = next.at > end || end > from.at && src[end-1] == ' '
			return end, next
		}
		used, wide = used+w, w > 1 && !blank
		i += n
	}
	return len(src), lineStart{at: len(src)}
}

// textCharacter is the width and the length of the first character of s, which is longer
// than a byte or has marks.
func textCharacter(s string) (width, n int) {
	odd := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }
	r, size := utf8.DecodeRuneInString(s)
	after, _ := utf8.DecodeRuneInString(s[size:])
	switch {
	case odd(r):
		return 1, size
	case odd(after): // Character would take it for a part of this one
		return ansi.StringWidth(s[:size]), size
	}
	_, width, n, _ = Character(s, 0)
	return width, max(n, 1)
}
