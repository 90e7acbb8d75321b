package tuitest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"strings"
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// PictureOptions configures SVG. The zero value is a light window without a title.
type PictureOptions struct {
	Dark  bool   // the terminal has dark default colours
	Title string // title of the window
}

// Sizes of the picture, in pixels. A cell is 0.6 of the font size wide, as the letters
// of common monospaced fonts are.
const (
	fontSize   = 15
	cellWidth  = 9
	cellHeight = 18
	ascent     = 14 // from the top of a cell to the baseline
	margin     = 12 // between the window's edge and the screen
	barHeight  = 36 // height of the title bar
	corner     = 9  // radius of the window's corners
	button     = 6  // radius of the window's buttons
)

// fonts are monospaced fonts that come with common systems.
const fonts = "Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

// picture is an SVG being written, in the colours of a terminal.
type picture struct {
	out                  bytes.Buffer
	back, fore           string
	titleColour, outline string
}

// SVG draws a frame of w×h cells. It cuts what lies outside and pads what is missing. A
// size below one cell counts as one.
func SVG(frame string, w, h int, o PictureOptions) []byte {
	w, h = max(w, 1), max(h, 1)
	p := &picture{back: "#f4f4f6", fore: "#1f2028", titleColour: "#525666", outline: "#c4c6cf"}
	if o.Dark {
		p.back, p.fore, p.titleColour, p.outline = "#1c1d24", "#e4e4ec", "#a9acbd", "#3a3d4d"
	}
	screen := uv.NewScreenBuffer(w, h)
	screen.Method = ansi.GraphemeWidth
	uv.NewStyledString(frame).Draw(screen, screen.Bounds())
	width, height := w*cellWidth+2*margin, h*cellHeight+barHeight+margin
	p.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="%s" font-size="%d">`,
		width, height, width, height, fonts, fontSize)
	p.window(width, height, ansi.Truncate(ansi.Strip(o.Title), max(w-16, 0), "…"))
	p.add(`<g shape-rendering="crispEdges">`)
	for y, row := range screen.Lines {
		for _, s := range spans(row, func(c *uv.Cell) string { return p.paint(&c.Style).back }) {
			p.add(`<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, margin+s.x*cellWidth, barHeight+y*cellHeight, s.w*cellWidth, cellHeight, s.key)
		}
	}
	p.add("</g>\n"+`<g id="screen" fill="%s" stroke-linecap="square">`, p.fore)
	for y, row := range screen.Lines {
		p.row(row, barHeight+y*cellHeight+ascent)
	}
	p.add("</g>\n</svg>")
	return p.out.Bytes()
}

// add writes a line. Its arguments must be numbers or colours, or have been escaped by
// escaped.
func (p *picture) add(format string, args ...any) {
	fmt.Fprintf(&p.out, format+"\n", args...)
}

// escaped returns text escaped for XML. Characters that XML forbids become U+FFFD.
func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a Buffer never fails
	return b.String()
}

// window draws the window and its title.
func (p *picture) window(width, height int, title string) {
	const edge = 0.5 // a line of one pixel is sharp if it runs through the middle of pixels
	p.add("<title>%s</title>", escaped(title))
	p.add(`<rect x="%g" y="%g" width="%d" height="%d" rx="%d" fill="%s" stroke="%s"/>`, edge, edge, width-1, height-1, corner, p.back, p.outline)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		p.add(`<circle cx="%d" cy="%d" r="%d" fill="%s"/>`, margin+button+i*20, barHeight/2, button, colour)
	}
	if title != "" {
		p.add(`<text x="%d" y="%d" text-anchor="middle" font-size="13" fill="%s">%s</text>`, width/2, barHeight/2+5, p.titleColour, escaped(title))
	}
}

// paint is the look of a cell.
type paint struct {
	fore, back   string // back is "" for the terminal's background
	bold, italic bool
}

// paint resolves a style. Reversed text swaps colours with its background. Faint text is
// halfway between its colour and the background, and hidden text has the colour of the
// background.
func (p *picture) paint(st *uv.Style) paint {
	out := paint{fore: p.fore, bold: st.Attrs&uv.AttrBold != 0, italic: st.Attrs&uv.AttrItalic != 0}
	if st.Fg != nil {
		out.fore = hex(st.Fg)
	}
	behind := p.back
	if st.Bg != nil {
		out.back = hex(st.Bg)
		behind = out.back
	}
	if st.Attrs&uv.AttrReverse != 0 {
		out.fore, out.back, behind = behind, out.fore, out.fore
	}
	if st.Attrs&uv.AttrFaint != 0 {
		var a, b [3]int
		_, _ = fmt.Sscanf(out.fore+behind, "#%02x%02x%02x#%02x%02x%02x", &a[0], &a[1], &a[2], &b[0], &b[1], &b[2]) // cannot fail, because hex has written both colours
		out.fore = fmt.Sprintf("#%02x%02x%02x", (a[0]+b[0])/2, (a[1]+b[1])/2, (a[2]+b[2])/2)
	}
	if st.Attrs&uv.AttrConceal != 0 {
		out.fore = behind
	}
	return out
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// span is a part of a row whose cells have the same key.
type span struct {
	x, w      int // in cells
	key, text string
}

// spans divides a row by a key of its cells. Cells with the key "" are left out.
func spans(row uv.Line, key func(*uv.Cell) string) (out []span) {
	for x := range row {
		c := &row[x]
		if c.Width <= 0 {
			continue // the character before it covers this cell
		}
		k := key(c)
		if n := len(out) - 1; n >= 0 && k != "" && out[n].key == k && out[n].x+out[n].w == x {
			out[n].w += c.Width
			out[n].text += c.Content
		} else if k != "" {
			out = append(out, span{x, c.Width, k, c.Content})
		}
	}
	return out
}

// row draws the text of a row whose baseline is y, with underlines and strikethrough. Boxes
// and blocks are drawn as paths, because fonts leave gaps between them.
func (p *picture) row(row uv.Line, y int) {
	runs := spans(row, func(c *uv.Cell) string {
		if strings.TrimSpace(c.Content) == "" {
			return ""
		}
		look := p.paint(&c.Style)
		attrs := ""
		if look.fore != p.fore {
			attrs += ` fill="` + look.fore + `"`
		}
		if look.bold {
			attrs += ` font-weight="bold"`
		}
		if look.italic {
			attrs += ` font-style="italic"`
		}
		switch r, n := utf8.DecodeRuneInString(c.Content); {
		case n == len(c.Content) && strings.ContainsRune(boxes, r):
			if strings.ContainsRune(heavy, r) {
				return fmt.Sprintf(`<path fill="none" stroke-width="3" stroke="%s"`, look.fore)
			}
			return fmt.Sprintf(`<path fill="none" stroke="%s"`, look.fore)
		case n == len(c.Content) && strings.ContainsRune(blocks, r):
			return fmt.Sprintf(`<path fill="%s"`, look.fore)
		case isPlain(c.Content):
			return "<text" + attrs
		}
		return "<text" + attrs + ` class="sign"` // a font may lack the character, so textLength fixes its width
	})
	lines := p.decorations(row)
	if len(runs)+len(lines) == 0 {
		return
	}
	p.add(`<g transform="translate(%d %d)">`, margin, y)
	for _, r := range runs {
		switch {
		case strings.HasPrefix(r.key, "<path"):
			p.add(`<g transform="translate(%d)"><title>%s</title>%s d="%s"/></g>`, r.x*cellWidth, escaped(r.text), r.key, path(r.text))
		case r.w > 1 || strings.HasSuffix(r.key, `"sign"`):
			p.add(`%s x="%d" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text>`, r.key, r.x*cellWidth, r.w*cellWidth, escaped(r.text))
		default:
			p.add(`%s x="%d">%s</text>`, r.key, r.x*cellWidth, escaped(r.text))
		}
	}
	for _, line := range lines {
		p.add("%s", line)
	}
	p.add("</g>")
}

// decorations returns the underlines and strikethrough of a row.
func (p *picture) decorations(row uv.Line) (out []string) {
	draw := func(y float64, on func(*uv.Cell) bool) {
		for _, s := range spans(row, func(c *uv.Cell) string {
			if !on(c) {
				return ""
			}
			return p.paint(&c.Style).fore
		}) {
			out = append(out, fmt.Sprintf(`<path stroke="%s" d="M%d %gh%d"/>`, s.key, s.x*cellWidth, y, s.w*cellWidth))
		}
	}
	draw(2.5, func(c *uv.Cell) bool { return c.Style.Underline != uv.UnderlineNone })
	draw(-4.5, func(c *uv.Cell) bool { return c.Style.Attrs&uv.AttrStrikethrough != 0 })
	return out
}

// isPlain reports whether content is a single character that every monospaced font has, one
// cell wide and drawn from left to right.
func isPlain(content string) bool {
	r, n := utf8.DecodeRuneInString(content)
	if n != len(content) || r == utf8.RuneError {
		return false
	}
	return r <= unicode.MaxLatin1 || unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) || strings.ContainsRune("…–•", r)
}

const (
	// boxes are the box-drawing characters: eleven light ones, the same eleven heavy, and four
	// round corners. edges says which edges of the cell (up, right, down, left) each of the
	// eleven reaches.
	boxes = light + heavy + "╭╮╰╯"
	light = "─│┌┐└┘├┤┬┴┼"
	heavy = "━┃┏┓┗┛┣┫┳┻╋"
	edges = "rl.ud.rd.dl.ur.ul.urd.udl.rdl.url.urdl"
	// blocks fill a cell partly: from the left, from below, half of it, or with a shade.
	blocks = "▏▎▍▌▋▊▉█" + "▁▂▃▄▅▆▇" + "▀▐░▒▓"
)

// path returns the path of a run of boxes and blocks, relative to the left end and the
// baseline of the run. Lines have square caps, so that there are no gaps between cells.
func path(text string) string {
	var b strings.Builder
	for i, r := range []rune(text) {
		at := strings.IndexRune(boxes, r)
		if at < 0 {
			block(&b, float64(i*cellWidth), r)
			continue
		}
		n := utf8.RuneCountInString(boxes[:at])
		shape := n % 11
		if n >= 22 {
			shape = 2 + n - 22 // a round corner, drawn without its arc
		}
		const middle = cellHeight/2.0 + 0.5 - ascent
		reach := strings.Split(edges, ".")[shape]
		x := float64(i*cellWidth) + cellWidth/2.0
		from, to := x, x
		if strings.Contains(reach, "l") {
			from = float64(i * cellWidth)
		}
		if strings.Contains(reach, "r") {
			to = float64((i + 1) * cellWidth)
		}
		if from < to {
			fmt.Fprintf(&b, "M%g %gH%g", from, middle, to)
		}
		above, below := middle, middle
		if strings.Contains(reach, "u") {
			above = -ascent
		}
		if strings.Contains(reach, "d") {
			below = cellHeight - ascent
		}
		if above < below {
			fmt.Fprintf(&b, "M%g %gV%g", x, above, below)
		}
	}
	return b.String()
}

// block draws a block whose cell begins at x, in eighths of the cell. A shade is drawn as
// stripes.
func block(b *strings.Builder, x float64, r rune) {
	const eighth, high = cellWidth / 8.0, cellHeight / 8.0
	rect := func(left, top, w, h float64) {
		fmt.Fprintf(b, "M%g %gh%gv%gh%gz", x+left*eighth, top*high-ascent, w*eighth, h*high, -w*eighth)
	}
	switch n := float64(utf8.RuneCountInString(blocks[:strings.IndexRune(blocks, r)])); {
	case n < 8:
		rect(0, 0, n+1, 8)
	case n < 15:
		rect(0, 15-n, 8, n-7)
	case r == '▀':
		rect(0, 0, 8, 4)
	case r == '▐':
		rect(4, 0, 4, 8)
	default:
		for stripe := range 4 {
			rect(0, float64(2*stripe), 8, (n-16)/2)
		}
	}
}
