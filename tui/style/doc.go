// Package style turns a palette into the styles and symbols of every component
// of the screen, and cuts styled text to cells of the terminal.
//
// A palette is fourteen colours named by their purpose. New resolves one
// palette for the terminal at hand (dark or light, how many colours, Unicode
// or not) into a Styles value with one group per component; a component is
// given its group and never names a colour. Icons holds the symbols that repeat
// what the colours mean, so a screen without colour loses nothing.
//
// Themes lists the themes, About describes one: the configuration, the settings
// and the help read these and hold no list of their own. Every theme has a
// palette for dark and one for light backgrounds.
//
// Cut, Truncate and Wrap cut and measure as x/ansi does, with one exception: x/ansi counts
// a keycap (a digit with U+FE0F and, mostly, U+20E3) as two cells when it measures and as
// one when it cuts, so that a line cut to a width can be wider than that. Here both
// agree. Everything in tui cuts with this package and measures with ansi.StringWidth, or
// with a Cache of it.
//
// A Styles value is plain data that may be copied; make a new one with New when the
// background, the theme or the terminal changes. The functions keep no state, and may
// be called from any goroutine.
//
// # Caveats
//
// The colour "back" is never painted: the terminal's own background stays. Contrast is
// guaranteed against a background no lighter (dark) or darker (light) than it.
// Users change the sixteen colours of their terminals; the sixteen-colour palettes use
// only those that are readable with the colours of xterm and of VGA.
package style
