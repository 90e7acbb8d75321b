package modelfilter

import (
	"fmt"
	"slices"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
)

// windowType is how the context names this window.
const windowType = "model_filter"

// Context is what the model is told of the window.
type Context struct {
	WindowType      string        `json:"window_type"`
	CurrentProvider string        `json:"current_provider"`
	Models          ContextModels `json:"models"`
	Rules           ContextRules  `json:"rules"`
	UI              ContextUI     `json:"ui_state"`
	Providers       []string      `json:"available_providers"`
	// Warnings are about rules that cannot be edited, ids that are not
	// filtered, and models that are not known.
	Warnings []string `json:"warnings,omitempty"`
	// Truncated says that lists were cut, and Note which; counts stay exact.
	Truncated bool   `json:"truncated,omitempty"`
	Note      string `json:"note,omitempty"`
}

// ContextModels are the models of the current provider.
type ContextModels struct {
	Total     int            `json:"total_count"`
	Available int            `json:"available_count"`
	Items     []ContextModel `json:"items"`
}

// ContextModel is one model.
type ContextModel struct {
	ID     string   `json:"id"`
	Name   string   `json:"display_name"`
	Status string   `json:"status"` // "normal", "ignored" or "whitelisted"
	Rule   *RuleRef `json:"affecting_rule"`
}

// RuleRef names a rule.
type RuleRef struct {
	Pattern string `json:"pattern"`
	Type    string `json:"type"` // "ignore" or "whitelist"
}

// ContextRules are the rules of the current provider. The counts of the lists
// are there only when the lists were cut.
type ContextRules struct {
	Ignore         []ContextRule `json:"ignore"`
	Whitelist      []ContextRule `json:"whitelist"`
	IgnoreCount    int           `json:"ignore_count,omitempty"`
	WhitelistCount int           `json:"whitelist_count,omitempty"`
}

// ContextRule is one rule with the models whose status it decides.
type ContextRule struct {
	Pattern  string   `json:"pattern"`
	Affected int      `json:"affected_count"`
	Models   []string `json:"affected_models"`
}

// ContextUI is what the user does in the window.
type ContextUI struct {
	Search      string   `json:"search_query"`
	Unsaved     bool     `json:"has_unsaved_changes"`
	Rule        *RuleRef `json:"highlighted_rule"`
	Highlighted []string `json:"highlighted_models"`
}

// Context returns a Context of the current provider, cut to the budget.
func (w *Window) Context() (any, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.providerNamed(w.current)
	e := w.rules(p)
	c := Context{
		WindowType: windowType, CurrentProvider: shown(p.name),
		Models:    ContextModels{Total: e.Total(), Available: e.Available(), Items: []ContextModel{}},
		Rules:     ContextRules{Ignore: []ContextRule{}, Whitelist: []ContextRule{}},
		UI:        ContextUI{Search: shown(w.search), Unsaved: w.dirty(), Highlighted: []string{}},
		Providers: shownAll(w.order),
		Warnings:  w.warnings(p, e),
	}
	if h := w.highlight; h.Rule != "" && slices.Contains(p.lists[h.List].shown(), h.Rule) {
		c.UI.Rule = &RuleRef{shown(h.Rule), ruleType(h.List)}
	}
	f := filling{p: p, e: e, highlighted: w.highlight.Models}
	return f.fill(c, w.contextBudget()), nil
}

// warnings are what the model must know before it promises anything.
func (w *Window) warnings(p *provider, e *engine.Engine) []string {
	var out []string
	for _, list := range lists {
		if err := p.editable(list); err != nil {
			out = append(out, err.Error())
		}
	}
	if n := len(e.Unfiltered()); n > 0 {
		out = append(out, fmt.Sprintf("%s do not begin with %s/ and are never hidden: the proxy does not filter them", assistant.Counted(n, "id"), p.name))
	}
	if e.Total() == 0 {
		out = append(out, fmt.Sprintf("no models of %s are known yet; refresh_models asks for them", p.name))
	}
	return out
}

// defaultContextTokens bounds the context when nobody has set a budget.
const defaultContextTokens = 16_000

// SetContextBudget bounds the context to about so many estimated tokens.
func (w *Window) SetContextBudget(tokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if tokens != w.budget {
		w.budget = tokens
		w.revision++
	}
}

func (w *Window) contextBudget() int {
	if w.budget <= 0 {
		return defaultContextTokens
	}
	return w.budget
}
