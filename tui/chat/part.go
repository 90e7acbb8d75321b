package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
)

// part is a piece of a pair that can have the focus.
type part interface {
	// lines draws the part; a line wider than width cells is cut.
	lines(width int, l *look) []string
	// changed says whether lines would give something else than last time.
	changed() bool
	// fold closes or opens the part by the user's hand; it reports whether it can.
	fold(closed bool) bool
	// folded says whether it is open and whether the user decided that.
	folded() (open, byUser bool)
	// key names the part among those of its pair, also after it was made anew.
	key(i int) string
	// source is the part's own text, for copying and searching.
	source() string
	logical
}

// logical is the text that a part shows, apart from how it is drawn; what is
// folded away is not in it. Places are bytes of it. It is known once the part was
// drawn, and as it was drawn last.
type logical interface {
	// shows is the length of the text.
	shows() int
	// glyphs are the characters of line y.
	glyphs(y, width int) []markdown.Glyph
	// unit is the word or line that holds a place.
	unit(at int, u Unit) (from, to int)
	// taken is the text between two places; whole says that it was chosen as one.
	taken(from, to int, whole bool) string
}

// fixed is what parts have in common that do not fold and change only by being replaced.
type fixed struct{ drawn bool }

func (f *fixed) changed() bool               { return !f.drawn }
func (f *fixed) fold(bool) bool              { return false }
func (f *fixed) folded() (open, byUser bool) { return true, false }
func (f *fixed) key(i int) string            { return fmt.Sprint(i) }

// userPart is the user's message: on the right, on its own background.
type userPart struct {
	fixed
	sheet
	message string
}

func newUser(p assistant.Pair) *userPart { return &userPart{message: p.UserText} }

func (p *userPart) source() string { return p.message }

// Of the width the user's message takes at most four fifths, and at least enough
// for a few words.
const leastBubble = 20

func (p *userPart) lines(width int, l *look) []string {
	p.drawn, p.sheet = true, sheet{}
	most := min(width, max(leastBubble, width*4/5))
	pad := 1
	if most < 3 { // no room beside the text
		pad = 0
	}
	text := safetext.Clean(p.message)
	p.put(text, 0, most-2*pad, func(_ int, line string) string { return line })
	box := 0
	for _, line := range p.sheet.lines {
		box = max(box, cellsOf(line))
	}
	left := max(0, width-box-2*pad)
	for i, line := range p.sheet.lines {
		side := strings.Repeat(" ", pad)
		body := l.st.Chat.User.Render(side + line + strings.Repeat(" ", max(0, box-cellsOf(line))) + side)
		p.sheet.lines[i], p.rows[i].x = strings.Repeat(" ", left)+body, left+pad
	}
	p.add("")
	return p.sheet.lines
}

// reasoningPart is the model's thinking: open while it streams, folded when
// the first content arrives, and as the user wants it from then on.
type reasoningPart struct {
	clean   safetext.Cleaner
	thought strings.Builder
	took    time.Duration
	began   time.Time // while live
	live    bool
	open    bool
	byUser  bool
	dirty   bool
	cache   growing
	rows    []stretch // of thought, as drawn
}

func newReasoning(text string, took time.Duration) *reasoningPart {
	r := &reasoningPart{took: took, dirty: true}
	r.thought.WriteString(safetext.Clean(text))
	return r
}

// write adds to the thinking.
func (p *reasoningPart) write(text string) {
	p.thought.WriteString(p.clean.Write(text))
	p.dirty = true
}

func (p *reasoningPart) changed() bool       { return p.dirty }
func (p *reasoningPart) key(i int) string    { return fmt.Sprintf("reasoning %d", i) }
func (p *reasoningPart) source() string      { return p.thought.String() }
func (p *reasoningPart) folded() (_, _ bool) { return p.open, p.byUser }

func (p *reasoningPart) fold(closed bool) bool {
	p.open, p.byUser, p.dirty = !closed, true, true
	return true
}

// settle ends the streaming; the block folds unless the user opened it. A time of
// zero is not known.
func (p *reasoningPart) settle(took time.Duration) {
	p.thought.WriteString(p.clean.Flush())
	p.live, p.dirty = false, true
	if took > 0 {
		p.took = took
	}
	if !p.byUser {
		p.open = false
	}
}

// indent is how far what is in an open part stands from its head.
const indent = 2

func (p *reasoningPart) lines(width int, l *look) []string {
	p.dirty = false
	st := l.st
	sign := st.Icons.Folded
	if p.open {
		sign = st.Icons.Open
	}
	head := sign + " thinking"
	if !p.live && p.took > 0 {
		head += fmt.Sprintf(" (%.1f s)", p.took.Seconds())
	}
	out := []string{st.Chat.Thinking.Render(head)}
	p.rows = p.rows[:0]
	if p.open {
		text := p.thought.String()
		p.rows = append(p.rows, p.cache.broken(text, width-indent)...)
		for _, r := range p.rows {
			out = append(out, strings.Repeat(" ", indent)+st.Chat.Thinking.Render(untabbed(text[r.from:r.to])))
		}
	}
	return append(out, "")
}

// textPart is a stretch of the answer.
type textPart struct {
	fixed
	sheet // of the source, when that is shown
	doc   *markdown.Doc
	dirty bool
	raw   bool
	kept  bool // what was drawn last came from fresh
}

func newText(text string, md *markdown.Style, whole bool) *textPart {
	p := &textPart{doc: markdown.New(md), dirty: true}
	p.doc.Append(text)
	if whole {
		p.doc.Finish()
	}
	return p
}

func (p *textPart) changed() bool  { return p.dirty }
func (p *textPart) source() string { return p.doc.Source() }

func (p *textPart) lines(width int, l *look) []string {
	p.dirty, p.kept = false, false
	if p.raw {
		p.sheet = sheet{}
		p.put(safetext.Clean(p.doc.Source()), 0, width, func(_ int, line string) string { return line })
		p.add("")
		return p.sheet.lines
	}
	return append(slices.Clip(p.doc.Lines(width)), "")
}

// fresh is lines of what is not shown raw, without the blank line that ends them,
// and the first that may be another than when they were drawn last.
func (p *textPart) fresh(width int) (lines []string, from int) {
	lines, from = p.doc.Fresh(width)
	if !p.kept {
		from = 0
	}
	p.dirty, p.kept = false, true
	return lines, from
}

// notePart is winnow's own word about the turn.
type notePart struct {
	fixed
	sheet
	note string
}

func (p *notePart) source() string { return p.note }

func (p *notePart) lines(width int, l *look) []string {
	p.drawn, p.sheet = true, sheet{}
	p.put(safetext.Clean(p.note), indent, width-indent, func(_ int, line string) string {
		return l.st.Chat.Notice.Render(l.st.Icons.Warn + " " + line)
	})
	p.add("")
	return p.sheet.lines
}

// errorPart is how a turn failed, and what can be done about it.
type errorPart struct {
	fixed
	sheet
	code, message string
	latest        bool // the choices below it say what can be done
}

func (p *errorPart) source() string { return p.message }

func (p *errorPart) lines(width int, l *look) []string {
	p.drawn, p.sheet = true, sheet{}
	st := l.st
	text := fmt.Sprintf("[error: %s] %s", p.code, safetext.Clean(p.message))
	if p.code == p.message {
		text = fmt.Sprintf("[error: %s]", p.code)
	}
	p.put(text, indent, width-indent, func(i int, line string) string {
		if i == 0 {
			return st.Chat.Error.Render(st.Icons.Error + " " + line)
		}
		return st.Chat.Error.Render("  " + line)
	})
	if !p.latest { // else the choices follow
		p.add("  " + st.Chat.Primary.Render("[r Retry]") + " " + st.Chat.Secondary.Render("[e Re-ask]") + " " + st.Chat.Warning.Render("[d Delete]"))
		p.add("")
	}
	return p.sheet.lines
}
