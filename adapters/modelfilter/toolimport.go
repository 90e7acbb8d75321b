package modelfilter

import (
	"context"
	"errors"
	"fmt"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
)

type importArgs struct {
	Ignore    []string `json:"ignore,omitempty" jsonschema:"ignore patterns; left out, that list stays as it is"`
	Whitelist []string `json:"whitelist,omitempty" jsonschema:"whitelist patterns; left out, that list stays as it is"`
	Mode      string   `json:"mode" jsonschema:"merge adds to the rules, replace takes the place of the lists that are given"`
	Provider  string   `json:"provider,omitempty" jsonschema:"the provider; the current one if left out"`
}

// The modes of import_rules.
const (
	modeMerge   = "merge"
	modeReplace = "replace"
)

func importTool(w *Window) assistant.Tool {
	t := assistant.NewTool("import_rules",
		"Bring in many rules at once, each on its own: one that is refused does not stop the others. Returns a result for each. Staged until it is saved.",
		func(_ context.Context, a importArgs) (assistant.ToolResult, error) { return w.toolImport(a), nil })
	t.Schema.Properties["mode"].Enum = []any{modeMerge, modeReplace}
	return t
}

// importResult is what import_rules says.
type importResult struct {
	Provider string       `json:"provider"`
	Mode     string       `json:"mode"`
	Results  []importItem `json:"results"`
	Added    int          `json:"added_count"`
	Refused  int          `json:"refused_count"`
	Removed  struct {
		Ignore    []string `json:"ignore"`
		Whitelist []string `json:"whitelist"`
	} `json:"removed_rules"`
	numbers
}

// importItem is what came of one rule.
type importItem struct {
	Pattern  string `json:"pattern"`
	RuleType string `json:"rule_type"`
	Success  bool   `json:"success"`
	Message  string `json:"message"`
	Code     string `json:"error_code,omitempty"`
	Affected int    `json:"affected_count"`
}

func (w *Window) toolImport(a importArgs) assistant.ToolResult {
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		if a.Ignore == nil && a.Whitelist == nil {
			r := assistant.Fail(assistant.CodeFailed, "There is nothing to import: neither ignore nor whitelist is given.")
			r.Hint = `Give at least one list, e.g. {"ignore": ["*preview*"], "mode": "merge"}.`
			return r
		}
		in := Import{Replace: a.Mode == modeReplace}
		in.Lists[Ignore], in.Lists[Allow] = a.Ignore, a.Whitelist
		before := p.stagedRules()
		items, err := w.importRules(p, in)
		if err != nil {
			return failed(err)
		}
		return w.importedResult(p, e, a.Mode, before, items)
	})
}

func (w *Window) importedResult(p *provider, e *engine.Engine, mode string, before [2][]string, items []Imported) assistant.ToolResult {
	data := importResult{Provider: p.name, Mode: mode, Results: make([]importItem, len(items)), numbers: w.numbers(e)}
	kept, covered := 0, 0
	for i, it := range items {
		r := importItem{Pattern: shown(it.Pattern), RuleType: ruleType(it.List), Success: it.Err == nil, Affected: it.Affected}
		switch {
		case it.Err != nil:
			f := failed(it.Err)
			r.Message, r.Code = f.Message, f.ErrorCode
			data.Refused++
			if r.Code == assistant.CodeCovered {
				covered++
			}
		case it.Kept:
			r.Message = "Kept."
			kept++
		default:
			r.Message = "Added."
			data.Added++
		}
		data.Results[i] = r
	}
	data.Removed.Ignore = shownAll(without(before[Ignore], p.lists[Ignore].rules))
	data.Removed.Whitelist = shownAll(without(before[Allow], p.lists[Allow].rules))
	removed := len(data.Removed.Ignore) + len(data.Removed.Whitelist)
	message := fmt.Sprintf("Imported %d of %s for %s: %d added, %d kept, %d refused, %d removed.",
		data.Added+kept, assistant.Counted(len(items), "rule"), p.name, data.Added, kept, data.Refused, removed) + w.standing(e)
	if data.Refused < len(items) || len(items) == 0 {
		return assistant.OK(message, data)
	}
	r := assistant.Fail(assistant.CodeFailed, "None of %s was imported; the rules of %s stay as they were. The first: %s",
		assistant.Counted(len(items), "rule"), p.name, failed(items[0].Err).Message)
	var refusal *engine.Refusal
	if covered == len(items) && errors.As(items[0].Err, &refusal) {
		r.ErrorCode = assistant.CodeCovered
	}
	r.Data = data
	return r
}
