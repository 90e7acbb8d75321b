package tui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

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
	case errors.Is(err, workspace.ErrNoHistory):
		s.notice.fail("without a history there is only this session")
	default:
		s.notice.fail(sentence(err))
	}
	return nil
}

// sentence is an error as the footer says it: one line, sanitised.
func sentence(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return oneLine(text)
}

// oneLine makes a text from anywhere safe for one line of the screen.
func oneLine(text string) string { return safetext.Line(text, 500) }

// cleanLines makes a text of several lines safe to show.
func cleanLines(text string) []string {
	lines := strings.Split(safetext.Clean(text), "\n")
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(l, "\t", "    ")
	}
	return lines
}

// visibleLines is cleanLines with everything shown that hides.
func visibleLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = safetext.Visible(strings.ReplaceAll(l, "\t", "    "))
	}
	return lines
}

// key is the first key of an action as it is bound now, in the mode of now or
// else in another one; "" when it has none.
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

// hintIn is the hint of a key in a mode.
func (s *shared) hintIn(in mode, format, action string) string {
	a := s.keys.named(action)
	if a == nil {
		return ""
	}
	if keys := s.shownKeys(in, a); len(keys) > 0 {
		return fmt.Sprintf(format, keys[0])
	}
	return ""
}

// open puts an overlay on the screen; chosen says what a choice does.
func (s *shared) open(kind overlay.Kind, o overlay.Overlay, chosen func(overlay.Chosen) tea.Cmd) tea.Cmd {
	s.handlers[kind] = chosen
	s.overlay.Push(kind, o)
	return nil
}

// onOutcome does what was chosen in an overlay.
func (s *shared) onOutcome(out overlay.Outcome) tea.Cmd {
	if search, ok := out.(overlay.Search); ok {
		return func() tea.Msg { return pickerSearchedMsg{search.Run()} }
	}
	c, chosen := out.(overlay.Chosen)
	if do := s.handlers[c.Kind]; chosen && do != nil {
		return do(c)
	}
	return nil
}

// ask asks a question whose answer is no unless y is pressed. yes and no are the
// verbs of the answers.
func (s *shared) ask(title string, lines []string, yes, no string, do func() tea.Cmd) tea.Cmd {
	return s.question(overlay.Confirm, title, lines, []overlay.Answer{{Key: "y", Label: yes}, {Key: "n", Label: no}}, "n", func(answer string) tea.Cmd {
		if answer != "y" {
			return s.info("nothing was changed")
		}
		return do()
	})
}

// question asks one with answers of its own; no is that of the keys that decline.
func (s *shared) question(kind overlay.Kind, title string, lines []string, answers []overlay.Answer, no string, answered func(string) tea.Cmd) tea.Cmd {
	q := overlay.NewQuestion(title, lines, answers, no, s.now)
	return s.open(kind, q, func(c overlay.Chosen) tea.Cmd { return answered(c.Value) })
}

// declines says what esc does to the overlay that is open.
func (s *shared) declines() string {
	switch _, kind, _ := s.overlay.Top(); kind {
	case overlay.Confirm, overlay.SaveSheet:
		return "esc declines"
	default:
		return "esc closes"
	}
}

// plainChat says whether there is no window.
func (s *shared) plainChat() bool {
	_, none := s.pane.(pane.None)
	return none
}

// state is what checkpoints of this window keep, in a word.
func (s *shared) state() string {
	if _, saves := s.pane.(pane.Saver); saves {
		return "rules"
	}
	return "changes"
}

// clock is a time, with the day when that is another one.
func (s *shared) clock(t time.Time) string {
	t, now := t.Local(), s.now().Local()
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// copyOut puts a text on the clipboard, without the keys in it.
func (s *shared) copyOut(what, text string) tea.Cmd {
	if strings.TrimSpace(text) == "" {
		return s.info("there is nothing to copy")
	}
	if s.opts.Redact != nil {
		text = s.opts.Redact(text)
	}
	return copyText(what, text, s.opts.Clipboard, s.opts.TmuxBuffer)
}

// onCopied says which ways were tried: whether the terminal took its own is not
// known.
func (s *shared) onCopied(msg copiedMsg) tea.Cmd {
	var to []string
	if msg.native {
		to = append(to, "the clipboard")
	}
	if msg.tmux {
		to = append(to, "the tmux buffer")
	}
	if len(to) == 0 {
		return s.info("sent " + msg.what + " by OSC 52; whether the terminal takes it is not known")
	}
	return s.info("copied " + msg.what + " to " + strings.Join(to, " and ") + " · OSC 52 sent")
}

const (
	// noticesKept is how many notices can be read again.
	noticesKept = 100
	// noticeLength bounds one, in cells: the longest words of a provider.
	noticeLength = 4000
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

func (n *notices) info(text string) { n.show(text, false) }
func (n *notices) fail(text string) { n.show(text, true) }
func (n *notices) clear()           { n.text = "" }

func (n *notices) show(text string, bad bool) {
	n.text, n.bad = safetext.Line(text, noticeLength), bad
	if n.text == "" {
		return
	}
	n.past = append(n.past, pastNotice{n.now(), n.text, bad})
	n.past = n.past[max(0, len(n.past)-noticesKept):]
}
