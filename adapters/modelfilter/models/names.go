package models

import "strings"

// proxyNames gives the names by which the proxy calls the providers that the
// catalogue calls otherwise. For all others a hyphen becomes an underscore,
// since the name is part of a variable's.
var proxyNames = map[string]string{
	"alibaba-singapore": "dashscope",
	"copilot":           "github_copilot",
	"fireworks":         "fireworks_ai",
	"opencode-zen":      "opencode",
	"vercel":            "vercel_ai_gateway",
	"vertexai":          "vertex_ai",
}

// endpoint is where a provider lists its models in the way of OpenAI.
type endpoint struct {
	base string
	// keyHeader carries the key in place of a bearer token; "" is a bearer token.
	keyHeader string
	// header is sent besides.
	header map[string]string
	// idPrefix precedes every id and is no part of the name.
	idPrefix string
	// page is the number of models after which the list may go on elsewhere; 0 never.
	page int
}

// endpoints adds to the catalogue what it leaves to variables or does not know.
var endpoints = map[string]endpoint{
	"anthropic": {
		base:      "https://api.anthropic.com/v1",
		keyHeader: "x-api-key",
		header:    map[string]string{"anthropic-version": "2023-06-01"},
		page:      20,
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

// proxyName returns the name of the proxy for a provider of the catalogue.
func proxyName(catalogueID string) string {
	if name, ok := proxyNames[catalogueID]; ok {
		return name
	}
	return strings.ReplaceAll(strings.ToLower(catalogueID), "-", "_")
}

// providerName is the form in which names of providers are compared and stored.
func providerName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// Endpoint returns the base URL at which a provider lists its models in the way
// of OpenAI, as far as it is compiled in. It is the provider's own address: its
// key may be sent there.
func Endpoint(provider string) (baseURL string, ok bool) {
	e, ok := endpointOf(provider)
	return e.base, ok
}

func endpointOf(provider string) (endpoint, bool) {
	provider = providerName(provider)
	if e, ok := endpoints[provider]; ok {
		return e, true
	}
	base, ok := theCatalogue().bases[theCatalogue().canonical(provider)]
	return endpoint{base: base}, ok
}
