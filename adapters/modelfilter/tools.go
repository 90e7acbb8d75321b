package modelfilter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

// The arguments of the tools.
type (
	ruleArgs struct {
		Pattern  string `json:"pattern" jsonschema:"the pattern, with * ? [seq] as wildcards"`
		Provider string `json:"provider,omitempty" jsonschema:"the provider; the current one if left out"`
	}
	listArgs struct {
		Provider string `json:"provider,omitempty" jsonschema:"the provider; the current one if left out"`
	}
	rulesArgs struct {
		Provider string `json:"provider,omitempty" jsonschema:"the provider; all that have rules if left out"`
		List     string `json:"list,omitempty" jsonschema:"just this list"`
	}
	undoArgs struct {
		Steps int `json:"steps,omitempty" jsonschema:"how many turns to undo; 1 if left out"`
	}
	importArgs struct {
		Ignore    []string `json:"ignore,omitempty" jsonschema:"ignore patterns; this list is unchanged if left out"`
		Whitelist []string `json:"whitelist,omitempty" jsonschema:"whitelist patterns; this list is unchanged if left out"`
		Mode      string   `json:"mode" jsonschema:"merge adds to the rules; replace replaces the given lists"`
		Provider  string   `json:"provider,omitempty" jsonschema:"the provider; the current one if left out"`
	}
	detailArgs struct {
		Model   string `json:"model,omitempty" jsonschema:"id or name of a model; an overview if left out"`
		current string // the provider that the caller is looking at; "" means the window's current one
	}
	modelArgs struct {
		Model   string `json:"model" jsonschema:"id or name of a model"`
		current string // as in detailArgs
	}
	providerArgs struct {
		Provider string `json:"provider" jsonschema:"one of the available providers"`
	}
	noArgs struct{}
)

// fields is the data of a tool result. Lists may be truncated; counts are exact.
type fields map[string]any

// codeCovered is the error code for a rule that another rule makes redundant.
const codeCovered = "covered"

// The modes of import_rules.
const (
	modeMerge   = "merge"
	modeReplace = "replace"
)

// Tools returns the actions that the language model can take.
func (w *Window) Tools() []assistant.Tool {
	tools := []assistant.Tool{
		tool("Rules", "add_ignore_rule",
			"Add a pattern to the ignore list: models that match it are hidden from the proxy's list, unless a whitelist rule matches them. Returns the affected models. The rule is staged until it is saved.",
			func(_ context.Context, a ruleArgs) assistant.ToolResult { return w.toolAdd(Ignore, a) }),
		tool("Rules", "remove_ignore_rule", "Remove a pattern from the ignore list. Pass it exactly as listed.",
			func(_ context.Context, a ruleArgs) assistant.ToolResult { return w.toolRemove(Ignore, a) }),
		tool("Rules", "add_whitelist_rule",
			"Add a pattern to the whitelist: models that match it stay shown, whatever the ignore rules say. Returns the affected models. The rule is staged until it is saved.",
			func(_ context.Context, a ruleArgs) assistant.ToolResult { return w.toolAdd(Allow, a) }),
		tool("Rules", "remove_whitelist_rule", "Remove a pattern from the whitelist. Pass it exactly as listed.",
			func(_ context.Context, a ruleArgs) assistant.ToolResult { return w.toolRemove(Allow, a) }),
		tool("Rules", "clear_all_ignore_rules", "Remove all ignore rules of a provider.",
			func(_ context.Context, a listArgs) assistant.ToolResult { return w.toolClear(Ignore, a) }),
		tool("Rules", "clear_all_whitelist_rules", "Remove all whitelist rules of a provider.",
			func(_ context.Context, a listArgs) assistant.ToolResult { return w.toolClear(Allow, a) }),
		tool("Rules", "import_rules",
			"Import many rules at once; a rejected rule does not stop the others. Returns a result for each rule. The imported rules are staged until they are saved.",
			func(_ context.Context, a importArgs) assistant.ToolResult { return w.toolImport(a) }),
		tool("Query", "get_models_matching_pattern", "List the models that a pattern matches, without changing anything. With the provider *, count for each provider the matching models, the hidden models among them, and the rules.",
			func(_ context.Context, a ruleArgs) assistant.ToolResult { return w.toolMatching(a) }),
		tool("Query", "get_model_details", "Describe what is known about a model. Without a model, give an overview of the current provider.",
			func(_ context.Context, a detailArgs) assistant.ToolResult { return w.toolDetails(a) }),
		tool("Query", "explain_model_status", "Explain why a model is hidden or shown: the rule that decides, and all rules that match.",
			func(_ context.Context, a modelArgs) assistant.ToolResult { return w.toolExplain(a) }),
		w.findTool(),
		tool("Query", "list_rules", "List the rules of both lists in order, with the number of models that each rule decides, and the unsaved changes.",
			func(_ context.Context, a rulesArgs) assistant.ToolResult { return w.toolList(a) }),
		w.planTool(),
		tool("Query", "propose_rules", "Show the user a card with rules, what they would do, and buttons to accept or reject them. Changes nothing.",
			func(_ context.Context, a Proposal) assistant.ToolResult { return w.toolPropose(a) }),
		tool("Query", "plan_save", "Show what a save would change in the .env file and which models the save would hide or show. Changes nothing.", w.toolPlan),
		tool("Provider", "switch_provider", "Switch to another provider. Changes no rule.", w.toolSwitch),
		tool("Provider", "refresh_models", "Fetch the models from the provider or the proxy again, over the network.", w.toolRefresh),
		tool("State", "save_changes", "Write all staged rules to the .env file. The user is asked first and sees what would change.", w.toolSave),
		tool("State", "undo", "Undo your own rule changes in this session, turn by turn from the newest. The user's changes stay, and so does what was saved to the file.",
			w.toolUndo),
		tool("State", "discard_changes", "Drop all staged changes and go back to the rules of the .env file. The user is asked first if something would be lost.", w.toolDiscard),
	}
	for i := range tools {
		t := &tools[i]
		t.Title = toolTitles[t.Name]
		switch t.Name {
		case "refresh_models":
			t.OpenWorld = true
		case "list_rules":
			t.Schema.Properties["list"].Enum = []any{ruleType[Ignore], ruleType[Allow]}
		case "undo":
			t.Idempotent = false
		case "import_rules":
			t.Schema.Properties["mode"].Enum = []any{modeMerge, modeReplace}
		case "save_changes":
			t.Lasting, t.Preview = true, w.previewSave
		case "discard_changes":
			t.Lasting, t.Preview = true, w.previewDiscard
			t.NoOp = func(json.RawMessage) bool { return !w.Dirty() }
		}
	}
	return tools
}

// toolTitles are the names of the tools that users see.
var toolTitles = map[string]string{
	"add_ignore_rule": "Add an ignore rule", "remove_ignore_rule": "Remove an ignore rule",
	"add_whitelist_rule": "Add an allow rule", "remove_whitelist_rule": "Remove an allow rule",
	"clear_all_ignore_rules": "Remove all ignore rules", "clear_all_whitelist_rules": "Remove all allow rules",
	"import_rules": "Import rules", "get_models_matching_pattern": "List the models that a pattern matches",
	"get_model_details": "Describe a model", "explain_model_status": "Explain why a model is hidden or shown",
	"find_models": "Find models", "list_rules": "List the rules", "plan_rules": "Plan rules", "propose_rules": "Propose rules",
	"plan_save": "Show what a save would do", "switch_provider": "Switch to a provider",
	"refresh_models": "Fetch the models again", "save_changes": "Save the rules",
	"undo": "Undo the assistant's changes", "discard_changes": "Discard unsaved changes",
}

// tool returns a tool. The category determines whether it writes. Arguments that default to the
// current provider are filled in with the provider that the caller is looking at.
func tool[A any](category, name, description string, run func(context.Context, A) assistant.ToolResult) assistant.Tool {
	t := assistant.NewTool(name, description, func(ctx context.Context, a A) (assistant.ToolResult, error) {
		if at, uses := any(&a).(fromPlace); uses && callerPlace(ctx) != nil {
			at.from(callerPlace(ctx).named())
		}
		return run(ctx, a), nil
	})
	t.Category, t.Write = category, category == "Rules" || category == "State"
	t.Destructive, t.Idempotent = t.Write && !strings.HasPrefix(name, "add_"), true
	return t
}

// onProvider calls run with a provider and its engine, holding mu.
func (w *Window) onProvider(name string, run func(p *provider, e *engine.Engine) assistant.ToolResult) assistant.ToolResult {
	w.readUse(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.findProvider(name)
	if err != nil {
		return errorResult(err)
	}
	return run(p, w.engine(p))
}

// errorResult converts an error into a result, with its code and hint.
func errorResult(err error) assistant.ToolResult {
	r := assistant.Fail(assistant.CodeFailed, "%s", sentence(err.Error()))
	var refusal *engine.Refusal
	var unknown *UnknownError
	switch {
	case errors.As(err, &refusal):
		r = refusalResult(refusal)
	case errors.As(err, &unknown) && unknown.What == "provider":
		r.Data = fields{"available_providers": visibleAll(unknown.Known)}
	case errors.As(err, &unknown):
		r.Data = fields{"nearest": visibleAll(unknown.Near)}
	case errors.Is(err, ErrLocked):
		r.ErrorCode = assistant.CodeLocked
	}
	return r
}

// refusalResult returns the result for a rejected pattern, with the patterns quoted for the
// language model.
func refusalResult(refusal *engine.Refusal) assistant.ToolResult {
	r := assistant.Fail(assistant.CodeFailed, "%s", sentence(refusal.Text(quoteList)))
	switch refusal.Reason {
	case engine.Empty:
		r.Hint = "Give a pattern, e.g. *preview*."
		return r
	case engine.Unwritable:
		r.Hint = "Use ? for a character that a pattern cannot contain, and one call for each pattern."
		return r
	default:
	}
	r.ErrorCode = codeCovered
	r.Hint = "Nothing needs to be added: the existing rule already does this."
	r.Data = fields{
		"pattern": visible(refusal.Pattern), "rule_type": ruleType[refusal.List],
		"existing_rules": visibleAll(refusal.By), "covered_by": visible(refusal.By[0]),
	}
	return r
}

// sentence turns a message into a sentence, with a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = assistant.UpperFirst(s)
	if !strings.ContainsAny(s[len(s)-1:], ".?!") {
		s += "."
	}
	return s
}

func (w *Window) toolSwitch(ctx context.Context, a providerArgs) assistant.ToolResult {
	if strings.TrimSpace(a.Provider) == "" { // onProvider would use the current provider
		return errorResult(&UnknownError{What: "provider", Known: withLock(w, func() []string { return slices.Clone(w.order) })})
	}
	return w.onProvider(a.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		verb, data := "is already", p.countFields(e)
		if callerPlace(ctx).move(w, p) {
			verb = "is now"
		}
		data["ignore_rules"], data["whitelist_rules"] = p.listed(Ignore), p.listed(Allow)
		return assistant.OK(fmt.Sprintf("The current provider %s %s: %d of %s shown.", verb, p.name, e.Shown(), assistant.Counted(e.Total(), "model")), data)
	})
}

// listed returns the first maxListed rules of a list in the form that the language model gets.
func (p *provider) listed(list List) []string {
	rules := p.lists[list].effective()
	return visibleAll(rules[:min(len(rules), maxListed)])
}

func (w *Window) toolRefresh(ctx context.Context, a listArgs) assistant.ToolResult {
	assistant.Report(ctx, assistant.Progress{Stage: "fetch", Message: "asking for the models"})
	r, err := w.refresh(ctx, a.Provider)
	if err != nil {
		f := errorResult(err)
		if unknown := (*UnknownError)(nil); !errors.As(err, &unknown) {
			f.Hint = "The models known before are still listed."
		}
		return f
	}
	return w.onProvider(r.Provider, func(p *provider, e *engine.Engine) assistant.ToolResult {
		data := fields{
			"provider": p.name, "total_count": e.Total(), "available_count": e.Shown(), "models_from": sourceCounts(r.ModelList),
			"added_models": p.names(r.Added), "added_count": len(r.Added), "gone_models": p.names(r.Gone), "gone_count": len(r.Gone),
		}
		text := fmt.Sprintf("%s has %s (source: %s): %d added, %d gone. %d shown.",
			p.name, assistant.Counted(e.Total(), "model"), sourceCounts(r.ModelList), len(r.Added), len(r.Gone), e.Shown())
		if r.Err != "" {
			text += " " + sentence(r.Err)
			data["problem"] = r.Err
		}
		return assistant.OK(text, data)
	})
}

// savedFields returns the data of the tools that save and discard.
func (w *Window) savedFields(changes []RuleChange) fields {
	listed := []fields{}
	for _, c := range changes[:min(len(changes), maxListed)] {
		change := "removed"
		if c.Added {
			change = "added"
		}
		listed = append(listed, fields{"provider": c.Provider, "rule_type": ruleType[c.List], "pattern": visible(c.Pattern), "change": change})
	}
	return fields{"file": visible(w.EnvFile()), "changed_rules": listed, "changed_count": len(changes), "has_unsaved_changes": w.Dirty()}
}

func (w *Window) toolSave(ctx context.Context, _ noArgs) assistant.ToolResult {
	saved, rules, err := w.save(ctx, dotenv.Assistant, assistant.Basis{Digest: assistant.ShownDigest(ctx)})
	var conflict *assistant.Conflict
	var changed *assistant.PlanChanged
	switch {
	case errors.As(err, &changed):
		return assistant.Fail(assistant.CodePlanChanged, "%v", changed)
	case errors.As(err, &conflict):
		return conflictResult(conflict)
	case err != nil:
		r := errorResult(fmt.Errorf("nothing was saved: %w", err))
		r.Data = w.savedFields(w.Diff())
		return r
	}
	return w.savedResult(saved, rules)
}

func (w *Window) savedResult(saved assistant.Saved, rules []RuleChange) assistant.ToolResult {
	return assistant.OK(string((saved.Message + " " + saved.Warning).TrimSpace()), w.savedFields(rules))
}

// conflictResult tells the language model which variables another program has changed in
// the file, but not their values, which may be keys.
func conflictResult(c *assistant.Conflict) assistant.ToolResult {
	var keys []string
	for _, t := range c.Theirs {
		if key := visible(t.Title); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	r := assistant.Fail(assistant.CodeFailed, "Nothing was saved: %v. The staged rules are unchanged.", c)
	if c.Kept != "" {
		r.Message = fmt.Sprintf("The rules were saved, but %v.", c)
	}
	r.Hint = "Only the user can decide whether to merge or to reload; ask them to open the save preview."
	r.Data = fields{"file": visible(c.Path), "changed_by_others": keys}
	return r
}

func (w *Window) previewSave(ctx context.Context, _ json.RawMessage) (assistant.Preview, error) {
	plan, err := w.PlanSave(ctx, "")
	if err != nil {
		return assistant.Preview{}, err
	}
	return assistant.Preview{Text: safetext.Join(plan.Lines(w.user()), "\n"), Ask: !plan.Empty(), Digest: plan.Digest}, nil
}

// user returns the user working in the window; "" if unknown.
func (w *Window) user() string {
	if w.opts.Author == nil {
		return ""
	}
	return w.opts.Author(false).User
}

func (w *Window) toolDiscard(ctx context.Context, _ noArgs) assistant.ToolResult {
	w.mu.Lock()
	lost, rules, err := w.discard(assistant.Basis{Digest: assistant.ShownDigest(ctx)})
	w.mu.Unlock()
	switch {
	case err != nil:
		return assistant.Fail(assistant.CodePlanChanged, "%v", err)
	case len(lost) == 0:
		return assistant.OK("There was nothing to discard: no rule is staged.", w.savedFields(nil))
	case len(rules) == 0:
		return assistant.OK("The rules are in the order of the file again.", w.savedFields(nil))
	}
	return assistant.OK(fmt.Sprintf("Discarded %s; the rules match the file again.", ruleCount(rules)), w.savedFields(rules))
}

// previewDiscard shows what discarding would lose, and the effect on the models.
func (w *Window) previewDiscard(context.Context, json.RawMessage) (assistant.Preview, error) {
	plan := w.PlanDiscard("")
	return assistant.Preview{Text: safetext.Join(plan.DiscardLines(w.user()), "\n"), Ask: !plan.Empty(), Digest: plan.Digest}, nil
}
