package modelfilter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
)

type (
	detailArgs struct {
		Model string `json:"model,omitempty" jsonschema:"id or name of a model; left out: an overview"`
	}
	modelArgs struct {
		Model string `json:"model" jsonschema:"id or name of a model"`
	}
	providerArgs struct {
		Provider string `json:"provider" jsonschema:"one of available_providers"`
	}
)

// matchResult is what get_models_matching_pattern says.
type matchResult struct {
	Provider  string        `json:"provider"`
	Pattern   string        `json:"pattern"`
	Count     int           `json:"count"`
	Hidden    int           `json:"hidden_count"`
	Models    []matchedItem `json:"models"`
	Truncated bool          `json:"truncated,omitempty"`
	Ignore    []string      `json:"ignore_rules"`    // of the provider, in order, at most maxListed
	Whitelist []string      `json:"whitelist_rules"` // likewise
}

type matchedItem struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Rule   string `json:"rule,omitempty"` // the pattern that decides the status
}

// maxMatches is how many models a query lists: enough to choose from, and a
// few thousand tokens.
const maxMatches = 200

func (w *Window) toolMatching(a ruleArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		pattern := strings.TrimSpace(a.Pattern)
		if pattern == "" {
			return refused(&engine.Refusal{})
		}
		ids := e.Matching(pattern)
		data := matchResult{Provider: p.name, Pattern: shown(pattern), Count: len(ids), Models: []matchedItem{}, Truncated: len(ids) > maxMatches}
		data.Hidden = len(ids) - len(without(ids, e.Hidden()))
		ignore, allow := p.lists[Ignore].shown(), p.lists[Allow].shown()
		data.Ignore = shownAll(ignore[:min(len(ignore), maxListed)])
		data.Whitelist = shownAll(allow[:min(len(allow), maxListed)])
		for _, id := range ids[:min(len(ids), maxMatches)] {
			m := e.Status(id)
			data.Models = append(data.Models, matchedItem{shown(id), m.Status.String(), shown(m.Rule)})
		}
		if len(ids) == 0 {
			hint := w.noMatchHint(e, pattern)
			r := assistant.OK(fmt.Sprintf("%s matches no model of %s. %s", quote(pattern), p.name, hint), data)
			r.Hint = hint
			return r
		}
		verb := "match"
		if len(ids) == 1 {
			verb = "matches"
		}
		text := fmt.Sprintf("%s of %s %s %s, %d of them hidden now.", assistant.Counted(len(ids), "model"), p.name, verb, quote(pattern), data.Hidden)
		if data.Truncated {
			text += fmt.Sprintf(" The first %d are listed.", maxMatches)
		}
		return assistant.OK(text, data)
	})
}

// located is a model that was found by its id or name.
type located struct {
	p  *provider
	e  *engine.Engine
	id string
}

// locate finds a model: in the current provider first, then in the one that
// its id names, by the very text before any other case.
func (w *Window) locate(text string) (located, error) {
	text = strings.TrimSpace(text)
	places := []*provider{w.providerNamed(w.current)}
	if head, _, ok := strings.Cut(text, "/"); ok && !strings.EqualFold(head, w.current) && slices.Contains(w.order, strings.ToLower(head)) {
		places = append(places, w.providerNamed(strings.ToLower(head)))
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, p := range places {
			e := w.rules(p)
			for _, id := range e.Models() {
				if same(id, text) || same(displayName(p.name, id), text) {
					return located{p, e, id}, nil
				}
			}
		}
	}
	p := places[len(places)-1]
	e := w.rules(p)
	names := make([]string, e.Total())
	for i, id := range e.Models() {
		names[i] = displayName(p.name, id)
	}
	return located{p, e, ""}, &UnknownError{What: "model of " + p.name, Name: text, Near: nearest(displayName(p.name, text), names)}
}

// onModel runs a query about a model.
func (w *Window) onModel(text string, run func(m located) assistant.ToolResult) assistant.ToolResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, err := w.locate(text)
	if err == nil {
		return run(m)
	}
	r := failed(err)
	r.Hint = "Find names with get_models_matching_pattern, e.g. *mini*."
	if text = strings.TrimSpace(text); text != "" {
		id := text
		if displayName(m.p.name, id) == id {
			id = m.p.name + "/" + id
		}
		if s := m.e.Status(id); s.Index >= 0 {
			r.Hint += fmt.Sprintf(" A model of that name would be %s by the %s rule %s.", s.Status, ruleType(s.List), quote(s.Rule))
		}
	}
	return r
}

// modelResult is what is known of a model.
type modelResult struct {
	ID       string         `json:"id"`
	Name     string         `json:"display_name"`
	Provider string         `json:"provider"`
	Status   string         `json:"status"`
	Rule     *RuleRef       `json:"affecting_rule"`
	Matching []matchingRule `json:"matching_rules"`
	New      bool           `json:"new,omitempty"`
	NotRuled bool           `json:"unfiltered,omitempty"`
	Context  int            `json:"context_window,omitempty"`
	PriceIn  float64        `json:"price_per_million_input,omitempty"`
	PriceOut float64        `json:"price_per_million_output,omitempty"`
	Reasons  bool           `json:"reasons,omitempty"`
}

type matchingRule struct {
	RuleRef
	Position int  `json:"position"` // in its list, from 1
	Decides  bool `json:"decides"`
}

func (m located) result() modelResult {
	x := m.e.Explain(m.id)
	out := modelResult{
		ID: shown(m.id), Name: shown(displayName(m.p.name, m.id)), Provider: m.p.name, Status: x.Status.String(),
		Matching: []matchingRule{}, New: slices.Contains(m.p.models.New, m.id), NotRuled: x.Unfiltered,
	}
	if x.Index >= 0 {
		out.Rule = &RuleRef{shown(x.Rule), ruleType(x.List)}
	}
	for _, r := range x.Rules {
		out.Matching = append(out.Matching, matchingRule{RuleRef{shown(r.Pattern), ruleType(r.List)}, r.Index + 1, r.Decides})
	}
	if info, ok := models.Info(m.id); ok && info.Known {
		out.Context, out.PriceIn, out.PriceOut, out.Reasons = info.Context, info.PriceIn, info.PriceOut, info.Reasons
	}
	return out
}

func (w *Window) toolExplain(a modelArgs) assistant.ToolResult {
	return w.onModel(a.Model, func(m located) assistant.ToolResult {
		data := m.result()
		return assistant.OK(m.why(data), data)
	})
}

// why says in words why a model has its status.
func (m located) why(r modelResult) string {
	var text string
	switch {
	case r.NotRuled:
		return fmt.Sprintf("%s is available: its id does not begin with %s/, so the proxy does not filter it at all.", quote(m.id), m.p.name)
	case r.Rule == nil:
		return fmt.Sprintf("%s is available: no rule matches it.", quote(m.id))
	case r.Status == engine.Ignored.String():
		text = fmt.Sprintf("%s is hidden by the ignore rule %s.", quote(m.id), quote(r.Rule.Pattern))
	default:
		text = fmt.Sprintf("%s is available: the whitelist rule %s keeps it.", quote(m.id), quote(r.Rule.Pattern))
	}
	var others []string
	for _, x := range r.Matching {
		if !x.Decides {
			others = append(others, x.Type+" rule "+quote(x.Pattern))
		}
	}
	if len(others) > 0 {
		text += " Also matching, without deciding: " + strings.Join(others[:min(len(others), maxNear)], ", ")
		if n := len(others) - maxNear; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		text += "."
	}
	return text
}

// overview is what get_model_details says without a model.
type overview struct {
	Provider    string   `json:"provider"`
	Total       int      `json:"total_count"`
	Available   int      `json:"available_count"`
	Hidden      int      `json:"hidden_count"`
	Whitelisted int      `json:"whitelisted_count"`
	Unfiltered  int      `json:"unfiltered_count"`
	IgnoreRules int      `json:"ignore_rule_count"`
	AllowRules  int      `json:"whitelist_rule_count"`
	New         []string `json:"new_models"`
	NewCount    int      `json:"new_count"`
	Source      string   `json:"models_from"`
	At          string   `json:"models_as_of,omitempty"`
	Unsaved     bool     `json:"has_unsaved_changes"`
}

func (w *Window) toolDetails(a detailArgs) assistant.ToolResult {
	if strings.TrimSpace(a.Model) != "" {
		return w.onModel(a.Model, func(m located) assistant.ToolResult {
			data := m.result()
			return assistant.OK(m.why(data), data)
		})
	}
	return w.onProvider("", func(p *provider, e *engine.Engine) assistant.ToolResult {
		c := counts(p, e)
		data := overview{
			Provider: p.name, Total: c.Total, Available: c.Available, Hidden: c.Hidden, Whitelisted: c.Whitelisted,
			Unfiltered: c.Unfiltered, IgnoreRules: c.IgnoreRules, AllowRules: c.AllowRules, NewCount: c.New,
			Source: p.models.Source, Unsaved: w.dirty(),
		}
		data.New, _ = name(p, p.models.New)
		if !p.models.At.IsZero() {
			data.At = p.models.At.UTC().Format(time.RFC3339)
		}
		return assistant.OK(fmt.Sprintf("%s has %s: %d available, %d hidden, %d kept by whitelist rules. %s, %s.",
			p.name, assistant.Counted(c.Total, "model"), c.Available, c.Hidden, c.Whitelisted,
			assistant.Counted(c.IgnoreRules, "ignore rule"), assistant.Counted(c.AllowRules, "whitelist rule")), data)
	})
}

func (w *Window) toolSwitch(a providerArgs) assistant.ToolResult {
	if strings.TrimSpace(a.Provider) == "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		return failed(&UnknownError{What: "provider", Known: slices.Clone(w.order)})
	}
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		c := counts(p, e)
		data := map[string]any{
			"provider": p.name, "total_count": c.Total, "available_count": c.Available,
			"ignore_rules": shownAll(p.lists[Ignore].shown()[:min(c.IgnoreRules, maxListed)]), "ignore_rule_count": c.IgnoreRules,
			"whitelist_rules": shownAll(p.lists[Allow].shown()[:min(c.AllowRules, maxListed)]), "whitelist_rule_count": c.AllowRules,
		}
		verb := "The current provider is"
		if !w.choose(p) {
			verb += " already"
		} else {
			verb += " now"
		}
		return assistant.OK(fmt.Sprintf("%s %s: %d of %s available.", verb, p.name, c.Available, assistant.Counted(c.Total, "model")), data)
	})
}

func (w *Window) toolRefresh(ctx context.Context, a listArgs) (assistant.ToolResult, error) {
	assistant.Report(ctx, assistant.Progress{Stage: "fetch", Message: "asking for the models"})
	r, err := w.refresh(ctx, a.Provider)
	if err != nil {
		f := failed(err)
		if unknown := (*UnknownError)(nil); !errors.As(err, &unknown) {
			f.Hint = "The models that were known before are still there."
		}
		return f, nil
	}
	return w.onProvider(r.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		added, _ := name(p, r.Added)
		gone, _ := name(p, r.Gone)
		data := map[string]any{
			"provider": p.name, "total_count": e.Total(), "available_count": e.Available(), "models_from": r.Source,
			"added_models": added, "added_count": len(r.Added), "gone_models": gone, "gone_count": len(r.Gone),
		}
		text := fmt.Sprintf("%s has %s (from: %s): %d added, %d gone. %d available.",
			p.name, assistant.Counted(e.Total(), "model"), r.Source, len(r.Added), len(r.Gone), e.Available())
		if r.Problem != "" {
			text += " " + sentence(r.Problem)
			data["problem"] = r.Problem
		}
		return assistant.OK(text, data)
	}), nil
}
