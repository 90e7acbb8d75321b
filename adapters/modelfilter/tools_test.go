package modelfilter

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/modelfilter/usage"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
)

// toolNames are the tools of the specification, in its order; true writes.
var toolNames = []struct {
	name  string
	write bool
}{
	{"add_ignore_rule", true},
	{"remove_ignore_rule", true},
	{"add_whitelist_rule", true},
	{"remove_whitelist_rule", true},
	{"clear_all_ignore_rules", true},
	{"clear_all_whitelist_rules", true},
	{"import_rules", true},
	{"get_models_matching_pattern", false},
	{"get_model_details", false},
	{"explain_model_status", false},
	{"find_models", false},
	{"list_rules", false},
	{"plan_rules", false},
	{"propose_rules", false},
	{"plan_save", false},
	{"switch_provider", false},
	{"refresh_models", false},
	{"save_changes", true},
	{"undo", true},
	{"discard_changes", true},
}

func TestToolsAreThoseOfTheSpecification(t *testing.T) {
	params := map[string]string{ // properties; * marks the required ones
		"add_ignore_rule": "pattern* provider", "remove_ignore_rule": "pattern* provider",
		"add_whitelist_rule": "pattern* provider", "remove_whitelist_rule": "pattern* provider",
		"clear_all_ignore_rules": "provider", "clear_all_whitelist_rules": "provider",
		"import_rules": "ignore mode* provider whitelist", "get_models_matching_pattern": "pattern* provider",
		"get_model_details": "model", "explain_model_status": "model*", "switch_provider": "provider*",
		"find_models": "least limit models provider sort where*", "refresh_models": "provider", "save_changes": "", "discard_changes": "",
		"plan_rules": "action* except list models provider", "list_rules": "list provider", "plan_save": "", "undo": "steps",
		"propose_rules": "add_ignore add_whitelist provider reasoning* remove_ignore remove_whitelist",
	}
	tools := fresh(t, plainEnv).Tools()
	if len(tools) != len(toolNames) {
		t.Fatalf("%d tools, want %d", len(tools), len(toolNames))
	}
	for i, want := range toolNames {
		tool := tools[i]
		lasting := want.name == "save_changes" || want.name == "discard_changes"
		if tool.Name != want.name || tool.Write != want.write || tool.Lasting != lasting || (tool.Preview != nil) != lasting || tool.Category == "" || tool.Title == "" {
			t.Errorf("tool %d = %s write=%v lasting=%v %q, want %+v", i, tool.Name, tool.Write, tool.Lasting, tool.Category, want)
		}
		var names []string
		for p, s := range tool.Schema.Properties {
			if s.Type == "" || len(s.Types) > 0 || len(s.AnyOf) > 0 {
				t.Errorf("%s: %s has the types %v", tool.Name, p, s.Types)
			}
			if slices.Contains(tool.Schema.Required, p) {
				p += "*"
			}
			names = append(names, p)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != params[tool.Name] {
			t.Errorf("%s takes %q, want %q", tool.Name, got, params[tool.Name])
		}
	}
	if e := tools[6].Schema.Properties["mode"].Enum; !slices.Equal(e, []any{"merge", "replace"}) {
		t.Errorf("modes = %v", e)
	}
}

// toolCase is one call of one tool.
type toolCase struct {
	env   string // "" is plainEnv
	setup func(f *fixture)
	tool  string
	args  string

	fails string         // the error code; "" succeeds
	says  []string       // parts of message and hint
	data  map[string]any // fields of the data, as JSON reads them
	rules []string       // ignore rules afterwards; nil is not looked at
	allow []string
}

func strs(s ...string) []any {
	out := []any{}
	for _, x := range s {
		out = append(out, x)
	}
	return out
}

var toolCases = map[string]toolCase{
	"add ignore": {
		tool: "add_ignore_rule", args: `{"pattern":" gpt-4* "}`, says: []string{"4 models hidden: ", "Other rules apply to 2 more models that it matches", "2 of 10 shown", "Not saved"},
		data: map[string]any{
			"pattern": "gpt-4*", "provider": "openai", "rule_type": "ignore", "affected_count": 4., "matched_count": 6., "total_count": 10.,
			"affected_models": strs("gpt-4", "gpt-4-turbo", "gpt-4o", "gpt-4o-mini"), "has_unsaved_changes": true,
		},
		rules: []string{"*-preview", "gpt-3.5*", "gpt-4*"},
	},
	"find": {
		tool: "find_models", args: `{"where":"hidden *gpt*"}`, says: []string{"3 models that are hidden match `*gpt*`:", "openai: `gpt-4-turbo-preview` is hidden by the ignore rule `*-preview`"},
		data: map[string]any{"count": 3., "shown_count": 0., "unknown_count": 0., "truncated": false},
	},
	"find with a limit": {
		tool: "find_models", args: `{"where":"*gpt*","provider":"openai","limit":1}`, says: []string{"8 models match `*gpt*` on openai: 5 shown, 3 hidden.", "The first 1 are listed in full."},
		data: map[string]any{"count": 8., "truncated": true},
	},
	"find what is unknown": {
		tool: "find_models", args: `{"where":"requests>0"}`, says: []string{"Left out because a property is unknown: 13 models."}, data: map[string]any{"count": 0.},
	},
	"find by name": {
		tool: "find_models", args: `{"where":"shown","models":["turbo","o1"]}`, says: []string{"2 models that are shown match `turbo` and `o1`:\n\n- openai: `gpt-4-turbo` and `o1` are shown: no rule matches"}, data: map[string]any{"count": 2.},
	},
	"find by a name that is none": {
		tool: "find_models", args: `{"where":"","models":["trubo"]}`, fails: "failed", says: []string{"No model matches `trubo`."},
		data: map[string]any{"unmatched": []any{map[string]any{"models": "trubo", "missing": strs("trubo"), "near": strs("turbo"), "instead_of": "trubo", "elsewhere": []any{}}}},
	},
	"plan to hide": {
		tool: "plan_rules", args: `{"action":"hide","models":["gpt-4 models"],"except":["mini"]}`, says: []string{"Would hide 3 models on openai: allow `*mini*`; ignore `gpt-4*`. Not hidden, because an allow rule applies: gpt-4o-preview."},
		rules: []string{"*-preview", "gpt-3.5*"},
	},
	"plan elsewhere": {
		tool: "plan_rules", args: `{"action":"hide","models":["flash"]}`, fails: "failed", says: []string{"gemini has matching models"},
		data: map[string]any{"unmatched": []any{map[string]any{"models": "flash", "missing": strs("flash"), "near": []any{}, "instead_of": "", "elsewhere": strs("gemini")}}},
	},
	"find with an error": {
		tool: "find_models", args: `{"where":"prize>1"}`, fails: "failed", says: []string{"Column 1", "did you mean price"},
	},
	"find at an unknown provider": {
		tool: "find_models", args: `{"where":"new","provider":"opnai"}`, fails: "failed", says: []string{"openai"},
	},
	"list rules": {
		setup: func(f *fixture) { f.must(f.Remove(Ignore, "*-preview")); f.must(second(f.Add(Ignore, "o1"))) },
		tool:  "list_rules", args: `{"provider":null}`, says: []string{"3 rules on openai:\n\n- `gpt-3.5*` (ignore on openai) hides 2 models\n- `o1` (ignore on openai) hides 1 model"},
		data: map[string]any{"has_unsaved_changes": true, "providers": []any{map[string]any{
			"provider": "openai", "total_count": 10., "available_count": 7., "ignore_rule_count": 2., "whitelist_rule_count": 1.,
			"ignore_rules": []any{
				map[string]any{"pattern": "gpt-3.5*", "decides": 2., "matches": 2.},
				map[string]any{"pattern": "o1", "decides": 1., "matches": 1., "unsaved": true},
			},
			"whitelist_rules":      []any{map[string]any{"pattern": "gpt-4o-preview", "decides": 1., "matches": 1.}},
			"removed_ignore_rules": strs("*-preview"),
		}}},
	},
	"list rules of one": {tool: "list_rules", args: `{"provider":"gemini"}`, says: []string{"No rules on gemini."}},
	"list rules nowhere": {
		tool: "list_rules", args: `{"provider":"nowhere"}`, fails: "failed", data: map[string]any{"available_providers": strs("openai", "gemini")},
	},
	"propose": {
		tool: "propose_rules", args: `{"add_ignore":["o1*"],"reasoning":"r"}`, says: []string{"Proposed: ignore `o1*` for openai. Effect: hides 1 model", "Only the user"},
		rules: []string{"*-preview", "gpt-3.5*"}, data: map[string]any{"provider": "openai", "effects": strs("hides 1 model")},
	},
	"propose nothing": {tool: "propose_rules", args: `{"reasoning":"r"}`, fails: "failed", says: []string{"changes no rule"}},
	"plan": {
		setup: func(f *fixture) { f.must(second(f.Add(Ignore, "o1"))) },
		tool:  "plan_save", args: `{}`, says: []string{"+ IGNORE_MODELS_OPENAI=*-preview,gpt-3.5*,o1", "openai: 1 model becomes hidden"},
		data: map[string]any{"changed_count": 1., "has_unsaved_changes": true, "effects": strs("openai: 1 model becomes hidden", "restart the proxy afterwards: it reads the rules when it starts")},
	},
	"plan nothing": {tool: "plan_save", args: `{}`, says: []string{"would change nothing"}},
	"undo outside a turn": {
		setup: func(f *fixture) { f.must(second(f.Add(Ignore, "o1"))) },
		tool:  "undo", args: `{}`, fails: "failed", says: []string{"Nothing was undone"}, rules: []string{"*-preview", "gpt-3.5*", "o1"},
	},
	"undo too much": {tool: "undo", args: `{"steps":101}`, fails: "invalid_arguments", says: []string{"Between 1 and 100"}},
	"add ignore makes redundant": {
		tool: "add_ignore_rule", args: `{"pattern":"gpt-3*"}`, says: []string{"redundant: `gpt-3.5*`", "No model is affected"},
		data: map[string]any{"redundant_rules": strs("gpt-3.5*"), "affected_count": 0.},
	},
	"add ignore covered": {
		tool: "add_ignore_rule", args: `{"pattern":"o1-preview"}`, fails: "covered", says: []string{"covered by the ignore rule `*-preview`"},
		data: map[string]any{"covered_by": "*-preview", "existing_rules": strs("*-preview")}, rules: []string{"*-preview", "gpt-3.5*"},
	},
	"add ignore covered by several": {
		setup: func(f *fixture) { f.must(second(f.Add(Ignore, "o1*"))) },
		tool:  "add_ignore_rule", args: `{"pattern":"o1-preview"}`, fails: "covered", says: []string{"covered by the ignore rules `*-preview`, `o1*`"},
		data: map[string]any{"existing_rules": strs("*-preview", "o1*")},
	},
	"add ignore twice": {
		tool: "add_ignore_rule", args: `{"pattern":"*-preview"}`, fails: "covered", says: []string{"already in the ignore list"}, rules: []string{"*-preview", "gpt-3.5*"},
	},
	"add ignore empty": {tool: "add_ignore_rule", args: `{"pattern":"  "}`, fails: "failed", says: []string{"empty"}},
	"add ignore comma": {
		tool: "add_ignore_rule", args: `{"pattern":"a,b"}`, fails: "failed", says: []string{"a comma", "one call for each"}, rules: []string{"*-preview", "gpt-3.5*"},
	},
	"add ignore line": {tool: "add_ignore_rule", args: `{"pattern":"a\nOPENAI_API_KEY=x"}`, fails: "failed", says: []string{"line break"}},
	"add ignore var":  {tool: "add_ignore_rule", args: `{"pattern":"${OPENAI_API_KEY}"}`, fails: "failed", says: []string{"${"}},
	"add ignore long": {tool: "add_ignore_rule", args: `{"pattern":"` + strings.Repeat("a", 501) + `"}`, fails: "failed", says: []string{"501 characters", "at most 500"}},
	"add ignore elsewhere": {
		tool: "add_ignore_rule", args: `{"pattern":"*-preview","provider":"Gemini"}`, says: []string{"for gemini", "1 model hidden: "},
		data: map[string]any{"affected_models": strs("gemini-2.0-flash-preview")}, rules: []string{"*-preview"}, // of gemini
	},
	"add ignore no provider": {
		tool: "add_ignore_rule", args: `{"pattern":"x","provider":"opnai"}`, fails: "failed", says: []string{"Did you mean `openai`?"},
		data: map[string]any{"available_providers": strs("openai", "gemini")},
	},
	"add ignore no match": {tool: "add_ignore_rule", args: `{"pattern":"turbo"}`, says: []string{"Matches no model now", "e.g. *turbo*, which matches 4 models"}},
	"add whitelist": {
		tool: "add_whitelist_rule", args: `{"pattern":"gpt-3.5-turbo"}`, says: []string{"1 model allowed"},
		data: map[string]any{"rule_type": "whitelist", "affected_models": strs("gpt-3.5-turbo"), "available_count": 7.}, allow: []string{"gpt-4o-preview", "gpt-3.5-turbo"},
	},
	"add whitelist covered": {
		tool: "add_whitelist_rule", args: `{"pattern":"gpt-4o-preview"}`, fails: "covered", says: []string{"already in the allow list"}, allow: []string{"gpt-4o-preview"},
	},
	"remove ignore": {
		tool: "remove_ignore_rule", args: `{"pattern":"*-preview"}`, says: []string{"2 models shown again", "8 of 10 shown"},
		data: map[string]any{"affected_models": strs("gpt-4-turbo-preview", "o1-preview"), "affected_count": 2.}, rules: []string{"gpt-3.5*"},
	},
	"remove ignore unknown": {
		tool: "remove_ignore_rule", args: `{"pattern":"preview"}`, fails: "failed", says: []string{"Did you mean `*-preview`?", "are: `*-preview`, `gpt-3.5*`"},
		data: map[string]any{"nearest": strs("*-preview")},
	},
	"remove whitelist": {
		tool: "remove_whitelist_rule", args: `{"pattern":"gpt-4o-preview"}`, says: []string{"1 model hidden now"},
		data: map[string]any{"affected_models": strs("gpt-4o-preview")}, allow: []string{},
	},
	"remove whitelist unknown": {
		setup: func(f *fixture) { f.must(second(f.Clear(Allow))) },
		tool:  "remove_whitelist_rule", args: `{"pattern":"x"}`, fails: "failed", says: []string{"There are no allow rules for openai"},
	},
	"clear ignore": {
		tool: "clear_all_ignore_rules", args: `{}`, says: []string{"removed 2 ignore rules", "4 models shown again"},
		data: map[string]any{"removed_rules": strs("*-preview", "gpt-3.5*"), "available_count": 10.}, rules: []string{},
	},
	"clear ignore none":       {tool: "clear_all_ignore_rules", args: `{"provider":"gemini"}`, says: []string{"There were no ignore rules for gemini"}},
	"clear ignore no where":   {tool: "clear_all_ignore_rules", args: `{"provider":"nowhere"}`, fails: "failed", says: []string{"`openai`, `gemini`"}},
	"clear whitelist":         {tool: "clear_all_whitelist_rules", args: `{}`, says: []string{"removed 1 allow rule of", "1 model hidden now"}, allow: []string{}},
	"clear whitelist nowhere": {tool: "clear_all_whitelist_rules", args: `{"provider":"nowhere"}`, fails: "failed"},
	"import merge": {
		tool: "import_rules", args: `{"ignore":["o1","gpt-4-turbo","o1-preview","a,b",""],"whitelist":["o1"],"mode":"merge"}`,
		says:  []string{"Imported 3 of 6 rules", "3 added, 0 kept, 3 refused, 0 removed"},
		rules: []string{"*-preview", "gpt-3.5*", "o1", "gpt-4-turbo"}, allow: []string{"gpt-4o-preview", "o1"},
		data: map[string]any{"added_count": 3., "refused_count": 3., "removed_rules": map[string]any{"ignore": strs(), "whitelist": strs()}},
	},
	"import replace": {
		tool: "import_rules", args: `{"ignore":["*-preview","gpt*"],"mode":"replace"}`, says: []string{"1 added, 1 kept, 0 refused, 1 removed"},
		rules: []string{"*-preview", "gpt*"}, allow: []string{"gpt-4o-preview"},
		data: map[string]any{"removed_rules": map[string]any{"ignore": strs("gpt-3.5*"), "whitelist": strs()}},
	},
	"import replace by none": {tool: "import_rules", args: `{"ignore":[],"mode":"replace"}`, says: []string{"2 removed"}, rules: []string{}},
	"import all refused": {
		tool: "import_rules", args: `{"ignore":["a,b","c,d"],"mode":"replace"}`, fails: "failed", says: []string{"Imported 0 of 2 rules", "are unchanged", "a comma"},
		rules: []string{"*-preview", "gpt-3.5*"},
	},
	"import all covered": {
		tool: "import_rules", args: `{"ignore":["o1-preview","gpt-3.5-turbo"],"mode":"merge"}`, fails: "covered", rules: []string{"*-preview", "gpt-3.5*"},
	},
	"import nothing": {tool: "import_rules", args: `{"mode":"merge"}`, fails: "failed", says: []string{"nothing to import"}},
	"import too much": {
		tool: "import_rules", args: `{"mode":"merge","ignore":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 1001), ",") + `]}`,
		fails: "failed", says: []string{"1001 rules; at most 1000"}, rules: []string{"*-preview", "gpt-3.5*"},
	},
	"import nowhere": {tool: "import_rules", args: `{"mode":"merge","ignore":["a"],"provider":"nowhere"}`, fails: "failed"},
	"matching": {
		tool: "get_models_matching_pattern", args: `{"pattern":"*turbo*"}`, says: []string{"`*turbo*` matches 4 models of openai, 3 of them hidden now."},
		data: map[string]any{"count": 4., "hidden_count": 3., "pattern": "*turbo*"},
	},
	"matching elsewhere": {
		tool: "get_models_matching_pattern", args: `{"pattern":"gemini/*flash","provider":"gemini"}`, says: []string{"`gemini/*flash` matches 1 model of gemini."},
		data: map[string]any{"count": 1., "models": []any{map[string]any{"id": "gemini/gemini-2.0-flash", "status": "normal"}}},
	},
	"matching on all": {
		tool: "get_models_matching_pattern", args: `{"pattern":"*pro*","provider":"*"}`, says: []string{"`*pro*` matches 1 model of 2 providers."},
		data: map[string]any{"count": 1., "hidden_count": 0., "providers": []any{
			map[string]any{"provider": "openai", "count": 0., "hidden_count": 0., "total_count": 10., "available_count": 6., "ignore_rule_count": 2., "whitelist_rule_count": 1.},
			map[string]any{"provider": "gemini", "count": 1., "hidden_count": 0., "total_count": 3., "available_count": 3., "ignore_rule_count": 0., "whitelist_rule_count": 0.},
		}},
	},
	"matching on all, hidden": {
		tool: "get_models_matching_pattern", args: `{"pattern":"*","provider":"*"}`, says: []string{"matches 13 models of 2 providers, 4 of them hidden now."},
	},
	"adding on all": {tool: "add_ignore_rule", args: `{"pattern":"x","provider":"*"}`, fails: "failed", data: map[string]any{"available_providers": strs("openai", "gemini")}},
	"matching nothing": {
		tool: "get_models_matching_pattern", args: `{"pattern":"preview"}`, says: []string{"No matches. Hint: use wildcards, e.g. *preview*, which matches 3 models"},
		data: map[string]any{"count": 0., "models": strs()},
	},
	"matching case":    {tool: "get_models_matching_pattern", args: `{"pattern":"GPT-4"}`, says: []string{"patterns are case-sensitive", "`gpt-4`"}},
	"matching far off": {tool: "get_models_matching_pattern", args: `{"pattern":"zzzzzzzzz"}`, says: []string{"e.g. *preview*"}},
	"matching empty":   {tool: "get_models_matching_pattern", args: `{"pattern":""}`, fails: "failed", says: []string{"empty"}},
	"matching nowhere": {tool: "get_models_matching_pattern", args: `{"pattern":"*","provider":"nowhere"}`, fails: "failed"},
	"matching unknown models": {
		setup: func(f *fixture) { delete(f.shelf.lists, "gemini") },
		tool:  "get_models_matching_pattern", args: `{"pattern":"*","provider":"gemini"}`, says: []string{"refresh_models fetches them"},
	},
	"details overview": {
		tool: "get_model_details", args: `{}`, says: []string{"openai has 10 models: 6 shown, 1 of them by allow rules, and 4 hidden. It has "},
		data: map[string]any{
			"provider": "openai", "total_count": 10., "available_count": 6., "hidden_count": 4., "models_from": "cache",
			"models_as_of": "2026-11-21T14:32:15Z", "new_models": strs("o1"), "ignore_rule_count": 2.,
		},
	},
	"details": {
		tool: "get_model_details", args: `{"model":"gpt-4o"}`, data: map[string]any{"id": "openai/gpt-4o", "provider": "openai", "status": "normal", "affecting_rule": nil},
	},
	"details other case":          {tool: "get_model_details", args: `{"model":"OpenAI/GPT-4O"}`, data: map[string]any{"id": "openai/gpt-4o"}},
	"details elsewhere":           {tool: "get_model_details", args: `{"model":"gemini/gemini-1.0-pro"}`, data: map[string]any{"provider": "gemini"}},
	"details of another provider": {tool: "get_model_details", args: `{"model":"gemini-1.0-pro"}`, data: map[string]any{"provider": "gemini", "id": "gemini/gemini-1.0-pro"}},
	"explain on another provider": {
		tool: "explain_model_status", args: `{"model":"Gemini-2.0-flash-preview"}`, says: []string{"`gemini/gemini-2.0-flash-preview` is shown"}, data: map[string]any{"provider": "gemini"},
	},
	"details unknown": {
		tool: "get_model_details", args: `{"model":"gpt-4o-minni"}`, fails: "failed", says: []string{`Did you mean`, "`gpt-4o-mini`"}, data: map[string]any{"nearest": strs("gpt-4o-mini", "gpt-4o", "gpt-4")},
	},
	"explain ignored": {
		tool: "explain_model_status", args: `{"model":"openai/o1-preview"}`, says: []string{"hidden by the ignore rule `*-preview`"},
		data: map[string]any{"affecting_rule": map[string]any{"pattern": "*-preview", "type": "ignore"}},
	},
	"explain kept": {
		tool: "explain_model_status", args: `{"model":"gpt-4o-preview"}`, says: []string{"shown by the allow rule `gpt-4o-preview`", "ignore rule `*-preview`"},
		data: map[string]any{"status": "whitelisted"},
	},
	"explain normal": {tool: "explain_model_status", args: `{"model":"o1"}`, says: []string{"no rule matches it"}},
	"explain unknown": {
		tool: "explain_model_status", args: `{"model":"gpt-5-preview"}`, fails: "failed", says: []string{"would be hidden by the ignore rule `*-preview`", "get_models_matching_pattern"},
	},
	"explain unfiltered": {
		setup: func(f *fixture) { f.shelf.lists["openai"] = ModelList{IDs: []string{"azure/x-preview"}} },
		tool:  "explain_model_status", args: `{"model":"azure/x-preview"}`, says: []string{"does not filter it"},
	},
	"switch":         {tool: "switch_provider", args: `{"provider":"GEMINI"}`, says: []string{"is now gemini: 3 of 3"}, data: map[string]any{"provider": "gemini"}},
	"switch to same": {tool: "switch_provider", args: `{"provider":"openai"}`, says: []string{"is already openai"}},
	"switch unknown": {tool: "switch_provider", args: `{"provider":"gemni"}`, fails: "failed", says: []string{"`gemini`"}},
	"switch nothing": {tool: "switch_provider", args: `{"provider":""}`, fails: "failed", data: map[string]any{"available_providers": strs("openai", "gemini")}},
	"refresh": {
		setup: func(f *fixture) {
			f.shelf.fetched["openai"] = ModelList{IDs: append([]string{"openai/o3-preview"}, openaiModels[1:]...), Source: "live", At: clock()}
		},
		tool: "refresh_models", args: `{}`, says: []string{"10 models (source: live): 1 added, 1 gone"},
		data: map[string]any{"added_models": strs("o3-preview"), "gone_models": strs("gpt-3.5-turbo"), "total_count": 10.},
	},
	"refresh fails":   {tool: "refresh_models", args: `{}`, fails: "failed", says: []string{"connection refused", "list is unchanged", "still listed"}},
	"refresh nowhere": {tool: "refresh_models", args: `{"provider":"nowhere"}`, fails: "failed", says: []string{"There is"}},
	"save": {
		setup: func(f *fixture) { f.must(second(f.Add(Ignore, "o1"))) },
		tool:  "save_changes", args: `{}`, says: []string{"Saved 1 rule of openai to .env", "Restart the proxy to apply it."},
		data: map[string]any{"changed_count": 1., "has_unsaved_changes": false, "changed_rules": []any{
			map[string]any{"provider": "openai", "rule_type": "ignore", "pattern": "o1", "change": "added"},
		}},
	},
	"save nothing": {tool: "save_changes", args: `{}`, says: []string{"nothing to save"}},
	"save changed file": {
		setup: func(f *fixture) {
			f.must(f.Remove(Ignore, "gpt-3.5*"))
			f.must(second(f.Add(Ignore, "o1")))
			f.write(strings.Replace(plainEnv, "gpt-3.5*", "theirs", 1) + "SECRET_TOKEN=hush-hush-hush\n")
		},
		tool: "save_changes", args: `{}`, fails: "failed", says: []string{"was changed by another program", "Only the user"},
		data: map[string]any{"changed_by_others": strs("IGNORE_MODELS_OPENAI", "SECRET_TOKEN")}, rules: []string{"*-preview", "o1"},
	},
	"save impossible": {
		setup: func(f *fixture) {
			f.must(second(f.Add(Ignore, "o1")))
			f.must(os.Remove(f.path))
			f.must(os.Mkdir(f.path, 0o700))
		},
		tool: "save_changes", args: `{}`, fails: "failed", says: []string{"Nothing was saved"}, rules: []string{"*-preview", "gpt-3.5*", "o1"},
	},
	"discard": {
		setup: func(f *fixture) { f.must(f.Remove(Ignore, "*-preview")) },
		tool:  "discard_changes", args: `{}`, says: []string{"Discarded 1 rule of openai"}, rules: []string{"*-preview", "gpt-3.5*"},
	},
	"discard nothing": {tool: "discard_changes", args: `{}`, says: []string{"nothing to discard"}},
}

func TestTools(t *testing.T) {
	covered := map[string]int{}
	for name, tt := range toolCases {
		covered[tt.tool]++
		t.Run(name, func(t *testing.T) {
			env := tt.env
			if env == "" {
				env = plainEnv
			}
			f := fresh(t, env)
			if tt.setup != nil {
				tt.setup(f)
			}
			mark := int64(0)
			_, mark = f.Changes(mark)
			r := f.call(tt.tool, tt.args)
			if r.Success != (tt.fails == "") || r.ErrorCode != tt.fails {
				t.Fatalf("%s(%s) = %+v, want error code %q", tt.tool, tt.args, r, tt.fails)
			}
			for _, part := range tt.says {
				if !strings.Contains(r.Message+"\n"+r.Hint, part) {
					t.Errorf("it says %q, hint %q; want %q in it", r.Message, r.Hint, part)
				}
			}
			data := asJSON(t, r.Data)
			for key, want := range tt.data {
				got, ok := data[key]
				a, _ := json.Marshal(got)
				b, _ := json.Marshal(want)
				if !ok || string(a) != string(b) {
					t.Errorf("data[%s] = %s, want %s", key, a, b)
				}
			}
			if tt.rules != nil {
				f.wantRules(Ignore, tt.rules...)
			}
			if tt.allow != nil {
				f.wantRules(Allow, tt.allow...)
			}
			if changes, _ := f.Changes(mark); len(changes) > 0 {
				t.Errorf("what the tool did counts as the user's: %v", changes)
			}
		})
	}
	for _, tool := range toolNames {
		if covered[tool.name] < 2 {
			t.Errorf("%s has %d cases, want success and failure", tool.name, covered[tool.name])
		}
	}
}

// A change that takes an unsaved one back leaves nothing to save, and says so.
func TestResultsSayWhetherSomethingIsUnsaved(t *testing.T) {
	f := fresh(t, plainEnv)
	for _, step := range []struct{ tool, says string }{
		{"add_ignore_rule", "Not saved yet."}, {"remove_ignore_rule", "Nothing is unsaved now."},
	} {
		if r := f.call(step.tool, `{"pattern":"o1*"}`); !strings.HasSuffix(r.Message, step.says) {
			t.Errorf("%s says %q, want %q at the end", step.tool, r.Message, step.says)
		}
	}
}

func asJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if string(raw) != "null" {
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
	}
	return out
}

func TestResultsNameNoMoreThanCanBeRead(t *testing.T) {
	f := fresh(t, plainEnv)
	f.shelf.lists["openai"] = ModelList{IDs: manyModels(5000)}
	r := f.call("add_ignore_rule", `{"pattern":"m*"}`)
	data := asJSON(t, r.Data)
	if data["affected_count"] != 5000. || len(data["affected_models"].([]any)) != maxListed || data["truncated"] != true {
		t.Errorf("%v affected, truncated %v", data["affected_count"], data["truncated"])
	}
	data = asJSON(t, f.call("get_models_matching_pattern", `{"pattern":"*"}`).Data)
	if data["count"] != 5000. || len(data["models"].([]any)) != maxMatches || data["truncated"] != true || data["hidden_count"] != 5000. {
		t.Errorf("%v matched, %v hidden, truncated %v", data["count"], data["hidden_count"], data["truncated"])
	}
}

func TestPreviewsAsk(t *testing.T) {
	f := fresh(t, plainEnv)
	preview := func(name string) (string, bool) {
		t.Helper()
		for _, tool := range f.Tools() {
			if tool.Name == name {
				shown, err := tool.Preview(t.Context(), json.RawMessage("{}"))
				f.must(err)
				return string(shown.Text), shown.Ask
			}
		}
		t.Fatal(name)
		return "", false
	}
	for _, name := range []string{"save_changes", "discard_changes"} {
		if diff, ask := preview(name); ask {
			t.Errorf("%s asks about nothing: %q", name, diff)
		}
	}
	f.must(second(f.Add(Ignore, "o1")))
	f.must(f.Remove(Ignore, "gpt-3.5*"))
	diff, ask := preview("save_changes")
	want := `openai: 1 model becomes hidden
  o1

openai: 2 models become shown
  gpt-3.5-turbo
  gpt-3.5-turbo-16k

` + f.path + `
- IGNORE_MODELS_OPENAI=*-preview,gpt-3.5*
+ IGNORE_MODELS_OPENAI=*-preview,o1

! restart the proxy afterwards: it reads the rules when it starts`
	if !ask || diff != want {
		t.Errorf("save asks %v:\n%s\nwant\n%s", ask, diff, want)
	}
	diff, ask = preview("discard_changes")
	want = `These unsaved changes would be lost:
stopped hiding gpt-3.5* on openai
hid o1 on openai

openai: 2 models become hidden
  gpt-3.5-turbo
  gpt-3.5-turbo-16k

openai: 1 model becomes shown
  o1`
	if !ask || diff != want {
		t.Errorf("discard asks %v:\n%s\nwant\n%s", ask, diff, want)
	}
}

func TestNoSecretReachesTheModel(t *testing.T) {
	rich, err := os.ReadFile("testdata/rich.env")
	if err != nil {
		t.Fatal(err)
	}
	f := fresh(t, string(rich), "MISTRAL_API_KEY=sk-mistral-dddddd")
	f.must(second(f.Add(Ignore, "o1")))
	said := []any{second2(f.Context()), f.Describe(), f.Notices()}
	for name, tt := range toolCases {
		said = append(said, name, f.call(tt.tool, tt.args))
	}
	f.write(string(rich)) // the tools may have saved
	f.open()
	f.must(f.SetProvider("openai"))
	f.must(second(f.Clear(Ignore)))
	f.must(second(f.Add(Ignore, "zz")))
	f.write("OPENAI_API_KEY=sk-openai-changed\nIGNORE_MODELS_OPENAI=theirs\n")
	said = append(said, f.call("save_changes", "{}"))
	_, err = f.Save(t.Context())
	var conflict *assistant.Conflict
	if !errors.As(err, &conflict) {
		t.Fatalf("Save = %v, want a changed file", err)
	}
	said = append(said, err.Error(), conflict)
	raw, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sk-proxy", "sk-openai", "AIza", "sk-mistral"} {
		if strings.Contains(string(raw), secret) {
			t.Errorf("%s… was told", secret)
		}
	}
}

func TestFailedSaysLocked(t *testing.T) {
	if r := errorResult(errors.Join(ErrLocked)); r.ErrorCode != assistant.CodeLocked {
		t.Errorf("errorResult(ErrLocked) = %+v", r)
	}
}

// What a user confirms hides nothing, whatever the names of rules, models and providers contain.
func TestConfirmationsHideNothing(t *testing.T) {
	preview := func(f *fixture, name string) string {
		i := slices.IndexFunc(f.Tools(), func(t assistant.Tool) bool { return t.Name == name })
		shown, err := f.Tools()[i].Preview(t.Context(), nil)
		f.must(err)
		return string(shown.Text)
	}
	for _, name := range []string{"save_changes", "discard_changes"} {
		t.Run(name, func(t *testing.T) {
			at.CheckConfirmation(t, func(pattern string) string {
				f := fresh(t, plainEnv)
				if added, err := f.Add(Allow, pattern); err != nil || added.Pattern != pattern {
					return ""
				}
				return strings.ReplaceAll(preview(f, name), f.path, "the file")
			})
		})
	}
	t.Run("long pattern", func(t *testing.T) {
		f := fresh(t, plainEnv)
		_, err := f.Add(Ignore, strings.Repeat("p", maxPattern-1)+"q")
		f.must(err)
		if got := preview(f, "discard_changes"); !strings.Contains(got, "pq on ") {
			t.Errorf("the end of a long pattern is hidden in %q", got)
		}
	})
	used := func(id string) safetext.Text {
		now := clock()
		return ModelEffect{Provider: "p", Hidden: []string{id, "b"}, Used: []UsedModel{{"p/" + id, usage.Use{Requests: 1, Last: now}}}, Known: true, now: now}.inWords()[0].Sentence
	}
	t.Run("models in use", func(t *testing.T) { at.CheckConfirmation(t, func(id string) string { return string(used(id)) }) })
	t.Run("provider", func(t *testing.T) {
		at.CheckConfirmation(t, func(name string) string { return string(ModelEffect{Provider: name}.inWords()[0].Sentence) })
	})
}
