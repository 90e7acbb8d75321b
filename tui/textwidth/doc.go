// Package textwidth cuts text to cells of the terminal.
//
// It cuts and measures as x/ansi does, with one exception: x/ansi counts a
// keycap (a digit with U+FE0F and, mostly, U+20E3) as two cells when it measures and as
// one when it cuts, so that a line cut to a width can be wider than that. Here both
// agree. Everything in tui cuts with this package and measures with ansi.StringWidth.
//
// The functions keep no state; any goroutine may call them.
package textwidth
