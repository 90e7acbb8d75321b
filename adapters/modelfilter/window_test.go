package modelfilter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/adapters/dotenv"
	"winnow/assistant"
)

// shelf is a source of models that tests fill.
type shelf struct {
	lists   map[string]ModelList
	fetched map[string]ModelList // what the network says; missing: it fails
	seen    []string
	keeps   bool // Cached knows what was fetched, as models.Lists does
}

func (s *shelf) Cached(provider string) (ModelList, bool) {
	list, ok := s.lists[provider]
	if !ok { // as models.Lists answers
		list = ModelList{Provider: provider, Source: "catalogue"}
	}
	return list, ok
}

func (s *shelf) Models(_ context.Context, provider string) (ModelList, error) {
	if list, ok := s.fetched[provider]; ok {
		if s.keeps {
			s.lists[provider] = list
		}
		return list, nil
	}
	return ModelList{}, errors.New("connection refused")
}

func (s *shelf) MarkSeen(provider string) error {
	s.seen = append(s.seen, provider)
	return nil
}

var (
	openaiModels = []string{
		"openai/gpt-3.5-turbo", "openai/gpt-3.5-turbo-16k", "openai/gpt-4", "openai/gpt-4-turbo", "openai/gpt-4-turbo-preview",
		"openai/gpt-4o", "openai/gpt-4o-mini", "openai/gpt-4o-preview", "openai/o1", "openai/o1-preview",
	}
	geminiModels = []string{"gemini/gemini-1.0-pro", "gemini/gemini-2.0-flash", "gemini/gemini-2.0-flash-preview"}
)

func newShelf() *shelf {
	return &shelf{
		lists: map[string]ModelList{
			"openai": {Provider: "openai", IDs: openaiModels, Source: "cache", At: clock(), New: []string{"openai/o1"}},
			"gemini": {Provider: "gemini", IDs: geminiModels, Source: "catalogue"},
		},
		fetched: map[string]ModelList{},
	}
}

// clock is the moment at which all tests happen.
func clock() time.Time { return time.Date(2026, 11, 21, 14, 32, 15, 0, time.UTC) }

// fixture is a window over a file of its own.
type fixture struct {
	*Window
	t     *testing.T
	path  string
	shelf *shelf
	env   []string
}

// fresh opens a window over a file with this text; "" is no file.
func fresh(t *testing.T, text string, env ...string) *fixture {
	t.Helper()
	f := &fixture{t: t, path: filepath.Join(t.TempDir(), ".env"), shelf: newShelf(), env: env}
	if text != "" {
		f.write(text)
	}
	f.open()
	return f
}

// Save, PlanSave and Discard are those of the window for a user who was shown nothing.
func (f *fixture) Save(ctx context.Context) (assistant.Saved, error) {
	return f.Window.Save(ctx, assistant.Basis{})
}

func (f *fixture) PlanSave(ctx context.Context) (assistant.SavePlan, error) {
	return f.Window.PlanSave(ctx, "")
}

func (f *fixture) Discard() ([]assistant.Change, error) {
	return f.Window.Discard(assistant.Basis{})
}

// open opens the file anew.
func (f *fixture) open() {
	f.t.Helper()
	w, err := Open(f.t.Context(), f.options())
	if err != nil {
		f.t.Fatalf("Open: %v", err)
	}
	f.Window = w
}

func (f *fixture) options() Options {
	return Options{
		EnvFile: f.path, Environ: func() []string { return f.env }, Models: f.shelf,
		VersionsDir: filepath.Join(filepath.Dir(f.path), "versions"), Now: clock,
		Session: func() string { return "session-1" },
	}
}

func (f *fixture) write(text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) file() string {
	f.t.Helper()
	data, err := os.ReadFile(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

// call runs a tool as a turn does: with the window locked.
func (f *fixture) call(name, args string) assistant.ToolResult {
	f.t.Helper()
	for _, tool := range f.Tools() {
		if tool.Name == name {
			f.Lock()
			defer f.Unlock()
			return tool.Run(f.t.Context(), json.RawMessage(args))
		}
	}
	f.t.Fatalf("there is no tool %s", name)
	return assistant.ToolResult{}
}

func (f *fixture) patterns(list List) []string {
	out := []string{}
	for _, r := range f.Rules(list) {
		out = append(out, r.Pattern)
	}
	return out
}

func (f *fixture) wantRules(list List, want ...string) {
	f.t.Helper()
	if got := f.patterns(list); !slices.Equal(got, want) {
		f.t.Errorf("%s rules = %q, want %q", list, got, want)
	}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// plainEnv is a small file with rules.
const plainEnv = "OPENAI_API_KEY=sk-aaaaaaaaaaaa\nGEMINI_API_KEY=AIza-bbbbbbbb\nIGNORE_MODELS_OPENAI=*-preview,gpt-3.5*\nWHITELIST_MODELS_OPENAI=gpt-4o-preview\n"

// Clear stages an empty list.
func (f *fixture) Clear(list List) ([]Imported, error) {
	in := Import{Replace: true}
	in.Lists[list] = []string{}
	return f.Import(in)
}

func TestOpenFindsProvidersAndRules(t *testing.T) {
	rich, err := os.ReadFile("testdata/rich.env")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		text    string
		env     []string
		want    []string // providers, the first ones
		current string
		more    bool // those that are well known follow
	}{
		"rich file":            {string(rich), nil, []string{"openai", "gemini"}, "openai", false},
		"rules, then keys":     {"GROQ_API_KEY=k\nIGNORE_MODELS_OPENAI=a\n", nil, []string{"groq", "openai"}, "openai", false},
		"rules with a key":     {"IGNORE_MODELS_OPENAI=a\nGROQ_API_KEY=k\nIGNORE_MODELS_GROQ=a\n", nil, []string{"openai", "groq"}, "groq", false},
		"environment":          {"GEMINI_API_KEY=\n", []string{"MISTRAL_API_KEY_2=x", "PROXY_API_KEY=y"}, []string{"gemini", "mistral"}, "mistral", false},
		"only rules":           {"WHITELIST_MODELS_Groq=a\n", nil, []string{"groq"}, "groq", true},
		"no key, openai there": {"IGNORE_MODELS_GROQ=a\nIGNORE_MODELS_OPENAI=a\n", nil, []string{"groq", "openai"}, "groq", true},
		"key without value":    {"GROQ_API_KEY=\nGEMINI_API_KEY=x\n", nil, []string{"groq", "gemini"}, "gemini", false},
		"bare keys are names":  {"GROQ_API_KEY\n", nil, []string{"groq"}, "groq", false},
		"nothing of a name":    {"_API_KEY=x\nIGNORE_MODELS_=a\nPROXY_API_KEY=p\nGROQ_API_KEY=x\n", nil, []string{"groq"}, "groq", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := fresh(t, tt.text, tt.env...)
			var got []string
			for _, p := range f.Providers() {
				got = append(got, p.Name)
			}
			more := len(got) > len(tt.want)
			if got = got[:min(len(got), len(tt.want))]; !slices.Equal(got, tt.want) || more != tt.more || f.Provider() != tt.current {
				t.Errorf("providers = %q, current %q; want %q, %q", got, f.Provider(), tt.want, tt.current)
			}
		})
	}
}

// After a turn the provider is one whose rules it has changed, unless it switched itself.
func TestTheWindowFollowsATurn(t *testing.T) {
	for _, tt := range []struct{ calls, want string }{
		{"add_ignore_rule gemini", "gemini"},
		{"add_ignore_rule gemini, add_ignore_rule openai", "openai"},
		{"add_ignore_rule gemini, switch_provider openai", "gemini"}, // it was the provider already
		{"add_ignore_rule openai, switch_provider gemini", "gemini"},
		{"get_models_matching_pattern gemini", "openai"},
	} {
		f := fresh(t, "OPENAI_API_KEY=k\nGEMINI_API_KEY=k\n")
		f.Lock()
		for _, call := range strings.Split(tt.calls, ", ") {
			name, provider, _ := strings.Cut(call, " ")
			args := fmt.Sprintf(`{"pattern":"o1*","provider":%q}`, provider)
			if name == "switch_provider" {
				args = fmt.Sprintf(`{"provider":%q}`, provider)
			}
			i := slices.IndexFunc(f.Tools(), func(tool assistant.Tool) bool { return tool.Name == name })
			if r := f.Tools()[i].Run(t.Context(), json.RawMessage(args)); !r.Success {
				t.Fatalf("%s: %+v", call, r)
			}
		}
		f.Unlock()
		if f.Provider() != tt.want {
			t.Errorf("after %s the provider is %s, want %s", tt.calls, f.Provider(), tt.want)
		}
	}
}

// A variable that winnow's own settings name for a key makes no provider, unless the file
// has it too.
func TestAKeyOfWinnowItselfIsNoProvider(t *testing.T) {
	for text, want := range map[string]string{"GROQ_API_KEY=k\n": "groq", "GROQ_API_KEY=k\nLOCAL_2_API_KEY=k\n": "groq local_2"} {
		path := filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(t.Context(), Options{EnvFile: path, OwnKeys: []string{"LOCAL_2_API_KEY"}, Environ: func() []string { return []string{"LOCAL_2_API_KEY=mine"} }})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range f.Providers() {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: providers %s, want %s", text, got, want)
		}
	}
}

func TestOpenWithoutAFileOffersTheWellKnownProviders(t *testing.T) {
	f := fresh(t, "")
	var names []string
	for _, p := range f.Providers() {
		names = append(names, p.Name)
	}
	if f.Provider() != "openai" || !slices.Contains(names, "anthropic") || !slices.Contains(names, "gemini") {
		t.Fatalf("current %q of %q", f.Provider(), names)
	}
	if _, err := f.Add(Ignore, "*-preview"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.file(); got != "IGNORE_MODELS_OPENAI='*-preview'\n" {
		t.Errorf("file = %q", got)
	}
	if names := f.Providers(); len(names) < 10 || names[0].Name != "openai" {
		t.Errorf("after the save the providers are %v", names)
	}
	before := stateOf(t, f.Window)
	f.must(f.SetProvider("gemini"))
	f.must(second(f.Add(Ignore, "x")))
	f.must(f.Apply(json.RawMessage(before)))
	if names := f.Providers(); len(names) < 10 || f.Provider() != "openai" {
		t.Errorf("after a rollback the providers are %v", names)
	}
}

func TestOpenSaysWhatIsWrongWithTheFile(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x\nthis is = not \"a line\n")
	if n := strings.Join(f.Notices(), "\n"); !strings.Contains(n, f.path+":2:") {
		t.Errorf("notices = %q, want the file and line 2", n)
	}
	dir := t.TempDir()
	if _, err := Open(t.Context(), Options{EnvFile: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open of a folder = %v, want an error that names it", err)
	}
}

func TestTheEnvironmentWins(t *testing.T) {
	f := fresh(t, plainEnv, "IGNORE_MODELS_OPENAI=gpt-4*,o1")
	f.wantRules(Ignore, "gpt-4*", "o1")
	f.wantRules(Allow, "gpt-4o-preview")
	r := f.Rules(Ignore)[0]
	if r.Source != "the environment" || !r.Fixed || r.Unsaved {
		t.Errorf("rule = %+v, want it fixed and from the environment", r)
	}
	if r := f.Rules(Allow)[0]; r.Source != ".env:4" || r.Fixed {
		t.Errorf("allow rule = %+v, want it from .env:4", r)
	}
	_, err := f.Add(Ignore, "x")
	var fixed *FixedError
	if !errors.As(err, &fixed) || !strings.Contains(err.Error(), "IGNORE_MODELS_OPENAI") || !strings.Contains(err.Error(), "unset") {
		t.Errorf("Add = %v, want a refusal with the variable and the way out", err)
	}
	for name, err := range map[string]error{
		"Check":  second(f.Check(Ignore, "x")),
		"Remove": f.Remove(Ignore, "o1"),
		"Clear":  second(f.Clear(Ignore)),
		"Import": second(f.Import(Import{Lists: [2][]string{Ignore: {"y"}}})),
	} {
		if !errors.As(err, &fixed) {
			t.Errorf("%s = %v, want a *FixedError", name, err)
		}
	}
	for tool, args := range map[string]string{
		"add_ignore_rule": `{"pattern":"x"}`, "remove_ignore_rule": `{"pattern":"o1"}`, "clear_all_ignore_rules": `{}`,
		"import_rules": `{"ignore":["x"],"mode":"merge"}`,
	} {
		if r := f.call(tool, args); r.Success || !strings.Contains(r.Message, "IGNORE_MODELS_OPENAI") {
			t.Errorf("%s = %+v, want the refusal", tool, r)
		}
	}
	if _, err := f.Add(Allow, "o1"); err != nil {
		t.Errorf("the other list: %v", err)
	}
	if f.Explain("openai/gpt-4").Rule != "gpt-4*" || f.Explain("openai/gpt-3.5-turbo").Rule != "" {
		t.Error("the models are not those of the environment's rules")
	}
	if got := f.Expected(); len(got) != 4 {
		t.Errorf("Expected = %q, want the 4 that the environment's rules leave", got)
	}
	if raw, _ := json.Marshal(second2(f.Context())); !strings.Contains(string(raw), "IGNORE_MODELS_OPENAI") {
		t.Error("the model is not told")
	}
	// The rules of the file stay the state, whatever the environment says.
	if raw := stateOf(t, f.Window); !strings.Contains(raw, "gpt-3.5*") || strings.Contains(raw, `"gpt-4*"`) {
		t.Errorf("state = %s", raw)
	}
	f.must(second(f.Save(t.Context())))
	if want := plainEnv[:len(plainEnv)-1] + ",o1\n"; f.file() != want {
		t.Errorf("file = %q, want %q", f.file(), want)
	}
}

func TestAnotherFileGivesRules(t *testing.T) {
	f := fresh(t, "OPENAI_API_KEY=x\n")
	f.must(os.WriteFile(filepath.Join(filepath.Dir(f.path), "more.env"), []byte("\nIGNORE_MODELS_OPENAI=o1,gpt-4\n"), 0o600))
	f.open()
	f.wantRules(Ignore, "o1", "gpt-4")
	if r := f.Rules(Ignore)[0]; r.Source != "more.env:2" || r.Unsaved {
		t.Errorf("rule = %+v, want it from more.env:2", r)
	}
	big := filepath.Join(filepath.Dir(f.path), "big.env")
	f.must(os.WriteFile(big, nil, 0o600))
	f.must(os.Truncate(big, dotenv.MaxSize+1))
	f.must(second(f.Clear(Ignore)))
	f.must(second(f.Save(t.Context())))
	if n := strings.Join(f.Notices(), "\n"); !strings.Contains(n, "cannot read: dotenv: "+big) {
		t.Errorf("notices = %q, want one about %s", n, big)
	}
	f.open()
	f.wantRules(Ignore)
	if f.Dirty() {
		t.Error("dirty after the save")
	}
}

func TestRulesMadeOfVariablesAreNotEdited(t *testing.T) {
	f := fresh(t, "OLD=gpt-3.5*\nIGNORE_MODELS_OPENAI=${OLD},o1\n")
	f.wantRules(Ignore, "gpt-3.5*", "o1")
	if _, err := f.Add(Ignore, "x"); err == nil || !strings.Contains(err.Error(), ".env:2") {
		t.Errorf("Add = %v, want a refusal with the line", err)
	}
}

func TestNamesInSeveralCasesAreOneList(t *testing.T) {
	f := fresh(t, "IGNORE_MODELS_OpenAI=a\nIGNORE_MODELS_OPENAI=b\nOTHER=1\n")
	f.wantRules(Ignore, "b")
	f.must(second(f.Add(Ignore, "c")))
	f.must(second(f.Save(t.Context())))
	if got := f.file(); got != "IGNORE_MODELS_OPENAI=b,c\nOTHER=1\n" {
		t.Errorf("file = %q", got)
	}
}

func TestLockKeepsTheUserOut(t *testing.T) {
	f := fresh(t, plainEnv)
	f.must(second(f.Add(Ignore, "gpt-4")))
	before := stateOf(t, f.Window)
	f.Lock()
	for name, err := range map[string]error{
		"Add":         second(f.Add(Ignore, "x")),
		"Remove":      f.Remove(Ignore, "*-preview"),
		"Clear":       second(f.Clear(Allow)),
		"Import":      second(f.Import(Import{Lists: [2][]string{Ignore: {"y"}}})),
		"SetProvider": f.SetProvider("gemini"),
		"SetSearch":   f.SetSearch("x"),
		"Discard":     second(f.Discard()),
		"Save":        second(f.Save(t.Context())),
		"Reload":      second(f.RefreshSaved(t.Context(), true)),
		"Merge":       second(f.RefreshSaved(t.Context(), false)),
		"Restore":     second(f.Restore(t.Context(), "1")),
	} {
		if !errors.Is(err, ErrLocked) {
			t.Errorf("%s = %v, want ErrLocked", name, err)
		}
	}
	if got := stateOf(t, f.Window); got != before || f.file() != plainEnv {
		t.Errorf("state = %s, file %q; want nothing changed", got, f.file())
	}
	f.Unlock()
	if r := f.call("add_ignore_rule", `{"pattern":"o1"}`); !r.Success {
		t.Errorf("a tool under the lock: %+v", r)
	}
	f.must(second(f.Add(Ignore, "x")))
}

func TestViews(t *testing.T) {
	f := fresh(t, plainEnv)
	f.must(second(f.Add(Ignore, "gpt-4-turbo-preview*")))
	f.must(second(f.Add(Ignore, "nothing")))
	rules := f.Rules(Ignore)
	if r := rules[0]; r.Decides != 2 || r.Matches != 3 || r.Source != ".env:3" {
		t.Errorf("rule 0 = %+v", r)
	}
	if r := rules[2]; !r.Shadowed || !r.Unsaved || r.Dead || r.Source != "" {
		t.Errorf("rule 2 = %+v, want shadowed and unsaved", r)
	}
	if r := rules[3]; !r.Dead || r.Shadowed {
		t.Errorf("rule 3 = %+v, want dead", r)
	}
	f.must(f.Remove(Ignore, "gpt-3.5*"))
	if got := f.Removed(Ignore); !slices.Equal(got, []string{"gpt-3.5*"}) {
		t.Errorf("Removed = %q", got)
	}
	want := Counts{Total: 10, Shown: 8, Hidden: 2, Allowed: 1, New: 1, IgnoreRules: 3, AllowRules: 1}
	if got := f.Counts(); got != want {
		t.Errorf("Counts = %+v, want %+v", got, want)
	}
	for _, m := range f.Models() {
		if m.ID == "openai/o1-preview" && (m.Name != "o1-preview" || m.Rule != "*-preview" || m.Index != 0 || m.Status.String() != "ignored") {
			t.Errorf("model = %+v", m)
		}
		if m.New != (m.ID == "openai/o1") {
			t.Errorf("%s: New = %v", m.ID, m.New)
		}
	}
	if c := f.Preview(Ignore, "gpt-4*"); c.Matches != 6 || len(c.Hidden) != 4 {
		t.Errorf("Preview = %+v, want 6 matches and 4 hidden", c)
	}
	if v, err := f.Check(Ignore, " gpt-4-turbo* "); err != nil || v.Pattern != "gpt-4-turbo*" || !slices.Equal(v.Redundant, []string{"gpt-4-turbo-preview*"}) {
		t.Errorf("Check = %+v, %v", v, err)
	}
	if _, err := f.Check(Ignore, "o1-preview"); err == nil || len(f.Rules(Ignore)) != 3 {
		t.Errorf("Check of a covered pattern = %v, %d rules", err, len(f.Rules(Ignore)))
	}
	if got := f.Suggest([]string{"openai/o1", "openai/o1-preview"}); !slices.Equal(got, []string{"o1*"}) {
		t.Errorf("Suggest = %q", got)
	}
	if got := len(f.Expected()); got != 6 { // of the file, not of what is staged
		t.Errorf("Expected = %d models, want 6", got)
	}
	served := []string{"openai/gpt-4", "OpenAI/unheard-of", "openai/unheard-of-preview", "azure/gpt-9", "bare"}
	if got := f.Expected(served...); len(got) != 7 || !slices.Contains(got, "openai/unheard-of") {
		t.Errorf("Expected of what is served = %q, want unheard-of beside the 6", got)
	}
	if h := f.HighlightRule(Ignore, "*-preview"); len(h.Models) != 3 {
		t.Errorf("HighlightRule = %+v", h)
	}
	if h := f.HighlightModel("openai/o1-preview"); h.Rule != "*-preview" {
		t.Errorf("HighlightModel = %+v", h)
	}
	f.must(f.MarkSeen(""))
	if f.Counts().New != 0 || !slices.Equal(f.shelf.seen, []string{"openai"}) {
		t.Error("the new models are still new")
	}
	if s, err := f.On("gemini"); err != nil || len(s.Models()) != 3 || f.Provider() != "openai" {
		t.Errorf("On(gemini): %v", err)
	}
	if _, err := f.On("gemni"); err == nil || !strings.Contains(err.Error(), "Did you mean `gemini`?") {
		t.Errorf("On(gemni) = %v", err)
	}
}

func TestCopiesAreTheCallers(t *testing.T) {
	f := fresh(t, plainEnv)
	before := stateOf(t, f.Window)
	f.Rules(Ignore)[0].Pattern = "x"
	f.Models()[0].ID = "x"
	f.Notices()
	if list, err := f.ModelList(""); err != nil {
		t.Fatal(err)
	} else {
		list.IDs[0] = "x"
	}
	h := f.HighlightRule(Ignore, "*-preview")
	h.Models[0], f.Highlighted().Models[1] = "x", "x"
	c := second2(f.Context()).(Context)
	c.Providers[0].Provider, c.Rules.Ignore[0].Models[0] = "x", "x"
	again, _ := json.Marshal(second2(f.Context()))
	if stateOf(t, f.Window) != before || strings.Contains(string(again), `"x"`) || openaiModels[0] == "x" {
		t.Error("a change of what was returned changed the window")
	}
}

// second is the error of a call that returns something else too.
func second[T any](_ T, err error) error { return err }

// second2 is the value of a call that cannot fail.
func second2[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint("this cannot fail: ", err))
	}
	return v
}

func stateOf(t *testing.T, w *Window) string {
	t.Helper()
	raw, err := w.State()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
