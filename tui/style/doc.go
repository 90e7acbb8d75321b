// Package style turns a palette into the styles and symbols of all components of the
// screen, and cuts styled text to terminal cells.
//
// A palette is fourteen colours named by their purpose. New resolves a palette for the
// terminal (dark or light, number of colours, Unicode or not) into a Styles value with one
// group per component. A component receives its group and never names a colour. Icons holds
// the symbols that repeat what the colours mean, so that nothing is lost on a screen
// without colour.
//
// Themes lists the themes and About describes one; the configuration, the settings and the
// help use these and have no lists of their own. Every theme has a palette for dark and one
// for light backgrounds.
//
// Cut, Truncate and Wrap cut and measure as x/ansi does, with one exception: x/ansi counts
// a keycap (a digit with U+FE0F and usually U+20E3) as two cells when it measures and as
// one when it cuts, so that its result can be wider than the requested width. In this
// package, measuring and cutting agree. All of tui cuts with this package and measures with
// ansi.StringWidth or with a Cache.
//
// A Styles value is plain data that may be copied. Make a new one with New when the
// background, the theme or the terminal changes. The functions keep no state and may be
// called from any goroutine.
//
// # Caveats
//
// The colour "back" is never painted: the terminal's own background stays. Contrast is
// guaranteed only on a dark background that is no lighter than "back", or on a light
// background that is no darker. Users can change the sixteen colours of their terminals; the
// palettes for sixteen colours use only colours that are readable in the defaults of xterm
// and of VGA.
package style
