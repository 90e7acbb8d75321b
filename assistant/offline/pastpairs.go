package offline

import (
	"slices"
	"strconv"
	"strings"
)

// pastFiller are words that select nothing.
var pastFiller = set("the a an all of any every pair pairs message messages question questions answer answers chat chats conversation " +
	"conversations what which that is was were are am do did does there have has with my our i we said says say talked talk asked ask " +
	"something anything everything where when for to me everything's and or topic history out whatever some number numbers line in from their its")

// pastAbout are words after which come words of the texts.
var pastAbout = set("about containing contains mentioning mentions mention saying concerning regarding on matching like")

// pastPronouns stand for the pairs of the result before.
var pastPronouns = set("it them these those that")

// pastTerms are words that are a term of the filter language.
var pastTerms = map[string]string{
	"starred": "s>0", "unstarred": "s0", "flagged": "b", "unflagged": "g", "grey": "g", "gray": "g", "failed": "e", "errors": "e",
	"failures": "e", "broken": "e", "attachments": "i", "attachment": "i", "files": "i", "today": "d<1d", "untagged": "!t'*'", "unsorted": "!t'*'",
}

// pastUnits are units of age.
var pastUnits = map[string]string{
	"minute": "min", "minutes": "min", "hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w",
	"month": "mo", "months": "mo", "year": "y", "years": "y",
}

// maxPairNumbers bounds how many pairs are named one by one, as the tools do.
const maxPairNumbers = 1000

// pairsReader reads which pairs are meant.
type pairsReader struct {
	in    []token
	pos   int
	out   pairsMeant
	not   bool // the next term is taken out
	about bool // what follows are words of the texts
}

// readPairs reads which pairs tokens mean; line is a filter line that was typed.
func readPairs(tokens []token, line string) pairsMeant {
	if line != "" {
		return pairsMeant{line: line}
	}
	r := &pairsReader{in: tokens}
	for r.pos < len(r.in) {
		r.next()
	}
	if r.out.them && !(pairsMeant{ids: r.out.ids, terms: r.out.terms, words: r.out.words}).empty() {
		r.out.them = false // "those about X" names them anew
	}
	return r.out
}

func (r *pairsReader) word(ahead int) string { return at(r.in, r.pos+ahead) }

func (r *pairsReader) term(t string) {
	if r.not {
		t = "!" + t
	}
	r.not = false
	if !slices.Contains(r.out.terms, t) {
		r.out.terms = append(r.out.terms, t)
	}
}

func (r *pairsReader) next() {
	t := r.in[r.pos]
	w := t.lower
	switch {
	case t.lexeme == quoted:
		r.text(t.text)
		r.pos++
	case t.lexeme != word:
		r.pos++
	case r.aged(), r.counted():
	case pastTerms[w] != "" && !r.about:
		r.term(pastTerms[w])
		r.pos++
	case (w == "this" || w == "current") && slices.Contains([]string{"session", "conversation", "chat"}, r.word(1)):
		r.term("x")
		r.pos += 2
	case w == "topic" && r.pos+1 < len(r.in):
		r.term("t'" + literal(r.in[r.pos+1].text) + "...'")
		r.pos += 2
	case (w == "by" || w == "model") && r.pos+1 < len(r.in):
		r.term("m'*" + literal(r.in[r.pos+1].text) + "*'")
		r.pos += 2
	case w == "not" || w == "except" || w == "without" || w == "but":
		r.not = r.not || w != "but"
		r.pos++
	case pastAbout[w]:
		r.about = true
		r.pos++
	case w == "everything" && r.out.empty() && r.pos+1 == len(r.in):
		r.term("s>=0")
		r.pos++
	case pastPronouns[w] && !r.about:
		r.out.them = true
		r.pos++
	case r.numbered():
	case pastFiller[w]:
		r.pos++
	default:
		r.text(t.text)
		r.pos++
	}
}

// text takes a word of the texts.
func (r *pairsReader) text(w string) {
	if r.not {
		r.term(inText(w))
		return
	}
	r.out.words = append(r.out.words, w)
}

// aged reads "last week", "last 3 days", "older than 2 months", "yesterday".
func (r *pairsReader) aged() bool {
	w := r.word(0)
	if w == "yesterday" {
		r.term("d<2d")
		r.term("!d<1d")
		r.pos++
		return true
	}
	op, skip := "d<", 1
	switch {
	case w == "last" || w == "past" || w == "this":
	case (w == "older" || w == "before") && r.word(1) == "than":
		op, skip = "d>", 2
	case w == "newer" && r.word(1) == "than":
		skip = 2
	default:
		return false
	}
	n, ok := numberWord(r.word(skip))
	if !ok {
		n = 1
	} else {
		skip++
	}
	if (r.word(skip) == "a" || r.word(skip) == "an") && !ok {
		skip++
	}
	unit := pastUnits[r.word(skip)]
	if unit == "" {
		return false
	}
	r.term(op + strconv.Itoa(n) + unit)
	r.pos += skip + 1
	return true
}

// counted reads "the last 5 pairs" and "with 2 stars". The request itself is
// the newest pair of all and does not count.
func (r *pairsReader) counted() bool {
	w := r.word(0)
	if (w == "last" || w == "newest" || w == "latest") && !r.about {
		n, ok := numberWord(r.word(1))
		r.pos++
		if ok {
			r.pos++
		} else {
			n = 1
		}
		r.term("r" + strconv.Itoa(n+1))
		return true
	}
	if n, ok := numberWord(w); ok && n <= 3 && (r.word(1) == "star" || r.word(1) == "stars") {
		r.term("s" + strconv.Itoa(n))
		r.pos += 2
		return true
	}
	return false
}

// numbered reads numbers of pairs: "3", "#3", "3-9".
func (r *pairsReader) numbered() bool {
	if r.about || len(r.out.words) > 0 {
		return false
	}
	from, to, ok := strings.Cut(strings.TrimPrefix(r.word(0), "#"), "-")
	if !ok {
		to = from
	}
	first, err := strconv.Atoi(from)
	if err != nil || first < 1 {
		return false
	}
	last, err := strconv.Atoi(strings.TrimPrefix(to, "#"))
	if err != nil || last < first || last-first >= maxPairNumbers {
		return false
	}
	for n := first; n <= last && len(r.out.ids) < maxPairNumbers; n++ {
		r.out.ids = append(r.out.ids, n)
	}
	r.pos++
	return true
}
