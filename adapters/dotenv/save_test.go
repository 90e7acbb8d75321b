//go:build unix

package dotenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// put writes a file with just this mode and answers its path.
func put(tb testing.TB, name, text string, mode fs.FileMode) string {
	tb.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		tb.Fatal(err)
	}
	return name
}

func load(tb testing.TB, path string) *Source {
	tb.Helper()
	s, err := Load(path)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// wantFile checks the text of a file and that no save left anything beside it.
func wantFile(tb testing.TB, path, want string) {
	tb.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		tb.Errorf("file = %q, %v, want %q", got, err, want)
	}
	if names, err := leftovers(path); err != nil || len(names) > 0 {
		tb.Errorf("beside the file lie %q, %v", names, err)
	}
}

func TestSave(t *testing.T) {
	for _, noExchange := range []bool{false, true} {
		path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1 # c\r\nB=2", 0o640)
		s := load(t, path)
		s.hooks = hooks{noExchange: noExchange}
		saved, err := s.Save(t.Context(), []Edit{Set("A", "x"), Set("C", "3")})
		if err != nil {
			t.Fatal(err)
		}
		wantFile(t, path, "A=x # c\r\nB=2\r\nC='3'")
		if got := fmt.Sprint(Changes(s.File, saved.Source.File)); got != "[changed A added C]" || !saved.Written {
			t.Errorf("changes %s, written %v", got, saved.Written)
		}
		if info, _ := os.Stat(path); info.Mode() != 0o640 {
			t.Errorf("mode %v, want 0640", info.Mode())
		}
		again, err := saved.Source.Save(t.Context(), []Edit{Set("A", "1"), Unset("C")})
		if err != nil || !again.Written {
			t.Fatalf("second save: %v", err)
		}
		wantFile(t, path, "A=1 # c\r\nB=2\r\n") // the line end belongs to B
		if same, err := again.Source.Save(t.Context(), []Edit{Set("A", "1")}); err != nil || same.Written {
			t.Errorf("a save of the same: %v, written %v", err, same.Written)
		}
	}
}

func TestSaveCreates(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".env")
	s := load(t, path)
	if s.Exists {
		t.Error("a missing file exists")
	}
	if _, err := s.Save(t.Context(), []Edit{Set("A", "1")}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "A='1'\n")
	if info, _ := os.Stat(path); info.Mode() != newMode {
		t.Errorf("mode %v, want %v", info.Mode(), newMode)
	}
	var changed *ChangedError
	if _, err := s.Save(t.Context(), []Edit{Set("A", "2")}); !errors.As(err, &changed) || string(changed.Theirs) != "A='1'\n" {
		t.Errorf("creating over a file: %v", err)
	}
	wantFile(t, path, "A='1'\n")
}

func TestSaveKeepsLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	target := put(t, filepath.Join(dir, "real", "env"), "A=1\n", 0o600)
	for from, to := range map[string]string{"one": "real/env", ".env": filepath.Join(dir, "one"), "dangling": "real/none"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, ".env")
	if _, err := load(t, path).Save(t.Context(), []Edit{Set("A", "2")}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, target, "A=2\n")
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if _, err := load(t, filepath.Join(dir, "dangling")).Save(t.Context(), []Edit{Set("A", "2")}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, filepath.Join(dir, "real", "none"), "A='2'\n")
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(loop); err == nil || !strings.Contains(err.Error(), "link to itself") {
		t.Errorf("a link to itself: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(in("folder"), 0o755), syscall.Mkfifo(in("pipe"), 0o600), os.Symlink(in("pipe"), in("link"))); err != nil {
		t.Fatal(err)
	}
	put(t, in("large"), strings.Repeat("A=1\n", MaxSize/4+1), 0o600)
	for path, reason := range map[string]string{
		in("folder"): "regular file", in("pipe"): "regular file", in("link"): "regular file", in("large"): "8 MiB",
		"/dev/null": "regular file", in("none/.env"): "cannot be reached",
	} {
		_, err := Load(path)
		var refused *FileError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, reason)
		}
	}
}

func TestSaveRefusesHardLinks(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
	if err := os.Link(path, path+".other"); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, path).Save(t.Context(), []Edit{Set("A", "2")}); err == nil || !strings.Contains(err.Error(), "hard links") {
		t.Errorf("a file with two names: %v", err)
	}
	wantFile(t, path, "A=1\n")
}

// TestReadingGoesOnWhenNothingCanBeWritten reads a file while what a killed save
// left cannot be removed and no version can be stored.
func TestReadingGoesOnWhenNothingCanBeWritten(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
	if err := os.MkdirAll(filepath.Join(path+saveInfix+"X"+partialSuffix, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	v := OpenVersions(filepath.Join(path, "versions"), nil)
	s, err := Load(path)
	if err != nil || len(s.Notices) != 1 || len(v.Notices()) != 1 {
		t.Fatalf("%v; notices %q and %q", err, s.Notices, v.Notices())
	}
	if value, _ := s.File.Get("A", nil); value != "1" {
		t.Errorf("A = %q", value)
	}
	if _, err := v.Save(t.Context(), s, []Edit{Set("A", "2")}, Author{}); err == nil {
		t.Error("saved without a version")
	}
	if text, err := os.ReadFile(path); string(text) != "A=1\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

func TestSaveCancelled(t *testing.T) {
	for _, at := range []stage{atCreate, atReady} {
		path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
		s := load(t, path)
		ctx, cancel := context.WithCancel(t.Context())
		s.hooks = hooks{at: func(now stage) error {
			if now == at {
				cancel()
			}
			return nil
		}}
		if _, err := s.Save(ctx, []Edit{Set("A", "2")}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %s: %v", at, err)
		}
		wantFile(t, path, "A=1\n")
	}
}

// TestTemporaryFileIsNeverWider looks at every file of the folder at every
// step of a save.
func TestTemporaryFileIsNeverWider(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o400, 0o440, 0o660} {
		dir := t.TempDir()
		path := put(t, filepath.Join(dir, ".env"), "A=1\n", mode)
		s := load(t, path)
		seen := 0
		s.hooks = hooks{at: func(at stage) error {
			entries, err := os.ReadDir(dir)
			for _, e := range entries {
				info, err := e.Info()
				if strings.HasSuffix(e.Name(), lockSuffix) { // for all who save here, and without a secret
					continue
				}
				if err != nil || info.Mode().Perm()&^mode != 0 {
					t.Errorf("%s of %v: %s has mode %v, %v", at, mode, e.Name(), info.Mode(), err)
				}
				seen++
			}
			return err
		}}
		_, err := s.Save(t.Context(), []Edit{Set("A", "2")})
		if mode&0o200 == 0 && os.Geteuid() != 0 {
			if err == nil {
				t.Errorf("a write-protected file (%v) was saved", mode)
			}
			continue
		}
		if err != nil || seen < 6 {
			t.Errorf("%v: %v, saw %d files", mode, err, seen)
		}
		if info, _ := os.Stat(path); info.Mode() != mode {
			t.Errorf("mode %v, want %v", info.Mode(), mode)
		}
	}
}

func BenchmarkSave(b *testing.B) {
	s := load(b, put(b, filepath.Join(b.TempDir(), ".env"), strings.Repeat("# a comment\nKEY='x'\n", 100)+"A=1\n", 0o600))
	for i := 0; b.Loop(); i++ {
		saved, err := s.Save(b.Context(), []Edit{Set("A", fmt.Sprint(i, "x"))})
		if err != nil {
			b.Fatal(err)
		}
		s = saved.Source
	}
}

func TestOthersCanIsWhatTheModeAllows(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{0o600: "", 0o711: "", 0o644: "read", 0o604: "read", 0o620: "change", 0o664: "read and change", 0o666: "read and change"} {
		if got := (&Source{Exists: true, Mode: mode}).OthersCan(); got != want {
			t.Errorf("%04o: others can %q, want %q", mode, got, want)
		}
	}
	if got := (&Source{Mode: 0o644}).OthersCan(); got != "" {
		t.Errorf("a file that does not exist: others can %q", got)
	}
}
