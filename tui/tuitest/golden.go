package tuitest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// updateEnv is the environment variable that makes Golden write the frames instead of
// comparing them, if it is set to 1. It is not a flag, because test binaries that do not
// define a flag fail on it.
const updateEnv = "WINNOW_UPDATE"

var goldenName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`)

// Golden compares a frame, without escape sequences and trailing spaces, with
// testdata/frames/NAME.txt of the package under test. With WINNOW_UPDATE=1 it writes the
// file. A name may contain letters, digits, dots, dashes and underscores.
func Golden(t testing.TB, name, frame string) {
	t.Helper()
	if !goldenName.MatchString(name) {
		t.Fatalf("tuitest: %q is not a valid name for a frame", name)
	}
	path := filepath.Join("testdata", "frames", name+".txt")
	got := plain(frame)
	if os.Getenv(updateEnv) == "1" {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Fatalf("there is no %s; with %s=1 it becomes:\n%s", path, updateEnv, got)
	case err != nil:
		t.Fatal(err)
	}
	if diff := lineDiff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("frame %s differs (- want, + got; %s=1 writes it):\n%s\nthe whole frame is:\n%s", path, updateEnv, diff, got)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// plain returns a frame as a file stores it: text alone, with one newline at the end.
func plain(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// lineDiff shows the lines that differ, by number. Lines of a frame do not move, so an
// ordinary diff would show less.
func lineDiff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out strings.Builder
	for i := range max(len(a), len(b)) {
		la, okA := lineAt(a, i)
		lb, okB := lineAt(b, i)
		if la == lb && okA == okB {
			continue
		}
		fmt.Fprintf(&out, "line %d\n", i+1)
		if okA {
			fmt.Fprintf(&out, "  - %s\n", la)
		}
		if okB {
			fmt.Fprintf(&out, "  + %s\n", lb)
		}
		fmt.Fprintf(&out, "    %s^\n", strings.Repeat(" ", ansi.StringWidth(commonPrefix(la, lb))))
	}
	return out.String()
}

// lineAt returns line i, or false if there are fewer lines.
func lineAt(lines []string, i int) (string, bool) {
	if i >= len(lines) {
		return "", false
	}
	return lines[i], true
}

// commonPrefix returns the beginning that two lines share, in whole runes.
func commonPrefix(a, b string) string {
	n := 0
	for i, r := range a {
		if !strings.HasPrefix(b[min(i, len(b)):], string(r)) {
			break
		}
		n = i + len(string(r))
	}
	return a[:min(n, len(a))]
}

// Exact fails the test unless the frame has exactly h lines of w cells each.
func Exact(t testing.TB, frame string, w, h int) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		t.Errorf("the frame of %d×%d has %d lines:\n%s", w, h, len(lines), ansi.Strip(frame))
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n != w {
			t.Errorf("line %d of the frame of %d×%d is %d cells wide: %q", i+1, w, h, n, ansi.Strip(line))
		}
	}
}
