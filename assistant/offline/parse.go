package offline

import (
	"slices"
	"strconv"
	"strings"
)

// step is one request of a message.
type step struct {
	kind      kind
	list      string    // the rule list meant; "" for both
	state     string    // the status meant: hidden, shown or allowed; "" for any
	selection selection // the models or rules
	n         int       // of undo: how many, or undoAll; of stars: how many
	propose   bool      // the change is proposed, not made
	question  bool      // it ends with a question mark, or begins with "would": it changes nothing
	pairs     pairSet   // of the chat history
	topic     string    // of the chat history: a path
	text      string    // the request as typed
	also      bool      // "and …", "… too": it may continue the previous request
	rest      []string  // the words that were not understood; the step is not done
}

// undoAll is the n of a step that takes everything back.
const undoAll = -1

// openings mean nothing at the start of a request.
var openings = wordSet("hi hello hey ok okay thanks well so next first wait")

// conjunctions separate two requests when a form begins after them.
var conjunctions = wordSet("and then but also plus & +")

// parse reads a message into its requests, at least one.
func (c *conversation) parse(text string) []step {
	tokens := tokenize(text)
	asks := endsInQuestion(text, tokens)
	if len(tokens) > maxTokens {
		return []step{{rest: []string{"a message of this length"}, text: text}}
	}
	tokens = canonical(tokens)
	var out []step
	for _, clause := range c.clauses(tokens, asks) {
		if s, ok := c.clause(clause.tokens); ok {
			s.question = clause.question
			out = append(out, s.split()...)
		}
	}
	if len(out) > 1 {
		out = slices.DeleteFunc(out, func(s step) bool { return s.kind == greet || s.kind == thanks }) // "hide mini, thanks"
	}
	if len(out) == 0 {
		return []step{{text: text, rest: textsOf(tokens)}}
	}
	return foldOnly(out)
}

// split makes a request for each part of the selection that has providers of its own.
func (s step) split() []step {
	s.rest = append(s.rest, s.selection.unclear...)
	parts := append([]selection{s.selection}, s.selection.more...)
	out := make([]step, len(parts))
	for i, part := range parts {
		out[i] = s
		out[i].selection, out[i].selection.more = part, nil
	}
	return out
}

// endsInQuestion reports whether the last sentence of a message is a question. In tokens
// it marks the stops of the others that begin with "would".
func endsInQuestion(text string, tokens []token) bool {
	would, begins := false, true
	for i, t := range tokens {
		switch {
		case t.Kind == stop && would:
			tokens[i].Text = "?"
			fallthrough
		case t.Kind == stop:
			would, begins = false, true
		case begins && !t.In(openings) && t.Kind != comma:
			would, begins = t.Is("would"), false
		}
	}
	return would || strings.HasSuffix(strings.TrimRight(text, " \t\n)"), "?")
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
		elsewhere := func(it item) bool { // hidden on a provider of which nothing is kept
			return it.provider != "" && !slices.ContainsFunc(steps, func(k step) bool {
				return isOnly(k) && (k.selection.scope.empty() || k.selection.scope.every || slices.Contains(k.selection.scope.providers, it.provider))
			})
		}
		if s.kind == hide && s.selection.scope.empty() && len(s.selection.except)+len(s.rest) == 0 && !slices.ContainsFunc(s.selection.items, elsewhere) {
			except = append(except, s.selection.items...)
		} else {
			out = append(out, s)
		}
	}
	for i := range out {
		if kept := &out[i].selection; isOnly(out[i]) {
			kept.except = slices.Concat(kept.except, except)
		}
	}
	return out
}

// joins reports whether t is a comma or a conjunction.
func joins(t token) bool { return t.Kind == comma || t.In(conjunctions) }

// clause is the tokens of one request.
type clause struct {
	tokens   []token
	question bool // of a sentence that asks
}

// clauses splits a message where a request ends: at stops, and at commas and
// conjunctions after which a form begins.
func (c *conversation) clauses(tokens []token, asks bool) []clause {
	var out []clause
	start, sentence := 0, 0 // of the clause in tokens, of the sentence in out
	for i := 0; i <= len(tokens); i++ {
		if i == len(tokens) || tokens[i].Kind == stop {
			out = append(out, clause{tokens: tokens[start:i]})
			question := i == len(tokens) && asks || i < len(tokens) && tokens[i].Text == "?"
			for ; sentence < len(out); sentence++ {
				out[sentence].question = question
			}
			start = i + 1
		} else if i > start && joins(tokens[i]) {
			next := slices.IndexFunc(tokens[i:], func(t token) bool { return !joins(t) })
			if next > 0 && begins(c.forms, tokens[i+next]) {
				out = append(out, clause{tokens: tokens[start:i]})
				start = i
			}
		}
	}
	return slices.DeleteFunc(out, func(c clause) bool { return len(c.tokens) == 0 })
}

// clause reads one request; false when it has no word.
func (c *conversation) clause(tokens []token) (step, bool) {
	s := step{text: strings.Join(textsOf(tokens), " ")}
	for len(tokens) > 0 && joins(tokens[0]) {
		s.also = s.also || !tokens[0].Is("but", "then")
		tokens = tokens[1:]
	}
	for n := len(tokens); n > 0 && (tokens[n-1].Kind == comma || n > 1 && tokens[n-1].Is("too", "also")); n-- {
		s.also = s.also || tokens[n-1].Kind == plain
		tokens = tokens[:n-1]
	}
	if len(tokens) == 0 {
		return s, false
	}
	best := c.read(tokens, s)
	for len(best.rest) > 0 && len(tokens) > 1 && (tokens[0].In(openings) || tokens[0].Kind == comma) {
		tokens = tokens[1:]
		best = c.read(tokens, s)
	}
	if len(best.rest) > 0 && s.also {
		s.kind, s.selection = followUp, c.selection(tokens)
		return s, true
	}
	return best, true
}

// read matches a request with the forms: the first without words left over, else
// the one with the fewest. base has its text and flags.
func (c *conversation) read(tokens []token, base step) step {
	best := base
	best.rest = textsOf(tokens)
	for _, f := range c.forms {
		fits, ok := match(strings.Fields(f.text), tokens)
		if !ok {
			continue
		}
		s := base
		if s.kind = f.kind; s.kind == unallow {
			s.kind, s.list = removeRule, allowList
		}
		for _, f := range fits {
			if !c.fill(&s, f) {
				s.rest = append(s.rest, textsOf(f.tokens)...)
			}
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

// fill puts what a part of a form stands for into a step; false when it was not understood.
func (c *conversation) fill(s *step, f fit) bool {
	switch f.part {
	case "$what":
		named := s.selection.scope
		s.selection = c.selection(f.tokens)
		s.selection.scope.merge(named)
		if len(s.selection.more) > 0 && !named.empty() {
			return false
		}
		hasAge := slices.ContainsFunc(s.selection.items, func(it item) bool { return it.newest })
		return (s.selection.named() || s.kind.isQuestion()) && !(s.kind == removeRule && hasAge) // rules have no age
	case "$where", "$at":
		tokens := f.tokens
		if !tokens[0].In(prepositions) {
			tokens = append([]token{{Text: "on", Canon: "on"}}, tokens...)
		}
		where := c.selection(tokens)
		s.selection.scope.merge(where.scope)
		return !where.named() && len(s.selection.more) == 0
	case "$list":
		s.list = map[string]string{"hide": ignoreList, "allow": allowList}[f.tokens[0].Canon]
	case "$state":
		s.state = f.tokens[0].Canon
	case "$n":
		if s.n = number(f.tokens[0].Canon); f.tokens[0].Is("everything", "all") {
			s.n = undoAll
		}
		return s.n != 0
	case "$pairs":
		s.pairs = readPairs(f.tokens)
		return s.kind != topicPairs || !f.tokens[0].Is("topic") // topics are not moved
	case "$topic":
		s.topic = topicPath(f.tokens)
	case "$clause":
		text := s.text
		*s, _ = c.clause(f.tokens)
		s.propose, s.text = true, text
		return s.kind.changesRules()
	}
	return true
}

// number reads a small count; 0 for none.
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
