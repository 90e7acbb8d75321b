package glob

import "strings"

// MaxStates is how many states of the product automaton a coverage question
// may visit before it stays undecided.
const MaxStates = 200_000

// maxStateWords bounds the memory of a search, 8 bytes a word: patterns of more
// than a thousand characters together get fewer than MaxStates states.
const maxStateWords = 4 << 20

// Coverage is the answer to whether patterns cover another one.
type Coverage struct {
	Covered bool // the broad patterns match all that the narrow one matches
	// Counterexample is a shortest string that the narrow pattern matches and
	// none of the broad ones; it is meaningful when neither Covered nor
	// Undecided is set, and may be the empty string.
	Counterexample string
	Undecided      bool // the search was given up; Covered is false
	States         int  // how many states were visited; 0 when none were needed
}

// Covers reports whether broad matches every string that narrow matches.
func Covers(broad, narrow *Pattern) Coverage {
	return CoversAny([]*Pattern{broad}, narrow)
}

// CoversAny reports whether every string that narrow matches is matched by at
// least one of broad.
func CoversAny(broad []*Pattern, narrow *Pattern) Coverage {
	if covered, sure := coversByShape(broad, narrow); sure {
		return covered
	}
	if s, ok := refutingExample(broad, narrow, (*Pattern).Match); ok {
		return Coverage{Counterexample: s}
	}
	return search(broad, narrow, nil, false)
}

// RuleCovers reports whether every model id that narrow matches as a rule (see
// MatchID) is matched by at least one of the rules broad. If within is not nil
// only the ids that within matches, as a plain pattern, count.
func RuleCovers(broad []*Pattern, narrow, within *Pattern) Coverage {
	if covered, sure := coversByShape(broad, narrow); sure {
		return covered
	}
	if within == nil {
		if s, ok := refutingExample(broad, narrow, (*Pattern).MatchID); ok {
			return Coverage{Counterexample: s}
		}
	}
	return search(broad, narrow, within, true)
}

// refutingExample returns the example of narrow if no broad pattern matches it.
// As no match of narrow is shorter, as a pattern or as a rule, no
// counterexample is either.
func refutingExample(broad []*Pattern, narrow *Pattern, match func(*Pattern, string) bool) (string, bool) {
	s, _ := narrow.Example()
	if !match(narrow, s) { // bad bytes that joined to a character
		return "", false
	}
	for _, p := range broad {
		if match(p, s) {
			return "", false
		}
	}
	return s, true
}

// coversByShape answers the questions that need no search. What it says of
// patterns holds for rules as well, for rules widen both sides alike.
func coversByShape(broad []*Pattern, narrow *Pattern) (c Coverage, sure bool) {
	covered := narrow.never
	for _, p := range broad {
		fixed, literal := p.Literal()
		same, isLiteral := narrow.Literal()
		switch {
		case literal:
			covered = covered || isLiteral && same == fixed
		case !p.stars || !p.head.plain || !p.tail.plain:
		case len(p.middle) == 0 && p.tail.text == "": // abc*
			covered = covered || strings.HasPrefix(narrow.Prefix(), p.head.text)
		case len(p.middle) == 0 && p.head.text == "": // *abc
			covered = covered || strings.HasSuffix(narrow.Suffix(), p.tail.text)
		case len(p.middle) == 1 && p.middle[0].plain && p.head.text == "" && p.tail.text == "": // *abc*
			covered = covered || strings.Contains(narrow.Core(), p.middle[0].text)
		}
	}
	return Coverage{Covered: covered}, covered
}
