package tui

import (
	"fmt"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// painted is one frame in several looks as text: what it says in the first, then the
// looks as runs of letters, and what each letter is in each of them. Cells that look
// alike in all have one letter; one with another content in a look names it.
func painted(frames []string, w, h int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d×%d\n%s", w, h, plainFrame(frames[0]))
	cells := make([][]uv.Line, len(frames))
	for i, frame := range frames {
		cells[i] = cellsOf(frame, w, h)
	}
	letters, legend, names := map[string]string{}, []string{}, map[uv.Style]string{}
	for y := range h {
		last, n := "", 0
		flush := func() {
			if n > 0 {
				fmt.Fprintf(&b, "%s%d ", last, n)
			}
		}
		for x := range w {
			look := ""
			for i := range cells {
				c := cells[i][y][x]
				if look += " | " + lookOf(c, names); c.Content != cells[0][y][x].Content {
					look += " " + c.Content
				}
			}
			letter, known := letters[look]
			if !known {
				letter = letterOf(len(letters))
				letters[look] = letter
				legend = append(legend, letter+look[2:])
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

// worded is one frame in several looks as text: what it says in the first, then each line
// of another look, by its number, that says something else.
func worded(frames []string, w, h int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d×%d\n%s", w, h, plainFrame(frames[0]))
	first := strings.Split(plainFrame(frames[0]), "\n")
	for i, frame := range frames[1:] {
		for y, line := range strings.Split(plainFrame(frame), "\n") {
			if line != first[y] {
				fmt.Fprintf(&b, "look %d, line %d: %s\n", i+2, y+1, line)
			}
		}
	}
	return b.String() + "\n"
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

// lookOf is the style of a cell in words, which it adds to names. The cells after a wide
// rune have none of their own.
func lookOf(c uv.Cell, names map[uv.Style]string) string {
	if c.Width == 0 {
		return "-"
	}
	name, known := names[c.Style]
	if !known {
		name = styleName(c.Style)
		names[c.Style] = name
	}
	return name
}

func styleName(s uv.Style) string {
	words := []string{hexOf(s.Fg), "on " + hexOf(s.Bg)}
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
		if s.Attrs&a.bit != 0 {
			words = append(words, a.name)
		}
	}
	if s.Underline != 0 {
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
