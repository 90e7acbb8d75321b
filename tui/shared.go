package tui

import (
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/advice"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/presence"
	"winnow/tui/usecase"
)

// info shows a sentence in the footer.
func (s *shared) info(text string) tea.Cmd {
	s.notice.Info(text)
	return nil
}

// busyNotice begins the notice of what has to wait for the end of the turn.
var busyNotice = assistant.ErrBusy.Error()

// fail shows an error in the footer, with what to do about it; nil shows nothing.
func (s *shared) fail(err error) tea.Cmd {
	switch {
	case err == nil:
		return nil
	case s.resend != nil && errors.As(err, new(*history.StorageError)): // the footer says so already
		s.notice.Add(sentence(err), true)
		return nil
	}
	cause, next := advice.Of(err, func(action string) string {
		if action == advice.Force {
			return "--force"
		}
		return s.key(keymap.Action(action))
	})
	cause, _, _ = strings.Cut(cause, "\n")
	if next != "" {
		next = " · " + next
	}
	s.notice.Fail(oneLine(cause) + next)
	return nil
}

// refused is why the window cannot be changed now; nil when it can.
func (s *shared) refused() error {
	if s.parts.Turn != nil && s.parts.Turn.Running {
		return assistant.ErrBusy
	}
	others := s.others()
	return others.Refused()
}

// others is who else is in the window.
func (s *shared) others() presence.Others { return presence.Of(s.parts.Others, s.shownSession()) }

// shownSession is the id of the session whose pairs are shown; "" before the start is over.
func (s *shared) shownSession() string {
	if s.parts.Shown == nil {
		return ""
	}
	return s.parts.Shown.Session
}

// filterLine is the line that made the view.
func (s *shared) filterLine() string {
	if s.parts.Shown == nil {
		return startFilter
	}
	return s.parts.Shown.Filter
}

// topic is that of the pairs to come.
func (s *shared) topic() string {
	if s.parts.Shown == nil {
		return ""
	}
	return s.parts.Shown.Topic
}

// inUse are the settings of the session.
func (s *shared) inUse() assistant.Settings {
	if s.parts.Turn == nil {
		return s.opts.Settings
	}
	return s.parts.Turn.Settings
}

// startFilter is the line that a session begins with.
const startFilter = "x"

// modelID is the selected model, "provider/name"; "" for none.
func (s *shared) modelID() string {
	if s.parts.Model == nil {
		return ""
	}
	return s.parts.Model.ID
}

// readOnly is why the window cannot be changed by this program; nil: it can.
func (s *shared) readOnly() error {
	if s.parts.Checkpoints == nil {
		return nil
	}
	return s.parts.Checkpoints.ReadOnly
}

// reAsked is the failed pair that the next message replaces; 0 for none.
func (s *shared) reAsked() int64 {
	if s.parts.Turn == nil {
		return 0
	}
	return s.parts.Turn.ReAsk
}

// sentence is an error as the footer shows it: one line, sanitised.
func sentence(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return oneLine(text)
}

// oneLine makes a text from anywhere safe for one line of the screen.
func oneLine(text string) string { return safetext.Line(text, 500) }

// key is the first key of an action; "" when it has none.
func (s *shared) key(action keymap.Action) string { return s.keys.Key(s.mode, action) }

// hint is a clause that names the key of an action; see keymap.Map.Clause.
func (s *shared) hint(format string, action keymap.Action) string {
	return s.keys.Clause(s.mode, format, action)
}

// plainChat reports whether there is no window.
func (s *shared) plainChat() bool {
	_, none := s.pane.(pane.None)
	return none && (s.ready || !s.opts.HasPane)
}

// saves reports whether the window can be saved.
func (s *shared) saves() bool {
	return s.parts.Window != nil && s.parts.Window.Saves
}

// state is what checkpoints of this window hold, in a word.
func (s *shared) state() string {
	if s.saves() {
		return "rules"
	}
	return "changes"
}

// clock is a time, with the day unless that is today.
func (s *shared) clock(t time.Time) string {
	t, now := t.Local(), s.now().Local()
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// openNotices shows the notices, the newest first and whole.
func (s *shared) openNotices() tea.Cmd {
	lines := s.notice.Lines(s.styles)
	if len(lines) == 0 {
		return s.info("there are no notices yet")
	}
	return s.open(overlay.Notices, overlay.NewText("Notices", lines), nil)
}

// copyOut copies a text, with API keys redacted and without what the screen does not
// show: to the system's clipboard, to the buffer of tmux and, by OSC 52, to the terminal,
// which may drop it.
func (s *shared) copyOut(what, text string) tea.Cmd { return s.copySafe(what, text, safetext.Clean) }

// copySafe is copyOut of a text that safe makes safe to show.
func (s *shared) copySafe(what, text string, safe func(string) string) tea.Cmd {
	if strings.TrimSpace(text) == "" {
		return s.info("there is nothing to copy")
	}
	redact, native, tmux := s.opts.Redact, s.opts.Clipboard, s.opts.TmuxBuffer
	return func() tea.Msg {
		c := copiedMsg{what: what, text: safe(text)}
		if redact != nil {
			c.text = redact(c.text)
		}
		if native(c.text) == nil {
			c.to = append(c.to, "the clipboard")
		}
		if tmux != nil && tmux(c.text) == nil {
			c.to = append(c.to, "the tmux buffer")
		}
		return c
	}
}

// onCopied sends the text to the terminal as well.
func (s *shared) onCopied(msg copiedMsg) tea.Cmd {
	if len(msg.to) == 0 {
		s.notice.Info("sent " + msg.what + " by OSC 52; whether the terminal accepts it is unknown")
	} else {
		s.notice.Info("copied " + msg.what + " to " + strings.Join(msg.to, " and ") + " · OSC 52 sent")
	}
	return tea.SetClipboard(msg.text)
}

// refilter evaluates the active line again after pairs have changed.
func (s *shared) refilter() tea.Cmd { return s.commands.Refilter(s.query()) }

// failView shows that the filter can no longer be evaluated, after the notice of what
// was just done; nil shows nothing.
func (s *shared) failView(err error) tea.Cmd {
	if err == nil {
		return nil
	}
	text := "the filter of the view cannot be evaluated: " + sentence(err)
	if s.notice.Text != "" {
		text = s.notice.Text + " · " + text
	}
	s.notice.Fail(text)
	return nil
}

// loadNames reads the names that completion offers, which a command may have changed.
func (s *shared) loadNames() tea.Cmd { return s.commands.ReadNames(s.query()) }

// askConfirm asks for the confirmation that a use case wants.
func (s *shared) askConfirm(o usecase.ConfirmWanted) tea.Cmd {
	c := o.Confirm
	yes := func() tea.Cmd {
		return s.act(func(request int64) tea.Cmd { return s.commands.Confirmed(request, o) })
	}
	unsaved := "There are unsaved " + s.state() + ". They stay as they are;"
	switch c.Kind {
	case workspace.ConfirmDelete:
		return s.ask("Delete this pair for good?", []string{oneLine(c.Text)}, "delete", "keep", yes)
	case workspace.ConfirmRegenerate:
		return s.ask("Regenerate?", []string{
			"The old answer changed the " + s.state() + ". They stay as they are;",
			"a new answer may change them again." + s.hint(" %s undoes either.", keymap.Undo),
		}, "regenerate", "keep the answer", yes)
	case workspace.ConfirmResume:
		return s.ask("Continue this session?", []string{unsaved, "the current conversation stays in the history."}, "continue", "stay here", yes)
	case workspace.ConfirmNewSession:
		return s.ask("Start a new session?", []string{unsaved, "the old conversation stays in the history."}, "new session", "stay here", yes)
	}
	return nil
}
