package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

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
	// joined says of the lines drawn last how each is joined to the one above it.
	joined() []markdown.Joint
}

// fixed is what parts have in common that do not fold and change only by being replaced.
type fixed struct{ drawn bool }

func (f *fixed) changed() bool               { return !f.drawn }
func (f *fixed) fold(bool) bool              { return false }
func (f *fixed) folded() (open, byUser bool) { return true, false }
func (f *fixed) key(i int) string            { return fmt.Sprint(i) }

// foldable is what parts have in common that the user can open and close.
type foldable struct {
	open   bool
	byUser bool // the user opened or closed it
	dirty  bool // it would be drawn otherwise than last time
}

func (f *foldable) changed() bool               { return f.dirty }
func (f *foldable) folded() (open, byUser bool) { return f.open, f.byUser }

func (f *foldable) fold(closed bool) bool {
	f.open, f.byUser, f.dirty = !closed, true, true
	return true
}

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
	p.put(safetext.Clean(p.message), 0, most-2*pad, func(_ int, line string) string { return line })
	box := 0
	for _, line := range p.text {
		box = max(box, ansi.StringWidth(line))
	}
	left := max(0, width-box-2*pad)
	for i, line := range p.text {
		side := strings.Repeat(" ", pad)
		body := l.st.Chat.User.Render(side + line + strings.Repeat(" ", max(0, box-ansi.StringWidth(line))) + side)
		p.text[i], p.joints[i].Lead = strings.Repeat(" ", left)+body, leadCells(left+pad)
	}
	p.add("")
	return p.text
}

// reasoningPart is the model's thinking: open while it streams, folded when
// the first content arrives, and as the user wants it from then on.
type reasoningPart struct {
	foldable
	clean   safetext.Cleaner
	thought strings.Builder
	took    time.Duration
	began   time.Time // while live
	live    bool
	sheet
	body growing
}

func newReasoning(text string, took time.Duration) *reasoningPart {
	r := &reasoningPart{took: took, foldable: foldable{dirty: true}}
	r.thought.WriteString(safetext.Clean(text))
	return r
}

// write adds to the thinking.
func (p *reasoningPart) write(text string) {
	p.thought.WriteString(p.clean.Write(text))
	p.dirty = true
}

func (p *reasoningPart) key(i int) string { return fmt.Sprintf("reasoning %d", i) }
func (p *reasoningPart) source() string   { return p.thought.String() }

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
	p.sheet = sheet{}
	p.add(st.Chat.Thinking.Render(head))
	if p.open {
		body := p.body.lay(p.thought.String(), indent, width-indent, indentedBy(indent, st.Chat.Thinking.Render))
		p.text, p.joints = append(p.text, body.text...), append(p.joints, body.joints...)
	}
	p.add("")
	return p.text
}

// textPart is a stretch of the answer.
type textPart struct {
	fixed
	sheet  // of the source, when that is shown
	body   growing
	stored string // until it is parsed
	md     *markdown.Style
	parsed *markdown.Doc
	dirty  bool
	raw    bool
	kept   bool // what was drawn last came from fresh
	width  int  // of that
}

// newText is a stretch of a stored answer.
func newText(text string, md *markdown.Style) *textPart {
	return &textPart{stored: text, md: md, dirty: true}
}

// doc is the rendered text; a stored one is parsed when it is drawn first.
func (p *textPart) doc() *markdown.Doc {
	if p.parsed == nil {
		p.parsed = markdown.New(p.md)
		p.parsed.Append(p.stored)
		if p.stored != "" {
			p.parsed.Finish()
		}
		p.stored = ""
	}
	return p.parsed
}

func (p *textPart) changed() bool { return p.dirty }

func (p *textPart) source() string {
	if p.parsed == nil {
		return p.stored
	}
	return p.parsed.Source()
}

func (p *textPart) lines(width int, l *look) []string {
	p.dirty, p.kept = false, false
	p.width = width
	if p.raw {
		p.sheet = p.body.lay(safetext.Clean(p.source()), 0, width, func(_ int, line string) string { return line })
		p.add("")
		return p.text
	}
	return append(slices.Clip(p.doc().Lines(width)), "")
}

func (p *textPart) joined() []markdown.Joint {
	if p.raw {
		return p.joints
	}
	return p.doc().Joints(p.width)
}

// fresh is lines of what is not shown raw, without the blank line that ends them,
// and the first that may differ from those drawn last.
func (p *textPart) fresh(width int) (lines []string, from int) {
	lines, from = p.doc().Fresh(width)
	if !p.kept {
		from = 0
	}
	p.dirty, p.kept, p.width = false, true, width
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
	return p.text
}

// errorPart is how a turn failed. The choices below it say what can be done.
type errorPart struct {
	fixed
	sheet
	code, message string
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
	return p.text
}
