package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/workspace"
	"winnow/tui/keymap"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/usecase"
)

// open shows an overlay. chosen is called when the user chooses something in it.
func (m *Model) open(kind overlay.Kind, o overlay.Overlay, chosen func(overlay.Chosen) tea.Cmd) tea.Cmd {
	m.handlers[kind] = chosen
	m.overlay.Push(kind, o)
	return nil
}

// onOutcome runs the handler of an overlay after a choice, or runs the overlay's work.
func (m *Model) onOutcome(out overlay.Outcome) tea.Cmd {
	switch out := out.(type) {
	case overlay.Work:
		return func() tea.Msg { return overlayWorkedMsg{out.Run()} }
	case overlay.Chosen:
		if do := m.handlers[out.Kind]; do != nil {
			return do(out)
		}
	case overlay.Closed, overlay.Stay, overlay.TypedAhead: // nothing was chosen
	}
	return nil
}

// ask asks a question with the answers AnswerYes, which calls do, and AnswerNo. yes and no are
// the labels of the answers.
func (m *Model) ask(title safetext.Text, lines []string, yes, no string, do func() tea.Cmd) tea.Cmd {
	return m.question(overlay.Confirm, title, lines, keymap.AnswerNo, func(answer keymap.Action) tea.Cmd {
		if answer != keymap.AnswerYes {
			return m.info("nothing was changed")
		}
		return do()
	}, says(keymap.AnswerYes, yes), says(keymap.AnswerNo, no))
}

// says returns an answer of a question: the action that gives it, and its label.
func says(a keymap.Action, label string) overlay.Answer {
	return overlay.Answer{Action: a, Label: label}
}

// question asks a question with the given answers. AnswerCancel gives the answer fallback;
// so does AnswerMarked until the user marks another answer.
func (m *Model) question(kind overlay.Kind, title safetext.Text, lines []string, fallback keymap.Action, answered func(keymap.Action) tea.Cmd, answers ...overlay.Answer) tea.Cmd {
	m.notice.Clear() // after the question, the old notice would look like a new one
	q := overlay.NewQuestion(title, lines, answers, fallback, m.now)
	return m.open(kind, q, func(c overlay.Chosen) tea.Cmd { return answered(c.Action) })
}

// askConfirm asks the user for the confirmation that a use case needs.
func (m *Model) askConfirm(o usecase.ConfirmWanted) tea.Cmd {
	c, w := o.Confirm, m.wording()
	var changed []string
	if c.Changed {
		changed = []string{w.warning("There have been changes since you were asked."), ""}
	}
	yes := func() tea.Cmd {
		return m.acts.add(func(request int64) tea.Cmd { return m.commands.Confirmed(request, o) })
	}
	switch c.Kind {
	case workspace.ConfirmDelete:
		goes := deletes(c)
		return m.ask(safetext.Sprintf("Delete %s for good?", goes[0]), append(append(changed, string(oneLine(c.Text))), goes[1:]...), "delete", "keep", yes)
	case workspace.ConfirmRegenerate:
		return m.ask("Regenerate?", []string{
			"The changes made by the old answer stay in effect.",
			string("The new answer may make other changes." + m.hint(" %s undoes the newest.", keymap.Undo)),
		}, "regenerate", "keep the answer", yes)
	case workspace.ConfirmUndoRollback:
		lines := changed
		if c.By != "" {
			lines = append(lines, string(safetext.Sprintf("The last rollback was made by %s.", c.By)))
		}
		if len(c.Drops) > 0 {
			lines = append(append(lines, "Undoing the rollback loses these later steps:"), w.steps(c.Drops)...)
		}
		return m.ask("Undo the rollback?", lines, "undo it", "don't undo it", yes)
	case workspace.ConfirmNewSession:
		return m.ask("Start a new session?", []string{
			"Nothing is lost: the unsaved " + m.parts.state() + " stay unsaved,",
			"and the old conversation stays in the history.",
		}, "new session", "stay here", yes)
	}
	return nil
}

// deletes returns what deleting a message removes, for the title of a question, and a line
// that says how long its answers are, if they are longer than a line.
func deletes(c workspace.Confirm) []string {
	switch {
	case c.Answers == 0:
		return []string{"this message"}
	case c.Answers == 1 && c.Lines == 1:
		return []string{"this message and its answer"}
	case c.Answers == 1:
		return []string{"this message and its answer", fmt.Sprintf("The answer has %d lines.", c.Lines)}
	}
	return []string{fmt.Sprintf("this message and its %d answers", c.Answers), fmt.Sprintf("The answers have %d lines in total.", c.Lines)}
}

// wording is what a child needs in order to write texts and questions.
type wording struct {
	keys   *keymap.Map
	mode   keymap.Mode // the mode of the screen; texts name the keys of this mode
	author string      // the user's name as it appears among the authors of unsaved changes; "" if unknown
	styles *style.Styles
	now    time.Time
	state  string // what the checkpoints of the window contain, see (*parts).state
}

func (m *Model) wording() wording {
	return wording{m.keys, m.mode, m.commands.Author(), &m.styles, m.now(), m.parts.state()}
}

// hint returns a clause with the key of an action; see keymap.Map.Clause.
func (w wording) hint(format string, action keymap.Action) safetext.Text {
	return w.keys.Clause(w.mode, format, action)
}

// changed returns the first lines of a question that is asked again because what it shows
// has changed.
func (w wording) changed(changed *assistant.PlanChanged) []string {
	if changed == nil {
		return nil
	}
	return []string{w.warning(string(oneLine(changed.Changed(w.author)) + ". This is what would be done now:")), ""}
}

func (w wording) warning(text string) string {
	return w.styles.Rules.Warn.Render(w.styles.Icons.Warn + " " + text)
}

// clock formats a time, including the date unless it is today.
func (w wording) clock(t time.Time) string {
	t, now := t.Local(), w.now.Local()
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}
