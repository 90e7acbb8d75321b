package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/textwidth"
)

// part is a piece of a pair that can have the focus.
type part interface {
	// draw lays the part out; a line wider than width cells is cut.
	draw(width int, rc *renderContext) []string
	// lineInfos says of the lines drawn last how each is copied.
	lineInfos() []markdown.LineInfo
	// source is the part's own text, for searching.
	source() string
	state() *partState
}

// partState is what parts have in common.
type partState struct {
	textLines
	foldable bool // the user can open and close it
	open     bool // always, when it is not foldable
	byUser   bool // the user opened or closed it
	dirty    bool // its lines are not those drawn last
}

func (s *partState) state() *partState { return s }

// setOpen opens or closes the part by the user's hand.
func (s *partState) setOpen(open bool) {
	if s.foldable {
		s.open, s.byUser, s.dirty = open, true, true
	}
}

// foldIcon shows whether the part is open.
func (s *partState) foldIcon(rc *renderContext) string {
	if s.open {
		return rc.st.Icons.Open
	}
	return rc.st.Icons.Folded
}

// userPart is the user's message: on the right, on its own background.
type userPart struct {
	partState
	message  string
	pictures []string // a line for each
}

func newUserPart(p assistant.Pair) *userPart {
	u := &userPart{partState: partState{open: true}, message: p.UserText}
	for _, f := range attachment.Pictures(p.Attachments) {
		u.pictures = append(u.pictures, oneLine(f.String()))
	}
	return u
}

func (p *userPart) source() string { return p.message }

// The user's message takes at most four fifths of the width, but may always have
// minBubble cells.
const minBubble = 20

func (p *userPart) draw(width int, rc *renderContext) []string {
	p.textLines = textLines{}
	most := min(width, max(minBubble, width*4/5))
	pad := 1
	if most < 3 { // no room beside the text
		pad = 0
	}
	p.wrapText(safetext.Clean(p.message), 0, most-2*pad, unstyled)
	box := 0
	for _, line := range p.text {
		box = max(box, ansi.StringWidth(line))
	}
	left, side := max(0, width-box-2*pad), strings.Repeat(" ", pad)
	for i, line := range p.text {
		body := side + line + strings.Repeat(" ", max(0, box-ansi.StringWidth(line))) + side
		p.text[i], p.infos[i].Lead = strings.Repeat(" ", left)+rc.st.Chat.User.Render(body), leadCells(left+pad)
	}
	for _, line := range p.pictures {
		line = textwidth.Truncate(line, width-pad, rc.st.Icons.Ellipsis) + side
		p.addDecoration(strings.Repeat(" ", max(0, width-ansi.StringWidth(line))) + rc.st.Chat.Time.Render(line))
	}
	p.addDecoration("")
	return p.text
}

// reasoningPart is the model's thinking: open while it streams, folded when
// the first content arrives, and as the user wants it from then on.
type reasoningPart struct {
	partState
	clean     safetext.Cleaner
	reasoning strings.Builder
	took      time.Duration // 0 is not known
	began     time.Time     // while live
	streaming bool
	body      growingText
}

func newReasoningPart(text string, took time.Duration) *reasoningPart {
	r := &reasoningPart{took: took, partState: partState{foldable: true, dirty: true}}
	r.reasoning.WriteString(safetext.Clean(text))
	return r
}

func (p *reasoningPart) source() string { return p.reasoning.String() }

// write adds to the thinking.
func (p *reasoningPart) write(text string) {
	if p.reasoning.Len() == 0 {
		text = strings.TrimLeft(text, "\n")
	}
	p.reasoning.WriteString(p.clean.Write(text))
	p.streaming, p.dirty = true, true
}

// finish ends the streaming; the block folds unless the user opened it.
func (p *reasoningPart) finish(took time.Duration) {
	p.reasoning.WriteString(p.clean.Flush())
	p.streaming, p.dirty = false, true
	if took > 0 {
		p.took = took
	}
	if !p.byUser {
		p.open = false
	}
}

// indent is how far the text of an open part stands from its head.
const indent = 2

func (p *reasoningPart) draw(width int, rc *renderContext) []string {
	tone := rc.st.Chat.Reasoning
	head := p.foldIcon(rc) + " thinking"
	if !p.streaming && p.took > 0 {
		head += fmt.Sprintf(" (%.1f s)", p.took.Seconds())
	}
	p.textLines = textLines{}
	p.addDecoration(tone.Render(head))
	if p.open {
		body := p.body.layOut(p.reasoning.String(), indent, width-indent, indented(indent, tone))
		p.text, p.infos = append(p.text, body.text...), append(p.infos, body.infos...)
	}
	p.addDecoration("")
	return p.text
}

// textPart is a stretch of the answer.
type textPart struct {
	partState     // its textLines are those of the source
	body          growingText
	unparsed      string // until it is parsed
	md            *markdown.Style
	parsed        *markdown.Doc
	raw           bool
	renderedWidth int // the width of the lines that fresh gave last; 0 is none
}

// newTextPart is a stretch of a stored answer.
func newTextPart(text string, md *markdown.Style) *textPart {
	return &textPart{partState: partState{open: true, dirty: true}, unparsed: text, md: md}
}

func (p *textPart) setStyle(md *markdown.Style) {
	if p.md = md; p.parsed != nil {
		p.parsed.SetStyle(md)
	}
}

// doc is the rendered text; a stored one is parsed when it is drawn first.
func (p *textPart) doc() *markdown.Doc {
	if p.parsed == nil {
		p.parsed = markdown.New(p.md)
		p.parsed.Append(p.unparsed)
		if p.unparsed != "" {
			p.parsed.Finish()
		}
		p.unparsed = ""
	}
	return p.parsed
}

func (p *textPart) source() string {
	if p.parsed == nil {
		return p.unparsed
	}
	return p.parsed.Source()
}

// draw draws the source, of an answer that is shown raw.
func (p *textPart) draw(width int, _ *renderContext) []string {
	p.textLines = p.body.layOut(safetext.Clean(p.source()), 0, width, unstyled)
	p.addDecoration("")
	p.renderedWidth = 0
	return p.text
}

// fresh is the lines of the rendered answer, without the blank line below it, and
// the first that may differ from those that it gave last.
func (p *textPart) fresh(width int) (lines []string, from int) {
	lines, from = p.doc().Fresh(width)
	if p.renderedWidth != width {
		from = 0
	}
	p.renderedWidth = width
	return lines, from
}

func (p *textPart) lineInfos() []markdown.LineInfo {
	if p.raw {
		return p.infos
	}
	return p.doc().LineInfos(p.renderedWidth)
}

// noticePart is a notice of winnow's about the turn, or its error with advice.
type noticePart struct {
	partState
	notice string
	code   string // of an error, whose choices stand below it; "" for other notices
}

func newNoticePart(text, code string) *noticePart {
	return &noticePart{partState{open: true}, text, code}
}

func (p *noticePart) source() string { return p.notice }

func (p *noticePart) draw(width int, rc *renderContext) []string {
	p.textLines = textLines{}
	sign, tone := rc.st.Icons.Warn, rc.st.Chat.Notice
	if p.code != "" {
		sign, tone = rc.st.Icons.Error, rc.st.Chat.Error
	}
	p.wrapText(safetext.Clean(p.notice), indent, width-indent, func(i int, line string) string {
		if i > 0 {
			sign = " "
		}
		return tone.Render(sign + " " + line)
	})
	if p.code == "" {
		p.addDecoration("")
		return p.text
	}
	if way := rc.keys.Advice(p.code); way != "" {
		p.wrapText(way, indent, width-indent, indented(indent, rc.st.Chat.Notice))
	}
	return p.text
}

// tabStop is how many cells a tab takes in plain text.
const tabStop = 4

// notCopied is the lead of a line that shows no text of the conversation.
const notCopied = 255

// textLines is plain text laid out in lines.
type textLines struct {
	text  []string
	infos []markdown.LineInfo // of each line
}

func (s *textLines) lineInfos() []markdown.LineInfo { return s.infos }

// addDecoration puts in a line that shows no text.
func (s *textLines) addDecoration(line string) { s.addText(line, notCopied) }

// addText puts in a line that is drawn already, with lead cells before its text.
func (s *textLines) addText(line string, lead uint8) {
	s.text, s.infos = append(s.text, line), append(s.infos, markdown.LineInfo{Lead: lead})
}

// wrapText lays out text in lines of at most width cells; draw makes a line of each,
// with lead cells before the text. Line breaks at the end of text are left out.
func (s *textLines) wrapText(text string, lead, width int, draw func(i int, line string) string) {
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\t", strings.Repeat(" ", tabStop))
	lines, infos := markdown.Wrap(text, max(width, 1))
	for i, line := range lines {
		infos[i].Lead = leadCells(lead)
		s.text = append(s.text, draw(i, line))
	}
	s.infos = append(s.infos, infos...)
}

func leadCells(n int) uint8 { return uint8(min(n, notCopied-1)) }

func unstyled(_ int, line string) string { return line }

// indented draws all lines of a text in a style, behind n blanks.
func indented(n int, st lipgloss.Style) func(int, string) string {
	return func(_ int, line string) string { return strings.Repeat(" ", n) + st.Render(line) }
}

// growingText is plain text that only grows: complete lines are laid out once.
type growingText struct {
	textLines
	width int
	done  int // bytes that were laid out
}

// layOut is text at width. The lines are valid up to the next call.
func (g *growingText) layOut(text string, lead, width int, draw func(i int, line string) string) textLines {
	text = strings.TrimRight(text, "\n")
	if width != g.width || g.done > len(text) {
		*g = growingText{width: width}
	}
	if end := strings.LastIndexByte(text, '\n'); end >= g.done {
		for line := range strings.SplitSeq(text[g.done:end], "\n") {
			g.wrapText(line, lead, width, draw)
		}
		g.done = end + 1
	}
	out := textLines{slices.Clip(g.text), slices.Clip(g.infos)}
	if g.done < len(text) {
		out.wrapText(text[g.done:], lead, width, draw)
	}
	return out
}
