package modelfilter

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// TestMain collects garbage less often: a fifth of the time went into it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// operatorFacts are what is known of the models of the operators' window: output price,
// context, requests, days since the last use (-1: never), status and release date. Of models
// without a line nothing is known.
var operatorFacts = map[string]struct {
	price          float64
	context        int
	requests, idle int
	status         llm.Status
	released       string
}{
	"gpt-5.6-sol":                {30, 400_000, 900, 0, llm.StatusActive, "2026-08-01"},
	"gpt-5.6-luna":               {12, 400_000, 400, 1, llm.StatusActive, "2026-08-01"},
	"gpt-5.5":                    {10, 400_000, 1204, 0, llm.StatusActive, "2026-03-01"},
	"gpt-5-mini":                 {2, 400_000, 5000, 0, llm.StatusActive, "2025-08-07"},
	"gpt-5-nano":                 {0.4, 400_000, 3000, 0, llm.StatusActive, "2025-08-07"},
	"gpt-4o":                     {10, 128_000, 800, 2, llm.StatusActive, "2024-05-13"},
	"gpt-4o-mini":                {0.6, 128_000, 2000, 1, llm.StatusActive, "2024-07-18"},
	"gpt-4-turbo":                {30, 128_000, 3, 100, llm.StatusDeprecated, "2024-04-09"},
	"gpt-4":                      {60, 8_192, 0, -1, llm.StatusDeprecated, "2023-03-14"},
	"gpt-3.5-turbo":              {1.5, 16_385, 0, -1, llm.StatusDeprecated, "2022-11-30"},
	"o3":                         {8, 200_000, 60, 12, llm.StatusActive, "2025-04-16"},
	"o3-mini":                    {4.4, 200_000, 0, -1, llm.StatusActive, "2025-01-31"},
	"text-embedding-3-large":     {0.1, 8_191, 70, 3, llm.StatusActive, "2024-01-25"},
	"claude-opus-4-8":            {75, 200_000, 77, 1, llm.StatusActive, "2026-05-01"},
	"claude-sonnet-5":            {15, 1_000_000, 700, 0, llm.StatusActive, "2026-06-01"},
	"claude-sonnet-4-5-20250929": {15, 200_000, 0, -1, llm.StatusActive, "2025-09-29"},
	"claude-haiku-4-5-20251001":  {5, 200_000, 40, 20, llm.StatusActive, "2025-10-01"},
	"gemini-3.6-flash":           {3, 1_000_000, 300, 0, llm.StatusActive, "2026-07-01"},
	"gemini-2.5-flash":           {2.5, 1_000_000, 0, -1, llm.StatusDeprecated, "2025-06-17"},
	"gemini-2.5-pro":             {10, 1_000_000, 10, 45, llm.StatusActive, "2025-06-17"},
	"grok-4":                     {15, 256_000, 5, 8, llm.StatusActive, "2025-07-09"},
	"grok-4-fast":                {0.5, 2_000_000, 0, -1, llm.StatusActive, "2025-09-19"},
	"grok-3-mini":                {0.5, 131_072, 0, -1, llm.StatusActive, "2025-02-17"},
}

// operatorModels are the models of the operators' window by provider.
var operatorModels = map[string]string{
	"openai": "gpt-5.6-sol gpt-5.6-luna gpt-5.5 gpt-5-mini gpt-5-nano gpt-4o gpt-4o-mini gpt-4o-2024-08-06 gpt-4o-audio-preview gpt-4-turbo-preview gpt-4-turbo gpt-4 " +
		"gpt-3.5-turbo gpt-3.5-turbo-16k o3 o3-mini text-embedding-3-large whisper-1 dall-e-3 gpt-image-1 chatgpt-4o-latest",
	"anthropic": "claude-opus-4-8 claude-sonnet-5 claude-sonnet-4-5-20250929 claude-haiku-4-5-20251001 claude-fable-5-preview",
	"gemini":    "gemini-3.6-flash gemini-2.5-flash gemini-2.5-flash-lite gemini-3.1-pro-preview gemini-2.5-pro gemini-nano-1",
	"xai":       "grok-4 grok-4-fast grok-3-mini",
}

// operator talks to the offline model over a window of its own.
type operator struct {
	*fixture
	session *assistant.Session
}

// newOperator opens a window; others are models in place of operatorModels.
func newOperator(t *testing.T, others ...map[string]string) *operator {
	t.Helper()
	listed := maps.Clone(operatorModels)
	for _, o := range others {
		maps.Copy(listed, o)
	}
	f := &fixture{t: t, path: filepath.Join(t.TempDir(), ".env"), shelf: &shelf{lists: map[string]ModelList{}, fetched: map[string]ModelList{}}}
	env := "IGNORE_MODELS_OPENAI=*-preview,gpt-3.5*\nWHITELIST_MODELS_OPENAI=gpt-4o\n"
	for _, provider := range slices.Sorted(maps.Keys(listed)) {
		if listed[provider] != "" {
			env += strings.ToUpper(provider) + "_API_KEY=k\n"
		}
	}
	f.write(env)
	dir := filepath.Dir(f.path)
	f.must(os.Mkdir(filepath.Join(dir, "usage"), 0o700))
	for provider, names := range listed {
		list, use := ModelList{Provider: provider, Source: "live"}, map[string]any{}
		for name := range strings.FieldsSeq(names) {
			list.IDs = append(list.IDs, provider+"/"+name)
			if fact := operatorFacts[name]; fact.idle >= 0 && fact.requests > 0 {
				last := clock().AddDate(0, 0, -fact.idle).Unix()
				use[name] = map[string]any{"totals": map[string]any{"request_count": fact.requests, "last_used_at": last - 60}}
			}
		}
		f.shelf.lists[provider] = list
		text, err := json.Marshal(map[string]any{"schema_version": 2, "credentials": map[string]any{"c": map[string]any{"model_usage": use}}})
		f.must(err)
		f.must(os.WriteFile(filepath.Join(dir, "usage", "usage_"+provider+".json"), text, 0o600))
	}
	o := f.options()
	o.Usage = usage.Open(dir, nil)
	o.Describe = func(id string) (llm.ModelInfo, bool) {
		_, name, _ := strings.Cut(id, "/")
		fact, known := operatorFacts[name]
		if !known {
			return llm.ModelInfo{}, false
		}
		tools := llm.Able
		if strings.Contains(name, "embedding") {
			tools = llm.Unable
		}
		return llm.ModelInfo{Context: fact.context, Known: true, Facts: llm.Facts{PriceOut: llm.PriceOf(fact.price), ToolCalls: tools, Status: fact.status, Released: fact.released}}, true
	}
	w, err := Open(t.Context(), o)
	f.must(err)
	f.Window = w
	f.must(w.SetProvider("openai"))
	return &operator{f, talk(t, f)}
}

// say sends a message and returns what it changes and the answer, with the requests it offers.
func (o *operator) say(text string) (did, answer string) {
	o.t.Helper()
	events, _ := say(o.t, o.session, text)
	var calls []string
	for _, e := range assistanttest.Only[assistant.ToolStart](events) {
		var a map[string]any
		o.must(json.Unmarshal(e.Input, &a))
		if call := shortCall(e.Tool, a); call != "" {
			calls = append(calls, call)
		}
	}
	answer = assistanttest.EventText(events)
	for _, e := range assistanttest.Only[assistant.ToolComplete](events) {
		if e.Payload != nil && e.Payload.Type == PayloadProposal {
			answer += "\nproposal: " + string(e.Payload.Data)
		}
	}
	done := assistanttest.Only[assistant.Complete](events)
	if len(done) != 1 {
		o.t.Fatalf("%q does not complete: %v", text, events)
	}
	for _, v := range done[0].Payload.Values {
		if strings.Contains(answer, string("- `"+v.Value+"`")) || strings.EqualFold(string(v.Value), text) {
			o.t.Errorf("%q: %q is offered twice, or is what was said:\n%s", text, v.Value, answer)
		}
		answer += "\nchip: " + string(v.Value) + "\nlabel: " + string(v.Label)
	}
	return strings.Join(calls, " "), answer
}

// shown are the names of a provider's models that are not hidden.
func (o *operator) shown(provider string) string {
	s, err := o.On(provider)
	o.must(err)
	var names []string
	for _, m := range s.Models() {
		if m.Status != engine.Ignored {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// wants fails unless the answer has each of the phrases.
func (o *operator) wants(answer string, phrases ...string) {
	o.t.Helper()
	for _, p := range phrases {
		if !strings.Contains(answer, p) {
			o.t.Errorf("the answer lacks %q:\n%s", p, answer)
		}
	}
}

// shortCall writes a call that changes something: "openai+ignore(*mini*)"; "" for others.
func shortCall(name string, a map[string]any) string {
	signs := map[string]string{
		"add_ignore_rule": "+ignore", "remove_ignore_rule": "-ignore", "add_whitelist_rule": "+allow", "remove_whitelist_rule": "-allow",
		"clear_all_ignore_rules": "-ignore(all)", "clear_all_whitelist_rules": "-allow(all)",
	}
	switch sign := signs[name]; {
	case strings.HasSuffix(sign, ")"):
		return fmt.Sprint(a["provider"], sign)
	case sign != "":
		return fmt.Sprintf("%v%s(%v)", a["provider"], sign, a["pattern"])
	case name == "undo":
		return fmt.Sprintf("undo(%v)", a["steps"])
	case name == "save_changes" || name == "discard_changes":
		return strings.TrimSuffix(name, "_changes") + "()"
	case name == "switch_provider" || name == "refresh_models":
		return fmt.Sprintf("%s(%v)", name[:strings.Index(name, "_")], a["provider"])
	}
	return ""
}

// TestOperatorsDays says the sentences of testdata/sentences.txt to the offline model in a
// window: at least 80 do what was meant or propose it, none does something else, and none
// changes what nobody asked for.
func TestOperatorsDays(t *testing.T) {
	text, err := os.ReadFile("testdata/sentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]int{}
	var o *operator
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" {
			o = nil
		}
		part := strings.SplitN(line, "|", 3)
		if strings.HasPrefix(line, "#") || len(part) < 3 {
			continue
		}
		verdict, want, said := strings.TrimSpace(part[0]), strings.TrimSpace(part[1]), strings.TrimSpace(part[2])
		if o == nil {
			o = newOperator(t)
		}
		before := fmt.Sprint(o.Diff())
		did, answer := o.say(said)
		verdicts["all"]++
		if !does(did, answer, want) {
			if verdict = "wrong"; fmt.Sprint(o.Diff()) != before || strings.Contains(did, "save") {
				verdict = "harmful"
			}
			t.Errorf("%q does %q, want %q:\n%s", said, did, want, answer)
		}
		if verdicts[verdict]++; strings.Count(answer, "\nchip: ") > 3 || strings.Contains(answer, "I'll ") || strings.Contains(answer, "I understood") {
			t.Errorf("%q is answered\n%s", said, answer)
		}
	}
	if verdicts["all"] < 120 || verdicts["good"]+verdicts["proposal"] < 80 || verdicts["wrong"]+verdicts["harmful"] > 0 {
		t.Errorf("verdicts: %v", verdicts)
	}
	t.Logf("verdicts: %v", verdicts)
}

// does reports whether an answer does what is wanted.
func does(did, answer, want string) bool {
	want, value, _ := strings.Cut(want, " ")
	proposes := strings.Contains(answer, "\nproposal: ")
	switch want {
	case "ask":
		return did == "" && proposes
	case "offer":
		return did == "" && !proposes && !strings.Contains(answer, "- `"+value+"`") && slices.Contains(strings.Split(answer, "\n"), "chip: "+value)
	case "says":
		return did == "" && !proposes && strings.Contains(answer, value)
	case "unhide": // some rules change
		return strings.Contains(did, "ignore(") || strings.Contains(did, "allow(")
	}
	return did == strings.TrimSpace(want+" "+value)
}
