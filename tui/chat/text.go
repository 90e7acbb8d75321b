package chat

import (
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
)

// textPart is a stretch of the answer.
type textPart struct {
	partState
	stored safetext.Text // its first `read` bytes have been parsed
	read   int
	md     *markdown.Style
	limit  int // maximum bytes shown as Markdown
	parsed *markdown.Doc
	drawn  docLines  // the rendered text
	raw    bool      // the source is shown
	plain  *longText // the source, while it is shown
}

// newTextPart returns a stretch of a stored answer.
func newTextPart(text safetext.Text, md *markdown.Style) *textPart {
	return &textPart{partState: partState{open: true, dirty: true}, stored: text, md: md, limit: maxMarkdown}
}

// maxMarkdown is how many bytes of an answer are shown as Markdown. The rest is shown as
// plain text, because rendered Markdown takes many times as much memory as its source.
const maxMarkdown = 1 << 20

// addText appends a stretch of a stored answer to its parts.
func addText(parts []part, text safetext.Text, md *markdown.Style) ([]part, *textPart) {
	t := newTextPart(text, md)
	for _, p := range parts {
		if earlier, ok := p.(*textPart); ok {
			t.limit -= earlier.size()
		}
	}
	return append(parts, t), t
}

// size returns the length of the text in bytes.
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

// doc returns the text as a Markdown document, as far as it has been parsed.
func (p *textPart) doc() *markdown.Doc {
	if p.parsed == nil {
		p.parsed = markdown.New(p.md)
		p.parsed.Limit(p.limit)
	}
	return p.parsed
}

// parseStep is how many bytes of a stored text are parsed at a time.
const parseStep = 1 << 10

// parse parses as much of the stored text as the budget allows.
func (p *textPart) parse(rc *renderContext) {
	d := p.doc()
	for p.read < len(p.stored) && rc.budget > 0 {
		step, factor := parseStep, 1
		if d.Rest() != nil {
			step, factor = longStep, plainBytes
		}
		piece := p.stored[p.read:min(p.read+step, len(p.stored))]
		p.read += len(piece)
		before := d.Surcharge()
		d.Append(string(piece))
		if p.read == len(p.stored) {
			d.Finish()
		}
		rc.spend(len(piece), factor)
		rc.spendSurcharge(d, before)
	}
}

// code returns the code blocks in the text, even if the text is not parsed yet.
func (p *textPart) code() []markdown.Code {
	if p.read == len(p.stored) {
		return p.doc().Code()
	}
	return codeIn(string(p.stored), p.md)
}

// write appends to the text while it streams.
func (p *textPart) write(text safetext.Text) {
	p.doc().Append(string(text))
	if p.plain != nil {
		p.plain.grow(text)
	}
	p.dirty = true
}

// reopen makes a stored text one that streams, so that write can append to it.
func (p *textPart) reopen() {
	text := p.stored
	p.stored, p.read, p.parsed = "", 0, nil
	p.write(text)
}

// end completes a text that streamed.
func (p *textPart) end() {
	if p.stored == "" {
		p.doc().Finish()
	}
}

func (p *textPart) source() string {
	if p.stored != "" {
		return string(p.stored)
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
		before := p.drawn.doc.Surcharge()
		p.drawn.lines = p.drawn.doc.Lines(width)
		rc.spendSurcharge(p.drawn.doc, before)
		if rest := p.drawn.doc.Rest(); rest != nil {
			rc.spend(rest.LayOut(width, rc.afford(plainBytes)), plainBytes)
			p.pending = !rest.LaidOut()
		}
		p.pending = p.pending || p.drawn.rest > 0
		p.sources = append(p.sources, &p.drawn)
	}
	p.addDecoration("")
}

// docLines are the lines of a document, followed by its rest, which is shown as plain text,
// and a line for what is not parsed yet.
type docLines struct {
	doc        *markdown.Doc
	width      int
	lines      []string
	infos      []markdown.LineInfo // created on demand
	read, rest int                 // numbers of bytes that have and have not been parsed
}

// laidOut returns the number of lines laid out so far.
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
	info.Lead = markdown.NotCopied
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
