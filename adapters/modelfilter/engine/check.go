package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"winnow/adapters/dotenv"
	"winnow/assistant/glob"
)

// Reason is why a pattern is rejected.
type Reason uint8

// Reasons to reject a pattern.
const (
	Empty      Reason = iota // nothing is left after trimming
	Duplicate                // the list already contains this pattern
	Unwritable               // the rule file cannot contain this pattern
	Covered                  // a rule in the list matches everything that this pattern matches
)

// Refusal is the error for a pattern that Check rejects.
type Refusal struct {
	Reason  Reason
	List    List
	Pattern string   // trimmed
	By      []string // for Duplicate and Covered: the rules that make the pattern redundant, in order
	Detail  string   // for Unwritable: the part of the pattern that cannot be written
}

// Error returns the reason in one line.
func (r *Refusal) Error() string {
	return r.Text(func(patterns []string) string {
		quoted := make([]string, len(patterns))
		for i, p := range patterns {
			quoted[i] = strconv.Quote(p)
		}
		return strings.Join(quoted, ", ")
	})
}

// Text returns the reason in one line, with patterns formatted by quote.
func (r *Refusal) Text(quote func(patterns []string) string) string {
	pattern := "pattern " + quote([]string{r.Pattern})
	switch r.Reason {
	case Empty:
		return "the pattern is empty"
	case Duplicate:
		return fmt.Sprintf("%s is already in the %s list", pattern, r.List)
	case Unwritable:
		return fmt.Sprintf("%s cannot be saved: it contains %s", pattern, r.Detail)
	default:
	}
	rules := "rule"
	if len(r.By) > 1 {
		rules = "rules"
	}
	return fmt.Sprintf("%s is already covered by the %s %s %s", pattern, r.List, rules, quote(r.By))
}

// Verdict is the result of Check for a pattern that may be added.
type Verdict struct {
	Pattern   string   // the trimmed pattern, which should be added
	Redundant []string // rules of the list that the pattern covers, in order
	Undecided []string // rules of the list that may cover the pattern or be covered by it
}

// Check decides whether pattern, once trimmed, should be added to the list. If not, the error
// is a *Refusal.
func (e *Engine) Check(list List, pattern string) (Verdict, error) {
	pattern = strings.TrimSpace(pattern)
	refusal := &Refusal{List: list, Pattern: pattern}
	if pattern == "" {
		return Verdict{}, refusal
	}
	if refusal.Detail = unwritable(pattern); refusal.Detail != "" {
		refusal.Reason = Unwritable
		return Verdict{}, refusal
	}
	rules := e.lists[list].rules
	if slices.ContainsFunc(rules, func(r *rule) bool { return r.pattern.String() == pattern }) {
		refusal.Reason, refusal.By = Duplicate, []string{pattern}
		return Verdict{}, refusal
	}
	v := Verdict{Pattern: pattern}
	added, search := e.newRule(pattern), &coverageSearch{engine: e}
	undecided := make([]bool, len(rules))
	for i, r := range rules {
		switch search.covers(r, added) {
		case yes:
			refusal.Reason, refusal.By = Covered, append(refusal.By, r.pattern.String())
		case maybe:
			undecided[i] = true
		default:
		}
	}
	if refusal.Reason == Covered {
		return Verdict{}, refusal
	}
	for i, r := range rules {
		switch search.covers(added, r) {
		case yes:
			v.Redundant = append(v.Redundant, r.pattern.String())
		case maybe:
			undecided[i] = true
		default:
		}
		if undecided[i] {
			v.Undecided = append(v.Undecided, r.pattern.String())
		}
	}
	return v, nil
}

// unwritable describes the part of pattern that the rule file cannot contain or a person
// would not see: "a comma". It returns "" if there is none.
func unwritable(pattern string) string {
	if part := dotenv.Unlistable(pattern); part != "" || !strings.ContainsFunc(pattern, unicode.IsControl) {
		return part
	}
	return "a control character"
}

// answer is the result of a coverage search.
type answer uint8

const (
	no answer = iota
	yes
	maybe
)

// maxUndecided is how many coverage searches may end undecided in one call to the engine
// before it stops searching; each takes most of a second.
const maxUndecided = 4

// coverageSearch decides coverage between rules during one call to the engine.
type coverageSearch struct {
	engine    *Engine
	undecided int // undecided searches so far
}

// covers reports whether broad matches all ids of the provider that narrow matches. The
// models and an example settle most pairs; the others need a search.
func (s *coverageSearch) covers(broad, narrow *rule) answer {
	if !narrow.matches.subsetOf(broad.matches) {
		return no
	}
	if example, matches := narrow.example(); matches && !broad.pattern.MatchID(example) {
		return no
	}
	if s.undecided == maxUndecided {
		return maybe
	}
	return s.search(broad, narrow)
}

// search decides coverage for the ids that the proxy filters: ids of the provider and ids
// without a slash. Since an id without a slash has no segment to leave out, the patterns
// themselves are compared for such ids, unless narrow has a slash before its first bracket
// and therefore matches no such id.
func (s *coverageSearch) search(broad, narrow *rule) answer {
	c := glob.RuleCovers(broad.pattern, narrow.pattern, s.engine.within)
	beforeBracket, _, _ := strings.Cut(narrow.pattern.String(), "[")
	if c.Covered && !strings.Contains(beforeBracket, "/") {
		c = glob.Covers(broad.pattern, narrow.pattern)
	}
	switch {
	case c.Undecided:
		s.undecided++
		return maybe
	case c.Covered:
		return yes
	}
	return no
}
