package modelfilter

import (
	"context"

	"winnow/assistant"
	"winnow/assistant/serve/mcp"
)

// Queries returns additional tools for agents, which, unlike the assistant in the window, do not
// get the window's context. It returns nil if window is not a model filter.
func Queries(window assistant.Window) []assistant.Tool {
	w, at := placeOf(window)
	if w == nil {
		return nil
	}
	list := assistant.NewTool("list_providers", "List the providers, each with the number of its rules and, once its models have been read, how many models it has and how many of them are shown.",
		func(context.Context, noArgs) (assistant.ToolResult, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			all := w.contextProviders()
			return assistant.OK(assistant.Counted(len(all), "provider"), fields{"providers": all, "current_provider": visible(at.current(w))}), nil
		})
	list.Title, list.Category, list.Idempotent = "List the providers", "Provider", true
	tools := []assistant.Tool{list}
	if w.opts.AfterSave != nil {
		applied := assistant.NewTool("show_applied", "Show the outcome of the newest save: whether the user's after_save command has run, and whether the proxy follows the rules.",
			func(context.Context, noArgs) (assistant.ToolResult, error) {
				last := w.Applied()
				if last.State == "" {
					return assistant.OK("Nothing has been saved yet.", nil), nil
				}
				return assistant.OK(string(last.Message), fields{"applied": last}), nil
			})
		applied.Title, applied.Category, applied.Idempotent = "Show whether the rules are live", "State", true
		tools = append(tools, applied)
	}
	return tools
}

// Prompts returns the prompts that users can choose in an agent.
func Prompts() []mcp.Prompt {
	return []mcp.Prompt{
		{
			Name: "review_rules", Title: "Review the rules", Description: "Look for rules that do nothing, repeat others or hide more than they should.",
			Text: "Review the rules of all providers: call list_providers, then list_rules. Look for rules that match no model, are covered by another rule or never decide, " +
				"and for allow rules whose models no ignore rule matches. Look at the new models, too. Show me what you found and what you would change, with the effect of each change " +
				"on the models, and change nothing before I agree. Do not save.",
		},
		{
			Name: "hide_unused", Title: "Hide unused models", Description: "Find the models that have not been used for 30 days, and hide them with few rules.",
			Text: "Find the shown models that have not been used for 30 days: call find_models with the condition \"shown unused:30d\". Models whose use is unknown do not " +
				"count as unused: tell me how many there are. Propose the fewest patterns that hide the unused models and no used one, and check each with " +
				"get_models_matching_pattern. Show me the patterns with their models, and add them only when I agree. Then show plan_save, and save only when I say so.",
		},
	}
}
