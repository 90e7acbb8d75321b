package modelfilter

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/budget"
)

const (
	// windowType identifies this window in the context.
	windowType = "model_filter"
	// defaultContextTokens limits the context if no budget is set.
	defaultContextTokens = 16_000
	// cutNote tells the language model that the context is truncated.
	cutNote = "The lists are cut to fit, but every count is exact. For the rest, use get_models_matching_pattern, get_model_details and explain_model_status."
)

// Context describes the window to the language model. Each model of the current provider is named
// once, apart from highlights and changes.
type Context struct {
	WindowType      string `json:"window_type"`
	CurrentProvider string `json:"current_provider"`
	Models          struct {
		Total     int    `json:"total_count"`
		Available int    `json:"available_count"`
		Source    string `json:"source,omitempty"` // where the models come from
		At        string `json:"as_of,omitempty"`  // RFC 3339
		// Free names the models that no rule matches and that are therefore shown. The others
		// are listed with the rule that decides them.
		Free []string `json:"without_rule"`
	} `json:"models"` // of the current provider
	Rules struct {
		Ignore         []ContextRule `json:"ignore"`
		Whitelist      []ContextRule `json:"whitelist"`
		IgnoreCount    int           `json:"ignore_count,omitempty"` // set only if the lists were truncated
		WhitelistCount int           `json:"whitelist_count,omitempty"`
	} `json:"rules"` // of the current provider
	UI struct {
		Search      string   `json:"search_query"`
		Unsaved     bool     `json:"has_unsaved_changes"`
		Rule        *RuleRef `json:"highlighted_rule"`
		Highlighted []string `json:"highlighted_models"`
	} `json:"ui_state"`
	Available []string          `json:"available_providers"`
	Providers []ContextProvider `json:"providers"` // the available providers with their counts
	// Changes lists up to maxNews changes to models since the user last looked, for all
	// providers whose models have been read.
	Changes []ContextNews `json:"model_changes,omitempty"`
	// Warnings are about rules that cannot be edited, ids that are not filtered, and a
	// provider whose models are unknown.
	Warnings []string `json:"warnings,omitempty"`
	// Truncated reports that lists were truncated; Note then says how to get the rest.
	Truncated bool   `json:"truncated,omitempty"`
	Note      string `json:"note,omitempty"`
}

// ContextProvider is a provider with its counts. The counts of its models are omitted until
// the models have been read, because Context reads only those of the current provider.
type ContextProvider struct {
	Provider  string `json:"provider"`
	Shown     *int   `json:"shown,omitempty"`
	Total     int    `json:"total,omitempty"`
	Ignore    int    `json:"ignore_rules"`
	Whitelist int    `json:"whitelist_rules"`
}

// RuleRef identifies a rule.
type RuleRef struct {
	Pattern string `json:"pattern"`
	Type    string `json:"type"` // "ignore" or "whitelist"
}

// ContextRule is a rule with the models whose status it decides.
type ContextRule struct {
	Pattern  string   `json:"pattern"`
	Affected int      `json:"affected_count"`
	Models   []string `json:"affected_models"`
}

// Context returns a Context of the current provider, truncated to the budget.
func (w *Window) Context() (any, error) { return w.context(nil) }

// context returns the Context as seen from a place.
func (w *Window) context(at *place) (any, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.providerNamed(at.current(w))
	e := w.engine(p)
	c := Context{WindowType: windowType, CurrentProvider: visible(p.name), Available: visibleAll(w.order), Providers: w.contextProviders(), Warnings: w.warnings(p, e)}
	c.Models.Total, c.Models.Available, c.Models.Source = e.Total(), e.Shown(), sourceCounts(p.models)
	if !p.models.At.IsZero() {
		c.Models.At = p.models.At.UTC().Format(time.RFC3339)
	}
	c.Changes = w.contextNews()
	c.UI.Unsaved = w.dirty()
	if at == nil {
		c.UI.Search = visible(w.search)
	}
	if h := w.highlight; at == nil && h.Rule != "" && slices.Contains(p.lists[h.List].effective(), h.Rule) {
		c.UI.Rule = &RuleRef{visible(h.Rule), ruleType[h.List]}
	}
	limit := int(float64(w.contextBudget()) * budget.Params{}.CPT())
	if whole, fits := w.fill(c, p, limit, shares{100, 100, 100}); fits {
		return whole, nil
	}
	c.Truncated, c.Note = true, cutNote
	c.Rules.IgnoreCount, c.Rules.WhitelistCount = len(e.Patterns(Ignore)), len(e.Patterns(Allow))
	decided := 0
	for _, list := range lists {
		for _, r := range e.Rules(list) {
			decided += r.Decides
		}
	}
	cut, _ := w.fill(c, p, limit, shares{50, min(90, 100*decided/max(e.Total(), 1)), 20})
	return cut, nil
}

// contextProviders returns each provider with its counts.
func (w *Window) contextProviders() []ContextProvider {
	out := make([]ContextProvider, len(w.order))
	for i, name := range w.order {
		p := w.providerNamed(name)
		out[i] = ContextProvider{Provider: visible(p.name), Ignore: len(p.lists[Ignore].effective()), Whitelist: len(p.lists[Allow].effective())}
		if p.engine != nil && p.engine.Total() > 0 {
			shown := p.engine.Shown()
			out[i].Shown, out[i].Total = &shown, p.engine.Total()
		}
	}
	return out
}

// shares divides the space in the context: each field is the percentage that a part may take of
// the space that the earlier parts left. The models without a rule get the rest.
type shares struct{ rules, affected, highlighted int }

// fill adds to c as much of a provider's lists as fits in limit characters: the rules, the
// models whose status they decide, the models that the user has highlighted, and the models
// that no rule matches. fits is false if something was left out.
func (w *Window) fill(c Context, p *provider, limit int, share shares) (filled Context, fits bool) {
	c.Rules.Ignore, c.Rules.Whitelist, c.UI.Highlighted, c.Models.Free = []ContextRule{}, []ContextRule{}, []string{}, []string{}
	e, left := w.engine(p), limit-jsonSize(c)

	room := left * share.rules / 100
	left -= room
	fits = appendFitting(&c.Rules.Whitelist, &room, contextRules(e, Allow)) && appendFitting(&c.Rules.Ignore, &room, contextRules(e, Ignore))
	left += room

	room = left * share.affected / 100
	left -= room
	rest := len(c.Rules.Whitelist) + len(c.Rules.Ignore)
	for list, rules := range [][]ContextRule{Ignore: c.Rules.Ignore, Allow: c.Rules.Whitelist} {
		for i := range rules {
			each := room
			if share.affected < 100 {
				each = room / rest
			}
			rest--
			room -= each
			fits = appendFitting(&rules[i].Models, &each, displayNames(p.name, e.Decided(List(list), i, each+1))) && fits
			room += each
		}
	}
	left += room

	room = left * share.highlighted / 100
	left -= room
	fits = appendFitting(&c.UI.Highlighted, &room, visibleAll(w.highlight.Models)) && fits
	left += room
	fits = appendFitting(&c.Models.Free, &left, freeModels(p.name, e.Statuses())) && fits
	return c, fits
}

// appendFitting appends items to a list while their JSON fits in room, in characters, and
// reduces room accordingly. It returns false if some items were left out.
func appendFitting[T any](list *[]T, room *int, items []T) bool {
	for _, item := range items {
		cost := jsonSize(item) + len(",")
		if cost > *room {
			return false
		}
		*room -= cost
		*list = append(*list, item)
	}
	return true
}

// jsonSize returns the number of characters of v as JSON.
func jsonSize(v any) int {
	text, err := assistant.PlainJSON(v)
	if err != nil {
		return 0 // cannot happen: everything in a context can be encoded
	}
	return utf8.RuneCount(text)
}

// contextRules returns the rules of a list without the models that they decide.
func contextRules(e *engine.Engine, list List) []ContextRule {
	var out []ContextRule
	for _, r := range e.Rules(list) {
		out = append(out, ContextRule{visible(r.Pattern), r.Decides, []string{}})
	}
	return out
}

// freeModels returns the names of the models that no rule matches.
func freeModels(provider string, statuses []engine.ModelStatus) []string {
	var out []string
	for _, m := range statuses {
		if m.Index < 0 {
			out = append(out, visible(displayName(provider, m.ID)))
		}
	}
	return out
}

// warnings lists what cannot be changed, so that the language model does not promise to
// change it, and says if no models are known.
func (w *Window) warnings(p *provider, e *engine.Engine) []string {
	var out []string
	for _, list := range lists {
		if err := p.editable(list); err != nil {
			out = append(out, err.Error())
		}
	}
	if n := len(e.Unfiltered()); n > 0 {
		others := "1 model has a different id and is"
		if n > 1 {
			others = fmt.Sprintf("%d models have different ids and are", n)
		}
		out = append(out, fmt.Sprintf("the proxy filters only ids that begin with %s/; %s never hidden", p.name, others))
	}
	if e.Total() == 0 {
		out = append(out, fmt.Sprintf("no models of %s are known yet; refresh_models fetches them", p.name))
	}
	return out
}

// SetContextBudget limits the context to about this many estimated tokens; 0 means
// defaultContextTokens.
func (w *Window) SetContextBudget(tokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if tokens != w.budget {
		w.budget = tokens
		w.changed()
	}
}

func (w *Window) contextBudget() int {
	if w.budget <= 0 {
		return defaultContextTokens
	}
	return w.budget
}
