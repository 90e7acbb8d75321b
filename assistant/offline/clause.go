package offline

import "strings"

// clause is a run of tokens that holds one request.
type clause struct {
	toks []token
	semi bool // it follows a semicolon, so it may continue the one before
}

// clauses divides a message: always at ; . ! ? and "then", and at a comma, a
// line break or "and" when a verb follows; else those join a list.
func clauses(toks []token) []clause {
	var out []clause
	var cur []token
	semi := false
	cut := func(nextSemi bool) {
		for len(cur) > 0 && (cur[len(cur)-1].lexeme == comma || joins(cur[len(cur)-1])) {
			cur = cur[:len(cur)-1]
		}
		if len(cur) > 0 {
			out = append(out, clause{cur, semi})
		}
		cur, semi = nil, nextSemi
	}
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		switch {
		case t.lexeme == stop:
			cut(t.semi)
			continue
		case t.lexeme == word && (t.lower == "then" || t.lower == "afterwards"):
			cut(false)
			continue
		case t.lexeme == comma || joins(t):
			if startsRequest(toks[i:]) {
				cut(false)
				continue
			}
		}
		cur = append(cur, t)
	}
	cut(false)
	return out
}

// joins reports a word that joins list items or requests.
func joins(t token) bool {
	if t.lexeme != word {
		return false
	}
	switch t.lower {
	case "and", "&", "+", "also", "plus", "but":
		return true
	}
	return false
}

// startsRequest reports whether a verb follows the joining words toks begins with.
func startsRequest(toks []token) bool {
	for len(toks) > 0 && (toks[0].lexeme == comma || joins(toks[0])) {
		toks = toks[1:]
	}
	rest := skipFillers(toks)
	k, n := verb(rest)
	if n == 0 {
		return false
	}
	switch k {
	case greet, thanks, yes, no, help, verbMake:
		return n == len(rest)
	case hide:
		return rest[0].lower != "no" || n < len(rest)
	default:
	}
	if n == 1 { // words that are as often a part of a model's name
		switch rest[0].lower {
		case "search", "status", "count", "match", "open", "overview", "summary", "command", "store":
			return false
		}
	}
	return true
}

// skipFillers drops words before a request that mean nothing. It stops before
// anything that a verb begins with.
func skipFillers(toks []token) []token {
	for len(toks) > 0 {
		if toks[0].lexeme == comma {
			toks = toks[1:]
			continue
		}
		_, n := verb(toks)
		if o := opening(toks); o > 0 && o >= n {
			toks = toks[o:]
			continue
		}
		if n > 1 || toks[0].lexeme != word || !fillers[toks[0].lower] {
			return toks
		}
		if len(toks) == 1 || toks[1].lexeme == comma && len(toks) == 2 { // "ok", "hi": an answer by itself
			return toks
		}
		toks = toks[1:]
	}
	return toks
}

// opening returns the length of the longest opening toks begins with.
func opening(toks []token) int {
	best := 0
	for _, o := range openings {
		if n := begins(toks, strings.Fields(o)); n > best {
			best = n
		}
	}
	return best
}

// begins returns len(words) when toks begins with them, else 0.
func begins(toks []token, words []string) int {
	if len(toks) < len(words) {
		return 0
	}
	for i, w := range words {
		if toks[i].lexeme != word || toks[i].lower != w {
			return 0
		}
	}
	return len(words)
}

// verb returns the kind of the longest phrase toks begins with, and its length.
func verb(toks []token) (kind, int) {
	if len(toks) == 0 || toks[0].lexeme != word {
		return unknown, 0
	}
	for _, p := range dictionary[toks[0].lower] {
		if n := begins(toks, p.words); n > 0 {
			return p.kind, n
		}
	}
	return unknown, 0
}

// dropClosings strips words after a request that mean nothing.
func dropClosings(toks []token) []token {
	for len(toks) > 0 {
		last := toks[len(toks)-1]
		if last.lexeme == quoted || last.lexeme == word && !closings[last.lower] && !joins(last) {
			break
		}
		toks = toks[:len(toks)-1]
	}
	return toks
}

// spoken is the clause as typed.
func spoken(toks []token) string {
	var b strings.Builder
	for _, t := range toks {
		if t.lexeme == comma {
			b.WriteByte(',')
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// has reports whether any token is one of words, and where the first is.
func has(toks []token, words map[string]bool) (int, bool) {
	for i, t := range toks {
		if t.lexeme == word && words[t.lower] {
			return i, true
		}
	}
	return -1, false
}

// without returns toks without the words in drop.
func without(toks []token, drop map[string]bool) []token {
	out := make([]token, 0, len(toks))
	for _, t := range toks {
		if t.lexeme != word || !drop[t.lower] {
			out = append(out, t)
		}
	}
	return out
}
