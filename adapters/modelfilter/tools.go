package modelfilter

import (
	"context"
	"errors"

	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
)

// The categories of the tools.
const (
	categoryRules    = "Rules"
	categoryQuery    = "Query"
	categoryProvider = "Provider"
	categoryState    = "State"
)

type (
	ruleArgs struct {
		Pattern  string `json:"pattern" jsonschema:"the pattern, with * ? [seq] as wildcards"`
		Provider string `json:"provider,omitempty" jsonschema:"the provider; the current one if left out"`
	}
	listArgs struct {
		Provider string `json:"provider,omitempty" jsonschema:"the provider; the current one if left out"`
	}
	noArgs struct{}
)

// Tools are the actions that the model may take.
func (w *Window) Tools() []assistant.Tool {
	return []assistant.Tool{
		write(categoryRules, assistant.NewTool("add_ignore_rule",
			"Add a pattern to the ignore list: models that match it are hidden from the proxy's list, unless a whitelist rule matches them. Returns the affected models. Staged until it is saved.",
			func(_ context.Context, a ruleArgs) (assistant.ToolResult, error) { return w.toolAdd(Ignore, a), nil })),
		write(categoryRules, assistant.NewTool("remove_ignore_rule",
			"Remove a pattern from the ignore list. It must be given as it stands in the list.",
			func(_ context.Context, a ruleArgs) (assistant.ToolResult, error) { return w.toolRemove(Ignore, a), nil })),
		write(categoryRules, assistant.NewTool("add_whitelist_rule",
			"Add a pattern to the whitelist: models that match it stay available, whatever the ignore rules say. Returns the affected models. Staged until it is saved.",
			func(_ context.Context, a ruleArgs) (assistant.ToolResult, error) { return w.toolAdd(Allow, a), nil })),
		write(categoryRules, assistant.NewTool("remove_whitelist_rule",
			"Remove a pattern from the whitelist. It must be given as it stands in the list.",
			func(_ context.Context, a ruleArgs) (assistant.ToolResult, error) { return w.toolRemove(Allow, a), nil })),
		write(categoryRules, assistant.NewTool("clear_all_ignore_rules",
			"Remove all ignore rules of a provider.",
			func(_ context.Context, a listArgs) (assistant.ToolResult, error) { return w.toolClear(Ignore, a), nil })),
		write(categoryRules, assistant.NewTool("clear_all_whitelist_rules",
			"Remove all whitelist rules of a provider.",
			func(_ context.Context, a listArgs) (assistant.ToolResult, error) { return w.toolClear(Allow, a), nil })),
		write(categoryRules, importTool(w)),
		read(categoryQuery, assistant.NewTool("get_models_matching_pattern",
			"List the models that a pattern matches, without changing anything.",
			func(_ context.Context, a ruleArgs) (assistant.ToolResult, error) { return w.toolMatching(a), nil })),
		read(categoryQuery, assistant.NewTool("get_model_details",
			"Tell what is known of a model. Without a model: an overview of the current provider.",
			func(_ context.Context, a detailArgs) (assistant.ToolResult, error) { return w.toolDetails(a), nil })),
		read(categoryQuery, assistant.NewTool("explain_model_status",
			"Explain why a model is hidden or available: the rule that decides, and all that match.",
			func(_ context.Context, a modelArgs) (assistant.ToolResult, error) { return w.toolExplain(a), nil })),
		read(categoryProvider, assistant.NewTool("switch_provider",
			"Show another provider of available_providers. Changes no rule.",
			func(_ context.Context, a providerArgs) (assistant.ToolResult, error) { return w.toolSwitch(a), nil })),
		read(categoryProvider, assistant.NewTool("refresh_models",
			"Ask the provider or the proxy for its models again. Goes to the network.",
			w.toolRefresh)),
		w.saveTool(),
		w.discardTool(),
	}
}

func write(category string, t assistant.Tool) assistant.Tool {
	t.Category, t.Write = category, true
	return t
}

func read(category string, t assistant.Tool) assistant.Tool {
	t.Category = category
	return t
}

// failed makes a result of an error, with the code and the hint that belong to it.
func failed(err error) assistant.ToolResult {
	r := assistant.Fail(assistant.CodeFailed, "%s", sentence(err.Error()))
	var refusal *engine.Refusal
	var unknown *UnknownError
	switch {
	case errors.As(err, &refusal):
		r = refused(refusal)
	case errors.As(err, &unknown) && unknown.What == "provider":
		r.Data = map[string]any{"available_providers": shownAll(unknown.Known)}
	case errors.As(err, &unknown):
		r.Data = map[string]any{"nearest": shownAll(unknown.Near)}
	case errors.Is(err, ErrLocked):
		r.ErrorCode = assistant.CodeLocked
	}
	return r
}

// refused makes a result of a pattern that is not taken.
func refused(refusal *engine.Refusal) assistant.ToolResult {
	r := assistant.Fail(assistant.CodeFailed, "%s", refusalText(refusal))
	switch refusal.Reason {
	case engine.Duplicate, engine.Covered:
		r.ErrorCode = assistant.CodeCovered
		r.Data = map[string]any{
			"pattern": shown(refusal.Pattern), "rule_type": ruleType(refusal.List),
			"existing_rules": shownAll(refusal.By), "covered_by": shown(refusal.By[0]),
		}
		r.Hint = "Nothing needs to be added: the existing rule does it."
	case engine.Unwritable:
		r.Hint = "Use ? for a character that a pattern cannot hold, and one call for each pattern."
	case engine.Empty:
		r.Hint = "Give a pattern, e.g. *preview*."
	}
	return r
}

// refusalText is the reason with everything quoted for a model.
func refusalText(r *engine.Refusal) string {
	switch r.Reason {
	case engine.Empty:
		return "The pattern is empty."
	case engine.Duplicate:
		return "Pattern " + quote(r.Pattern) + " is already in the " + ruleType(r.List) + " list."
	case engine.Unwritable:
		return "Pattern " + quote(r.Pattern) + " cannot be saved: it holds " + r.Detail + "."
	default:
	}
	rules := " rule "
	if len(r.By) > 1 {
		rules = " rules "
	}
	return "Pattern " + quote(r.Pattern) + " is already covered by the " + ruleType(r.List) + rules + quoteAll(r.By) + "."
}

// sentence gives a message a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if c := s[0]; c >= 'a' && c <= 'z' {
		s = string(c-'a'+'A') + s[1:]
	}
	if last := s[len(s)-1]; last != '.' && last != '?' && last != '!' {
		s += "."
	}
	return s
}

// onProvider runs a tool on a provider.
func (w *Window) onProvider(name string, run func(p *provider, e *engine.Engine) assistant.ToolResult) assistant.ToolResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.find(name)
	if err != nil {
		return failed(err)
	}
	return run(p, w.rules(p))
}
