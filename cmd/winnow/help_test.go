package main

import (
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/adapters/config"
)

// TestHelpNamesEveryFile stores one file of each kind and checks that `winnow help files` names all of them.
func TestHelpNamesEveryFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(t.TempDir())
	t.Setenv("WINNOW_HOME", dir)
	t.Setenv("WINNOW_LOCAL_SERVERS", "false")
	t.Setenv("EDITOR", "true")
	for _, line := range []string{"config edit", "-m offline/rules ask --yes hide o3* and save", "--window history ask hello", "log", "token add anna"} {
		if status := run(t.Context(), strings.Fields(line), strings.NewReader(""), io.Discard, io.Discard); status != statusDone {
			t.Errorf("winnow %s: exit status %d", line, status)
		}
	}
	h, err := config.HomeAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		i := slices.IndexFunc(h.Files(), func(f config.HomeFile) bool { return strings.HasPrefix(path, f.Path) })
		if i < 0 {
			t.Errorf("winnow help files does not name %s", path)
			return nil
		}
		seen[h.Files()[i].Path] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{h.Settings(), h.History(), h.Log(), h.Files()[2].Path, h.Files()[3].Path} {
		if !seen[want] {
			t.Errorf("nothing was stored as %s", want)
		}
	}
}

func TestEveryExitStatusIsExplained(t *testing.T) {
	var listed []int
	for _, e := range statuses {
		listed = append(listed, e.Status)
	}
	if want := []int{statusDone, statusFailed, statusUsage, statusPending, statusCancelled, statusPipe}; !slices.Equal(listed, want) {
		t.Errorf("winnow help exit lists %v, want %v", listed, want)
	}
}
