package offline

import (
	"slices"
	"strings"
	"unicode"
)

// goal is a selector made concrete: patterns for one provider.
type goal struct {
	provider string // "" is the current one
	pattern  string // what the selector means as a pattern
	all      bool   // every model of the provider
	plain    bool   // and the words say so
	sel      selector
	problem  string // why it cannot be made concrete
}

// goals makes a selector concrete. It gives one goal, or one for each provider
// when the selector says so.
func (w *window) goals(s selector) []goal {
	if s.each {
		return w.eachProvider(s)
	}
	g := goal{sel: s, all: s.all, plain: s.plain}
	if s.provider != "" {
		p, ok := w.providerNamed(s.provider)
		if !ok {
			if s.provider == "" || !anyFits(w.models, strings.ToLower(s.provider)+"/*") {
				g.problem = "there is no provider " + code(s.provider) + " here"
				return []goal{g}
			}
			g.sel.terms = append([]term{{strings.ToLower(s.provider) + "/", asPrefix}}, g.sel.terms...)
			g.all = false
		} else {
			g.provider = w.scope(p)
		}
	}
	w.vendorTerm(&g)
	models := w.known(g.provider)
	if len(g.sel.terms) == 0 {
		g.all, g.pattern = true, "*"
		return []goal{g}
	}
	g.plain = false
	g.pattern = pattern(g.sel, models)
	if s.provider == "" && g.provider == "" && !w.truncated && !anyFits(models, g.pattern) {
		if p, ok := w.familyElsewhere(g.sel); ok {
			g.provider = p
			g.pattern = pattern(g.sel, nil)
		}
	}
	return []goal{g}
}

// scope is "" for the current provider.
func (w *window) scope(p string) string {
	if p == w.provider {
		return ""
	}
	return p
}

// known returns the models of a provider that the context lists.
func (w *window) known(provider string) []model {
	if provider != "" {
		return nil
	}
	return w.models
}

// eachProvider repeats a selector for every provider, or every major one.
func (w *window) eachProvider(s selector) []goal {
	s.each = false
	var out []goal
	for _, p := range w.providers {
		if _, known := vendors[strings.ToLower(p)]; s.major && !known {
			continue
		}
		out = append(out, goal{provider: w.scope(p), pattern: "*", all: true, plain: true, sel: s})
	}
	if len(out) == 0 {
		out = append(out, goal{pattern: "*", all: true, plain: true, sel: s})
	}
	return out
}

// vendorTerm reads a word as a provider's name: "openai models", "anthropic
// haiku", "openai/gpt-4o" while another provider is shown. A word that is also
// a family ("mistral") stays one where the shown models have it.
func (w *window) vendorTerm(g *goal) {
	for i, t := range g.sel.terms {
		if t.form == asPart || t.form == asSuffix {
			continue
		}
		lower := strings.ToLower(t.text)
		if head, _, ok := strings.Cut(lower, "/"); ok && g.provider == "" {
			if p, found := w.providerNamed(head); found && p == head && !anyFits(w.models, head+"/*") {
				g.provider = w.scope(p)
			}
			continue
		}
		p, ok := w.providerNamed(lower)
		if t.form == asTyped || !ok && !providerWord(lower) {
			continue
		}
		if _, family := families[lower]; family && (anyFits(w.models, lower+"*") || !ok) {
			continue
		}
		rest := slices.Delete(slices.Clone(g.sel.terms), i, i+1)
		switch {
		case p != w.provider && slices.ContainsFunc(w.models, func(m model) bool { return strings.HasPrefix(m.name, lower+"/") }):
			g.sel.terms = append([]term{{lower + "/", asPrefix}}, rest...)
		case ok:
			g.sel.terms, g.provider = rest, w.scope(p)
		}
		return
	}
}

// familyElsewhere finds the provider of a family that the shown one lacks.
func (w *window) familyElsewhere(s selector) (string, bool) {
	for _, t := range s.terms {
		f, ok := familyOf(strings.ToLower(t.text))
		if !ok || t.form == asPart || t.form == asSuffix {
			continue
		}
		if p, found := w.providerNamed(families[f]); found && p != w.provider {
			return p, true
		}
	}
	return "", false
}

// familyOf tells which family a word begins with: "gpt-4", "qwen3", "claude".
func familyOf(s string) (string, bool) {
	if _, ok := families[s]; ok {
		return s, true
	}
	for i := len(s) - 1; i > 0; i-- {
		if c := s[i]; c == '-' || c == '.' || c == ':' || c >= '0' && c <= '9' {
			if _, ok := families[s[:i]]; ok {
				return s[:i], true
			}
		}
	}
	return "", false
}

// pattern writes a selector's terms as one pattern, choosing among the ways to
// write it the first that fits a listed model.
func pattern(s selector, models []model) string {
	ways := spellings(s, models)
	for _, p := range ways {
		if anyFits(models, p) {
			return p
		}
	}
	return ways[len(ways)-1]
}

// spellings lists the patterns a selector may mean, best first; the last is
// the one taken when no model is known to fit.
func spellings(s selector, models []model) []string {
	if len(s.terms) == 1 {
		return termSpellings(s.terms[0], s.plural, models)
	}
	words := make([]string, 0, len(s.terms))
	fixed := false
	for _, t := range s.terms {
		fixed = fixed || t.form == asTyped || t.form == asPrefix || t.form == asSuffix
		words = append(words, strings.ToLower(t.text))
	}
	if fixed {
		return []string{mixed(s.terms)}
	}
	at := slices.IndexFunc(words, func(x string) bool { _, ok := familyOf(x); return ok })
	if at > 0 && !slices.ContainsFunc(words[:at], numeric) { // "preview gpt-4 models"
		words = append([]string{words[at]}, slices.Delete(slices.Clone(words), at, at+1)...)
	}
	return phraseSpellings(words, at >= 0, s.plural, models)
}

// phraseSpellings writes "claude opus 4.5" or "audio preview".
func phraseSpellings(words []string, family, plural bool, models []model) []string {
	var out []string
	dashed := strings.Join(words, "-")
	forms := unique([]string{dashed, strings.ReplaceAll(dashed, ".", "-")})
	if !plural {
		for _, f := range forms {
			if m, ok := byID(models, f); ok {
				out = append(out, m.name)
			}
		}
	}
	loose := words[0]
	for _, x := range words[1:] {
		if numeric(x) {
			loose += "-" + x
		} else {
			loose += "*" + singular(x, models)
		}
	}
	if !family {
		back := slices.Clone(words)
		slices.Reverse(back)
		for i := range back {
			back[i] = singular(back[i], models)
		}
		return append(out, "*"+strings.Join(back, "*")+"*", "*"+loose+"*")
	}
	for _, f := range forms {
		out = append(out, f+"*")
	}
	stars := strings.Join(words, "*") + "*"
	return append(out, strings.ReplaceAll(loose, ".", "-")+"*", stars, strings.ReplaceAll(stars, ".", "-"), "*"+stars, "*"+loose+"*", dashes(loose)+"*")
}

// dashes writes a version as its family does, for models that are not listed:
// Claude's ids have no dots.
func dashes(s string) string {
	if strings.HasPrefix(s, "claude") {
		return strings.ReplaceAll(s, ".", "-")
	}
	return s
}

// termSpellings writes one term.
func termSpellings(t term, plural bool, models []model) []string {
	lower := strings.ToLower(t.text)
	switch t.form {
	case asPrefix:
		return unique([]string{t.text + "*", lower + "*"})
	case asSuffix:
		return unique([]string{"*" + t.text, "*" + lower})
	case asPart:
		return unique([]string{"*" + strings.Trim(t.text, "*") + "*", "*" + strings.Trim(singular(lower, models), "*") + "*"})
	case asTyped:
		if m, ok := byID(models, t.text); ok && !wild(t.text) {
			return []string{written(m, t.text)}
		}
		if lower != t.text && anyFits(models, lower) && !anyFits(models, t.text) {
			return []string{lower}
		}
		return []string{t.text}
	default:
	}
	if m, ok := byID(models, t.text); ok && !plural {
		return []string{written(m, t.text)}
	}
	var out []string
	for _, v := range unique(append([]string{t.text, lower}, variants(lower, models)...)) {
		if _, ok := familyOf(strings.ToLower(v)); ok && !partly(models, v) {
			out = append(out, v+"*")
		}
		out = append(out, "*"+v+"*")
	}
	last := "*" + singular(lower, models) + "*"
	if _, ok := familyOf(lower); ok {
		last = dashes(lower) + "*"
	}
	return append(out, last)
}

// written keeps a whole id whole when the user wrote it so.
func written(m model, typed string) string {
	if strings.EqualFold(m.id, typed) {
		return m.id
	}
	return m.name
}

// partly reports that a name holds v without beginning with it, so that the
// family needs a star before it too (`openrouter`'s ids).
func partly(models []model, v string) bool {
	part := false
	for _, m := range models {
		if strings.HasPrefix(m.tail, v) {
			return false
		}
		part = part || strings.Contains(m.tail, v)
	}
	return part
}

// variants are other ways ids may write a word.
func variants(lower string, models []model) []string {
	out := append([]string{singular(lower, models)}, shortForms[lower]...)
	if one := strings.TrimSuffix(lower, "s"); one != lower {
		out = append(out, shortForms[one]...)
	}
	if f := strings.TrimRightFunc(lower, func(c rune) bool { return unicode.IsDigit(c) || c == '.' }); f != lower {
		if _, ok := families[f]; ok { // "gpt4" → "gpt-4"
			out = append(out, f+"-"+lower[len(f):])
		}
	}
	if strings.Contains(lower, ".") {
		out = append(out, strings.ReplaceAll(lower, ".", "-"))
	}
	return out
}

// singular drops a plural s that no listed model has: "previews".
func singular(s string, models []model) string {
	const shortest = 4 // "gpts", "minis"; shorter words are names
	one := strings.TrimSuffix(s, "s")
	if one == s || len(s) < shortest || strings.HasSuffix(one, "s") || anyFits(models, "*"+s+"*") {
		return s
	}
	if _, ok := families[s]; ok {
		return s
	}
	return one
}

// numeric reports a version number as a word: "4", "3.5", "4o".
func numeric(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// mixed joins terms of which some have a fixed place.
func mixed(terms []term) string {
	head, tail, middle := "", "", "*"
	for _, t := range terms {
		switch t.form {
		case asPrefix:
			head += t.text
		case asSuffix:
			tail = t.text
		case asTyped:
			middle += t.text + "*"
		default:
			middle += strings.ToLower(t.text) + "*"
		}
	}
	p := head + middle + tail
	for strings.Contains(p, "**") {
		p = strings.ReplaceAll(p, "**", "*")
	}
	return p
}

// within narrows pattern b to models of pattern a: `gpt*` and `*mini*` give
// `gpt*mini*`. ok is false when the two cannot be joined so.
func within(a, b string, models []model) (p string, ok bool) {
	inside := true
	for _, m := range models {
		if m.fits(b) && !m.fits(a) {
			inside = false
			break
		}
	}
	if a == "*" || inside && len(models) > 0 || !wild(b) {
		return b, true
	}
	if strings.HasSuffix(a, "*") && strings.HasPrefix(b, "*") {
		return a + b[1:], true
	}
	return "", false
}
