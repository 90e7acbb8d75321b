package offline

import (
	"slices"
	"strconv"
	"strings"
)

// step is one request of a message.
type step struct {
	kind    kind
	list    string    // the rule list meant; "" for both
	state   string    // the status meant: hidden, shown or allowed; "" for any
	what    selection // the models or rules
	n       int       // of undo: how many, or undoAll; of stars: how many
	propose bool      // the change is proposed, not made
	pairs   pairSet   // of the chat history
	topic   string    // of the chat history: a path
	text    string    // the request as typed
	also    bool      // "and …", "… too": it may continue the previous request
	rest    []string  // the words that were not understood; the step is not done
}

// undoAll is the n of a step that takes everything back.
const undoAll = -1

// openings mean nothing at the start of a request.
var openings = set("hi hello hey ok okay thanks well so next first wait")

// conjunctions separate two requests when a form begins after them.
var conjunctions = set("and then but also plus & +")

// parser reads messages with the forms of a window.
type parser struct {
	formSet
	window *window
}

// parse reads a message into its requests, at least one.
func (p *parser) parse(text string) []step {
	tokens := lex(text)
	if len(tokens) > maxTokens {
		return []step{{rest: []string{"a message of this length"}, text: text}}
	}
	tokens = canonical(tokens)
	var out []step
	for _, clause := range p.clauses(tokens) {
		if s, ok := p.clause(clause); ok {
			out = append(out, s)
		}
	}
	if len(out) > 1 {
		out = slices.DeleteFunc(out, func(s step) bool { return s.kind == greet || s.kind == thanks }) // "hide mini, thanks"
	}
	if len(out) == 0 {
		return []step{{text: text, rest: words(tokens)}}
	}
	return foldOnly(out)
}

// foldOnly makes what a message hides an exception of its "only" request: "only
// keep GPT models, block every preview".
func foldOnly(steps []step) []step {
	isOnly := func(s step) bool { return s.kind == only }
	if !slices.ContainsFunc(steps, isOnly) {
		return steps
	}
	var out []step
	var except []item
	for _, s := range steps {
		if s.kind == hide && s.what.at.empty() && len(s.what.except)+len(s.rest) == 0 {
			except = append(except, s.what.items...)
		} else {
			out = append(out, s)
		}
	}
	kept := &out[slices.IndexFunc(out, isOnly)].what
	kept.except = append(kept.except, except...)
	return out
}

// joins reports whether t is a comma or a conjunction.
func (t token) joins() bool { return t.kind == comma || t.in(conjunctions) }

// clauses splits a message where a request ends: at stops, and at commas and
// conjunctions after which a form begins.
func (p *parser) clauses(tokens []token) [][]token {
	var out [][]token
	start := 0
	for i := 0; i <= len(tokens); i++ {
		if i == len(tokens) || tokens[i].kind == stop {
			out = append(out, tokens[start:i])
			start = i + 1
		} else if i > start && tokens[i].joins() {
			next := slices.IndexFunc(tokens[i:], func(t token) bool { return !t.joins() })
			if next > 0 && tokens[i+next].in(p.starts) {
				out = append(out, tokens[start:i])
				start = i
			}
		}
	}
	return slices.DeleteFunc(out, func(c []token) bool { return len(c) == 0 })
}

// clause reads one request; false when it has no word.
func (p *parser) clause(tokens []token) (step, bool) {
	s := step{text: strings.Join(words(tokens), " ")}
	for len(tokens) > 0 && tokens[0].joins() {
		s.also = s.also || !tokens[0].is("but", "then")
		tokens = tokens[1:]
	}
	for n := len(tokens); n > 0 && (tokens[n-1].kind == comma || n > 1 && tokens[n-1].is("too", "also")); n-- {
		s.also = s.also || tokens[n-1].kind == plain
		tokens = tokens[:n-1]
	}
	if len(tokens) == 0 {
		return s, false
	}
	best := p.read(tokens, s)
	for len(best.rest) > 0 && len(tokens) > 1 && (tokens[0].in(openings) || tokens[0].kind == comma) {
		tokens = tokens[1:]
		best = p.read(tokens, s)
	}
	if len(best.rest) > 0 && s.also {
		s.kind, s.what = followUp, p.selection(tokens)
		return s, true
	}
	return best, true
}

// read matches a request with the forms: the first without words left over, else
// the one with the fewest. base has its text and flags.
func (p *parser) read(tokens []token, base step) step {
	best := base
	best.rest = words(tokens)
	for _, f := range p.forms {
		spans, ok := f.match(tokens)
		if !ok {
			continue
		}
		s := base
		s.kind = f.kind
		p.fill(&s, spans)
		if s.kind == unallow {
			s.kind, s.list = removeRule, allowList
		}
		if best.kind == unknown || len(s.rest) < len(best.rest) {
			best = s
		}
		if len(best.rest) == 0 {
			break
		}
	}
	return best
}

// fill puts the slots of a form into a step.
func (p *parser) fill(s *step, spans []span) {
	for _, sp := range spans {
		understood := true
		switch sp.slot {
		case "what":
			at := s.what.at
			s.what = p.selection(sp.tokens)
			s.what.at.merge(at)
			if len(s.what.items) == 0 && !s.what.pronoun {
				understood = s.kind.isQuestion() // "how many on anthropic"
			}
			if s.kind == removeRule || s.kind == unallow { // rules have no age
				understood = understood && !slices.ContainsFunc(s.what.items, func(it item) bool { return it.newest })
			}
		case "where", "at":
			var at scope
			at, understood = p.where(sp.tokens)
			s.what.at.merge(at)
		case "list":
			s.list = map[string]string{"hide": ignoreList, "allow": allowList}[sp.tokens[0].canon]
		case "state":
			s.state = sp.tokens[0].canon
		case "n":
			s.n, understood = countOf(sp.tokens)
		case "pairs":
			s.pairs = readPairs(sp.tokens)
			understood = s.kind != topicPairs || !sp.tokens[0].is("topic") // topics are not moved
		case "topic":
			s.topic = topicPath(sp.tokens)
		case "clause":
			text := s.text
			*s, _ = p.clause(sp.tokens)
			understood = s.kind.changesRules()
			s.propose, s.text = true, text
		}
		if !understood {
			s.rest = append(s.rest, words(sp.tokens)...)
		}
	}
}

// where reads providers with or without a preposition: "on gemini", "openai".
// complete is false when words are left over.
func (p *parser) where(tokens []token) (at scope, complete bool) {
	r := reader{parser: p, tokens: tokens}
	if tokens[0].in(prepositions) {
		r.pos = 1
	}
	complete = r.scope(&at) && r.pos == len(tokens)
	return at, complete
}

// countOf reads how many: "two", "3", "everything".
func countOf(tokens []token) (int, bool) {
	if len(tokens) == 1 && tokens[0].is("everything", "all") {
		return undoAll, true
	}
	n := number(tokens[0].canon)
	return n, len(tokens) == 1 && n > 0
}

// number reads a small count; 0 is none.
func number(w string) int {
	if i := slices.Index([]string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}, w); i >= 0 {
		return i + 1
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 1 || n > 999 {
		return 0
	}
	return n
}
