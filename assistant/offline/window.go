package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"winnow/assistant/glob"
)

// window is what the request says of the window: the context of the model
// filter, or of another window of which only the type is used.
type window struct {
	kind      string // "window_type"; "" when the request holds no context
	provider  string // the shown one
	providers []string
	shown     catalog // the models of the shown provider
	unsaved   bool
	knowsSave bool // the context says whether something is unsaved
	changes   []change
}

// catalog is the models and rules of one provider.
type catalog struct {
	provider      string
	models        []model
	complete      bool // models holds all of them
	unlisted      int  // models that were found and not listed; they count as shown
	total, hidden int
	ignore, allow []rule
}

// model is one entry of a model list.
type model struct {
	id     string // whole, as listed
	name   string // as a rule names it: without the provider's own segment
	status string // "normal", "ignored" or "whitelisted"
	rule   string // the pattern that decides the status
}

// rule is an ignore or allow rule and how many models it decides; -1 is not known.
type rule struct {
	pattern string
	count   int
}

// change is one entry of changes_since_last_message.
type change struct {
	Type     string `json:"type"`
	List     string `json:"rule_type"`
	Pattern  string `json:"pattern"`
	From     string `json:"from"`
	To       string `json:"to"`
	Provider string `json:"provider"`
}

func newModel(id, provider string) model {
	m := model{id: id, name: id}
	if head, tail, ok := strings.Cut(id, "/"); ok && strings.EqualFold(head, provider) {
		m.name = tail
	}
	return m
}

// callName names the model for a tool, whichever provider is shown.
func (m model) callName(provider string) string {
	if strings.Contains(m.id, "/") || provider == "" {
		return m.id
	}
	return provider + "/" + m.id
}

func (m model) isHidden() bool { return m.status == "ignored" }

// shownCount is how many models of the provider are not hidden.
func (c *catalog) shownCount() int { return c.total - c.hidden }

// rules are those of one list.
func (c *catalog) rules(list string) []rule {
	if list == allowList {
		return c.allow
	}
	return c.ignore
}

// matching returns the listed models that a pattern matches.
func (c *catalog) matching(pattern string) []model {
	g := glob.Compile(pattern)
	return filter(c.models, func(m model) bool { return g.MatchID(m.id) })
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

func patternsOf(rules []rule) []string {
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.pattern
	}
	return out
}

func hasRule(rules []rule, pattern string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.pattern == pattern })
}

// wireContext is the context's JSON; every field may be missing.
type wireContext struct {
	Type      string   `json:"window_type"`
	Provider  string   `json:"current_provider"`
	Providers []string `json:"available_providers"`
	Truncated bool     `json:"truncated"`
	Models    struct {
		Total     int  `json:"total_count"`
		Available int  `json:"available_count"`
		Truncated bool `json:"truncated"`
		Items     []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
			Rule   *struct {
				Pattern string `json:"pattern"`
			} `json:"affecting_rule"`
		} `json:"items"`
	} `json:"models"`
	Rules struct {
		Ignore []wireRule `json:"ignore"`
		Allow  []wireRule `json:"whitelist"`
	} `json:"rules"`
	State *struct {
		Unsaved bool `json:"has_unsaved_changes"`
	} `json:"ui_state"`
	Changes []change `json:"changes_since_last_message"`
}

type wireRule struct {
	Pattern string `json:"pattern"`
	Count   int    `json:"affected_count"`
}

// findWindow reads the last context object of the system text: JSON that begins
// a line and has "window_type". around is the text without it, where the
// prompt's headings are.
func findWindow(system string) (w window, around string) {
	key := strings.LastIndex(system, `"window_type"`)
	if key < 0 {
		return window{}, system
	}
	at := strings.LastIndex(system[:key], "\n{") + 1
	d := json.NewDecoder(strings.NewReader(system[at:]))
	var raw json.RawMessage
	var head struct {
		Type string `json:"window_type"`
	}
	if d.Decode(&raw) != nil || json.Unmarshal(raw, &head) != nil || head.Type == "" {
		return window{}, system
	}
	around = system[:at] + system[at+int(d.InputOffset()):]
	var c wireContext
	if json.Unmarshal(raw, &c) != nil { // of another window, whose fields mean other things
		return window{kind: head.Type}, around
	}
	return c.window(), around
}

func (c *wireContext) window() window {
	w := window{kind: c.Type, provider: c.Provider, providers: c.Providers, knowsSave: c.State != nil, changes: c.Changes}
	w.unsaved = c.State != nil && c.State.Unsaved
	if c.Provider != "" && !slices.Contains(w.providers, c.Provider) {
		w.providers = append(slices.Clone(w.providers), c.Provider)
	}
	cat := catalog{provider: c.Provider, total: c.Models.Total, ignore: rulesOf(c.Rules.Ignore), allow: rulesOf(c.Rules.Allow)}
	for _, it := range c.Models.Items {
		if it.ID == "" {
			continue
		}
		m := newModel(it.ID, c.Provider)
		m.status = it.Status
		if it.Rule != nil {
			m.rule = it.Rule.Pattern
		}
		cat.models = append(cat.models, m)
		if m.isHidden() {
			cat.hidden++
		}
	}
	if cat.total < len(c.Models.Items) {
		cat.total = len(cat.models)
	}
	if cat.complete = !c.Truncated && !c.Models.Truncated && cat.total <= len(c.Models.Items); !cat.complete {
		cat.hidden = cat.total - c.Models.Available
	}
	w.shown = cat
	return w
}

func rulesOf(in []wireRule) []rule {
	out := make([]rule, 0, len(in))
	for _, r := range in {
		if r.Pattern != "" {
			out = append(out, rule{r.Pattern, r.Count})
		}
	}
	return out
}

// sameProvider lists other names of a provider, tried in this order.
var sameProvider = map[string][]string{
	"gemini": {"google", "vertexai", "vertex"}, "google": {"gemini", "vertexai", "vertex"},
	"xai": {"x-ai"}, "x-ai": {"xai"}, "moonshot": {"moonshotai"}, "zai": {"zhipu", "z-ai"}, "mistral": {"mistralai"}, "qwen": {"alibaba", "dashscope"},
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

// hides counts the models that edits of a catalog's provider would hide.
func (c *catalog) hides(edits []edit) (newly []model, unlisted int) {
	lists := map[string][]string{ignoreList: patternsOf(c.ignore), allowList: patternsOf(c.allow)}
	for _, e := range edits {
		switch {
		case e.provider != c.provider:
		case e.clear:
			lists[e.list] = nil
		case e.add:
			lists[e.list] = append(lists[e.list], e.pattern)
			if e.list == ignoreList {
				unlisted = c.unlisted
			}
		default:
			lists[e.list] = slices.DeleteFunc(lists[e.list], func(p string) bool { return p == e.pattern })
		}
	}
	matcher := func(list string) func(model) bool {
		var globs []*glob.Pattern
		for _, p := range lists[list] {
			globs = append(globs, glob.Compile(p))
		}
		return func(m model) bool {
			return slices.ContainsFunc(globs, func(g *glob.Pattern) bool { return g.MatchID(m.id) })
		}
	}
	ignored, allowed := matcher(ignoreList), matcher(allowList)
	return filter(c.models, func(m model) bool { return !m.isHidden() && !allowed(m) && ignored(m) }), unlisted
}
