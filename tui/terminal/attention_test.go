package terminal

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

func TestTitleAndProgressTellWaitingFromWorking(t *testing.T) {
	for name, c := range map[string]struct {
		state Attention
		title string
		shows tea.ProgressBarState
	}{
		"at rest":    {Attention{}, "winnow", tea.ProgressBarNone},
		"works":      {Attention{Working: true}, "winnow · working", tea.ProgressBarIndeterminate},
		"what":       {Attention{Working: true, Doing: "Thinking…"}, "winnow · working · Thinking…", tea.ProgressBarIndeterminate},
		"asks":       {Attention{Question: "Save these changes?"}, "winnow · waiting for you: Save these changes?", tea.ProgressBarWarning},
		"permission": {Attention{Working: true, Doing: "Running x", Question: "May I?"}, "winnow · waiting for you: May I?", tea.ProgressBarWarning},
		"done":       {Attention{Outcome: "the answer is ready"}, "winnow · the answer is ready", tea.ProgressBarNone},
		"failed":     {Attention{Outcome: "the turn failed", Failed: true}, "winnow · the turn failed", tea.ProgressBarError},
		"is seen":    {Attention{Outcome: "the turn failed", Failed: true, Focused: true}, "winnow", tea.ProgressBarNone},
		"next turn":  {Attention{Working: true, Outcome: "the turn failed", Failed: true}, "winnow · working", tea.ProgressBarIndeterminate},
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
	asks := Attention{Question: "Save?"}
	if msg, ok := asks.NotifyQuestion(Attention{Working: true}, true)().(tea.RawMsg); !ok || msg.Msg != "\x1b]9;winnow: waiting for your answer: Save?\a" {
		t.Errorf("the notification is %q", msg.Msg)
	}
	for name, cmd := range map[string]tea.Cmd{
		"it still waits":   asks.NotifyQuestion(asks, true),
		"it was answered":  Attention{}.NotifyQuestion(asks, true),
		"the user looks":   Attention{Question: "Save?", Focused: true}.NotifyQuestion(Attention{}, true),
		"it is turned off": asks.NotifyQuestion(Attention{}, false),
	} {
		if cmd != nil {
			t.Errorf("%s: it is notified", name)
		}
	}
}

func TestTheStatusSaysWhatIsNeeded(t *testing.T) {
	failed := TurnEnded(assistant.Error{})
	failed.Focused = true
	for name, c := range map[string]struct {
		state Attention
		want  tea.ProgramStatus
	}{
		"at rest":    {Attention{}, tea.ProgramStatus{State: "idle"}},
		"works":      {Attention{Working: true, Doing: "Thinking…"}, tea.ProgramStatus{State: "working", Message: "working · Thinking…"}},
		"asks":       {Attention{Question: "Save?", Needs: NeedsAnswer}, tea.ProgramStatus{State: "blocked", Kind: "question", Message: "waiting for you: Save?"}},
		"permission": {Attention{Working: true, Question: "May I?", Needs: NeedsPermission}, tea.ProgramStatus{State: "blocked", Kind: "permission", Message: "waiting for you: May I?"}},
		"login":      {Attention{Needs: NeedsLogin}, tea.ProgramStatus{State: "blocked", Kind: "auth"}},
		"done":       {TurnEnded(assistant.Complete{}), tea.ProgramStatus{State: "done", Message: "the answer is ready"}},
		"failed":     {TurnEnded(assistant.Error{}), tea.ProgramStatus{State: "error", Message: "the turn failed"}},
		"is seen":    {failed, tea.ProgramStatus{State: "error"}},
		"cancelled":  {TurnEnded(assistant.Cancelled{}), tea.ProgramStatus{State: "idle"}},
	} {
		c.want.App = "winnow"
		if got := c.state.Status(); *got != c.want {
			t.Errorf("%s: %+v, want %+v", name, *got, c.want)
		}
	}
}

func TestNothingEscapesIntoTheTerminal(t *testing.T) {
	s := Attention{Question: "\x1b]0;x\a\n" + strings.Repeat("long ", 100) + "\u202e"}
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
