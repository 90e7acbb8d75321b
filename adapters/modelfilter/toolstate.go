package modelfilter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"winnow/adapters/dotenv"
	"winnow/assistant"
)

// stateResult is what save_changes and discard_changes say.
type stateResult struct {
	File    string       `json:"file"`
	Changes []ruleChange `json:"changed_rules"`
	Count   int          `json:"changed_count"`
	Unsaved bool         `json:"has_unsaved_changes"`
}

type ruleChange struct {
	Provider string `json:"provider"`
	RuleType string `json:"rule_type"`
	Pattern  string `json:"pattern"`
	Change   string `json:"change"` // "added" or "removed"
}

func (w *Window) stateResult(changes []assistant.RuleChange) stateResult {
	out := stateResult{File: shown(w.EnvFile()), Changes: []ruleChange{}, Count: len(changes), Unsaved: w.Dirty()}
	for _, c := range changes[:min(len(changes), maxListed)] {
		change := "removed"
		if c.Added {
			change = "added"
		}
		out.Changes = append(out.Changes, ruleChange{c.Provider, ruleType(ListOf(c)), shown(c.Pattern), change})
	}
	return out
}

func (w *Window) saveTool() assistant.Tool {
	t := write(categoryState, assistant.NewTool("save_changes",
		"Write all staged rules to the .env file. The user is asked first and sees the difference.", w.toolSave))
	t.Lasting = true
	t.Preview = func(ctx context.Context, _ json.RawMessage) (string, bool, error) {
		plan, err := w.PlanSave(ctx)
		if err != nil {
			return "", false, err
		}
		return PlanText(plan), !plan.Empty(), nil
	}
	return t
}

func (w *Window) toolSave(ctx context.Context, _ noArgs) (assistant.ToolResult, error) {
	saved, err := w.save(ctx, dotenv.Assistant)
	var conflict *assistant.Conflict
	switch {
	case errors.As(err, &conflict):
		return conflictResult(conflict), nil
	case err != nil:
		r := failed(fmt.Errorf("nothing was saved: %w", err))
		r.Data = w.stateResult(w.Diff())
		return r, nil
	}
	return assistant.OK(strings.TrimSpace(saved.Message+" "+saved.Warning), w.stateResult(saved.Rules)), nil
}

// conflictResult tells a model that somebody else has changed the file, and
// which variables, but no value of a foreign one: that may be a key.
func conflictResult(c *assistant.Conflict) assistant.ToolResult {
	var keys []string
	for _, k := range c.Keys {
		keys = append(keys, k.Key)
	}
	text := "Nothing was saved: " + c.Error() + ". The staged rules are unchanged."
	if c.Kept != "" {
		text = "The rules were saved, but " + c.Error() + "."
	}
	r := assistant.Fail(assistant.CodeFailed, "%s", text)
	r.Hint = "Only the user can decide whether to merge or to reload; ask them to open the save preview."
	r.Data = map[string]any{"file": shown(c.Path), "changed_by_others": keys}
	return r
}

func (w *Window) discardTool() assistant.Tool {
	t := write(categoryState, assistant.NewTool("discard_changes",
		"Put all staged rules back to those of the .env file. The user is asked first when something would be lost.",
		func(context.Context, noArgs) (assistant.ToolResult, error) {
			w.mu.Lock()
			lost := w.discard()
			w.mu.Unlock()
			data := w.stateResult(lost)
			if len(lost) == 0 {
				return assistant.OK("There was nothing to discard: no rule is staged.", data), nil
			}
			return assistant.OK(fmt.Sprintf("Discarded %s; the rules are those of the file again.", ruleCount(lost)), data), nil
		}))
	t.Lasting = true
	t.Idle = func(json.RawMessage) bool { return !w.Dirty() }
	t.Preview = func(context.Context, json.RawMessage) (string, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		text := w.discardText()
		return text, text != "", nil
	}
	return t
}

// discardText shows what a discard would lose and what it would do to the models.
func (w *Window) discardText() string {
	lost := w.diff()
	if len(lost) == 0 && !w.dirty() {
		return ""
	}
	var b strings.Builder
	b.WriteString("These staged changes would be lost:\n")
	for _, c := range lost {
		sign := "-"
		if c.Added {
			sign = "+"
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", sign, shown(c.Provider), ruleType(ListOf(c)), shown(c.Pattern))
	}
	for _, p := range w.dirtyProviders() {
		e := w.effect(p)
		e.Shown, e.Hidden = e.Hidden, e.Shown // the way back
		b.WriteString("\n" + effectText(e))
	}
	return strings.TrimRight(b.String(), "\n")
}
