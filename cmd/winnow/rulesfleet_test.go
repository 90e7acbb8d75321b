package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"winnow/adapters/config"
	"winnow/adapters/fleet"
	"winnow/adapters/modelfilter"
)

// fleetOf returns an app in a folder with rules whose settings name servers and an address where none is.
func fleetOf(t *testing.T, servers map[string]served) (*app, *bench) {
	t.Helper()
	b := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nIGNORE_MODELS_OPENAI=*-preview*\n")
	a := testApp(t)
	a.flags.bind(&cobra.Command{})
	a.flags.home, a.flags.envFile = t.TempDir(), filepath.Join(b.dir, ".env")
	a.environ = []string{"PROXY_BASE_URL=" + refused, "WINNOW_LOCAL_SERVERS=false", "GONE_TOKEN=x"}
	settings := "[[target]]\nname = 'gone'\nurl = 'http://127.0.0.1:1'\ntoken = 'env:GONE_TOKEN'\n"
	for name, s := range servers {
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte(s.token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		settings += fmt.Sprintf("[[target]]\nname = '%s'\nurl = '%s'\ntoken_file = '%s'\n", name, s.url, token)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	a.flags.config = path
	for i, e := range b.env { // the programs of the bench have these settings too
		if strings.HasPrefix(e, "WINNOW_HOME=") {
			b.env[i] = "WINNOW_HOME=" + t.TempDir()
		}
	}
	b.env = append(b.env, "WINNOW_CONFIG="+path, "GONE_TOKEN=x")
	return a, b
}

func envOf(b *bench) string {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.dir, ".env"))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(raw)
}

// Of three targets one gets the rules, one has changed since its plan was shown, and one can't be reached: each is
// told, and nothing is half done without being told.
func TestRulesAreAppliedToAFleet(t *testing.T) {
	const before = "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nIGNORE_MODELS_OPENAI=*mini*\n"
	staging, production := newBench(t, before).serve(), newBench(t, before).serve()
	a, _ := fleetOf(t, map[string]served{"staging": staging, "production": production})
	if _, err := a.config(); err != nil {
		t.Fatal(err)
	}
	var targets []fleet.Target
	for _, name := range []string{"staging", "production", "gone"} {
		target, err := a.target(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, target)
	}
	here, err := a.target(t.Context(), "here")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := here.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	jobs := fleet.Plan(t.Context(), rules, "", targets)
	for i, want := range []fleet.State{fleet.Planned, fleet.Planned, fleet.Failed} {
		if jobs[i].State != want {
			t.Fatalf("%s is %s: %s, want %s", jobs[i].Target, jobs[i].State, jobs[i].Error, want)
		}
	}
	if lines := strings.Join(planLines(jobs[0], ""), "\n"); !strings.Contains(lines, "models become shown") || !strings.Contains(lines, "+ IGNORE_MODELS_OPENAI=*-preview*") {
		t.Errorf("the plan shows no effect:\n%s", lines)
	}
	if envOf(staging.bench) != before || envOf(production.bench) != before {
		t.Error("a plan changes a file")
	}
	id := production.open(`{}`)
	production.call("POST", "/v1/window/edit", `{"session":"`+id+`","tool":"add_ignore_rule","arguments":{"pattern":"o1*"}}`, "")

	fleet.Save(t.Context(), jobs)
	if j := jobs[0]; j.State != fleet.Saved || j.Staged || !strings.Contains(envOf(staging.bench), "IGNORE_MODELS_OPENAI=*-preview*") {
		t.Errorf("staging: %+v\n%s", j, envOf(staging.bench))
	}
	if j := jobs[1]; j.State != fleet.Failed || !j.Staged || !strings.Contains(j.Error, fleet.ErrChanged.Error()) || envOf(production.bench) != before {
		t.Errorf("production: %+v\n%s", j, envOf(production.bench))
	}
	if plan := production.call("GET", "/v1/window/plan?session="+id, "", ""); !strings.Contains(plan, "*-preview*") || !strings.Contains(plan, "o1*") {
		t.Errorf("what is staged on production: %s", plan)
	}
	if j := jobs[2]; j.State != fleet.Failed || j.Staged || !strings.Contains(j.Error, "the server cannot be reached") {
		t.Errorf("gone: %+v", j)
	}
	if err := a.printJobs("here", jobs, nil); !errors.Is(err, statusError(statusFailed)) {
		t.Errorf("the exit status is that of %v", err)
	}
	out := a.stdout.(*strings.Builder).String()
	for _, want := range []string{"staging: Saved 2 rules", "production: nothing was saved there", "the changes stay staged there", "gone: the server cannot be reached"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// The command leaves a server as it was when nobody agrees, and refuses a token that may not save before it stages.
func TestApplyingToAServer(t *testing.T) {
	s := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\n").serve()
	_, b := fleetOf(t, map[string]served{"server": s})
	b.run(3, "rules", "apply", "--to", "server")
	b.run(3, "rules", "diff", "--target", "server")
	if window := s.call("GET", "/v1/window/export", "", ""); !strings.Contains(window, `"unsaved":false`) {
		t.Errorf("something stays staged: %s", window)
	}
	type applied struct {
		Targets []struct {
			Target, State, Error string
			Staged               bool
		}
	}
	out := told[applied](b, 0, "rules", "apply", "--to", "server", "--yes")
	if len(out.Targets) != 1 || out.Targets[0].State != "saved" || !strings.Contains(envOf(s.bench), "*-preview*") {
		t.Errorf("%+v\n%s", out, envOf(s.bench))
	}
	b.run(0, "rules", "diff", "--target", "server")
	if sessions := s.call("GET", "/v1/sessions", "", ""); strings.Contains(sessions, `"id"`) {
		t.Errorf("sessions stay open: %s", sessions)
	}

	var made struct{ Token string }
	if err := json.Unmarshal([]byte(s.call("POST", "/v1/tokens", `{"name":"writer","role":"write"}`, "")), &made); err != nil {
		t.Fatal(err)
	}
	writer := s
	writer.token = made.Token
	_, b = fleetOf(t, map[string]served{"server": writer})
	b.run(0, "rules", "add", "o3*", "--provider", "openai", "--save")
	out = told[applied](b, 1, "rules", "apply", "--to", "server", "--yes")
	if j := out.Targets[0]; j.State != "failed" || j.Staged || !strings.Contains(j.Error, "saving needs the role save") {
		t.Errorf("with the role write: %+v", j)
	}
	writer.token = "wrong"
	_, b = fleetOf(t, map[string]served{"server": writer})
	b.run(1, "rules", "diff", "--target", "server")
	if !strings.Contains(b.stderr, "server: the server does not accept the token") || strings.Contains(b.stderr, "wrong") {
		t.Errorf("with a wrong token: %s", b.stderr)
	}
}

// The pane's view of each target says how it differs, or why that is unknown; nothing is written to the screen.
func TestThePaneComparesWithTheFleet(t *testing.T) {
	s := newBench(t, "OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nIGNORE_MODELS_OPENAI=*mini*\n").serve()
	a, _ := fleetOf(t, map[string]served{"server": s})
	settings, err := a.config()
	if err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), ".env")
	settings.Targets = append(settings.Targets, config.Target{Name: "twin", EnvFile: a.envFile()}, config.Target{Name: "missing", EnvFile: missing})
	here, err := a.target(t.Context(), config.HereTarget)
	if err != nil {
		t.Fatal(err)
	}
	own, err := here.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compare := a.compareTargets()
	for range 2 {
		views := map[string]modelfilter.TargetView{}
		for _, v := range compare(t.Context(), own) {
			views[v.Name] = v
		}
		if v := views["server"]; v.Rules != 2 || v.Models == 0 || v.Problem != "" {
			t.Errorf("%+v", v)
		}
		if v := views["twin"]; v.Rules+v.Models != 0 || v.Problem != "" {
			t.Errorf("%+v", v)
		}
		if !strings.Contains(views["gone"].Problem, "the server cannot be reached") || !strings.Contains(views["missing"].Problem, "there is no file") {
			t.Errorf("%+v", views)
		}
	}
	if out := a.stderr.(*strings.Builder).String(); out != "" {
		t.Errorf("it prints %s", out)
	}
	settings.Targets = nil
	if a.compareTargets() != nil {
		t.Error("without targets there is something to compare")
	}
}
