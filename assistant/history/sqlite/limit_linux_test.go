package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// nobody is a user who owns no file here.
const nobody = 65534

// limitSelf limits this process: its files cannot grow, as on a full disk, it can open
// only a few, it is another user, or its folder is mounted read-only.
func limitSelf(what string, limit int, dir string) error {
	rlimit := &syscall.Rlimit{Cur: uint64(limit), Max: uint64(limit)}
	switch what {
	case "grow":
		signal.Ignore(syscall.SIGXFSZ) // a write then fails
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, rlimit)
	case "handles":
		return syscall.Setrlimit(syscall.RLIMIT_NOFILE, rlimit)
	case "user":
		if os.Geteuid() == 0 {
			return errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody))
		}
		return nil
	}
	const bind = syscall.MS_BIND
	return errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount(dir, dir, "", bind, ""), syscall.Mount("", dir, "", bind|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
}

// childLimited opens a database under a limit, "LIMIT PATH", and says what came of it.
func childLimited(what, args string) {
	limit := 0
	number, path, _ := strings.Cut(args, " ")
	_, _ = fmt.Sscan(number, &limit)
	if err := limitSelf(what, limit, filepath.Dir(path)); err != nil {
		fmt.Println("no limit:", err)
		return
	}
	s, err := openStore(context.Background(), path, Options{})
	if err != nil {
		fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " · "))
		return
	}
	refs, err := s.Refs(context.Background(), "", 3.5)
	report := s.Report()
	switch {
	case err != nil:
		fmt.Println("error", err)
	case report.Salvage != nil:
		fmt.Println("salvaged", len(refs), report.Salvage.Lost)
	case report.ReadOnly != nil:
		q, _ := filter.Parse("c'question 1'")
		found, err := s.Count(context.Background(), q, history.Env{})
		pairs, loadErr := s.Load(context.Background(), []int64{refs[0].Seq})
		fmt.Println("read-only", len(refs), found, len(pairs), err, loadErr, "·", report.ReadOnly, "·", s.SaveDraft(context.Background(), "k", history.Draft{Text: "x"}))
	default:
		fmt.Println("opened", len(refs))
	}
	s.Close()
}

// limited opens a database in a child under a limit and returns what it said.
func limited(t *testing.T, what string, limit int, path string) string {
	t.Helper()
	c := startChildUnready(t, what, fmt.Sprint(limit, " ", path), func(c *exec.Cmd) {
		if what == "mount" {
			c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		}
	})
	said := ""
	for c.out.Scan() {
		said = c.out.Text()
	}
	_ = c.Wait()
	return said
}

// damagedImage is a folder with a database of n pairs, the newest in its -wal file, that
// the next Open salvages.
func damagedImage(t *testing.T, n int) string {
	t.Helper()
	path := closedStore(t, n/2)
	s := open(t, path, Options{})
	for i := n / 2; i < n; i++ {
		put(t, s, pair("x", "question "+itoa(i), strings.Repeat("answer ", 100)))
	}
	dir := filepath.Join(t.TempDir(), "image")
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "history.db.run", damagedMark), []byte("found in use"), fileMode); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A salvage that cannot read or write something for any other reason than damage leaves
// everything as it was, and finds all of it once that is over: at no level of free space
// and of file handles does it take the rest for lost.
func TestASalvageThatFailsLosesNothing(t *testing.T) {
	const n = 40
	image := damagedImage(t, n)
	size := int(fileSize(filepath.Join(image, "history.db")) + fileSize(filepath.Join(image, "history.db-wal")))
	failed := 0
	try := func(what string, limit int) {
		t.Helper()
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "h"), os.DirFS(image)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "h", "history.db")
		before := readAll(t, path)
		said := limited(t, what, limit, path)
		if said == fmt.Sprint("salvaged ", n, " 0") {
			return
		}
		failed++
		if said != "" && !strings.HasPrefix(said, "error") {
			t.Fatalf("%s %d: the child said %q", what, limit, said)
		}
		if readAll(t, path) != before {
			t.Errorf("%s %d: after %q the damaged file is not as it was", what, limit, said)
		}
		s := open(t, path, Options{})
		if r := s.Report().Salvage; r == nil || r.Salvaged != n || r.Lost != 0 || r.Foreign || len(seqs(t, s, "")) != n {
			t.Errorf("%s %d: after %q the salvage found %+v", what, limit, said, r)
		}
		s.Close()
	}
	for limit := 0; limit < size+size/10; limit += size / at.Rounds(5, 20) {
		try("grow", limit)
	}
	for _, limit := range []int{32<<10 - 1, 32 << 10, 32<<10 + 1} { // around the size of a -shm file
		try("grow", limit)
	}
	for limit := 9; limit < 30; limit += at.Rounds(3, 1) {
		try("handles", limit)
	}
	if failed == 0 {
		t.Error("no salvage failed: this test shows nothing")
	}
	t.Logf("%d salvages failed", failed)
}

// A first start on a full disk leaves nothing that looks damaged to the next one.
func TestAFirstStartOnAFullDiskIsForgotten(t *testing.T) {
	for limit := 0; limit < 200<<10; limit += at.Rounds(24_000, 6000) {
		path := filepath.Join(t.TempDir(), "h", "history.db")
		said := limited(t, "grow", limit, path)
		if strings.HasPrefix(said, "salvaged") {
			t.Errorf("limit %d: the child said %q", limit, said)
		}
		s := open(t, path, Options{})
		if r := s.Report(); r.Salvage != nil || r.LostWAL {
			t.Errorf("limit %d: after %q the next start reports %+v", limit, said, r)
		}
		put(t, s, pair("x", "q", "a"))
		s.Close()
		if strings.HasPrefix(said, "opened") {
			return
		}
	}
	t.Error("no limit was enough")
}

// What is not damage is not reported as a number.
func TestLostIsUnknownWhereNothingListsThePairs(t *testing.T) {
	path := closedStore(t, 20)
	damageFile(t, path, func(b []byte) []byte { clear(b[8*4096:]); return b }) // all but the schema
	s := open(t, path, Options{})
	if r := s.Report().Salvage; r == nil || r.Salvaged != 0 || r.Lost != history.UnknownLost {
		t.Errorf("Salvage = %+v", r)
	}
}

// A history that was closed is read where nothing can be written: by a user who may only
// read, and on a mount that is read-only.
func TestAClosedHistoryIsReadWhereNothingCanBeWritten(t *testing.T) {
	const n = 20
	for what, reason := range map[string]string{"user": "permission denied", "mount": "the disk is read-only"} {
		for _, withRun := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, run folder %v", what, withRun), func(t *testing.T) {
				if what == "mount" && os.Geteuid() != 0 {
					t.Skip("only root may mount a folder read-only")
				}
				path := closedStore(t, n)
				dir := filepath.Dir(path)
				if !withRun {
					if err := os.RemoveAll(path + ".run"); err != nil {
						t.Fatal(err)
					}
				}
				modes := []error{os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755), os.Chmod(filepath.Dir(dir), 0o755)} // of the test
				for _, name := range []string{path, path + ".run/open.lock", path + ".run", dir} {
					info, err := os.Stat(name)
					if errors.Is(err, os.ErrNotExist) {
						continue
					}
					modes = append(modes, err)
					if os.Geteuid() == 0 && what == "user" {
						modes = append(modes, os.Chown(name, nobody, nobody))
					}
					if what == "user" {
						modes = append(modes, os.Chmod(name, info.Mode().Perm()&^0o222))
						t.Cleanup(func() { _ = os.Chmod(name, info.Mode().Perm()) }) // so that it can be removed
					}
				}
				if err := errors.Join(modes...); err != nil {
					t.Fatal(err)
				}
				said := limited(t, what, 0, path)
				if strings.HasPrefix(said, "no limit: operation not permitted") {
					t.Skip("this machine lets nobody mount: " + said)
				}
				denied := "history: cannot write " + path + ": " + reason
				want := fmt.Sprint("read-only ", n, " 11 1 <nil> <nil> · ", denied, " · ", denied)
				if said != want {
					t.Errorf("the child said\n%q, want\n%q", said, want)
				}
			})
		}
	}
}
