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
	"winnow/tui/textwidth"
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
		line = textwidth.Truncate(line, width-pad, rc.st.Icons.Ellipsis) + side
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

// textPart is a stretch of the answer.
type textPart struct {
	partState
	stored string // of which the first read bytes are in doc
	read   int
	md     *markdown.Style
	limit  int // bytes that are shown as Markdown at most
	parsed *markdown.Doc
	drawn  docLines  // of the rendered text
	raw    bool      // its source is shown
	plain  *longText // the source, while it is shown
}

// newTextPart is a stretch of a stored answer.
func newTextPart(text string, md *markdown.Style) *textPart {
	return &textPart{partState: partState{open: true, dirty: true}, stored: text, md: md, limit: maxMarkdown}
}

// maxMarkdown is how many bytes of all stretches of an answer are shown as Markdown: they
// take many times as much memory.
const maxMarkdown = 1 << 20

// addText adds a stretch of the answer.
func addText(parts []part, text string, md *markdown.Style) ([]part, *textPart) {
	t := newTextPart(text, md)
	for _, p := range parts {
		if earlier, ok := p.(*textPart); ok {
			t.limit -= earlier.size()
		}
	}
	return append(parts, t), t
}

// size is the length of the text.
func (p *textPart) size() int {
	if p.stored != "" {
		return len(p.stored)
	}
	return p.doc().Size()
}

func (p *textPart) setStyle(md *markdown.Style) {
	if p.md = md; p.parsed != nil {
		p.parsed.SetStyle(md)
	}
}

// doc is the rendered text, as far as a stored one was parsed.
func (p *textPart) doc() *markdown.Doc {
	if p.parsed == nil {
		p.parsed = markdown.New(p.md)
		p.parsed.Limit(p.limit)
	}
	return p.parsed
}

// parseStep is how much of a stored text is parsed at once.
const parseStep = 1 << 10

// parse parses as much of the stored text as the budget pays for.
func (p *textPart) parse(rc *renderContext) {
	d := p.doc()
	for p.read < len(p.stored) && rc.budget > 0 {
		step, factor := parseStep, 1
		if d.Rest() != nil {
			step, factor = longStep, plainBytes
		}
		piece := p.stored[p.read:min(p.read+step, len(p.stored))]
		p.read += len(piece)
		coloured := d.Coloured()
		d.Append(piece)
		if p.read == len(p.stored) {
			d.Finish()
		}
		rc.spend(len(piece), factor)
		rc.spendColouring(d, coloured)
	}
}

// code are the blocks of code in the text, also of one that is not parsed yet.
func (p *textPart) code() []markdown.Code {
	if p.read == len(p.stored) {
		return p.doc().Code()
	}
	return codeIn(p.stored, p.md)
}

// write adds to a text that is not a stored one.
func (p *textPart) write(text string) {
	p.doc().Append(text)
	if p.plain != nil {
		p.plain.grow(text)
	}
	p.dirty = true
}

// end ends such a text.
func (p *textPart) end() {
	if p.stored == "" {
		p.doc().Finish()
	}
}

func (p *textPart) source() string {
	if p.stored != "" {
		return p.stored
	}
	return p.doc().Source()
}

func (p *textPart) draw(width int, rc *renderContext) {
	p.begin()
	if p.raw {
		if p.plain == nil {
			p.plain = &longText{source: p.source()}
		}
		p.addLong(rc, p.plain, layout{width: width})
	} else {
		p.plain = nil
		p.parse(rc)
		if p.drawn.width != width {
			rc.spend(p.read, plainBytes)
		}
		p.drawn = docLines{doc: p.doc(), width: width, rest: len(p.stored) - p.read, read: p.read}
		coloured := p.drawn.doc.Coloured()
		p.drawn.lines = p.drawn.doc.Lines(width)
		rc.spendColouring(p.drawn.doc, coloured)
		if rest := p.drawn.doc.Rest(); rest != nil {
			rc.spend(rest.LayOut(width, rc.afford(plainBytes)), plainBytes)
			p.pending = !rest.LaidOut()
		}
		p.pending = p.pending || p.drawn.rest > 0
		p.sources = append(p.sources, &p.drawn)
	}
	p.addDecoration("")
}

// docLines are the lines of a document, and behind them those of its rest and of what is
// not parsed yet.
type docLines struct {
	doc        *markdown.Doc
	width      int
	lines      []string
	infos      []markdown.LineInfo // made when they are asked for
	read, rest int                 // bytes that are parsed, and that are not
}

// laidOut are the lines that there are.
func (l *docLines) laidOut() int {
	n := len(l.lines)
	if rest := l.doc.Rest(); rest != nil {
		n += 1 + rest.Len()
	}
	return n
}

// Len implements lineSource.
func (l *docLines) Len() int {
	n := l.laidOut()
	if l.rest == 0 {
		return n
	}
	return n + 1 + int(float64(l.rest)*float64(n)/float64(max(1, l.read)))
}

// Line implements lineSource.
func (l *docLines) Line(i int) string {
	switch n := len(l.lines); {
	case i < n:
		return l.lines[i]
	case i == n && l.doc.Rest() != nil:
		return ""
	case i < l.laidOut():
		line, _ := l.doc.Rest().Line(i - n - 1)
		return line
	}
	return "…"
}

// Info implements lineSource.
func (l *docLines) Info(i int) (info markdown.LineInfo) {
	info.Lead = notCopied
	switch n := len(l.lines); {
	case i < n:
		if l.infos == nil {
			l.infos = l.doc.LineInfos(l.width)
		}
		info = l.infos[i]
	case i > n && i < l.laidOut():
		_, info = l.doc.Rest().Line(i - n - 1)
	}
	return info
}

// Find implements lineSource.
func (l *docLines) Find(needle markdown.Needle, from int, back bool) (line int, ok bool) {
	n, rest := len(l.lines), l.doc.Rest()
	if back && rest != nil && from > n {
		if line, ok = rest.Find(needle, from-n-1, back); ok {
			return n + 1 + line, true
		}
	}
	if line, ok = findLine(n, l.Line, needle, from, back); ok || back || rest == nil {
		return line, ok
	}
	line, ok = rest.Find(needle, max(from-n-1, -1), back)
	return n + 1 + line, ok
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
