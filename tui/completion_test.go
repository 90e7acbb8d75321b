package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// folder makes the files and goes there: paths are typed relative to it.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func TestTabTakesAPath(t *testing.T) {
	folder(t, map[string]string{
		"notes/deep/plan.txt": "the plan", "notes/pear.md": "a pear", "notice.txt": "n", "zebra": "z",
		".hidden": "h", "with space.txt": "s", "end,": "e", "ctl\x1b[31m.txt": "c",
	})
	r := start(t, 80, 24, say("read"))
	r.Type("see @")
	r.Wait("zebra")
	r.Wait("tab accept")
	frame := r.Frame()
	for _, not := range []string{".hidden", "with space", "end,", "ctl"} {
		if strings.Contains(frame, not) {
			t.Errorf("%q is offered:\n%s", not, frame)
		}
	}
	if strings.Index(frame, "notes/") > strings.Index(frame, "notice.txt") {
		t.Errorf("the folder does not come first:\n%s", frame)
	}
	r.Type("no", tuitest.Tab)
	r.Wait("see @notes/")
	r.Wait("notes/pear.md")
	r.Wait("6 B")
	r.Type(tuitest.Tab)
	r.Wait("notes/deep/plan.txt")
	r.Type(tuitest.Tab)
	r.Wait("see @notes/deep/plan.txt")
	r.Type("now", tuitest.Send)
	r.Wait("see @notes/deep/plan.txt now")
	r.answered(1)
	if got := lastUser(r.script); !strings.Contains(got, "the plan") {
		t.Errorf("the request holds %q, want the text of the file", got)
	}
}

func TestThePathsListIsWalkedAndClosed(t *testing.T) {
	folder(t, map[string]string{"a.txt": "", "b.txt": "", "c.txt": ""})
	r := start(t, 80, 24)
	r.Type("@")
	r.Wait("› a.txt")
	r.Type(tuitest.Down, tuitest.Down, tuitest.Up)
	r.Wait("› b.txt")
	r.Type(tuitest.Esc)
	r.WaitGone("b.txt")
	r.Wait("INPUT")
	r.Type(tuitest.Tab) // without a list it is the key of the next region again
	r.Wait("VIEW")
}

func TestTabBeforeTheListTakesTheFirst(t *testing.T) {
	folder(t, map[string]string{"only.txt": "x"})
	r := start(t, 80, 24)
	r.Type("@on", tuitest.Tab)
	r.Wait("@only.txt")
	r.Type("and on")
	r.Wait("@only.txt and on")
}

func TestABareNameBecomesAPath(t *testing.T) {
	folder(t, map[string]string{"Makefile": "all:"})
	r := start(t, 80, 24)
	r.Type("@Make", tuitest.Tab)
	r.Wait("@./Makefile")
	r.Type("x")
	r.Wait("@./Makefile x")
}

func TestUndoTakesACompletionBack(t *testing.T) {
	folder(t, map[string]string{"only.txt": "x"})
	r := start(t, 80, 24)
	r.Type("@on", tuitest.Tab)
	r.Wait("@only.txt")
	r.Type(tuitest.CtrlZ, "!")
	r.Wait("@on!")
}

func TestFilesOnEverySizeOfScreen(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字.md", strings.Repeat("long", 40), "e\u0301.txt"} {
		for _, n := range []string{"1", "2", "3", "4"} {
			files[n+name] = "x"
		}
	}
	folder(t, files)
	s := newStill(t, style.Options{Dark: true, Unicode: true}, 80, 24)
	s.input.draft.Paste("@")
	s.do(s.carryOut(s.input.offer()))
	if !s.input.completing() {
		t.Fatal("nothing is offered")
	}
	for w := 40; w <= 200; w += 23 {
		for h := 12; h <= 50; h += 13 {
			s.do(s.resize(w, h))
			s.keys("down")
			tuitest.Exact(t, s.frame(), w, h)
		}
	}
}

// lastUser is what the user said in the newest request.
func lastUser(script *assistanttest.Script) string {
	all := script.Requests()
	if len(all) == 0 {
		return ""
	}
	messages := all[len(all)-1].Messages
	return messages[len(messages)-1].Content
}

// The names of the pane, its rules and models, complete in a message.
func TestRulesAndModelsAreCompleted(t *testing.T) {
	folder(t, nil)
	d := startProgram(t, setup{})
	d.Type("why is @gpt-4o-p")
	d.Wait("rule or model")
	d.Type(tuitest.Tab)
	d.box("why is gpt-4o-preview")
	d.Type("@o3")
	d.Wait("o3*")
	d.Type(tuitest.Tab)
	d.box("why is gpt-4o-preview o3*")
}
