package offline

import (
	"encoding/json"
	"strings"
)

// window is what the request says of the window: the context of the model
// filter, or of another window of which only the type is used.
type window struct {
	kind      string // "window_type"; "" when the request holds no context
	provider  string
	providers []string
	total     int // of models, exact even when the list is cut
	available int
	models    []model
	truncated bool // models holds only a part
	ignore    []rule
	allow     []rule
	unsaved   bool
	state     bool // the context tells whether something is unsaved
	changes   []change
}

// model is one entry of the model list.
type model struct {
	id     string // whole, as listed
	name   string // as a rule names it: without the provider's own segment
	tail   string // without the first segment, whatever it is
	status string // normal, ignored, whitelisted
	rule   string // the pattern that decides the status
}

// rule is an ignore or allow rule.
type rule struct {
	pattern string
	count   int
}

// change is one entry of changes_since_last_message.
type change struct {
	kind, list, pattern, from, to, provider string
}

// fits reports whether a pattern applies to the model, by whole id or without
// its first segment.
func (m model) fits(pattern string) bool { return match(pattern, m.tail) || match(pattern, m.id) }

func newModel(id, provider string) model {
	m := model{id: id, name: id, tail: id}
	if head, tail, ok := strings.Cut(id, "/"); ok {
		m.tail = tail
		if head == provider {
			m.name = tail
		}
	}
	return m
}

// wireContext is the context's JSON; every field may be missing.
type wireContext struct {
	Type      string     `json:"window_type"`
	Provider  string     `json:"current_provider"`
	Providers []string   `json:"available_providers"`
	Truncated bool       `json:"truncated"`
	Models    wireModels `json:"models"`
	Rules     struct {
		Ignore []wireRule `json:"ignore"`
		Allow  []wireRule `json:"whitelist"`
	} `json:"rules"`
	State *struct {
		Unsaved bool `json:"has_unsaved_changes"`
	} `json:"ui_state"`
	Changes []struct {
		Type     string `json:"type"`
		List     string `json:"rule_type"`
		Pattern  string `json:"pattern"`
		From     string `json:"from"`
		To       string `json:"to"`
		Provider string `json:"provider"`
	} `json:"changes_since_last_message"`
}

type wireModels struct {
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
}

type wireRule struct {
	Pattern string `json:"pattern"`
	Count   int    `json:"affected_count"`
}

// maxBraces bounds the search for where the context object begins: with the
// type at its end, hundreds of models stand between.
const maxBraces = 4096

// findWindow reads the last context object of the system text: JSON that has
// "window_type". around is the text without it, where the prompt's headings are.
func findWindow(system string) (w window, around string) {
	key := strings.LastIndex(system, `"window_type"`)
	if key < 0 {
		return window{}, system
	}
	at := key
	for range maxBraces {
		if at = strings.LastIndexByte(system[:at], '{'); at < 0 {
			break
		}
		d := json.NewDecoder(strings.NewReader(system[at:]))
		var raw json.RawMessage
		var head struct {
			Type string `json:"window_type"`
		}
		if d.Decode(&raw) != nil || json.Unmarshal(raw, &head) != nil || head.Type == "" {
			continue
		}
		around = system[:at] + system[at+int(d.InputOffset()):]
		var c wireContext
		if err := json.Unmarshal(raw, &c); err != nil { // of another window, whose fields mean other things
			return window{kind: head.Type}, around
		}
		return c.window(), around
	}
	return window{}, system
}

func (c wireContext) window() window {
	w := window{
		kind: c.Type, provider: c.Provider, providers: c.Providers, total: c.Models.Total, available: c.Models.Available,
		truncated: c.Truncated || c.Models.Truncated || c.Models.Total > len(c.Models.Items),
		state:     c.State != nil, unsaved: c.State != nil && c.State.Unsaved,
		ignore: rules(c.Rules.Ignore), allow: rules(c.Rules.Allow),
	}
	w.models = make([]model, 0, len(c.Models.Items))
	for _, it := range c.Models.Items {
		if it.ID == "" {
			continue
		}
		m := newModel(it.ID, c.Provider)
		m.status = it.Status
		if it.Rule != nil {
			m.rule = it.Rule.Pattern
		}
		w.models = append(w.models, m)
	}
	if w.total == 0 {
		w.total = len(w.models)
	}
	if c.Models.Available == 0 {
		w.available = w.total - len(w.hidden())
	}
	for _, ch := range c.Changes {
		w.changes = append(w.changes, change{ch.Type, ch.List, ch.Pattern, ch.From, ch.To, ch.Provider})
	}
	return w
}

func rules(in []wireRule) []rule {
	out := make([]rule, 0, len(in))
	for _, r := range in {
		if r.Pattern != "" {
			out = append(out, rule{r.Pattern, r.Count})
		}
	}
	return out
}

// hidden returns the listed models that are hidden.
func (w *window) hidden() []model {
	var out []model
	for _, m := range w.models {
		if m.status == "ignored" {
			out = append(out, m)
		}
	}
	return out
}

// fitting returns the listed models a pattern applies to.
func fitting(models []model, pattern string) []model {
	var out []model
	for _, m := range models {
		if m.fits(pattern) {
			out = append(out, m)
		}
	}
	return out
}

func anyFits(models []model, pattern string) bool {
	for _, m := range models {
		if m.fits(pattern) {
			return true
		}
	}
	return false
}

func names(models []model) []string {
	out := make([]string, len(models))
	for i, m := range models {
		out[i] = m.name
	}
	return out
}

// byID finds a model by its whole id or its name, in any case.
func byID(models []model, s string) (model, bool) {
	for _, m := range models {
		if m.id == s || m.name == s {
			return m, true
		}
	}
	for _, m := range models {
		if strings.EqualFold(m.id, s) || strings.EqualFold(m.name, s) {
			return m, true
		}
	}
	return model{}, false
}

func hasRule(rules []rule, pattern string) bool {
	for _, r := range rules {
		if r.pattern == pattern {
			return true
		}
	}
	return false
}

// providerNamed finds the window's name of a provider the user named.
func (w *window) providerNamed(s string) (string, bool) {
	s = strings.ToLower(s)
	for _, want := range append([]string{s}, sameProvider[s]...) {
		for _, p := range w.providers {
			if strings.EqualFold(p, want) {
				return p, true
			}
		}
	}
	if s != "" && strings.EqualFold(s, w.provider) {
		return w.provider, true
	}
	return "", false
}
