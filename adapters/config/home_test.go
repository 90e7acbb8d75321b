package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/adrg/xdg"
)

func TestOneFolderHoldsEverything(t *testing.T) {
	dir := t.TempDir()
	h, err := HomeAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, path := range []string{h.Settings(), h.History(), h.Log(), h.Typeahead(), h.Models(), h.Endpoints(), h.Versions(), h.Journal("a"), h.Journal("b"), h.HistoryJournal()} {
		if !strings.HasPrefix(path, dir+string(filepath.Separator)) || seen[path] {
			t.Errorf("%s is outside of %s or used twice", path, dir)
		}
		seen[path] = true
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("naming the files made %v, %v", entries, err)
	}
}

func TestARelativeHomeIsMadeAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	if h, err := HomeAt("here"); err != nil || !filepath.IsAbs(h.Log()) {
		t.Errorf("At = %s, %v", h.Log(), err)
	}
}

// The same file has one journal under any of its names, also before it exists.
// Without an absolute home nothing is written into the working folder.
func TestARelativeHomeOfTheUserIsRefused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems have folders of their own")
	}
	folder := t.TempDir()
	variables := []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"}
	t.Cleanup(xdg.Reload) // after the variables are as they were
	for name, c := range map[string]struct {
		home, xdg string
		ok        bool
	}{
		"both": {folder, folder, true}, "no XDG": {folder, "", true}, "relative XDG": {folder, "relative", true}, "XDG alone": {"relative", folder, true},
		"relative": {"relative", "", false}, "relative XDG alone": {"relative", "relative", false}, "a dot": {".", "", false},
	} {
		t.Setenv("HOME", c.home)
		for _, v := range variables {
			t.Setenv(v, c.xdg)
		}
		xdg.Reload()
		h, err := HomeAt("")
		if (err == nil) != c.ok || c.ok && (!filepath.IsAbs(h.Settings()) || !filepath.IsAbs(h.History()) || !filepath.IsAbs(h.Log()) || !filepath.IsAbs(h.Models())) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

// The settings and the log are for their owner alone; the log is never written through a
// symbolic link.
func TestFilesWithOpenModesAreRepaired(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes have no effect on this system")
	}
	h, err := HomeAt(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rotated := strings.TrimSuffix(h.Log(), ".log") + "-2026-01-02T03-04-05.678.log"
	files := []string{h.Typeahead(), rotated, h.Log(), h.Settings()}
	for _, path := range files {
		if err := errors.Join(MakePrivate(filepath.Dir(path)), os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	notices, err := h.Check()
	if err != nil || len(notices) != len(files) {
		t.Errorf("Check = %q, %v", notices, err)
	}
	for i, path := range files {
		if i < len(notices) && !strings.Contains(notices[i], path) {
			t.Errorf("notice %q, want one of %s", notices[i], path)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
		}
	}
	if notices, err := h.Check(); err != nil || len(notices) > 0 || !h.CanLog() {
		t.Errorf("afterwards Check = %q, %v", notices, err)
	}
	target := filepath.Join(t.TempDir(), "theirs")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Chmod(target, 0o644), os.Remove(h.Log()), os.Symlink(target, h.Log())); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(rotated), os.Symlink(target, rotated), os.Remove(h.Typeahead()), os.Symlink(target, h.Typeahead())); err != nil {
		t.Fatal(err)
	}
	notices, err = h.Check()
	if info, statErr := os.Stat(target); err != nil || statErr != nil || h.CanLog() || len(notices) != 1 || !strings.Contains(notices[0], "symbolic link") || info.Mode().Perm() != 0o644 {
		t.Errorf("with a link: %q, %v, %v, mode %v", notices, err, statErr, info.Mode())
	}
}

func TestAFileHasOneJournal(t *testing.T) {
	dir := t.TempDir()
	file, link, missing := filepath.Join(dir, ".env"), filepath.Join(dir, "link"), filepath.Join(dir, "missing")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	h, err := HomeAt("home")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{file, ".env"}, {file, link}, {missing, "missing"}} {
		if a, b := h.Journal(c[0]), h.Journal(c[1]); a != b {
			t.Errorf("%s and %s have the journals %s and %s", c[0], c[1], a, b)
		}
	}
	before := h.Journal(missing)
	if err := os.WriteFile(missing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if h.Journal(missing) != before || h.Journal(missing) == h.Journal(file) {
		t.Error("a new file has another journal than before, or that of another file")
	}
}

// Folders that others can write to are repaired, or refused.
func TestCheck(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing here")
	}
	for name, c := range map[string]struct {
		parent, home, data os.FileMode
		notices            int
		unsafe             bool
		wantData           os.FileMode
	}{
		"private":                       {0o755, 0o700, 0o700, 0, false, 0o700},
		"others read":                   {0o755, 0o755, 0o755, 0, false, 0o755},
		"others write":                  {0o755, 0o777, 0o775, 2, false, 0o700},
		"everybody can replace it":      {0o777, 0o700, 0o700, 0, true, 0o700},
		"everybody can write, stickily": {0o777 | os.ModeSticky, 0o700, 0o700, 0, false, 0o700},
	} {
		parent := t.TempDir()
		dir := filepath.Join(parent, "home")
		if err := MakePrivate(filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
		for path, mode := range map[string]os.FileMode{filepath.Join(dir, "data"): c.data, dir: c.home, parent: c.parent} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		h, err := HomeAt(dir)
		if err != nil {
			t.Fatal(err)
		}
		notices, err := h.Check()
		unsafe, isUnsafe := errors.AsType[*UnsafeError](err)
		if isUnsafe != c.unsafe || !c.unsafe && (err != nil || len(notices) != c.notices) {
			t.Errorf("%s: Check = %q, %v", name, notices, err)
		}
		if isUnsafe && (unsafe.Parent != parent || !strings.Contains(err.Error(), dir)) {
			t.Errorf("%s: %v names not the parent %s", name, err, parent)
		}
		info, err := os.Stat(h.DataDir)
		if err != nil || info.Mode().Perm() != c.wantData {
			t.Errorf("%s: the mode is %v, %v; want %v", name, info.Mode(), err, c.wantData)
		}
	}
}

func TestRepairFileSaysWhatOthersCould(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes have no effect on this system")
	}
	path := filepath.Join(t.TempDir(), "f")
	for mode, want := range map[os.FileMode]string{
		0o600: "", 0o640: "other users could read " + path, 0o622: "other users could change " + path, 0o666: "other users could read and change " + path,
	} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		notice := RepairFile(path)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || strings.TrimSuffix(notice, "; they no longer can") != want {
			t.Errorf("mode %v: RepairFile = %q, mode %v, %v; want %q", mode, notice, info.Mode(), err, want)
		}
	}
}

func TestMakePrivateNarrowsAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := MakePrivate(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// The first run, which makes the folders, and the later ones agree on where they may be.
func TestTheFirstRunChecksAsLaterOnesDo(t *testing.T) {
	for mode, want := range map[os.FileMode]bool{0o777: true, 0o777 | os.ModeSticky: false, 0o755: false} {
		for _, below := range []string{"home", "a/home", "a/b/home"} {
			parent := t.TempDir()
			if err := os.Chmod(parent, mode); err != nil {
				t.Fatal(err)
			}
			h, err := HomeAt(filepath.Join(parent, below))
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range []string{"first", "second"} {
				_, err := h.Check()
				if unsafe, refused := errors.AsType[*UnsafeError](err); refused != want || refused && unsafe.Parent != parent {
					t.Errorf("%s below a folder of mode %v: the %s run says %v", below, mode, run, err)
				}
				if err := MakePrivate(h.DataDir); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
