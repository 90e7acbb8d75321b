package privatefile

import (
	"errors"
	"io"
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
		could      string
		err        error
	}{
		"private":      {0o700, 0o700, "", nil},
		"read-only":    {0o500, 0o500, "", nil},
		"readable":     {0o755, 0o700, "read", nil},
		"group writes": {0o770, 0o700, "read and change", nil},
		"entered":      {0o711, 0o700, "enter", nil},
		"anybody":      {0o777, 0o777, "", ErrWritable},
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		could, err := Folder(dir)
		if !errors.Is(err, c.err) || could != c.could || modeOf(t, dir) != c.want {
			t.Errorf("%s: Folder = %v, %v, mode %v; want %v, %v, mode %v", name, could, err, modeOf(t, dir), c.could, c.err, c.want)
		}
	}
	made := filepath.Join(t.TempDir(), "a", "b")
	if could, err := Folder(made); err != nil || could != "" || modeOf(t, filepath.Dir(made)) != FolderMode || modeOf(t, made) != FolderMode {
		t.Errorf("a new folder: %v, %v, modes %v and %v", could, err, modeOf(t, filepath.Dir(made)), modeOf(t, made))
	}
}

func TestNarrow(t *testing.T) {
	if !HasModes {
		t.Skip("modes have no effect on this system")
	}
	path := filepath.Join(t.TempDir(), "f")
	for mode, want := range map[fs.FileMode]string{0o600: "", 0o400: "", 0o700: "", 0o611: "", 0o644: "read", 0o620: "change", 0o766: "read and change"} {
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
		could, err := Narrow(path, info)
		if err != nil || could != want || modeOf(t, path) != mode&FileMode {
			t.Errorf("Narrow of mode %v = %v, %v, mode %v; want %v", mode, could, err, modeOf(t, path), want)
		}
	}
}

// A replaced file has its new text and mode; after an error it is as it was. Nothing else is
// left in the folder, and the error names the file.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, writeErr := io.WriteString(w, text)
			return errors.Join(writeErr, err)
		}
	}
	check := func(want string, mode fs.FileMode) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil || string(text) != want || HasModes && modeOf(t, path) != mode {
			t.Errorf("the file holds %q, %v, mode %v; want %q, %v", text, err, modeOf(t, path), want, mode)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
			t.Errorf("the folder holds %v, %v", names, err)
		}
	}
	if err := Replace(path, FileMode, write("one", nil)); err != nil {
		t.Fatal(err)
	}
	check("one", 0o600)
	if err := Replace(path, 0o640, write("two", nil)); err != nil {
		t.Fatal(err)
	}
	check("two", 0o640)
	broken := errors.New("broken")
	if err := Replace(path, FileMode, write("half", broken)); !errors.Is(err, broken) {
		t.Errorf("Replace = %v, want the error of fill", err)
	}
	check("two", 0o640)
	taken := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(taken, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{taken, filepath.Join(dir, "none", "f")} {
		var failed *fs.PathError
		if err := Replace(path, FileMode, write("x", nil)); !errors.As(err, &failed) || failed.Path != path {
			t.Errorf("Replace(%s) = %v, want an error that names it", path, err)
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
