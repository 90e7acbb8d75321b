package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"winnow/adapters/endpoints"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
)

// newestEnv is the initial file: three providers without rules.
const newestEnv = "# the proxy's own\r\n" +
	"PROXY_API_KEY=\"sk-proxy-0123456789\"\r\n" +
	"OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\r\n" +
	"ANTHROPIC_API_KEY='sk-ant-bbbbbbbbbbbbbbbb' # second\r\n" +
	"\r\n" +
	"export GEMINI_API_KEY=AIzatestcccccccccccc\r\n"

// fakeProxy serves /v1/models as a proxy does, following the rules that the file held when the proxy started.
type fakeProxy struct {
	url string

	mu     sync.Mutex
	models []string // all models
	serves []string
}

func newFakeProxy(t *testing.T) *fakeProxy {
	t.Helper()
	p := &fakeProxy{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		data := []map[string]string{}
		for _, id := range p.serves {
			data = append(data, map[string]string{"id": id, "object": "model"})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data}) // fails only if the client has gone
	}))
	t.Cleanup(s.Close)
	p.url = s.URL + "/v1"
	return p
}

// restart reads the rules again. It does not use winnow's code, and supports only the patterns of this test: "*" and
// exact names.
func (p *fakeProxy) restart(t *testing.T, envFile string) {
	t.Helper()
	data, err := os.ReadFile(envFile)
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.HasPrefix(key, "IGNORE_MODELS_") || strings.HasPrefix(key, "WHITELIST_MODELS_") {
			rules[key] = strings.Split(strings.Trim(value, `'"`), ",")
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serves = nil
	for _, id := range p.models {
		provider, name, _ := strings.Cut(id, "/")
		provider = strings.ToUpper(provider)
		hidden := slices.Contains(rules["IGNORE_MODELS_"+provider], "*") && !slices.Contains(rules["WHITELIST_MODELS_"+provider], name)
		if !hidden {
			p.serves = append(p.serves, id)
		}
	}
}

// bench is a folder with a file, in which programs run.
type bench struct {
	t      *testing.T
	dir    string
	env    []string
	stderr string // standard error of the last run
}

// run runs winnow and checks its exit status.
func (b *bench) run(status int, args ...string) []byte {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "winnow", args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	b.stderr = stderr.String()
	if got := cmd.ProcessState.ExitCode(); got != status {
		b.t.Fatalf("winnow %q exits with %d, want %d\n%s%s", args, got, status, stdout.String(), b.stderr)
	}
	return stdout.Bytes()
}

// told runs winnow with --json and decodes the output.
func told[T any](b *bench, status int, args ...string) T {
	b.t.Helper()
	var v T
	if out := b.run(status, append(args, "--json")...); json.Unmarshal(out, &v) != nil {
		b.t.Fatalf("winnow %q printed %s", args, out)
	}
	return v
}

// The output of the commands, as far as this test needs it.
type (
	toldRule struct {
		Pattern  string
		Affected int `json:"affected_count"`
		Unsaved  bool
	}
	toldRules struct {
		Providers []struct {
			Provider          string
			Ignore, Whitelist []toldRule
			Available, Total  int
		}
	}
	toldModels struct {
		Providers []struct {
			Provider         string
			Available, Total int
			Models           []struct{ ID, Status, Rule string }
		}
	}
	toldDrift struct {
		Drift     bool
		Providers []driftJSON
	}
)

// story is what a command reports as shown and hidden, by provider.
type story map[string]*struct{ shown, hidden []string }

func (b *bench) story() story {
	b.t.Helper()
	out := story{}
	for _, p := range told[toldModels](b, 0, "models").Providers {
		s := &struct{ shown, hidden []string }{}
		for _, m := range p.Models {
			if m.Status == "ignored" {
				s.hidden = append(s.hidden, m.ID)
			} else {
				s.shown = append(s.shown, m.ID)
			}
		}
		if p.Available != len(s.shown) || p.Total != len(p.Models) {
			b.t.Errorf("models: %s: %d of %d, but lists %d shown and %d hidden", p.Provider, p.Available, p.Total, len(s.shown), len(s.hidden))
		}
		slices.Sort(s.shown)
		slices.Sort(s.hidden)
		out[p.Provider] = s
	}
	return out
}

// rulesTell compares the rules and their counts with the models.
func (b *bench) rulesTell(want story, unsaved bool) {
	b.t.Helper()
	for _, p := range told[toldRules](b, 0, "rules", "list").Providers {
		s := want[p.Provider]
		if len(p.Ignore) != 1 || p.Ignore[0] != (toldRule{"*", len(s.hidden), unsaved}) {
			b.t.Errorf("rules list: %s: ignore rules %+v, want * for %d models", p.Provider, p.Ignore, len(s.hidden))
		}
		var kept []string
		for _, r := range p.Whitelist {
			kept = append(kept, p.Provider+"/"+r.Pattern)
			if r.Affected != 1 || r.Unsaved != unsaved {
				b.t.Errorf("rules list: %s: allow rule %+v, want one for 1 model, unsaved %v", p.Provider, r, unsaved)
			}
		}
		if slices.Sort(kept); !slices.Equal(kept, s.shown) {
			b.t.Errorf("rules list: %s keeps %q, models shows %q", p.Provider, kept, s.shown)
		}
		if p.Available != len(s.shown) || p.Total != len(s.shown)+len(s.hidden) {
			b.t.Errorf("rules list: %s: %d of %d, models shows %d and hides %d", p.Provider, p.Available, p.Total, len(s.shown), len(s.hidden))
		}
	}
}

// diffTells compares a plan with the models and returns the lines that it adds to the file.
func (b *bench) diffTells(want story, command string) string {
	b.t.Helper()
	plan := told[assistant.SavePlan](b, statusPending, "rules", command)
	hides := 0
	for _, e := range plan.Effects {
		provider, _, _ := strings.Cut(string(e.Sentence), ":")
		hidden := make([]string, len(e.Items))
		for i, item := range e.Items {
			hidden[i] = provider + "/" + item
		}
		if slices.Sort(hidden); e.Kind == assistant.EffectAdds || len(hidden) > 0 && !slices.Equal(hidden, want[provider].hidden) {
			b.t.Errorf("rules %s: %q with %q, want %q hidden", command, e.Sentence, hidden, want[provider].hidden)
		}
		if e.Kind != assistant.EffectAsks {
			hides++
		}
	}
	rules := 0
	for _, s := range want {
		rules += 1 + len(s.shown)
	}
	if hides != len(want) || len(plan.Changes) != rules {
		b.t.Errorf("rules %s: %d rules for %d providers, want %d for %d", command, len(plan.Changes), hides, rules, len(want))
	}
	var lines strings.Builder
	for _, l := range plan.Files[0].Lines {
		if l.Kind != "+" {
			b.t.Errorf("rules %s removes line %q", command, l.Text)
		}
		lines.WriteString(string(l.Text) + "\r\n")
	}
	return lines.String()
}

// driftTells compares the drift of each provider with the expected one.
func (b *bench) driftTells(when string, status int, want map[string]driftJSON) {
	b.t.Helper()
	d := told[toldDrift](b, status, "models", "--drift")
	drifted := false
	for _, got := range d.Providers {
		w := want[got.Provider]
		if !slices.Equal(got.Missing, w.Missing) || !slices.Equal(got.Extra, w.Extra) || got.Same != w.Same {
			b.t.Errorf("%s: drift of %s: %+v, want %+v", when, got.Provider, got, w)
		}
		drifted = drifted || len(w.Missing)+len(w.Extra) > 0
	}
	if len(d.Providers) != len(want) || d.Drift != drifted {
		b.t.Errorf("%s: drift %v over %d providers, want %v over %d", when, d.Drift, len(d.Providers), drifted, len(want))
	}
}

// sheet asks the assistant to save, and returns the question to the user.
func (b *bench) sheet(status int, args ...string) string {
	b.t.Helper()
	var diff string
	for line := range bytes.Lines(b.run(status, append([]string{"ask", "--json", "--continue"}, args...)...)) {
		var e struct{ Type, Tool, Diff string }
		if err := json.Unmarshal(line, &e); err != nil {
			b.t.Fatal(err)
		}
		if e.Type == "confirm_request" && e.Tool == "save_changes" {
			diff = e.Diff
		}
	}
	if diff == "" {
		b.t.Fatal("saving asked nothing")
	}
	return diff
}

// TestAllTellTheSameStory follows one request from the question to the restarted proxy. Counts, rules, the save
// question, the file, rules diff and models --drift must agree at every step.
func TestAllTellTheSameStory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".env")
	if err := os.WriteFile(file, []byte(newestEnv), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := newFakeProxy(t)
	b := &bench{t: t, dir: dir, env: append(os.Environ(), "WINNOW_HOME="+filepath.Join(dir, "home"), "WINNOW_LOCAL_SERVERS=false", "PROXY_BASE_URL="+proxy.url)}
	b.env = slices.DeleteFunc(b.env, func(v string) bool {
		key, _, _ := strings.Cut(v, "=")
		return strings.Contains(key, "_API_KEY") || strings.Contains(key, "_MODELS_")
	})

	for _, s := range b.story() {
		proxy.models = append(proxy.models, s.shown...)
	}
	proxy.restart(t, file)
	served := map[string]driftJSON{} // everything is served, nothing is hidden
	for name, s := range b.story() {
		served[name] = driftJSON{Drift: models.Drift{Same: len(s.shown)}}
	}
	if len(served) != 3 {
		t.Fatalf("the story has %d providers, want 3", len(served))
	}
	b.driftTells("at first", 0, served)

	// The request concerns several providers, so the user is asked and nothing is staged.
	b.run(0, "-m", endpoints.OfflineModel, "ask", "only allow the newest of each major provider")
	b.run(0, "rules", "diff")
	// Now it is staged: winnow shows it everywhere, but the file and the proxy are unchanged.
	b.run(0, "-m", endpoints.OfflineModel, "ask", "--continue", "yes")
	staged := b.story()
	for name, s := range staged {
		if len(s.shown) == 0 || len(s.hidden) == 0 {
			t.Fatalf("%s: %q shown, %q hidden: the story says little", name, s.shown, s.hidden)
		}
	}
	b.rulesTell(staged, true)
	added := b.diffTells(staged, "diff")
	if plan := b.diffTells(staged, "plan"); plan != added {
		t.Errorf("rules plan adds %q, rules diff %q", plan, added)
	}
	b.driftTells("staged", 0, served)
	if !strings.Contains(b.stderr, "staged changes are not compared") {
		t.Errorf("models --drift does not say that rules are staged: %q", b.stderr)
	}
	holds(t, file, newestEnv)

	// The save question shows the same lines as rules diff, and declining it changes nothing.
	diff, plan, _ := strings.Cut(string(b.run(statusPending, "rules", "diff")), "\n\nwinnow rules save --plan ")
	if plan == "" {
		t.Error("rules diff does not name the plan")
	}
	if sheet := b.sheet(statusPending, "-m", endpoints.OfflineModel, "save"); sheet != strings.TrimSpace(diff) {
		t.Errorf("the save sheet says\n%s\nrules diff says\n%s", sheet, diff)
	}
	holds(t, file, newestEnv)
	b.sheet(0, "-m", endpoints.OfflineModel, "--yes", "save")
	holds(t, file, newestEnv+added)
	b.run(0, "rules", "diff")
	b.rulesTell(staged, false)
	for name, s := range b.story() {
		if !slices.Equal(s.shown, staged[name].shown) {
			t.Errorf("%s: %q shown after the save, %q before", name, s.shown, staged[name].shown)
		}
	}

	// The proxy uses its old rules until it is restarted.
	old, young := map[string]driftJSON{}, map[string]driftJSON{}
	for name, s := range staged {
		old[name] = driftJSON{Drift: models.Drift{Extra: s.hidden, Same: len(s.shown)}}
		young[name] = driftJSON{Drift: models.Drift{Same: len(s.shown)}}
	}
	b.driftTells("saved", 0, old)
	proxy.restart(t, file)
	b.driftTells("restarted", 0, young)

	log := told[struct{ Versions []versionJSON }](b, 0, "rules", "log").Versions
	if len(log) != 2 || log[1].ID != "original" || log[0].Who != "assistant" || log[0].Session == "" || len(log[0].Keys) != 2*len(staged) {
		t.Errorf("rules log = %+v, want the original and one save of %d keys by the assistant in its session", log, 2*len(staged))
	}
	b.run(0, "rules", "restore", log[1].ID)
	holds(t, file, newestEnv)
}

// holds checks the exact content of a file.
func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("the file holds %q, %v; want %q", got, err, want)
	}
}
