package chat

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/textwidth"
)

// tabStop is how many cells a tab takes in plain text.
const tabStop = 4

// notCopied is the lead of a line that shows no text of the conversation.
const notCopied = 255

// sheet is plain text laid out in lines.
type sheet struct {
	text   []string
	joints []markdown.Joint // how each line is joined to the one above when it is copied
}

func (s *sheet) joined() []markdown.Joint { return s.joints }

// add puts in a line that shows no text.
func (s *sheet) add(line string) { s.addLine(line, markdown.Joint{Lead: notCopied}) }

// addLine puts in a line that is drawn already.
func (s *sheet) addLine(line string, j markdown.Joint) {
	s.text, s.joints = append(s.text, line), append(s.joints, j)
}

// put lays out text in lines of at most width cells; draw makes a line of each,
// with lead cells before the text. Line breaks at the end of text are left out.
func (s *sheet) put(text string, lead, width int, draw func(i int, line string) string) {
	lines, joints := markdown.Wrap(untabbed(strings.TrimRight(text, "\n")), max(width, 1))
	for i, line := range lines {
		joints[i].Lead = leadCells(lead)
		s.addLine(draw(i, line), joints[i])
	}
}

func leadCells(n int) uint8 { return uint8(min(n, notCopied-1)) }

func untabbed(text string) string {
	return strings.ReplaceAll(text, "\t", strings.Repeat(" ", tabStop))
}

// indentedBy draws all lines of a text alike, behind blanks.
func indentedBy(n int, render func(...string) string) func(int, string) string {
	return func(_ int, line string) string { return strings.Repeat(" ", n) + render(line) }
}

// growing is plain text that only grows: complete lines are laid out once.
type growing struct {
	sheet
	width int
	done  int // bytes that were laid out
}

// lay is text at width. The sheet is valid up to the next call.
func (g *growing) lay(text string, lead, width int, draw func(i int, line string) string) sheet {
	text = strings.TrimRight(text, "\n")
	if width != g.width || g.done > len(text) {
		*g = growing{width: width}
	}
	if end := strings.LastIndexByte(text, '\n'); end >= g.done {
		for line := range strings.SplitSeq(text[g.done:end], "\n") {
			g.put(line, lead, width, draw)
		}
		g.done = end + 1
	}
	out := sheet{slices.Clip(g.text), slices.Clip(g.joints)}
	if g.done < len(text) {
		out.put(text[g.done:], lead, width, draw)
	}
	return out
}

// one makes one line of a text from elsewhere, with everything made visible that
// hides.
func one(text string) string { return safetext.Line(safetext.Visible(text), 400) }

// visible makes what hides in a text visible, line by line.
func visible(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = safetext.Visible(l)
	}
	return strings.Join(lines, "\n")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// spread puts left and right at the edges of a line.
func spread(left, right string, width int) string {
	gap := width - ansi.StringWidth(left) - ansi.StringWidth(right)
	if gap < 1 {
		left = textwidth.Truncate(left, max(0, width-ansi.StringWidth(right)-1), "…")
		gap = max(0, width-ansi.StringWidth(left)-ansi.StringWidth(right))
	}
	return left + strings.Repeat(" ", gap) + right
}
