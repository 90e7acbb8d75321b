package dotenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// childRole names the variable under which the test binary, started again,
// finds what it has to do instead of testing.
const childRole = "WINNOW_DOTENV_TEST"

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(play(role, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// child prepares the test binary in a role.
func child(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), childRole+"="+role)
	return cmd
}

// play is the main function of a child.
func play(role string, args []string) int {
	var err error
	switch role {
	case "foreign":
		err = playForeign(args[0])
	case "few handles":
		err = playFewHandles(args[0])
	case "mounted":
		err = playMounted(args[0])
	case "locked folder":
		err = playLockedFolder(args[0])
	case "killed":
		err = playKilled(args[0], args[1], args[2])
	case "saver":
		err = playSaver(args[0])
	case "editor":
		err = playEditor(args[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// playForeign prints why the file of another user is not saved.
func playForeign(path string) error {
	s, err := Load(path)
	if err != nil {
		return err
	}
	if _, err = s.Save(context.Background(), []Edit{Set("A", "2")}); err != nil {
		fmt.Println(err)
		return nil
	}
	return fmt.Errorf("saved")
}

// playFewHandles saves with a limit of file handles that rises until the save
// succeeds. Before that, it must say that nothing was saved, and why.
func playFewHandles(path string) error {
	v := OpenVersions(filepath.Join(filepath.Dir(path), "versions"), nil)
	for n := uint64(0); ; n++ {
		s, err := Load(path) // also starts what the runtime needs to open files
		if err != nil {
			return err
		}
		free, err := firstFreeHandles(n + 1)
		if err != nil {
			return err
		}
		var before syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			return err
		}
		limit := before
		limit.Cur = free[n] // only the n numbers before it can be opened
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return err
		}
		saved, serr := v.Save(context.Background(), s, []Edit{Set("A", "2")}, Author{})
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			return err
		}
		if serr == nil && saved.Written {
			fmt.Println("failures:", n)
			return nil
		}
		var changed *ChangedError
		if errors.As(serr, &changed) || !errors.Is(serr, syscall.EMFILE) || saved.Written || strings.Contains(strings.ReplaceAll(serr.Error(), "nothing was saved", ""), "was saved") {
			return fmt.Errorf("with %d handles left: %w", n, serr)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "A=1\n" {
			return fmt.Errorf("with %d handles left: the file is %q, %w", n, text, err)
		}
	}
}

// firstFreeHandles returns the n lowest numbers that no open file has. The
// parent may have left gaps and high numbers among those that are open.
func firstFreeHandles(n uint64) (free []uint64, err error) {
	for fd := uint64(0); uint64(len(free)) < n; fd++ {
		_, err := os.Lstat(fmt.Sprintf("/proc/self/fd/%d", fd))
		if errors.Is(err, os.ErrNotExist) {
			free = append(free, fd)
		} else if err != nil {
			return nil, err
		}
	}
	return free, nil
}
