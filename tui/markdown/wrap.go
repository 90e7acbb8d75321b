package markdown

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// pen is the current drawing state of the terminal: the style sequences since the last
// reset, and the sequence that opened the link.
type pen struct{ style, link string }

// cell is one grapheme with its pen. Its text is "\n" for a hard line break.
type cell struct {
	text  string
	width int
	pen   pen
}

// styleEnd resets all styles; linkEnd ends a link.
const (
	styleEnd = "\x1b[m"
	linkEnd  = "\x1b]8;;\x07"
)

// tooWide replaces a grapheme that is wider than the whole line.
const tooWide = "…"

// Character decodes the first character or sequence of s, like ansi.DecodeSequence, but
// includes marks that combine with an ASCII letter.
func Character(s string, state byte) (seq string, width, n int, next byte) {
	seq, width, n, next = ansi.DecodeSequence(s, state, nil)
	if width == 1 && n == 1 && len(s) > 1 && s[1] >= utf8.RuneSelf {
		seq, width = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		return seq, width, len(seq), next
	}
	return seq, width, n, next
}

// cellBuffers contains buffers for cells that are used only during a call.
var cellBuffers = sync.Pool{New: func() any { return new([]cell) }}

// withCells calls use with the cells of s, which are valid until use returns.
func withCells(s string, use func([]cell)) {
	buffer, _ := cellBuffers.Get().(*[]cell)
	all := appendCells((*buffer)[:0], s)
	use(all)
	clear(all)
	*buffer = all
	cellBuffers.Put(buffer)
}

// appendCells splits a styled string into cells. It drops sequences other than styles and
// links, and control characters other than the line break.
func appendCells(all []cell, s string) []cell {
	var p pen
	for state := byte(0); s != ""; {
		seq, width, n, next := Character(s, state)
		s, state = s[n:], next
		switch {
		case width > 0:
			all = append(all, cell{seq, width, p})
		case seq == "\n":
			all = append(all, cell{text: "\n"})
		case seq == styleEnd || seq == "\x1b[0m":
			p.style = ""
		case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m"):
			p.style += seq
		case strings.HasPrefix(seq, "\x1b]8;"):
			p.link = seq
			if strings.HasPrefix(seq, "\x1b]8;;\x07") || strings.HasPrefix(seq, "\x1b]8;;\x1b") {
				p.link = ""
			}
		}
	}
	return all
}

// renderCells renders a line of cells as a string that ends all styles and links. Blanks at
// the end are dropped.
func renderCells(line []cell) string {
	for len(line) > 0 && line[len(line)-1].text == " " {
		line = line[:len(line)-1]
	}
	var b strings.Builder
	var p pen
	to := func(next pen) {
		if p.link != next.link && p.link != "" {
			b.WriteString(linkEnd)
		}
		if p.style != next.style && p.style != "" {
			b.WriteString(styleEnd)
		}
		if p.style != next.style {
			b.WriteString(next.style)
		}
		if p.link != next.link {
			b.WriteString(next.link)
		}
		p = next
	}
	for _, c := range line {
		to(c.pen)
		b.WriteString(c.text)
	}
	to(pen{})
	return b.String()
}

// wrap breaks a styled string into lines of at most width cells: at blanks, between wide
// graphemes, and within words longer than a line. Existing line breaks are kept. wrap adds
// at least one line to out.
func wrap(out *blockLayout, s string, width int) {
	withCells(s, func(all []cell) {
		for start := 0; start <= len(all); {
			end := start
			for end < len(all) && all[end].text != "\n" {
				end++
			}
			line, before := all[start:end], -1
			breakLine(line, width, func(from, to int) {
				blank := from > before || before > 0 && line[before-1].text == " "
				out.add(renderCells(line[from:to]), LineInfo{Soft: before >= 0, Space: blank})
				before = to
			})
			start = end + 1
		}
	})
}

// Wrap breaks a text, which may be styled, into lines of at most width cells.
func Wrap(s string, width int) (lines []string, infos []LineInfo) {
	var out blockLayout
	wrap(&out, s, width)
	return out.lines, out.infos
}

// breakLine breaks line into lines of at most width cells, and calls emit with the start and
// end of each. It replaces graphemes that are wider than that.
func breakLine(line []cell, width int, emit func(from, to int)) {
	start, used := 0, 0 // start and width of the current line
	breakAt := -1       // index of the cell before which the current line may end
	for i := 0; i < len(line); i++ {
		if line[i].width > width {
			line[i].text, line[i].width = tooWide, 1
		}
		c := line[i]
		if used > 0 && (c.text == " " || c.width > 1 || line[i-1].width > 1) {
			breakAt = i
		}
		if used+c.width <= width || c.text == " " {
			used += c.width
			continue
		}
		end := i
		if breakAt > start {
			end = breakAt
		}
		emit(start, end)
		for end < len(line) && line[end].text == " " {
			end++
		}
		start, used, breakAt = end, 0, -1
		i = end - 1
	}
	emit(start, len(line))
}

// wrapCode breaks a line of code into lines of at most width cells, at blanks if possible.
// Lines after the first start at the indent of the code, with a sign if there is room.
func wrapCode(out *blockLayout, s string, width int, sign cell) {
	if len(s) <= width && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		out.add(strings.TrimRight(s, " "), LineInfo{}) // a fast path, because megabytes of plain text may be drawn at once
		return
	}
	withCells(s, func(line []cell) { wrapCodeCells(out, line, width, sign) })
}

// signedCode is the width from which broken lines of code start with a sign.
const signedCode = 12

func wrapCodeCells(out *blockLayout, line []cell, width int, sign cell) {
	indent := 0
	for indent < len(line) && line[indent].text == " " {
		indent++
	}
	begin := make([]cell, min(indent, width/2), min(indent, width/2)+2) // prefix of the lines after the first
	for i := range begin {
		begin[i] = cell{text: " ", width: 1}
	}
	if width >= signedCode {
		begin = append(begin, sign, cell{text: " ", width: 1})
	}
	for start, first := 0, true; first || start < len(line); first = false {
		lead := begin
		if first {
			lead = nil
		}
		end := codeLineEnd(line, start, width-len(lead), max(start, indent))
		blank := start > 0 && line[start-1].text == " "
		out.add(renderCells(append(lead[:len(lead):len(lead)], line[start:end]...)), LineInfo{Soft: !first, Space: blank, Lead: uint16(len(lead))})
		start = end
	}
}

// codeLineEnd returns the end of a drawn line of code that starts at start: after the last
// single blank in its second half, because only one blank can be restored when the line is
// copied, or else where the width ends, but not after a blank. The end is not before from.
func codeLineEnd(line []cell, start, width, from int) int {
	end, used := start, 0
	for ; end < len(line); end++ {
		if line[end].width > width {
			line[end].text, line[end].width = tooWide, 1
		}
		if used += line[end].width; used > width {
			break
		}
	}
	if end == len(line) {
		return end
	}
	blank := func(i int) bool { return line[i].text == " " }
	for at := end; at > max(from+1, start+width/2); at-- {
		if blank(at-1) && !blank(at-2) && !blank(at) {
			return at
		}
	}
	for at := end; at > from; at-- {
		if !blank(at - 1) {
			return at
		}
	}
	return max(end, start+1)
}
