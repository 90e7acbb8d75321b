package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"winnow/assistant/glob"
	"winnow/assistant/offline/wire"
)

// window is what the request says of the window.
type window struct {
	kind      string // "window_type"; "" when the request has no context
	provider  string // the shown one
	providers []string
	about     gjson.Result // the counts of each provider
	shown     catalog      // the models of the shown provider
	unsaved   bool
}

const (
	historyWindow = "history" // the window_type of the chat history
	matchTool     = "get_models_matching_pattern"
	findTool      = "find_models"
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

// matching returns the listed models that a pattern matches.
func (c *catalog) matching(pattern string) []model {
	return filter(c.models, matcher([]string{pattern}))
}

// has reports whether the list has a rule with exactly this pattern.
func (c *catalog) has(list, pattern string) bool { return slices.Contains(c.rules[list], pattern) }

// on says where a change is made.
func (c *catalog) on() string { return " on " + clean(c.provider) }

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

func filter[M any](models []M, want func(M) bool) (out []M) {
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

// intersect returns the models of a that are in b, without those that are not.
func intersect(a, b []model) []model { return split(a, b, true) }
func without(a, b []model) []model   { return split(a, b, false) }

func split(a, b []model, in bool) []model {
	ids := map[string]bool{}
	for _, m := range b {
		ids[m.id] = true
	}
	return filter(a, func(m model) bool { return ids[m.id] == in })
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
	w := window{kind: c.Get("window_type").String(), provider: shown, about: c.Get("providers"), unsaved: c.Get("ui_state.has_unsaved_changes").Bool()}
	w.providers = unique(append(wire.Strings(w.about.Get("#.provider")), shown))
	cat := &w.shown
	cat.provider, cat.rules = shown, map[string][]string{}
	for list, status := range map[string]string{ignoreList: "ignored", allowList: "whitelisted"} {
		for _, rule := range c.Get("rules." + list).Array() {
			pattern := rule.Get("pattern").String()
			cat.rules[list] = append(cat.rules[list], pattern)
			cat.addNames(wire.Strings(rule.Get("affected_models")), status, pattern)
		}
	}
	models := c.Get("models")
	cat.addNames(wire.Strings(models.Get("without_rule")), "normal", "")
	listed := len(cat.models)
	cat.total = max(int(models.Get("total_count").Int()), listed)
	cat.unlisted = cat.total - listed
	if cat.hidden = len(filter(cat.models, model.isHidden)); cat.unlisted > 0 {
		cat.hidden = cat.total - int(models.Get("available_count").Int())
	}
	return w
}

// addNames adds models by the names that a context has.
func (c *catalog) addNames(names []string, status, rule string) {
	for _, name := range names {
		c.models = append(c.models, model{id: c.provider + "/" + name, name: name, status: status, rule: rule})
	}
}

// add adds listed models that the catalog does not have.
func (c *catalog) add(list gjson.Result) {
	for _, it := range list.Array() {
		m := newModel(it.Get("id").String(), c.provider)
		m.status, m.rule = it.Get("status").String(), it.Get("rule").String()
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
	} else if r := c.callOrReport(matchTool, wire.Args{"pattern": "*", "provider": provider}); r == nil {
		return nil
	} else {
		cat.add(r.Data.Get("models"))
		cat.total, cat.hidden = int(r.Data.Get("count").Int()), int(r.Data.Get("hidden_count").Int())
		cat.rules = map[string][]string{ignoreList: wire.Strings(r.Data.Get("ignore_rules")), allowList: wire.Strings(r.Data.Get("whitelist_rules"))}
		cat.cut = cat.total > len(cat.models)
	}
	complete := true
	for _, q := range c.queries() {
		if !cat.cut {
			break
		}
		r := c.callOrReport(matchTool, wire.Args{"pattern": q, "provider": provider}) // all are asked for at once
		if complete = complete && r != nil; r != nil {
			cat.add(r.Data.Get("models"))
			cat.unlisted += int(r.Data.Get("count").Int()) - len(r.Data.Get("models").Array())
		}
	}
	if !complete {
		return nil
	}
	c.catalogs[provider] = cat
	return cat
}

// queries are patterns for all models that the steps of the message can mean.
func (c *conversation) queries() (out []string) {
	for _, s := range c.steps {
		for _, it := range slices.Concat(s.selection.items, s.selection.except) {
			out = append(out, it.queries()...)
		}
	}
	return unique(out)
}

// narrow leaves of many providers those that have models of an item, or of the status or
// the rules that a step is about, by the counts of the context or of one call.
func (c *conversation) narrow(s step, it item, providers []string) []string {
	const few = 4 // are looked at one by one
	if len(providers) <= few {
		return providers
	}
	keep := func(where gjson.Result) (found []string) {
		for _, p := range where.Array() {
			if p.Get("provider").String() != "" && (len(it.words) > 0 && p.Get("count").Int() > 0 || len(it.words) == 0 && relevant(s, p)) {
				found = append(found, p.Get("provider").String())
			}
		}
		return found
	}
	var found []string
	if len(it.words) == 0 {
		found = keep(c.about)
	} else {
		for _, q := range it.queries() {
			if r := c.callOrReport(matchTool, wire.Args{"pattern": q, "provider": "*"}); r != nil {
				found = append(found, keep(r.Data.Get("providers"))...)
			}
		}
	}
	return filter(providers, func(p string) bool { return slices.Contains(found, p) })
}

// relevant reports whether a step about all models may have something to see on a provider.
func relevant(s step, about gjson.Result) bool {
	ignore, allow := about.Get("ignore_rules").Int(), about.Get("whitelist_rules").Int()
	switch {
	case s.kind.aboutRules():
		return ignore+allow > 0
	case s.state == "hidden":
		return ignore > 0
	case s.state == "allowed":
		return allow > 0
	}
	return true
}
