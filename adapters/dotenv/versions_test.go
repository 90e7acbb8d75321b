//go:build unix

package dotenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// store opens versions with a clock that runs backwards: order must not depend on it.
func store(t *testing.T, folder string) *Versions {
	t.Helper()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	v, err := OpenVersions(folder, VersionsOptions{Now: func() time.Time { now = now.Add(-time.Hour); return now }})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVersions(t *testing.T) {
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	path := filepath.Join(dir, ".env")
	s := load(t, path)
	for i := range KeptVersions + 5 {
		saved, err := v.Save(t.Context(), s, []Edit{Set("MY_API_KEY", "hunter"+strconv.Itoa(i)), Set("N", strconv.Itoa(i))}, Author{Assistant, "s1"})
		if err != nil {
			t.Fatal(err)
		}
		s = saved.Source
	}
	if saved, err := v.Save(t.Context(), s, []Edit{Set("N", "24")}, Author{User, "s2"}); err != nil || saved.Written {
		t.Fatalf("a save of the same: %v", err)
	}
	log, err := v.Log(t.Context(), s)
	if err != nil || len(log) != KeptVersions {
		t.Fatalf("%d versions, %v", len(log), err)
	}
	if log[0].ID != "25" || log[0].Author != (Author{Assistant, "s1"}) || fmt.Sprint(log[0].Changes) != "[changed MY_API_KEY changed N]" {
		t.Errorf("newest version %+v", log[0])
	}
	if got := fmt.Sprintf("%+v %#v", log, v); strings.Contains(got, "hunter") {
		t.Errorf("the log prints a key")
	}
	diff, err := v.Diff(t.Context(), s, "25")
	if err != nil || fmt.Sprint(diff) != "[-MY_API_KEY='••••' -N='23' +MY_API_KEY='••••' +N='24']" {
		t.Errorf("difference %v, %v", diff, err)
	}
	if _, err := v.Restore(t.Context(), s, "3", After, Author{User, "s2"}); err == nil {
		t.Error("a version long gone was restored")
	}
	saved, err := v.Restore(t.Context(), s, "10", Before, Author{User, "s2"})
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "MY_API_KEY='hunter8'\nN='8'\n")
	if log, _ := v.Log(t.Context(), saved.Source); log[0].ID != "26" || log[0].Author.Who != User {
		t.Errorf("a restore is version %+v", log[0])
	}
	// The source from before the restore is out of date: nothing is overwritten.
	var changed *ChangedError
	if _, err := v.Restore(t.Context(), s, "12", After, Author{}); !errors.As(err, &changed) {
		t.Errorf("restore over a change: %v", err)
	}
	if log, _ := v.Log(t.Context(), s); log[0].ID != "26" {
		t.Errorf("a save that was not made is version %+v", log[0])
	}
	wantModes(t, v.folder)
}

func wantModes(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := newMode
		if e.IsDir() {
			want = folderMode
		} else {
			files++
		}
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestVersionsRepairModes(t *testing.T) {
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o600)
	if _, err := v.Save(t.Context(), load(t, path), []Edit{Set("A", "2")}, Author{User, ""}); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(v.folder, "*", "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%q, %v", names, err)
	}
	if err := errors.Join(os.Chmod(names[0], 0o644), os.Chmod(v.folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	if got := store(t, v.folder).Notices(); len(got) != 2 {
		t.Errorf("notices %q, want two", got)
	}
	wantModes(t, v.folder)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenVersions(v.folder, VersionsOptions{}); err == nil {
		t.Error("a store in everybody's folder was opened")
	}
}

// TestVersionsAfterCrash settles saves whose end is not known.
func TestVersionsAfterCrash(t *testing.T) {
	for name, test := range map[string]struct {
		at   string // the file after the crash
		want int    // versions
	}{"not saved": {"A=1\n", 0}, "saved": {"A=2\n", 1}, "changed since": {"A=3\n", 1}} {
		dir := t.TempDir()
		v := store(t, filepath.Join(dir, "versions"))
		path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o600)
		s := load(t, path)
		if _, err := v.Save(t.Context(), s, []Edit{Set("A", "2")}, Author{User, ""}); err != nil {
			t.Fatal(err)
		}
		names, _ := filepath.Glob(filepath.Join(v.folder, "*", "*"+confirmed))
		if err := os.Rename(names[0], strings.TrimSuffix(names[0], confirmed)+pending); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(filepath.Dir(names[0]), "000000000009"+unwritten), "{", 0o600)
		put(t, path, test.at, 0o600)
		if log, err := v.Log(t.Context(), s); err != nil || len(log) != test.want {
			t.Errorf("%s: %d versions, %v; want %d", name, len(log), err, test.want)
		}
	}
}

func TestVersionsDamaged(t *testing.T) {
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o600)
	s := load(t, path)
	for _, value := range []string{"2", "3"} {
		saved, err := v.Save(t.Context(), s, []Edit{Set("A", value)}, Author{User, ""})
		if err != nil {
			t.Fatal(err)
		}
		s = saved.Source
	}
	names, _ := filepath.Glob(filepath.Join(v.folder, "*", "*1"+confirmed))
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	put(t, names[0], strings.Replace(string(text), `"after":"QT0y`, `"after":"QT0z`, 1), 0o600)
	if log, err := v.Log(t.Context(), s); err == nil || !strings.Contains(err.Error(), "version 1 is damaged") || len(log) != 1 {
		t.Errorf("%d versions, %v", len(log), err)
	}
	if _, err := v.Restore(t.Context(), s, "1", After, Author{}); err == nil {
		t.Error("a damaged version was restored")
	}
}

// TestNoVersionNoSave breaks the store.
func TestNoVersionNoSave(t *testing.T) {
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o600)
	s := load(t, path)
	if _, err := v.Log(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	shelves, _ := filepath.Glob(filepath.Join(v.folder, "*"))
	if err := os.Remove(shelves[0]); err != nil {
		t.Fatal(err)
	}
	put(t, shelves[0], "", 0o600)
	if _, err := v.Save(t.Context(), s, []Edit{Set("A", "2")}, Author{}); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("saved without a version: %v", err)
	}
	wantFile(t, path, "A=1\n")
}
