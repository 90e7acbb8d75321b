package terminal

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// ClearStatus removes the status of the program.
const ClearStatus = ansi.ClearProgramStatus

// Attention is what the program does. The zero value is at rest.
type Attention struct {
	Working  bool
	Doing    string // what it does, in a few words; "" is not known
	Question string // what the user has to answer; "" is nothing
	Outcome  string // how the last turn ended, until the user does something; "" is at rest
	Failed   bool   // Outcome is a failure
	Focused  bool   // the user looks at the terminal
	// Needs is what the program cannot go on without: Permission, Answer or Login; "" is nothing.
	Needs tea.ProgramStatusKind
}

// What the program cannot go on without.
const (
	NeedsPermission = tea.ProgramStatusKindPermission // for what the assistant wants to do
	NeedsAnswer     = tea.ProgramStatusKindQuestion   // of what the user began
	NeedsLogin      = tea.ProgramStatusKindAuth       // an endpoint, and the key of it
)

const (
	app      = "winnow"
	maxText  = 80 // cells of a text
	waiting  = "waiting for you: "
	question = "a question waits: "
)

// text is the state in a few words; "" is at rest.
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
	return safetext.Line(text, maxText)
}

// Title is the title of the window.
func (s Attention) Title() string {
	if text := s.text(); text != "" {
		return app + " · " + text
	}
	return app
}

// Progress is what the terminal shows in tab or task bar: moving while the program works,
// standing in a warning colour while it waits for an answer; nil, which removes it, is
// neither, except after a failure that nobody has seen.
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

// Status is what a terminal that collects the states of programs shows.
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

// TurnEnded is the outcome of a turn that ended with an event; that of a cancelled one is none.
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

// Asked notifies a user who looks elsewhere of a question that before did not wait, when
// notifications are on.
func (s Attention) Asked(before Attention, on bool) tea.Cmd {
	if !on || s.Focused || s.Question == "" || s.Question == before.Question {
		return nil
	}
	return Notify(question + s.Question)
}

// Notify shows a notification.
func Notify(text string) tea.Cmd {
	return tea.Raw("\x1b]9;" + app + ": " + safetext.Line(text, maxText) + "\a")
}
