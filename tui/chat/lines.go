package chat

import (
	"strings"
	"unicode/utf8"

	"winnow/assistant/safetext"
	"winnow/tui/markdown"
)

// Laying out a frame has a budget. What does not fit is shown as "…", with an estimated number
// of lines, and is laid out by the next frames, see View.LayOut. One byte of Markdown costs 1.
const (
	frameBudget = 16 << 10
	plainBytes  = 32 // bytes of plain text that cost 1
	spelledOut  = 2  // bytes that cost 1 if hidden characters are made visible
)

// spend deducts the cost of n bytes that are factor times cheaper than Markdown.
func (rc *renderContext) spend(n, factor int) { rc.budget -= 1 + n/factor }

// spendSurcharge deducts the growth of d's surcharge; before is its previous value.
func (rc *renderContext) spendSurcharge(d *markdown.Doc, before int) {
	rc.budget -= d.Surcharge() - before
}

// afford returns how many bytes, factor times cheaper than Markdown, the rest of the budget
// pays for.
func (rc *renderContext) afford(factor int) int { return max(0, rc.budget) * factor }

// lineSource provides lines, and how each is copied.
type lineSource interface {
	Len() int
	Line(i int) string
	Info(i int) markdown.LineInfo
	// Find returns the next line after from in which a hit starts or, with back, the
	// previous one; from may be -1 or Len.
	Find(needle markdown.Needle, from int, back markdown.Direction) (line int, ok bool)
	// Count counts the hits that start before a line, up to most.
	Count(needle markdown.Needle, before, most int) int
}

// partLines are the lines of a part.
type partLines struct {
	sources []lineSource
	long    []*longText // texts of the last drawing; the current drawing has reused the first `used` of them
	used    int
	pending bool // some lines are not laid out yet
}

// begin removes the lines before the part is drawn again.
func (s *partLines) begin() { s.sources, s.used, s.pending = s.sources[:0], 0, false }

// Len implements lineSource.
func (s *partLines) Len() (n int) {
	for _, source := range s.sources {
		n += source.Len()
	}
	return n
}

// Line implements lineSource.
func (s *partLines) Line(i int) string {
	source, i := s.at(i)
	return source.Line(i)
}

// Info implements lineSource.
func (s *partLines) Info(i int) markdown.LineInfo {
	source, i := s.at(i)
	return source.Info(i)
}

// at returns the source of line i, and the index of the line in it.
func (s *partLines) at(i int) (lineSource, int) {
	for _, source := range s.sources {
		n := source.Len()
		if i < n {
			return source, i
		}
		i -= n
	}
	return &ready{text: []string{""}, infos: []markdown.LineInfo{{Lead: markdown.NotCopied}}}, 0
}

// ready contains lines that are already drawn.
type ready struct {
	text  []string
	infos []markdown.LineInfo
}

// Len implements lineSource.
func (r *ready) Len() int { return len(r.text) }

// Line implements lineSource.
func (r *ready) Line(i int) string { return r.text[i] }

// Info implements lineSource.
func (r *ready) Info(i int) markdown.LineInfo { return r.infos[i] }

// ready returns a source at the end to which lines can be added; if there is none, it adds
// one.
func (s *partLines) ready() *ready {
	if n := len(s.sources); n > 0 {
		if r, ok := s.sources[n-1].(*ready); ok {
			return r
		}
	}
	r := &ready{}
	s.sources = append(s.sources, r)
	return r
}

// addDecoration adds a line that contains no text.
func (s *partLines) addDecoration(line string) { s.addLine(line, markdown.NotCopied) }

// addLine adds a line that is already drawn, with lead cells before its text.
func (s *partLines) addLine(line string, lead uint16) {
	r := s.ready()
	r.text, r.infos = append(r.text, line), append(r.infos, markdown.LineInfo{Lead: lead})
}

// shortText is the size in bytes up to which a text is laid out at once.
const shortText = 4 << 10

// layout says how a text is laid out.
type layout struct {
	spell bool                            // hidden characters are made visible
	width int                             // maximum width of a line, in cells
	draw  func(i int, line string) string // draws line i; nil leaves the lines as they are
	lead  int                             // cells that draw adds before each line
	tail  int                             // cells that draw adds after the first line
}

// addText lays out a text, without line breaks at its end.
func (s *partLines) addText(rc *renderContext, text safetext.Text, l layout) {
	s.layOut(rc, string(text), l)
}

// addVisible does the same as addText, with hidden characters made visible.
func (s *partLines) addVisible(rc *renderContext, text string, l layout) {
	l.spell = true
	s.layOut(rc, text, l)
}

// layOut is addText for a text that is clean or will be made visible.
func (s *partLines) layOut(rc *renderContext, text string, l layout) {
	if len(text) > shortText {
		s.addLong(rc, s.longText(text), l)
		return
	}
	text = strings.ReplaceAll(strings.TrimRight(l.safe(text), "\n"), "\t", strings.Repeat(" ", tabStop))
	lines, infos := markdown.Wrap(text, max(l.width, 1))
	r := s.ready()
	for i, line := range lines {
		infos[i].Lead = uint16(l.lead)
		r.text = append(r.text, l.drawn(i, line))
	}
	if len(infos) > 0 {
		infos[0].Tail = uint16(l.tail)
	}
	r.infos = append(r.infos, infos...)
}

// tabStop is the width of a tab in plain text, in cells.
const tabStop = 4

// safe returns a piece of the text as it is shown.
func (l layout) safe(piece string) string {
	if l.spell {
		return visible(piece)
	}
	return piece
}

func (l layout) drawn(i int, line string) string {
	if l.draw == nil {
		return line
	}
	return l.draw(i, line)
}

// addLong lays out as much of a long text as the budget allows.
func (s *partLines) addLong(rc *renderContext, t *longText, l layout) {
	t.layOut(rc, l)
	s.pending = s.pending || !t.done()
	s.sources = append(s.sources, t)
}

// longText returns the text as the last drawing laid it out, or else a new longText.
func (s *partLines) longText(text string) *longText {
	if s.used == len(s.long) {
		s.long = append(s.long, nil)
	}
	t := s.long[s.used]
	if t == nil || t.source != text {
		t = &longText{source: text}
		s.long[s.used] = t
	}
	s.used++
	return t
}

// longText is a text that is laid out in pieces and may grow. Its lines are created on
// demand.
type longText struct {
	source string // its first `read` bytes are in text
	read   int
	text   markdown.Text
	layout layout
}

// longStep is how many bytes of a text are read at a time.
const longStep = 32 << 10

// grow appends to the text, after what is left of source.
func (t *longText) grow(text safetext.Text) {
	if t.read < len(t.source) {
		t.source += string(text)
		return
	}
	t.text.Append(string(text))
}

// whole returns the text so far.
func (t *longText) whole() string {
	if t.read < len(t.source) {
		return t.source
	}
	return t.text.Source()
}

// layOut reads and lays out as much as the budget allows.
func (t *longText) layOut(rc *renderContext, l layout) {
	t.layout = l
	factor := plainBytes
	if l.spell {
		factor = spelledOut
	}
	for t.read < len(t.source) && rc.budget > 0 {
		piece := t.source[t.read:]
		if len(piece) > longStep {
			piece = piece[:longStep]
			for n := longStep; n > longStep-utf8.UTFMax; n-- {
				if utf8.RuneStart(t.source[t.read+n]) {
					piece = piece[:n]
					break
				}
			}
		}
		t.read += len(piece)
		rc.spend(len(piece), factor)
		t.text.Append(l.safe(piece))
	}
	rc.spend(t.text.LayOut(l.width, rc.afford(plainBytes)), plainBytes)
}

// done reports whether the whole text is laid out.
func (t *longText) done() bool { return t.read == len(t.source) && t.text.LaidOut() }

// Len implements lineSource.
func (t *longText) Len() int {
	lines, rest := t.text.Len(), len(t.source)-t.read
	switch {
	case rest == 0:
		return lines
	case lines == 0:
		return 1 + rest/max(t.layout.width, 1)
	}
	return lines + int(float64(rest)*float64(lines)/float64(t.read))
}

// isLaidOut reports whether line i has been laid out.
func (t *longText) isLaidOut(i int) bool { return t.read == len(t.source) || i < t.text.Len() }

// Line implements lineSource.
func (t *longText) Line(i int) string {
	line := "…"
	if t.isLaidOut(i) {
		line, _ = t.text.Line(i)
	}
	return t.layout.drawn(i, line)
}

// Info implements lineSource.
func (t *longText) Info(i int) (info markdown.LineInfo) {
	info.Lead = markdown.NotCopied
	if t.isLaidOut(i) {
		if info = t.text.Info(i); info.Lead != markdown.NotCopied {
			info.Lead = uint16(t.layout.lead)
			if i == 0 {
				info.Tail = uint16(t.layout.tail)
			}
		}
	}
	return info
}
