package offline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// filterTools are the tools of the model filter window with their parameters.
var filterTools = map[string]string{
	"add_ignore_rule": "pattern provider", "remove_ignore_rule": "pattern provider",
	"add_whitelist_rule": "pattern provider", "remove_whitelist_rule": "pattern provider",
	"clear_all_ignore_rules": "provider", "clear_all_whitelist_rules": "provider",
	"import_rules":                "ignore whitelist mode provider",
	"get_models_matching_pattern": "pattern provider", "get_model_details": "model", "explain_model_status": "model",
	"switch_provider": "provider", "refresh_models": "provider", "save_changes": "", "discard_changes": "",
}

func toolList(tools map[string]string) []any {
	var out []any
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		params := tools[name]
		props := map[string]any{}
		for p := range strings.FieldsSeq(params) {
			props[p] = map[string]any{"type": "string"}
		}
		required := []string{}
		if first, _, _ := strings.Cut(params, " "); first == "pattern" {
			required = append(required, first)
		}
		out = append(out, map[string]any{"type": "function", "function": map[string]any{
			"name": name, "parameters": map[string]any{"type": "object", "properties": props, "required": required},
		}})
	}
	return out
}

// openaiModels are the listed models of the test window, with their state.
var openaiModels = []struct{ id, status, rule string }{
	{"openai/gpt-5.6-sol", "normal", ""},
	{"openai/gpt-5.6-luna", "normal", ""},
	{"openai/gpt-5.5", "normal", ""},
	{"openai/gpt-5-mini", "normal", ""},
	{"openai/gpt-5-nano", "normal", ""},
	{"openai/gpt-4o", "whitelisted", "gpt-4o"},
	{"openai/gpt-4o-mini", "normal", ""},
	{"openai/gpt-4o-2024-08-06", "normal", ""},
	{"openai/gpt-4o-audio-preview", "ignored", "*-preview"},
	{"openai/gpt-4-turbo-preview", "ignored", "*-preview"},
	{"openai/gpt-4-turbo", "normal", ""},
	{"openai/gpt-4", "normal", ""},
	{"openai/gpt-3.5-turbo", "ignored", "gpt-3.5*"},
	{"openai/gpt-3.5-turbo-16k", "ignored", "gpt-3.5*"},
	{"openai/o3", "normal", ""},
	{"openai/o3-mini", "normal", ""},
	{"openai/text-embedding-3-large", "normal", ""},
	{"openai/whisper-1", "normal", ""},
	{"openai/dall-e-3", "normal", ""},
	{"openai/gpt-image-1", "normal", ""},
	{"openai/chatgpt-4o-latest", "normal", ""},
}

// contextJSON is the test window's context; edit changes it before it is encoded.
func contextJSON(edit func(map[string]any)) string {
	var items []any
	for _, m := range openaiModels {
		it := map[string]any{"id": m.id, "display_name": strings.TrimPrefix(m.id, "openai/"), "status": m.status, "affecting_rule": nil}
		if m.rule != "" {
			it["affecting_rule"] = map[string]any{"pattern": m.rule, "type": "ignore"}
		}
		items = append(items, it)
	}
	c := map[string]any{
		"window_type": "model_filter", "current_provider": "openai",
		"models": map[string]any{"total_count": len(items), "available_count": len(items) - 4, "items": items},
		"rules": map[string]any{
			"ignore":    []any{map[string]any{"pattern": "*-preview", "affected_count": 2}, map[string]any{"pattern": "gpt-3.5*", "affected_count": 2}},
			"whitelist": []any{map[string]any{"pattern": "gpt-4o", "affected_count": 1}},
		},
		"ui_state":                   map[string]any{"has_unsaved_changes": true},
		"available_providers":        []any{"openai", "anthropic", "gemini"},
		"changes_since_last_message": []any{},
	}
	if edit != nil {
		edit(c)
	}
	b, _ := json.Marshal(c)
	return string(b)
}

const markersPrompt = "\n\n== STRUCTURED RESPONSES ==\nSUGGESTED_VALUES - offer.\n\nSUGGESTED_VALUES: {\"values\": []}\n\n" +
	"RULE_PROPOSAL - propose.\n\nRULE_PROPOSAL: {\"ignore\": {\"add\": [\"x\"], \"remove\": []}, \"allow\": {\"add\": [], \"remove\": []}, \"reasoning\": \"why\"}\n\n" +
	"SUGGESTED_ACTIONS - offer buttons for actions listed under CLIENT ACTIONS:\n\nSUGGESTED_ACTIONS: {\"actions\": []}\n\n" +
	"== TOOLS ==\n\n- get_models_matching_pattern: find models\n\n" +
	"== CLIENT ACTIONS ==\n\n- open_checkpoints: the checkpoints\n- show_models: the models\n- show_diff: with data (data: id)\n"

func system(context string) map[string]any {
	return map[string]any{"role": "system", "content": "You help.\n\n## Current Context\n\n```json\n" + context + "\n```" + markersPrompt}
}

func user(text string) map[string]any { return map[string]any{"role": "user", "content": text} }

func request(tb testing.TB, messages []any, tools map[string]string) *chatRequest {
	tb.Helper()
	b, err := json.Marshal(map[string]any{"model": "rules", "messages": messages, "tools": toolList(tools)})
	if err != nil {
		tb.Fatal(err)
	}
	var req chatRequest
	if err := json.Unmarshal(b, &req); err != nil {
		tb.Fatal(err)
	}
	return &req
}

// shown writes calls in one line: "+ignore(*mini*) save()".
func shown(calls []pending) string {
	var out []string
	for _, c := range calls {
		var a map[string]any
		_ = json.Unmarshal(c.args, &a)
		var vs []string
		for _, k := range []string{"pattern", "model", "query", "ignore", "whitelist", "mode", "provider"} {
			switch v := a[k].(type) {
			case string:
				if k == "provider" && c.name != "switch_provider" {
					v = "@" + v
				}
				vs = append(vs, v)
			case []any:
				vs = append(vs, k+"="+fmt.Sprint(v))
			}
		}
		out = append(out, c.name+"("+strings.Join(vs, " ")+")")
	}
	r := strings.NewReplacer("add_ignore_rule", "+ignore", "remove_ignore_rule", "-ignore", "add_whitelist_rule", "+allow", "remove_whitelist_rule", "-allow",
		"get_models_matching_pattern", "query", "explain_model_status", "explain", "get_model_details", "details", "clear_all_ignore_rules", "clear-ignore",
		"clear_all_whitelist_rules", "clear-allow", "import_rules", "import", "switch_provider", "switch", "refresh_models", "refresh",
		"save_changes", "save", "discard_changes", "discard")
	return r.Replace(strings.Join(out, " "))
}
