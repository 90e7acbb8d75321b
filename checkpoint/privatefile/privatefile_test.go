package privatefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestFolder(t *testing.T) {
	if !HasModes {
		t.Skip("modes have no effect on this system")
	}
	for name, c := range map[string]struct {
		mode, want fs.FileMode
		narrowed   bool
		err        error
	}{
		"private":      {0o700, 0o700, false, nil},
		"read-only":    {0o500, 0o500, false, nil},
		"readable":     {0o755, 0o700, true, nil},
		"group writes": {0o770, 0o700, true, nil},
		"anybody":      {0o777, 0o777, false, ErrWritable},
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		narrowed, err := Folder(dir)
		if !errors.Is(err, c.err) || narrowed != c.narrowed || modeOf(t, dir) != c.want {
			t.Errorf("%s: Folder = %v, %v, mode %v; want %v, %v, mode %v", name, narrowed, err, modeOf(t, dir), c.narrowed, c.err, c.want)
		}
	}
	made := filepath.Join(t.TempDir(), "a", "b")
	if narrowed, err := Folder(made); err != nil || narrowed || modeOf(t, filepath.Dir(made)) != FolderMode || modeOf(t, made) != FolderMode {
		t.Errorf("a new folder: %v, %v, modes %v and %v", narrowed, err, modeOf(t, filepath.Dir(made)), modeOf(t, made))
	}
}

func TestNarrow(t *testing.T) {
	if !HasModes {
		t.Skip("modes have no effect on this system")
	}
	path := filepath.Join(t.TempDir(), "f")
	for mode, want := range map[fs.FileMode]bool{0o600: false, 0o400: false, 0o644: true, 0o620: true, 0o755: true} {
		os.Remove(path)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		narrowed, err := Narrow(path, info)
		if err != nil || narrowed != want || modeOf(t, path) != mode&FileMode {
			t.Errorf("Narrow of mode %v = %v, %v, mode %v; want %v", mode, narrowed, err, modeOf(t, path), want)
		}
	}
}

func TestSync(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := SyncFile(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SyncFile without a file = %v", err)
	}
	if err := os.WriteFile(path, nil, FileMode); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(SyncFile(path), SyncFolder(dir)); err != nil {
		t.Error(err)
	}
}
