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
	line  string   // a filter line as it was typed
}

func (p pairSet) empty() bool {
	return len(p.ids)+len(p.terms)+len(p.words) == 0 && !p.them && p.line == ""
}

// filterLine is the line of the filter language that selects the pairs. Words
// are looked for in other sessions: this one repeats them.
func (p pairSet) filterLine() string {
	if p.line != "" {
		return p.line
	}
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
		"for to and or history number numbers ones in from")
	// aboutWords are followed by words of the texts.
	aboutWords = set("about containing contains mentioning mentions mention saying concerning regarding on matching like")
	// pairTerms are words that are a term of the filter language.
	pairTerms = map[string]string{
		"starred": "s>0", "unstarred": "s0", "flagged": "b", "unflagged": "g", "failed": "e", "errors": "e", "today": "d<1d", "untagged": "!t'*'",
	}
	// ageUnits are units of age.
	ageUnits = map[string]string{
		"minute": "min", "minutes": "min", "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w",
		"month": "mo", "months": "mo", "year": "y", "years": "y",
	}
)

// maxPairNumbers bounds how many pairs are named one by one, as the tools do.
const maxPairNumbers = 1000

// pairReader reads which pairs tokens mean.
type pairReader struct {
	tokens []token
	pos    int
	out    pairSet
	not    bool // the next term is negated
	about  bool // what follows are words of the texts
}

func readPairs(tokens []token, line string) pairSet {
	if line != "" {
		return pairSet{line: line}
	}
	r := &pairReader{tokens: tokens}
	for r.pos < len(tokens) {
		r.next()
	}
	return r.out
}

func (r *pairReader) peek(n int) string {
	if r.pos+n < len(r.tokens) {
		return r.tokens[r.pos+n].lower
	}
	return ""
}

func (r *pairReader) term(s string) {
	if r.not {
		s = "!" + s
	}
	r.out.terms, r.not = append(r.out.terms, s), false
}

func (r *pairReader) next() {
	t := r.tokens[r.pos]
	r.pos++
	switch {
	case t.kind == comma || t.kind == stop:
	case t.kind == quoted:
		r.word(t)
	case r.numbers(t.lower), r.age(t.lower):
	case t.is("not"):
		r.not = true
	case t.in(pronouns) && len(r.tokens) == 1:
		r.out.them = true
	case t.is("this") && r.peek(0) == "session":
		r.pos++
		r.term("x")
	case t.is("topic") && r.peek(0) != "":
		r.term("t'" + literal(topicPath(r.tokens[r.pos:])) + "...'")
		r.pos = len(r.tokens)
	case t.is("by") && r.peek(0) != "":
		r.term("m'*" + literal(r.tokens[r.pos].text) + "*'")
		r.pos++
	case pairTerms[t.lower] != "":
		r.term(pairTerms[t.lower])
	case t.in(aboutWords):
		r.about = true
	case t.in(pairFillers) && !r.about, r.about && t.is("and", "or"):
	default:
		r.word(t)
	}
}

func (r *pairReader) word(t token) {
	if r.not {
		r.term("c'" + literal(t.text) + "'")
		return
	}
	r.out.words = append(r.out.words, t.text)
}

// numbers reads "3", "#3", "2-4" and "2 stars".
func (r *pairReader) numbers(s string) bool {
	if r.about {
		return false
	}
	if n := number(s); n > 0 && n <= 3 && (r.peek(0) == "stars" || r.peek(0) == "star") {
		r.pos++
		r.term("s" + strconv.Itoa(n))
		return true
	}
	ids := idsOfRuns(strings.TrimPrefix(s, "#"))
	if len(ids)+len(r.out.ids) > maxPairNumbers {
		return false
	}
	r.out.ids = append(r.out.ids, ids...)
	return len(ids) > 0
}

// age reads "last 5", "last week", "older than 2 months", "yesterday".
func (r *pairReader) age(s string) bool {
	n, at := number(r.peek(0)), 1
	sign := "<"
	switch s {
	case "yesterday":
		r.term("d<2d")
		r.term("!d<1d")
		return true
	case "older", "newer":
		if r.peek(0) != "than" {
			return false
		}
		if n, at = number(r.peek(1)), 2; s == "older" {
			sign = ">"
		}
	case "last", "latest", "newest":
	default:
		return false
	}
	if n == 0 {
		n, at = 1, at-1
	}
	if unit := ageUnits[r.peek(at)]; unit != "" {
		r.pos += at + 1
		r.term("d" + sign + strconv.Itoa(n) + unit)
		return true
	}
	if s == "older" || s == "newer" {
		return false
	}
	r.pos += at
	r.term("r" + strconv.Itoa(n+1)) // this pair counts, too
	return true
}

// topicPath is the path that tokens spell.
func topicPath(tokens []token) string {
	var names []string
	for name := range strings.SplitSeq(strings.Join(words(tokens), " "), ">") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, " > ")
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
		if err != nil {
			return nil
		}
		last, err := strconv.Atoi(to)
		if err != nil || first < 0 || last < first || last-first+len(out) >= maxPairNumbers {
			return nil
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out
}
