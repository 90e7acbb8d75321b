package terminal

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// ClearStatus removes the program's status.
const ClearStatus = ansi.ClearProgramStatus

// Attention describes what the program is doing. The zero value is an idle program.
type Attention struct {
	Working  bool
	Doing    string // what the program is doing, in a few words; "" if unknown
	Question string // the question that the user has to answer; may be ""
	Outcome  string // how the last turn ended, until the user does something; may be ""
	Failed   bool   // Outcome is a failure
	Focused  bool   // the user is looking at the terminal
	// Needs is what the program waits for: NeedsPermission, NeedsAnswer or NeedsLogin; ""
	// if nothing.
	Needs tea.ProgramStatusKind
}

// What the program can wait for.
const (
	NeedsPermission = tea.ProgramStatusKindPermission // permission for what the assistant wants to do
	NeedsAnswer     = tea.ProgramStatusKindQuestion   // the answer to a question about what the user is doing
	NeedsLogin      = tea.ProgramStatusKindAuth       // the key of an endpoint
)

const (
	app      = "winnow"
	maxText  = 80 // maximum width of a text, in cells
	waiting  = "waiting for you: "
	question = "waiting for your answer: "
)

// text returns the state in a few words; "" if there is nothing to report.
func (s Attention) text() string {
	text := ""
	switch {
	case s.Question != "":
		text = waiting + s.Question
	case s.Working && s.Doing != "":
		text = "working · " + s.Doing
	case s.Working:
		text = "working"
	case !s.Focused:
		text = s.Outcome
	}
	return string(safetext.Line(text, maxText))
}

// Title returns the title of the window.
func (s Attention) Title() string {
	if text := s.text(); text != "" {
		return app + " · " + text
	}
	return app
}

// Progress returns what the terminal shows in its tab or in the task bar: a moving bar
// while the program works, a still bar in a warning colour while it waits for an answer,
// and a bar in an error colour after a failure that the user has not seen. Otherwise it
// returns nil, which removes the bar.
func (s Attention) Progress() *tea.ProgressBar {
	const whole = 100 // percent
	switch {
	case s.Question != "":
		return tea.NewProgressBar(tea.ProgressBarWarning, whole)
	case s.Working:
		return tea.NewProgressBar(tea.ProgressBarIndeterminate, whole)
	case s.Failed && !s.Focused:
		return tea.NewProgressBar(tea.ProgressBarError, whole)
	}
	return nil
}

// Status returns the status of the program, for terminals that show what their programs
// are doing.
func (s Attention) Status() *tea.ProgramStatus {
	status := &tea.ProgramStatus{State: tea.ProgramStateIdle, App: app, Kind: s.Needs, Message: s.text()}
	switch {
	case s.Needs != "":
		status.State = tea.ProgramStateBlocked
	case s.Working:
		status.State = tea.ProgramStateWorking
	case s.Failed:
		status.State = tea.ProgramStateError
	case s.Outcome != "":
		status.State = tea.ProgramStateDone
	}
	return status
}

// TurnEnded returns an Attention with the outcome of a turn whose last event is end. A
// cancelled turn has no outcome.
func TurnEnded(end assistant.Event) Attention {
	switch end.(type) {
	case assistant.Cancelled:
		return Attention{}
	case assistant.Error:
		return Attention{Outcome: "the turn failed", Failed: true}
	default:
		return Attention{Outcome: "the answer is ready"}
	}
}

// NotifyQuestion returns a command that notifies the user of a question that the previous Attention
// did not have. It returns nil if there is no such question, the user is looking at the
// terminal, or enabled is false.
func (s Attention) NotifyQuestion(previous Attention, enabled bool) tea.Cmd {
	if !enabled || s.Focused || s.Question == "" || s.Question == previous.Question {
		return nil
	}
	return Notify(question + s.Question)
}

// Notify returns a command that shows a notification.
func Notify(text string) tea.Cmd {
	return tea.Raw("\x1b]9;" + app + ": " + string(safetext.Line(text, maxText)) + "\a")
}
