package style

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Profile says how many colours the terminal shows.
type Profile int

// The profiles. The zero value is True.
const (
	True   Profile = iota // 24 bit
	Col256                // the 256 of xterm
	Col16                 // the terminal's own sixteen
	None                  // no colour at all (NO_COLOR): bold, faint, underline and reverse only
)

// wheelSize is how many rule colours there are before they repeat.
const wheelSize = 8

// colours is a palette resolved for one terminal; nil means the terminal's own.
type colours struct {
	panel, base, muted, edge, accent, bubble, onBubble, mark color.Color
	good, bad, warn, info, special                           color.Color
	onAccent                                                 color.Color // text on accent

	wheel [wheelSize]color.Color
}

// resolve picks the colours of o.
func resolve(o Options) colours {
	switch o.Colors {
	case None:
		return colours{}
	case Col16:
		if o.Dark {
			return dark16.colours()
		}
		return light16.colours()
	default:
	}
	p, wheel := o.palette()
	of := func(hex string) color.Color { return exact(hex, o.Colors) }
	c := colours{
		panel: of(p.Panel), base: of(p.Base), muted: of(p.Muted), edge: of(p.Edge), accent: of(p.Accent),
		bubble: of(p.Bubble), onBubble: of(p.OnBubble), mark: of(p.Mark), good: of(p.Good), bad: of(p.Bad),
		warn: of(p.Warn), info: of(p.Info), special: of(p.Special), onAccent: of(p.Back),
	}
	for i, hex := range wheel {
		c.wheel[i] = of(hex)
	}
	return c
}

// exact is the colour hex in the profile p, which is True or Col256.
func exact(hex string, p Profile) color.Color {
	c := lipgloss.Color(hex)
	if p == Col256 {
		return ansi.Convert256(c)
	}
	return c
}

// colours turns indexes into colours.
func (t ansi16) colours() colours {
	of := func(i int) color.Color {
		if i == none {
			return nil
		}
		return ansi.BasicColor(i)
	}
	c := colours{
		muted: of(t.muted), edge: of(t.edge), accent: of(t.accent), bubble: of(t.bubble), onBubble: of(t.onBubble),
		good: of(t.good), bad: of(t.bad), warn: of(t.warn), info: of(t.info), special: of(t.special),
		onAccent: of(t.onAccent),
	}
	for i, n := range t.wheel {
		c.wheel[i] = of(n)
	}
	return c
}

// fg is a style with the foreground c; nil leaves the terminal's own.
func fg(c color.Color) lipgloss.Style {
	if c == nil {
		return lipgloss.NewStyle()
	}
	return lipgloss.NewStyle().Foreground(c)
}

// on adds the background c to s; nil leaves the terminal's own.
func on(s lipgloss.Style, c color.Color) lipgloss.Style {
	if c == nil {
		return s
	}
	return s.Background(c)
}
