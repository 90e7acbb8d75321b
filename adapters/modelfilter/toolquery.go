package modelfilter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/nearest"
	"winnow/assistant/safetext"
)

// maxMatches is the maximum number of models that a query lists: enough to choose from, in
// a few thousand tokens.
const maxMatches = 200

func (w *Window) toolMatching(a ruleArgs) assistant.ToolResult {
	pattern := strings.TrimSpace(a.Pattern)
	switch {
	case pattern == "":
		return refusalResult(&engine.Refusal{})
	case a.Provider == "*":
		return w.matchingOnAll(pattern)
	}
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		ids := e.Matching(pattern)
		listed := []fields{}
		for _, id := range ids[:min(len(ids), maxMatches)] {
			s := e.Status(id)
			m := fields{"id": visible(id), "status": s.Status.String()}
			if s.Index >= 0 {
				m["rule"] = visible(s.Rule)
			}
			listed = append(listed, m)
		}
		r := matchResult(pattern, p.name, len(ids), len(e.Preview(Allow, pattern).Shown), fields{
			"provider": p.name, "models": listed, "ignore_rules": p.listed(Ignore), "whitelist_rules": p.listed(Allow), "truncated": len(ids) > maxMatches,
		})
		switch {
		case len(ids) == 0:
			r.Hint = noMatchHint(e, pattern)
			r.Message += " " + r.Hint
		case len(ids) > maxMatches:
			r.Message += fmt.Sprintf(" The first %d are listed.", maxMatches)
		}
		return r
	})
}

// matchResult returns the result of a query for a pattern that matches n models. hidden counts those
// that are hidden now.
func matchResult(pattern, where string, n, hidden int, data fields) assistant.ToolResult {
	data["pattern"], data["count"], data["hidden_count"] = visible(pattern), n, hidden
	text := fmt.Sprintf("%s matches %s of %s", quote(pattern), assistant.Counted(n, "model"), where)
	if hidden > 0 {
		text += fmt.Sprintf(", %d of them hidden now", hidden)
	}
	return assistant.OK(text+".", data)
}

// matchingOnAll counts the matches of a pattern for each provider. Models that have not
// been read yet are read from the disk, so the lock is released after each provider.
func (w *Window) matchingOnAll(pattern string) assistant.ToolResult {
	providers, found, hidden := []fields{}, 0, 0
	for _, v := range w.Providers() {
		w.onProvider(v.Name, func(p *provider, e *engine.Engine) assistant.ToolResult {
			c, data := e.Preview(Allow, pattern), p.countFields(e) // counts the hidden models: an allow rule would show them
			data["count"], data["hidden_count"] = c.Matches, len(c.Shown)
			providers, found, hidden = append(providers, data), found+c.Matches, hidden+len(c.Shown)
			return assistant.ToolResult{}
		})
	}
	return matchResult(pattern, assistant.Counted(len(providers), "provider"), found, hidden, fields{"providers": providers})
}

// countFields returns the counts of a provider's models and rules.
func (p *provider) countFields(e *engine.Engine) fields {
	c := counts(p, e)
	return fields{
		"provider": p.name, "total_count": c.Total, "available_count": c.Shown,
		"ignore_rule_count": c.IgnoreRules, "whitelist_rule_count": c.AllowRules,
	}
}

// listedModel is a model found by its id or name.
type listedModel struct {
	*provider
	e  *engine.Engine
	id string
}

// findModel finds a model. It looks first in the current provider, then in the provider
// that the id names, and then in all others. An exact match takes precedence over one that
// differs in case. If current is "", the window's current provider is used.
func (w *Window) findModel(current, text string) (listedModel, error) {
	current = cmp.Or(current, w.current)
	places := []*provider{w.providerNamed(current)}
	if head, _, ok := strings.Cut(text, "/"); ok && !strings.EqualFold(head, current) && slices.Contains(w.order, strings.ToLower(head)) {
		places = append(places, w.providerNamed(strings.ToLower(head)))
	}
	p := places[len(places)-1] // the provider to name in the error
	for _, name := range w.order {
		if other := w.providerNamed(name); !slices.Contains(places, other) {
			places = append(places, other)
		}
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
	e := w.engine(p)
	return listedModel{p, e, ""}, &UnknownError{What: p.name + " model", Name: text, Near: nearest.Names(displayName(p.name, text), displayNames(p.name, e.Models()), maxNear)}
}

// FindModel returns the Scope of the provider that lists a model, and the model's id. The
// model is given by its id or name. ok is false if no provider lists it.
func (w *Window) FindModel(model string) (s Scope, id string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, err := w.findModel("", model)
	return Scope{w, m.name}, m.id, err == nil
}

// toolExplain describes why a model has its status. It may wait for the disk or the proxy.
func (w *Window) toolExplain(a modelArgs) assistant.ToolResult {
	return w.aboutModel(a.current, a.Model, false)
}

// aboutModel describes a model and its status. If facts is set, the message includes the
// model's facts.
func (w *Window) aboutModel(current, text string, facts bool) assistant.ToolResult {
	text = strings.TrimSpace(text)
	m, r := w.knownModel(current, text)
	if m.id == "" {
		return r
	}
	w.readUse(m.name)
	known := condition.Model{}
	known.Info, _ = w.describe(m.id)
	known.Info.ID = m.id
	w.mu.Lock()
	defer w.mu.Unlock()
	known.Use, known.UseKnown = m.use.ForModel(m.id)
	r = m.explain(known)
	if about := factsText(known, w.opts.Now()); facts && about != "" {
		r.Message += " " + about
	}
	return r
}

// knownModel finds a model. If there is none, m.id is "" and r is the result to return.
func (w *Window) knownModel(current, text string) (m listedModel, r assistant.ToolResult) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, err := w.findModel(current, text)
	if err == nil {
		return m, r
	}
	r = errorResult(err)
	r.Hint = "Find names with get_models_matching_pattern, e.g. with *mini*."
	if displayName(m.name, text) == text {
		text = m.name + "/" + text
	}
	if s := m.e.Status(text); s.Index >= 0 {
		r.Hint += fmt.Sprintf(" A model with that name would be %s.", decidedBy(s.Status, s.Rule))
	}
	return m, r
}

// Step implements [assistant.Act]; ExplainModel is not a step that can be undone.
func (ExplainModel) Step() string { return "" }

func (ExplainModel) about() string { return "" }

func (a ExplainModel) do(_ context.Context, w *Window) (safetext.Text, error) {
	if r := w.toolExplain(modelArgs{Model: a.Model}); r.Success {
		return safetext.VisibleOnce(strings.ReplaceAll(strings.TrimSuffix(r.Message, "."), "`", "")), nil
	}
	return "", withLock(w, func() error { return w.noModel(strings.TrimSpace(a.Model)) })
}

// noModel returns the error for a model that no provider lists. It names the rule that
// would apply to the model, or else a similar name.
func (w *Window) noModel(text string) error {
	said := "no provider lists " + safetext.Visible(text)
	m, err := w.findModel("", text)
	if displayName(m.name, text) == text {
		text = m.name + "/" + text
	}
	if s := m.e.Status(text); s.Index >= 0 {
		effect := "hidden"
		if s.List == Allow {
			effect = "shown"
		}
		return fmt.Errorf("%s; on %s, the %s rule %s would keep it %s", said, m.name, s.List, safetext.Visible(s.Rule), effect)
	}
	if unknown, ok := errors.AsType[*UnknownError](err); ok && len(unknown.Near) > 0 {
		said += "; did you mean " + safetext.Visible(unknown.Near[0]) + "?"
	}
	return errors.New(string(said))
}

func (m listedModel) explain(known condition.Model) assistant.ToolResult {
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
		"listed_by": m.models.SourceOf(m.id),
	}
	if x.Index >= 0 {
		data["affecting_rule"] = RuleRef{visible(x.Rule), ruleType[x.List]}
	}
	addFacts(data, known)
	text := quote(m.id)
	switch {
	case x.Unfiltered:
		return assistant.OK(fmt.Sprintf("%s is shown: its id does not begin with %s/, so the proxy does not filter it at all.", text, m.name), data)
	case x.Index < 0:
		return assistant.OK(text+" is shown: no rule matches it.", data)
	}
	text += " is " + decidedBy(x.Status, x.Rule) + "."
	if n := len(others); n > maxNear {
		others = append(others[:maxNear], fmt.Sprintf("%d more", n-maxNear))
	}
	if len(others) > 0 {
		text += " Also matching: " + strings.Join(others, ", ") + "."
	}
	return assistant.OK(text, data)
}

func (w *Window) toolDetails(a detailArgs) assistant.ToolResult {
	if strings.TrimSpace(a.Model) != "" {
		return w.aboutModel(a.current, a.Model, true)
	}
	return w.onProvider(a.current, func(p *provider, e *engine.Engine) assistant.ToolResult {
		c, data := counts(p, e), p.countFields(e)
		maps.Copy(data, fields{
			"hidden_count": c.Hidden, "whitelisted_count": c.Allowed, "unfiltered_count": c.Unfiltered,
			"new_models": p.names(p.models.New), "new_count": c.New, "models_from": sourceCounts(p.models), "has_unsaved_changes": w.dirty(),
		})
		if !p.models.At.IsZero() {
			data["models_as_of"] = p.models.At.UTC().Format(time.RFC3339)
		}
		return assistant.OK(fmt.Sprintf("%s has %s: %d shown, %d of them by allow rules, and %d hidden. It has %s and %s.",
			p.name, assistant.Counted(c.Total, "model"), c.Shown, c.Allowed, c.Hidden,
			assistant.Counted(c.IgnoreRules, "ignore rule"), assistant.Counted(c.AllowRules, "allow rule")), data)
	})
}
