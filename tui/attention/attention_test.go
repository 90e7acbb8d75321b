package attention

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

func TestTitleAndProgressTellWaitingFromWorking(t *testing.T) {
	for name, c := range map[string]struct {
		state State
		title string
		shows tea.ProgressBarState
	}{
		"at rest":    {State{}, "winnow", tea.ProgressBarNone},
		"works":      {State{Working: true}, "winnow · working", tea.ProgressBarIndeterminate},
		"what":       {State{Working: true, Doing: "Thinking…"}, "winnow · working · Thinking…", tea.ProgressBarIndeterminate},
		"asks":       {State{Question: "Save these changes?"}, "winnow · waiting for you: Save these changes?", tea.ProgressBarWarning},
		"permission": {State{Working: true, Doing: "Running x", Question: "May I?"}, "winnow · waiting for you: May I?", tea.ProgressBarWarning},
		"done":       {State{Outcome: "the answer is ready"}, "winnow · the answer is ready", tea.ProgressBarNone},
		"failed":     {State{Outcome: "the turn failed", Failed: true}, "winnow · the turn failed", tea.ProgressBarError},
		"is seen":    {State{Outcome: "the turn failed", Failed: true, Focused: true}, "winnow", tea.ProgressBarNone},
		"next turn":  {State{Working: true, Outcome: "the turn failed", Failed: true}, "winnow · working", tea.ProgressBarIndeterminate},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.state.Title(); got != c.title {
				t.Errorf("Title = %q, want %q", got, c.title)
			}
			shows := tea.ProgressBarNone
			if p := c.state.Progress(); p != nil {
				shows = p.State
			}
			if shows != c.shows {
				t.Errorf("Progress is %s, want %s", shows, c.shows)
			}
		})
	}
}

func TestAQuestionIsNotifiedOnce(t *testing.T) {
	asks := State{Question: "Save?"}
	if msg, ok := asks.Asked(State{Working: true}, true)().(tea.RawMsg); !ok || msg.Msg != "\x1b]9;winnow: a question waits: Save?\a" {
		t.Errorf("the notification is %q", msg.Msg)
	}
	for name, cmd := range map[string]tea.Cmd{
		"it still waits":   asks.Asked(asks, true),
		"it was answered":  State{}.Asked(asks, true),
		"the user looks":   State{Question: "Save?", Focused: true}.Asked(State{}, true),
		"it is turned off": asks.Asked(State{}, false),
	} {
		if cmd != nil {
			t.Errorf("%s: it is notified", name)
		}
	}
}

func TestTheStatusSaysWhatIsNeeded(t *testing.T) {
	failed := Ended(assistant.Error{})
	failed.Focused = true
	for name, c := range map[string]struct {
		state State
		want  tea.ProgramStatus
	}{
		"at rest":    {State{}, tea.ProgramStatus{State: "idle"}},
		"works":      {State{Working: true, Doing: "Thinking…"}, tea.ProgramStatus{State: "working", Message: "working · Thinking…"}},
		"asks":       {State{Question: "Save?", Needs: Answer}, tea.ProgramStatus{State: "blocked", Kind: "question", Message: "waiting for you: Save?"}},
		"permission": {State{Working: true, Question: "May I?", Needs: Permission}, tea.ProgramStatus{State: "blocked", Kind: "permission", Message: "waiting for you: May I?"}},
		"login":      {State{Needs: Login}, tea.ProgramStatus{State: "blocked", Kind: "auth"}},
		"done":       {Ended(assistant.Complete{}), tea.ProgramStatus{State: "done", Message: "the answer is ready"}},
		"failed":     {Ended(assistant.Error{}), tea.ProgramStatus{State: "error", Message: "the turn failed"}},
		"is seen":    {failed, tea.ProgramStatus{State: "error"}},
		"cancelled":  {Ended(assistant.Cancelled{}), tea.ProgramStatus{State: "idle"}},
	} {
		c.want.App = "winnow"
		if got := c.state.Status(); *got != c.want {
			t.Errorf("%s: %+v, want %+v", name, *got, c.want)
		}
	}
}

func TestNothingEscapesIntoTheTerminal(t *testing.T) {
	s := State{Question: "\x1b]0;x\a\n" + strings.Repeat("long ", 100) + "\u202e"}
	raw, ok := Notify(s.Question)().(tea.RawMsg)
	if !ok {
		t.Fatal("no raw text")
	}
	sent := raw.Msg.(string)
	if strings.Count(sent, "\a") != 1 || strings.Count(sent, "\x1b") != 1 || len(sent) > 200 {
		t.Errorf("the notification is %q", sent)
	}
	if title := s.Title(); strings.ContainsAny(title, "\x1b\a\n\u202e") || len(title) > 200 {
		t.Errorf("the title is %q", title)
	}
}
