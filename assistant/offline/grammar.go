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
	kind string // from the grammar, or followUp; "" if it was not understood
	selection
	list     string   // the rule list, in the tools' terms; "" means both
	state    string   // hidden, shown or allowed; "" means any
	order    string   // what a ranking is ordered by
	least    bool     // a ranking starts with the lowest
	n        int      // the number of steps to undo, or of models in a ranking
	question bool     // it ends with a question mark, or begins with "would": it changes nothing
	also     bool     // "and …", "… too": it may continue the previous request
	text     string   // as understood
	left     []string // the words that were not understood; if there are any, the clause is not carried out
}

// followUp is the kind of "and nano too": the previous request with other models or providers.
const followUp = "…"

// failed reports whether the clause was not fully understood.
func (s clause) failed() bool { return len(s.left) > 0 || s.kind == "" || s.kind == followUp }

// changesRules reports whether the clause may add or remove rules: its kind is an action of
// plan_rules.
func (s clause) changesRules() bool { return is(s.kind, "hide show allow only remove clear") }

// acts reports whether the clause changes something other than single rules.
func (s clause) acts() bool { return is(s.kind, "undo save discard switch refresh") }

// asks reports whether the clause names models and changes nothing.
func (s clause) asks() bool { return is(s.kind, "list rank check") }

// selects reports whether a follow-up can continue the clause.
func (s clause) selects() bool {
	return s.changesRules() || s.asks() || s.kind == "rules"
}

// form is one way to say a request.
type form struct {
	kind string
	said *regexp.Regexp
}

// slots are the placeholders that a form can contain.
var slots = strings.NewReplacer("$what", `(?P<what>.+?)`,
	"$pattern", `(?P<what>.*(?:[^ ][*?[]|[*?[][^ ]).*)`, "$where", `(?P<where>.+?)`,
	"$at", `(?P<where>(?:on|from|for|at|in|of|across) .+?)`, "$n", `(?P<n>\d{1,3})`,
	"$list", `(?P<list>hide|allow)`, "$state", `(?P<state>hidden|shown|allowed)`, "$most", `(?P<most>most|least)`,
	"$rank", `(?P<rank>expensive|cheap|used|context)`, "$cheap", `(?P<rank>cheap)`)

// forms returns the forms in the grammar.
var forms = sync.OnceValue(func() (out []form) {
	for _, line := range section("forms") {
		kind, ways, _ := strings.Cut(line, ":")
		for way := range strings.SplitSeq(ways, ";") {
			said := "^"
			for part := range strings.FieldsSeq(way) {
				text, optional := strings.CutPrefix(strings.TrimSuffix(part, "]"), "[")
				if said += "(?: (?:" + slots.Replace(text) + "))"; optional {
					said += "?"
				}
			}
			out = append(out, form{kind, regexp.MustCompile(said + "$")})
		}
	}
	return out
})

// begins reports whether a request can begin with a word.
func begins(word string) bool { return is(word, section("begins")[0]) }

const (
	// openings mean nothing at the start of a request.
	openings = "hi hello hey ok okay thanks well so next first wait , would"
	// joiners separate two requests when a form begins after them.
	joiners = ", and then but also plus & +"
)

// parse splits a message into its requests, at least one. A request ends at a stop, and at
// a joiner that is followed by the beginning of a form or by models on another provider.
func (w *window) parse(text string) (out []clause) {
	words := split(withConditions(text))
	if len(words) > maxWords {
		return []clause{{left: []string{"a message of this length"}, text: "a message of this length"}}
	}
	var part []string       // of a clause
	begun, asks := 0, false // clauses before the sentence; whether it begins as a question
	for _, word := range append(canonical(words), ".") {
		n := len(part)
		switch {
		case is(word, ". ?"):
			out = append(out, w.clauses(part)...)
			for ; begun < len(out); begun++ {
				out[begun].question = out[begun].question || asks || word == "?"
			}
			part, asks = nil, false
			continue
		case n > 1 && is(part[n-1], joiners) && !is(word, joiners) && (begins(word) || w.placed(part, word)):
			out, part = append(out, w.clauses(part)...), []string{part[n-1]}
		case is(word, "would should") && begun == len(out):
			asks = asks || !slices.ContainsFunc(part, func(w string) bool { return !is(w, openings) })
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
	scoped := slices.ContainsFunc(words, func(word string) bool { return is(word, "on of from in") })
	return known && scoped && !slices.Contains(words, "except") && !another && is(words[n-1], ", and") &&
		!is(next, prepositions)
}

// foldOnly turns what a message hides into exceptions of its "only" request: "only keep GPT
// models, block every preview".
func foldOnly(clauses []clause) []clause {
	only := slices.IndexFunc(clauses, func(s clause) bool { return s.kind == "only" })
	folds := func(s clause) bool {
		return only >= 0 && s.kind == "hide" && s.scope.empty() && len(s.except)+len(s.left) == 0
	}
	for _, s := range clauses {
		if folds(s) {
			clauses[only].except = append(clauses[only].except, s.models...)
		}
	}
	return slices.DeleteFunc(clauses, folds)
}

// clauses reads one request. It returns none if there are no words.
func (w *window) clauses(words []string) []clause {
	s := clause{}
	for len(words) > 0 && is(words[0], joiners) {
		s.also = s.also || !is(words[0], "but then")
		words = words[1:]
	}
	for n := len(words); n > 1 && is(words[n-1], joiners+" too"); n-- {
		s.also = s.also || is(words[n-1], "too also")
		words = words[:n-1]
	}
	if len(words) == 0 {
		return nil
	}
	s.text = strings.NewReplacer(" ,", ",", quote, "", "-provider", " provider").Replace(strings.Join(words, " "))
	if s.question = words[0] == "propose"; s.question {
		inner := slices.IndexFunc(words, func(w string) bool { return !is(w, "propose rules for to that") })
		words = words[max(inner, 1):]
	}
	best := w.read(words, s)
	for len(best.left) > 0 && len(words) > 1 && is(words[0], openings) {
		words = words[1:]
		best = w.read(words, s)
	}
	switch {
	case len(words) == 0, s.question && !best.changesRules():
		best.left = append(words, "propose")
	case len(best.left) > 0 && s.also:
		best = s
		best.kind, best.selection = followUp, w.selection(words)
	}
	best.left = append(best.left, best.unclear...)
	return []clause{best}
}

// read matches a request with the forms and picks the first that leaves no words over, or
// else the one that leaves the fewest. base contains its text and flags.
func (w *window) read(words []string, base clause) clause {
	best := base
	best.left = words
	for _, f := range forms() {
		m := f.said.FindStringSubmatch(" " + strings.Join(words, " "))
		if m == nil {
			continue
		}
		said := map[string]string{}
		for i, name := range f.said.SubexpNames() {
			said[name] += m[i]
		}
		if s := w.fill(base, f.kind, said); best.kind == "" || len(s.left) < len(best.left) {
			best = s
		}
		if len(best.left) == 0 {
			break
		}
	}
	return best
}

// fill sets the fields of a clause from the slots of a form.
func (w *window) fill(s clause, kind string, said map[string]string) clause {
	s.kind, s.state, s.order, s.n = kind, said["state"], said["rank"], number(said["n"])
	s.list = map[string]string{"hide": "ignore", "allow": "whitelist"}[said["list"]]
	s.least = (said["most"] == "least") != (s.order == "cheap")
	what, where := strings.Fields(said["what"]), strings.Fields(said["where"])
	if len(where) > 0 && !is(where[0], prepositions) {
		where = append([]string{"on"}, where...)
	}
	s.selection = w.selection(slices.Concat(what, where))
	switch {
	case len(what) == 0 && (s.named() || len(s.unclear) > 0):
		s.left = append(s.left, where...)
	case len(what) > 0 && (!s.named() && !s.asks() || kind == "check" && s.blank()):
		s.left = append(s.left, what...)
	}
	return s
}

// number reads a count; 0 if there is none.
func number(w string) int {
	const most = 100
	n, _ := strconv.Atoi(w) // 0 if it is not a number
	return min(n, most)
}
