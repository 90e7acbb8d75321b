package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"winnow/assistant"
	"winnow/assistant/llm"
)

func TestSettingIsKeptForTheNextStart(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	const mine = "# mine\nmouse = true # yes\n"
	if err := os.WriteFile(path, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(environ ...string) *app {
		a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, environ: append(environ, "WINNOW_HOME="+dir)}
		a.flags.config, a.flags.set = path, pflag.NewFlagSet("winnow", pflag.ContinueOnError) // without flags
		return a
	}
	if err := start().storeSetting("theme", "ember-light"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != mine+"theme = \"ember-light\"\n" {
		t.Errorf("the file says %q, %v", got, err)
	}
	s, err := start().config()
	if err != nil || s.Theme != "ember-light" || !s.Mouse {
		t.Errorf("the next start has %+v, %v", s, err)
	}
	session, err := assistant.NewSession(&llm.Registry{}, assistant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := start()
	if _, err := a.config(); err != nil {
		t.Fatal(err)
	}
	if err := a.workspace(&program{session: session}).Set("max_iterations", "10"); err != nil {
		t.Errorf("a setting of the session: %v", err)
	}
	if s, err := start().config(); err != nil || s.MaxIterations != 10 {
		t.Errorf("the next start has %+v, %v", s, err)
	}
	err = start("WINNOW_THEME=dark").storeSetting("theme", "light")
	if err == nil || !strings.Contains(err.Error(), "WINNOW_THEME overrides it") {
		t.Errorf("under WINNOW_THEME: %v", err)
	}
}
