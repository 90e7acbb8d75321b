package glob

import "strings"

// MaxStates is how many states of the product automaton a coverage question
// may visit before it stays undecided.
const MaxStates = 200_000

// maxStateWords bounds the memory of a search, 8 bytes a word: patterns of more
// than a thousand characters together get fewer than MaxStates states.
const maxStateWords = 4 << 20

// Coverage is the answer to whether a pattern covers another one.
type Coverage struct {
	Covered bool // the broad pattern matches all that the narrow one matches
	// Counterexample is a shortest string that the narrow pattern matches and
	// the broad one does not; it is meaningful when neither Covered nor
	// Undecided is set, and may be the empty string.
	Counterexample string
	Undecided      bool // the search was given up; Covered is false
	States         int  // how many states were visited; 0 when none were needed
}

// Covers reports whether broad matches every string that narrow matches.
func Covers(broad, narrow *Pattern) Coverage {
	if coversByShape(broad, narrow) {
		return Coverage{Covered: true}
	}
	if s, ok := refutingExample(broad, narrow, (*Pattern).Match); ok {
		return Coverage{Counterexample: s}
	}
	return search(broad, narrow, nil, false)
}

// RuleCovers reports whether the rule broad matches every model id that narrow
// matches as a rule (see MatchID). If within is not nil only the ids that within
// matches, as a plain pattern, count.
func RuleCovers(broad, narrow, within *Pattern) Coverage {
	if coversByShape(broad, narrow) {
		return Coverage{Covered: true}
	}
	if within == nil {
		if s, ok := refutingExample(broad, narrow, (*Pattern).MatchID); ok {
			return Coverage{Counterexample: s}
		}
	}
	return search(broad, narrow, within, true)
}

// refutingExample returns the example of narrow if broad does not match it. As no
// match of narrow is shorter, as a pattern or as a rule, no counterexample is either.
func refutingExample(broad, narrow *Pattern, match func(*Pattern, string) bool) (string, bool) {
	s, _ := narrow.Example()
	return s, match(narrow, s) && !match(broad, s) // narrow does not match s if bad bytes in a row are a valid character
}

// coversByShape answers the questions that need no search. What is true of
// patterns is true of rules as well, because rules widen both sides alike.
func coversByShape(broad, narrow *Pattern) bool {
	broadText, broadIsLiteral := broad.Literal()
	narrowText, narrowIsLiteral := narrow.Literal()
	head, tail := broad.head.text, broad.tail.text
	switch {
	case narrow.never:
		return true
	case broadIsLiteral:
		return narrowIsLiteral && narrowText == broadText
	case !broad.stars || !broad.head.plain || !broad.tail.plain:
		return false
	case len(broad.middle) == 0 && tail == "": // abc*
		return strings.HasPrefix(narrow.Prefix(), head)
	case len(broad.middle) == 0 && head == "": // *abc
		return strings.HasSuffix(narrow.Suffix(), tail)
	case len(broad.middle) == 1 && broad.middle[0].plain && head+tail == "": // *abc*
		return strings.Contains(narrow.Core(), broad.middle[0].text)
	}
	return false
}
