package modelfilter

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/nearest"
)

// maxMatches is how many models a query lists: enough to choose from, and a
// few thousand tokens.
const maxMatches = 200

func (w *Window) toolMatching(a ruleArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		pattern := strings.TrimSpace(a.Pattern)
		if pattern == "" {
			return refusalResult(&engine.Refusal{})
		}
		ids := e.Matching(pattern)
		hidden := len(ids) - len(without(ids, e.Hidden()))
		listed := []fields{}
		for _, id := range ids[:min(len(ids), maxMatches)] {
			m := fields{"id": visible(id), "status": e.Status(id).Status.String()}
			if rule := e.Status(id).Rule; rule != "" {
				m["rule"] = visible(rule)
			}
			listed = append(listed, m)
		}
		data := fields{
			"provider": p.name, "pattern": visible(pattern), "count": len(ids), "hidden_count": hidden, "models": listed,
			"ignore_rules": p.listed(Ignore), "whitelist_rules": p.listed(Allow),
		}
		if len(ids) == 0 {
			hint := noMatchHint(e, pattern)
			r := assistant.OK(fmt.Sprintf("%s matches no model of %s. %s", quote(pattern), p.name, hint), data)
			r.Hint = hint
			return r
		}
		verb := "match"
		if len(ids) == 1 {
			verb = "matches"
		}
		text := fmt.Sprintf("%s of %s %s %s, %d of them hidden now.", assistant.Counted(len(ids), "model"), p.name, verb, quote(pattern), hidden)
		if len(ids) > maxMatches {
			text += fmt.Sprintf(" The first %d are listed.", maxMatches)
			data["truncated"] = true
		}
		return assistant.OK(text, data)
	})
}

// listedModel is a model that was found by its id or name.
type listedModel struct {
	*provider
	e  *engine.Engine
	id string
}

// findModel finds a model: in the current provider first, then in the one that its id
// names. An exact match comes before one in another case.
func (w *Window) findModel(text string) (listedModel, error) {
	places := []*provider{w.providerNamed(w.current)}
	if head, _, ok := strings.Cut(text, "/"); ok && !strings.EqualFold(head, w.current) && slices.Contains(w.order, strings.ToLower(head)) {
		places = append(places, w.providerNamed(strings.ToLower(head)))
	}
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, p := range places {
			e := w.engine(p)
			for _, id := range e.Models() {
				if same(id, text) || same(displayName(p.name, id), text) {
					return listedModel{p, e, id}, nil
				}
			}
		}
	}
	p := places[len(places)-1]
	e := w.engine(p)
	return listedModel{p, e, ""}, &UnknownError{What: "model of " + p.name, Name: text, Near: nearest.Names(displayName(p.name, text), modelNames(e), maxNear)}
}

// modelNames are the names of an engine's models, without the provider.
func modelNames(e *engine.Engine) []string {
	names := e.Models()
	for i, id := range names {
		names[i] = displayName(e.Provider(), id)
	}
	return names
}

// toolExplain describes what is known of a model and why it has its status.
func (w *Window) toolExplain(text string) assistant.ToolResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	text = strings.TrimSpace(text)
	m, err := w.findModel(text)
	if err == nil {
		return m.explain()
	}
	r := errorResult(err)
	r.Hint = "Find names with get_models_matching_pattern, e.g. *mini*."
	if displayName(m.name, text) == text {
		text = m.name + "/" + text
	}
	if s := m.e.Status(text); s.Index >= 0 {
		r.Hint += fmt.Sprintf(" A model of that name would be %s by the %s rule %s.", s.Status, s.List, quote(s.Rule))
	}
	return r
}

func (m listedModel) explain() assistant.ToolResult {
	x := m.e.Explain(m.id)
	matching, others := []fields{}, []string{}
	for _, r := range x.Rules {
		matching = append(matching, fields{"pattern": visible(r.Pattern), "type": ruleType[r.List], "position": r.Index + 1, "decides": r.Decides})
		if !r.Decides {
			others = append(others, fmt.Sprintf("%s rule %s", r.List, quote(r.Pattern)))
		}
	}
	data := fields{
		"id": visible(m.id), "display_name": visible(displayName(m.name, m.id)), "provider": m.name, "status": x.Status.String(),
		"affecting_rule": nil, "matching_rules": matching, "new": slices.Contains(m.models.New, m.id), "unfiltered": x.Unfiltered,
	}
	if x.Index >= 0 {
		data["affecting_rule"] = RuleRef{visible(x.Rule), ruleType[x.List]}
	}
	if info, ok := models.Info(m.id); ok && info.Known {
		data["context_window"], data["reasons"] = info.Context, info.Reasons
		data["price_per_million_input"], data["price_per_million_output"] = info.PriceIn, info.PriceOut
	}
	text := quote(m.id)
	switch {
	case x.Unfiltered:
		return assistant.OK(fmt.Sprintf("%s is shown: its id does not begin with %s/, so the proxy does not filter it at all.", text, m.name), data)
	case x.Index < 0:
		return assistant.OK(text+" is shown: no rule matches it.", data)
	case x.Status == engine.Ignored:
		text += " is hidden by the ignore rule " + quote(x.Rule) + "."
	default:
		text += " is shown by the allow rule " + quote(x.Rule) + "."
	}
	if n := len(others); n > maxNear {
		others = append(others[:maxNear], fmt.Sprintf("%d more", n-maxNear))
	}
	if len(others) > 0 {
		text += " Also matching, without deciding: " + strings.Join(others, ", ") + "."
	}
	return assistant.OK(text, data)
}

func (w *Window) toolDetails(a detailArgs) assistant.ToolResult {
	if strings.TrimSpace(a.Model) != "" {
		return w.toolExplain(a.Model)
	}
	return w.onProvider("", func(p *provider, e *engine.Engine) assistant.ToolResult {
		c := counts(p, e)
		data := fields{
			"provider": p.name, "total_count": c.Total, "available_count": c.Available, "hidden_count": c.Hidden, "whitelisted_count": c.Whitelisted,
			"unfiltered_count": c.Unfiltered, "ignore_rule_count": c.IgnoreRules, "whitelist_rule_count": c.AllowRules,
			"new_models": p.names(p.models.New), "new_count": c.New, "models_from": p.models.Source, "has_unsaved_changes": w.dirty(),
		}
		if !p.models.At.IsZero() {
			data["models_as_of"] = p.models.At.UTC().Format(time.RFC3339)
		}
		return assistant.OK(fmt.Sprintf("%s has %s: %d available, %d hidden, %d allowed. %s, %s.",
			p.name, assistant.Counted(c.Total, "model"), c.Available, c.Hidden, c.Whitelisted,
			assistant.Counted(c.IgnoreRules, "ignore rule"), assistant.Counted(c.AllowRules, "allow rule")), data)
	})
}
