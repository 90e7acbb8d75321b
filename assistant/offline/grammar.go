package offline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// kind is what a request wants, as the grammar names it.
type kind string

const (
	unknown     kind = ""
	hide        kind = "hide"
	unhide      kind = "unhide"
	allow       kind = "allow"
	only        kind = "only"
	remove      kind = "remove"      // remove the rule that is written just so, or hide
	removeRule  kind = "remove_rule" // remove a rule by its pattern
	clearRules  kind = "clear"
	undo        kind = "undo"
	save        kind = "save"
	discard     kind = "discard"
	switchTo    kind = "switch"
	refresh     kind = "refresh"
	listModels  kind = "list"
	countModels kind = "count"
	rankModels  kind = "rank" // models by price, context or use
	showRules   kind = "rules"
	rankRules   kind = "rank_rules" // by how many models each decides
	check       kind = "check"      // whether a condition holds for a model that is shown, or hidden
	planSave    kind = "plan"       // what a save would do
	why         kind = "why"        // the reasons for what the previous request was about
	followUp    kind = "…"          // "and nano too": the previous request with other models or providers
	yes         kind = "yes"
	greet       kind = "greet"
	thanks      kind = "thanks"
)

// in reports whether k is one of kinds.
func (k kind) in(kinds ...kind) bool { return slices.Contains(kinds, k) }

// changesRules reports whether requests of the kind may add or remove rules.
func (k kind) changesRules() bool {
	return k.in(hide, unhide, allow, only, remove, removeRule, clearRules)
}

// acts reports whether requests of the kind change something other than single rules.
func (k kind) acts() bool {
	return k.in(undo, save, discard, switchTo, refresh, "star", "unstar", "flag", "unflag", "topic")
}

// asks reports whether the kind names models and changes nothing.
func (k kind) asks() bool { return k.in(listModels, countModels, rankModels, check) }

// aboutRules reports whether requests of the kind name rules, not models.
func (k kind) aboutRules() bool { return k.in(clearRules, showRules, rankRules, removeRule) }

// selects reports whether a follow-up can continue requests of the kind.
func (k kind) selects() bool { return k.changesRules() || k.asks() || k.aboutRules() }

// form is one way to say a request.
type form struct {
	kind  kind
	parts []string
}

// Of the forms that match, the first without words left over counts.
var (
	filterForms  = sync.OnceValue(func() []form { return slices.Concat(readForms("talk"), readForms("filter")) })
	historyForms = sync.OnceValue(func() []form { return slices.Concat(readForms("history"), readForms("talk")) })
)

func readForms(name string) (out []form) {
	for _, line := range section(name) {
		k, ways, _ := strings.Cut(line, ":")
		for way := range strings.SplitSeq(ways, ";") {
			out = append(out, form{kind(k), strings.Fields(way)})
		}
	}
	return out
}

// fit is the tokens that a part of a form stands for.
type fit struct {
	part   string
	tokens []token
}

// match fits tokens to the parts of a form, each with as few tokens as possible;
// ok is false when they do not fit.
func match(parts []string, tokens []token) (matched []fit, ok bool) {
	if len(parts) == 0 {
		return nil, len(tokens) == 0
	}
	part, isOptional := partOf(parts[0])
	for n := 1; n <= len(tokens); n++ {
		fits, fitsMore := accepts(part, tokens[:n])
		if fits {
			if rest, ok := match(parts[1:], tokens[n:]); ok {
				return append([]fit{{part, tokens[:n]}}, rest...), true
			}
		}
		if !fitsMore {
			break
		}
	}
	if isOptional {
		return match(parts[1:], tokens)
	}
	return nil, false
}

func partOf(text string) (part string, isOptional bool) {
	return strings.CutPrefix(strings.TrimSuffix(text, "]"), "[")
}

// oneWord are the slots that stand for one of some words.
var oneWord = map[string]string{"$list": "hide|allow", "$state": "hidden|shown|allowed", "$most": "most|least", "$rank": "expensive|cheap|used|popular|context"}

// accepts reports whether a part stands for just these tokens, and whether it may stand
// for more.
func accepts(part string, tokens []token) (fits, fitsMore bool) {
	switch part {
	case "$n":
		return number(tokens[0].Canon) != 0, false
	case "$at": // providers
		return len(tokens) > 1, tokens[0].Is("on", "from", "for", "at", "in", "of", "across")
	case "$what", "$where", "$pairs", "$topic":
		return true, true
	}
	if words := oneWord[part]; words != "" {
		part = words
	}
	return tokens[0].Is(strings.Split(part, "|")...), false
}

// begins reports whether a request of one of the forms can begin with t.
func begins(forms []form, t token) bool {
	return t.Is("propose") || slices.ContainsFunc(forms, func(f form) bool {
		for _, text := range f.parts {
			part, isOptional := partOf(text)
			if fits, _ := accepts(part, []token{t}); fits && (part == "$list" || !strings.HasPrefix(part, "$")) {
				return true
			}
			if !isOptional {
				break
			}
		}
		return false
	})
}

// step is one request of a message.
type step struct {
	kind      kind
	list      string    // the rule list meant; "" for both
	state     string    // the status meant: hidden, shown or allowed; "" for any
	selection selection // the models or rules
	n         int       // of undo, of stars, of a ranking: how many; undoAll
	order     string    // of a ranking: by what
	least     bool      // of a ranking: the other way round
	propose   bool      // the change is proposed, not made
	question  bool      // it ends with a question mark, or begins with "would": it changes nothing
	pairs     pairSet   // of the chat history
	topic     string    // of the chat history: a path
	text      string    // the request as typed
	also      bool      // "and …", "… too": it may continue the previous request
	rest      []string  // the words that were not understood; the step is not done
}

// failed reports whether the step cannot be done as it was said.
func (s step) failed() bool { return len(s.rest) > 0 || s.kind.in(unknown, followUp) }

// undoAll is the n of a step that takes everything back.
const undoAll = -1

var (
	// openings mean nothing at the start of a request.
	openings = wordSet("hi hello hey ok okay thanks well so next first wait")
	// conjunctions separate two requests when a form begins after them.
	conjunctions = wordSet("and then but also plus & +")
)

// joins reports whether t is a comma or a conjunction.
func joins(t token) bool { return t.Kind == comma || t.In(conjunctions) }

// parse reads a message into its requests, at least one. A request ends at a stop, and at
// a comma or conjunction after which a form begins.
func (c *conversation) parse(text string) (out []step) {
	if c.window.kind != historyWindow {
		text = withConditions(text)
	}
	tokens := tokenize(text)
	if len(tokens) > maxTokens {
		return []step{{rest: []string{"a message of this length"}, text: text}}
	}
	asks := endsInQuestion(text, tokens)
	tokens = canonical(tokens)
	start, sentence := 0, 0 // of the clause in tokens, of the sentence in out
	add := func(end int) {
		if s, ok := c.clause(tokens[start:end]); ok {
			out = append(out, s.split()...)
		}
		start = end
	}
	for i := 0; i <= len(tokens); i++ {
		if i == len(tokens) || tokens[i].Kind == stop {
			add(i)
			for ; sentence < len(out); sentence++ {
				out[sentence].question = i == len(tokens) && asks || i < len(tokens) && tokens[i].Text == "?"
			}
			start = i + 1
		} else if i > start && joins(tokens[i]) {
			next := slices.IndexFunc(tokens[i:], func(t token) bool { return !joins(t) })
			if next > 0 && begins(c.forms, tokens[i+next]) {
				add(i)
			}
		}
	}
	if len(out) > 1 {
		out = slices.DeleteFunc(out, func(s step) bool { return s.kind.in(greet, thanks) }) // "hide mini, thanks"
	}
	if len(out) == 0 {
		return []step{{text: text, rest: textsOf(tokens)}}
	}
	return foldOnly(out)
}

// endsInQuestion reports whether the last sentence of a message is a question. In tokens
// it marks the stops of the others that begin with "would" or "should".
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
			would, begins = t.Is("would", "should", "shall"), false
		}
	}
	return would || strings.HasSuffix(strings.TrimRight(text, " \t\n)"), "?")
}

// split makes a request for each part of the selection that has providers of its own.
func (s step) split() (out []step) {
	for _, part := range append([]selection{s.selection}, s.selection.more...) {
		next := s
		next.selection, next.rest = part, slices.Concat(s.rest, part.unclear)
		next.selection.more = nil
		out = append(out, next)
	}
	return out
}

// foldOnly makes what a message hides an exception of its "only" request: "only
// keep GPT models, block every preview".
func foldOnly(steps []step) (out []step) {
	isOnly := func(s step) bool { return s.kind == only }
	foreign := func(it item) bool { return it.provider != "" } // nothing is kept there
	var except []item
	for _, s := range steps {
		folds := s.kind == hide && s.selection.scope.empty() && len(s.selection.except)+len(s.rest) == 0 && !slices.ContainsFunc(s.selection.items, foreign)
		if folds && slices.ContainsFunc(steps, isOnly) {
			except = append(except, s.selection.items...)
		} else {
			out = append(out, s)
		}
	}
	for i := range out {
		if isOnly(out[i]) {
			out[i].selection.except = slices.Concat(out[i].selection.except, except)
		}
	}
	return out
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
	if inner := slices.IndexFunc(tokens, func(t token) bool { return !t.Is("propose", "rules", "for", "to", "that") }); tokens[0].Is("propose") && inner > 0 {
		proposed, _ := c.clause(tokens[inner:])
		if proposed.propose, proposed.text = true, s.text; !proposed.kind.changesRules() {
			proposed.rest = textsOf(tokens[inner:])
		}
		return proposed, true
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
		fits, ok := match(f.parts, tokens)
		if !ok {
			continue
		}
		s := base
		if s.kind = f.kind; f.parts[0] == "unallow" {
			s.list = allowList
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
	switch word := f.tokens[0].Canon; f.part {
	case "$what":
		named := s.selection.scope
		s.selection = c.selection(f.tokens)
		s.selection.scope.merge(named)
		ruleFacts := s.kind == removeRule && slices.ContainsFunc(s.selection.items, func(it item) bool { return it.newest || len(it.conds) > 0 })
		return (s.kind != check || s.selection.isCondition()) && (s.selection.named() || s.kind.asks()) && !ruleFacts && (len(s.selection.more) == 0 || named.empty())
	case "$where", "$at":
		tokens := f.tokens
		if !tokens[0].In(prepositions) {
			tokens = append([]token{{Text: "on", Canon: "on"}}, tokens...)
		}
		where := c.selection(tokens)
		s.selection.scope.merge(where.scope)
		return !where.named() && len(where.more)+len(where.unclear) == 0
	case "$list":
		s.list = map[string]string{"hide": ignoreList, "allow": allowList}[word]
	case "$state":
		s.state = word
	case "$most":
		s.least = word == "least"
	case "$rank":
		s.order, s.least = word, s.least != (word == "cheap")
	case "$n":
		if s.n = number(word); f.tokens[0].Is("everything", "all") {
			s.n = undoAll
		}
	case "$pairs":
		s.pairs = readPairs(f.tokens)
		return s.kind != "topic" || !f.tokens[0].Is("topic") // topics are not moved
	case "$topic":
		s.topic = topicPath(f.tokens)
	case "cheap":
		s.order = word
	case "most": // "has the largest context"
		s.order = cmp.Or(s.order, "context")
	}
	return true
}

// number reads a small count, undoAll for everything; 0 for none.
func number(w string) int {
	if w == "everything" || w == "all" {
		return undoAll
	}
	if i := slices.Index(strings.Fields("one two three four five six seven eight nine ten"), w); i >= 0 {
		return i + 1
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 1 || n > 999 {
		return 0
	}
	return n
}
