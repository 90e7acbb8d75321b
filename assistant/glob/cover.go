package glob

import "strings"

// MaxStates is the number of states of the product automaton that a coverage search may visit before it gives up.
const MaxStates = 200_000

// maxStateWords limits the memory of a search, in words of 8 bytes. If the broad pattern has more than about 1,300
// tokens, the search gives up before it has visited MaxStates states.
const maxStateWords = 4 << 20

// Coverage is the answer to the question whether one pattern covers another.
type Coverage struct {
	Covered bool // the broad pattern matches everything that the narrow one matches
	// Counterexample is a shortest string that the narrow pattern matches but the broad one does not. It is meaningful
	// only if neither Covered nor Undecided is set, and may be empty.
	Counterexample string
	Undecided      bool // the search gave up; Covered is false
	States         int  // number of visited states; 0 if no search was needed
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

// RuleCovers reports whether the rule broad matches every model id that the rule narrow matches (see MatchID). If
// within is not nil, only ids that within matches as a plain pattern are considered.
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

// refutingExample returns the example of narrow, and whether it refutes coverage because broad does not match it. It is
// then a shortest counterexample, because narrow has no shorter match, as a pattern or as a rule.
func refutingExample(broad, narrow *Pattern, match func(*Pattern, string) bool) (string, bool) {
	s, _ := narrow.Example()
	return s, match(narrow, s) && !match(broad, s) // narrow may not match s if consecutive bad bytes form a valid character
}

// coversByShape reports whether the shapes of the patterns alone show that broad covers narrow. It is valid for patterns
// and rules, because treating both as rules widens them in the same way.
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
