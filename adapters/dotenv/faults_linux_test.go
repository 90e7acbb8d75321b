package dotenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	at "winnow/assistant/assistanttest"
)

// ways are the ways in which a save replaces the file.
var ways = map[string]struct {
	noExchange bool
	exchange   error // what the exchange, or the rename, returns
}{
	"exchange": {}, "rename": {noExchange: true}, "in place": {exchange: syscall.EBUSY}, "in place, no exchange": {noExchange: true, exchange: syscall.EBUSY},
}

// The versions of the fault tests: the new one is shorter, or longer.
var faultEdits = map[string]struct{ before, after string }{
	"shorter": {"A='" + strings.Repeat("x", 90) + "'\nB=1\n", "A='2'\nB=1\n"},
	"longer":  {"A='1'\nB=1\n", "A='" + strings.Repeat("y", 90) + "'\nB=1\n"},
}

// faulty returns hooks under which the nth system call of a save fails, and with lasts
// all later ones; n 0 fails none. calls counts.
func faulty(way string, n int, lasts bool, errno error, calls *[]stage) hooks {
	return hooks{noExchange: ways[way].noExchange, at: func(now stage) error {
		*calls = append(*calls, now)
		if at := len(*calls); n > 0 && (at == n || lasts && at > n) {
			return errno
		}
		if now == atExchange {
			return ways[way].exchange
		}
		return nil
	}}
}

// TestEverySystemCallFails fails each system call of a save, in every way of saving,
// alone and with all later ones. The file then has the old bytes or the new ones, what was
// said is true, the next start leaves nothing beside it, and a retry saves.
func TestEverySystemCallFails(t *testing.T) {
	for way := range ways {
		for change, text := range faultEdits {
			path := put(t, filepath.Join(t.TempDir(), ".env"), text.before, 0o600)
			var calls []stage
			s := load(t, path)
			s.hooks = faulty(way, 0, false, nil, &calls)
			if _, err := s.replace(t.Context(), []byte(text.after)); err != nil {
				t.Fatalf("%s, %s: %v", way, change, err)
			}
			wantFile(t, path, text.after)
			all := slices.Clone(calls)
			for n := range all {
				for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EBUSY, syscall.EPERM, syscall.EROFS} {
					for _, lasts := range []bool{false, true} {
						if errno != syscall.EIO && (change == "longer" || lasts || at.Rounds(0, 1) == 0) {
							continue
						}
						name := fmt.Sprintf("%s, %s: %v at %q, lasting %v", way, change, errno, all[n], lasts)
						failOne(t, name, path, text.before, text.after, faulty(way, n+1, lasts, errno, &calls), &calls)
					}
				}
			}
			t.Logf("%s, %s: %d system calls: %q", way, change, len(all), all)
		}
	}
}

func failOne(t *testing.T, name, path, before, after string, h hooks, calls *[]stage) {
	t.Helper()
	put(t, path, before, 0o600)
	s := load(t, path)
	*calls = nil
	s.hooks = h
	saved, err := s.replace(context.Background(), []byte(after))
	text, readErr := os.ReadFile(path)
	now := string(text)
	rest, restErr := leftovers(path)
	if readErr != nil || restErr != nil {
		t.Fatal(readErr, restErr)
	}
	said := saved.Warning
	if err != nil {
		said = err.Error()
	}
	incomplete := strings.Contains(said, "may be incomplete")
	switch {
	case now != before && now != after && !incomplete:
		t.Fatalf("%s: the file is neither version, after %q", name, said)
	case err == nil && (now != after || !saved.Written):
		t.Errorf("%s: no error, and the file is not saved", name)
	case strings.Contains(said, "not saved") && now != before, strings.Contains(said, "was saved") && now != after:
		t.Errorf("%s: the file has changed: %v, and it says %q", name, now == after, said)
	case strings.Contains(said, "another program"): // there is none
		t.Errorf("%s: it says %q", name, said)
	}
	for _, r := range rest {
		if !strings.Contains(said, filepath.Base(r)) {
			t.Errorf("%s: %s lies beside the file, and it says %q", name, filepath.Base(r), said)
		}
	}
	restores := now != before && now != after
	if restores {
		now = before
	}
	next := load(t, path)
	wantFile(t, path, now)
	if restores != (len(next.Notices) > 0) {
		t.Errorf("%s: the next start says %q", name, next.Notices)
	}
	if _, err := next.replace(t.Context(), []byte(after)); err != nil {
		t.Errorf("%s: again: %v", name, err)
	}
	wantFile(t, path, after)
}

// playKilled saves path and ends itself by SIGKILL at a system call.
func playKilled(path, way, at string) error {
	s, err := Load(path)
	if err != nil {
		return err
	}
	s.hooks = hooks{noExchange: ways[way].noExchange, at: func(now stage) error {
		if now == stage(at) {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		if now == atExchange {
			return ways[way].exchange
		}
		return nil
	}}
	_, err = s.replace(context.Background(), []byte(faultEdits["shorter"].after))
	return errors.Join(fmt.Errorf("saved"), err)
}

// TestKilledAtEverySystemCall ends a saving process at each system call. The next start
// finds the old bytes or the new ones, or restores the old ones, and leaves nothing behind.
func TestKilledAtEverySystemCall(t *testing.T) {
	text := faultEdits["shorter"]
	for way := range ways {
		if way == "in place, no exchange" && at.Rounds(0, 1) == 0 {
			continue
		}
		path := put(t, filepath.Join(t.TempDir(), ".env"), text.before, 0o600)
		var calls []stage
		s := load(t, path)
		s.hooks = faulty(way, 0, false, nil, &calls)
		if _, err := s.replace(t.Context(), []byte(text.after)); err != nil {
			t.Fatal(err)
		}
		for _, at := range calls {
			put(t, path, text.before, 0o600)
			out, err := child(t, "killed", path, way, string(at)).CombinedOutput()
			if err == nil || strings.Contains(string(out), "saved") {
				t.Fatalf("%s at %q: %v, %s", way, at, err, out)
			}
			next := load(t, path)
			if now := string(next.File.Bytes()); now != text.before && now != text.after {
				t.Errorf("%s at %q: the next start reads neither version", way, at)
			}
			if want := at == atTruncate; (len(next.Notices) > 0) != want {
				t.Errorf("%s at %q: notices %q", way, at, next.Notices)
			}
			wantFile(t, path, string(next.File.Bytes()))
			if _, err := next.replace(t.Context(), []byte("A=3\n")); err != nil {
				t.Errorf("%s at %q: a save afterwards: %v", way, at, err)
			}
			wantFile(t, path, "A=3\n")
		}
	}
}

// keepBothBeside leaves what a save in place has made durable before it writes.
func keepBothBeside(t *testing.T, path, before, after string) {
	t.Helper()
	put(t, path, before, 0o600)
	s := load(t, path)
	s.hooks = hooks{at: func(now stage) error {
		switch now {
		case atExchange:
			return syscall.EBUSY
		case atOverwrite: // the kept versions are durable: copy them
			for _, name := range must(t)(filepath.Glob(path + saveInfix + "*" + placeSuffix)) {
				if err := os.Link(name, name+".copy"); err != nil {
					t.Error(err)
				}
			}
		default:
		}
		return nil
	}}
	if _, err := s.replace(t.Context(), []byte(after)); err != nil {
		t.Fatal(err)
	}
	for _, name := range must(t)(filepath.Glob(path + saveInfix + "*.copy")) {
		if err := os.Rename(name, strings.TrimSuffix(name, ".copy")); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T) func([]string, error) []string {
	t.Helper()
	return func(names []string, err error) []string {
		t.Helper()
		if err != nil || len(names) == 0 {
			t.Fatalf("found %q, %v", names, err)
		}
		return names
	}
}

// TestInterruptedInPlace restores the previous version from each state in which a save
// in place can end, and leaves alone what another program wrote.
func TestInterruptedInPlace(t *testing.T) {
	const short, long = "A=1\nKEY=s\n", "A=1234\nKEY=other\nMORE=x\n"
	dir := t.TempDir()
	path := filepath.Join(dir, ".env")
	for _, pair := range [][2]string{{short, long}, {long, short}} {
		before, after := pair[0], pair[1]
		states := []string{after + before[min(len(after), len(before)):]} // not yet cut off
		for n := range after {
			states = append(states, after[:n]+before[min(n, len(before)):])
		}
		if len(after) > len(before) {
			states = append(states, after[:2]+before[2:]+strings.Repeat("\x00", len(after)-len(before))) // a power cut
		}
		for _, state := range states {
			keepBothBeside(t, path, before, after)
			put(t, path, state, 0o600)
			s := load(t, path)
			if want := before; string(s.File.Bytes()) != want && state != after {
				t.Fatalf("from %q restored %q, want %q", state, s.File.Bytes(), want)
			}
			wantFile(t, path, string(s.File.Bytes()))
		}
		keepBothBeside(t, path, before, after)
		put(t, path, "THEIRS=1\n", 0o600)
		s := load(t, path)
		names, err := leftovers(path)
		if len(s.Notices) != 1 || !strings.Contains(s.Notices[0], previousSuffix) || err != nil || len(names) != 1 {
			t.Fatalf("after another program's change: notices %q, %q beside the file, %v", s.Notices, names, err)
		}
		if kept, err := os.ReadFile(names[0]); string(kept) != before || string(s.File.Bytes()) != "THEIRS=1\n" {
			t.Errorf("the kept version is %q, %v; the file %q", kept, err, s.File.Bytes())
		}
		if again := load(t, path); len(again.Notices) != 1 || !strings.Contains(again.Notices[0], "before an interrupted save") {
			t.Errorf("a later start says %q", again.Notices)
		}
		if err := os.Remove(names[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReaderWaitsForASaveInPlace reads the file while a save writes it in place: a reader
// waits, and never sees a part of both versions.
func TestReaderWaitsForASaveInPlace(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
	needLeases(t, path)
	s := load(t, path)
	s.hooks = hooks{at: func(now stage) error {
		switch now {
		case atExchange:
			return syscall.EBUSY
		case atTruncate:
			if f, err := openRegular(path); !errors.Is(err, syscall.EAGAIN) {
				t.Errorf("while it is written, opening it for reading = %v, %v", f, err)
			}
		default:
		}
		return nil
	}}
	if _, err := s.Save(t.Context(), []Edit{Set("A", "2")}); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "A=2\n")
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var changed *ChangedError
	s = load(t, path)
	s.hooks = hooks{at: func(now stage) error {
		if now == atExchange {
			return syscall.EBUSY
		}
		return nil
	}}
	if _, err := s.Save(t.Context(), []Edit{Set("A", "3")}); !errors.As(err, &changed) || !changed.Busy {
		t.Errorf("with a reader that does not end: %v", err)
	}
	wantFile(t, path, "A=2\n")
}

// playMounted saves a file that is mounted by itself, as into a container.
func playMounted(path string) error {
	other := filepath.Join(filepath.Dir(path), "host.env")
	if err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		os.WriteFile(other, []byte("A=1\nB=1\n"), 0o640),
		syscall.Mount(other, path, "", syscall.MS_BIND, ""),
	); err != nil {
		fmt.Println("cannot mount here:", err)
		return nil
	}
	s, err := Load(path)
	if err != nil {
		return err
	}
	saved, err := s.Save(context.Background(), []Edit{Set("A", "22")})
	if err != nil {
		return err
	}
	again, err := saved.Source.Save(context.Background(), []Edit{Unset("B")})
	if err != nil {
		return err
	}
	text, err := os.ReadFile(other)
	rest, restErr := leftovers(path)
	fmt.Printf("%q %v %q %q %v %v\n", text, Mounted(path), again.Warning, rest, again.Source.Mode, errors.Join(err, restErr))
	return nil
}

func TestAFileMountedByItself(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	path := put(t, filepath.Join(t.TempDir(), ".env"), "", 0o600)
	if Mounted(path) {
		t.Error("a plain file is mounted")
	}
	cmd := child(t, "mounted", path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || strings.HasPrefix(string(out), "cannot mount") {
		t.Skipf("cannot mount here: %v, %s", err, out)
	}
	if want := `"A=22\n" true "" [] -rw-r----- <nil>` + "\n"; err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
}

// playLockedFolder saves a file that is mounted by itself into a folder in which no file can
// be created.
func playLockedFolder(path string) error {
	dir := filepath.Dir(path)
	other := filepath.Join(filepath.Dir(dir), "host.env")
	if err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		os.WriteFile(other, []byte("A=1\n"), 0o600),
		syscall.Mount(dir, dir, "", syscall.MS_BIND, ""), syscall.Mount(other, path, "", syscall.MS_BIND, ""),
		syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""),
	); err != nil {
		fmt.Println("cannot mount here:", err)
		return nil
	}
	s, err := Load(path)
	if err != nil {
		return err
	}
	_, refused := s.Save(context.Background(), []Edit{Set("A", "22")})
	text, err := os.ReadFile(other)
	fmt.Printf("%q\n%v\n%v\n", text, refused, s.CheckFolder())
	return err
}

func TestAMountedFileInAFolderThatCannotBeWritten(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	dir := filepath.Join(t.TempDir(), "app")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := put(t, filepath.Join(dir, ".env"), "", 0o600)
	if err := load(t, path).CheckFolder(); err != nil {
		t.Errorf("a usual folder: %v", err)
	}
	cmd := child(t, "locked folder", path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	if strings.HasPrefix(string(out), "cannot mount here") {
		t.Skip(string(out))
	}
	const why = "no file can be created in its folder, which saving requires (make the folder writable; in a container, mount the folder, not just the file): read-only file system\n"
	want := fmt.Sprintf("%q\ndotenv: %s was not saved: %sdotenv: %s cannot be saved: %s", "A=1\n", path, why, path, why)
	if string(out) != want {
		t.Errorf("it says\n%s\nwant\n%s", out, want)
	}
}
