package tuitest

import (
	"fmt"
	"image/color"

	uv "github.com/charmbracelet/ultraviolet"
)

// scheme is the colours of a terminal and of the window around it, as #rrggbb.
type scheme struct{ back, fore, muted, edge string }

// schemeOf is the scheme that the default theme is made for.
func schemeOf(dark bool) scheme {
	if dark {
		return scheme{back: "#1c1d24", fore: "#e4e4ec", muted: "#a9acbd", edge: "#3a3d4d"}
	}
	return scheme{back: "#f4f4f6", fore: "#1f2028", muted: "#525666", edge: "#c4c6cf"}
}

// paint is how a cell looks.
type paint struct {
	fore, back   string // back is "" for the terminal's own
	bold, italic bool
}

// pen is what of a paint its text is drawn with: backgrounds are drawn apart.
func (p paint) pen() paint {
	p.back = ""
	return p
}

// paint resolves a style. Reversed text changes places with its background,
// faint text lies halfway to it, and hidden text has its colour.
func (s scheme) paint(st *uv.Style) paint {
	p := paint{
		fore: s.fore, bold: st.Attrs&uv.AttrBold != 0, italic: st.Attrs&uv.AttrItalic != 0,
	}
	if st.Fg != nil {
		p.fore = hex(st.Fg)
	}
	if st.Bg != nil {
		p.back = hex(st.Bg)
	}
	behind := p.back
	if behind == "" {
		behind = s.back
	}
	if st.Attrs&uv.AttrReverse != 0 {
		p.fore, p.back, behind = behind, p.fore, p.fore
	}
	if st.Attrs&uv.AttrFaint != 0 {
		p.fore = between(p.fore, behind)
	}
	if st.Attrs&uv.AttrConceal != 0 {
		p.fore = behind
	}
	return p
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// between is the colour halfway between two.
func between(a, b string) string {
	var x, y [3]int
	for _, c := range []struct {
		text string
		to   *[3]int
	}{{a, &x}, {b, &y}} {
		_, _ = fmt.Sscanf(c.text, "#%02x%02x%02x", &c.to[0], &c.to[1], &c.to[2]) // made by hex
	}
	return fmt.Sprintf("#%02x%02x%02x", (x[0]+y[0])/2, (x[1]+y[1])/2, (x[2]+y[2])/2)
}
