package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"winnow/adapters/config"
	"winnow/adapters/doctor"
	"winnow/checkpoint"
)

// Every winnow command that doctor mentions exists, with its flags.
func TestTheCommandsOfDoctorExist(t *testing.T) {
	named := regexp.MustCompile(`\bwinnow((?: (?:[\w./=-]+|'[^']*'))*)`)
	commands := 0
	for _, text := range doctor.Advice("EXAMPLE") {
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(strings.ReplaceAll(line, "newer winnow that wrote it", ""), "   ")
			for _, match := range named.FindAllStringSubmatch(line, -1) {
				commands++
				root := newRoot(newApp(t.Context(), nil, &bytes.Buffer{}, &bytes.Buffer{}))
				words, _ := config.SplitWords(match[1])
				cmd, rest, err := root.Traverse(words)
				if err == nil {
					err = cmd.ParseFlags(rest)
				}
				if err == nil && cmd.HasParent() {
					err = cmd.ValidateArgs(cmd.Flags().Args())
				}
				if err != nil || !cmd.HasParent() && len(cmd.Flags().Args()) > 0 {
					t.Errorf("%q: %q leads to %s: %v", text, match[0], cmd.CommandPath(), err)
				}
			}
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands were found", commands)
	}
}

// doctor stores no history where there is none.
func TestDoctorCreatesNoHistory(t *testing.T) {
	inFolder(t, "A=1\n", "config", "path")
	var out bytes.Buffer
	run(t.Context(), []string{"doctor"}, nil, &out, &bytes.Buffer{})
	h, err := newApp(t.Context(), nil, &bytes.Buffer{}, &bytes.Buffer{}).folders()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.History()); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(out.String(), h.History()+" does not exist yet") {
		t.Errorf("after doctor, history.db: %v; doctor prints\n%s", err, out.String())
	}
}

// doctor reports a setting that is invalid, although it has read the settings once before, for the terminal.
func TestDoctorReportsAnInvalidSetting(t *testing.T) {
	inFolder(t, "A=1\n", "config", "path")
	t.Setenv("WINNOW_MAX_ITERATIONS", "many")
	var out bytes.Buffer
	status := run(t.Context(), []string{"doctor"}, nil, &out, &bytes.Buffer{})
	if status != statusFailed || !strings.Contains(out.String(), "✗ settings") {
		t.Errorf("doctor exits with %d and prints\n%s", status, out.String())
	}
}

// doctor reports another program in the window, and a configured model that no longer exists, with advice.
func TestDoctorSaysWhatStandsInTheWay(t *testing.T) {
	doctor := func() (status int, stdout string) {
		var out bytes.Buffer
		status = run(t.Context(), []string{"doctor"}, nil, &out, &bytes.Buffer{})
		return status, out.String()
	}
	inFolder(t, "A=1\n", "config", "path")
	env, err := filepath.Abs(".env")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("WINNOW_MODEL", "offline/gone")
	h, err := newApp(t.Context(), nil, &bytes.Buffer{}, &bytes.Buffer{}).folders()
	if err != nil {
		t.Fatal(err)
	}
	journal, err := checkpoint.Open(h.Journal(env), checkpoint.Options{Program: "winnow serve"})
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := journal.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status, stdout := doctor()
	for _, want := range []string{"! rules     winnow serve (process ", "→ wait until winnow serve is done, or close it", "offline/gone, the model in the settings, is not among them", "→ winnow models --chat"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if status != statusFailed {
		t.Errorf("the status is %d", status)
	}
	unlock()
	if _, stdout = doctor(); !strings.Contains(stdout, "no other program is changing") {
		t.Errorf("afterwards doctor says\n%s", stdout)
	}
}
