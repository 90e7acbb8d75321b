package overlay

import (
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
)

// Outcome is an overlay's answer to a key: a Stay, Closed, TypedAhead, Work or Chosen.
//
//sumtype:decl
type Outcome interface{ outcome() }

type (
	// Stay keeps the overlay open.
	Stay struct{}
	// Closed closes the overlay without a choice.
	Closed struct{}
	// TypedAhead keeps the overlay open: the key was typed before the question could be
	// read, and is meant for whatever had the focus before.
	TypedAhead struct{}
	// Work keeps the overlay open and asks the caller to do work that would take too long
	// while a key is handled. Run may be called from any goroutine; the function that it
	// returns shows the result, and must be called where keys are handled.
	Work struct{ Run func() (show func()) }
	// Chosen closes the overlay with a choice; the overlay's Kind determines what was
	// chosen.
	Chosen struct {
		Kind   Kind
		Value  string        // Entry.Value, or the text of a Line; "" for a question
		Action keymap.Action // the action with which the user chose; for a question, the answer
		Query  string        // the search text of a Picker; "" if Action is LineAccept
	}
)

func (Stay) outcome()       {}
func (Closed) outcome()     {}
func (TypedAhead) outcome() {}
func (Work) outcome()       {}
func (Chosen) outcome()     {}

// Kind is the purpose of an overlay, so that the root knows what was chosen.
type Kind int

// The kinds of overlays.
const (
	Models Kind = iota
	Checkpoints
	Help
	Palette
	Topics
	Sessions
	Settings
	HUD
	Request
	SaveSheet
	Confirm
	Provider
	Queued
	TopicName
	Notices
	Filters
	Connect
	HelpTopic
	CodeBlocks
)

// Overlay is a box above the screen.
type Overlay interface {
	// Key handles a key and the text that it types, if any. For pasted text, name is "".
	Key(name keymap.Key, text string) Outcome
	// Escape goes back to the previous step, or closes the overlay.
	Escape() Outcome
	// SetKeys sets the current key bindings. Without it, the default bindings are used.
	SetKeys(keys *keymap.Map)
	// Title is shown in the frame.
	Title() string
	// Body draws the inside: at most h lines, each at most w cells wide.
	Body(w, h int, st style.Styles) []string
	// Size returns the inner size that the overlay requests, on a screen of w×h.
	Size(w, h int) (int, int)
	// Cursor returns the position of the cursor in the body; ok is false if there is none.
	Cursor() (x, y int, ok bool)
	// Click handles a click on a line of the body as last drawn.
	Click(y int) Outcome
	// Scroll scrolls the text, or moves the selection, n lines down.
	Scroll(n int)
	// Position describes which part of the overlay is visible, as in 12/45; "" if all of it
	// is.
	Position() string
	// Hints describes in a few words which keys the overlay handles.
	Hints() string
}

// Hints describes the keys of the topmost overlay, for the footer; "" if none is open.
func (s *Stack) Hints() string {
	if o, _, ok := s.Top(); ok {
		return o.Hints()
	}
	return ""
}

// Stack contains the open overlays, the last one on top. The zero value is empty.
type Stack struct {
	open []entry
	keys *keymap.Map // nil means the default bindings
}

type entry struct {
	kind Kind
	Overlay
}

// Push opens an overlay above the others. An open overlay of the same kind is closed, so
// that holding down a key opens only one list.
func (s *Stack) Push(kind Kind, o Overlay) {
	s.open = slices.DeleteFunc(s.open, func(e entry) bool { return e.kind == kind })
	s.open = append(s.open, entry{kind, o})
	o.SetKeys(s.keys)
}

// SetKeys sets the key bindings of the overlays.
func (s *Stack) SetKeys(keys *keymap.Map) {
	s.keys = keys
	for _, e := range s.open {
		e.SetKeys(keys)
	}
}

// Close closes all overlays.
func (s *Stack) Close() { s.open = nil }

// Pop closes the topmost overlay.
func (s *Stack) Pop() {
	if len(s.open) > 0 {
		s.open = s.open[:len(s.open)-1]
	}
}

// Remove closes an overlay, wherever it is in the stack.
func (s *Stack) Remove(o Overlay) {
	s.open = slices.DeleteFunc(s.open, func(e entry) bool { return e.Overlay == o })
}

// Open reports whether an overlay is open.
func (s *Stack) Open() bool { return len(s.open) > 0 }

// Top returns the topmost overlay and its kind; ok is false if none is open.
func (s *Stack) Top() (o Overlay, kind Kind, ok bool) {
	if !s.Open() {
		return nil, 0, false
	}
	e := s.open[len(s.open)-1]
	return e.Overlay, e.kind, true
}

// Find returns the open overlay of a kind.
func (s *Stack) Find(kind Kind) (Overlay, bool) {
	for _, e := range s.open {
		if e.kind == kind {
			return e.Overlay, true
		}
	}
	return nil, false
}

// Key passes a key to the topmost overlay.
func (s *Stack) Key(name keymap.Key, text string) Outcome {
	o, kind, ok := s.Top()
	if !ok {
		return Closed{}
	}
	return s.apply(o.Key(name, text), kind)
}

// Escape goes back in the topmost overlay.
func (s *Stack) Escape() Outcome {
	o, kind, ok := s.Top()
	if !ok {
		return Closed{}
	}
	return s.apply(o.Escape(), kind)
}

// Click passes a click at a cell of a screen of w×h to the topmost overlay. A click outside
// the box does nothing.
func (s *Stack) Click(x, y, w, h int) Outcome {
	o, kind, ok := s.Top()
	if !ok {
		return Closed{}
	}
	bw, bh := bodySize(o, w, h)
	left, top := origin(bw, bh, w, h)
	if x < left || x >= left+bw || y < top || y >= top+bh {
		return Stay{}
	}
	return s.apply(o.Click(y-top), kind)
}

// Scroll scrolls the topmost overlay.
func (s *Stack) Scroll(n int) {
	if o, _, ok := s.Top(); ok {
		o.Scroll(n)
	}
}

// apply closes the topmost overlay if its outcome says so, and sets the Kind of a choice.
func (s *Stack) apply(out Outcome, kind Kind) Outcome {
	switch c := out.(type) {
	case Closed:
		s.Pop()
	case Chosen:
		s.Pop()
		c.Kind = kind
		return c
	case Stay, TypedAhead, Work:
	}
	return out
}

// frameW and frameH are the total width and height of the border and its padding.
const frameW, frameH = 4, 2

// View draws the topmost overlay for a screen of w×h and returns its position.
func (s *Stack) View(w, h int, st style.Styles) (view string, x, y int) {
	o, _, ok := s.Top()
	if !ok {
		return "", 0, 0
	}
	bw, bh := bodySize(o, w, h)
	lines := o.Body(bw, bh, st)
	rows := make([]string, bh)
	for i := range rows {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		rows[i] = style.Fit(line, bw, "…")
	}
	x, y = origin(bw, bh, w, h)
	x, y = x-frameW/2, y-frameH/2
	closeHint := ""
	if y+bh+frameH >= h { // the hints in the footer are covered
		closeHint = FitHints(o.Hints(), 0)
	}
	return framed(o.Title(), closeHint, o.Position(), rows, bw, st), x, y
}

// origin returns where the inside of an overlay starts on a screen of w×h.
func origin(bw, bh, w, h int) (x, y int) {
	return (w-bw-frameW)/2 + frameW/2, (h-bh-frameH)/2 + frameH/2
}

// Cursor returns the position of the cursor on a screen of w×h.
func (s *Stack) Cursor(w, h int) (x, y int, ok bool) {
	o, _, open := s.Top()
	if !open {
		return 0, 0, false
	}
	cx, cy, ok := o.Cursor()
	bw, bh := bodySize(o, w, h)
	left, top := origin(bw, bh, w, h)
	return left + cx, top + cy, ok && cx < bw && cy < bh
}

// Overlays have one of two inner widths, so that they do not move around. On a narrow
// screen they are smaller.
const (
	narrowWidth = 60
	wideWidth   = 100
)

// InnerWidth returns the maximum width of the lines of an overlay on a screen of w cells.
func InnerWidth(w int) int { return min(w-frameW, wideWidth) }

// bodySize returns the inner size of an overlay on a screen of w×h.
func bodySize(o Overlay, w, h int) (bw, bh int) {
	if full, ok := o.(interface{ fullWidth() bool }); ok && full.fullWidth() {
		bw, bh = o.Size(w-frameW, h-frameH)
		return max(1, min(bw, w-frameW)), min(max(bh, 1), h-frameH)
	}
	bw, bh = o.Size(InnerWidth(w), h-frameH)
	bw = max(bw, style.Width(o.Title())+frameW) // room for the whole title
	width := narrowWidth
	if bw > narrowWidth {
		width = wideWidth
	}
	return max(1, min(width, w-frameW)), min(max(bh, 1), h-frameH)
}

// framed draws a border around lines of w cells, with the title at the top, and at the bottom
// closeHint, which says how to close the overlay, and the position.
func framed(title, closeHint, position string, lines []string, w int, st style.Styles) string {
	b := st.Border.Overlay
	border := st.Overlay.Border
	title = style.TruncateWords(title, max(0, w-2), "…")
	top := border.Render(b.TopLeft+b.Top) + st.Overlay.Title.Render(" "+title+" ") +
		border.Render(strings.Repeat(b.Top, max(0, w-1-style.Width(title)))+b.TopRight)
	if title == "" {
		top = border.Render(b.TopLeft + strings.Repeat(b.Top, w+2) + b.TopRight)
	}
	rows := []string{top}
	for _, l := range lines {
		rows = append(rows, border.Render(b.Left)+" "+l+" "+border.Render(b.Right))
	}
	if position = style.Truncate(position, w, ""); position != "" {
		position = " " + position + " "
	}
	left := ""
	if closeHint != "" && style.Width(closeHint+position)+2 < w {
		left = b.Bottom + " " + closeHint + " "
	}
	rest := strings.Repeat(b.Bottom, w+2-style.Width(left+position))
	rows = append(rows, border.Render(b.BottomLeft+left+rest+position+b.BottomRight))
	return strings.Join(rows, "\n")
}

const (
	// ListFrame is the number of lines of the frame of a List.
	ListFrame   = 2
	minList     = 36 // minimum inner width, so that the width does not change while the user types
	listPadding = 4  // cells for the cursor and gaps
)

// List draws entries in a frame, for a text that is being written: at most rows of them, on a
// screen of w cells. The selected entry is marked and visible; -1 selects none.
func List(entries []Entry, selected, rows, w int, st style.Styles) []string {
	if rows = min(rows, len(entries)); rows < 1 {
		return nil
	}
	top := min(max(0, selected-rows+1), len(entries)-rows)
	inner := minList
	for _, e := range entries {
		inner = max(inner, style.Width(visible(e.Text))+style.Width(visible(e.Extra))+listPadding)
	}
	inner = max(1, min(inner, w-frameW))
	lines := make([]string, rows)
	for i, e := range entries[top : top+rows] {
		lines[i] = e.draw(top+i == selected, "", visible(e.Text), "", inner, st)
	}
	position, at := "", selected+1
	if selected < 0 {
		at = rows
	}
	if rows < len(entries) {
		position = fmt.Sprintf("%d/%d", at, len(entries))
	}
	return strings.Split(framed("", "", position, lines, inner, st), "\n")
}

const maxVisible = 400 // maximum number of bytes of a text that are drawn

// blanks replaces what would leave the line or move in it.
var blanks = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// visible returns a text as it is drawn on one line: line breaks and tabs become blanks,
// invisible characters become visible, and a long text is cut.
func visible(text string) string {
	if len(text) <= maxVisible && style.IsPlain(text) {
		return text
	}
	if len(text) > maxVisible {
		text = strings.ToValidUTF8(text[:maxVisible], "")
	}
	return string(safetext.VisibleOnce(blanks.Replace(text)))
}

// FitHints drops clauses, which are separated by " · ", from the start until the rest fits
// in w cells. The last clause, which says how to close the overlay, always stays.
func FitHints(hints string, w int) string {
	for style.Width(hints) > w {
		_, rest, more := strings.Cut(hints, " · ")
		if !more {
			break
		}
		hints = rest
	}
	return hints
}
