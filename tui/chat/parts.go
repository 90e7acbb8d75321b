package chat

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/advice"
	"winnow/assistant/attachment"
	"winnow/tui/markdown"
	"winnow/tui/style"
)

// part is a piece of a pair that can have the focus.
type part interface {
	// draw lays the part out; a line wider than width cells is cut. The lines are valid
	// until the part changes.
	draw(width int, rc *renderContext)
	lineSource
	// source is the part's own text, for searching.
	source() string
	state() *partState
}

// partState is what parts have in common.
type partState struct {
	partLines
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

func (p *userPart) draw(width int, rc *renderContext) {
	p.begin()
	most := min(width, max(minBubble, width*4/5))
	pad := 1
	if most < 3 { // no room beside the text
		pad = 0
	}
	inner, side := most-2*pad, strings.Repeat(" ", pad)
	box := inner
	bubble := layout{width: inner, draw: func(_ int, line string) string {
		body := side + line + strings.Repeat(" ", max(0, box-ansi.StringWidth(line))) + side
		return strings.Repeat(" ", max(0, width-box-2*pad)) + rc.st.Chat.User.Render(body)
	}}
	if len(p.message) <= shortText { // the box is as wide as the text
		lines, _ := markdown.Wrap(strings.ReplaceAll(strings.TrimRight(bubble.clean(p.message), "\n"), "\t", strings.Repeat(" ", tabStop)), max(inner, 1))
		box = 0
		for _, line := range lines {
			box = max(box, ansi.StringWidth(line))
		}
	}
	bubble.lead = max(0, width-box-2*pad) + pad
	p.addText(rc, p.message, bubble)
	for _, line := range p.pictures {
		line = style.Truncate(line, width-pad, rc.st.Icons.Ellipsis) + side
		p.addDecoration(strings.Repeat(" ", max(0, width-ansi.StringWidth(line))) + rc.st.Chat.Time.Render(line))
	}
	p.addDecoration("")
}

// reasoningPart is the model's thinking: open while it streams, folded when
// the first content arrives, and as the user wants it from then on.
type reasoningPart struct {
	partState
	reasoning longText
	took      time.Duration // 0 is not known
	began     time.Time     // while live
	streaming bool
}

func newReasoningPart(text string, took time.Duration) *reasoningPart {
	r := &reasoningPart{took: took, partState: partState{foldable: true, dirty: true}}
	r.reasoning.source = text
	return r
}

func (p *reasoningPart) source() string { return p.reasoning.whole() }

// write adds to the thinking.
func (p *reasoningPart) write(text string) {
	if p.reasoning.whole() == "" {
		text = strings.TrimLeft(text, "\n")
	}
	p.reasoning.grow(text)
	p.streaming, p.dirty = true, true
}

// finish ends the streaming; the block folds unless the user opened it.
func (p *reasoningPart) finish(took time.Duration) {
	p.reasoning.text.Append(p.reasoning.cleaner.Flush())
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

func (p *reasoningPart) draw(width int, rc *renderContext) {
	p.begin()
	tone := rc.st.Chat.Reasoning
	head := p.foldIcon(rc) + " thinking"
	if !p.streaming && p.took > 0 {
		head += fmt.Sprintf(" (%.1f s)", p.took.Seconds())
	}
	p.addDecoration(tone.Render(head))
	if p.open {
		p.addLong(rc, &p.reasoning, layout{lead: indent, width: width - indent, draw: indented(indent, tone)})
	}
	p.addDecoration("")
}

// answerPart says which of the answers to the message is shown.
type answerPart struct {
	partState
	n, of int
}

func (p *answerPart) source() string { return "" }

func (p *answerPart) draw(_ int, rc *renderContext) {
	p.begin()
	p.addDecoration(rc.st.Chat.Notice.Render(fmt.Sprintf("‹%d/%d›", p.n, p.of)))
	p.addDecoration("")
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

func (p *noticePart) draw(width int, rc *renderContext) {
	p.begin()
	sign, tone := rc.st.Icons.Warn, rc.st.Chat.Notice
	if p.code != "" {
		sign, tone = rc.st.Icons.Error, rc.st.Chat.Error
	}
	p.addText(rc, p.notice, layout{lead: indent, width: width - indent, draw: func(i int, line string) string {
		if i > 0 {
			return tone.Render("  " + line)
		}
		return tone.Render(sign + " " + line)
	}})
	if p.code == "" {
		p.addDecoration("")
		return
	}
	if way := advice.For(p.code, rc.keys.Named); way != "" {
		p.addText(rc, way, layout{lead: indent, width: width - indent, draw: indented(indent, rc.st.Chat.Notice)})
	}
}

// indented draws all lines of a text in a style, behind n blanks.
func indented(n int, st lipgloss.Style) func(int, string) string {
	return func(_ int, line string) string { return strings.Repeat(" ", n) + st.Render(line) }
}
