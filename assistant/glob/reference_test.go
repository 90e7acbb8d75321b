package glob

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The reference matcher goes the way of Python's fnmatch.translate: it writes
// the bracket as regular-expression text first and then reads that text as
// Python's re does. It shares no code with the package but the alphabet.

func refRunes(s string) []rune {
	var out []rune
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			r = 0xDC00 + rune(s[0])
		}
		out = append(out, r)
		s = s[size:]
	}
	return out
}

func refMatch(pattern, s string) bool {
	pat, str := refRunes(pattern), refRunes(s)
	memo := map[[2]int]bool{}
	var match func(i, j int) bool
	match = func(i, j int) bool {
		if i == len(pat) {
			return j == len(str)
		}
		key := [2]int{i, j}
		if v, ok := memo[key]; ok {
			return v
		}
		var v bool
		switch end := refBracketEnd(pat, i); {
		case pat[i] == '*':
			v = match(i+1, j) || j < len(str) && match(i, j+1)
		case pat[i] == '?':
			v = j < len(str) && match(i+1, j+1)
		case pat[i] == '[' && end > 0:
			v = j < len(str) && refBracket(pat[i+1:end], str[j]) && match(end+1, j+1)
		default:
			v = j < len(str) && str[j] == pat[i] && match(i+1, j+1)
		}
		memo[key] = v
		return v
	}
	return match(0, 0)
}

func refBracketEnd(pat []rune, i int) int {
	j := i + 1
	if j < len(pat) && pat[j] == '!' {
		j++
	}
	if j < len(pat) && pat[j] == ']' {
		j++
	}
	for j < len(pat) && pat[j] != ']' {
		j++
	}
	if j >= len(pat) {
		return -1
	}
	return j
}

func refBracket(content []rune, c rune) bool {
	stuff := refStuff(content)
	if len(stuff) == 0 {
		return false
	}
	if len(stuff) == 1 && stuff[0] == '!' {
		return true
	}
	switch stuff[0] {
	case '!':
		return !refInSet(stuff[1:], c)
	case '^', '[':
		stuff = append([]rune{'\\'}, stuff...)
	}
	return refInSet(stuff, c)
}

// refStuff is the middle part of fnmatch.translate.
func refStuff(content []rune) []rune {
	escape := func(chunk []rune) []rune {
		var out []rune
		for _, r := range chunk {
			if strings.ContainsRune(`\-&~|`, r) {
				out = append(out, '\\')
			}
			out = append(out, r)
		}
		return out
	}
	if !slices.Contains(content, '-') {
		return escape(content)
	}
	var chunks [][]rune
	i, k := 0, 1
	if content[0] == '!' {
		k = 2
	}
	for ; k < len(content); k++ {
		if content[k] == '-' {
			chunks = append(chunks, slices.Clone(content[i:k]))
			i = k + 1
			k += 2
		}
	}
	if i < len(content) {
		chunks = append(chunks, slices.Clone(content[i:]))
	} else {
		last := len(chunks) - 1
		chunks[last] = append(chunks[last], '-')
	}
	for k := len(chunks) - 1; k > 0; k-- {
		if a, b := chunks[k-1], chunks[k]; a[len(a)-1] > b[0] {
			chunks[k-1] = append(a[:len(a)-1:len(a)-1], b[1:]...)
			chunks = append(chunks[:k], chunks[k+1:]...)
		}
	}
	var out []rune
	for k, chunk := range chunks {
		if k > 0 {
			out = append(out, '-')
		}
		out = append(out, escape(chunk)...)
	}
	return out
}

// refInSet reads the inside of a regular-expression set.
func refInSet(stuff []rune, c rune) bool {
	next := func() rune {
		r := stuff[0]
		stuff = stuff[1:]
		if r == '\\' {
			r = stuff[0]
			stuff = stuff[1:]
		}
		return r
	}
	for len(stuff) > 0 {
		lo := next()
		hi := lo
		if len(stuff) > 1 && stuff[0] == '-' {
			stuff = stuff[1:]
			hi = next()
		}
		if lo <= c && c <= hi {
			return true
		}
	}
	return false
}
