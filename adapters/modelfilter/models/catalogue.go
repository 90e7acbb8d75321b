package models

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"winnow/assistant/llm"
)

// Values of ModelInfo.Source and List.Source.
const (
	SourceLive      = "live"      // from the provider, in this run
	SourceProxy     = "proxy"     // from the proxy, in this run
	SourceCache     = "cache"     // from the provider or the proxy, stored earlier
	SourceCatalogue = "catalogue" // compiled in
)

// catalogue is the compiled-in list, indexed.
type catalogue struct {
	providers []string                   // the proxy's names, the main ones first
	aliases   map[string]string          // other accepted names
	bases     map[string]string          // addresses of providers with an OpenAI-compatible API
	models    map[string][]llm.ModelInfo // by provider
	byID      map[string]*llm.ModelInfo  // by lower-case id
	byName    map[string]*llm.ModelInfo  // by lower-case last segment of the id; the first such model
}

// theCatalogue reads the compiled-in list on first use, because reading it at the start
// would delay the program.
var theCatalogue = sync.OnceValue(func() *catalogue { return newCatalogue(embedded.GetAll()) })

func newCatalogue(all []catwalk.Provider) *catalogue {
	c := &catalogue{
		aliases: map[string]string{}, bases: map[string]string{}, models: map[string][]llm.ModelInfo{},
		byID: map[string]*llm.ModelInfo{}, byName: map[string]*llm.ModelInfo{},
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
	if slices.Contains(c.providers, name) {
		return
	}
	c.providers = append(c.providers, name)
	for _, other := range []string{id, strings.ReplaceAll(id, "-", "_")} {
		if other != name {
			c.aliases[other] = name
		}
	}
	if openAICompatible(p) {
		c.bases[name] = p.APIEndpoint
	}
	for _, m := range p.Models {
		if usable(m.ID) {
			c.addModel(name, m)
		}
	}
}

func (c *catalogue) addModel(provider string, m catwalk.Model) {
	id := provider + "/" + m.ID
	key := strings.ToLower(id)
	if _, twice := c.byID[key]; twice {
		return
	}
	info := &llm.ModelInfo{
		ID: id, Source: SourceCatalogue,
		Context: int(max(m.ContextWindow, 0)), Known: m.ContextWindow > 0,
		// The catalogue lists models for agents, so all of them support tools.
		Tools: true, Reasons: m.CanReason, Vision: llm.AbilityOf(m.SupportsImages),
		Facts: catalogueFacts(m),
	}
	c.byID[key] = info
	last := key[strings.LastIndexByte(key, '/')+1:]
	if _, exists := c.byName[last]; !exists {
		c.byName[last] = info
	}
	c.models[provider] = append(c.models[provider], *info)
}

// catalogueFacts returns the facts in the catalogue. The catalogue contains 0 for an
// unknown price.
func catalogueFacts(m catwalk.Model) llm.Facts {
	price := func(usd float64) llm.Price {
		if usd == 0 {
			return llm.Price{}
		}
		return llm.PriceOf(usd)
	}
	return llm.Facts{
		PriceIn: price(m.CostPer1MIn), PriceOut: price(m.CostPer1MOut), PriceCached: price(m.CostPer1MInCached),
		MaxAnswer: int(max(m.DefaultMaxTokens, 0)),
		ToolCalls: llm.Able, Reasoning: llm.AbilityOf(m.CanReason), Kind: "chat",
	}
}

// openAICompatible reports whether a provider has a fixed address with an
// OpenAI-compatible API and a plain key.
func openAICompatible(p catwalk.Provider) bool {
	switch p.Type {
	case catwalk.TypeOpenAI, catwalk.TypeOpenAICompat, catwalk.TypeOpenRouter, catwalk.TypeVercel:
		return strings.HasPrefix(p.APIEndpoint, "https://") && p.APIKey != ""
	default:
	}
	return false
}

// canonical returns the catalogue's name for a provider, or name if it has none.
func (c *catalogue) canonical(provider string) string {
	if name, ok := c.aliases[provider]; ok {
		return name
	}
	return provider
}

// ofProvider returns the models of one provider. The caller must not change them.
func (c *catalogue) ofProvider(provider string) []llm.ModelInfo {
	return c.models[c.canonical(providerName(provider))]
}

// Providers returns the names of the providers in the catalogue, the main ones first.
func Providers() []string { return slices.Clone(theCatalogue().providers) }

// Info returns what the catalogue knows about a model. The id is "provider/name", with any
// of the provider's names and in any case, or a bare name, which is looked up at the first
// provider that has it. If the catalogue does not list the model for that provider, Info
// uses a model of the same name elsewhere; the context window is then a guess (not Known)
// and the price unknown. The returned ID is the requested one.
func Info(id string) (llm.ModelInfo, bool) {
	info, ok := theCatalogue().find(strings.ToLower(strings.TrimSpace(id)))
	if !ok {
		return llm.ModelInfo{}, false
	}
	info.ID = id
	return info, true
}

// find looks for a lower-case id.
func (c *catalogue) find(id string) (llm.ModelInfo, bool) {
	provider, name, full := strings.Cut(id, "/")
	info := c.byName[id]
	if full {
		name = strings.TrimPrefix(name, "models/")
		info = c.byID[c.canonical(provider)+"/"+name]
	}
	elsewhere := full && info == nil
	if elsewhere {
		info = cmp.Or(c.byID[name], c.byName[name[strings.LastIndexByte(name, '/')+1:]])
	}
	if info == nil {
		return llm.ModelInfo{}, false
	}
	found := *info
	if elsewhere {
		found.Known, found.Facts.PriceIn, found.Facts.PriceOut, found.Facts.PriceCached = false, llm.Price{}, llm.Price{}, llm.Price{}
	}
	return found, true
}

// proxyNames maps the catalogue's provider names to the proxy's names where they differ. In
// all other names a hyphen becomes an underscore, because the name is part of a variable's
// name.
var proxyNames = map[string]string{
	"alibaba-singapore": "dashscope",
	"copilot":           "github_copilot",
	"fireworks":         "fireworks_ai",
	"opencode-zen":      "opencode",
	"vercel":            "vercel_ai_gateway",
	"vertexai":          "vertex_ai",
}

// endpoint is where a provider lists its models, in OpenAI's format.
type endpoint struct {
	base string
	// keyHeader is the header for the key instead of a bearer token; "" means a bearer
	// token.
	keyHeader string
	// header contains additional headers.
	header map[string]string
	// idPrefix precedes every id and is not part of the name.
	idPrefix string
	// pageSize is the number of models per page of the list, or 0 if there are no pages.
	// Only the first page is fetched.
	pageSize int
}

// endpoints contains the addresses that the catalogue lacks or leaves to variables.
var endpoints = map[string]endpoint{
	"anthropic": {
		base:      "https://api.anthropic.com/v1",
		keyHeader: "x-api-key",
		header:    map[string]string{"anthropic-version": "2023-06-01"},
		pageSize:  20,
	},
	"deepinfra":      {base: "https://api.deepinfra.com/v1/openai"},
	"featherless_ai": {base: "https://api.featherless.ai/v1"},
	"gemini":         {base: "https://generativelanguage.googleapis.com/v1beta/openai", idPrefix: "models/"},
	"meta_llama":     {base: "https://api.llama.com/compat/v1"},
	"mistral":        {base: "https://api.mistral.ai/v1"},
	"nvidia_nim":     {base: "https://integrate.api.nvidia.com/v1"},
	"openai":         {base: "https://api.openai.com/v1"},
	"sambanova":      {base: "https://api.sambanova.ai/v1"},
	"together_ai":    {base: "https://api.together.xyz/v1"},
}

// proxyName returns the proxy's name for a provider in the catalogue.
func proxyName(catalogueID string) string {
	if name, ok := proxyNames[catalogueID]; ok {
		return name
	}
	return strings.ReplaceAll(strings.ToLower(catalogueID), "-", "_")
}

// providerName returns the form in which provider names are compared and stored.
func providerName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// Base returns the address of a provider that the catalogue or this program knows; ok is
// false for others. keyHeader is the header for its key ("" means a bearer token), and
// header contains additional headers.
func Base(provider string) (base, keyHeader string, header map[string]string, ok bool) {
	e, ok := endpointOf(provider)
	return e.base, e.keyHeader, maps.Clone(e.header), ok
}

// endpointOf returns where a provider lists its models, if that is compiled in. The address
// is the provider's own, so its key may be sent there.
func endpointOf(provider string) (endpoint, bool) {
	provider = providerName(provider)
	if e, ok := endpoints[provider]; ok {
		return e, true
	}
	base, ok := theCatalogue().bases[theCatalogue().canonical(provider)]
	return endpoint{base: base}, ok
}
