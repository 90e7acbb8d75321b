package markdown

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/tui/style"
)

// face is what a style sets of how a text in a line looks. The zero value sets
// nothing.
type face struct {
	fg, bg                                           color.Color // nil leaves that of what lies below
	bold, faint, italic, underline, struck, reversed bool
}

// faceOf is the face of a style.
func faceOf(s lipgloss.Style) face {
	set := func(c color.Color) color.Color {
		if _, none := c.(lipgloss.NoColor); none {
			return nil
		}
		return c
	}
	return face{
		fg: set(s.GetForeground()), bg: set(s.GetBackground()),
		bold: s.GetBold(), faint: s.GetFaint(), italic: s.GetItalic(),
		underline: s.GetUnderline(), struck: s.GetStrikethrough(), reversed: s.GetReverse(),
	}
}

// with is f under top, which hides the colours of f where it has its own.
func (f face) with(top face) face {
	if top.fg != nil {
		f.fg = top.fg
	}
	if top.bg != nil {
		f.bg = top.bg
	}
	f.bold, f.faint, f.italic = f.bold || top.bold, f.faint || top.faint, f.italic || top.italic
	f.underline, f.struck, f.reversed = f.underline || top.underline, f.struck || top.struck, f.reversed || top.reversed
	return f
}

// sequence is what is written before a text with the face.
func (f face) sequence() string {
	var s ansi.Style
	if f.fg != nil {
		s = s.ForegroundColor(f.fg)
	}
	if f.bg != nil {
		s = s.BackgroundColor(f.bg)
	}
	if f.underline {
		s = s.Underline(true)
	}
	if f.bold {
		s = s.Bold()
	}
	if f.faint {
		s = s.Faint()
	}
	if f.italic {
		s = s.Italic(true)
	}
	if f.struck {
		s = s.Strikethrough(true)
	}
	if f.reversed {
		s = s.Reverse(true)
	}
	if len(s) == 0 {
		return ""
	}
	return s.String()
}

// faces are those of the kinds of text in a line.
type faces struct {
	text    face    // of a paragraph
	heading [6]face // by level, from 1

	words                                     face // in either, with their colour
	strong, emph, struck, code, address, link face
}

func newFaces(look style.Markdown) faces {
	f := faces{
		text: faceOf(look.Text), words: faceOf(look.Text),
		strong: faceOf(look.Strong), emph: faceOf(look.Emph), struck: faceOf(look.Strike), code: faceOf(look.Code),
		address: faceOf(look.Link), link: faceOf(look.LinkText),
	}
	f.words.fg = nil
	for i, h := range look.Heading {
		f.heading[i] = faceOf(h)
	}
	return f
}
