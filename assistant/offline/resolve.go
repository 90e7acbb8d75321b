package offline

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
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
func (c *conversation) resolve(s step) []target {
	if len(s.selection.items) == 0 {
		c.reportf("I do not know which models you mean. %s", nothingChanged)
		return nil
	}
	said, misses := len(c.paragraphs), 0 // items that no provider is found for
	var providers, unknown []string
	items := map[string][]item{} // by provider
	for _, it := range s.selection.items {
		found, missing := c.findProviders(s, it)
		if s.kind == only && len(s.selection.items) > 1 && len(missing) > 0 && !slices.ContainsFunc(missing, isNotFamily) {
			if anywhere, _ := c.providersWith(s, it, c.providers); len(anywhere) == 0 { // there is nothing to keep
				c.reportf("No provider here has models that match %s.", code(strings.Join(missing, " ")))
				continue
			}
		}
		if len(found) == 0 {
			misses++
		}
		for _, p := range found {
			items[p] = append(items[p], it)
		}
		providers, unknown = unique(append(providers, found...)), append(unknown, missing...)
	}
	for _, it := range s.selection.except {
		where := providers
		if it.provider != "" && len(providers) > 0 && !slices.Contains(providers, it.provider) {
			unknown = append(unknown, it.provider)
			continue
		}
		if it.provider != "" {
			where = []string{it.provider}
		}
		_, missing := c.providersWith(s, it, where)
		if len(missing) > 0 && !slices.ContainsFunc(missing, isNotKind) {
			others, _ := c.providersWith(s, it, c.providers)
			c.reportElsewhere(step{kind: hide, selection: selection{items: []item{it}}, text: "hide " + it.text()}, it, others)
			continue
		}
		unknown = append(unknown, missing...)
	}
	var out []target
	switch {
	case c.waiting():
	case len(unknown) > 0:
		c.notUnderstood(s, unknown)
	case len(providers) == 0 && len(c.paragraphs) == said:
		c.reportf("That leaves no provider. %s", nothingChanged)
	case misses == 0:
		for _, p := range providers {
			out = append(out, newTarget(c.catalog(p), items[p], s.selection.except))
		}
	}
	return out
}

// findProviders finds the providers that have models of an item: the ones that the
// request names, else the shown one. missing are the words that no model there has.
// If the shown provider has none, the others are tried: a question is about all
// that have some, a change needs an id or a family of just one of them. Otherwise
// the providers that have some are reported, and none is returned.
func (c *conversation) findProviders(s step, it item) (found, missing []string) {
	here := c.providersOf(s.selection.scope)
	if it.provider != "" && (s.selection.scope.empty() || slices.Contains(here, it.provider)) {
		here = []string{it.provider}
	}
	found, missing = c.providersWith(s, it, here)
	switch where := s.selection.scope; {
	case slices.ContainsFunc(missing, func(w string) bool { return c.meant(w) != "" }): // a typo, so nowhere
		return nil, missing
	case len(missing) == 0:
		if len(here) == len(where.providers) && (s.kind != listModels || len(found) == 1) { // they are named, so each has an answer
			c.reportNone(it, slices.DeleteFunc(here, func(p string) bool { return slices.Contains(found, p) }))
		}
		return found, nil
	case it.provider == "" && where.empty():
	case slices.ContainsFunc(missing, isNotKind):
		return nil, missing
	default:
		c.reportNone(it, here)
		c.reportf(nothingChanged)
		return nil, nil
	}
	found, _ = c.providersWith(s, it, c.providers)
	family := slices.DeleteFunc(slices.Clone(found), func(p string) bool { return !it.isFamily(c.catalog(p)) })
	switch {
	case len(found) > 0 && s.kind.isQuestion():
		return found, nil
	case len(family) == 1:
		return family, nil
	case c.catalog(c.provider) == nil: // it could not be looked up, which is reported
		return nil, nil
	case len(found) == 0 && slices.ContainsFunc(missing, isNotKind):
		return nil, missing
	}
	c.reportNone(it, here)
	c.reportf(nothingChanged)
	c.reportElsewhere(s, it, found)
	return nil, nil
}

// providersWith returns those of some providers on which all words of an item mean
// something, and when there is none the words that do not.
func (c *conversation) providersWith(s step, it item, providers []string) (found, missing []string) {
	missing = it.texts()
	for _, p := range c.narrow(s, it, providers) {
		cat := c.catalog(p)
		if cat == nil {
			continue
		}
		_, unknown := it.find(cat)
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
	return slices.DeleteFunc(out, func(p string) bool {
		return slices.Contains(s.without, p) || s.major && !majorProviders[strings.ToLower(p)]
	})
}

// newTarget finds the models of the items without those of the exceptions. The
// newest are chosen last: of what is not excepted, and as exceptions of what is meant.
func newTarget(cat *catalog, items, except []item) target {
	tg := target{catalog: cat}
	exclude := func(newest bool) {
		for _, it := range except {
			if it.newest != newest || it.provider != "" && it.provider != cat.provider {
				continue
			}
			models, _ := it.find(cat)
			if newest {
				models = it.newestOf(intersect(models, tg.models))
			}
			tg.excepted, tg.exceptPatterns = append(tg.excepted, models...), append(tg.exceptPatterns, it.patterns(cat, models)...)
		}
	}
	exclude(false)
	for _, it := range items {
		models, _ := it.find(cat)
		if it.newest {
			models = it.newestOf(without(models, tg.excepted))
		}
		patterns := it.patterns(cat, models)
		tg.models = append(tg.models, without(models, tg.models)...)
		tg.patterns = unique(append(tg.patterns, patterns...))
		tg.all = tg.all || it.all && len(it.words) == 0 && !it.newest
		tg.vague = tg.vague || len(patterns) == 0 && len(models) > 0
	}
	exclude(true)
	tg.excepted = intersect(tg.models, tg.excepted)
	tg.models = without(tg.models, tg.excepted)
	tg.exceptPatterns = choosePatterns(cat, tg.excepted, [][]string{tg.exceptPatterns})
	tg.vague = tg.vague || len(tg.excepted) > 0 && len(tg.exceptPatterns) == 0
	return tg
}

// newestOf are the newest of the models that an item means.
func (it item) newestOf(models []model) []model {
	return newestOf(models, func(m model) (id, name string) { return m.id, m.name }, it.count, len(it.words) == 0)
}

var (
	separators = regexp.MustCompile(`\\?\.|-`)
	letters    = regexp.MustCompile(`[a-z]`)
)

// queries are patterns for all models that the words of items can mean: letters in
// both cases, and - and . for each other.
func queries(items []item) []string {
	var out []string
	for _, it := range items {
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
	}
	return unique(out)
}

// variants maps words of users to those in ids. Words are not stemmed: the plurals
// that people use for models are listed here.
var variants = map[string]string{
	"experimental": "exp", "embeddings": "embedding", "previews": "preview", "minis": "mini", "nanos": "nano",
	"images": "image", "haikus": "haiku", "sonnets": "sonnet", "betas": "beta", "snapshots": "snapshot",
}

// isNotKind reports whether a word names no kind of models, such as preview. An
// exception may name a kind of which there are none: "only gpt models, no previews".
func isNotKind(word string) bool {
	return variants[word] == "" && !slices.Contains(slices.Collect(maps.Values(variants)), word)
}

// families are the names of the model families of the well-known vendors.
var families = wordSet("gpt claude gemini gemma grok mistral deepseek llama command kimi glm qwen minimax sonar")

func isNotFamily(word string) bool { return !families[word] }

// texts are the word and its variant.
func (w term) texts() []string { return unique([]string{w.text, variants[w.text]}) }

// find returns the models of an item, and its words that no model has in its
// name. A typed pattern is known even when it matches nothing: rules may wait for
// models that come later.
func (it item) find(cat *catalog) (models []model, unknown []string) {
	it, models = it.in(cat), cat.models
	for _, w := range it.words {
		hits := w.models(cat, len(it.words) == 1 && !it.family)
		if len(hits) == 0 && !w.verbatim {
			unknown = append(unknown, w.text)
		}
		models = intersect(models, hits)
	}
	if len(models)+len(unknown) == 0 && len(it.words) > 1 {
		unknown = it.texts() // each is known, but no model has them all
	}
	return models, unknown
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

// patterns returns patterns that match just the models of an item; nil when none do.
func (it item) patterns(cat *catalog, models []model) []string {
	switch it = it.in(cat); {
	case it.newest && (cat.unlisted > 0 || len(models) > maxExactNames): // one that is not listed may be newer
		return nil
	case it.newest:
		return choosePatterns(cat, models, [][]string{names(models)})
	case len(it.words) == 0:
		return []string{"*"}
	case len(it.words) == 1 && it.words[0].verbatim:
		return []string{it.words[0].text}
	}
	if len(models) == 0 {
		return nil
	}
	return choosePatterns(cat, models, it.spellings(models))
}

// spellings lists the ways to write an item as a pattern, the best first.
func (it item) spellings(models []model) [][]string {
	first := models[0]
	if len(models) == 1 && !it.family && len(it.words) == 1 && first.named(it.words[0].text) {
		return [][]string{{first.name}, {first.id}}
	}
	text := it.spelling(first.name)
	begin, _, _ := strings.Cut(text, "*")
	shapes := []string{"*%*", "%*", "*-%*", "*/%*", "*-%", "*-%-*"}
	if !slices.ContainsFunc(models, func(m model) bool { return !strings.HasPrefix(m.name, begin) }) {
		shapes[0], shapes[1] = shapes[1], shapes[0] // a family: all names begin with it
	}
	var out [][]string
	for _, shape := range shapes {
		out = append(out, []string{strings.ReplaceAll(shape, "%", text)})
	}
	return out
}

// spelling writes the words of an item as a name does, in its order: "gpt*mini".
func (it item) spelling(name string) string {
	position := map[string]int{}
	var texts []string
	for _, w := range it.words {
		text, place := strings.Trim(w.text, "*"), -1 // patterns come first
		if found := w.inName().FindStringSubmatchIndex(name); found != nil && !w.verbatim {
			place, text = found[2], name[found[2]:found[3]]
		}
		position[text], texts = place, append(texts, text)
	}
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(position[a], position[b]) })
	return strings.Join(texts, "*")
}

// maxExactNames is the most models for which there is one rule each.
const maxExactNames = 60

// choosePatterns returns the first candidate whose patterns match just the models, else
// the models one by one; nil when that would be too many.
func choosePatterns(cat *catalog, models []model, candidates [][]string) []string {
	if len(models) == 0 {
		return nil
	}
	if len(models) <= maxExactNames && !cat.cut {
		candidates = append(candidates, unique(names(models)))
	}
	for _, patterns := range candidates {
		matches := matcher(patterns)
		if len(patterns) > 0 && !slices.ContainsFunc(cat.models, func(m model) bool { return slices.Contains(models, m) != matches(m) }) {
			return patterns
		}
	}
	return nil
}
