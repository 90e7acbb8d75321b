package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/advice"
	"winnow/assistant/attachment"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/markdown"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// part is a piece of a pair that can have the focus.
type part interface {
	// draw lays out the part; lines wider than width cells are cut. The lines are valid
	// until the part changes.
	draw(width int, rc *renderContext)
	lineSource
	// source returns the part's own text, for searching.
	source() string
	state() *partState
}

// partState is embedded in all parts.
type partState struct {
	partLines
	foldable bool // the user can open and close the part
	open     bool // always true if the part is not foldable
	byUser   bool // the user has opened or closed the part
	dirty    bool // the part has changed since it was last drawn
}

func (s *partState) state() *partState { return s }

// setOpen opens or closes the part on behalf of the user.
func (s *partState) setOpen(open bool) {
	if s.foldable {
		s.open, s.byUser, s.dirty = open, true, true
	}
}

// foldIcon returns the icon that shows whether the part is open.
func (s *partState) foldIcon(rc *renderContext) string {
	if s.open {
		return rc.st.Icons.Open
	}
	return rc.st.Icons.Folded
}

// userPart is the user's message: on the right, on its own background, between the pair's
// marks and its time. A long message is folded.
type userPart struct {
	partState
	message  safetext.Text
	pictures []string // one line per picture

	marks, when string // marks and time of the pair
	headed      bool   // the marks and the time are on a line above the message, because they do not fit next to it
}

func newUserPart(p assistant.Pair) *userPart {
	u := &userPart{partState: partState{foldable: true}, message: p.UserText} // draw determines whether the message folds
	for _, f := range attachment.Pictures(p.Attachments) {
		u.pictures = append(u.pictures, oneLine(f.String()))
	}
	return u
}

func (p *userPart) source() string { return string(p.message) }

// The user's message takes at most four fifths of the width, but may always have minBubble
// cells. If fewer than minBeside cells remain next to its time, the time moves to a line
// above. A folded message shows foldedLines lines, and hides at least two.
const (
	minBubble   = 20
	minBeside   = 16
	foldedLines = 12
)

func (p *userPart) draw(width int, rc *renderContext) {
	p.begin()
	most, aside := min(width, max(minBubble, width*4/5)), style.Width(p.when)
	if room := width - aside - badgeRoom; room < minBeside {
		p.headed = true
	} else {
		p.headed, most = false, min(most, room)
	}
	pad := 1
	if most < 3 { // no room for padding
		pad = 0
	}
	box := p.boxWidth(most - 2*pad)
	if marks := style.Width(p.marks); marks > 0 && width-aside-box-2*pad < marks+1+badgeRoom {
		p.headed = true
	}
	if p.headed {
		aside = 0
	}
	side, free := strings.Repeat(" ", pad), max(0, width-aside-box-2*pad)
	bubble := layout{lead: free + pad, tail: aside, width: max(most-2*pad, 1), draw: func(i int, line string) string {
		body := rc.st.Chat.User.Render(side + line + strings.Repeat(" ", max(0, box-style.Width(line))) + side)
		if i > 0 || p.headed {
			return strings.Repeat(" ", free) + body
		}
		return p.marks + strings.Repeat(" ", max(0, free-style.Width(p.marks))) + body + p.when
	}}
	p.addText(rc, p.message, bubble)
	p.fold(width-aside-pad, rc)
	for _, line := range p.pictures {
		p.addRight(style.Truncate(line, width-aside-pad, rc.st.Icons.Ellipsis), width-aside-pad, rc)
	}
	p.addDecoration("")
}

// boxWidth returns the width of the message's longest line after wrapping at inner cells. For
// a long message it returns inner, which is faster.
func (p *userPart) boxWidth(inner int) (box int) {
	if len(p.message) > shortText {
		return inner
	}
	text := strings.ReplaceAll(strings.TrimRight(string(p.message), "\n"), "\t", strings.Repeat(" ", tabStop))
	lines, _ := markdown.Wrap(text, max(inner, 1))
	for _, line := range lines {
		box = max(box, style.Width(line))
	}
	return box
}

// fold determines whether the message folds. If so, fold adds a line with the key that opens
// or closes it and, while it is folded, hides all but its first lines.
func (p *userPart) fold(width int, rc *renderContext) {
	p.foldable = p.Len() > foldedLines+1
	p.open = !p.foldable || p.byUser && p.open
	if !p.foldable {
		return
	}
	sign := rc.st.Icons.Open + " " + strings.TrimSpace(rc.keys.Hint(keymap.Fold, "folds"))
	if !p.open {
		sign = pane.Join(fmt.Sprintf("%s %d more lines", rc.st.Icons.Folded, p.Len()-foldedLines), strings.TrimSpace(rc.keys.Hint(keymap.Fold, "opens")))
		p.sources = []lineSource{&firstLines{partLines{sources: p.sources}, foldedLines}}
	}
	p.addRight(style.Truncate(sign, width, rc.st.Icons.Ellipsis), width, rc)
}

// addRight adds a muted line, aligned to the right at width cells.
func (p *userPart) addRight(line string, width int, rc *renderContext) {
	p.addDecoration(strings.Repeat(" ", max(0, width-style.Width(line))) + rc.st.Chat.Time.Render(line))
}

// firstLines contains the first n lines of a part.
type firstLines struct {
	partLines
	n int
}

// Len implements lineSource.
func (s *firstLines) Len() int { return min(s.n, s.partLines.Len()) }

// reasoningPart is a block of the model's reasoning. It is open while it streams, and folds
// when text or a tool call follows, unless the user opened or closed it.
type reasoningPart struct {
	partState
	reasoning longText
	took      time.Duration // duration of the reasoning; 0 if unknown
	began     time.Time     // start of the reasoning, set while the reasoning streams
	streaming bool
}

func newReasoningPart(text safetext.Text, took time.Duration) *reasoningPart {
	r := &reasoningPart{took: took, partState: partState{foldable: true, dirty: true}}
	r.reasoning.source = string(text)
	return r
}

func (p *reasoningPart) source() string { return p.reasoning.whole() }

// write appends to the reasoning.
func (p *reasoningPart) write(text safetext.Text) {
	if p.reasoning.whole() == "" {
		text = text.TrimLeftFunc(func(r rune) bool { return r == '\n' })
	}
	p.reasoning.grow(text)
	p.streaming, p.dirty = true, true
}

// finish ends the streaming. The block folds unless the user opened it.
func (p *reasoningPart) finish(took time.Duration) {
	p.streaming, p.dirty = false, true
	if took > 0 {
		p.took = took
	}
	if !p.byUser {
		p.open = false
	}
}

// indent is the indent of an open part's text below its head.
const indent = 2

func (p *reasoningPart) draw(width int, rc *renderContext) {
	p.begin()
	tone := rc.st.Chat.Reasoning
	head := p.foldIcon(rc) + " thinking"
	if !p.streaming && p.took > 0 {
		head = p.foldIcon(rc) + " thought for " + assistant.Seconds(p.took)
	}
	p.addDecoration(tone.Render(head))
	if p.open {
		p.addLong(rc, &p.reasoning, layout{lead: indent, width: width - indent, draw: indented(indent, tone)})
	}
	p.addDecoration("")
}

// noticePart is winnow's notice about the turn, or the turn's error with advice.
type noticePart struct {
	partState
	notice safetext.Text
	code   string // error code, if its choices are shown below; "" for other notices
}

func newNoticePart(text safetext.Text, code string) *noticePart {
	return &noticePart{partState{open: true}, text, code}
}

func (p *noticePart) source() string { return string(p.notice) }

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
	way := advice.ForCode(p.code, func(action string) string {
		if slices.ContainsFunc(afterError, func(c pane.Choice) bool { return string(c.KeyAction) == action }) {
			return "" // the choices below name their keys
		}
		return rc.keys.Named(action)
	})
	if way != "" {
		p.addVisible(rc, way, layout{lead: indent, width: width - indent, draw: indented(indent, rc.st.Chat.Notice)})
	}
}

// indented returns a function that draws lines in a style, after n blanks.
func indented(n int, st style.Style) func(int, string) string {
	return func(_ int, line string) string { return strings.Repeat(" ", n) + st.Render(line) }
}
