package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// column is where a text stands in a line of a frame.
func column(t *testing.T, frame string, line int, text string) int {
	t.Helper()
	row := strings.Split(frame, "\n")[line]
	i := strings.Index(row, text)
	if i < 0 {
		t.Fatalf("%q is not in %q", text, row)
	}
	return len([]rune(row[:i]))
}

// row is the line of a frame that holds a text.
func row(t *testing.T, frame, text string) int {
	t.Helper()
	for y, line := range strings.Split(frame, "\n") {
		if strings.Contains(line, text) {
			return y
		}
	}
	t.Fatalf("%q is not in\n%s", text, frame)
	return -1
}

func TestClicksOnTheHeaderOpenWhatItShows(t *testing.T) {
	r := start(t, 100, 30)
	for part, opens := range map[string]string{"test/script": " Model ━", "0/0": " Context ━"} {
		r.Click(column(t, r.Frame(), 0, part), 0)
		r.Wait(opens)
		r.Type(tuitest.Esc)
		r.WaitGone(opens)
	}
	r.Click(1, 0) // the name opens nothing
	r.Type("x")
	r.Wait("~1")
	if strings.Contains(r.Frame(), "type to search") {
		t.Errorf("an overlay is open:\n%s", r.Frame())
	}
}

func TestClickPicksAndTheWheelMovesInAnOverlay(t *testing.T) {
	r := start(t, 100, 30)
	r.Type(tuitest.Key("ctrl+l"))
	r.Wait(" Model ━")
	frame := r.Frame()
	r.Click(1, 5) // beside the box: nothing
	y := row(t, frame, "other")
	r.Click(column(t, frame, y, "other"), y)
	r.Wait("test/other answers")

	r.Type(tuitest.F1)
	r.Wait(" Keys ━")
	before := r.Frame()
	r.Message(tea.MouseWheelMsg{Button: tea.MouseWheelDown, X: 50, Y: 15})
	r.Until(func(frame string) bool { return frame != before })
	r.Type(tuitest.Esc)
	r.WaitGone(" Keys ━")
}

func TestAQuestionTakesNoClick(t *testing.T) {
	r := start(t, 100, 30, say("one answer"))
	r.Type("talk", tuitest.Send)
	r.Wait("one answer")
	r.WaitGone("working")
	r.Type(tuitest.Esc, "d")
	r.Wait("Delete this pair")
	r.clock.Advance(overlayGuard)
	y := row(t, r.Frame(), "y delete")
	r.Click(column(t, r.Frame(), y, "y delete"), y)
	r.Type(tuitest.Esc)
	r.Wait("nothing was done")
}

// walkedPane counts what it is told to do.
type walkedPane struct {
	pane.None
	did []string
}

func (p *walkedPane) Do(action string) pane.Wish {
	p.did = append(p.did, action)
	return pane.Nothing{}
}

func (p *walkedPane) Lines(w, h int) []string {
	return slices.Repeat([]string{strings.Repeat(" ", w)}, h)
}

func TestTheWheelScrollsThePaneUnderIt(t *testing.T) {
	s := newStill(t, style.Options{}, 120, 20)
	p := &walkedPane{}
	s.pane = p
	s.do(s.resize(120, 20))
	s.do(s.onMouse(tea.MouseWheelMsg{Button: tea.MouseWheelUp, X: 100, Y: 5}))
	if want := slices.Repeat([]string{"pane-up"}, wheelStep); !slices.Equal(p.did, want) {
		t.Errorf("over the pane the wheel did %v, want %v", p.did, want)
	}
	s.do(s.onMouse(tea.MouseWheelMsg{Button: tea.MouseWheelUp, X: 5, Y: 5}))
	if len(p.did) != wheelStep {
		t.Errorf("over the chat the wheel did %v to the pane", p.did[wheelStep:])
	}
}
