package modelfilter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
)

const (
	maxFoundLines = 20 // lines in a result of find_models
	maxFoundNames = 6  // names in a line, before "and 9 more"
)

// foundText answers a question with the result of find_models. It gives the number of models and
// the rules that hide or show them or, if the models are sorted, the fact by which they are
// sorted.
func foundText(a findArgs, where condition.Condition, found Found, shown int, now time.Time) string {
	order, ordered := OrderNamed(a.Sort)
	text, state := foundHeading(a, where, len(found.Models))
	lines, what := byRule(found.Models, func(m FoundModel) string {
		if !a.asksUse() || !m.UseKnown {
			return ""
		}
		if m.Use.Last.IsZero() {
			return " (never used)"
		}
		return " (" + lastUsedText(m.Use, now) + ")"
	}), "rule"
	switch {
	case len(lines) == 0:
		return text + "."
	case ordered:
		lines, what = byOrder(order, found.Models), "model"
		text = "By " + order.Title + ":"
		if n := min(cmp.Or(a.Limit, defaultFound), maxFoundLines); len(lines) > n {
			lines = lines[:n:n]
		}
		if len(lines) == 0 {
			which := "these models"
			if len(found.Models) == 1 {
				which = "this model"
			}
			return fmt.Sprintf("Nothing is known about the %s of %s.", order.Title, which)
		}
	case state == "":
		text += fmt.Sprintf(": %d shown, %d hidden.", shown, len(found.Models)-shown)
	default:
		text += ":"
	}
	if more := len(lines) - maxFoundLines; more > 0 {
		lines = append(lines[:maxFoundLines:maxFoundLines], assistant.Counted(more, "more "+what)+" not listed")
	}
	return text + "\n\n- " + strings.Join(lines, "\n- ")
}

// foundHeading describes how many models match the question, and on which providers. state is the
// status that the question contains; "" if none.
func foundHeading(a findArgs, where condition.Condition, n int) (head, state string) {
	said := visibleAll(a.Models)
	for word := range strings.FieldsSeq(where.String()) {
		switch word {
		case "hidden", "shown", "allowed":
			state = word
		case "*", "name:*":
		default:
			said = append(said, visible(strings.TrimPrefix(word, "name:")))
		}
	}
	head, is, matches := assistant.Counted(n, "model"), " are ", " match "
	if n == 0 {
		head = "No model"
	}
	if n < 2 { // "no model is" is also singular
		is, matches = " is ", " matches "
	}
	if state != "" && len(said) > 0 {
		head += " that"
	}
	if state != "" {
		head += is + state
	}
	if len(said) > 0 {
		head += matches + quoteAnd(said, maxFoundNames)
	}
	return head + onProviders(a.Provider), state
}

// onProviders names the providers in the argument of a tool: " on openai and gemini"; "" for all.
func onProviders(provider string) string {
	var on, except []string
	for word := range strings.FieldsSeq(provider) {
		if name, left := strings.CutPrefix(word, "-"); left {
			except = append(except, visible(name))
		} else if word != "*" {
			on = append(on, strings.ReplaceAll(visible(word), "major", "the major providers"))
		}
	}
	text := ""
	if len(on) > 0 {
		text = " on " + joined(on, len(on))
	}
	if len(except) > 0 {
		text += " except on " + joined(except, len(except))
	}
	return text
}

// byRule lists models grouped by provider and deciding rule, each with a remark.
func byRule(found []FoundModel, remark func(FoundModel) string) (lines []string) {
	type decided struct {
		provider, rule string
		status         engine.Status
	}
	names, order := map[decided][]string{}, []decided{}
	for _, m := range found {
		key := decided{m.Provider, m.Status.Rule, m.Status.Status}
		if names[key] == nil {
			order = append(order, key)
		}
		names[key] = append(names[key], quote(displayName(m.Provider, m.Info.ID))+remark(m))
	}
	for _, key := range order {
		why := "shown: no rule matches"
		if key.status == engine.Ignored || key.status == engine.Whitelisted {
			why = decidedBy(key.status, key.rule)
		}
		is := " are "
		if len(names[key]) == 1 {
			is = " is "
		}
		lines = append(lines, visible(key.provider)+": "+joined(names[key], maxFoundNames)+is+why)
	}
	return lines
}

// byOrder lists the models, each with the fact by which they are sorted. It leaves out models for
// which this fact is unknown.
func byOrder(order Order, found []FoundModel) (lines []string) {
	for _, m := range found {
		if _, known := order.key(&m.Model); known {
			lines = append(lines, quote(m.Info.ID)+": "+order.fact(&m.Model)+m.Status.Status.Word())
		}
	}
	return lines
}

// fact returns the fact about a model by which the order sorts, followed by a comma; "" if it
// sorts by status.
func (o Order) fact(m *condition.Model) string {
	switch o.Name {
	case "price":
		return "$" + m.Info.Facts.PriceOut.String() + " out per million tokens, "
	case "price_in":
		return "$" + m.Info.Facts.PriceIn.String() + " in per million tokens, "
	case "context":
		return thousands(int64(m.Info.Context)) + " tokens of context, "
	case "released":
		return "released " + visible(m.Info.Facts.Released) + ", "
	case "requests":
		return countedRequests(m.Use.Requests) + ", "
	case "last_used":
		return "last used " + m.Use.Last.Format("2006-01-02") + ", "
	}
	return ""
}

// ruleLine is a rule of a provider.
type ruleLine struct {
	provider string
	engine.RuleInfo
}

// rulesText describes what rules do, starting with those that decide the most models: "`*mini*`
// (ignore on openai) hides 3 models". list is the requested list, as named in the tools; "" means
// both. where names the provider or counts the providers.
func rulesText(list, where string, rules []ruleLine) string {
	kind := strings.Replace(strings.TrimSpace(list+" rule"), ruleType[Allow], Allow.String(), 1)
	if len(rules) == 0 {
		return fmt.Sprintf("No %ss on %s.", kind, where)
	}
	slices.SortStableFunc(rules, func(a, b ruleLine) int { return cmp.Compare(b.Decides, a.Decides) })
	lines := []string{fmt.Sprintf("%s on %s:\n", assistant.Counted(len(rules), kind), where)}
	for _, r := range rules[:min(len(rules), maxFoundLines)] {
		verb := map[List]string{Ignore: "hides", Allow: "shows"}[r.List]
		line := fmt.Sprintf("- %s (%s on %s) %s %s", quote(r.Pattern), r.List, visible(r.provider), verb, assistant.Counted(r.Decides, "model"))
		switch {
		case r.Dead:
			line += ": it matches none"
		case r.Shadowed:
			line += ": other rules take precedence"
		}
		lines = append(lines, line)
	}
	if more := len(rules) - maxFoundLines; more > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", more))
	}
	return strings.Join(lines, "\n")
}
