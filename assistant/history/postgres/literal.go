package postgres

import (
	"regexp/syntax"
	"unicode"
)

// required returns, for each alternative of a regular expression, the texts that each of its matches contains, in this
// order and in lower case like the search columns. It returns nil if an alternative requires no text. A letter that also
// matches another letter, as s matches ſ, ends a text.
func required(source string) (alternatives [][]string) {
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil
	}
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	branches := []*syntax.Regexp{re}
	if re.Op == syntax.OpAlternate {
		branches = re.Sub
	}
	for _, branch := range branches {
		parts := literals(branch)
		if parts == nil {
			return nil
		}
		alternatives = append(alternatives, parts)
	}
	return alternatives
}

// literals returns the literal strings that one alternative requires.
func literals(re *syntax.Regexp) (parts []string) {
	text := ""
	end := func() {
		if text != "" {
			parts = append(parts, text)
		}
		text = ""
	}
	var read func(*syntax.Regexp)
	read = func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpLiteral:
			for _, r := range re.Rune {
				if low, ok := lower(r, re.Flags&syntax.FoldCase != 0); ok {
					text += string(low)
				} else {
					end()
				}
			}
		case syntax.OpConcat, syntax.OpCapture:
			for _, sub := range re.Sub {
				read(sub)
			}
		case syntax.OpPlus, syntax.OpRepeat:
			if re.Op == syntax.OpPlus || re.Min > 0 {
				read(re.Sub[0])
			}
			end()
		case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
			syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		default: // the matched text is not fixed
			end()
		}
	}
	read(re)
	end()
	return parts
}

// lower returns a letter in lower case. ok is false if the expression also matches a letter with another lower case,
// and for letters that the search columns may have replaced.
func lower(r rune, fold bool) (low rune, ok bool) {
	low = unicode.ToLower(r)
	if r == 0 || r >= unicode.ReplacementChar && r <= '\uffff' {
		return low, false
	}
	for other := unicode.SimpleFold(r); fold && other != r; other = unicode.SimpleFold(other) {
		if unicode.ToLower(other) != low {
			return low, false
		}
	}
	return low, true
}
