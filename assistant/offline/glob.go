package offline

import "strings"

// wild reports whether s holds a character that means something in a pattern.
func wild(s string) bool { return strings.ContainsAny(s, "*?[") }

// match reports whether the whole of s fits the pattern, as the window's rules
// do: `*`, `?` one code point, `[seq]`, `[!seq]`; case-sensitive. It remembers
// one star, so the cost is at most len(pattern)·len(s).
func match(pattern, s string) bool {
	p, t := []rune(pattern), []rune(s)
	pi, ti, star, mark := 0, 0, -1, 0
	for ti < len(t) {
		if pi < len(p) {
			if p[pi] == '*' {
				star, mark = pi, ti
				pi++
				continue
			}
			if n := one(p[pi:], t[ti]); n > 0 {
				pi, ti = pi+n, ti+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		pi, ti = star+1, mark
	}
	for pi < len(p) && p[pi] == '*' {
		pi++
	}
	return pi == len(p)
}

// one matches the first element of p against r and returns its length, 0 when
// it does not fit.
func one(p []rune, r rune) int {
	switch p[0] {
	case '?':
		return 1
	case '[':
		if n := class(p); n > 0 {
			if inClass(p[1:n-1], r) {
				return n
			}
			return 0
		}
	}
	if p[0] == r {
		return 1
	}
	return 0
}

// class returns the length of the bracket expression p begins with, 0 when it
// is never closed and so stands for itself.
func class(p []rune) int {
	i := 1
	if i < len(p) && p[i] == '!' {
		i++
	}
	if i < len(p) && p[i] == ']' {
		i++
	}
	for ; i < len(p); i++ {
		if p[i] == ']' {
			return i + 1
		}
	}
	return 0
}

func inClass(set []rune, r rune) bool {
	not := len(set) > 0 && set[0] == '!'
	if not {
		set = set[1:]
	}
	in := false
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			in = in || set[i] <= r && r <= set[i+2]
			i += 2
			continue
		}
		in = in || set[i] == r
	}
	return in != not
}
