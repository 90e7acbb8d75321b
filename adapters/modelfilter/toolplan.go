package modelfilter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// toolList lists the rules of the named providers, or of all providers that have rules. Its
// message starts with the rules that decide the most models.
func (w *Window) toolList(a rulesArgs) assistant.ToolResult {
	providers, lines := []fields{}, []ruleLine{}
	add := func(p *provider, e *engine.Engine) assistant.ToolResult {
		data := p.countFields(e)
		for _, list := range lists {
			if a.List != "" && a.List != ruleType[list] {
				continue
			}
			rules := []fields{}
			for _, r := range ruleViews(p, e, list)[:min(len(e.Rules(list)), maxListed)] {
				rule := fields{"pattern": visible(r.Pattern), "decides": r.Decides, "matches": r.Matches}
				if r.Unsaved {
					rule["unsaved"] = true
				}
				rules, lines = append(rules, rule), append(lines, ruleLine{p.name, r.RuleInfo})
			}
			data[ruleType[list]+"_rules"] = rules
			if removed := without(p.lists[list].saved, p.lists[list].rules); len(removed) > 0 {
				data["removed_"+ruleType[list]+"_rules"] = visibleAll(removed[:min(len(removed), maxListed)])
			}
		}
		providers = append(providers, data)
		return assistant.OK("", nil)
	}
	names, err := w.providersNamed(a.Provider)
	if err != nil {
		return errorResult(err)
	}
	if a.Provider == "" || a.Provider == "*" {
		names = nil
		for _, v := range w.Providers() {
			if v.Rules > 0 || v.Unsaved {
				names = append(names, v.Name)
			}
		}
	}
	for _, name := range names {
		if r := w.onProvider(name, add); !r.Success {
			return r
		}
	}
	where := assistant.Counted(len(providers), "provider")
	switch len(names) {
	case 0:
		where = "any provider"
	case 1:
		where = visible(names[0])
	}
	text := rulesText(a.List, where, lines)
	return assistant.OK(text, fields{"providers": providers, "has_unsaved_changes": w.Dirty(), "suggested": removals(lines)})
}

// removals returns requests to remove the rules that decide no model, one request for each
// provider with such rules.
func removals(rules []ruleLine) []string {
	idle, out := map[string][]string{}, []string{}
	for _, r := range rules {
		if r.Decides == 0 {
			idle[r.provider] = append(idle[r.provider], `"`+visible(r.Pattern)+`"`)
		}
	}
	for _, on := range slices.Sorted(maps.Keys(idle)) {
		out = append(out, "remove the rules "+strings.Join(idle[on], ", ")+" on "+visible(on))
	}
	return out
}

// toolPropose returns a proposal for the user, with the effect of accepting it.
func (w *Window) toolPropose(p Proposal) assistant.ToolResult {
	data, err := json.Marshal(p)
	if err == nil {
		p, err = w.resolveProposal(data)
	}
	if err != nil {
		return errorResult(err)
	}
	if data, err = json.Marshal(p); err != nil {
		return errorResult(err)
	}
	effects, err := w.proposalEffects(data)
	if err != nil {
		return errorResult(err)
	}
	what, would := summarizeProposal(data), []string{}
	for _, e := range effects {
		would = append(would, string(e.Sentence))
	}
	r := assistant.OK(fmt.Sprintf("Proposed: %s. Effect: %s. Only the user can accept the proposal.", what, strings.Join(would, "; ")), fields{"effects": would, "provider": visible(p.Provider)})
	r.Payload = &assistant.Payload{Type: PayloadProposal, Data: data, Summary: what}
	return r
}

// toolPlan shows the effect of a save.
func (w *Window) toolPlan(ctx context.Context, _ noArgs) assistant.ToolResult {
	plan, err := w.PlanSave(ctx, "")
	switch {
	case err != nil:
		return errorResult(err)
	case plan.Conflict != nil:
		return conflictResult(plan.Conflict)
	case plan.Empty():
		return assistant.OK("Nothing is staged: a save would change nothing.", w.savedFields(nil))
	}
	data := w.savedFields(w.Diff())
	data["effects"] = effectSentences(plan.Effects)
	return assistant.OK(string(safetext.Join(plan.Lines(w.user()), "\n")), data)
}

func effectSentences(effects []assistant.Effect) []string {
	out := []string{}
	for _, e := range effects {
		out = append(out, string(e.Sentence))
	}
	return out
}

// maxUndo is the maximum number of steps that one call can undo.
const maxUndo = 100

func (w *Window) toolUndo(ctx context.Context, a undoArgs) assistant.ToolResult {
	steps := cmp.Or(a.Steps, 1)
	if steps < 1 || steps > maxUndo {
		return assistant.Fail(assistant.CodeInvalidArguments, "Between 1 and %d steps can be undone.", maxUndo)
	}
	before := map[string]ruleSet{}
	w.mu.Lock()
	for name, p := range w.providers {
		before[name] = p.staged()
	}
	w.undoing = true // changes made by undoing are not changes by the user
	w.mu.Unlock()
	undone, err := assistant.UndoSteps(ctx, steps)
	w.mu.Lock()
	w.undoing = false
	w.mu.Unlock()
	if err != nil {
		if others, ok := errors.AsType[*assistant.NotYoursError](err); ok {
			return assistant.Fail(assistant.CodeFailed, "Nothing was undone, because the newest change was not made by the assistant of this session: %s. "+
				"The user can undo it with ctrl+z on the screen, or go back to a checkpoint with `winnow checkpoints`.", visible(others.What))
		}
		return assistant.Fail(assistant.CodeFailed, "Nothing was undone: %v.", err)
	}
	var changes []RuleChange
	w.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(w.providers)) {
		changes = append(changes, ruleChanges(name, before[name], w.providers[name].staged())...)
	}
	w.mu.Unlock()
	text := fmt.Sprintf("Undid %s: %s.", assistant.Counted(len(undone), "step"), visible(strings.Join(undone, "; ")))
	if len(undone) < steps {
		text += " No older step could be undone: either the next one is the user's, or there are no more."
	}
	data := w.savedFields(changes)
	data["undone"] = visibleAll(undone)
	return assistant.OK(text, data)
}
