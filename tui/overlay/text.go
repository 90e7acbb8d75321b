package overlay

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// scroller shows lines that can be scrolled. It cuts nothing: a long line is
// wrapped. It implements the part of Overlay that a text needs.
type scroller struct {
	lines   []string // safe to show; may hold styles of ours
	wrapped []string // for width
	width   int      // 0 is not wrapped yet
	top     int      // the first line on the screen
	rows    int      // lines on the screen
}

// widest is the width of the longest line, at least least.
func (s *scroller) widest(least int) int {
	for _, l := range s.lines {
		least = max(least, ansi.StringWidth(l))
	}
	return least
}

func (s *scroller) wrap(w int) []string {
	if s.width == w {
		return s.wrapped
	}
	s.wrapped, s.width = s.wrapped[:0], w
	for _, l := range s.lines {
		if strings.Contains(l, "\x1b") { // lipgloss repeats the style on each line
			s.wrapped = append(s.wrapped, strings.Split(lipgloss.Wrap(l, max(1, w), ""), "\n")...)
		} else {
			s.wrapped = append(s.wrapped, textwidth.Wrap(l, w)...)
		}
	}
	return s.wrapped
}

// show are the lines on so many rows of w cells.
func (s *scroller) show(w, rows int) []string {
	all := s.wrap(w)
	s.rows = max(0, rows)
	s.top = min(max(s.top, 0), max(0, len(all)-s.rows))
	return slices.Clone(all[s.top:min(len(all), s.top+s.rows)])
}

// scrollKey handles the keys that scroll.
func (s *scroller) scrollKey(name string) {
	page := max(1, s.rows-1)
	switch name {
	case "up", "k", "ctrl+p":
		s.top--
	case "down", "j", "ctrl+n":
		s.top++
	case "pgup", "ctrl+u":
		s.top -= page
	case "pgdown", "ctrl+d", "space":
		s.top += page
	case "home", "g":
		s.top = 0
	case "end", "G":
		s.top = len(s.wrapped)
	}
}

// Scroll implements Overlay.
func (s *scroller) Scroll(n int) { s.top += n }

// Paste implements Overlay: a text takes none.
func (s *scroller) Paste(string) Outcome { return Stay{} }

// Click implements Overlay: a slip of the hand chooses nothing.
func (s *scroller) Click(int) Outcome { return Stay{} }

// Cursor implements Overlay.
func (s *scroller) Cursor() (x, y int, ok bool) { return 0, 0, false }

// Place implements placer: the last line on the screen, of how many.
func (s *scroller) Place() string {
	if s.rows <= 0 || len(s.wrapped) <= s.rows {
		return ""
	}
	return fmt.Sprintf("%d/%d", min(s.top+s.rows, len(s.wrapped)), len(s.wrapped))
}

// Text shows lines to read.
type Text struct {
	scroller
	title, hint string
	keys        []string
}

// NewText makes an overlay of lines that are safe to show.
func NewText(title string, lines []string) *Text {
	return &Text{title: title, scroller: scroller{lines: lines}}
}

// WithKeys lets keys choose; hint names them in the last line.
func (t *Text) WithKeys(hint string, keys ...string) *Text {
	t.hint, t.keys = strings.TrimSpace(hint), keys
	return t
}

// SetLines shows other lines, at the same place.
func (t *Text) SetLines(lines []string) { t.lines, t.width = lines, 0 }

// Hints implements hinter.
func (t *Text) Hints() string { return "↑ ↓ scroll · esc closes" }

// Title implements Overlay.
func (t *Text) Title() string { return t.title }

// Key implements Overlay.
func (t *Text) Key(name, _ string) Outcome {
	switch {
	case slices.Contains(t.keys, name):
		return Chosen{Value: name, Key: name}
	case name == "esc", name == "q", name == "enter":
		return Closed{}
	}
	t.scrollKey(name)
	return Stay{}
}

// hintRows are the lines of the hint and the gap above it.
func (t *Text) hintRows() int {
	if t.hint == "" {
		return 0
	}
	return 2
}

// Size implements Overlay.
func (t *Text) Size(w, h int) (int, int) {
	const least = 40 // a short line
	widest := min(t.widest(max(least, ansi.StringWidth(t.hint))), w*9/10)
	return widest, min(len(t.wrap(widest))+t.hintRows(), h*9/10)
}

// Body implements Overlay.
func (t *Text) Body(w, h int, st style.Styles) []string {
	lines := t.show(w, h-t.hintRows())
	if t.hint == "" {
		return lines
	}
	for len(lines) < h-1 {
		lines = append(lines, "")
	}
	return append(lines, st.Overlay.Muted.Render(t.hint))
}
