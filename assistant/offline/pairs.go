package offline

import (
	"slices"
	"strconv"
	"strings"
)

// pairSet is pairs of the chat history in words.
type pairSet struct {
	ids   []int    // numbers
	terms []string // of a filter line, all of which hold
	words []string // that stand in the texts
	them  bool     // those of the result before
}

func (p pairSet) empty() bool { return len(p.ids)+len(p.terms)+len(p.words) == 0 && !p.them }

// filterLine is the line of the filter language that selects the pairs. Words
// are looked for in other sessions: this one repeats them.
func (p pairSet) filterLine() string {
	terms := slices.Clone(p.terms)
	for _, w := range p.words {
		terms = append(terms, "c'"+literal(w)+"'")
	}
	if len(p.words) > 0 && !slices.Contains(terms, "x") {
		terms = append(terms, "!x")
	}
	return strings.Join(terms, " ")
}

// literal keeps text inside quotes of the filter language from meaning anything.
func literal(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`, `*`, `\*`).Replace(s)
}

var (
	// pairFillers select nothing.
	pairFillers = set("all of any every pair pairs message messages question questions answer answers chat chats conversation conversations what which " +
		"that is was were are am do did does there have has with i we said says say talked talk asked ask something anything everything where when " +
		"for to and or history number numbers ones in from about containing mentioning")
	// pairTerms are words that are a term of the filter language.
	pairTerms = map[string]string{
		"starred": "s>0", "unstarred": "s0", "flagged": "b", "unflagged": "g", "failed": "e", "errors": "e", "today": "d<1d", "yesterday": "d<2d !d<1d",
	}
	// ageUnits are units of age.
	ageUnits = map[string]string{"hour": "h", "day": "d", "week": "w", "month": "mo", "year": "y"}
)

// maxPairNumbers bounds how many pairs are named one by one, as the tools do.
const maxPairNumbers = 1000

// readPairs reads which pairs tokens mean.
func readPairs(tokens []token) pairSet {
	var out pairSet
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		next := func(n int) token { return append(tokens[i+1:len(tokens):len(tokens)], token{}, token{})[n] }
		ids := idsOfRuns(strings.TrimPrefix(t.lower, "#"))
		switch {
		case t.kind == comma || t.kind == stop:
		case t.kind == quoted:
			out.words = append(out.words, t.text)
		case len(ids) > 0 && len(out.ids)+len(ids) <= maxPairNumbers:
			out.ids = append(out.ids, ids...)
		case t.is("last", "latest", "newest"):
			n := number(next(0).lower)
			if n > 0 {
				i++
			}
			if unit := ageUnits[strings.TrimSuffix(next(0).lower, "s")]; unit != "" {
				i++
				out.terms = append(out.terms, "d<"+strconv.Itoa(max(n, 1))+unit)
			} else {
				out.terms = append(out.terms, "r"+strconv.Itoa(max(n, 1)+1)) // this pair counts, too
			}
		case t.in(pronouns) && len(tokens) == 1:
			out.them = true
		case t.is("this") && next(0).is("session"):
			i++
			out.terms = append(out.terms, "x")
		case t.is("topic") && i+1 < len(tokens):
			out.terms = append(out.terms, "t'"+literal(topicPath(tokens[i+1:]))+"...'")
			return out
		case pairTerms[t.lower] != "":
			out.terms = append(out.terms, pairTerms[t.lower])
		case t.in(pairFillers):
		default:
			out.words = append(out.words, t.text)
		}
	}
	return out
}

// topicPath is the path that tokens spell.
func topicPath(tokens []token) string {
	var names []string
	for name := range strings.SplitSeq(strings.Join(words(tokens), " "), ">") {
		names = append(names, strings.TrimSpace(name))
	}
	return strings.Join(unique(names), " > ")
}

// idsOfRuns reads numbers as the tools write them, "3-9, 12"; none when they
// are more than a call takes, or something else.
func idsOfRuns(runs string) []int {
	var out []int
	for part := range strings.SplitSeq(runs, ",") {
		from, to, isRun := strings.Cut(strings.TrimSpace(part), "-")
		if !isRun {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || first < 0 || last < first || last-first+len(out) >= maxPairNumbers {
			return nil
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out
}
