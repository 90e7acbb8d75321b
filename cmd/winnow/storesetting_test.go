package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
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
	err = start("WINNOW_THEME=dark").storeSetting("theme", "light")
	if err == nil || !strings.Contains(err.Error(), "WINNOW_THEME overrides it") {
		t.Errorf("under WINNOW_THEME: %v", err)
	}
}
