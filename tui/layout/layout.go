// Package layout divides the screen.
//
// # Types
//
// A Layout says where the parts of the screen are. Arrange computes one from the size and
// from what is Shown; it is a pure function, safe from any goroutine.
package layout

import "image"

// Sizes of the screen, in cells.
const (
	MinWidth  = 40 // smaller screens cannot show a chat
	MinHeight = 12

	HeaderLines = 1
	InputFrame  = 1 // the line between chat and input

	sideBySide  = 100 // narrower screens show chat or pane, one at a time
	minInput    = 3   // lines of text in the input box
	footerLines = 1
	minHUD      = 3 // lines: a border around one line
	minBeside   = 5 // lines that chat or pane have above a HUD
)

// Layout is where the parts of the screen are. The parts never overlap and
// always cover the screen; a part may be empty. A further part needs a rectangle here and
// a keymap.Mode of its own; the HUD is an example.
type Layout struct {
	Header, Chat, Pane, HUD, Input, Footer image.Rectangle

	Small bool // too small to show anything
}

// Panes says which of chat and pane are shown.
type Panes int

// What is shown.
const (
	BothPanes Panes = iota // side by side where there is room, else the chat
	PaneFirst              // the same, and where there is no room, the pane
	ChatOnly               // there is no pane
)

// HUD says whether the context HUD is docked.
type HUD int

// How the HUD is shown. On a wide screen it is below the pane, or beside the chat when
// there is no pane; on a narrow one below what is shown there.
const (
	Undocked HUD = iota
	Docked
	Focused // a narrow screen shows nothing else above the input; a low one shows it only then
)

// HUDAs is how a HUD is shown that is docked or not, and has the focus or not.
func HUDAs(docked, focused bool) HUD {
	switch {
	case !docked:
		return Undocked
	case focused:
		return Focused
	}
	return Docked
}

// Arrange divides a w×h screen whose input wants rows lines of text.
func Arrange(w, h, rows int, show Panes, hud HUD) Layout {
	if w < MinWidth || h < MinHeight {
		return Layout{Small: true}
	}
	rows = min(max(rows, minInput), max(h/3, minInput)) + InputFrame
	top, foot := h-footerLines-rows, h-footerLines
	split := w
	switch {
	case show == ChatOnly:
	case w >= sideBySide:
		split = w * 3 / 5
	case show == PaneFirst:
		split = 0
	}
	l := Layout{
		Header: image.Rect(0, 0, w, HeaderLines),
		Chat:   image.Rect(0, HeaderLines, split, top),
		Pane:   image.Rect(split, HeaderLines, w, top),
		Input:  image.Rect(0, top, w, foot),
		Footer: image.Rect(0, foot, w, h),
	}
	l.dock(hud)
	return l
}

// dock gives the HUD its part.
func (l *Layout) dock(hud HUD) {
	w, top, bottom := l.Header.Dx(), l.Header.Max.Y, l.Input.Min.Y
	middle := bottom - top
	switch {
	case hud == Undocked:
	case w < sideBySide:
		height := max(minHUD, middle/3)
		switch {
		case hud == Focused:
			height = middle
		case middle-height < minBeside:
			return // it is there once it has the focus
		}
		l.HUD = image.Rect(0, bottom-height, w, bottom)
		l.Chat.Max.Y, l.Pane.Max.Y = l.HUD.Min.Y, l.HUD.Min.Y
	case l.Pane.Empty():
		l.Chat.Max.X = w * 3 / 5
		l.HUD = image.Rect(l.Chat.Max.X, top, w, bottom)
	default:
		l.HUD = image.Rect(l.Pane.Min.X, bottom-max(minHUD, middle/2), w, bottom)
		l.Pane.Max.Y = l.HUD.Min.Y
	}
}
