package tui

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// notices are the sentences of the footer. The newest stays there until the next
// key that does something; all can be read again.
type notices struct {
	text string
	bad  bool
	past []pastNotice // oldest first
	now  func() time.Time
}

// pastNotice is a notice that was shown.
type pastNotice struct {
	at   time.Time
	text string
	bad  bool
}

const (
	maxNotices   = 100  // how many can be read again
	noticeLength = 4000 // cells: longer than the error messages of providers
)

func (n *notices) info(text string) { n.show(text, false) }
func (n *notices) fail(text string) { n.show(text, true) }
func (n *notices) clear()           { n.text = "" }

func (n *notices) show(text string, bad bool) {
	n.text, n.bad = safetext.Line(text, noticeLength), bad
	if n.text != "" {
		n.past = append(n.past, pastNotice{n.now(), n.text, bad})
		n.past = n.past[max(0, len(n.past)-maxNotices):]
	}
}

// info shows a sentence in the footer.
func (s *shared) info(text string) tea.Cmd {
	s.notice.info(text)
	return nil
}

// fail shows an error in the footer, with the way out where there is one; nil
// shows nothing.
func (s *shared) fail(err error) tea.Cmd {
	switch {
	case err == nil:
	case errors.Is(err, assistant.ErrBusy):
		s.notice.fail("the assistant is working" + s.hint(" · %s cancels", "escape"))
	case errors.Is(err, assistant.ErrNoModel):
		s.notice.fail("no model is selected" + s.hint(" · %s chooses one", "models"))
	case errors.Is(err, llm.ErrModelGone):
		s.notice.fail(sentence(err) + s.hint(" · %s chooses another", "models"))
	case errors.Is(err, workspace.ErrNoHistory):
		s.notice.fail("without a history there is only this session")
	default:
		s.notice.fail(sentence(err))
	}
	return nil
}

// sentence is an error as the footer shows it: one line, sanitised.
func sentence(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return oneLine(text)
}

// oneLine makes a text from anywhere safe for one line of the screen.
func oneLine(text string) string { return safetext.Line(text, 500) }

// cleanLines makes a text of several lines safe to show. clean removes
// invisible characters, or spells them out.
func cleanLines(text string, clean func(string) string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = clean(strings.ReplaceAll(l, "\t", "    "))
	}
	return lines
}

// key is the first key of an action, in the current mode or else in another; "" when
// it has none.
func (s *shared) key(action string) string {
	a := s.keys.named(action)
	if a == nil {
		return ""
	}
	for _, in := range append([]mode{s.mode}, a.modes...) {
		if keys := s.shownKeys(in, a); len(keys) > 0 {
			return keys[0]
		}
	}
	return ""
}

// hint is a clause that names the key of an action; without one the clause names
// the command palette, or is left out.
func (s *shared) hint(format, action string) string {
	if key := s.key(action); key != "" {
		return fmt.Sprintf(format, key)
	}
	if key := s.key("palette"); key != "" && s.keys.named(action).title != "" {
		return fmt.Sprintf(format, key+" “"+s.keys.named(action).title+"”")
	}
	return ""
}

// plainChat reports whether there is no window.
func (s *shared) plainChat() bool {
	_, none := s.pane.(pane.None)
	return none && (s.ready || !s.opts.HasPane)
}

// saves reports whether the window can be saved.
func (s *shared) saves() bool {
	_, ok := s.session.Window().(assistant.Saver)
	return ok
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
	if len(s.notice.past) == 0 {
		return s.info("there are no notices yet")
	}
	lines := make([]string, len(s.notice.past))
	for i, n := range s.notice.past {
		text := s.styles.Overlay.Text
		if n.bad {
			text = s.styles.Footer.Bad
		}
		lines[len(lines)-1-i] = s.styles.Overlay.Muted.Render(n.at.Local().Format(time.TimeOnly)) + "  " + text.Render(n.text)
	}
	return s.open(overlay.Notices, overlay.NewText("Notices", lines), nil)
}

// copyOut copies a text, with API keys redacted: to the system's clipboard, to
// the buffer of tmux and, by OSC 52, to the terminal, which may drop it.
func (s *shared) copyOut(what, text string) tea.Cmd {
	if strings.TrimSpace(text) == "" {
		return s.info("there is nothing to copy")
	}
	if s.opts.Redact != nil {
		text = s.opts.Redact(text)
	}
	native, tmux := s.opts.Clipboard, s.opts.TmuxBuffer
	copied := func(context.Context) (to []string, err error) {
		if native(text) == nil {
			to = append(to, "the clipboard")
		}
		if tmux != nil && tmux(text) == nil {
			to = append(to, "the tmux buffer")
		}
		return to, nil
	}
	return tea.Batch(tea.SetClipboard(text), async(copied, func(to []string, _ error) tea.Cmd {
		if len(to) == 0 {
			return s.info("sent " + what + " by OSC 52; whether the terminal accepts it is unknown")
		}
		return s.info("copied " + what + " to " + strings.Join(to, " and ") + " · OSC 52 sent")
	}))
}

// tmuxBuffer puts text into the buffer of the tmux around the program.
func tmuxBuffer(text string) error {
	cmd := exec.CommandContext(context.Background(), "tmux", "load-buffer", "-w", "-")
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}

// refilter evaluates the active line again after pairs have changed.
func (s *shared) refilter() tea.Cmd {
	return attempt(s.work.Refilter, func(err error) tea.Cmd {
		if err != nil {
			return s.failView(err)
		}
		return computeBoundary(s.session)
	})
}

// failView shows that the filter can no longer be evaluated, after the notice of what
// was just done.
func (s *shared) failView(err error) tea.Cmd {
	text := "the filter of the view cannot be evaluated: " + sentence(err)
	if s.notice.text != "" {
		text = s.notice.text + " · " + text
	}
	s.notice.fail(text)
	return nil
}

// loadNames reads the names that completion offers, which a command may have changed.
func (s *shared) loadNames() tea.Cmd {
	return func() tea.Msg {
		topics, saved := s.work.TopicsAndFilters(context.Background())
		return resultMsg(func() tea.Cmd {
			s.topics, s.saved = topics, saved
			return nil
		})
	}
}

// confirming runs a use case. When that wants a confirmation, it asks the user and
// runs it again, confirmed.
func (s *shared) confirming(do func(ctx context.Context, confirmed bool) (*workspace.Confirm, error), show func(error) tea.Cmd) tea.Cmd {
	return async(func(ctx context.Context) (*workspace.Confirm, error) { return do(ctx, false) }, func(c *workspace.Confirm, err error) tea.Cmd {
		if c == nil {
			return show(err)
		}
		return s.askConfirm(*c, func() tea.Cmd {
			return s.change(attempt(func(ctx context.Context) error {
				_, err := do(ctx, true)
				return err
			}, show))
		})
	})
}

// askConfirm asks for the confirmation that a use case wants.
func (s *shared) askConfirm(c workspace.Confirm, yes func() tea.Cmd) tea.Cmd {
	unsaved := "There are unsaved " + s.state() + ". They stay as they are;"
	switch c.Kind {
	case workspace.ConfirmDelete:
		return s.ask("Delete this pair for good?", []string{oneLine(c.Text)}, "delete", "keep", yes)
	case workspace.ConfirmRegenerate:
		return s.ask("Regenerate?", []string{
			"The old answer changed the " + s.state() + ". They stay as they are;",
			"a new answer may change them again." + s.hint(" %s undoes either.", "undo"),
		}, "regenerate", "keep the answer", yes)
	case workspace.ConfirmResume:
		return s.ask("Continue this session?", []string{unsaved, "the current conversation stays in the history."}, "continue", "stay here", yes)
	case workspace.ConfirmNewSession:
		return s.ask("Start a new session?", []string{unsaved, "the old conversation stays in the history."}, "new session", "stay here", yes)
	}
	return nil
}
