package tui

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
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
	for part, opens := range map[string]string{"script": " Model ─", "% of": " Context ─"} {
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
	r.Wait(" Model ─")
	frame := r.Frame()
	r.Click(1, 5) // beside the box: nothing
	y := row(t, frame, "other")
	r.Click(column(t, frame, y, "other"), y)
	r.Wait("test/other is now in use")

	r.Type(tuitest.F1)
	r.Wait(" Keys ─")
	before := r.Frame()
	r.Message(tea.MouseWheelMsg{Button: tea.MouseWheelDown, X: 50, Y: 15})
	r.Until(func(frame string) bool { return frame != before })
	r.Type(tuitest.Esc)
	r.WaitGone(" Keys ─")
}

func TestAQuestionTakesNoClick(t *testing.T) {
	r := start(t, 100, 30, say("one answer"))
	r.Type("talk", tuitest.Send)
	r.Wait("one answer")
	r.WaitGone("working")
	r.Type(tuitest.Esc, "d")
	r.Wait("Delete this message")
	r.clock.Advance(overlayGuard)
	y := row(t, r.Frame(), "y delete")
	r.Click(column(t, r.Frame(), y, "y delete"), y)
	r.Type(tuitest.Esc)
	r.Wait("nothing was changed")
}

// walkedPane counts what it is told to do.
type walkedPane struct {
	pane.None
	did []keymap.Action
}

func (p *walkedPane) Do(action keymap.Action) pane.Action {
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
	if want := slices.Repeat([]keymap.Action{keymap.PaneUp}, wheelStep); !slices.Equal(p.did, want) {
		t.Errorf("over the pane the wheel did %v, want %v", p.did, want)
	}
	s.do(s.onMouse(tea.MouseWheelMsg{Button: tea.MouseWheelUp, X: 5, Y: 5}))
	if len(p.did) != wheelStep {
		t.Errorf("over the chat the wheel did %v to the pane", p.did[wheelStep:])
	}
}

// drag presses the left button, moves and lets go.
func (r *rig) drag(fromX, fromY, toX, toY int) {
	left := func(x, y int) tea.Mouse { return tea.Mouse{X: x, Y: y, Button: tea.MouseLeft} }
	r.Message(tea.MouseClickMsg(left(fromX, fromY)))
	r.Message(tea.MouseMotionMsg(left(toX, toY)))
	r.Message(tea.MouseReleaseMsg(left(toX, toY)))
}

func TestDraggingCopiesTheTextAsDrawn(t *testing.T) {
	r := start(t, 60, 24, say("Some **bold** words that are long enough to be wrapped at this width, and `code`."))
	copied := make(chan string, 9)
	r.model.opts.Clipboard = func(text string) error { copied <- text; return nil }
	r.Type("talk", tuitest.Send)
	r.answered(1)
	r.Wait("and code")
	frame := r.Frame()
	y := row(t, frame, "Some bold")
	x := column(t, frame, y, "Some bold")
	last := row(t, frame, "and code")
	r.drag(x, y, column(t, frame, last, "code.")+4, last)
	r.Wait("copied the selection")
	if got, want := <-copied, "Some bold words that are long enough to be wrapped at this width, and code."; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
	if !strings.Contains(r.Frame(), "INPUT") {
		t.Error("dragging took the focus")
	}
}

func TestDraggingBeyondTheEdgeScrolls(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	s.pairs(assistant.Pair{UserText: "talk", AssistantText: safetext.Text(strings.Repeat("a line\n\n", 100) + "the end")})
	s.conv.chat.Top()
	s.do(s.loadMissing())
	s.View()
	left := func(y int) tea.Mouse { return tea.Mouse{X: 4, Y: y, Button: tea.MouseLeft} }
	y := row(t, plainFrame(s.frame()), "a line")
	s.do(s.onMouse(tea.MouseClickMsg(left(y))))
	for i := range 300 {
		s.do(s.onMouse(tea.MouseMotionMsg(left(22 + i%2))))
		s.View()
	}
	if !strings.Contains(plainFrame(s.frame()), "the end") {
		t.Errorf("it did not scroll to the end:\n%s", plainFrame(s.frame()))
	}
	if _, selected := s.conv.chat.SelectEnd(); !selected {
		t.Error("nothing is selected")
	}
}

func TestAClickOnAChipChoosesIt(t *testing.T) {
	r := start(t, 80, 24, say(`Which? SUGGESTED_VALUES: {"values":[{"label":"A","value":"take a"},{"label":"B","value":"take b"}]}`), say("b it is"))
	r.Type("hello", tuitest.Send)
	r.Wait("[alt+2 B: take b]")
	r.answered(1)
	y := row(t, r.Frame(), "[alt+2 B: take b]")
	r.Click(column(t, r.Frame(), y, "2 B"), y)
	r.Wait("b it is")
	if last := r.script.Requests()[1].Messages; last[len(last)-1].Content != "take b" {
		t.Errorf("the click sends %q", last[len(last)-1].Content)
	}
}

// hiding are the characters that a terminal obeys or a reader does not see. U+0090 begins
// a control string, which is removed up to its end, U+009C.
const hiding = "a\x1b[31mb\rc\u202ed\u200be\x07f\u0090g\u009c\U000E0041h"

// Whatever is copied, also of pairs and names that were stored unsafe, is what the screen
// shows.
func TestCopiesHoldNothingHidden(t *testing.T) {
	p := told("question "+hiding, "answer "+hiding+"\n\n```go\ncode "+hiding+"\n```\n")
	p.Model, p.Author, p.Topic, p.Reasoning, p.Notice = "m/"+hiding, hiding, hiding, hiding, hiding
	p.ToolCalls = []assistant.ToolCall{{ID: "1", Name: "tool" + hiding, Arguments: json.RawMessage(`{"a":"\u202e` + "\u200b" + `"}`), Result: &assistant.ToolResult{Message: hiding}}}
	r := startProgram(t, setup{pairs: []assistant.Pair{p}, w: 100, h: 40})
	r.Wait("question")
	r.Type(tuitest.Tab)
	copies := func(how string, do func()) {
		t.Helper()
		do()
		r.Wait("OSC 52 sent")
		got := r.copied[len(r.copied)-1]
		if got != string(safetext.Clean(got)) || strings.TrimSpace(got) == "" || strings.ContainsAny(got, "\x1b\r\u202e\u200b\x07\u0090\U000E0041") {
			t.Errorf("%s copies %q", how, got)
		}
		osc := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(got))
		r.Until(func(string) bool { return strings.Contains(string(r.Output()), osc) })
		r.Type("j")
		r.WaitGone("OSC 52")
	}
	copies("y", func() { r.Type("y") })
	copies("Y", func() { r.Type("Y") })
	copies("c", func() { r.Type("c") })
	r.Type("x")
	r.Wait("y copies")
	copies("the request", func() { r.Type("y") })
}

// Also a text that came past the cleaning of stored pairs is copied clean.
func TestWhatIsCopiedIsCleaned(t *testing.T) {
	s := newStill(t, style.Options{}, 80, 24)
	copied := ""
	s.opts.Clipboard = func(text string) error { copied = text; return nil }
	s.do(s.copyOut(copyText{what: "it", text: hiding}))
	if copied != string(safetext.Clean(hiding)) {
		t.Errorf("copied %q, want %q", copied, safetext.Clean(hiding))
	}
}

// 23: what was tried to copy is said, and tmux is asked as well.
func TestCopyingSaysWhatWasTried(t *testing.T) {
	refuse := func(string) error { return context.Canceled }
	accept := func(string) error { return nil }
	for want, ways := range map[string][2]func(string) error{
		"copied it to the clipboard and the tmux buffer · OSC 52 sent":  {accept, accept},
		"copied it to the tmux buffer · OSC 52 sent":                    {refuse, accept},
		"sent it to the terminal by OSC 52; the terminal may ignore it": {refuse, nil},
	} {
		s := newStill(t, style.Options{Unicode: true}, 80, 24)
		s.opts.Clipboard, s.opts.TmuxBuffer = ways[0], ways[1]
		s.do(s.copyOut(copyText{what: "it", text: "text"}))
		if string(s.notice.Text) != want {
			t.Errorf("the notice is %q, want %q", s.notice.Text, want)
		}
	}
}

func TestTheMouseReachesHintsAndButtons(t *testing.T) {
	d := startProgram(t, setup{w: 140, h: 32, answers: []at.Answer{say("an answer")}, change: func(o *Options) { o.Mouse = true }})
	click := func(text string) {
		for y, line := range strings.Split(d.Frame(), "\n") {
			if before, _, ok := strings.Cut(line, text); ok {
				d.Click(len([]rune(before))+1, y)
				return
			}
		}
		t.Fatalf("there is no %q", text)
	}
	d.Type("hello")
	click("[ctrl+j send]")
	d.Wait("an answer")
	d.rest()
	before := d.session.ID()
	click("[new session]")
	d.says("a new session")
	if d.session.ID() == before {
		t.Error("the session is the same")
	}
	d.Type(tuitest.Tab)
	d.in("VIEW")
	click("ctrl+l model")
	d.Wait("─ Model ─")
}
