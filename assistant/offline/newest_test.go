package offline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shown are the names of a provider's models that are not hidden.
func (w *fakeWindow) shown(p string) []string {
	hidden := w.hidden(p)
	var out []string
	for _, id := range w.models[p] {
		if name := newModel(id, p).name; !slices.Contains(hidden, name) {
			out = append(out, name)
		}
	}
	return out
}

// TestNewestModelsStay says requests, and yes where they ask: the models that
// are shown afterwards on each provider that changes.
func TestNewestModelsStay(t *testing.T) {
	for said, want := range map[string]map[string]string{
		"only keep the newest Claude and GPT models, block every preview": {"openai": "gpt-5.6-sol gpt-5.6-luna", "anthropic": "claude-sonnet-5"},
		"only keep the newest Claude and GPT models":                      {"openai": "gpt-5.6-sol gpt-5.6-luna", "anthropic": "claude-sonnet-5 claude-fable-5-preview"},
		"show only the latest 2 claude models on anthropic":               {"anthropic": "claude-sonnet-5 claude-fable-5-preview"},
		"hide everything except the newest on anthropic, not previews":    {"anthropic": "claude-sonnet-5 claude-fable-5-preview"},
		"hide all but the two newest gemini models on gemini":             {"gemini": "gemini-3.6-flash gemini-3.1-pro-preview"},
		"hide all grok models on xai except the most recent":              {"xai": "grok-4 grok-4-fast"},
		"Set up the filter so only the latest models from each major provider are available": {
			"openai": "gpt-5.6-sol gpt-5.6-luna", "anthropic": "claude-sonnet-5 claude-fable-5-preview", "gemini": "gemini-3.6-flash", "xai": "grok-4 grok-4-fast",
		},
		"only keep the newest model of every provider": {
			"openai": "gpt-5.6-sol gpt-5.6-luna", "anthropic": "claude-sonnet-5 claude-fable-5-preview", "gemini": "gemini-3.6-flash", "xai": "grok-4 grok-4-fast",
		},
	} {
		t.Run(said, func(t *testing.T) {
			w := newFakeWindow()
			before := map[string]string{}
			for _, p := range w.order {
				before[p] = strings.Join(w.shown(p), " ")
			}
			c := newChat(t, w)
			answer := c.say(said)
			if strings.Contains(answer, "RULE_PROPOSAL: {") {
				answer = c.say("yes")
			}
			for _, p := range w.order {
				stay := want[p]
				if stay == "" {
					stay = before[p]
				}
				if got := strings.Join(w.shown(p), " "); got != stay {
					t.Errorf("on %s %s stay, want %s: %s\n%s", p, got, stay, c.did(), answer)
				}
			}
		})
	}
}

// TestNewestOfACutList: the words are asked for; where even their models are
// cut, a newer one may be missing, and nothing is done.
func TestNewestOfACutList(t *testing.T) {
	w := newFakeWindow()
	w.cut = 3
	c := newChat(t, w)
	c.say("allow the newest o3 models")
	if got := c.did(); got != "openai+allow(o3) openai+allow(o3-mini)" {
		t.Errorf("it does %s", got)
	}
	wants(t, c.say("allow the newest gpt models"), "Nothing was changed")
}

// TestAFamilyOfOneProvider: a router that lists the models of others has them
// under their names; the family is of the provider whose names begin with it.
func TestAFamilyOfOneProvider(t *testing.T) {
	w := newFakeWindow()
	w.order = append(w.order, "router")
	w.models["router"] = []string{"router/anthropic/claude-sonnet-5", "router/openai/gpt-5.5", "router/x/y-preview"}
	c := newChat(t, w)
	c.say("only keep the newest Claude and GPT models, block every preview")
	c.say("yes")
	if got := fmt.Sprint(w.shown("openai"), w.shown("anthropic"), len(w.shown("router"))); got != "[gpt-5.6-sol gpt-5.6-luna] [claude-sonnet-5] 3" {
		t.Errorf("%s stay", got)
	}
}

// TestAnExceptedKindMayBeMissing: where no model is a preview, none has to be
// blocked, and where one is, that is said. A word of no kind is still refused.
func TestAnExceptedKindMayBeMissing(t *testing.T) {
	w := newFakeWindow()
	w.models["openai"], w.models["anthropic"] = []string{"openai/gpt-4", "openai/gpt-5"}, []string{"anthropic/claude-3"}
	c := newChat(t, w)
	c.say("only keep the newest Claude and GPT models, block every preview")
	if got := c.did(); got != "anthropic+allow(claude-3) anthropic+ignore(*) openai+allow(gpt-5) openai+ignore(*)" {
		t.Errorf("it does %s", got)
	}
	wants(t, newChat(t, w).say("only keep the newest Claude and GPT models, block every prview"), "matches `prview`", "Nothing was changed")
}

// TestMajorProviders: of every, each or all major providers, those of well-known
// vendors are meant, and it asks first.
func TestMajorProviders(t *testing.T) {
	for _, said := range []string{
		"only allow the newest of each major provider", "only keep the newest models of all major providers", "only keep the newest on the major providers",
		"only the newest models from every major provider except xai should be available",
	} {
		w := newFakeWindow()
		w.order = append(w.order, "router")
		w.models["router"] = []string{"router/anthropic/claude-sonnet-5", "router/openai/gpt-5.5"}
		c := newChat(t, w)
		wants(t, c.say(said), "ask first", `"provider":"gemini"`)
		if c.did() != "" {
			t.Errorf("%q does %s before the yes", said, c.did())
		}
		c.say("yes")
		stay, xai := fmt.Sprint(w.shown("openai"), w.shown("anthropic"), w.shown("gemini")), len(w.shown("xai")) == 3
		if stay != "[gpt-5.6-sol gpt-5.6-luna] [claude-sonnet-5 claude-fable-5-preview] [gemini-3.6-flash]" || len(w.shown("router")) != 2 || xai != strings.Contains(said, "xai") {
			t.Errorf("after %q %s stay, of the router %s, of xai %s", said, stay, w.shown("router"), w.shown("xai"))
		}
	}
	w := newFakeWindow()
	w.order = []string{"openai", "router"}
	w.models["router"] = []string{"router/gpt-5.5"}
	wants(t, newChat(t, w).say("hide every model on all major providers except openai"), "That leaves no provider", "Nothing was changed")
}

// TestProvidersWithoutAHiddenModelAreCounted: of many providers the answer names some.
func TestProvidersWithoutAHiddenModelAreCounted(t *testing.T) {
	w := newFakeWindow()
	for i := range 10 {
		name := fmt.Sprint("more", i)
		w.order, w.models[name] = append(w.order, name), []string{name + "/model"}
	}
	wants(t, newChat(t, w).say("which models are hidden?"), "| openai | 4 of 21 |", "None on `anthropic`, `gemini`, `xai`, `more0`, `more1`, `more2` and 7 more.")
}

// TestExamplesAreUnderstood: what help says that works does.
func TestExamplesAreUnderstood(t *testing.T) {
	for _, example := range filterExamples {
		if answer := newChat(t, newFakeWindow()).say(example); strings.Contains(answer, "understood") || strings.Contains(answer, "understand") {
			t.Errorf("%q is answered with %s", example, answer)
		}
	}
}

// TestAFamilyThatIsNowhereIsSaid: of the families to keep, one that no provider
// has is no reason to do nothing.
func TestAFamilyThatIsNowhereIsSaid(t *testing.T) {
	w := newFakeWindow()
	w.order = []string{"openai"}
	c := newChat(t, w)
	answer := c.say("only keep the newest Claude and GPT models")
	wants(t, answer, "No provider here has models that match `claude`.", "RULE_PROPOSAL: {")
	c.say("yes")
	if got := strings.Join(w.shown("openai"), " "); got != "gpt-5.6-sol gpt-5.6-luna" {
		t.Errorf("%s stay: %s", got, c.did())
	}
	wants(t, newChat(t, w).say("only keep claude models"), "Nothing was changed")
	// One that another provider has is not said to be nowhere.
	wants(t, newChat(t, newFakeWindow()).say("only keep claude and gpt models on openai"), "Nothing was changed")
}

func TestNewRelease(t *testing.T) {
	for id, want := range map[string]string{
		"openai/gpt-5.6-sol":                    "[5 6] 99999999 gpt-#-sol",
		"openai/gpt-4o-2024-08-06":              "[4] 20240806 gpt-#o",
		"openai/gpt-4-0613":                     "[4] 613 gpt-#",
		"openai/gpt-3.5-turbo-16k":              "[3 5] 99999999 gpt-#-turbo-16k",
		"openai/o3-mini":                        "[3] 99999999 o#-mini",
		"anthropic/claude-3-5-sonnet-20241022":  "[3 5] 20241022 claude-#-sonnet",
		"anthropic/claude-3-5-sonnet-latest":    "[3 5] 99999999 claude-#-sonnet",
		"anthropic/claude-opus-4-5-20251101":    "[4 5] 20251101 claude-opus-#",
		"gemini/gemini-1.5-pro-002":             "[1 5] 2 gemini-#-pro",
		"x/meta-llama/llama-3.3-70b-instruct":   "[3 3] 99999999 llama-#-70b-instruct",
		"x/qwen3-235b-a22b":                     "[3] 99999999 qwen#-235b-a22b",
		"deepseek/deepseek-v3.1":                "[3 1] 99999999 deepseek-v#",
		"openai/gpt-oss-120b":                   "[] 99999999 gpt-oss-120b",
		"mistral/mixtral-8x7b":                  "[] 99999999 mixtral-8x7b",
		"openai/gpt-99999999999999999999999999": "[] 99999999 gpt-99999999999999999999999999",
	} {
		r := newRelease(model{name: strings.SplitN(id, "/", 2)[1]})
		if got := fmt.Sprint(r.version, r.date, " ", r.series); got != want {
			t.Errorf("newRelease(%s) = %s, want %s", id, got, want)
		}
	}
}

// modelNames are the names of models.
func modelNames(models []model) []string { return names(models) }

func TestNewestOf(t *testing.T) {
	names := []string{
		"claude-3-opus-20240229", "claude-opus-4-5-20251101", "claude-opus-4-8", "claude-sonnet-5", "claude-sonnet-5-20260101",
		"claude-haiku-5", "claude-embed-9", "sonar-12",
	}
	var models []model
	for _, name := range names {
		models = append(models, model{id: "a/" + name, name: name})
	}
	newestOf := func(models []model, n int, words ...term) string {
		return fmt.Sprint(modelNames(item{words: words, newest: true, count: n}.newestOf(models)))
	}
	for n, want := range []string{
		"[claude-haiku-5 claude-sonnet-5]", "[claude-haiku-5]", "[claude-haiku-5 claude-sonnet-5]", "[claude-haiku-5 claude-sonnet-5 claude-opus-4-8]",
	} {
		if got := newestOf(models, n); got != want {
			t.Errorf("the newest %d are %s, want %s", n, got, want)
		}
	}
	if got := newestOf(models, 1, term{text: "x"}); got != "[sonar-12]" {
		t.Errorf("of all families the newest is %v", got)
	}
	if got := newestOf(models[6:7], 0); got != "[claude-embed-9]" {
		t.Errorf("with nothing for chat, the newest are %v", got)
	}
}
