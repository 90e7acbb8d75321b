package tui

import "image"

// Sizes of parts of the screen, in cells.
const (
	minWidth  = 40 // smaller screens show only that they are too small
	minHeight = 12

	headerLines = 1
	inputFrame  = 1 // the line between chat and input

	sideBySide  = 100 // narrower screens show only chat or pane
	minInput    = 3   // lines of text in the input box
	footerLines = 1
	minHUD      = 3 // height in lines: a border around one line
	minBeside   = 5 // minimum lines of chat or pane above a docked HUD on a narrow screen
)

// screenLayout contains the rectangles of the parts of the screen. They never overlap and
// always cover the screen; a part may be empty. A new part needs a rectangle here and its
// own keymap.Mode; see the HUD for an example.
type screenLayout struct {
	Header, Chat, Pane, HUD, Input, Footer image.Rectangle
	Divider                                image.Rectangle // the line between the chat and its neighbour on the right

	Small bool // too small to show anything
}

// panesShown selects which of chat and pane are shown.
type panesShown int

// The choices for chat and pane.
const (
	bothPanes panesShown = iota // side by side if there is room, otherwise the chat
	paneFirst                   // side by side if there is room, otherwise the pane
	chatOnly                    // there is no pane, or it is hidden
	paneOnly                    // the pane has the full width
)

// hudShown selects how the context HUD is shown.
type hudShown int

// How the HUD is shown. On a wide screen it is below the pane, or next to the chat if there
// is no pane. On a narrow screen it is below whichever of chat and pane is shown.
const (
	hudUndocked hudShown = iota
	hudDocked
	hudFocused // a narrow screen shows only the HUD above the input; a narrow and low screen shows the HUD only in this case
)

// hudAs returns how to show a HUD.
func hudAs(docked, focused bool) hudShown {
	switch {
	case !docked:
		return hudUndocked
	case focused:
		return hudFocused
	}
	return hudDocked
}

// arrange divides a w×h screen whose input has rows lines of text.
func arrange(w, h, rows int, show panesShown, hud hudShown) screenLayout {
	if w < minWidth || h < minHeight {
		return screenLayout{Small: true}
	}
	rows = min(max(rows, minInput), max(h/3, minInput)) + inputFrame
	top, foot := h-footerLines-rows, h-footerLines
	split := w
	switch {
	case show == chatOnly:
	case show == paneOnly:
		split = 0
	case w >= sideBySide:
		split = chatCells(w)
	case show == paneFirst:
		split = 0
	}
	l := screenLayout{
		Header: image.Rect(0, 0, w, headerLines),
		Chat:   image.Rect(0, headerLines, split, top),
		Pane:   image.Rect(split, headerLines, w, top),
		Input:  image.Rect(0, top, w, foot),
		Footer: image.Rect(0, foot, w, h),
	}
	l.dock(hud)
	if l.Chat.Dx() > 0 && l.Chat.Dx() < w {
		l.Divider = image.Rect(l.Chat.Max.X-1, headerLines, l.Chat.Max.X, top)
		l.Chat.Max.X--
	}
	return l
}

// chatCells returns the width of the chat, including the divider, if something is next to
// the chat.
func chatCells(w int) int { return w * 3 / 5 }

// dock gives the HUD its rectangle and shrinks its neighbours.
func (l *screenLayout) dock(hud hudShown) {
	w, top, bottom := l.Header.Dx(), l.Header.Max.Y, l.Input.Min.Y
	middle := bottom - top
	switch {
	case hud == hudUndocked:
	case w < sideBySide:
		height := max(minHUD, middle/3)
		switch {
		case hud == hudFocused:
			height = middle
		case middle-height < minBeside:
			return // the HUD is shown once it has the focus
		}
		l.HUD = image.Rect(0, bottom-height, w, bottom)
		l.Chat.Max.Y, l.Pane.Max.Y = l.HUD.Min.Y, l.HUD.Min.Y
	case l.Pane.Empty():
		l.Chat.Max.X = chatCells(w)
		l.HUD = image.Rect(l.Chat.Max.X, top, w, bottom)
	default:
		l.HUD = image.Rect(l.Pane.Min.X, bottom-max(minHUD, middle/2), w, bottom)
		l.Pane.Max.Y = l.HUD.Min.Y
	}
}
