package offline

import (
	"slices"
	"strconv"
	"strings"
)

// step is one request of a message.
type step struct {
	kind    kind
	arg     string    // the rule list or status meant; of removeRule also "first", "last"
	what    selection // the models or rules
	n       int       // of undo: how many; undoAll for all
	propose bool      // the change is proposed, not made
	pairs   pairSet   // of the chat history
	topic   string    // of the chat history: a path
	text    string    // the request as typed
	also    bool      // "and …", "… too": it may continue the request before
	rest    []string  // the words that were not understood; the step is not done
}

// undoAll is the n of a step that takes everything back.
const undoAll = -1

// fillers are words that mean nothing wherever they stand.
var fillers = set("please pls plz kindly just simply quickly the my our a an now currently me us really finally actually maybe oops whoops oh ah hmm um uh argh sorry")

// openings are phrases that mean nothing in front of a request; _ is a space.
var openings = set("can_you could_you would_you will_you can_we could_we i_want_you_to i_want_to i'd_like_you_to i'd_like_to i_would_like_to i_need_you_to " +
	"i_need_to make_sure_to let_see let's lets let we_should you_should help_to go_ahead_and tell wait no_wait " +
	"set_up_filter_so_that set_up_filter_so set_up_rules_so_that hi hello hey ok okay thanks thank_you well so next first")

const longestOpening = 5 // words

// joints separate two requests when a form begins behind them.
var joints = set("and then but also plus & +")

type parser struct {
	w        *window
	forms    []compiledForm
	starters map[string]bool
}

// parse reads a message into its requests, at least one.
func (p *parser) parse(text string) []step {
	tokens := slices.DeleteFunc(lex(text), func(t token) bool { return t.in(fillers) })
	if len(tokens) > maxTokens {
		return []step{{rest: []string{"a message of this length"}, text: text}}
	}
	var out []step
	for _, clause := range p.clauses(tokens) {
		if s, ok := p.clause(clause); ok {
			out = append(out, s)
		}
	}
	if len(out) > 1 { // "hide mini, thanks"
		out = slices.DeleteFunc(out, func(s step) bool { return s.kind == greet || s.kind == thanks })
	}
	if len(out) == 0 {
		return []step{{text: text, rest: words(tokens)}}
	}
	return foldOnly(out)
}

// foldOnly makes what a message hides an exception of what it says "only" of:
// "only keep the newest GPT models, block every preview".
func foldOnly(steps []step) []step {
	isOnly := func(s step) bool { return s.kind == only }
	if !slices.ContainsFunc(steps, isOnly) {
		return steps
	}
	var except []item
	steps = slices.DeleteFunc(steps, func(s step) bool {
		folded := s.kind == hide && s.what.scope.empty() && len(s.what.except)+len(s.rest) == 0
		if folded {
			except = append(except, s.what.items...)
		}
		return folded
	})
	what := &steps[slices.IndexFunc(steps, isOnly)].what
	what.except = append(what.except, except...)
	return steps
}

// joins reports a comma or a joint.
func (t token) joins() bool { return t.kind == comma || t.in(joints) }

// clauses splits a message where a request ends: at stops, and at commas and
// joints behind which a form begins.
func (p *parser) clauses(tokens []token) [][]token {
	var out [][]token
	start := 0
	for i := 0; i <= len(tokens); i++ {
		if i == len(tokens) || tokens[i].kind == stop {
			out = append(out, tokens[start:i])
			start = i + 1
		} else if i > start && tokens[i].joins() {
			next := slices.IndexFunc(tokens[i:], func(t token) bool { return !t.joins() })
			if next > 0 && tokens[i+next].in(p.starters) && !tokens[i-1].is("or") {
				out = append(out, tokens[start:i])
				start = i
			}
		}
	}
	return slices.DeleteFunc(out, func(c []token) bool { return len(c) == 0 })
}

// clause reads one request; false when it holds no word.
func (p *parser) clause(tokens []token) (step, bool) {
	s := step{text: strings.Join(words(tokens), " ")}
	for len(tokens) > 0 && tokens[0].joins() {
		s.also = s.also || !tokens[0].is("but", "then")
		tokens = tokens[1:]
	}
	for n := len(tokens); n > 0; n = len(tokens) {
		cut := 0
		switch last := tokens[n-1]; {
		case last.kind == comma:
			cut = 1
		case n > 1 && last.is("too", "also"):
			cut, s.also = 1, true
		case n > 2 && last.is("well") && tokens[n-2].is("as"):
			cut, s.also = 2, true
		default:
			return p.read(tokens, s), true
		}
		tokens = tokens[:n-cut]
	}
	return s, false
}

// read matches a request with the forms. base has its text and flags.
func (p *parser) read(tokens []token, base step) step {
	best := base
	best.rest = words(tokens)
	try := func(tokens []token) bool {
		for _, f := range p.forms {
			match(f.elements, tokens, nil, func(spans []span) bool {
				s := base
				s.kind, s.arg = f.kind, f.arg
				p.fill(&s, spans)
				if best.kind == unknown || len(s.rest) < len(best.rest) {
					best = s
				}
				return len(s.rest) == 0
			})
			if best.kind != unknown && len(best.rest) == 0 {
				return true
			}
		}
		return false
	}
	if try(tokens) || try(withoutOpenings(tokens)) || !base.also {
		return best
	}
	base.kind, base.what = followUp, p.selection(tokens)
	return base
}

func withoutOpenings(tokens []token) []token {
	for n := min(longestOpening, len(tokens)-1); n > 0; n-- {
		if openings[strings.ToLower(strings.Join(words(tokens[:n]), "_"))] || n == 1 && tokens[0].joins() {
			return withoutOpenings(tokens[n:])
		}
	}
	return tokens
}

func (p *parser) fill(s *step, spans []span) {
	for _, sp := range spans {
		understood := true
		switch sp.slot {
		case "what", "rule":
			at := s.what.scope
			s.what = p.selection(sp.tokens)
			s.what.scope.merge(at)
			if sp.slot == "what" && len(s.what.items) == 0 && !s.what.pronoun {
				understood = s.kind == find || s.kind == listModels || s.kind == countModels // "how many on anthropic"
				s.what.items = []item{{all: true}}
			}
		case "where":
			var at scope
			at, understood = p.where(sp.tokens)
			s.what.scope.merge(at)
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

// where reads a place without or with its preposition: "on gemini", "openai".
func (p *parser) where(tokens []token) (at scope, all bool) {
	r := reader{p: p, tokens: tokens}
	if tokens[0].in(places) {
		r.pos = 1
	}
	all = r.scope(&at) && r.pos == len(tokens)
	return at, all
}

// countOf reads how many: "two", "3", "everything".
func countOf(tokens []token) (int, bool) {
	if len(tokens) == 1 && tokens[0].is("everything", "all") {
		return undoAll, true
	}
	n := number(tokens[0].lower)
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

// words are the texts of tokens, without commas.
func words(tokens []token) []string {
	var out []string
	for _, t := range tokens {
		if t.kind == word || t.kind == quoted {
			out = append(out, t.text)
		}
	}
	return out
}

// changesRules reports a kind that may add or remove rules.
func (k kind) changesRules() bool { return k >= hide && k <= clearRules && k != unknown }

// selects reports a kind that is about models, so that a follow-up can
// continue it.
func (k kind) selects() bool {
	switch k {
	case hide, unhide, allow, unallow, only, remove, explain, find, listModels, countModels, clearRules, showRules:
		return true
	default:
		return false
	}
}
