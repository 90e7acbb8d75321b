package tuitest

import (
	"bytes"
	"encoding/xml"
	"fmt"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// PictureOptions configures SVG. The zero value is a light window without a title.
type PictureOptions struct {
	Dark  bool   // what the terminal's own colours are
	Title string // of the window
}

// Sizes of the picture, in pixels. A cell is as wide as a letter of the usual
// monospaced fonts, which is 0.6 of their size.
const (
	fontSize   = 15
	cellWidth  = 9
	cellHeight = 18
	ascent     = 14 // from the top of a cell to the line that letters stand on
	margin     = 12 // between the window's edge and the screen
	barHeight  = 36 // of the bar with the title
	corner     = 9  // radius of the window's corners
	button     = 6  // radius of the window's buttons
)

// fonts are the monospaced fonts that the common systems bring with them.
const fonts = "Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

// SVG draws a frame of w×h cells. What lies outside is cut off, what is missing
// is empty; a size below one cell counts as one.
func SVG(frame string, w, h int, o PictureOptions) []byte {
	w, h = max(w, 1), max(h, 1)
	p := &picture{scheme: schemeOf(o.Dark)}
	screen := cells(frame, w, h)
	width, height := w*cellWidth+2*margin, h*cellHeight+barHeight+margin
	p.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="%s" font-size="%d">`,
		width, height, width, height, fonts, fontSize)
	p.window(width, height, ansi.Truncate(ansi.Strip(o.Title), max(w-16, 0), "…"))
	p.add(`<g shape-rendering="crispEdges">`)
	for y, row := range screen {
		p.backgrounds(row, barHeight+y*cellHeight)
	}
	p.add("</g>\n"+`<g id="screen" fill="%s" stroke-linecap="square">`, p.scheme.fore)
	for y, row := range screen {
		p.row(row, barHeight+y*cellHeight+ascent)
	}
	p.add("</g>\n</svg>")
	return p.out.Bytes()
}

// cells reads a frame as a terminal of this size does.
func cells(frame string, w, h int) []uv.Line {
	buffer := uv.NewScreenBuffer(w, h)
	buffer.Method = ansi.GraphemeWidth
	uv.NewStyledString(frame).Draw(buffer, buffer.Bounds())
	return buffer.Lines
}

// picture is an SVG that is being written.
type picture struct {
	out    bytes.Buffer
	scheme scheme
}

// add writes a line. Its arguments are numbers and colours, or were made safe
// by escaped.
func (p *picture) add(format string, args ...any) {
	fmt.Fprintf(&p.out, format+"\n", args...)
}

// escaped is text as it stands in XML. Characters that XML has no place for
// become U+FFFD.
func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a Buffer takes everything
	return b.String()
}

// window draws the window and its title.
func (p *picture) window(width, height int, title string) {
	const edge = 0.5 // a line of one pixel lies on the pixels when it runs through their middle
	p.add("<title>%s</title>", escaped(title))
	p.add(`<rect x="%g" y="%g" width="%d" height="%d" rx="%d" fill="%s" stroke="%s"/>`,
		edge, edge, width-1, height-1, corner, p.scheme.back, p.scheme.edge)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		p.add(`<circle cx="%d" cy="%d" r="%d" fill="%s"/>`, margin+button+i*20, barHeight/2, button, colour)
	}
	if title != "" {
		p.add(`<text x="%d" y="%d" text-anchor="middle" font-size="13" fill="%s">%s</text>`,
			width/2, barHeight/2+5, p.scheme.muted, escaped(title))
	}
}

// backgrounds draws what lies behind the text of a row whose top is at y.
func (p *picture) backgrounds(row uv.Line, y int) {
	for _, s := range spans(row, func(c *uv.Cell) string { return p.scheme.paint(&c.Style).back }) {
		p.add(`<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, margin+s.x*cellWidth, y, s.w*cellWidth, cellHeight, s.key)
	}
}

// row draws the text of a row whose letters stand on y.
func (p *picture) row(row uv.Line, y int) {
	all := p.runs(row)
	lines := p.decorations(row)
	if len(all) == 0 && len(lines) == 0 {
		return
	}
	p.add(`<g transform="translate(%d %d)">`, margin, y)
	for _, r := range all {
		if r.form.kind == letters || r.form.kind == sign {
			p.letters(r)
		} else {
			p.shape(r)
		}
	}
	for _, d := range lines {
		p.add("%s", d)
	}
	p.add("</g>")
}

// letters draws a run of text. The width is given, so that neither the font
// nor a character that it lacks moves what follows.
func (p *picture) letters(r run) {
	extra := ""
	if r.paint.fore != p.scheme.fore {
		extra += ` fill="` + r.paint.fore + `"`
	}
	if r.paint.bold {
		extra += ` font-weight="bold"`
	}
	if r.paint.italic {
		extra += ` font-style="italic"`
	}
	if r.w > 1 || r.form.kind == sign {
		extra += fmt.Sprintf(` textLength="%d" lengthAdjust="spacingAndGlyphs"`, r.w*cellWidth)
	}
	p.add(`<text x="%d"%s>%s</text>`, r.x*cellWidth, extra, escaped(r.text))
}

// decorations are the lines under and through the text of a row.
func (p *picture) decorations(row uv.Line) []string {
	const under, through = 2.5, -4.5
	var out []string
	draw := func(y float64, on func(*uv.Cell) bool) {
		key := func(c *uv.Cell) string {
			if !on(c) {
				return ""
			}
			return p.scheme.paint(&c.Style).fore
		}
		for _, s := range spans(row, key) {
			out = append(out, fmt.Sprintf(`<path stroke="%s" d="M%d %gh%d"/>`, s.key, s.x*cellWidth, y, s.w*cellWidth))
		}
	}
	draw(under, func(c *uv.Cell) bool { return c.Style.Underline != uv.UnderlineNone })
	draw(through, func(c *uv.Cell) bool { return c.Style.Attrs&uv.AttrStrikethrough != 0 })
	return out
}
