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

const ruleKey = "IGNORE_MODELS_X"

// store opens versions with a clock that runs backwards: order must not depend on it.
func store(t *testing.T, folder string) *Versions {
	t.Helper()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	return OpenVersions(folder, func() time.Time { now = now.Add(-time.Hour); return now })
}

// saveRules saves a rule list of a file that it loads anew.
func saveRules(t *testing.T, v *Versions, path, rules string) *Source {
	t.Helper()
	saved, err := v.Save(t.Context(), load(t, path), []Edit{Set(ruleKey, rules)}, Author{Who: User, Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	return saved.Source
}

func TestVersions(t *testing.T) {
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	path := put(t, filepath.Join(dir, ".env"), "MY_API_KEY=hunter2\n", 0o600)
	var s *Source
	for i := range MaxVersions + 5 {
		s = saveRules(t, v, path, "r"+strconv.Itoa(i))
	}
	if saved, err := v.Save(t.Context(), s, []Edit{Set(ruleKey, "r24")}, Author{Who: User, Session: "s2"}); err != nil || saved.Written {
		t.Fatalf("a save of the same: %v", err)
	}
	log, err := v.Log(t.Context(), s)
	if err != nil || len(log) != MaxVersions+1 {
		t.Fatalf("%d versions, %v; want %d and the original", len(log), err, MaxVersions)
	}
	if log[0].ID != "25" || log[0].Author != (Author{Who: User, Session: "s1"}) || fmt.Sprint(log[0].Changes) != "[changed "+ruleKey+"]" {
		t.Errorf("newest version %+v", log[0])
	}
	before, after, err := v.Files(t.Context(), s, "25")
	if diff := Diff(before, after); err != nil || patch(diff) != "[-"+ruleKey+"='r23' +"+ruleKey+"='r24']" {
		t.Errorf("difference %v, %v", diff, err)
	}
	if _, err := v.Restore(t.Context(), s, "3", Author{Who: User, Session: "s2"}); err == nil {
		t.Error("a version long gone was restored")
	}
	saved, err := v.Restore(t.Context(), s, "9", Author{Who: Assistant, Session: "s2"})
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "MY_API_KEY=hunter2\n"+ruleKey+"='r8'\n")
	if log, _ := v.Log(t.Context(), saved.Source); log[0].ID != "26" || log[0].Author.Who != Assistant {
		t.Errorf("a restore is version %+v", log[0])
	}
	// The source from before the restore is out of date: nothing is overwritten.
	var changed *ChangedError
	if _, err := v.Restore(t.Context(), s, "12", Author{}); !errors.As(err, &changed) {
		t.Errorf("restore over a change: %v", err)
	}
	if log, _ := v.Log(t.Context(), s); log[0].ID != "26" {
		t.Errorf("a save that was not made is version %+v", log[0])
	}
	wantPrivate(t, v.folder)
}

// wantPrivate checks modes, and that no file contains a foreign value.
func wantPrivate(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o700)
		if !e.IsDir() {
			files, want = files+1, newMode
			if data, _ := os.ReadFile(path); strings.Contains(string(data), "hunter") || strings.Contains(string(data), "aHVudGVy") {
				t.Errorf("%s contains a key", e.Name())
			}
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

// TestRestoreOriginal brings back the rules from before the first save, byte
// for byte while nobody else changed the file, and then only the rule lines.
func TestRestoreOriginal(t *testing.T) {
	const first = "A=1\r\nexport " + ruleKey + " = \"a\" # mine\r\n\r\nMY_API_KEY=hunter2\r\nWHITELIST_MODELS_Y=b\r\n"
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	path := put(t, filepath.Join(dir, ".env"), first, 0o600)
	for i := range MaxVersions + 2 {
		saveRules(t, v, path, "r"+strconv.Itoa(i))
	}
	s := load(t, path)
	saved, err := v.Save(t.Context(), s, []Edit{Unset(ruleKey), Unset("WHITELIST_MODELS_Y"), Set("IGNORE_MODELS_Z", "c")}, Author{Who: User, Session: ""})
	if err != nil {
		t.Fatal(err)
	}
	log, err := v.Log(t.Context(), saved.Source)
	if err != nil || log[len(log)-1].ID != OriginalVersion {
		t.Fatalf("oldest version %+v, %v; want the original", log[len(log)-1], err)
	}
	if _, err := v.Restore(t.Context(), saved.Source, OriginalVersion, Author{Who: User, Session: ""}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, first)

	saveRules(t, v, path, "changed")
	theirs := strings.Replace(strings.Replace(first, "hunter2", "hunter3", 1), `"a" # mine`, `"z" # mine`, 1) + "IGNORE_MODELS_Q=q\r\n"
	put(t, path, theirs, 0o600)
	if _, err := v.Restore(t.Context(), load(t, path), OriginalVersion, Author{Who: User, Session: ""}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, strings.Replace(first, "hunter2", "hunter3", 1))
	wantPrivate(t, v.folder)
}

// TestOddRuleLinesAreNotKept hides keys in rule lines: none may reach the store.
func TestOddRuleLinesAreNotKept(t *testing.T) {
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	text := "IGNORE_MODELS_A='a\nMY_API_KEY=hunter2\n'\nIGNORE_MODELS_B=b # MY_TOKEN=hunter2\n"
	path := put(t, filepath.Join(dir, ".env"), text, 0o600)
	saveRules(t, v, path, "r")
	if _, err := v.Restore(t.Context(), load(t, path), OriginalVersion, Author{Who: User, Session: ""}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, text)
	wantPrivate(t, v.folder)
}

func TestVersionsRepairFolder(t *testing.T) {
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	saveRules(t, v, put(t, filepath.Join(dir, ".env"), "A=1\n", 0o600), "r")
	old := filepath.Join(v.folder, "0123")
	if err := errors.Join(os.Chmod(v.folder, 0o755), os.Mkdir(old, 0o700)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(old, "000000000001.json"), `{"before":"aHVudGVyMg=="}`, 0o600)
	if got := store(t, v.folder).Notices(); len(got) != 2 {
		t.Errorf("notices %q, want two", got)
	}
	wantPrivate(t, v.folder)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	v, path := store(t, v.folder), filepath.Join(dir, ".env")
	if _, err := v.Save(t.Context(), load(t, path), []Edit{Set("A", "2")}, Author{}); err == nil || len(v.Notices()) != 1 || strings.HasPrefix(v.Notices()[0], "dotenv:") {
		t.Errorf("saved with versions in everybody's folder: %v, notices %q", err, v.Notices())
	}
}

// TestVersionsAfterCrash leaves a version whose save was killed.
func TestVersionsAfterCrash(t *testing.T) {
	for name, test := range map[string]struct {
		at   string // the file after the crash
		want int    // versions, the original included
	}{
		"not saved":                    {"A=1\n", 0},
		"saved":                        {"A=1\n" + ruleKey + "='r'\n", 2},
		"not saved, then another line": {"A=1\nB=theirs\n", 0},
		"saved, then another line":     {"A=1\n" + ruleKey + "='r'\nB=theirs\n", 2},
		"not saved, then another rule": {"A=1\n" + ruleKey + "='theirs'\n", 0},
		"removed":                      {"", 0},
	} {
		dir := t.TempDir()
		v := store(t, filepath.Join(dir, "versions"))
		path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o600)
		s := load(t, path)
		var log []byte
		s.hooks = hooks{at: func(stage) error { // what is on disk while the save is under way
			names, _ := filepath.Glob(filepath.Join(v.folder, "*.log"))
			log, _ = os.ReadFile(names[0])
			return nil
		}}
		if _, err := v.Save(t.Context(), s, []Edit{Set(ruleKey, "r")}, Author{Who: User, Session: ""}); err != nil {
			t.Fatal(err)
		}
		names, _ := filepath.Glob(filepath.Join(v.folder, "*.log"))
		put(t, names[0], string(log), 0o600)
		put(t, path, test.at, 0o600)
		if log, err := v.Log(t.Context(), s); err != nil || len(log) != test.want {
			t.Errorf("%s: %d versions, %v; want %d", name, len(log), err, test.want)
		}
	}
}

// TestVersionsDamaged flips a byte: the log is not read, and a save begins a new one.
func TestVersionsDamaged(t *testing.T) {
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o600)
	s := saveRules(t, v, path, "rules")
	names, _ := filepath.Glob(filepath.Join(v.folder, "*.log"))
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	put(t, names[0], strings.Replace(string(text), "rules", "rulez", 1), 0o600)
	if _, err := v.Log(t.Context(), s); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("log: %v", err)
	}
	if _, err := v.Restore(t.Context(), s, "1", Author{}); err == nil {
		t.Error("a damaged version was restored")
	}
	s = saveRules(t, v, path, "more")
	if log, err := v.Log(t.Context(), s); err != nil || len(log) != 2 {
		t.Errorf("after a save: %d versions, %v", len(log), err)
	}
	if _, err := os.Stat(names[0] + ".damaged"); err != nil {
		t.Errorf("the damaged log is gone: %v", err)
	}
}

// TestNoVersionNoSave breaks the store.
func TestNoVersionNoSave(t *testing.T) {
	dir := t.TempDir()
	v := store(t, filepath.Join(dir, "versions"))
	path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o600)
	s := load(t, path)
	if err := os.Remove(v.folder); err != nil {
		t.Fatal(err)
	}
	put(t, v.folder, "", 0o600)
	if _, err := v.Save(t.Context(), s, []Edit{Set("A", "2")}, Author{}); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("saved without a version: %v", err)
	}
	wantFile(t, path, "A=1\n")
}
