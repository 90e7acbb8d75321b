package modelfilter

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"winnow/adapters/modelfilter/condition"
	"winnow/assistant"
)

type findArgs struct {
	Models   []string `json:"models,omitempty" jsonschema:"names as for plan_rules; all models if left out"`
	Where    string   `json:"where" jsonschema:"words separated by spaces, all of which must hold, e.g. price>10 tools ctx>=100k unused:30d status:deprecated !vision shown *mini*"`
	Provider string   `json:"provider,omitempty" jsonschema:"the provider, or several separated by spaces; all if left out; -name excludes one"`
	Sort     string   `json:"sort,omitempty" jsonschema:"the order, largest or newest first; by name if left out"`
	Least    bool     `json:"least,omitempty" jsonschema:"the cheapest, smallest, oldest or least used first"`
	Limit    int      `json:"limit,omitempty" jsonschema:"how many models to list; 50 if left out; counts are always exact"`
}

// defaultFound is the default number of models that a call lists; maxMatches is the maximum.
const defaultFound = 50

// findTool returns the tool find_models. The tool may wait for the disk or the proxy, so it holds the
// window's lock only for lookups.
func (w *Window) findTool() assistant.Tool {
	t := tool("Query", "find_models",
		"Find models by what they are and how they are used, on all providers. Conditions: "+vocabulary()+". "+
			"! negates a word. A model whose fact is unknown matches neither a word nor its negation and is counted separately. Changes nothing.",
		func(_ context.Context, a findArgs) assistant.ToolResult { return w.toolFind(a) })
	for _, o := range orders {
		t.Schema.Properties["sort"].Enum = append(t.Schema.Properties["sort"].Enum, o.Name)
	}
	return t
}

// asksUse reports whether the question concerns the use of models.
func (a findArgs) asksUse() bool {
	return strings.Contains(a.Where+strings.Join(a.Models, " "), "used:")
}

// vocabulary lists the conditions for the language model.
func vocabulary() string {
	var words []string
	for _, w := range condition.Words() {
		words = append(words, w.Example+" ("+w.Help+")")
	}
	return strings.Join(words, ", ")
}

func (w *Window) toolFind(a findArgs) assistant.ToolResult {
	where, err := condition.Parse(a.Where)
	if err != nil {
		return assistant.Fail(assistant.CodeFailed, "The condition is invalid. %s", sentence(err.Error()))
	}
	found, missed, err := w.findNamed(a.Models, where, cmp.Or(a.Provider, "*"))
	if err != nil {
		return errorResult(err)
	}
	if missed.Message != "" {
		return missed
	}
	if order, ok := OrderNamed(a.Sort); ok {
		sorted := make([]FoundModel, len(found.Models))
		for to, from := range order.Sorted(len(found.Models), func(i int) *condition.Model { return &found.Models[i].Model }, a.Least) {
			sorted[to] = found.Models[from]
		}
		found.Models = sorted
	}
	limit := min(cmp.Or(max(a.Limit, 0), defaultFound), maxMatches)
	listed, shown := []fields{}, 0
	for i, m := range found.Models {
		if !m.Hidden {
			shown++
		}
		if i < limit {
			listed = append(listed, m.fields())
		}
	}
	text := foundText(a, where, found, shown, w.opts.Now())
	if a.asksUse() && found.NoUse > 0 {
		unknown := fmt.Sprintf("The use of %s is unknown: neither a usage file nor the proxy reports it.", assistant.Counted(found.NoUse, "model"))
		if text += "\n\n" + unknown; len(found.Models) == 0 { // "No model" would be wrong: their use is unknown
			text = unknown
		}
	} else if found.Unknown > 0 {
		text += fmt.Sprintf("\n\nLeft out because a property is unknown: %s.", assistant.Counted(found.Unknown, "model"))
	}
	if len(found.Models) > limit && a.Sort == "" {
		text += fmt.Sprintf("\n\nThe first %d are listed in full.", limit)
	}
	if about := aboutPrices(a.Where + strings.Join(a.Models, " ")); about != "" {
		text += "\n\n" + about
	}
	if len(found.Problems) > 0 {
		text += "\n\n" + strings.Join(found.Problems, " ")
	}
	return assistant.OK(text, fields{
		"where": visible(where.String()), "count": len(found.Models), "shown_count": shown, "unknown_count": found.Unknown,
		"models": listed, "truncated": len(found.Models) > limit,
	})
}

// findNamed is like Find, but returns only the models that phrases select, in the order of the
// phrases. provider is as in providersNamed. missed is the result to return if a phrase selects no
// model; otherwise it is empty.
func (w *Window) findNamed(phrases []string, where condition.Condition, provider string) (found Found, missed assistant.ToolResult, err error) {
	named, err := readPhrases(phrases)
	if err != nil {
		return found, missed, err
	}
	if len(named) == 0 {
		providers, err := w.providersNamed(provider)
		if err == nil {
			found, err = w.Find(where, providers...)
		}
		return found, missed, err
	}
	r, now, seen := w.finder(), w.opts.Now(), map[string]bool{}
	r.asks = true
	for _, p := range named {
		at, err := r.locate(p, provider)
		if err != nil {
			return found, missed, err
		}
		for _, name := range at {
			models, _, _ := p.in(r.read[name], now)
			for _, m := range models {
				answer := where.Match(&m.Model, now)
				if answer == condition.Unknown && !seen[m.Info.ID] {
					found.unknown(m)
				}
				if answer == condition.Yes && !seen[m.Info.ID] {
					found.Models = append(found.Models, m)
				}
				seen[m.Info.ID] = true
			}
		}
	}
	found.Unknown, found.Problems, found.NoUse = found.Unknown+r.unknown, r.problems, 0
	for _, models := range r.read {
		found.NoUse += len(kept(models, func(m FoundModel) bool { return !m.UseKnown }))
	}
	found.NoUse = min(found.NoUse, found.Unknown)
	if len(r.unmatched) > 0 {
		missed = assistant.Fail(assistant.CodeFailed, "%s", strings.Join(r.text, " "))
		missed.Data = fields{"unmatched": r.unmatched}
	}
	return found, missed, nil
}

// fields returns m in the form that the language model gets.
func (m FoundModel) fields() fields {
	out := fields{"id": visible(m.Info.ID), "status": m.Status.Status.Word()}
	if m.Status.Index >= 0 {
		out["rule"] = visible(m.Status.Rule)
	}
	if m.New {
		out["new"] = true
	}
	if m.Source != "" {
		out["listed_by"] = m.Source
	}
	addFacts(out, m.Model)
	return out
}

// addFacts adds the known facts about a model and its use.
func addFacts(out fields, m condition.Model) {
	set := func(name string, known bool, value any) {
		if known {
			out[name] = value
		}
	}
	f := m.Info.Facts
	set("context_window", m.Info.Context > 0 && m.Info.Known, m.Info.Context)
	set("max_output_tokens", f.MaxAnswer > 0, f.MaxAnswer)
	set("price_in", f.PriceIn.Known, f.PriceIn)
	set("price_out", f.PriceOut.Known, f.PriceOut)
	set("tools", f.ToolCalls != "", f.ToolCalls)
	set("vision", m.Info.Vision != "", m.Info.Vision)
	set("reasoning", f.Reasoning != "", f.Reasoning)
	set("structured_output", f.Structured != "", f.Structured)
	set("released", f.Released != "", f.Released)
	set("model_status", f.Status != "", f.Status)
	set("kind", f.Kind != "", f.Kind)
	set("family", f.Family != "", f.Family)
	set("facts_from", m.Info.Source != "", m.Info.Source)
	set("requests", m.UseKnown, m.Use.Requests)
	set("last_used", !m.Use.Last.IsZero(), m.Use.Last.Format(time.RFC3339))
}

// factsText describes a model's prices, context window and use in a sentence; "" if all are
// unknown.
func factsText(m condition.Model, now time.Time) string {
	var parts []string
	if in, out := m.Info.Facts.PriceIn, m.Info.Facts.PriceOut; in.Known && out.Known {
		parts = append(parts, fmt.Sprintf("$%s in, $%s out per million tokens", in, out))
	}
	if m.Info.Known && m.Info.Context > 0 {
		parts = append(parts, thousands(int64(m.Info.Context))+" tokens of context")
	}
	switch {
	case m.UseKnown && m.Use.Last.IsZero():
		parts = append(parts, "never used")
	case m.UseKnown:
		parts = append(parts, countedRequests(m.Use.Requests)+", the last "+agoText(now.Sub(m.Use.Last)))
	}
	return sentence(strings.Join(parts, "; "))
}
