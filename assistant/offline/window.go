package offline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

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
	knowsSave bool           // the context says whether something is unsaved
	changes   []gjson.Result // changes_since_last_message
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
	return filter(c.models, matcher([]string{pattern}))
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
	if d.Decode(&raw) != nil {
		return window{}, system
	}
	c := gjson.ParseBytes(raw)
	if c.Get("window_type").String() == "" {
		return window{}, system
	}
	return newWindow(c), system[:at] + system[at+int(d.InputOffset()):]
}

func newWindow(c gjson.Result) window {
	state, models, shown := c.Get("ui_state"), c.Get("models"), c.Get("current_provider").String()
	w := window{
		kind: c.Get("window_type").String(), provider: shown, providers: stringsOf(c.Get("available_providers")),
		knowsSave: state.Exists(), unsaved: state.Get("has_unsaved_changes").Bool(), changes: c.Get("changes_since_last_message").Array(),
	}
	if shown != "" && !slices.Contains(w.providers, shown) {
		w.providers = append(w.providers, shown)
	}
	cat := catalog{provider: shown, ignore: rulesOf(c.Get("rules.ignore")), allow: rulesOf(c.Get("rules.whitelist"))}
	items := models.Get("items")
	cat.add(items)
	listed := len(items.Array())
	cat.total, cat.hidden = int(models.Get("total_count").Int()), len(filter(cat.models, model.isHidden))
	if cat.total < listed {
		cat.total = len(cat.models)
	}
	if cat.complete = !c.Get("truncated").Bool() && !models.Get("truncated").Bool() && cat.total <= listed; !cat.complete {
		cat.hidden = cat.total - int(models.Get("available_count").Int())
	}
	w.shown = cat
	return w
}

// add adds listed models that the catalog does not have.
func (c *catalog) add(list gjson.Result) {
	have := ids(c.models)
	list.ForEach(func(_, it gjson.Result) bool {
		if id := it.Get("id").String(); id != "" && !have[id] {
			m := newModel(id, c.provider)
			m.status = it.Get("status").String()
			m.rule = cmp.Or(it.Get("rule").String(), it.Get("affecting_rule.pattern").String())
			c.models = append(c.models, m)
		}
		return true
	})
}

// rulesOf reads rules: objects with counts in the context, strings in a result.
func rulesOf(list gjson.Result) []rule {
	var out []rule
	for _, r := range list.Array() {
		if p := r.Get("pattern").String(); r.IsObject() && p != "" {
			out = append(out, rule{p, int(r.Get("affected_count").Int())})
		} else if r.Type == gjson.String {
			out = append(out, rule{r.String(), -1})
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
	ignored, allowed := matcher(lists[ignoreList]), matcher(lists[allowList])
	return filter(c.models, func(m model) bool { return !m.isHidden() && !allowed(m) && ignored(m) }), unlisted
}

// matcher reports the models that one of some patterns matches.
func matcher(patterns []string) func(model) bool {
	globs := make([]*glob.Pattern, len(patterns))
	for i, p := range patterns {
		globs[i] = glob.Compile(p)
	}
	return func(m model) bool {
		return slices.ContainsFunc(globs, func(g *glob.Pattern) bool { return g.MatchID(m.id) })
	}
}
