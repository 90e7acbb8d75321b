package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// titled waits for a title of the window.
func (d *fixture) titled(title string) {
	d.t.Helper()
	d.Until(func(string) bool { return d.Title() == title })
}

// A user who looks elsewhere is told whether winnow works, waits or is done.
func TestWhoLooksElsewhereIsTold(t *testing.T) {
	gate := at.NewGate()
	d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{
		{at.Stop{At: gate}, at.Say("half")}, say("well"),
	}, change: func(o *Options) { o.Notify = true }})
	d.titled("winnow")
	d.Message(tea.BlurMsg{})
	d.Type("go on", tuitest.Send)
	gate.Wait(t)
	d.titled("winnow · working · Thinking…")
	d.sent("\x1b]9;4;3")
	d.clock.Advance(time.Minute)
	gate.Open()
	d.titled("winnow · the answer is ready")
	d.sent("\x1b]9;winnow: the answer is ready\a")
	d.Message(tea.FocusMsg{})
	d.titled("winnow")
	d.sent("\x1b]9;4;0")

	d.goTo("PANE")
	d.Type("x") // deletes a rule
	d.Wait("unsaved")
	d.Message(tea.BlurMsg{})
	d.Type(tuitest.CtrlS)
	d.titled("winnow · waiting for you: Save these changes?")
	d.sent("\x1b]9;winnow: waiting for your answer: Save these changes?\a", "\x1b]9;4;4;100")
	d.Type(tuitest.Esc)
	d.titled("winnow")
	if n := strings.Count(string(d.Output()), "waiting for your answer"); n != 1 {
		t.Errorf("the question was notified %d times", n)
	}
}

// sent waits until the terminal has been sent each of the sequences.
func (d *fixture) sent(sequences ...string) {
	d.t.Helper()
	for _, s := range sequences {
		d.Until(func(string) bool { return strings.Contains(string(d.Output()), s) })
	}
}

// status waits until the last status that the terminal was sent begins with these fields.
func (d *fixture) status(fields string) {
	d.t.Helper()
	const report = "\x1b]7501;state="
	d.Until(func(string) bool {
		sent := string(d.Output())
		return strings.HasPrefix(sent[max(0, strings.LastIndex(sent, report)):], report+fields+":app=winnow")
	})
}

// A terminal that collects the states of programs has this one's at every step.
func TestTheTerminalHasTheStatus(t *testing.T) {
	gate := at.NewGate()
	d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{
		{at.Stop{At: gate}, at.Say("half")}, {at.Call{Name: "save_changes", Arguments: `{}`}}, say("not saved"), {at.Cut{}},
	}, change: func(o *Options) { o.Connect = &connector{} }})
	d.status("idle")
	d.Type("go on", tuitest.Send)
	gate.Wait(t)
	d.status("working")
	gate.Open()
	d.status("done")
	d.goTo("PANE")
	d.Type("x") // deletes a rule
	d.Wait("unsaved")
	d.status("idle")
	d.Type(tuitest.CtrlS)
	d.status("blocked:kind=question")
	d.Type(tuitest.Esc)
	d.status("idle")
	d.Type(tuitest.Tab)
	d.in("INPUT")
	d.Type("save it", tuitest.Send)
	d.status("blocked:kind=permission")
	d.clock.Advance(time.Second) // the question has been read
	d.Type("n")
	d.status("done")
	d.Type(tuitest.Key("f6"))
	d.status("blocked:kind=auth")
	d.Type(tuitest.Esc)
	d.status("idle")
	d.Type("again", tuitest.Send)
	d.status("error")
	d.Message(tea.FocusMsg{})
	d.status("idle")
}

// Nothing is notified while the user looks, and not when it is turned off.
func TestWhoLooksIsNotNotified(t *testing.T) {
	for name, blurred := range map[string]bool{"looks": false, "turned off": true} {
		t.Run(name, func(t *testing.T) {
			d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{say("well")}, change: func(o *Options) { o.Notify = !blurred }})
			if blurred {
				d.Message(tea.BlurMsg{})
			}
			d.ask("go on", "well")
			d.goTo("PANE")
			d.Type("x")
			d.Wait("unsaved")
			d.Type(tuitest.CtrlS)
			d.titled("winnow · waiting for you: Save these changes?")
			if strings.Contains(string(d.Output()), "\x1b]9;winnow") {
				t.Error("it was notified")
			}
		})
	}
}
