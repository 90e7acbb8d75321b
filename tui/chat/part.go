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
	// lines draws the part; each line is at most width cells wide.
	lines(width int, l *look) []string
	// changed says whether lines would give something else than last time.
	changed() bool
	// fold closes or opens the part by the user's hand; it reports whether it can.
	fold(closed bool) bool
	// folded says whether it is open and whether the user decided that.
	folded() (open, byUser bool)
	// key names the part among those of its pair, also after it was made anew.
	key(i int) string
	// source is the part's own text, for copying.
	source() string
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
	text string
}

func newUser(p assistant.Pair) *userPart { return &userPart{text: p.UserText} }

func (p *userPart) source() string { return p.text }

func (p *userPart) lines(width int, l *look) []string {
	p.drawn = true
	most := max(20, width*4/5)
	var out []string
	wrapped := wrap(safetext.Clean(p.text), most-2)
	box := 0
	for _, line := range wrapped {
		box = max(box, ansi.StringWidth(line))
	}
	for _, line := range wrapped {
		body := l.st.Chat.User.Render(" " + line + strings.Repeat(" ", box-ansi.StringWidth(line)) + " ")
		out = append(out, strings.Repeat(" ", max(0, width-box-2))+body)
	}
	return append(out, "")
}

// reasoningPart is the model's thinking: open while it streams, folded when
// the first content arrives, and as the user wants it from then on.
type reasoningPart struct {
	text   strings.Builder
	took   time.Duration
	live   bool
	open   bool
	byUser bool
	dirty  bool
	cache  wrapCache
}

func newReasoning(text string, took time.Duration) *reasoningPart {
	r := &reasoningPart{took: took, dirty: true}
	r.text.WriteString(text)
	return r
}

func (p *reasoningPart) changed() bool       { return p.dirty }
func (p *reasoningPart) key(int) string      { return "reasoning" }
func (p *reasoningPart) source() string      { return p.text.String() }
func (p *reasoningPart) folded() (_, _ bool) { return p.open, p.byUser }

func (p *reasoningPart) fold(closed bool) bool {
	p.open, p.byUser, p.dirty = !closed, true, true
	return true
}

// settle ends the streaming; the block folds unless the user opened it.
func (p *reasoningPart) settle(took time.Duration) {
	p.live, p.took, p.dirty = false, took, true
	if !p.byUser {
		p.open = false
	}
}

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
	if p.open {
		for _, line := range p.cache.wrap(p.text.String(), width-2) {
			out = append(out, "  "+st.Chat.Thinking.Render(line))
		}
	}
	return append(out, "")
}

// textPart is a stretch of the answer.
type textPart struct {
	fixed
	doc   *markdown.Doc
	dirty bool
	raw   bool
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
	p.dirty = false
	if p.raw {
		return append(wrap(p.doc.Source(), width), "")
	}
	return append(slices.Clip(p.doc.Lines(width)), "")
}

// notePart is winnow's own word about the turn.
type notePart struct {
	fixed
	text string
}

func (p *notePart) source() string { return p.text }

func (p *notePart) lines(width int, l *look) []string {
	p.drawn = true
	var out []string
	for _, line := range wrap(p.text, width-2) {
		out = append(out, l.st.Chat.Notice.Render(l.st.Icons.Warn+" "+line))
	}
	return append(out, "")
}

// errorPart is how a turn failed, and what can be done about it.
type errorPart struct {
	fixed
	code, message string
}

func (p *errorPart) source() string { return p.message }

func (p *errorPart) lines(width int, l *look) []string {
	p.drawn = true
	st := l.st
	text := fmt.Sprintf("[error: %s] %s", p.code, safetext.Clean(p.message))
	var out []string
	for i, line := range wrap(text, width-2) {
		sign := "  "
		if i == 0 {
			sign = st.Icons.Error + " "
		}
		out = append(out, st.Chat.Error.Render(sign+line))
	}
	buttons := st.Chat.Primary.Render("[r Retry]") + " " + st.Chat.Secondary.Render("[e Re-ask]") + " " + st.Chat.Warning.Render("[d Delete]")
	return append(out, "  "+buttons, "")
}
