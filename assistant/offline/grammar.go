package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// clause is one request of a message: what to do, with which models, where.
type clause struct {
	kind string // as the grammar names it; "" when it was not understood, followUp
	selection
	list     string   // the rule list meant, as the tools name it; "" for both
	state    string   // the status meant: hidden, shown or allowed; "" for any
	order    string   // of a ranking: by what
	least    bool     // of a ranking: the least first
	n        int      // of undo and of a ranking: how many
	propose  bool     // the change is proposed, not made
	question bool     // it ends with a question mark, or begins with "would": it changes nothing
	also     bool     // "and …", "… too": it may continue the previous request
	text     string   // as it was read
	left     []string // the words that were not understood; it is not done
}

// followUp is the kind of "and nano too": the previous request with other models or providers.
const followUp = "…"

// failed reports whether the clause cannot be done as it was said.
func (s clause) failed() bool { return len(s.left) > 0 || s.kind == "" || s.kind == followUp }

// changesRules reports whether the clause may add or remove rules: its kind is an action of
// plan_rules.
func (s clause) changesRules() bool { return is(s.kind, "hide show allow only remove clear") }

// acts reports whether the clause changes something other than single rules.
func (s clause) acts() bool { return is(s.kind, "undo save discard switch refresh") }

// asks reports whether the clause names models and changes nothing.
func (s clause) asks() bool { return is(s.kind, "list count rank check") }

// selects reports whether a follow-up can continue the clause.
func (s clause) selects() bool {
	return s.changesRules() || s.asks() || is(s.kind, "rules rank_rules")
}

// form is one way to say a request.
type form struct {
	kind   string
	said   *regexp.Regexp
	begins string // the words that it can begin with
}

// slots are what may stand in a form besides words.
var slots = map[string]string{
	"$what": ` (?P<what>.+?)`, "$where": ` (?P<where>.+?)`, "$at": `(?P<where> (?:on|from|for|at|in|of|across) .+?)`, "$n": ` (?P<n>\d{1,3}|` + numbers + `)`,
	"$list": ` (?P<list>hide|allow)`, "$state": ` (?P<state>hidden|shown|allowed)`, "$most": ` (?P<most>most|least)`, "$rank": ` (?P<rank>expensive|cheap|used|popular|context)`, "$cheap": ` (?P<rank>cheap)`,
}

// forms are those of the grammar.
var forms = sync.OnceValue(func() (out []form) {
	for _, line := range section("forms") {
		kind, ways, _ := strings.Cut(line, ":")
		for way := range strings.SplitSeq(ways, ";") {
			f, said, first := form{kind: kind}, "^", true
			for part := range strings.FieldsSeq(way) {
				text, optional := strings.CutPrefix(strings.TrimSuffix(part, "]"), "[")
				pattern := slots[text]
				if pattern == "" {
					pattern = " (?:" + strings.ReplaceAll(regexp.QuoteMeta(text), `\|`, "|") + ")"
				}
				if first && (slots[text] == "" || text == "$list") {
					f.begins += " " + strings.ReplaceAll(strings.ReplaceAll(text, "$list", "hide|allow"), "|", " ")
				}
				if optional {
					pattern = "(?:" + pattern + ")?"
				}
				said, first = said+pattern, first && optional
			}
			f.said = regexp.MustCompile(said + "$")
			out = append(out, f)
		}
	}
	return out
})

// begins reports whether a request can begin with a word.
func begins(word string) bool {
	return word == "propose" || slices.ContainsFunc(forms(), func(f form) bool { return is(word, f.begins) })
}

const (
	// openings mean nothing at the start of a request.
	openings = "hi hello hey ok okay thanks well so next first wait ,"
	// joiners separate two requests when a form begins after them.
	joiners = ", and then but also plus & +"
)

// parse reads a message into its requests, at least one. A request ends at a stop, and at
// a joiner after which a form begins or models on another provider are named.
func (w *window) parse(text string) (out []clause) {
	words := split(withConditions(text))
	if len(words) > maxWords {
		return []clause{{left: []string{"a message of this length"}, text: "a message of this length"}}
	}
	if strings.HasSuffix(strings.TrimRight(text, " \t\n)"), "?") {
		words = append(words, "?")
	}
	asks := questionsIn(words)
	var part []string // of the clause
	begun := 0        // clauses before the sentence
	for _, word := range append(canonical(words), ".") {
		switch n := len(part); {
		case is(word, ". ?"):
			out = append(out, w.clauses(part)...)
			for ; begun < len(out); begun++ {
				out[begun].question = asks[0] || word == "?"
			}
			part, asks = nil, asks[1:]
			continue
		case n > 1 && is(part[n-1], joiners) && !is(word, joiners) && (begins(word) || w.placed(part, word)):
			cut := n - 1
			for cut > 0 && is(part[cut-1], joiners) {
				cut--
			}
			out, part = append(out, w.clauses(part[:cut])...), slices.Clone(part[cut:])
		}
		part = append(part, word)
	}
	if len(out) > 1 {
		out = slices.DeleteFunc(out, func(s clause) bool { return is(s.kind, "greet thanks") }) // "hide mini, thanks"
	}
	if len(out) == 0 {
		return []clause{{text: text, left: []string{text}}}
	}
	return foldOnly(out)
}

// placed reports whether words end with a provider, "and" or a comma, and next is no provider:
// "mini on openai and flash on gemini" are two requests.
func (w *window) placed(words []string, next string) bool {
	n := len(words)
	_, known := w.providerNamed(words[n-2])
	_, another := w.providerNamed(next)
	scoped := slices.ContainsFunc(words, func(word string) bool { return is(word, "on of from in") }) && !slices.Contains(words, "except")
	return known && scoped && !another && is(words[n-1], ", and") && !is(next, prepositions)
}

// questionsIn reports which sentences begin with "would" or "should".
func questionsIn(words []string) (asks []bool) {
	would, first := false, true
	for _, word := range append(words, ".") {
		switch {
		case is(word, ". ?"):
			asks, would, first = append(asks, would), false, true
		case first && !is(word, openings):
			would, first = is(word, "would should shall"), false
		}
	}
	return asks
}

// foldOnly makes what a message hides an exception of its "only" request: "only
// keep GPT models, block every preview".
func foldOnly(clauses []clause) (out []clause) {
	i := slices.IndexFunc(clauses, func(s clause) bool { return s.kind == "only" })
	if i < 0 {
		return clauses
	}
	for _, s := range clauses {
		if s.kind == "hide" && s.scope.empty() && len(s.except)+len(s.left) == 0 {
			clauses[i].except = append(clauses[i].except, s.models...)
		}
	}
	return slices.DeleteFunc(clauses, func(s clause) bool {
		return s.kind == "hide" && s.scope.empty() && len(s.except)+len(s.left) == 0
	})
}

// clauses reads one request; none when it has no word.
func (w *window) clauses(words []string) (out []clause) {
	s := clause{}
	for len(words) > 0 && is(words[0], joiners) {
		s.also = s.also || !is(words[0], "but then")
		words = words[1:]
	}
	for n := len(words); n > 0 && (words[n-1] == "," || n > 1 && is(words[n-1], "too also")); n-- {
		s.also = s.also || words[n-1] != ","
		words = words[:n-1]
	}
	if len(words) == 0 {
		return nil
	}
	s.text = strings.ReplaceAll(strings.ReplaceAll(strings.Join(words, " "), " ,", ","), quote, "")
	if words[0] == "propose" {
		inner := slices.IndexFunc(words, func(w string) bool { return !is(w, "propose rules for to that") })
		out = w.clauses(words[max(inner, 1):])
		for i := range out {
			if out[i].propose, out[i].text = true, s.text; !out[i].changesRules() {
				out[i].left = words
			}
		}
		return out
	}
	best := w.read(words, s)
	for len(best.left) > 0 && len(words) > 1 && is(words[0], openings) {
		words = words[1:]
		best = w.read(words, s)
	}
	if len(best.left) > 0 && s.also {
		best = s
		best.kind, best.selection = followUp, w.selection(words)
	}
	best.left = append(best.left, best.unclear...)
	return []clause{best}
}

// read matches a request with the forms: the first without words left over, else
// the one with the fewest. base has its text and flags.
func (w *window) read(words []string, base clause) clause {
	best := base
	best.left = words
	for _, f := range forms() {
		m := f.said.FindStringSubmatch(" " + strings.Join(words, " "))
		if m == nil {
			continue
		}
		s := base
		s.kind = f.kind
		for i, name := range f.said.SubexpNames() {
			if part := strings.Fields(m[i]); i > 0 && len(part) > 0 && !w.fill(&s, name, part) {
				s.left = append(s.left, part...)
			}
		}
		if best.kind == "" || len(s.left) < len(best.left) {
			best = s
		}
		if len(best.left) == 0 {
			break
		}
	}
	switch {
	case best.kind == "remove" && words[0] == "unallow":
		best.list = "whitelist"
	case best.kind == "drop" && slices.ContainsFunc(best.models, func(m string) bool { return isPattern(m) && m != "*" }):
		best.kind = "remove" // a rule
	case best.kind == "drop":
		best.kind = "hide"
	}
	return best
}

// fill puts what a slot of a form stands for into a clause; false when it was not understood.
func (w *window) fill(s *clause, slot string, words []string) bool {
	switch word := words[0]; slot {
	case "what":
		named := s.scope
		s.selection = w.selection(words)
		s.scope.merge(named)
		return (s.named() || s.asks()) && (s.kind != "check" || !s.blank())
	case "where":
		if !is(word, prepositions) {
			words = append([]string{"on"}, words...)
		}
		where := w.selection(words)
		s.scope.merge(where.scope)
		return !where.named() && len(where.unclear) == 0
	case "list":
		s.list = map[string]string{"hide": "ignore", "allow": "whitelist"}[word]
	case "state":
		s.state = word
	case "most":
		s.least = word == "least"
	case "rank":
		s.order, s.least = word, s.least != (word == "cheap")
	case "n":
		s.n = number(word)
	}
	return true
}

// numbers are those that are said in words.
const numbers = "one|two|three|four|five|six|seven|eight|nine|ten|everything|all"

// number reads a count, of which the largest is everything; 0 for none.
func number(w string) int {
	const most = 100
	i := slices.Index(strings.Split(numbers, "|"), w) + 1
	if i > 10 {
		return most
	}
	if n, err := strconv.Atoi(w); err == nil && n > 0 {
		i = min(n, most)
	}
	return i
}
