package modelfilter

import (
	"regexp"
	"slices"
	"strings"

	"winnow/adapters/modelfilter/condition"
	"winnow/assistant/nearest"
)

// finder finds the models that phrases select on the providers of a window. Its methods may wait
// for the disk or the proxy.
type finder struct {
	w         *Window
	read      map[string][]FoundModel // all models of the providers searched so far
	unknown   int                     // number of models for which a fact in a phrase is unknown
	unmatched []fields                // phrases that select no model
	text      []string                // sentences about these phrases and about the providers concerned
	problems  []string                // as in Found
	asks      bool                    // the request is a question, so "no model" is a valid answer
}

func (w *Window) finder() *finder { return &finder{w: w, read: map[string][]FoundModel{}} }

// models returns all models of a provider. Only the first call reads them.
func (r *finder) models(provider string) ([]FoundModel, error) {
	if all, ok := r.read[provider]; ok {
		return all, nil
	}
	found, err := r.w.Find(condition.Condition{}, provider)
	if err == nil {
		r.read[provider] = found.Models
		r.problems = append(r.problems, found.Problems...)
	}
	return found.Models, err
}

// providersOrCurrent returns the providers that a tool's argument names; "" means the current one.
func (r *finder) providersOrCurrent(provider string) ([]string, error) {
	if provider == "" {
		s, err := r.w.On("")
		if err != nil {
			return nil, err
		}
		return []string{s.Provider()}, nil
	}
	return r.w.providersNamed(provider)
}

// vendors are the providers that serve well-known models of their own.
var vendors = []string{
	"openai", "anthropic", "gemini", "google", "vertex", "vertexai", "xai", "mistral", "deepseek", "meta", "cohere", "moonshot",
	"zai", "qwen", "minimax", "perplexity",
}

// providersNamed returns the providers that a text names: names separated by spaces, "*" for
// all, "major" for well-known vendors. A name after a minus sign is excluded; if there are only
// such names, all other providers are returned. "" names none.
func (w *Window) providersNamed(text string) (names []string, err error) {
	all, without := withLock(w, func() []string { return slices.Clone(w.order) }), []string(nil)
	for word := range strings.FieldsSeq(text) {
		name, left := strings.CutPrefix(word, "-")
		switch s, err := w.On(name); {
		case word == "*":
			names = append(names, all...)
		case word == "major":
			names = append(names, slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !slices.Contains(vendors, p) })...)
		case err != nil:
			return nil, err
		case left:
			without = append(without, s.Provider())
		default:
			names = append(names, s.Provider())
		}
	}
	if len(names) == 0 && len(without) > 0 {
		names = all
	}
	var out []string
	for _, name := range names {
		if !slices.Contains(without, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// namesEach reports whether the providers in a tool's argument are named one by one.
func namesEach(provider string) bool {
	return !slices.ContainsFunc(strings.Fields(provider), func(word string) bool { return word == "*" || word == "major" || word[0] == '-' })
}

// locate returns the named providers on which a phrase selects models. If none is named, it returns
// the current provider if the phrase selects models there, and otherwise the only provider for
// which isFamily is true, if there is exactly one. On a single provider, a phrase that is only a
// pattern need not match any model. A phrase that selects nothing is passed to miss.
func (r *finder) locate(p phrase, provider string) ([]string, error) {
	names, err := r.providersOrCurrent(provider)
	if err != nil {
		return nil, err
	}
	found, missing, unknown, err := r.fits(p, names, len(names) > 1)
	r.unknown += unknown
	if err != nil || len(found) > 0 {
		if without := without(names, found); namesEach(provider) && len(without) > 0 {
			r.text = append(r.text, "No model matches "+quoteList(slices.Concat(p.names, p.facts))+" on "+strings.Join(without, ", ")+".")
		}
		return found, err
	}
	var elsewhere, family []string
	if provider == "" {
		all, _ := r.providersOrCurrent("*") // cannot fail: * names known providers only
		if elsewhere, _, unknown, err = r.fits(p, all, true); err != nil {
			return nil, err
		}
		for _, name := range elsewhere {
			if p.isFamily(r.read[name]) {
				family = append(family, name)
			}
		}
		if len(family) == 1 {
			r.unknown += unknown
			return family, nil
		}
	}
	r.miss(p, missing, elsewhere)
	return nil, nil
}

// fits returns the providers in names on which a phrase selects models. Unless mustSelect is
// set, a phrase that is only a pattern need not match any. If no provider is found, missing is the
// shortest list of missing words that phrase.in returned or, if that is empty, all words of the
// phrase. unknown counts the models for which a fact in the phrase is unknown.
func (r *finder) fits(p phrase, names []string, mustSelect bool) (found, missing []string, unknown int, err error) {
	for i, name := range names {
		models, err := r.models(name)
		if err != nil {
			return nil, nil, 0, err
		}
		fit, n, miss := p.in(models, r.w.opts.Now())
		unknown += n
		if len(miss) == 0 && (len(fit) > 0 || !mustSelect) {
			found = append(found, name)
		}
		if i == 0 || len(miss) < len(missing) {
			missing = miss
		}
	}
	if len(missing) == 0 {
		missing = append(slices.Clone(p.names), p.facts...)
	}
	return found, missing, unknown, nil
}

// aboutPrices explains the prices if the conditions contain any; otherwise it returns "".
func aboutPrices(conditions string) string {
	if !strings.Contains(conditions, "price") {
		return ""
	}
	return "Prices are in dollars per million output tokens; `price_in` is the input price."
}

// letterWords matches the words of a name that a user might misspell.
var letterWords = regexp.MustCompile(`[a-z]{4,}`)

// miss adds a phrase that selects no model to unmatched. missing contains its words that match
// nothing, and elsewhere the providers that do have such models. An unmet condition in a question is
// not added, because "no model" answers the question.
func (r *finder) miss(p phrase, missing, elsewhere []string) {
	if r.asks && slices.Equal(missing, p.facts) {
		return
	}
	near, instead := []string{}, ""
	for _, word := range missing {
		lower := strings.ToLower(word)
		like := slices.Clone(conditionsFor[lower])
		if len(elsewhere) == 0 && letterWords.FindString(lower) == lower {
			like = append(like, r.misspelt(lower)...)
		}
		if len(like) > 0 && instead == "" {
			near, instead = like, word
		}
	}
	text := "No model matches " + quoteList(missing) + "."
	if len(elsewhere) > 0 {
		current, _ := r.providersOrCurrent("") // cannot fail: the caller has already looked it up
		text = "No model of " + strings.Join(visibleAll(current), "") + " matches " + quoteList(missing) + "; " + haveSuch(elsewhere, "matching models")
	}
	r.text = append(r.text, text)
	r.unmatched = append(r.unmatched, fields{"models": visible(p.text), "missing": visibleAll(missing), "near": visibleAll(near), "instead_of": visible(instead), "elsewhere": visibleAll(elsewhere)})
}

// maxNamedProviders is the number of providers that a sentence names before it counts the rest.
const maxNamedProviders = 3

// haveSuch returns a sentence about what providers have: "gemini and xai have matching models.".
func haveSuch(providers []string, what string) string {
	verb := " have "
	if len(providers) == 1 {
		verb = " has "
	}
	return joined(visibleAll(providers), maxNamedProviders) + verb + what + "."
}

// onlyMeant returns a clause about the providers that a request concerns: "This applies only to
// openai".
func onlyMeant(providers []string) string {
	return "This applies only to " + joined(visibleAll(providers), len(providers))
}

// conditionsFor suggests conditions for words that occur in no model name and that the user has to
// define.
var conditionsFor = map[string][]string{
	"expensive": {"price>10", "price>5"}, "cheap": {"price<1"}, "old": {"status:deprecated", "unused:90d"},
	"outdated": {"status:deprecated", "unused:90d"}, "legacy": {"status:deprecated", "unused:90d"},
	"obsolete": {"status:deprecated"}, "stale": {"unused:90d"}, "unpopular": {"unused:30d"}, "popular": {"used:7d"},
	"big": {"ctx>=200k"}, "large": {"ctx>=200k"}, "small": {"ctx<32k"}, "multimodal": {"vision"},
}

// misspelt returns up to maxNear names that differ from word in one letter, or in at most a quarter
// of its letters: providers, families, and words in the names of the models read so far. If word
// begins with any of these names, misspelt returns none.
func (r *finder) misspelt(word string) (near []string) {
	providers, _ := r.providersOrCurrent("*") // cannot fail: * names known providers only
	known := slices.Concat(knownFamilies, providers)
	for _, models := range r.read {
		for _, m := range models {
			known = append(known, letterWords.FindAllString(strings.ToLower(m.Info.ID), -1)...)
		}
	}
	slices.Sort(known)
	for _, k := range slices.Compact(known) {
		if strings.HasPrefix(word, k) {
			return nil
		}
		if nearest.Distance(word, k) <= max(1, len(word)/4) {
			near = append(near, k)
		}
	}
	return near[:min(len(near), maxNear)]
}

// knownFamilies are the model families of well-known vendors. Their names do not count as
// misspellings, even if no provider has a model of that family.
var knownFamilies = []string{"claude", "command", "deepseek", "gemini", "gemma", "gpt", "grok", "kimi", "llama", "mistral", "qwen", "sonar"}

// readPhrases reads phrases. It returns an error if a condition is incomplete.
func readPhrases(texts []string) (out []phrase, err error) {
	for _, text := range texts {
		p, err := readPhrase(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
