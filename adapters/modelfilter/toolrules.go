package modelfilter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/nearest"
)

// editResult returns the result of a change to rules. The message begins with the effect,
// because a narrow display cuts off the end. It goes on with what was done, which of the hidden
// models were used recently, how many models are shown, and whether anything is unsaved.
func (w *Window) editResult(p *provider, effect, done string, hidden []string, data fields) assistant.ToolResult {
	e, saved := w.engine(p), "Not saved yet."
	if used := (ModelEffect{Provider: p.name, Hidden: hidden}).withUse(p.use, w.opts.Now()); len(used.Used) > 0 {
		done += " " + sentence(string(used.UsedText()))
		data["used_models"] = p.usedFields(used.Used)
	}
	if !w.dirty() { // the change reverted an unsaved change
		saved = "Nothing is unsaved now."
	}
	data["provider"], data["available_count"], data["total_count"], data["has_unsaved_changes"] = p.name, e.Shown(), e.Total(), w.dirty()
	return assistant.OK(fmt.Sprintf("%s: %s %d of %d shown. %s", effect, done, e.Shown(), e.Total(), saved), data)
}

// usedFields returns used models in the form that the language model gets.
func (p *provider) usedFields(used []UsedModel) []fields {
	out := []fields{}
	for _, u := range used[:min(len(used), maxListed)] {
		out = append(out, fields{"id": visible(displayName(p.name, u.ID)), "requests": u.Requests, "last_used": u.Last.Format(time.RFC3339)})
	}
	return out
}

// affected returns the fields about the models affected by a change to a list.
func (p *provider) affected(list List, ids []string) fields {
	return fields{"rule_type": ruleType[list], "affected_models": p.names(ids), "affected_count": len(ids), "truncated": len(ids) > maxListed}
}

// names returns the first maxListed of the ids, without the provider.
func (p *provider) names(ids []string) []string {
	return displayNames(p.name, ids[:min(len(ids), maxListed)])
}

func (w *Window) toolAdd(list List, a ruleArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		added, err := w.add(p, list, a.Pattern)
		if err != nil {
			return errorResult(err)
		}
		n := len(added.Models)
		effect := assistant.Counted(n, "model") + " hidden"
		switch {
		case added.Matches == 0:
			effect = "Matches no model now"
		case list == Allow:
			effect = assistant.Counted(n, "model") + " allowed"
		case n == 0:
			effect = "No model is affected, because other rules already apply to the " + assistant.Counted(added.Matches, "model") + " that the pattern matches"
		}
		done := fmt.Sprintf("added %s rule %s for %s.", list, quote(added.Pattern), p.name)
		if others := added.Matches - n; others > 0 && n > 0 {
			done += fmt.Sprintf(" Other rules apply to %s that it matches.", assistant.Counted(others, "more model"))
		}
		data := p.affected(list, added.Models)
		data["pattern"], data["matched_count"] = visible(added.Pattern), added.Matches
		if len(added.Redundant) > 0 {
			done += fmt.Sprintf(" It makes these %s rules redundant: %s.", list, quoteList(added.Redundant))
			data["redundant_rules"] = visibleAll(added.Redundant)
		}
		if len(added.Undecided) > 0 {
			done += fmt.Sprintf(" It could not be determined whether it covers these rules or is covered by them: %s.", quoteList(added.Undecided))
			data["undecided_rules"] = visibleAll(added.Undecided)
		}
		var hidden []string
		if list == Ignore {
			hidden = added.Models
		}
		r := w.editResult(p, effect, done, hidden, data)
		if added.Matches == 0 {
			r.Hint = noMatchHint(e, added.Pattern)
		}
		return r
	})
}

// noMatchHint returns advice about a pattern that matches nothing.
func noMatchHint(e *engine.Engine, pattern string) string {
	pattern = strings.TrimSpace(pattern)
	if e.Total() == 0 {
		return "No models of this provider are known yet; refresh_models fetches them."
	}
	if wider := "*" + strings.Trim(pattern, "*") + "*"; wider != pattern && wider != "**" {
		if n := len(e.Matching(wider)); n > 0 {
			return fmt.Sprintf("No matches. Hint: use wildcards, e.g. %s, which matches %s.", visible(wider), assistant.Counted(n, "model"))
		}
	}
	if near := nearest.Names(strings.Trim(pattern, "*"), displayNames(e.Provider(), e.Models()), maxNear); len(near) > 0 {
		return "No matches. Hint: patterns are case-sensitive; similar names are " + quoteList(near) + "."
	}
	return "No matches. Hint: use wildcards, e.g. *preview*."
}

func (w *Window) toolRemove(list List, a ruleArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		before := e.Hidden()
		removed, err := w.remove(p, Rule{list, a.Pattern})
		if err != nil {
			r := errorResult(err)
			r.Hint = fmt.Sprintf("There are no %s rules for %s.", list, p.name)
			if rules := p.lists[list].rules; len(rules) > 0 {
				r.Hint = fmt.Sprintf("The %s rules of %s are: %s.", list, p.name, quoteList(rules))
			}
			return r
		}
		pattern := removed[0].Pattern
		return w.removalResult(p, list, before, fmt.Sprintf("%s rule %s", list, quote(pattern)), fields{"pattern": visible(pattern)})
	})
}

func (w *Window) toolClear(list List, a listArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		before, rules := e.Hidden(), p.listed(list)
		n, err := w.clear(p, list)
		if err != nil {
			return errorResult(err)
		}
		if n == 0 {
			return assistant.OK(fmt.Sprintf("There were no %s rules for %s.", list, p.name), p.affected(list, nil))
		}
		return w.removalResult(p, list, before, assistant.Counted(n, list.String()+" rule"), fields{"removed_rules": rules})
	})
}

// removalResult returns the result of removing rules. before lists the models that were
// hidden before the removal.
func (w *Window) removalResult(p *provider, list List, before []string, what string, more fields) assistant.ToolResult {
	ids, effect, hidden := without(before, w.engine(p).Hidden()), "shown again", []string(nil)
	if list == Allow {
		ids, effect = without(w.engine(p).Hidden(), before), "hidden now"
		hidden = ids
	}
	data := p.affected(list, ids)
	maps.Copy(data, more)
	if effect = assistant.Counted(len(ids), "model") + " " + effect; len(ids) == 0 {
		effect = "No model changes"
	}
	return w.editResult(p, effect, fmt.Sprintf("removed %s of %s.", what, p.name), hidden, data)
}

func (w *Window) toolImport(a importArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		if a.Ignore == nil && a.Whitelist == nil {
			r := assistant.Fail(assistant.CodeFailed, "There is nothing to import: neither ignore nor whitelist is given.")
			r.Hint = `Give at least one list, e.g. {"ignore": ["*preview*"], "mode": "merge"}.`
			return r
		}
		before, shown := p.staged(), e.Clone()
		items, err := w.importRules(p, Import{Lists: [2][]string{Ignore: a.Ignore, Allow: a.Whitelist}, Replace: a.Mode == modeReplace})
		if err != nil {
			return errorResult(err)
		}
		return w.importResult(p, a.Mode, before, effectOf(shown, w.engine(p)).Hidden, items)
	})
}

// importResult returns the result of an import. before holds the previous rules, and hidden
// lists the models that the import hid.
func (w *Window) importResult(p *provider, mode string, before ruleSet, hidden []string, items []Imported) assistant.ToolResult {
	var results []fields
	added, kept, refused, covered := 0, 0, 0, 0
	for _, it := range items {
		r := fields{"pattern": visible(it.Pattern), "rule_type": ruleType[it.List], "success": it.Err == nil, "affected_count": it.Affected}
		switch {
		case it.Err != nil:
			f := errorResult(it.Err)
			r["message"], r["error_code"] = f.Message, f.ErrorCode
			refused++
			if f.ErrorCode == codeCovered {
				covered++
			}
		case it.Kept:
			r["message"] = "Kept."
			kept++
		default:
			r["message"] = "Added."
			added++
		}
		results = append(results, r)
	}
	removedRules := fields{"ignore": visibleAll(without(before[Ignore], p.lists[Ignore].rules)), "whitelist": visibleAll(without(before[Allow], p.lists[Allow].rules))}
	removed := len(without(slices.Concat(before[Ignore], before[Allow]), slices.Concat(p.lists[Ignore].rules, p.lists[Allow].rules)))
	data := fields{"mode": mode, "results": results, "added_count": added, "refused_count": refused, "removed_rules": removedRules}
	r := w.editResult(p, fmt.Sprintf("Imported %d of %s for %s", added+kept, assistant.Counted(len(items), "rule"), p.name),
		fmt.Sprintf("%d added, %d kept, %d refused, %d removed.", added, kept, refused, removed), hidden, data)
	// An empty list removes the rules that it replaces, even if all rules of the other list are refused.
	if refused < len(items) || removed > 0 || len(items) == 0 {
		return r
	}
	r = assistant.Fail(assistant.CodeFailed, "Imported 0 of %s; the rules of %s are unchanged. The first reason: %s",
		assistant.Counted(len(items), "rule"), p.name, errorResult(items[0].Err).Message)
	if covered == len(items) {
		r.ErrorCode = codeCovered
	}
	r.Data = data
	return r
}
