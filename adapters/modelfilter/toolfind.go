package modelfilter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/adapters/modelfilter/condition"
	"winnow/assistant"
	"winnow/assistant/llm"
)

type findArgs struct {
	Where    string `json:"where" jsonschema:"words joined by blanks, all of which must hold, e.g. price>10 tools ctx>=100k unused:30d status:deprecated !vision shown *mini*"`
	Provider string `json:"provider,omitempty" jsonschema:"the provider; all of them if left out"`
	Sort     string `json:"sort,omitempty" jsonschema:"the order, largest or newest first; by name if left out"`
	Limit    int    `json:"limit,omitempty" jsonschema:"how many models to list, 50 if left out; counts are always exact"`
}

// defaultFound is how many models a call lists when it does not say; maxMatches bounds it.
const defaultFound = 50

// findOrders are the values of sort: each compares so that the first comes first. A fact that is
// unknown comes last.
var findOrders = map[string]func(a, b FoundModel) int{
	"price":    func(a, b FoundModel) int { return comparePrices(b.Info.Facts.PriceOut, a.Info.Facts.PriceOut) },
	"context":  func(a, b FoundModel) int { return cmp.Compare(b.Info.Context, a.Info.Context) },
	"released": func(a, b FoundModel) int { return strings.Compare(b.Info.Facts.Released, a.Info.Facts.Released) },
	"requests": func(a, b FoundModel) int {
		return cmp.Or(compareBools(b.UseKnown, a.UseKnown), cmp.Compare(b.Use.Requests, a.Use.Requests))
	},
	"last_used": func(a, b FoundModel) int {
		return cmp.Or(compareBools(b.UseKnown, a.UseKnown), b.Use.Last.Compare(a.Use.Last))
	},
}

func compareBools(a, b bool) int {
	if a == b {
		return 0
	}
	if a {
		return 1
	}
	return -1
}

func comparePrices(a, b llm.Price) int {
	return cmp.Or(compareBools(a.Known, b.Known), cmp.Compare(a.USD, b.USD))
}

// findTool makes the tool find_models. It waits for the disk, so it takes the window's
// lock only in Find.
func (w *Window) findTool() assistant.Tool {
	t := tool("Query", "find_models",
		"Find models by what they are and how they are used, over all providers. Conditions: "+vocabulary()+". "+
			"! negates a word. A model whose fact is unknown matches neither a word nor its negation and is counted apart. Changes nothing.",
		func(_ context.Context, a findArgs) assistant.ToolResult { return w.toolFind(a) })
	for name := range findOrders {
		t.Schema.Properties["sort"].Enum = append(t.Schema.Properties["sort"].Enum, name)
	}
	slices.SortFunc(t.Schema.Properties["sort"].Enum, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return t
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
		return assistant.Fail(assistant.CodeFailed, "The condition cannot be read. %s", sentence(err.Error()))
	}
	var providers []string
	if a.Provider != "" && a.Provider != "*" {
		providers = []string{a.Provider}
	}
	found, err := w.Find(where, providers...)
	if err != nil {
		return errorResult(err)
	}
	if order := findOrders[a.Sort]; order != nil {
		slices.SortStableFunc(found.Models, order)
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
	text := fmt.Sprintf("Models that match: %d, %d of them shown.", len(found.Models), shown)
	if found.Unknown > 0 {
		text += fmt.Sprintf(" Left out because a fact is unknown: %d.", found.Unknown)
	}
	if len(found.Models) > limit {
		text += fmt.Sprintf(" The first %d are listed.", limit)
	}
	if len(found.Problems) > 0 {
		text += " " + strings.Join(found.Problems, " ")
	}
	return assistant.OK(text, fields{
		"where": visible(where.String()), "count": len(found.Models), "shown_count": shown, "unknown_count": found.Unknown,
		"models": listed, "truncated": len(found.Models) > limit,
	})
}

// fields is a found model for the language model: its facts, as far as they are known.
func (m FoundModel) fields() fields {
	out := fields{"id": visible(m.Info.ID), "status": m.Status.Status.Word()}
	set := func(name string, known bool, value any) {
		if known {
			out[name] = value
		}
	}
	f := m.Info.Facts
	set("rule", m.Status.Index >= 0, visible(m.Status.Rule))
	set("new", m.New, true)
	set("context_window", m.Info.Context > 0 && m.Info.Known, m.Info.Context)
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
	set("requests", m.UseKnown, m.Use.Requests)
	set("last_used", !m.Use.Last.IsZero(), m.Use.Last.Format(time.RFC3339))
	return out
}
