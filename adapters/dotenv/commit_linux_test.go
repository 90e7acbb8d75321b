package dotenv

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"winnow/checkpoint/privatefile"
)

// byRename and inPlace are the two ways in which editors save.
func byRename(path, text string) error {
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+"~", path)
}

func inPlace(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

// TestForeignChangeAtEveryStep changes the file at every step of a save, in
// every way. What the other program wrote must be in the file afterwards or, if it came
// after the last comparison, beside it under the name in the error.
func TestForeignChangeAtEveryStep(t *testing.T) {
	const theirs, ours = "A=1\nB=theirs\n", "A=ours\nB=1\n"
	for name, change := range map[string]func(path, text string) error{"rename": byRename, "in place": inPlace} {
		for _, at := range []stage{atCreate, atReady, atExchange} {
			if name == "in place" && at == atExchange {
				continue // the lease makes the other program wait, see TestWriterWaitsForLease
			}
			path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\nB=1\n", 0o600)
			s := load(t, path)
			s.hooks = hooks{at: func(now stage) error {
				if now == at {
					return change(path, theirs)
				}
				return nil
			}}
			_, err := s.Save(t.Context(), []Edit{Set("A", "ours")})
			var changed *ChangedError
			if !errors.As(err, &changed) {
				t.Fatalf("%s at %s: %v, want a change", name, at, err)
			}
			if string(changed.Base) != "A=1\nB=1\n" || string(changed.Theirs) != theirs || string(changed.Ours) != ours {
				t.Errorf("%s at %s: base %q, theirs %q, ours %q", name, at, changed.Base, changed.Theirs, changed.Ours)
			}
			if strings.Contains(err.Error(), "theirs") {
				t.Errorf("the error contains a value: %v", err)
			}
			if at != atExchange {
				wantFile(t, path, theirs)
				continue
			}
			if got, _ := os.ReadFile(path); string(got) != ours {
				t.Errorf("%s at %s: the file is %q, want %q", name, at, got, ours)
			}
			if got, _ := os.ReadFile(changed.Kept); string(got) != theirs || !strings.Contains(err.Error(), filepath.Base(changed.Kept)) {
				t.Errorf("%s at %s: %q lies beside the file, want %q; %v", name, at, got, theirs, err)
			}
			if notices := load(t, path).Notices; len(notices) != 1 || !strings.Contains(notices[0], filepath.Base(changed.Kept)) {
				t.Errorf("notices %q, want one about %s", notices, changed.Kept)
			}
		}
	}
}

// TestForeignChangeAfterExchange changes the new bytes before the save is over:
// theirs replaced ours by then and must stay.
func TestForeignChangeAfterExchange(t *testing.T) {
	for _, at := range []stage{atExchanged, atRemove} {
		path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
		s := load(t, path)
		s.hooks = hooks{at: func(now stage) error {
			if now == at {
				return byRename(path, "A=theirs\n")
			}
			return nil
		}}
		if _, err := s.Save(t.Context(), []Edit{Set("A", "ours")}); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		wantFile(t, path, "A=theirs\n")
	}
}

// TestWriterWithOpenFile has the file open for writing before the save and
// writes after it: nothing may be lost.
func TestWriterWithOpenFile(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
	needLeases(t, path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := load(t, path)
	_, err = s.Save(t.Context(), []Edit{Set("A", "ours")})
	var changed *ChangedError
	if !errors.As(err, &changed) || !changed.Busy {
		t.Fatalf("%v, want a busy file", err)
	}
	if _, err := f.WriteString("B=late\n"); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "A=1\nB=late\n")
}

// TestWriterWaitsForLease opens the file for writing right before the exchange.
// The other program would write to the file that came out, so that one stays.
func TestWriterWaitsForLease(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
	needLeases(t, path)
	s := load(t, path)
	s.hooks = hooks{at: func(now stage) error {
		if now != atExchange {
			return nil
		}
		// Without O_NONBLOCK this would wait in the kernel; with it the break
		// of the lease is pending all the same.
		if _, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK, 0); !errors.Is(err, unix.EWOULDBLOCK) {
			t.Errorf("open = %v, want it to wait", err)
		}
		return nil
	}}
	_, err := s.Save(t.Context(), []Edit{Set("A", "ours")})
	var changed *ChangedError
	if !errors.As(err, &changed) || changed.Kept == "" {
		t.Fatalf("%v, want a file beside", err)
	}
	if got, _ := os.ReadFile(changed.Kept); string(got) != "A=1\n" {
		t.Errorf("%q lies beside the file", got)
	}
}

// needLeases skips where the file system has none.
func needLeases(t *testing.T, path string) {
	t.Helper()
	f, err := openRegular(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if leased, _ := setLease(f, false); !leased {
		t.Skip("no leases here")
	}
}

func TestTargetRemovedOrReplaced(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"removed": os.Remove,
		"folder":  func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) },
		"pipe":    func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
		"link":    func(path string) error { return errors.Join(os.Remove(path), os.Symlink("other", path)) },
		"moved":   func(path string) error { return errors.Join(os.Rename(path, path+"~"), os.Symlink(path+"~", path)) },
	} {
		for _, at := range []stage{atReady, atExchange} {
			path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
			s := load(t, path)
			s.hooks = hooks{at: func(now stage) error {
				if now == at {
					return change(path)
				}
				return nil
			}}
			_, err := s.Save(t.Context(), []Edit{Set("A", "ours")})
			if err == nil {
				t.Errorf("%s at %s: saved", name, at)
			}
			theirs := path
			var changed *ChangedError
			if errors.As(err, &changed) && changed.Kept != "" {
				theirs = changed.Kept // it came after the last comparison
			} else if names, _ := leftovers(path); len(names) > 0 {
				t.Errorf("%s at %s: beside the file lie %q", name, at, names)
			}
			info, serr := os.Lstat(theirs)
			if (name == "removed") != errors.Is(serr, os.ErrNotExist) || serr == nil && info.Mode().IsRegular() {
				t.Errorf("%s at %s: afterwards %v, %v", name, at, info, serr)
			}
		}
	}
}

func TestModeChangedDuringSave(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o644)
	s := load(t, path)
	s.hooks = hooks{at: func(now stage) error {
		if now == atReady {
			return os.Chmod(path, 0o600)
		}
		return nil
	}}
	if _, err := s.Save(t.Context(), []Edit{Set("A", "2")}); err == nil {
		t.Error("a save undid a chmod")
	}
	if info, _ := os.Stat(path); info.Mode() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

func TestSaveKeepsAttributes(t *testing.T) {
	dir := t.TempDir()
	path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o640)
	if err := unix.Setxattr(path, "user.note", []byte("mine"), 0); err != nil {
		t.Skipf("no extended attributes here: %v", err)
	}
	acl := []byte{
		2, 0, 0, 0, // version; then tag, rights, id of each entry
		1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 57, 48, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255,
		16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
	}
	const aclName = "system.posix_acl_access"
	hasACL := unix.Setxattr(path, aclName, acl, 0) == nil
	if err := unix.Setxattr(dir, "system.posix_acl_default", acl, 0); hasACL && err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, path).Save(t.Context(), []Edit{Set("A", "2")}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "A=2\n")
	buf := make([]byte, 100)
	if n, err := unix.Getxattr(path, "user.note", buf); err != nil || string(buf[:n]) != "mine" {
		t.Errorf("user.note = %q, %v", buf[:max(n, 0)], err)
	}
	if n, err := unix.Getxattr(path, aclName, buf); hasACL && (err != nil || string(buf[:n]) != string(acl)) {
		t.Errorf("access list = %v, %v", buf[:max(n, 0)], err)
	}
	// A file without a list must not get one from its folder.
	bare := put(t, filepath.Join(dir, "bare"), "A=1\n", 0o600)
	if err := unix.Removexattr(bare, aclName); hasACL && err != nil {
		t.Fatal(err)
	}
	put(t, bare, "A=1\n", 0o600)
	if _, err := load(t, bare).Save(t.Context(), []Edit{Set("A", "2")}); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Getxattr(bare, aclName, buf); !errors.Is(err, unix.ENODATA) && hasACL {
		t.Errorf("the folder's list came along: %v, %v", buf[:max(n, 0)], err)
	}
}

func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
	if err := os.Chown(path, 12345, 23456); err != nil {
		t.Skipf("cannot give files away here: %v", err)
	}
	saved, err := load(t, path).Save(t.Context(), []Edit{Set("A", "2")})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || ownerOf(info) != (owner{12345, 23456, 1}) || !saved.Written {
		t.Errorf("owner %v, %v", ownerOf(info), err)
	}
}

// TestForeignOwner saves as a user who can change the file but not give it away.
func TestForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir, err := os.MkdirTemp("", "winnow") //nolint:usetesting // t.TempDir lies in folders that others cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := put(t, filepath.Join(dir, ".env"), "A=1\n", 0o666)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := child(t, "foreign", path)
	exe, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Dir = filepath.Join(dir, "test"), dir
	if err := os.WriteFile(cmd.Path, exe, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 23456}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "belongs to user 0, group 0") {
		t.Errorf("another user's save: %s, %v", out, err)
	}
	wantFile(t, path, "A=1\n")
}

// TestSaveLock: a save excludes those of other homes, users and containers. A container
// sees the file in another folder, as a hard link does.
func TestSaveLock(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
	elsewhere := filepath.Join(t.TempDir(), ".env")
	if err := os.Link(path, elsewhere); err != nil {
		t.Fatal(err)
	}
	lock, err := lockFile(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, elsewhere} {
		_, err := lockFile(t.Context(), name, 0)
		var held *privatefile.HeldError
		if !errors.As(err, &held) || !strings.Contains(err.Error(), "nothing was saved: timed out waiting for the save lock of "+name) {
			t.Errorf("%s: %v", name, err)
		} else if name == path && held.PID != os.Getpid() {
			t.Errorf("held by process %d", held.PID)
		}
	}
	if s := load(t, path); len(s.Notices) != 0 {
		t.Errorf("reading while another program saves: %q", s.Notices)
	}
	lock.release()
	wantFile(t, path, "A=1\n")
	for name, hinder := range map[string]func() error{
		"a folder in its place": func() error { return os.Mkdir(path+lockSuffix, 0o700) },
		"a link in its place":   func() error { return os.Symlink(path, path+lockSuffix) },
	} {
		_ = os.Remove(path + lockSuffix) // of the round before
		if err := hinder(); err != nil {
			t.Fatal(err)
		}
		lock, err := lockFile(t.Context(), path, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := lockFile(t.Context(), elsewhere, 0); err == nil {
			t.Errorf("%s: the file is not locked", name)
		}
		lock.release()
	}
}
