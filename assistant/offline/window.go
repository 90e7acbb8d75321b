package offline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"winnow/assistant/glob"
	"winnow/assistant/offline/wire"
)

// window is what the request says of the window: the context of the model
// filter, or of another window of which only the type is used.
type window struct {
	kind      string // "window_type"; "" when the request has no context
	provider  string // the shown one
	providers []string
	shown     catalog // the models of the shown provider
	unsaved   bool
}

const (
	historyWindow = "history" // the window_type of the chat history
	matchTool     = "get_models_matching_pattern"
)

// The rule lists as the context names them.
const (
	ignoreList = "ignore"
	allowList  = "whitelist"
)

// listName is what an answer calls a list.
var listName = map[string]string{ignoreList: "ignore", allowList: "allow"}

// catalog is the models and rules of one provider.
type catalog struct {
	provider      string
	models        []model
	cut           bool // the provider has more models than were listed
	unlisted      int  // models that are meant and that are not in models; they count as shown
	total, hidden int
	rules         map[string][]string // the patterns by list
}

// model is one entry of a model list.
type model struct {
	id     string // whole, as listed
	name   string // as a rule names it: without the provider's own segment
	status string // "normal", "ignored" or "whitelisted"
	rule   string // the pattern that decides the status
}

func newModel(id, provider string) model {
	m := model{id: id, name: id}
	if head, tail, ok := strings.Cut(id, "/"); ok && strings.EqualFold(head, provider) {
		m.name = tail
	}
	return m
}

func (m model) isHidden() bool  { return m.status == "ignored" }
func (m model) isShown() bool   { return !m.isHidden() }
func (m model) isAllowed() bool { return m.status == "whitelisted" }

// named reports whether text is the model's id or name.
func (m model) named(text string) bool {
	return strings.EqualFold(m.name, text) || strings.EqualFold(m.id, text)
}

// shownCount is how many models of the provider are not hidden.
func (c *catalog) shownCount() int { return c.total - c.hidden }

// decidedBy returns the listed models that a rule hides or shows.
func (c *catalog) decidedBy(rule string) []model {
	return filter(c.models, func(m model) bool { return m.rule == rule })
}

// matching returns the listed models that a pattern matches.
func (c *catalog) matching(pattern string) []model {
	return filter(c.models, matcher([]string{pattern}))
}

// has reports whether the list has a rule with exactly this pattern.
func (c *catalog) has(list, pattern string) bool {
	return slices.Contains(c.rules[list], pattern)
}

// matcher returns a function that reports whether one of the patterns matches a model.
func matcher(patterns []string) func(model) bool {
	globs := make([]*glob.Pattern, len(patterns))
	for i, p := range patterns {
		globs[i] = glob.Compile(p)
	}
	return func(m model) bool {
		return slices.ContainsFunc(globs, func(g *glob.Pattern) bool { return g.MatchID(m.id) })
	}
}

func filter(models []model, want func(model) bool) []model {
	var out []model
	for _, m := range models {
		if want(m) {
			out = append(out, m)
		}
	}
	return out
}

func names(models []model) []string {
	out := make([]string, len(models))
	for i, m := range models {
		out[i] = m.name
	}
	return out
}

func intersect(a, b []model) []model {
	return filter(a, func(m model) bool { return slices.Contains(b, m) })
}

func without(a, b []model) []model {
	return filter(a, func(m model) bool { return !slices.Contains(b, m) })
}

// findWindow reads the last context object of the system text: JSON that begins
// a line and has "window_type"; every other field may be missing. around is the
// text without it, where the prompt's headings are.
func findWindow(system string) (w window, around string) {
	key := strings.LastIndex(system, `"window_type"`)
	if key < 0 {
		return window{}, system
	}
	at := strings.LastIndex(system[:key], "\n{") + 1
	d := json.NewDecoder(strings.NewReader(system[at:]))
	var raw json.RawMessage
	if d.Decode(&raw) != nil || gjson.GetBytes(raw, "window_type").String() == "" {
		return window{}, system
	}
	return newWindow(gjson.ParseBytes(raw)), system[:at] + system[at+int(d.InputOffset()):]
}

func newWindow(c gjson.Result) window {
	shown := c.Get("current_provider").String()
	w := window{
		kind: c.Get("window_type").String(), provider: shown, providers: wire.Strings(c.Get("available_providers")),
		unsaved: c.Get("ui_state.has_unsaved_changes").Bool(),
	}
	w.providers = unique(append(w.providers, shown))
	models := c.Get("models")
	w.shown = catalog{provider: shown, rules: map[string][]string{
		ignoreList: wire.Strings(c.Get("rules.ignore.#.pattern")), allowList: wire.Strings(c.Get("rules.whitelist.#.pattern")),
	}}
	w.shown.add(models.Get("items"))
	listed := len(w.shown.models)
	w.shown.total = max(int(models.Get("total_count").Int()), listed)
	w.shown.unlisted = w.shown.total - listed
	if w.shown.hidden = len(filter(w.shown.models, model.isHidden)); w.shown.unlisted > 0 {
		w.shown.hidden = w.shown.total - int(models.Get("available_count").Int())
	}
	return w
}

// add adds listed models that the catalog does not have.
func (c *catalog) add(list gjson.Result) {
	for _, it := range list.Array() {
		m := newModel(it.Get("id").String(), c.provider)
		m.status, m.rule = it.Get("status").String(), cmp.Or(it.Get("rule").String(), it.Get("affecting_rule.pattern").String())
		if m.id != "" && !slices.ContainsFunc(c.models, func(o model) bool { return o.id == m.id }) {
			c.models = append(c.models, m)
		}
	}
}

// sameProvider lists other names of a provider, tried in this order.
var sameProvider = map[string][]string{
	"gemini": {"google", "vertexai"}, "google": {"gemini", "vertexai"}, "xai": {"x-ai"}, "x-ai": {"xai"}, "zai": {"z-ai"}, "mistral": {"mistralai"},
}

// providerNamed finds the window's name of a provider the user named.
func (w *window) providerNamed(s string) (string, bool) {
	for _, want := range append([]string{s}, sameProvider[s]...) {
		for _, p := range w.providers {
			if want != "" && strings.EqualFold(p, want) {
				return p, true
			}
		}
	}
	return "", false
}

// catalog returns the models of a provider: from the context when it lists all
// of them, else from the window. Where that cuts the list, too, the models that the
// message can mean are asked for. nil means that calls are made now, or that
// the window gave no list, which is reported.
func (c *conversation) catalog(provider string) *catalog {
	if cat := c.catalogs[provider]; cat != nil {
		return cat
	}
	cat := &catalog{provider: provider}
	if provider == c.shown.provider && c.shown.unlisted == 0 {
		cat = &c.shown
	} else if r := c.models(cat, "*"); r == nil {
		return nil
	} else {
		cat.total, cat.hidden = int(r.Data.Get("count").Int()), int(r.Data.Get("hidden_count").Int())
		cat.rules = map[string][]string{ignoreList: wire.Strings(r.Data.Get("ignore_rules")), allowList: wire.Strings(r.Data.Get("whitelist_rules"))}
		cat.cut = cat.total > len(cat.models)
	}
	var items []item
	for _, s := range c.steps {
		items = slices.Concat(items, s.selection.items, s.selection.except)
	}
	complete := true
	for _, q := range queries(items) {
		if !cat.cut {
			break
		}
		r := c.models(cat, q) // all are asked for at once
		if complete = complete && r != nil; r != nil {
			cat.unlisted += int(r.Data.Get("count").Int()) - len(r.Data.Get("models").Array())
		}
	}
	if !complete {
		return nil
	}
	c.catalogs[provider] = cat
	return cat
}

// narrow leaves of many providers those that have models of an item, or of the status or
// the rules that a step is about: one call counts them on all providers.
func (c *conversation) narrow(s step, it item, providers []string) []string {
	const few = 4 // are looked at one by one
	if len(providers) <= few {
		return providers
	}
	counts := []string{"count"}
	switch {
	case s.kind.isAboutRules():
		counts = []string{"ignore_rule_count", "whitelist_rule_count"}
	case len(it.words) == 0 && s.state == "hidden":
		counts = []string{"hidden_count"}
	case len(it.words) == 0 && s.state == "allowed":
		counts = []string{"whitelist_rule_count"}
	}
	var found []string
	for _, q := range queries([]item{it}) {
		if r := c.callOrReport(matchTool, wire.Args{"pattern": q, "provider": "*"}); r != nil {
			for _, n := range counts {
				found = append(found, wire.Strings(r.Data.Get("providers.#("+n+">0)#.provider"))...)
			}
		}
	}
	if len(found)+len(it.words) == 0 {
		return providers[:1]
	}
	return slices.DeleteFunc(slices.Clone(providers), func(p string) bool { return !slices.Contains(found, p) })
}

// models adds the models of a pattern to a catalog; nil while the call runs or if it failed.
func (c *conversation) models(cat *catalog, pattern string) *wire.Result {
	r := c.callOrReport(matchTool, wire.Args{"pattern": pattern, "provider": cat.provider})
	if r != nil {
		cat.add(r.Data.Get("models"))
	}
	return r
}
