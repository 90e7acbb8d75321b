package markdown

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"winnow/tui/style"
)

// Text is plain text of any length that may still grow. It creates lines on demand, and
// remembers where every lineStep-th line starts. The zero value is empty. Like a Doc, a
// Text must be used by one goroutine.
type Text struct {
	src   strings.Builder
	solid int // length of the part of src that is drawn: line breaks at the end of src are not drawn until more text follows
	width int // width of a line in cells; 0 if not laid out

	next  lineStart   // the first line that is not counted
	count int         // number of lines before next
	marks []lineStart // start of every lineStep-th line

	last     int // the line found last
	lastFrom lineStart

	tail tail // the last call of LaidOut that had to look for the end of a line
}

// tail is whether the line at an offset ends with the text.
type tail struct {
	at, solid, width int
	ends             bool
}

// lineStart is where a line starts in a text, and how it joins the line above.
type lineStart struct {
	at          int
	soft, space bool
}

const (
	lineStep = 32
	// maxBlanks is the maximum number of overflowing blanks that are kept at the end of a line.
	maxBlanks = 256
	// textTab is the width of a tab in plain text, in cells.
	textTab = 4
)

// Append adds to the text.
func (t *Text) Append(s string) {
	t.src.WriteString(s)
	if body := strings.TrimRight(s, "\n"); body != "" {
		t.solid = t.src.Len() - len(s) + len(body)
	}
}

// Source returns the text so far.
func (t *Text) Source() string { return t.src.String() }

// LayOut divides about the next n bytes into lines of at most width cells, counts these, and
// returns how many bytes they have.
func (t *Text) LayOut(width, n int) (used int) {
	if width = max(width, 1); width != t.width {
		t.width, t.next, t.count, t.marks = width, lineStart{}, 0, t.marks[:0]
		t.last, t.lastFrom = 0, lineStart{}
	}
	src := t.src.String()[:t.solid]
	for from := t.next.at; t.next.at-from < n && t.next.at < len(src); t.count++ {
		_, next := breakText(src, t.next, width)
		if next.at >= len(src) { // the last line may continue
			break
		}
		if t.count%lineStep == 0 {
			t.marks = append(t.marks, t.next)
		}
		used, t.next = next.at-from, next
	}
	return used
}

// LaidOut reports whether all lines are counted for the width of the last LayOut.
func (t *Text) LaidOut() bool {
	if t.next.at >= t.solid {
		return true
	}
	if t.tail.at != t.next.at || t.tail.solid != t.solid || t.tail.width != t.width {
		_, next := breakText(t.src.String()[:t.solid], t.next, t.width)
		t.tail = tail{t.next.at, t.solid, t.width, next.at >= t.solid}
	}
	return t.tail.ends
}

// Len returns the number of lines, 0 for an empty text. If the text is not laid out, the
// number is an estimate.
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

// Line returns a line, and how it is copied. A line that is not counted yet is "…".
func (t *Text) Line(i int) (string, LineInfo) {
	info := t.Info(i)
	src := t.src.String()[:t.solid]
	switch {
	case info.Lead == NotCopied:
		return tooWide, info
	case t.width == 0 || len(src) == 0:
		return "", info
	}
	from := t.start(i)
	end, _ := breakText(src, from, t.width)
	return textLine(src[from.at:end], t.width), info
}

// Info returns how a line is copied, without drawing it. The Lead of a line that is not counted yet is NotCopied.
func (t *Text) Info(i int) LineInfo {
	switch {
	case i > t.count || i == t.count && !t.LaidOut():
		return LineInfo{Lead: NotCopied}
	case t.width == 0 || t.solid == 0:
		return LineInfo{}
	}
	from := t.start(i)
	return LineInfo{Soft: from.soft, Space: from.space}
}

// start returns where a counted line starts; after the last line, the end.
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

// lineAt returns the line that contains the byte at an offset.
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

// Direction is the direction of a search.
type Direction = bool

// The directions, from the first line to the last or the other way round.
const (
	Forward  Direction = false
	Backward Direction = true
)

// Find returns the next line after from in which the needle starts or, with back, the
// previous one; from may be -1 or Len. The text must be laid out. Find searches the text, not
// the drawn lines.
func (t *Text) Find(needle Needle, from int, back Direction) (line int, ok bool) {
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
		for at := range needle.hits(src[begin:min(len(src), end+needle.Longest())]) {
			if begin+at >= end {
				break
			}
			last = begin + at
		}
		if last >= 0 {
			return t.lineAt(last), true
		}
	}
	return 0, false
}

// Count counts the occurrences of the needle that start before a line, up to most. The text
// must be laid out.
func (t *Text) Count(needle Needle, before, most int) (count int) {
	src := t.src.String()[:t.solid]
	if t.width == 0 {
		return 0
	}
	end := t.start(before).at
	src = src[:min(len(src), end+needle.Longest())]
	for at := range needle.hits(src) {
		if at >= end || count == most {
			break
		}
		count++
	}
	return count
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

// breakText finds the end of the line of src that starts at from, and the start of the
// next: after a line break, at a blank, between wide graphemes, or within a word that is
// longer than a line.
func breakText(src string, from lineStart, width int) (end int, next lineStart) {
	used, breakAt, wide := 0, 0, false // breakAt is where the line may end
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

// textCharacter returns the width and length of the first character of s, which has several
// bytes or combining marks.
func textCharacter(s string) (width, n int) {
	odd := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }
	r, size := utf8.DecodeRuneInString(s)
	after, _ := utf8.DecodeRuneInString(s[size:])
	switch {
	case odd(r):
		return 1, size
	case odd(after): // Character would treat the rest as part of this character
		return style.Width(s[:size]), size
	}
	_, width, n, _ = Character(s, 0)
	return width, max(n, 1)
}
