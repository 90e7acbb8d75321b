package models

import (
	"math"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"winnow/assistant"
)

// The values of ModelInfo.Source and List.Source.
const (
	SourceLive      = "live"      // from the provider itself, in this run
	SourceProxy     = "proxy"     // from the proxy, in this run
	SourceCache     = "cache"     // one of these two, stored earlier
	SourceCatalogue = "catalogue" // compiled in
)

// catalogue is the compiled-in list, indexed.
type catalogue struct {
	providers []string              // the proxy's names, the main ones first
	aliases   map[string]string     // other accepted names
	bases     map[string]string     // of those that speak the wire of OpenAI
	spans     map[string][2]int     // where a provider's models are in models
	models    []assistant.ModelInfo // grouped by provider
	byID      map[string]int        // lower-case id → place
	byName    map[string]int        // lower-case last segment → first place
}

// theCatalogue reads the compiled-in list when it is first needed: it takes
// too long for the start of the program.
var theCatalogue = sync.OnceValue(func() *catalogue { return newCatalogue(embedded.GetAll()) })

func newCatalogue(all []catwalk.Provider) *catalogue {
	c := &catalogue{
		aliases: map[string]string{}, bases: map[string]string{}, spans: map[string][2]int{},
		byID: map[string]int{}, byName: map[string]int{},
	}
	for _, p := range all {
		if p.ID != "" {
			c.add(p)
		}
	}
	return c
}

func (c *catalogue) add(p catwalk.Provider) {
	id := strings.ToLower(string(p.ID))
	name := proxyName(id)
	if _, twice := c.spans[name]; twice {
		return
	}
	c.providers = append(c.providers, name)
	for _, other := range []string{id, strings.ReplaceAll(id, "-", "_")} {
		if other != name {
			c.aliases[other] = name
		}
	}
	if speaksOpenAI(p) {
		c.bases[name] = p.APIEndpoint
	}
	from := len(c.models)
	for _, m := range p.Models {
		if usable(m.ID) {
			c.addModel(name, m)
		}
	}
	c.spans[name] = [2]int{from, len(c.models)}
}

func (c *catalogue) addModel(provider string, m catwalk.Model) {
	id := provider + "/" + m.ID
	key := strings.ToLower(id)
	if _, twice := c.byID[key]; twice {
		return
	}
	place := len(c.models)
	c.byID[key] = place
	last := key[strings.LastIndexByte(key, '/')+1:]
	if _, exists := c.byName[last]; !exists {
		c.byName[last] = place
	}
	c.models = append(c.models, assistant.ModelInfo{
		ID: id, Source: SourceCatalogue,
		Context: int(max(m.ContextWindow, 0)), Known: m.ContextWindow > 0,
		// The catalogue lists models for agents, so all of them call tools. Its
		// images are those a model can see; ours are those it can draw.
		Tools: true, Reasons: m.CanReason,
		PriceIn: listPrice(m.CostPer1MIn), PriceOut: listPrice(m.CostPer1MOut),
	})
}

// listPrice is dollars of a million tokens as people write them: the catalogue's were
// computed and come as 0.09999999999999999. A millionth of a dollar is more than
// anybody charges by.
func listPrice(dollars float64) float64 {
	const steps = 1e6
	return math.Round(max(dollars, 0)*steps) / steps
}

// speaksOpenAI reports whether a provider has a fixed address that answers
// to a plain key in the way of OpenAI.
func speaksOpenAI(p catwalk.Provider) bool {
	switch p.Type {
	case catwalk.TypeOpenAI, catwalk.TypeOpenAICompat, catwalk.TypeOpenRouter, catwalk.TypeVercel:
		return strings.HasPrefix(p.APIEndpoint, "https://") && p.APIKey != ""
	default:
	}
	return false
}

// canonical returns the catalogue's name for a provider, or the name itself.
func (c *catalogue) canonical(provider string) string {
	if name, ok := c.aliases[provider]; ok {
		return name
	}
	return provider
}

// of returns the models of one provider. The caller may not change them.
func (c *catalogue) of(provider string) []assistant.ModelInfo {
	span := c.spans[c.canonical(providerName(provider))]
	return c.models[span[0]:span[1]]
}

// Catalogue returns all models that are compiled in, grouped by provider, the
// main providers first.
func Catalogue() []assistant.ModelInfo { return slices.Clone(theCatalogue().models) }

// Providers returns the names of the providers of the catalogue, the main ones first.
func Providers() []string { return slices.Clone(theCatalogue().providers) }
