package modelfilter

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"winnow/adapters/modelfilter/usage"
	"winnow/assistant"
	"winnow/assistant/safetext"
)

const secretKey, secretName = "sk-secret-0123456789", "credential-of-anna"

// writeUse writes the usage file of openai: requests and the age of the last use by model.
func writeUse(t *testing.T, w *Window, uses map[string]time.Duration) {
	t.Helper()
	models := map[string]any{}
	for model, age := range uses {
		models[model] = map[string]any{"totals": map[string]any{
			"request_count": 1204, "first_used_at": clock().AddDate(-1, 0, 0).Unix(), "last_used_at": clock().Add(-age).Unix(),
		}}
	}
	text, err := json.Marshal(map[string]any{"schema_version": 2, "credentials": map[string]any{
		secretName: map[string]any{"accessor": secretKey, "model_usage": models},
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(w.EnvFile()), "usage", "usage_openai.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	// A file that is written twice within the resolution of the clock has the same time.
	if info, err := os.Stat(path); err != nil || os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Duration(len(uses))*time.Second)) != nil {
		t.Fatal(err)
	}
}

// TestUsedModelsAreNamedWhereverModelsAreHidden hides a used model in every way and expects
// its use in what is said of it, before a save as after.
func TestUsedModelsAreNamedWhereverModelsAreHidden(t *testing.T) {
	const want = "1 of them was used in the last 7 days: gpt-4 (last used 2 h ago, 1,204 requests in all)"
	pattern := Rule{Ignore, "gpt-4*"}
	proposal := json.RawMessage(`{"provider":"openai","add_ignore":["gpt-4*"],"reasoning":"r"}`)
	for name, say := range map[string]func(w *Window) (any, error){
		"user's edit": func(w *Window) (any, error) {
			_, revision := w.Snapshot()
			return w.Act(t.Context(), AddRule{"openai", pattern}, revision)
		},
		"user's import": func(w *Window) (any, error) {
			_, revision := w.Snapshot()
			return w.Act(t.Context(), ImportRules{Provider: "openai", Lists: [2][]string{Ignore: {"gpt-4*"}}}, revision)
		},
		"tool": func(w *Window) (any, error) { return callTool(w, "add_ignore_rule", `{"pattern":"gpt-4*"}`), nil },
		"import tool": func(w *Window) (any, error) {
			return callTool(w, "import_rules", `{"ignore":["gpt-4*"],"mode":"merge"}`), nil
		},
		"proposal": func(w *Window) (any, error) { return w.proposalEffects(proposal) },
		"plan": func(w *Window) (any, error) {
			if _, err := w.Add(Ignore, "gpt-4*"); err != nil {
				return nil, err
			}
			plan, err := w.PlanSave(t.Context(), "")
			return plan.Lines(""), err
		},
		"question of the save tool": func(w *Window) (any, error) {
			if _, err := w.Add(Ignore, "gpt-4*"); err != nil {
				return nil, err
			}
			return w.previewSave(t.Context(), nil)
		},
		"preview": func(w *Window) (any, error) {
			w.readUse("")
			s := w.Scope.snapshot()
			return s.UsedText(s.Preview(Ignore, "gpt-4*").Hidden), nil
		},
		"command": func(w *Window) (any, error) { return w.UsedText(w.Preview(Ignore, "gpt-4*").Hidden), nil },
		"lint": func(w *Window) (any, error) {
			_, err := w.Add(Ignore, "gpt-4*")
			return w.UseFindings(), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openFind(t, "OPENAI_API_KEY=k\n")
			writeUse(t, w, map[string]time.Duration{"openai/gpt-4": 2 * time.Hour, "gpt-4-turbo": 8 * 24 * time.Hour, "openai/o1": time.Hour})
			said, err := say(w)
			if text := fmt.Sprint(said); err != nil || !strings.Contains(text, want) {
				t.Errorf("said %q, %v; want %q in it", text, err, want)
			} else if strings.Contains(text, "secret") || strings.Contains(text, secretName) {
				t.Errorf("a key or the name of a credential is said: %q", text)
			}
		})
	}
}

// callTool calls a tool of the window as a language model does.
func callTool(w *Window, name, args string) assistant.ToolResult {
	for _, tool := range w.Tools() {
		if tool.Name == name {
			return tool.Call(context.Background(), json.RawMessage(args), nil)
		}
	}
	return assistant.ToolResult{}
}

func TestListRulesWithoutRules(t *testing.T) {
	w := openFind(t, "OPENAI_API_KEY=k\n")
	for args, want := range map[string]string{`{}`: "No rules on any provider.", `{"list":"whitelist"}`: "No allow rules on any provider.", `{"provider":"openai"}`: "No rules on openai."} {
		if r := callTool(w, "list_rules", args); r.Message != want {
			t.Errorf("list_rules %s: %q, want %q", args, r.Message, want)
		}
	}
}

func TestAnImportThatOnlyRemovesRulesSaysSo(t *testing.T) {
	w := openFind(t, "OPENAI_API_KEY=k\nIGNORE_MODELS_OPENAI=gpt-4,o1\n")
	r := callTool(w, "import_rules", `{"provider":"openai","mode":"replace","ignore":[],"whitelist":["a,b"]}`)
	if !r.Success || !strings.Contains(r.Message, "0 added, 0 kept, 1 refused, 2 removed") || !w.Dirty() {
		t.Errorf("import %+v, unsaved %t", r, w.Dirty())
	}
	r = callTool(w, "import_rules", `{"provider":"openai","mode":"replace","whitelist":["a,b"]}`)
	if r.Success || !strings.Contains(r.Message, "the rules of openai are unchanged") {
		t.Errorf("import %+v", r)
	}
}

func TestUsedModelsComeFirstInAPlan(t *testing.T) {
	w := openFind(t, "OPENAI_API_KEY=k\n")
	writeUse(t, w, map[string]time.Duration{"gpt-4o": time.Hour, "gpt-4-turbo": time.Minute})
	if _, err := w.Add(Ignore, "gpt*"); err != nil {
		t.Fatal(err)
	}
	plan, err := w.PlanSave(t.Context(), "")
	if err != nil || len(plan.Effects) == 0 || len(plan.Effects[0].Items) < 3 || strings.Join(plan.Effects[0].Items[:2], " ") != "gpt-4-turbo gpt-4o" {
		t.Fatalf("effects %+v, %v", plan.Effects, err)
	}
	digest := plan.Digest
	writeUse(t, w, map[string]time.Duration{"o1": time.Hour})
	if plan, err = w.PlanSave(t.Context(), ""); err != nil || strings.Contains(text(plan), "used") || plan.Digest != digest {
		t.Errorf("after the file has changed: %q, digest %s, %v; the use is no part of what is saved", plan.Lines(""), plan.Digest, err)
	}
}

func TestADiscardThatHidesUsedModelsNamesThem(t *testing.T) {
	w := openFind(t, "OPENAI_API_KEY=k\nIGNORE_MODELS_OPENAI=gpt-4*\n")
	writeUse(t, w, map[string]time.Duration{"gpt-4": time.Hour})
	if err := w.Remove(Ignore, "gpt-4*"); err != nil {
		t.Fatal(err)
	}
	if text := string(safetext.Join(w.PlanDiscard("").DiscardLines(""), "\n")); !strings.Contains(text, "1 of them was used") {
		t.Errorf("said %q", text)
	}
	if plan, err := w.PlanSave(t.Context(), ""); err != nil || strings.Contains(text(plan), "used") {
		t.Errorf("a save that shows it says %q, %v", plan.Lines(""), err)
	}
}

func TestUseFindings(t *testing.T) {
	w := openFind(t, "OPENAI_API_KEY=k\nIGNORE_MODELS_OPENAI=*turbo*\n")
	day := 24 * time.Hour
	writeUse(t, w, map[string]time.Duration{"gpt-4-turbo": day, "gpt-4": 89 * day, "gpt-4o": 91 * day})
	f := w.UseFindings()
	if len(f.Rules) != 1 || f.Rules[0].Pattern != "*turbo*" || !strings.Contains(string(f.Rules[0].Text), "gpt-4-turbo (last used 24 h ago, 1,204 requests in all)") {
		t.Errorf("rules %+v", f.Rules)
	}
	if got := strings.Join(f.Unused, " "); !strings.Contains(got, "openai/gpt-4o ") || strings.Contains(got, "openai/gpt-4 ") || strings.Contains(got, "turbo") {
		t.Errorf("unused %q", got)
	}
	if w, err := w.On("gemini"); err == nil {
		if f := w.UseFindings(); f.Known || len(f.Unused) != 0 {
			t.Errorf("a provider without a file: %+v", f)
		}
	}
}

// TestAShortCountSaysNothingOfThreeMonths: a proxy that has counted for a month cannot know.
func TestAShortCountSaysNothingOfThreeMonths(t *testing.T) {
	w := openFind(t, "OPENAI_API_KEY=k\n")
	text := fmt.Sprintf(`{"schema_version":2,"credentials":{"c":{"model_usage":{"gpt-4":{"totals":{"request_count":1,"first_used_at":%d,"last_used_at":%[1]d}}}}}}`, clock().AddDate(0, -1, 0).Unix())
	if err := os.WriteFile(filepath.Join(filepath.Dir(w.EnvFile()), "usage", "usage_openai.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := w.UseFindings(); !f.Known || len(f.Unused) != 0 {
		t.Errorf("%+v", f)
	}
}

func TestABrokenUsageFileIsSaidInTheSnapshot(t *testing.T) {
	w := openFind(t, "OPENAI_API_KEY=k\n")
	path := filepath.Join(filepath.Dir(w.EnvFile()), "usage", "usage_openai.json")
	if err := os.WriteFile(path, []byte(`{"`+secretKey), 0o600); err != nil {
		t.Fatal(err)
	}
	w.readUse("")
	if s := w.Scope.snapshot(); !strings.Contains(s.UseProblem, "usage_openai.json") || strings.Contains(s.UseProblem, secretKey) {
		t.Errorf("said %q", s.UseProblem)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if w.readUse(""); w.Scope.snapshot().UseProblem != "" {
		t.Errorf("without the file: %q", w.Scope.snapshot().UseProblem)
	}
}

func TestUsedText(t *testing.T) {
	now := clock()
	used := func(n int64, age time.Duration) UsedModel {
		return UsedModel{"openai/m", usage.Use{Requests: n, Last: now.Add(-age)}}
	}
	for want, got := range map[safetext.Text]safetext.Text{
		"": usedText("openai", nil, 3, now),
		"it was last used 3 days ago, with 1 request in all": usedText("openai", []UsedModel{used(1, 80*time.Hour)}, 1, now),
		"4 of them were used in the last 7 days: m (last used just now, 12 requests in all), m (last used 5 min ago, 1,234,567 requests in all), m (last used 47 h ago, 0 requests in all), 1 more": usedText("openai",
			[]UsedModel{used(12, 0), used(1234567, 5*time.Minute), used(0, 47*time.Hour), used(2, 48*time.Hour)}, 9, now),
	} {
		if got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}
