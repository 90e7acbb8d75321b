package tui

import (
	"fmt"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// painted is one frame in two palettes as text: what it says, then the colours
// as runs of letters, and what each letter is in the dark and in the light
// palette. Cells that look alike in both have one letter.
func painted(dark, light string, w, h int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d×%d\n%s", w, h, plainFrame(dark))
	d, l := cellsOf(dark, w, h), cellsOf(light, w, h)
	letters, legend := map[string]string{}, []string{}
	for y := range h {
		last, n := "", 0
		flush := func() {
			if n > 0 {
				fmt.Fprintf(&b, "%s%d ", last, n)
			}
		}
		for x := range w {
			look := lookOf(d[y][x]) + " | " + lookOf(l[y][x])
			if d[y][x].Content != l[y][x].Content {
				look += " | differs"
			}
			letter, known := letters[look]
			if !known {
				letter = letterOf(len(letters))
				letters[look] = letter
				legend = append(legend, letter+" "+look)
			}
			if letter != last {
				flush()
				last, n = letter, 0
			}
			n++
		}
		flush()
		b.WriteString("\n")
	}
	return b.String() + strings.Join(legend, "\n") + "\n\n"
}

// letterOf names the n-th look: a, b, …, z, aa, ab, ….
func letterOf(n int) string {
	if n < 26 {
		return string(rune('a' + n))
	}
	return letterOf(n/26-1) + string(rune('a'+n%26))
}

func cellsOf(frame string, w, h int) []uv.Line {
	buffer := uv.NewScreenBuffer(w, h)
	buffer.Method = ansi.GraphemeWidth
	uv.NewStyledString(frame).Draw(buffer, buffer.Bounds())
	return buffer.Lines
}

// lookOf is the style of a cell in words. The cells after a wide rune have none
// of their own.
func lookOf(c uv.Cell) string {
	if c.Width == 0 {
		return "-"
	}
	words := []string{hexOf(c.Style.Fg), "on " + hexOf(c.Style.Bg)}
	for _, a := range []struct {
		bit  uint8
		name string
	}{
		{uv.AttrBold, "bold"},
		{uv.AttrFaint, "faint"},
		{uv.AttrItalic, "italic"},
		{uv.AttrReverse, "reverse"},
		{uv.AttrStrikethrough, "struck"},
		{uv.AttrBlink, "blinks"},
		{uv.AttrConceal, "hidden"},
	} {
		if c.Style.Attrs&a.bit != 0 {
			words = append(words, a.name)
		}
	}
	if c.Style.Underline != 0 {
		words = append(words, "underlined")
	}
	return strings.Join(words, " ")
}

func hexOf(c color.Color) string {
	if c == nil {
		return "default"
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
