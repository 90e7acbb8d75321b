package tui

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// editorScript is an editor that tells when it has the terminal, takes a line
// from it, and gives it back.
const editorScript = `#!/bin/sh
printf 'the editor runs'
IFS= read -r line
printf ' %s\n\n' "$line" >> "$1"
printf 'the editor ends'
`

// editing is a fixture with an editor, and the folder of its temporary files.
func editing(t *testing.T, script string) (d *fixture, tmp string) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no shell for the editor")
	}
	path := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	d = startProgram(t, setup{lends: true, change: func(o *Options) {
		o.Editor = func(draft string) *exec.Cmd { return exec.CommandContext(t.Context(), "/bin/sh", path, draft) }
	}})
	tmp = t.TempDir()
	t.Setenv("TMPDIR", tmp)
	return d, tmp
}

// TestEditorHasTheTerminalAndGivesItBack is the round trip of ctrl+o: the
// draft is in the file, the keys are the editor's, and then ours again.
func TestEditorHasTheTerminalAndGivesItBack(t *testing.T) {
	for _, mode := range []string{"INPUT", "VIEW", "PANE"} {
		t.Run(mode, func(t *testing.T) {
			d, tmp := editing(t, editorScript)
			d.Type("words")
			d.goTo(mode)
			d.LendTerminal("ctrl+o")
			d.Wait("the editor runs")
			d.Bytes([]byte("and more\n"))
			d.box("words and more")
			d.in("INPUT")
			d.Bytes([]byte("!"))
			d.box("words and more!")
			d.Type(tuitest.CtrlZ, tuitest.CtrlZ)
			d.box("words") // nothing that was typed is lost
			if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
				t.Errorf("the editor's file is left behind: %v, %v", left, err)
			}
		})
	}
}

func TestEditorThatFailsLeavesTheDraft(t *testing.T) {
	d, tmp := editing(t, "#!/bin/sh\nprintf spoiled > \"$1\"\nprintf 'the editor fails'\nexit 3\n")
	d.Type("words")
	d.LendTerminal("ctrl+o")
	d.says("exit status 3")
	d.box("words")
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("the editor's file is left behind: %v, %v", left, err)
	}
}

// TestSuspendIsAsked looks at the message alone: carried out, it would stop this
// process. What the program does after it is in the next test.
func TestSuspendIsAsked(t *testing.T) {
	m, _ := newProgram(t, setup{})
	if msg := m.do("suspend")(); msg != (tea.SuspendMsg{}) {
		t.Errorf("the command asks for %T, want %T", msg, tea.SuspendMsg{})
	}
}

func TestResumedProgramGoesOn(t *testing.T) {
	gate := at.NewGate()
	d := startProgram(t, setup{answers: []at.Answer{{at.Say("half"), at.Stop{At: gate}, at.Say(" of it")}}})
	d.Type("go on", tuitest.Send)
	gate.Wait(t)
	d.Type("a draft")
	d.Message(tea.ResumeMsg{})
	gate.Open()
	d.Wait("half of it")
	d.rest()
	d.box("a draft")
	d.Wait("1/1")
	d.Wait(" tokens") // what the answer took comes last
	d.clean()
}

// clean waits until a repaint of the whole screen changes nothing: what the
// renderer has left out was really there.
func (d *fixture) clean() {
	d.t.Helper()
	d.WaitGone("working")
	d.rest()
	before, written := d.Frame(), len(d.Output())
	d.Message(tea.ClearScreen())
	d.Until(func(frame string) bool { return len(d.Output()) > written && frame == before })
}

// TestTerminalFollowsAStormOfSizes resizes the terminal while an answer
// streams, opens and closes overlays meanwhile, and looks at the terminal.
func TestTerminalFollowsAStormOfSizes(t *testing.T) {
	var gates []*at.Gate
	var answer at.Answer
	for i := range 40 {
		gates = append(gates, at.NewGate())
		answer = append(answer, at.Say(fmt.Sprintf("Word %d, 漢字 and **bold**.\n\n", i)), at.Stop{At: gates[i]})
	}
	d := startProgram(t, setup{answers: []at.Answer{append(answer, at.Say("The end."))}})
	d.Type("go on", tuitest.Send)
	r := rand.New(rand.NewPCG(3, 4))
	for i, g := range gates {
		g.Wait(t)
		w, h := 1+r.IntN(200), 1+r.IntN(50)
		if i%2 == 0 {
			w, h = 40+r.IntN(160), 12+r.IntN(38)
		}
		d.Resize(w, h)
		if i%5 == 0 && h >= 12 && w >= 40 {
			d.Type(tuitest.F1)
			d.Resize(w, h+1)
			d.Type(tuitest.Esc)
		}
		g.Open()
	}
	d.Resize(100, 30)
	d.rest()
	d.goTo("VIEW")
	d.Type("G")
	d.focused("The end.")
	d.Wait("1/1")
	d.Wait(" tokens")
	if n := strings.Count(d.Frame(), "\n") + 1; n != 30 {
		t.Errorf("the terminal has %d lines", n)
	}
	d.clean()
}
