package offline

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// clause is one request of a message: what to do, with which models, and on which providers.
type clause struct {
	kind string // a tool, an action of plan_rules, or another word of the grammar; "" if it was not understood
	selection
	slots    map[string]string // what the other slots of the form stand for, such as state and list
	question bool              // the clause begins with "would" or "should", or is part of a question: it changes nothing
	also     bool              // "and …", "… too": the clause may continue the previous request
	text     string            // as understood
	plan     gjson.Result      // for a change to rules: one provider's part of the plan that plan_rules returned
	left     []string          // the words that were not understood; if there are any, the clause is not carried out
}

// followUp is the kind of "and nano too": the previous request with other models or providers.
const followUp = "…"

// failed reports whether the clause was not fully understood.
func (s clause) failed() bool { return len(s.left) > 0 || s.kind == "" || s.kind == followUp }

// changesRules reports whether the clause may add or remove rules: its kind is an action of
// plan_rules.
func (s clause) changesRules() bool { return is(s.kind, "hide show allow only remove clear") }

// acts reports whether the clause changes something other than single rules.
func (s clause) acts() bool {
	return is(s.kind, "undo save_changes discard_changes switch_provider refresh_models")
}

// asks reports whether the clause is a question about models.
func (s clause) asks() bool { return is(s.kind, "find_models rank check use") }

// forms contains the ways to say each kind of request.
var forms = sync.OnceValue(func() (out []rule) {
	for _, line := range grammar()["forms"] {
		kind, ways, _ := strings.Cut(line, ":")
		for way := range strings.SplitSeq(ways, ";") {
			said := "^"
			for part := range strings.FieldsSeq(way) {
				text, optional := strings.CutPrefix(strings.TrimSuffix(part, "]"), "[")
				if said += "(?: (?:" + names().Replace(text) + "))"; optional {
					said += "?"
				}
			}
			out = append(out, rule{regexp.MustCompile(said + "$"), kind})
		}
	}
	return out
})

// parse splits a message into its requests, at least one. A request ends at a stop, and at
// a joiner that is followed by the beginning of a form or by models on another provider.
func (w *window) parse(text string) (out []clause) {
	var part []string // words of a clause
	begun := 0        // number of clauses before the current sentence
	for _, word := range append(canonical(split(withConditions(text))), ".") {
		n := len(part)
		switch {
		case is(word, ". ?"):
			out, part = w.add(out, part), nil
			for asks := word == "?"; begun < len(out); begun++ {
				asks = asks || out[begun].question
				out[begun].question = asks
			}
			continue
		case n > 1 && in(part[n-1], "joiners") && !in(word, "joiners") && (in(word, "begins") || w.placed(part, word)):
			out, part = w.add(out, part), []string{part[n-1]}
		}
		part = append(part, word)
	}
	if len(out) > 1 {
		out = slices.DeleteFunc(out, func(s clause) bool { return is(s.kind, "greet thanks") }) // "hide mini, thanks"
	}
	if len(out) == 0 {
		return []clause{{text: text, left: []string{text}}}
	}
	return out
}

// placed reports whether a new request begins with next, after words that end with a
// provider and a comma or "and": "mini on openai and flash on gemini" are two requests.
func (w *window) placed(words []string, next string) bool {
	n := len(words)
	_, known := w.providerNamed(words[n-2])
	_, another := w.providerNamed(next)
	scoped := slices.ContainsFunc(words, func(word string) bool { return is(word, "on of from in") })
	return known && scoped && !slices.Contains(words, "except") && !another && is(words[n-1], ", and") &&
		!in(next, "prepositions")
}

// add reads one request, if there is one, and adds it to the previous ones of the message.
// What is hidden after an "only" request is an exception to it: "only keep GPT models, block
// every preview".
func (w *window) add(out []clause, words []string) []clause {
	s := clause{}
	for len(words) > 0 && in(words[0], "joiners") {
		s.also = s.also || !is(words[0], "but then")
		words = words[1:]
	}
	for n := len(words); n > 1 && (in(words[n-1], "joiners") || words[n-1] == "too"); n-- {
		s.also = s.also || is(words[n-1], "too also")
		words = words[:n-1]
	}
	if len(words) == 0 {
		return out
	}
	s.text = strings.NewReplacer(" ,", ",", quote, "", "-provider", " provider").Replace(strings.Join(words, " "))
	first := slices.IndexFunc(words, func(w string) bool { return !in(w, "openings") })
	s.question = first >= 0 && is(words[first], "would should")
	best := w.read(words, s)
	for len(best.left) > 0 && len(words) > 1 && (in(words[0], "openings") || s.question && in(words[0], "asking")) {
		words = words[1:]
		best = w.read(words, s)
	}
	if len(best.left) > 0 && s.also {
		best = s
		best.kind, best.selection = followUp, w.selection(words)
	}
	best.left = append(best.left, best.unclear...)
	if n := len(out) - 1; n >= 0 && out[n].kind == "only" && best.kind == "hide" && best.at == "" && len(best.except)+len(best.left) == 0 {
		out[n].except = append(out[n].except, best.models...)
		return out
	}
	return append(out, best)
}

// read matches a request with the forms. It picks the first form that leaves no words over,
// or else the one that leaves the fewest. base contains the text and the flags of the
// request.
func (w *window) read(words []string, base clause) clause {
	best := base
	best.left = words
	for _, f := range forms() {
		m := f.said.FindStringSubmatch(" " + strings.Join(words, " "))
		if m == nil {
			continue
		}
		s := base
		s.kind, s.slots = f.means, map[string]string{}
		for i, name := range f.said.SubexpNames() {
			s.slots[name] += m[i]
		}
		what, where := strings.Fields(s.slots["what"]), strings.Fields(s.slots["where"])
		if len(where) > 0 && !in(where[0], "prepositions") {
			where = append([]string{"on"}, where...)
		}
		s.selection = w.selection(slices.Concat(what, where))
		switch {
		case len(what) == 0 && (s.named() || len(s.unclear) > 0):
			s.left = append(s.left, where...)
		case len(what) > 0 && (!s.named() && !s.asks() || s.kind == "check" && s.blank()):
			s.left = append(s.left, what...)
		}
		if best.kind == "" || len(s.left) < len(best.left) {
			best = s
		}
		if len(best.left) == 0 {
			break
		}
	}
	return best
}

// number reads a count; 0 if there is none.
func number(w string) int {
	n, _ := strconv.Atoi(w) // 0 if it is not a number
	return n
}
