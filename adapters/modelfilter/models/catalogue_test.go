package models

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"winnow/assistant/llm"
)

// allModels lists the models of a catalogue by provider.
func allModels(c *catalogue) []llm.ModelInfo {
	var all []llm.ModelInfo
	for _, provider := range c.providers {
		all = append(all, c.models[provider]...)
	}
	return all
}

func TestCatalogueIsWhole(t *testing.T) {
	all := allModels(theCatalogue())
	if len(all) < 1000 || len(Providers()) < 30 {
		t.Fatalf("%d models of %d providers", len(all), len(Providers()))
	}
	seen := map[string]bool{}
	contexts := 0
	for _, m := range all {
		provider, name, _ := strings.Cut(m.ID, "/")
		if provider != strings.ToLower(provider) || strings.ContainsAny(provider, "- ") || !usable(name) {
			t.Errorf("id %q", m.ID)
		}
		if seen[m.ID] {
			t.Errorf("%s is there twice", m.ID)
		}
		seen[m.ID] = true
		if in, out := strconv.FormatFloat(m.Facts.PriceIn.USD, 'g', -1, 64), strconv.FormatFloat(m.Facts.PriceOut.USD, 'g', -1, 64); len(in) > 8 || len(out) > 8 {
			t.Errorf("%s costs %s in and %s out", m.ID, in, out)
		}
		if m.Source != SourceCatalogue || m.Images || m.Known != (m.Context > 0) || m.Facts.PriceIn.USD < 0 || m.Facts.PriceOut.USD < 0 {
			t.Errorf("%+v", m)
		}
		if m.Known {
			contexts++
		}
	}
	if contexts < len(all)*9/10 {
		t.Errorf("only %d of %d have a context window", contexts, len(all))
	}
	if got := Providers()[:3]; !slices.Equal(got, []string{"anthropic", "openai", "gemini"}) {
		t.Errorf("the main providers are %v", got)
	}
}

func TestEndpoint(t *testing.T) {
	for provider, want := range map[string]string{
		"openai":            "https://api.openai.com/v1",
		" OpenAI ":          "https://api.openai.com/v1",
		"anthropic":         "https://api.anthropic.com/v1",
		"gemini":            "https://generativelanguage.googleapis.com/v1beta/openai",
		"openrouter":        "https://openrouter.ai/api/v1",
		"groq":              "https://api.groq.com/openai/v1",
		"fireworks":         "https://api.fireworks.ai/inference/v1",
		"fireworks_ai":      "https://api.fireworks.ai/inference/v1",
		"vercel_ai_gateway": "https://ai-gateway.vercel.sh/v1",
		"zhipu-coding":      "https://open.bigmodel.cn/api/coding/paas/v4",
		"zhipu_coding":      "https://open.bigmodel.cn/api/coding/paas/v4",
		"mistral":           "https://api.mistral.ai/v1",
		// These speak another wire, want another login or have no fixed address.
		"azure": "", "bedrock": "", "vertex_ai": "", "github_copilot": "", "minimax": "", "kimi_coding": "",
		"proxy": "", "nobody": "", "": "",
	} {
		e, ok := endpointOf(provider)
		base := e.base
		if base != want || ok != (want != "") {
			t.Errorf("endpointOf(%q) = %q, %v, want %q", provider, base, ok, want)
		}
	}
}

// Every address that a key may go to is https and has no room for variables.
func TestEndpointsAreFixedAddresses(t *testing.T) {
	for _, p := range append(Providers(), "mistral", "nvidia_nim", "together_ai", "deepinfra", "sambanova", "featherless_ai", "meta_llama") {
		if e, ok := endpointOf(p); ok && (!strings.HasPrefix(e.base, "https://") || strings.ContainsAny(e.base, "$@?# ")) {
			t.Errorf("%s has the base %q", p, e.base)
		}
	}
}

func TestInfo(t *testing.T) {
	openai := theCatalogue().ofProvider("openai")[0]
	_, name, _ := strings.Cut(openai.ID, "/")
	own := openai
	guess := openai
	guess.Known, guess.Facts.PriceIn, guess.Facts.PriceOut, guess.Facts.PriceCached = false, llm.Price{}, llm.Price{}, llm.Price{}
	for id, want := range map[string]llm.ModelInfo{
		openai.ID:                         own,
		strings.ToUpper(openai.ID):        own,
		name:                              own,
		"azure_of_mine/" + name:           guess,
		"azure_of_mine/openai/" + name:    guess,
		"azure_of_mine/models/" + name:    guess,
		"openai/models/" + name:           own,
		"azure_of_mine/acme/deep/" + name: guess,
	} {
		got, ok := Info(id)
		want.ID = id
		if !ok || got != want {
			t.Errorf("Info(%q) = %+v, %v, want %+v", id, got, ok, want)
		}
	}
	for _, id := range []string{"", "/", "openai/", "openai/no-such-model", "\x1b[31m", "a/b/c/"} {
		if got, ok := Info(id); ok || got != (llm.ModelInfo{}) {
			t.Errorf("Info(%q) = %+v", id, got)
		}
	}
	if info, ok := Info("fireworks/accounts/fireworks/models/qwen3p7-plus"); !ok || !info.Known {
		t.Errorf("an alias of the provider: %+v, %v", info, ok)
	}
}

func TestHostileCatalogueEntries(t *testing.T) {
	c := newCatalogue([]catwalk.Provider{
		{},
		{ID: "acme", Type: catwalk.TypeOpenAICompat, APIEndpoint: "http://plain.example/v1", APIKey: "$K", Models: []catwalk.Model{
			{ID: "a", ContextWindow: -4, CostPer1MIn: -1}, {ID: "A"}, {ID: "b\x1b[2J"}, {ID: ""}, {ID: strings.Repeat("x", maxName+1)},
		}},
		{ID: "acme", Models: []catwalk.Model{{ID: "late"}}},
	})
	if all := allModels(c); len(all) != 1 || all[0].ID != "acme/a" || all[0].Known || all[0].Facts.PriceIn.Known {
		t.Errorf("models %+v", all)
	}
	if len(c.bases) != 0 {
		t.Errorf("bases %v", c.bases)
	}
}

func BenchmarkCatalogueLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newCatalogue(embedded.GetAll())
	}
}

func BenchmarkInfo(b *testing.B) {
	id := allModels(theCatalogue())[700].ID
	b.ReportAllocs()
	for b.Loop() {
		Info(id)
	}
}
