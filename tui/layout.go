package tui

import "image"

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
