package dotenv

import "strings"

// DiffKind tells what became of a line.
type DiffKind byte

// The kinds of lines in a difference.
const (
	Removed DiffKind = '-'
	Added   DiffKind = '+'
)

// DiffLine is one line that only one of two texts holds.
type DiffLine struct {
	Kind DiffKind
	Line int    // its number, in the old text when Removed, in the new when Added
	Text string // safe to show: secrets masked, invisible characters spelled out
}

// String is the line as in a patch.
func (d DiffLine) String() string { return string(d.Kind) + d.Text }

// Diff lists the lines that differ, in order, removed before added. Line ends
// are compared, and shown, only when nothing else differs.
func Diff(before, after []byte) []DiffLine {
	if string(before) == string(after) {
		return nil
	}
	a, b := cut(string(before)), cut(string(after))
	lines := compare(a, b, func(l textLine) string { return l.text })
	if len(lines) == 0 {
		lines = compare(a, b, func(l textLine) string { return l.text + l.eol })
		for i, d := range lines {
			l := a
			if d.Kind == Added {
				l = b
			}
			lines[i].Text += printable(l[d.Line-1].eol)
		}
	}
	return lines
}

// textLine is a line as it is, and as it may be shown.
type textLine struct{ text, eol, shown string }

// cut divides a file into lines.
func cut(text string) []textLine {
	var lines []textLine
	shown := parseFile(text).maskedText()
	for text != "" {
		var l, s textLine
		l, text = cutLine(text)
		s, shown = cutLine(shown)
		l.shown = printable(s.text)
		lines = append(lines, l)
	}
	return lines
}

func cutLine(text string) (textLine, string) {
	n := strings.IndexAny(text, "\r\n")
	if n < 0 {
		return textLine{text: text}, ""
	}
	eol := newlineLen(text[n:])
	return textLine{text: text[:n], eol: text[n : n+eol]}, text[n+eol:]
}

// maxCompared bounds the table of common: 2,000 changed lines on both sides.
// Where more changed, all of them are told as removed and added.
const maxCompared = 4_000_000

// compare lists the lines that are not in the longest common subsequence.
func compare(a, b []textLine, by func(textLine) string) []DiffLine {
	head := 0
	for head < min(len(a), len(b)) && by(a[head]) == by(b[head]) {
		head++
	}
	endA, endB := len(a), len(b)
	for endA > head && endB > head && by(a[endA-1]) == by(b[endB-1]) {
		endA--
		endB--
	}
	var all []DiffLine
	i, j := head, head
	for _, m := range append(common(a[head:endA], b[head:endB], by), [2]int{endA - head, endB - head}) {
		for ; i < head+m[0]; i++ {
			all = append(all, DiffLine{Removed, i + 1, a[i].shown})
		}
		for ; j < head+m[1]; j++ {
			all = append(all, DiffLine{Added, j + 1, b[j].shown})
		}
		i, j = i+1, j+1
	}
	return all
}

// common is the longest common subsequence, as pairs of indexes.
func common(a, b []textLine, by func(textLine) string) [][2]int {
	if (len(a)+1)*(len(b)+1) > maxCompared {
		return nil
	}
	// left[i*w+j] is the length for a[i:] and b[j:].
	w := len(b) + 1
	left := make([]int32, (len(a)+1)*w)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if by(a[i]) == by(b[j]) {
				left[i*w+j] = left[(i+1)*w+j+1] + 1
			} else {
				left[i*w+j] = max(left[(i+1)*w+j], left[i*w+j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case by(a[i]) == by(b[j]):
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case left[(i+1)*w+j] >= left[i*w+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
