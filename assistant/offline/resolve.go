package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"winnow/assistant/offline/wire"
)

// target is what a selection means on one provider.
type target struct {
	*catalog
	models         []model  // the listed models meant, without the exceptions
	patterns       []string // together they match just these and the excepted ones
	excepted       []model  // the listed models that the exceptions take out
	exceptPatterns []string // patterns for these
	all            bool     // every model of the provider
	vague          bool     // no patterns match just some of the models
}

// resolve finds what a step's selection means. nil means that calls are made
// now, or that it could not be found, which is reported.
func (c *conversation) resolve(s step) (out []target) {
	if len(s.selection.items) == 0 {
		c.reportf("I do not know which models you mean. %s", nothingChanged)
		return nil
	}
	var providers, unknown []string
	items := map[string][]item{} // by provider
	for _, it := range s.selection.items {
		found, missing := c.findProviders(s, it)
		if s.kind == only && len(s.selection.items) > 1 && len(missing) > 0 && len(others(missing, slices.Collect(maps.Keys(families)))) == 0 {
			if anywhere, _ := c.providersWith(s, it, c.providers); len(anywhere) == 0 { // there is nothing to keep
				c.notef("No provider here has models that match %s.", code(strings.Join(missing, " ")))
				continue
			}
		}
		for _, p := range found {
			items[p] = append(items[p], it)
		}
		providers, unknown = unique(append(providers, found...)), append(unknown, missing...)
	}
	for _, it := range s.selection.except {
		where := providers
		if it.provider != "" {
			where = []string{it.provider}
		}
		_, missing := c.providersWith(s, it, where)
		if !slices.ContainsFunc(missing, isNotKind) { // "only gpt models, no previews"
			missing = nil
		}
		unknown = append(unknown, missing...)
	}
	switch {
	case c.waiting() || c.stuck:
	case len(unknown) > 0:
		c.notUnderstood(s, unknown)
	case len(providers) == 0 && !s.kind.asks() && len(c.paragraphs) == 0:
		c.reportf("That leaves no provider. %s", nothingChanged)
	default:
		for _, p := range providers {
			out = append(out, c.newTarget(s, c.catalog(p), items[p]))
		}
	}
	return out
}

// findProviders finds the providers that have models of an item: the ones that the
// request names, else the shown one. missing are the words that no model there has.
// If the shown provider has none, a question is about all that have some, and a change
// about the only one that has an id or a family; else the others are proposed.
func (c *conversation) findProviders(s step, it item) (found, missing []string) {
	where := s.selection.scope
	here := c.providersOf(where)
	if it.provider != "" && (where.empty() || slices.Contains(here, it.provider)) {
		here = []string{it.provider}
	}
	found, missing = c.providersWith(s, it, here)
	if c.stuck || c.waiting() {
		return nil, nil
	}
	if len(missing) == 0 || it.provider != "" || !where.empty() {
		for _, p := range others(here, found) {
			if len(found) > 0 && len(here) == len(where.providers) { // they are named, so each has an answer
				c.reportf("No model of %s matches %s.", clean(p), code(it.text()))
			}
		}
		return found, missing
	}
	elsewhere, _ := c.providersWith(s, it, c.providers)
	family := filter(elsewhere, func(p string) bool { return it.isFamily(c.catalog(p)) })
	switch {
	case len(elsewhere) > 0 && s.kind.asks():
		return elsewhere, nil
	case len(family) == 1:
		return family, nil
	}
	for _, p := range elsewhere {
		c.try(clean(s.text) + " on " + p)
	}
	return nil, missing
}

// others are the strings of a that are not in b.
func others(a, b []string) []string {
	return filter(a, func(s string) bool { return !slices.Contains(b, s) })
}

// providersWith returns those of some providers on which all words of an item mean
// something, and when there is none the words that do not.
func (c *conversation) providersWith(s step, it item, providers []string) (found, missing []string) {
	missing = it.texts()
	if len(it.conds) > 0 && c.found(it, providers) == nil {
		return nil, missing
	}
	for _, p := range c.narrow(s, it, providers) {
		cat := c.catalog(p)
		if cat == nil {
			continue
		}
		_, unknown := c.find(it, cat)
		if len(unknown) == 0 {
			found = append(found, p)
		}
		if len(unknown) < len(missing) {
			missing = unknown
		}
	}
	return found, missing
}

// providersOf lists the providers of a scope; the shown one when it names none.
func (c *conversation) providersOf(s scope) []string {
	out := slices.Clone(s.providers)
	switch {
	case s.every || len(out) == 0 && len(s.without) > 0:
		out = slices.Clone(c.providers)
	case len(out) == 0:
		out = []string{c.provider}
	}
	return filter(others(out, s.without), func(p string) bool { return !s.major || majorProviders[strings.ToLower(p)] })
}

// newTarget finds the models of the items without those of the exceptions. The
// newest are chosen last: of what is not excepted, and as exceptions of what is meant.
func (c *conversation) newTarget(s step, cat *catalog, items []item) target {
	tg := target{catalog: cat}
	exclude := func(newest bool) {
		for _, it := range s.selection.except {
			if it.newest != newest || it.provider != "" && it.provider != cat.provider {
				continue
			}
			models, _ := c.find(it, cat)
			if newest {
				models = it.newestOf(intersect(models, tg.models))
			}
			tg.excepted, tg.exceptPatterns = append(tg.excepted, models...), append(tg.exceptPatterns, it.patterns(cat, models)...)
		}
	}
	exclude(false)
	for _, it := range items {
		models, _ := c.find(it, cat)
		if it.newest {
			models = it.newestOf(without(models, tg.excepted))
		}
		if shown := filter(models, model.isShown); len(it.conds) > 0 && s.kind == hide && len(shown) > 0 {
			models = shown
		}
		patterns := it.patterns(cat, models)
		tg.models = append(tg.models, without(models, tg.models)...)
		tg.patterns = unique(append(tg.patterns, patterns...))
		tg.all = tg.all || it.all && it.blank() && !it.newest
		tg.vague = tg.vague || len(patterns) == 0 && len(models) > 0
	}
	exclude(true)
	tg.excepted = intersect(tg.models, tg.excepted)
	tg.models = without(tg.models, tg.excepted)
	tg.exceptPatterns = choosePatterns(cat, tg.excepted, [][]string{tg.exceptPatterns})
	tg.vague = tg.vague || len(tg.excepted) > 0 && len(tg.exceptPatterns) == 0
	return tg
}

// found are the ids of the models that the conditions of an item hold for; nil while they
// are asked for, or when the window does not say, which is reported.
func (c *conversation) found(it item, providers []string) map[string]bool {
	const most = 200
	a := wire.Args{"where": strings.Join(it.conds, " "), "limit": most}
	if len(providers) == 1 {
		a["provider"] = providers[0]
	}
	r := c.callOrReport(findTool, a)
	switch {
	case r == nil:
		c.stuck = c.stuck || !c.waiting()
		return nil
	case r.Data.Get("truncated").Bool():
		c.reportf("%s Too many to go through here: name a provider or a family. %s", sentence(r.Message), nothingChanged)
		c.stuck = true
		return nil
	}
	if n := int(r.Data.Get("unknown_count").Int()); n > 0 {
		c.notef("%s left out: whether %s holds is not known.", counted(n, "model")+verbFor(n, " was", " were"), code(strings.Join(it.conds, " ")))
	}
	key := strings.Join(it.conds, " ")
	if c.lastFound[key] == nil {
		c.lastFound[key] = map[string]bool{}
	}
	for _, id := range wire.Strings(r.Data.Get("models.#.id")) {
		c.lastFound[key][id] = true
	}
	return c.lastFound[key]
}

var (
	separators = regexp.MustCompile(`\\?\.|-`)
	letters    = regexp.MustCompile(`[a-z]`)
)

// queries are patterns for all models that an item can mean: letters in both cases, and
// - and . for each other.
func (it item) queries() (out []string) {
	for _, w := range it.words {
		for _, text := range w.texts() {
			if w.verbatim && !hasWildcard(text) {
				out = append(out, text)
			}
			if !hasWildcard(text) {
				text = letters.ReplaceAllStringFunc(text, func(l string) string { return "[" + l + strings.ToUpper(l) + "]" })
				text = "*" + separators.ReplaceAllString(text, "[.-]") + "*"
			}
			out = append(out, text)
		}
	}
	if len(it.words) == 0 {
		out = append(out, "*")
	}
	return unique(out)
}

// variants maps words of users to those in ids. Words are not stemmed: the plurals
// that people use for models are listed here. Both name kinds of models.
var variants = map[string]string{
	"experimental": "exp", "embeddings": "embedding", "previews": "preview", "minis": "mini", "nanos": "nano",
	"images": "image", "haikus": "haiku", "sonnets": "sonnet", "betas": "beta", "snapshots": "snapshot",
}

// isNotKind reports whether a word names no kind of models, such as preview.
func isNotKind(word string) bool {
	for plural, kind := range variants {
		if word == plural || word == kind {
			return false
		}
	}
	return true
}

// families are the names of the model families of the well-known vendors.
var families = wordSet("gpt claude gemini gemma grok mistral deepseek llama command kimi glm qwen minimax sonar")

// texts are the word and its variant.
func (w term) texts() []string { return unique([]string{w.text, variants[w.text]}) }

// find returns the models of an item, and its words that no model has in its
// name. A typed pattern is known even when it matches nothing: rules may wait for
// models that come later.
func (c *conversation) find(it item, cat *catalog) (models []model, unknown []string) {
	it, models = it.in(cat), cat.models
	if len(it.conds) > 0 {
		ids := c.lastFound[strings.Join(it.conds, " ")]
		models = filter(models, func(m model) bool { return ids[m.id] })
	}
	meant := models
	for _, w := range it.words {
		hits := w.models(cat, len(it.words) == 1 && !it.family)
		if len(hits) == 0 && !w.verbatim {
			unknown = append(unknown, w.text)
		}
		meant = intersect(meant, hits)
	}
	if len(meant)+len(unknown) == 0 && len(it.words)+len(it.conds) > 1 {
		unknown = it.texts() // each is known, but no model has them all
	}
	if len(meant) == 0 && len(it.words) == 0 && len(it.conds) > 0 {
		unknown = it.conds
	}
	return meant, unknown
}

// in is the item as it is meant on a provider: quoted text without a wildcard that is no
// model's name there is a word, since as a pattern it would match nothing.
func (it item) in(cat *catalog) item {
	it.words = slices.Clone(it.words)
	for i, w := range it.words {
		if w.verbatim && !hasWildcard(w.text) && len(cat.matching(w.text)) == 0 {
			it.words[i] = term{text: strings.ToLower(w.text)}
		}
	}
	return it
}

// models returns the models that a word fits; just the one of an id when the
// word stands alone.
func (w term) models(cat *catalog, alone bool) []model {
	if w.verbatim {
		return cat.matching(w.text)
	}
	if hits := filter(cat.models, func(m model) bool { return m.named(w.text) }); alone && len(hits) > 0 {
		return hits
	}
	in := w.inName()
	return filter(cat.models, func(m model) bool { return in.MatchString(m.name) })
}

// isFamily reports whether an item has the id of a model, or a word with which most
// names of the provider begin: "claude".
func (it item) isFamily(cat *catalog) bool {
	return slices.ContainsFunc(it.words, func(w term) bool {
		begins := filter(cat.models, func(m model) bool { return strings.HasPrefix(strings.ToLower(m.name), w.text) })
		return 2*len(begins) >= len(cat.models) || slices.ContainsFunc(begins, func(m model) bool { return m.named(w.text) })
	})
}

// inName matches a name in which the word or its variant stands between
// separators, or between letters and digits. Case does not count, and . and - are
// the same. A single character is in no name.
func (w term) inName() *regexp.Regexp {
	if len(w.text) < 2 {
		return regexp.MustCompile(`[^\s\S]`)
	}
	edge := func(c byte) string {
		switch {
		case '0' <= c && c <= '9':
			return "[^0-9]"
		case 'a' <= c && c <= 'z':
			return "[^a-z]"
		}
		return "(?s:.)"
	}
	var texts []string
	for _, text := range w.texts() {
		texts = append(texts, separators.ReplaceAllString(regexp.QuoteMeta(text), "[.-]"))
	}
	return regexp.MustCompile("(?i)(?:^|" + edge(w.text[0]) + ")(" + strings.Join(texts, "|") + ")(?:$|" + edge(w.text[len(w.text)-1]) + ")")
}
