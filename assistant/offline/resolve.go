package offline

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// target is what a selection means on one provider.
type target struct {
	cat      *catalog
	patterns []string // together they match just the models meant, exceptions included
	models   []model  // the listed models meant, without the exceptions
	excepted []model  // the listed models that the exceptions take out
	keep     []string // patterns for excepted
	all      bool     // every model of the provider
}

// maxEnumerated is how many rules for single models one selection may become.
const maxEnumerated = 60

// resolve finds what a step's selection means. nil means that calls are made
// now, or that it could not be found, which is said.
func (t *turn) resolve(s step) []target {
	if len(s.what.items) == 0 {
		t.say("I do not know which models you mean. %s", nothingChanged)
		return nil
	}
	var providers, unknown []string
	at := make([][]string, len(s.what.items))
	for i, it := range s.what.items {
		var missing []string
		at[i], missing = t.placesOf(s, it)
		providers, unknown = append(providers, at[i]...), append(unknown, missing...)
	}
	providers = unique(providers)
	for _, it := range s.what.except {
		where := providers
		if it.provider != "" {
			where = []string{it.provider}
		}
		_, missing := t.knownAt(s, it, where)
		unknown = append(unknown, missing...)
	}
	switch {
	case t.waiting():
		return nil
	case len(unknown) > 0:
		t.notUnderstood(s, unknown)
		return nil
	case len(providers) == 0:
		t.say("No provider is meant. %s", nothingChanged)
		return nil
	}
	var out []target
	for _, p := range providers {
		tg := target{cat: t.catalog(p, narrow(s.what))}
		for _, it := range s.what.except {
			if it.provider == "" || it.provider == p {
				m := it.find(tg.cat, nil)
				tg.excepted, tg.keep = append(tg.excepted, m.models...), append(tg.keep, m.patterns...)
			}
		}
		for i, it := range s.what.items {
			if slices.Contains(at[i], p) {
				m := it.find(tg.cat, tg.excepted)
				tg.models, tg.patterns = union(tg.models, m.models), unique(append(tg.patterns, m.patterns...))
				tg.all = tg.all || it.all && len(it.words) == 0 && !it.newest && !it.old
			}
		}
		tg.subtractExceptions(s.what)
		out = append(out, tg)
	}
	return out
}

// placesOf finds the providers on which an item means something. missing are
// the words that mean nothing there. Without a provider in the request it is the
// shown one. What that does not know is looked for on the others: a question
// is about all that do, a change needs a family or an id that only one has; of
// other words the places are said.
func (t *turn) placesOf(s step, it item) (at, missing []string) {
	here := t.scopeOf(s.what.scope)
	if it.provider != "" && (s.what.scope.empty() || slices.Contains(here, it.provider)) {
		here = []string{it.provider}
	}
	at, missing = t.knownAt(s, it, here)
	if len(missing) == 0 || it.provider != "" || !s.what.scope.empty() {
		return at, missing
	}
	if at, _ = t.knownAt(s, it, t.w.providers); t.waiting() {
		return nil, nil
	}
	if len(at) > 0 && (s.kind >= explain || len(at) == 1 && (it.isFamily() || it.isID(t.catalog(at[0], narrow(s.what))))) {
		return at, nil
	}
	for _, p := range at {
		hidden := !slices.ContainsFunc(it.find(t.catalog(p, narrow(s.what)), nil).models, func(m model) bool { return !m.isHidden() })
		if hidden && s.kind == hide {
			t.say("%s has models with %s, all of them hidden.", clean(p), code(strings.Join(itemWords(it), " ")))
			continue
		}
		t.say("%s has models with %s.", clean(p), code(strings.Join(itemWords(it), " ")))
		t.offer("On "+p, s.text+" on "+p)
	}
	return nil, missing
}

// knownAt returns those of some providers on which all words of an item mean
// something, and when there is none the words that mean nothing on any.
func (t *turn) knownAt(s step, it item, providers []string) (at, missing []string) {
	words := itemWords(it)
	missing = words
	for _, p := range providers {
		cat := t.catalog(p, narrow(s.what))
		if cat == nil {
			continue
		}
		m := it.find(cat, nil)
		if len(m.known) == len(it.words) {
			at = append(at, p)
		}
		missing = slices.DeleteFunc(slices.Clone(missing), func(w string) bool { return slices.Contains(m.known, w) })
	}
	switch {
	case len(at) > 0:
		return at, nil
	case len(missing) == 0: // each is known somewhere, but not all in one place
		return nil, words
	}
	return nil, missing
}

// scopeOf lists the providers of a scope; the shown one when it names none.
func (t *turn) scopeOf(s scope) []string {
	out := s.providers
	if s.every || len(out) == 0 && len(s.without) > 0 {
		out = slices.Clone(t.w.providers)
		if s.major {
			out = slices.DeleteFunc(out, func(p string) bool { return vendors[strings.ToLower(p)] == "" })
		}
		if s.others {
			out = slices.DeleteFunc(out, func(p string) bool { return p == t.w.provider })
		}
	} else if len(out) == 0 {
		out = []string{t.w.provider}
	}
	return slices.DeleteFunc(slices.Clone(out), func(p string) bool { return slices.Contains(s.without, p) })
}

// subtractExceptions takes the excepted models out, and finds the patterns that
// keep just them.
func (tg *target) subtractExceptions(sel selection) {
	out := intersect(tg.models, tg.excepted)
	tg.excepted = out
	if len(out) == 0 {
		tg.keep = nil
		return
	}
	tg.models = without(tg.models, out)
	candidates := [][]string{tg.keep}
	for _, a := range sel.items {
		for _, b := range sel.except {
			both := item{words: slices.Concat(a.words, b.words)}
			candidates = append(candidates, both.spellings(tg.cat, out)...)
		}
	}
	tg.keep = choose(tg.cat, out, candidates)
}

func (it item) isFamily() bool {
	return slices.ContainsFunc(it.words, func(w term) bool { return w.form == asWord && familyOf(w.text) != "" })
}

// isID reports a single word that is the id of a model.
func (it item) isID(c *catalog) bool {
	return len(it.words) == 1 && slices.ContainsFunc(c.models, func(m model) bool { return m.named(it.words[0].text) })
}

func (m model) named(s string) bool {
	return strings.EqualFold(m.id, s) || strings.EqualFold(m.name, s)
}

// narrow are patterns that match all models a selection can mean, in any case
// of the letters.
func narrow(sel selection) []string {
	var out []string
	for _, it := range slices.Concat(sel.items, sel.except) {
		if len(it.words) == 0 {
			out = append(out, "*")
		}
		for _, w := range it.words {
			if w.form == asTyped {
				out = append(out, w.text)
				continue
			}
			for _, text := range w.texts() {
				out = append(out, "*"+anyCase(text)+"*")
			}
		}
	}
	return unique(out)
}

// anyCase is a pattern for a text in upper and lower case, with . and - alike.
func anyCase(text string) string {
	var b strings.Builder
	for _, r := range text {
		if up, low := unicode.ToUpper(r), unicode.ToLower(r); up != low {
			fmt.Fprintf(&b, "[%c%c]", up, low)
		} else {
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), ".", "[.-]")
}

func itemWords(it item) []string {
	var out []string
	for _, w := range it.words {
		out = append(out, w.text)
	}
	return out
}

func ids(models []model) map[string]bool {
	out := make(map[string]bool, len(models))
	for _, m := range models {
		out[m.id] = true
	}
	return out
}

func intersect(a, b []model) []model {
	in := ids(b)
	return filter(a, func(m model) bool { return in[m.id] })
}

func without(a, b []model) []model {
	in := ids(b)
	return filter(a, func(m model) bool { return !in[m.id] })
}

func union(a, b []model) []model { return append(a, without(b, a)...) }

// choose returns the first candidate whose patterns match just the models, else
// the models one by one; nil when that would be too many.
func choose(cat *catalog, models []model, candidates [][]string) []string {
	in := ids(models)
	for _, patterns := range candidates {
		if len(patterns) == 0 {
			continue
		}
		matches := matcher(patterns)
		same := !slices.ContainsFunc(cat.models, func(m model) bool { return in[m.id] != matches(m) })
		if same {
			return patterns
		}
	}
	if len(models) > maxEnumerated || cat.unlisted > 0 {
		return nil
	}
	return unique(names(models))
}
