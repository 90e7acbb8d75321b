package offline

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"winnow/assistant/glob"
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
	providers := t.scopeOf(s.what.scope)
	if len(providers) == 0 {
		t.say("That leaves no provider. %s", nothingChanged)
		return nil
	}
	found, unknown := t.resolveOn(s, providers)
	if len(unknown) > 0 && s.what.scope.empty() {
		found, unknown = t.resolveElsewhere(s, providers)
	}
	if t.waiting() {
		return nil
	}
	if len(unknown) > 0 {
		t.notUnderstood(s, unknown)
		return nil
	}
	return found
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

// resolveOn resolves a selection on some providers. A word that means nothing
// on any of them is unknown.
func (t *turn) resolveOn(s step, providers []string) (out []target, unknown []string) {
	use := slices.Clone(providers)
	for _, it := range slices.Concat(s.what.items, s.what.except) {
		if it.provider != "" && s.what.scope.empty() && !slices.Contains(use, it.provider) {
			use = append(use, it.provider)
		}
	}
	known := map[string]bool{}
	var words []string
	for _, p := range use {
		cat := t.catalog(p, narrow(s.what))
		if cat == nil {
			continue
		}
		tg := target{cat: cat}
		for _, part := range []struct {
			items  []item
			except bool
		}{{s.what.except, true}, {s.what.items, false}} {
			for _, it := range part.items {
				words = append(words, itemWords(it)...)
				if !(part.except && it.provider == "") && !it.on(p, providers, s.what.scope) {
					continue
				}
				m := it.find(cat, tg.excepted)
				for _, w := range m.known {
					known[w] = true
				}
				tg.add(it, m, part.except)
			}
		}
		if len(tg.patterns) > 0 {
			tg.subtractExceptions(s.what)
			out = append(out, tg)
		}
	}
	for _, w := range unique(words) {
		if !known[w] {
			unknown = append(unknown, w)
		}
	}
	return out, unknown
}

// on reports whether an item is about a provider.
func (it item) on(p string, providers []string, s scope) bool {
	if it.provider == "" || !s.empty() && !slices.Contains(providers, it.provider) {
		return slices.Contains(providers, p)
	}
	return it.provider == p
}

func (tg *target) add(it item, m found, except bool) {
	if except {
		tg.excepted = append(tg.excepted, m.models...)
		tg.keep = append(tg.keep, m.patterns...)
		return
	}
	tg.all = tg.all || it.all && len(it.words) == 0 && !it.newest && !it.old
	tg.models = union(tg.models, m.models)
	tg.patterns = unique(append(tg.patterns, m.patterns...))
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

// resolveElsewhere looks for words that the shown provider does not know on all
// providers. A family or an id that only one of them has is meant there; for
// other words the places are offered.
func (t *turn) resolveElsewhere(s step, here []string) (out []target, unknown []string) {
	for _, part := range [][]item{s.what.items, s.what.except} {
		for i := range part {
			if part[i].provider != "" {
				continue
			}
			at, missing := t.placesOf(s, part[i], here)
			if t.waiting() {
				return nil, nil
			}
			if len(missing) == 0 {
				continue
			}
			strong := len(part[i].words) > 0 && (part[i].isFamily() || part[i].isID(at))
			if len(at) == 1 && (strong || s.kind >= explain) {
				part[i].provider = at[0].provider
				continue
			}
			if len(at) > 0 && s.kind >= explain {
				s.what.scope.every = true
				continue
			}
			unknown = append(unknown, missing...)
			for _, c := range at {
				t.say("%s has models with %s.", clean(c.provider), code(part[i].text()))
				t.offer("On "+c.provider, s.text+" on "+c.provider)
			}
		}
	}
	if len(unknown) > 0 {
		return nil, unknown
	}
	providers := here
	if s.what.scope.every {
		providers = t.w.providers
	} else if slices.ContainsFunc(s.what.items, func(it item) bool { return it.provider != "" }) &&
		!slices.ContainsFunc(s.what.items, func(it item) bool { return it.provider == "" }) {
		providers = nil
		for _, it := range s.what.items {
			providers = unique(append(providers, it.provider))
		}
	}
	return t.resolveOn(s, providers)
}

// placesOf finds the providers that know an item. missing are its words that
// the providers of here do not know.
func (t *turn) placesOf(s step, it item, here []string) (at []*catalog, missing []string) {
	for _, p := range t.w.providers {
		cat := t.catalog(p, narrow(s.what))
		if cat == nil {
			continue
		}
		m := it.find(cat, nil)
		all := len(m.known) == len(itemWords(it))
		switch {
		case slices.Contains(here, p) && all:
			return nil, nil
		case slices.Contains(here, p):
			for _, w := range itemWords(it) {
				if !slices.Contains(m.known, w) {
					missing = append(missing, w)
				}
			}
		case all && len(m.models) > 0:
			at = append(at, cat)
		}
	}
	return at, missing
}

func (it item) isFamily() bool {
	return slices.ContainsFunc(it.words, func(w term) bool { return w.form == asWord && familyOf(w.text) != "" })
}

// isID reports a single word that is the id of a model.
func (it item) isID(at []*catalog) bool {
	return len(it.words) == 1 && slices.ContainsFunc(at, func(c *catalog) bool {
		return slices.ContainsFunc(c.models, func(m model) bool { return m.named(it.words[0].text) })
	})
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
			for _, text := range append([]string{w.text}, synonyms[w.text]...) {
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
		switch up, low := unicode.ToUpper(r), unicode.ToLower(r); {
		case r == '.':
			b.WriteString("[.-]")
		case up != low:
			fmt.Fprintf(&b, "[%c%c]", up, low)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func itemWords(it item) []string {
	var out []string
	for _, w := range it.words {
		out = append(out, w.text)
	}
	return out
}

func contains(models []model, id string) bool {
	return slices.ContainsFunc(models, func(m model) bool { return m.id == id })
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
		globs := make([]*glob.Pattern, len(patterns))
		for i, p := range patterns {
			globs[i] = glob.Compile(p)
		}
		same := !slices.ContainsFunc(cat.models, func(m model) bool {
			return in[m.id] != slices.ContainsFunc(globs, func(g *glob.Pattern) bool { return g.MatchID(m.id) })
		})
		if same {
			return patterns
		}
	}
	if len(models) > maxEnumerated || cat.unlisted > 0 {
		return nil
	}
	return unique(names(models))
}
