package safetext

import "unicode/utf8"

// decoder turns bytes into runes across the borders of chunks. A truncated or
// impossible sequence gives one U+FFFD for its longest valid beginning, so that
// the tail of a cut character is never taken for a C1 control.
type decoder struct {
	part [utf8.UTFMax]byte
	n    int // bytes in part, always the beginning of a valid character
}

// next takes one byte. It returns the runes that are now certain: none while a
// character is incomplete, two when b ends a broken character and is one itself.
func (d *decoder) next(b byte) (out [2]rune, n int) {
	if d.n > 0 {
		d.part[d.n] = b
		if p := d.part[:d.n+1]; utf8.FullRune(p) {
			if r, size := utf8.DecodeRune(p); size == len(p) {
				d.n = 0
				out[0] = r
				return out, 1
			}
		} else {
			d.n++
			return out, 0
		}
		d.n = 0
		out[0], n = utf8.RuneError, 1
	}
	switch {
	case b < utf8.RuneSelf:
		out[n] = rune(b)
	case b >= 0xc2 && b <= 0xf4:
		d.part[0], d.n = b, 1
		return out, n
	case introduces(rune(b)) || b == c1ST:
		out[n] = rune(b) // what a terminal in 8-bit mode would obey
	default:
		out[n] = utf8.RuneError
	}
	return out, n + 1
}

// end reports whether an incomplete character was left, and forgets it.
func (d *decoder) end() bool {
	cut := d.n > 0
	d.n = 0
	return cut
}
