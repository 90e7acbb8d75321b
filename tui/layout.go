package tui

import (
	"fmt"
	"image"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// Sizes of the screen, in cells.
const (
	paneFrom    = 100 // narrower screens show chat or pane, one at a time
	minWidth    = 40  // smaller screens cannot show a chat
	minHeight   = 12
	inputLeast  = 3 // lines of text in the input box
	headerLines = 1
	footerLines = 1
	inputFrame  = 1 // the line between chat and input
)

// layout is where the parts of the screen are. The parts never overlap and
// always cover the screen; a part may be empty.
type layout struct {
	header, chat, pane, input, footer image.Rectangle
	small                             bool // too small to show anything
}

// panes says what of chat and pane there is to show.
type panes int

const (
	bothPanes panes = iota // side by side where there is room, else the chat
	paneFirst              // the same, and where there is no room, the pane
	chatOnly               // there is no pane
)

// arrange divides a w×h screen whose input wants rows lines of text.
func arrange(w, h, rows int, show panes) layout {
	if w < minWidth || h < minHeight {
		return layout{small: true}
	}
	rows = min(max(rows, inputLeast), max(h/3, inputLeast)) + inputFrame
	top, foot := h-footerLines-rows, h-footerLines
	split := w
	switch {
	case show == chatOnly:
	case w >= paneFrom:
		split = w * 3 / 5
	case show == paneFirst:
		split = 0
	}
	return layout{
		header: image.Rect(0, 0, w, headerLines),
		chat:   image.Rect(0, headerLines, split, top),
		pane:   image.Rect(split, headerLines, w, top),
		input:  image.Rect(0, top, w, foot),
		footer: image.Rect(0, foot, w, h),
	}
}

// inside says whether a cell lies in a part.
func inside(r image.Rectangle, x, y int) bool { return image.Pt(x, y).In(r) }

// listLine is a line of a list above a text that is being written.
type listLine struct{ text, extra string }

const (
	listFrame = 2  // lines of the frame above and below
	listLeast = 36 // cells inside, so that the list keeps its width while one types
	listSides = 4  // cells of the frame and the space beside it
)

// listBox draws a framed list of at most rows lines on a screen of w cells, with
// the line at in sight and marked; -1 marks none.
func listBox(lines []listLine, at, rows, w int, st style.Styles) []string {
	if rows = min(rows, len(lines)); rows < 1 {
		return nil
	}
	top := min(max(0, at-rows+1), len(lines)-rows)
	widest := listLeast
	for _, l := range lines {
		widest = max(widest, ansi.StringWidth(l.text)+ansi.StringWidth(l.extra)+4) // the sign and gaps
	}
	inner := max(min(widest, w-listSides), 1)
	b, border := st.Border.Shape, st.Overlay.Border
	out := []string{border.Render(b.TopLeft + strings.Repeat(b.Top, inner+2) + b.TopRight)}
	for i, l := range lines[top : top+rows] {
		sign, look, muted := " ", st.Overlay.Text, st.Overlay.Muted
		if top+i == at {
			sign, look, muted = st.Icons.Selected, st.Overlay.Selected, st.Overlay.Selected
		}
		extra := textwidth.Truncate(l.extra, max(inner/2, inner-ansi.StringWidth(l.text)-4), st.Icons.Ellipsis)
		room := inner - ansi.StringWidth(extra)
		text := textwidth.Truncate(sign+" "+l.text, max(0, room-1), st.Icons.Ellipsis)
		out = append(out, border.Render(b.Left)+" "+look.Render(textwidth.Fit(text, room, ""))+muted.Render(extra)+" "+border.Render(b.Right))
	}
	place := ""
	switch last := top + rows; {
	case rows == len(lines):
	case at >= 0:
		place = fmt.Sprintf(" %d/%d ", at+1, len(lines))
	default:
		place = fmt.Sprintf(" %d/%d ", last, len(lines))
	}
	rest := max(0, inner+2-ansi.StringWidth(place))
	return append(out, border.Render(b.BottomLeft+strings.Repeat(b.Bottom, rest)+place+b.BottomRight))
}
