package dotenv

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	at "winnow/assistant/assistanttest"
)

// spin passes a little time, another one each call, without sleeping.
func spin(most int) {
	x := 0
	for range rand.IntN(most) {
		x++
	}
}

// twins are the keys that every save of playSaver gives the same value.
var twins = []string{"A", "B", "C"}

// playSaver saves forever and reports each number once it is durable.
func playSaver(path string) error {
	for n := 1; ; n++ {
		s, err := Load(path)
		if err != nil {
			return err
		}
		if n == 1 {
			value, _ := s.File.Get("A", nil)
			n, _ = strconv.Atoi(strings.TrimRight(value, "x"))
			n++
		}
		var edits []Edit
		for _, key := range twins {
			edits = append(edits, Set(key, strconv.Itoa(n)+strings.Repeat("x", n%7*1000)))
		}
		if _, err := s.Save(context.Background(), edits); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// TestKilledWhileSaving ends a saving process by SIGKILL at any moment: the
// file is one of the saved ones, never older than the last one reported, with its
// mode and owner and behind its link, and the next load leaves nothing beside
// it.
func TestKilledWhileSaving(t *testing.T) {
	rounds, swaps := at.Rounds(8, 30), 0
	const comment = "# kept \xff\r\n"
	dir := t.TempDir()
	path, target := filepath.Join(dir, ".env"), put(t, filepath.Join(dir, "real.env"), comment+"A=0\r\nB='0'\r\nC=\"0\" # c\r\n", 0o640)
	if err := os.Symlink("real.env", path); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(target, 12345, 23456); err != nil {
			t.Logf("cannot give files away here: %v", err)
		}
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	reported := 0
	for range rounds {
		cmd := child(t, "saver", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + rand.IntN(4) {
			if lines.Scan() {
				reported, _ = strconv.Atoi(lines.Text())
			}
		}
		spin(2_000_000)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what was reported before the end
			reported, _ = strconv.Atoi(lines.Text())
		}
		cmd.Wait() //nolint:errcheck // it was killed
		if names, _ := leftovers(target); len(names) > 0 {
			swaps++
		}
		if link, err := os.Readlink(path); err != nil || link != "real.env" {
			t.Errorf("the killed save left the link as %q, %v", link, err)
		}
		after, err := os.Stat(path)
		if err != nil || after.Mode() != before.Mode() || ownerOf(after) != ownerOf(before) {
			t.Errorf("the killed save left %v of %v, want %v of %v; %v", after.Mode(), ownerOf(after), before.Mode(), ownerOf(before), err)
		}
		checkTwins(t, path, comment, reported)
	}
	t.Logf("%d rounds, %d with a file left beside, %d saves", rounds, swaps, reported)
}

// checkTwins checks the file of playSaver as the kill left it and as Load does.
func checkTwins(t *testing.T, path, comment string, reported int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := load(t, path)
	if string(raw) != string(s.File.Bytes()) || !strings.HasPrefix(string(raw), comment) {
		t.Errorf("the killed save left %.40q, then loaded %.40q", raw, s.File.Bytes())
	}
	first, _ := s.File.Get(twins[0], nil)
	for _, key := range twins {
		if value, ok := s.File.Get(key, nil); !ok || value != first {
			t.Errorf("%s = %.20q, %s = %.20q: half a save", twins[0], first, key, value)
		}
	}
	if n, err := strconv.Atoi(strings.TrimRight(first, "x")); err != nil || n < reported || n > reported+1 {
		t.Errorf("saved %d, reported %d, %v", n, reported, err)
	}
	if names, _ := leftovers(s.Real); len(names) > 0 {
		t.Errorf("after a load %q lie beside the file", names)
	}
}

// TestSaveWithFewHandles saves while the process runs out of file handles, at
// every step: the save says so, changes nothing and leaves nothing behind.
func TestSaveWithFewHandles(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), ".env"), "A=1\n", 0o600)
	out, err := child(t, "few handles", path).CombinedOutput()
	failures, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(string(out)), "failures: "))
	if err != nil || failures < 2 {
		t.Fatalf("%s, %v; want saves that fail and then one that succeeds", out, err)
	}
	wantFile(t, path, "A=2\n")
}

// playEditor makes one edit for each byte it reads, in one of the ways in
// which editors save. Each edit adds a line; it answers with a byte.
func playEditor(path string) error {
	in := bufio.NewReader(os.Stdin)
	for n := 0; ; n++ {
		if _, err := in.ReadByte(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		spin(3_000_000)
		if err := foreignEdit(path, fmt.Sprintf("F%d=1\n", n), n%4); err != nil {
			return fmt.Errorf("edit %d: %w", n, err)
		}
		if _, err := os.Stdout.Write([]byte{'.'}); err != nil {
			return err
		}
	}
}

// foreignEdit adds a line to a file.
func foreignEdit(path, line string, way int) error {
	if way == 0 { // append
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(line)
		return errors.Join(err, f.Close())
	}
	if way == 1 { // open, read, cut to nothing, write
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(f)
		if err == nil {
			err = f.Truncate(0)
		}
		spin(100_000)
		if err == nil {
			_, err = f.WriteAt(append(text, line...), 0)
		}
		return errors.Join(err, f.Close())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if way == 2 { // read, later write in place
		return inPlace(path, string(text)+line)
	}
	return byRename(path, string(text)+line)
}

// TestForeignEditor saves while another process edits as often, in four ways: no edit of
// the other is ever lost. It is in the file or in a copy next to it that a save reported.
func TestForeignEditor(t *testing.T) {
	rounds := at.Rounds(100, 1000)
	path := put(t, filepath.Join(t.TempDir(), ".env"), "W=0\n", 0o600)
	needLeases(t, path)
	cmd := child(t, "editor", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	changed, busy, reverted := 0, 0, 0
	var aside []string
	answer := make([]byte, 1)
	for i := 1; i <= rounds; i++ {
		if _, err := in.Write([]byte{'.'}); err != nil {
			t.Fatal(err)
		}
		for saved := false; !saved; {
			saved = saveAgainst(t, path, i, &changed, &busy, &aside)
		}
		if _, err := io.ReadFull(out, answer); err != nil {
			t.Fatal(err)
		}
		f := load(t, path).File
		for n := max(0, i-4); n < i; n++ {
			if !foundEdit(t, n, path, aside) {
				t.Fatalf("round %d: edit %d of the other is lost", i, n)
			}
		}
		if w, _ := f.Get("W", nil); w != strconv.Itoa(i) {
			reverted++ // the other had read the file before our save
		}
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	for n := range rounds {
		if !foundEdit(t, n, path, aside) {
			t.Errorf("edit %d of the other is lost", n)
		}
	}
	t.Logf("%d saves, %d of them only after a change was reported (%d while it was open, %d put beside); the other overwrote %d with what it had read before",
		rounds, changed, busy, len(aside), reverted)
}

// foundEdit looks for an edit of the other process in the file and beside it.
func foundEdit(t *testing.T, n int, path string, aside []string) bool {
	t.Helper()
	return slices.ContainsFunc(append([]string{path}, aside...), func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && strings.Contains(string(text), fmt.Sprintf("F%d=1\n", n))
	})
}

// saveAgainst tries one save. A reported change is no failure.
func saveAgainst(t *testing.T, path string, i int, changed, busy *int, aside *[]string) bool {
	t.Helper()
	s := load(t, path)
	_, err := s.Save(t.Context(), []Edit{Set("W", strconv.Itoa(i))})
	var reported *ChangedError
	if errors.As(err, &reported) {
		if reported.Kept != "" {
			*aside = append(*aside, reported.Kept)
		}
		*changed++
		if reported.Busy {
			*busy++
		}
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}
