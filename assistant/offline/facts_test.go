package offline

import (
	"slices"
	"strconv"
	"strings"

	"winnow/assistant/glob"
)

// fact is what the fake window knows of a model: no price is 0.
type fact struct {
	price    float64
	context  int
	tools    bool
	requests int
	idle     int // days since the last use
	status   string
	released string
}

// facts are those of the models of the fake window by name; of all others nothing is known.
var facts = map[string]fact{
	"gpt-5.6-sol":                {30, 400_000, true, 900, 0, "active", "2026-08-01"},
	"gpt-5.6-luna":               {12, 400_000, true, 400, 1, "active", "2026-08-01"},
	"gpt-5.5":                    {10, 400_000, true, 1204, 0, "active", "2026-03-01"},
	"gpt-5-mini":                 {2, 400_000, true, 5000, 0, "active", "2025-08-07"},
	"gpt-5-nano":                 {0.4, 400_000, true, 3000, 0, "active", "2025-08-07"},
	"gpt-4o":                     {10, 128_000, true, 800, 2, "active", "2024-05-13"},
	"gpt-4o-mini":                {0.6, 128_000, true, 2000, 1, "active", "2024-07-18"},
	"gpt-4-turbo":                {30, 128_000, true, 3, 100, "deprecated", "2024-04-09"},
	"gpt-4":                      {60, 8_192, true, 0, 9999, "deprecated", "2023-03-14"},
	"gpt-3.5-turbo":              {1.5, 16_385, true, 0, 9999, "deprecated", "2022-11-30"},
	"o3":                         {8, 200_000, true, 60, 12, "active", "2025-04-16"},
	"o3-mini":                    {4.4, 200_000, true, 0, 9999, "active", "2025-01-31"},
	"text-embedding-3-large":     {0.1, 8_191, false, 70, 3, "active", "2024-01-25"},
	"claude-opus-4-8":            {75, 200_000, true, 77, 1, "active", "2026-05-01"},
	"claude-sonnet-5":            {15, 1_000_000, true, 700, 0, "active", "2026-06-01"},
	"claude-sonnet-4-5-20250929": {15, 200_000, true, 0, 9999, "active", "2025-09-29"},
	"claude-haiku-4-5-20251001":  {5, 200_000, true, 40, 20, "active", "2025-10-01"},
	"gemini-3.6-flash":           {3, 1_000_000, true, 300, 0, "active", "2026-07-01"},
	"gemini-2.5-flash":           {2.5, 1_000_000, true, 0, 9999, "deprecated", "2025-06-17"},
	"gemini-2.5-pro":             {10, 1_000_000, true, 10, 45, "active", "2025-06-17"},
	"grok-4":                     {15, 256_000, true, 5, 8, "active", "2025-07-09"},
	"grok-4-fast":                {0.5, 2_000_000, true, 0, 9999, "active", "2025-09-19"},
	"grok-3-mini":                {0.5, 131_072, true, 0, 9999, "active", "2025-02-17"},
}

// find is the tool find_models over the facts above.
func (w *fakeWindow) find(a map[string]any) map[string]any {
	where, _ := a["where"].(string)
	only, _ := a["provider"].(string)
	type found struct {
		id, status string
		fact       fact
	}
	var all []found
	unknown := 0
	for _, p := range w.order {
		for _, id := range w.models[p] {
			f, known := facts[newModel(id, p).name]
			if only != "" && p != only {
				continue
			}
			hold := true
			status, _ := w.status(p, id)
			hidden := status == "ignored"
			for word := range strings.FieldsSeq(where) {
				pattern, named := strings.CutPrefix(word, "name:")
				switch {
				case word == "hidden" || word == "shown":
					hold = hold && hidden == (word == "hidden")
				case named:
					hold = hold && glob.Compile(pattern).MatchID(id)
				default:
					hold = hold && holds(f, word)
				}
			}
			switch {
			case where != "" && !known:
				unknown++
			case hold:
				all = append(all, found{id, map[string]string{"normal": "shown", "ignored": "hidden", "whitelisted": "allowed"}[status], f})
			}
		}
	}
	by := map[string]func(fact) float64{"price": func(f fact) float64 { return f.price }, "context": func(f fact) float64 { return float64(f.context) }, "requests": func(f fact) float64 { return float64(f.requests) }}
	if value := by[w.text(a["sort"])]; value != nil {
		slices.SortStableFunc(all, func(a, b found) int { return int(100 * (value(b.fact) - value(a.fact))) })
	}
	models := []any{}
	for _, f := range all {
		m := map[string]any{"id": f.id, "status": f.status}
		if f.fact != (fact{}) {
			m["price_out"], m["context_window"], m["requests"] = f.fact.price, f.fact.context, f.fact.requests
		}
		models = append(models, m)
	}
	return ok("Models that match: "+strconv.Itoa(len(models))+".", map[string]any{"count": len(models), "unknown_count": unknown, "models": models, "truncated": false})
}

func (w *fakeWindow) text(v any) string { s, _ := v.(string); return s }

// holds reports whether a condition holds.
func holds(f fact, word string) bool {
	name, negated := strings.CutPrefix(word, "!")
	if negated {
		return !holds(f, name)
	}
	at := strings.IndexAny(word, "<>=:")
	if at < 0 {
		return word == "tools" && f.tools
	}
	name, op := word[:at], strings.TrimLeft(word[at:], "<>=:")
	op, value := word[at:len(word)-len(op)], op
	n, _ := strconv.ParseFloat(strings.TrimRight(value, "kmd"), 64)
	if strings.HasSuffix(value, "k") {
		n *= 1000
	}
	compare := func(x float64) bool {
		return op == ">" && x > n || op == ">=" && x >= n || op == "<" && x < n || op == "<=" && x <= n
	}
	switch name {
	case "price":
		return compare(f.price)
	case "ctx":
		return compare(float64(f.context))
	case "requests":
		return compare(float64(f.requests))
	case "unused", "used":
		days := map[byte]float64{'d': 1, 'w': 7, 'o': 30, 'y': 365}[value[len(value)-1]] * atLeast(value)
		return (float64(f.idle) >= days) == (name == "unused")
	case "status":
		return f.status == value
	case "released":
		return op == "<" && f.released < value || op == ">=" && f.released >= value
	}
	return false
}

func atLeast(value string) float64 {
	n, err := strconv.ParseFloat(strings.TrimRight(value, "dwmoy"), 64)
	if err != nil {
		return 1
	}
	return n
}
