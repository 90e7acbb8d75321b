package dotenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
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
