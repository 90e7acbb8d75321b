package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/checkpoint"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// ask asks a question whose answer is no unless y is pressed.
func (m *Model) ask(title string, lines []string, yes string, then func() tea.Cmd) tea.Cmd {
	q := overlay.NewQuestion(title, lines, []overlay.Answer{{Key: "y", Label: yes}, {Key: "n", Label: "no"}}, "n", m.now)
	return m.open(overlay.Confirm, q, func(c overlay.Chosen) tea.Cmd {
		if c.Value != "y" {
			m.notice.say("nothing was done")
			return nil
		}
		return then()
	})
}

// askTool shows what a tool wants to do for good, and waits for the user.
func (m *Model) askTool(ask assistant.ConfirmRequest) tea.Cmd {
	lines := append(strings.Split(visibleLines(ask.Diff), "\n"), "") // what is confirmed is what is shown
	q := overlay.NewQuestion("The assistant wants to "+oneLine(strings.ReplaceAll(ask.Tool, "_", " ")), lines,
		[]overlay.Answer{{Key: "y", Label: "do it"}, {Key: "n", Label: "no"}}, "n", m.now)
	return m.open(overlay.Confirm, q, func(c overlay.Chosen) tea.Cmd {
		if err := m.session.Answer(ask.ID, c.Value == "y"); err != nil {
			m.notice.say("the turn was over already")
		}
		return nil
	})
}

// askAction asks a pane's question.
func (m *Model) askAction(w pane.Confirm) tea.Cmd {
	answers := []overlay.Answer{{Key: "y", Label: w.Yes}}
	then := map[string]func() pane.Action{"y": w.Then}
	for _, a := range w.More {
		answers = append(answers, overlay.Answer{Key: a.Key, Label: a.Label})
		then[a.Key] = a.Then
	}
	q := overlay.NewQuestion(w.Title, w.Lines, append(answers, overlay.Answer{Key: "n", Label: "no"}), "n", m.now)
	return m.open(overlay.Confirm, q, func(c overlay.Chosen) tea.Cmd {
		if then[c.Value] == nil {
			m.notice.say("nothing was done")
			return nil
		}
		return m.carry(then[c.Value]())
	})
}

// pick lets the user choose for a pane.
func (m *Model) pick(w pane.Pick) tea.Cmd {
	return m.open(overlay.Provider, overlay.NewPicker(w.Title, w.Entries, 0), func(c overlay.Chosen) tea.Cmd {
		return m.carry(w.Then(c.Value))
	})
}

// askOverBudget asks about a message that cannot fit: the session would send
// nothing, and keep it as an error pair.
func (m *Model) askOverBudget(p assistant.Prompt) tea.Cmd {
	b := m.session.Boundary()
	n := m.session.Settings().Budget.Estimate(p.Text)
	return m.ask("This message is too long", []string{
		fmt.Sprintf("~%d tokens, with ~%d of the system prompt; the model takes %d.", n, b.SYS, b.ML),
		"It would not be sent: shorten it, or choose a model that takes more.",
		"Kept, it stands in the conversation and can be asked again later.",
	}, "keep it unsent", func() tea.Cmd { return m.startDraft(p) })
}

// askRecovery asks what to do with what a crash left behind.
func (m *Model) askRecovery() tea.Cmd {
	r := m.opts.Recovery
	q := overlay.NewQuestion("winnow did not end well last time", r.Lines,
		[]overlay.Answer{{Key: "r", Label: "recover"}, {Key: "d", Label: "discard the unsaved rules"}}, "r", m.now)
	return m.open(overlay.Confirm, q, func(c overlay.Chosen) tea.Cmd {
		if c.Value != "d" {
			m.notice.say("recovered; nothing is saved yet")
			return nil
		}
		return m.carry(pane.Edit{Description: "Discard after a crash", Change: r.Discard})
	})
}

// openCheckpoints shows where one can go back to; it opens on "current".
func (m *Model) openCheckpoints() tea.Cmd {
	list := m.session.Checkpoints()
	entries := make([]overlay.Entry, 0, len(list)+1)
	entries = append(entries, overlay.Entry{Value: "", Text: "current state", Mark: m.styles.Icons.Marked})
	for i := len(list) - 1; i >= 0; i-- {
		c := list[i]
		entries = append(entries, overlay.Entry{
			Value: c.ID, Text: m.clock(c.Time) + "  " + c.Description, More: c.Effect(),
			Mark: m.styles.Icons.Checkpoint, Extra: map[bool]string{true: "undone"}[c.Undone],
		})
	}
	p := overlay.NewPicker("Checkpoints", entries, 0).WithKeys(
		"enter both · alt+r "+m.state()+" only · alt+c conversation only", "alt+r", "alt+c")
	return m.open(overlay.Checkpoints, p, func(c overlay.Chosen) tea.Cmd {
		if c.Value == "" {
			return nil
		}
		return m.rollBackTo(c.Value, map[string]checkpoint.Scope{"alt+r": checkpoint.Rules, "alt+c": checkpoint.Conversation}[c.Key])
	})
}

// rollBackTo goes back; the zero scope is both.
func (m *Model) rollBackTo(id string, scope checkpoint.Scope) tea.Cmd {
	if scope == "" {
		scope = checkpoint.Both
	}
	if m.session.Busy() {
		return m.complain(assistant.ErrBusy)
	}
	return m.change(rollBack(m.session, id, scope, rolledBack))
}

func (m *Model) onRolledBack(msg rolledBackMsg) tea.Cmd {
	if msg.err != nil {
		return m.complain(msg.err)
	}
	m.pane.Changed()
	if msg.text != "" {
		m.giveBack(msg.text)
		m.fitInput()
	}
	m.notice.say(msg.said)
	return tea.Batch(computeBoundary(m.session), m.reloadShown())
}

func (m *Model) undoRollback() tea.Cmd { return m.change(undoRollback(m.session)) }

// undo takes the newest change of the window back, whoever made it. It asks
// when that cuts the conversation.
func (m *Model) undo() tea.Cmd {
	if m.session.Busy() {
		return m.complain(assistant.ErrBusy)
	}
	step, ok := m.session.UndoStep()
	if !ok {
		m.notice.say("there is no change of the " + m.state() + " to undo")
		return nil
	}
	if step.Kind != checkpoint.KindTurn {
		return m.change(rollBack(m.session, step.ID, checkpoint.Rules, "undone: "+oneLine(step.Description)))
	}
	lines := []string{
		m.clock(step.Time) + "  " + oneLine(step.Description), oneLine(step.Effect()), "",
		"With the conversation, " + leaves(m.session.Visible(), step.Position) + ".",
		"The message that asked for it goes back to the input.",
	}
	if step.Session != m.session.ID() {
		lines[2] = "It was made in another session."
	}
	q := overlay.NewQuestion("Undo the assistant's change?", lines, []overlay.Answer{
		{Key: "y", Label: m.state() + " and conversation"}, {Key: "r", Label: m.state() + " only"}, {Key: "n", Label: "no"},
	}, "n", m.now)
	return m.open(overlay.Confirm, q, func(c overlay.Chosen) tea.Cmd {
		switch c.Value {
		case "y":
			return m.change(rollBack(m.session, step.ID, checkpoint.Both, rolledBack))
		case "r":
			return m.change(rollBack(m.session, step.ID, checkpoint.Rules, rolledBack))
		}
		return nil
	})
}

// leaves says how many pairs in view a cut takes.
func leaves(refs []assistant.Ref, from int64) string {
	n := 0
	for _, r := range refs {
		if from != 0 && r.Seq >= from {
			n++
		}
	}
	if n == 1 {
		return "1 pair leaves the view"
	}
	return fmt.Sprintf("%d pairs leave the view", n)
}

// clock is a time, with the day when that is another one.
func (m *Model) clock(t time.Time) string {
	t, now := t.Local(), m.now().Local()
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// state is what checkpoints of this window keep, in a word.
func (m *Model) state() string {
	if _, keeps := m.pane.(pane.Saver); keeps {
		return "rules"
	}
	return "changes"
}

// openPalette lists every command.
func (m *Model) openPalette() tea.Cmd {
	var entries []overlay.Entry
	for _, a := range m.keys.actions {
		if a.title == "" || a.inside || (m.plainChat() && (a.name == "save" || slices.Equal(a.modes, inPane))) {
			continue
		}
		var keys []string
		for _, mode := range a.modes {
			for _, k := range m.shownKeys(mode, a) {
				if !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
		entries = append(entries, overlay.Entry{Value: a.name, Text: a.title, Extra: strings.Join(keys, " ")})
	}
	return m.open(overlay.Palette, overlay.NewPicker("Commands", entries, 0), func(c overlay.Chosen) tea.Cmd {
		return m.perform(c.Value)
	})
}

// perform carries an action out by its name, from wherever one is.
func (m *Model) perform(name string) tea.Cmd {
	a := m.keys.named(name)
	if a == nil {
		return nil
	}
	if slices.Equal(a.modes, inPane) {
		m.setMode(modePane)
	} else if slices.Equal(a.modes, inView) {
		m.toView()
	}
	return a.do(m)
}

// newSession asks when rules are unsaved.
func (m *Model) newSession() tea.Cmd {
	if m.session.Busy() {
		return m.complain(assistant.ErrBusy)
	}
	if !m.pane.Status().Unsaved {
		return renewSession(m.opts.History, m.session)
	}
	return m.ask("Begin a new session?", []string{
		"There are unsaved rules. They stay as they are;", "the old conversation stays in the history.",
	}, "new session", func() tea.Cmd { return renewSession(m.opts.History, m.session) })
}

func (m *Model) onRenewed(msg renewedMsg) tea.Cmd {
	if msg.err != nil && !msg.resumed {
		return m.complain(msg.err)
	}
	m.turn = turnState{n: m.turn.n + 1}
	m.showView()
	m.setMode(modeInput)
	switch {
	case msg.err != nil:
		m.complain(msg.err)
	case msg.resumed:
		m.notice.say("the session goes on; the one before is in the history")
		m.chat.Bottom()
	default:
		m.notice.say("a new session; the old one is in the history (f, then an empty line)")
	}
	return tea.Batch(computeBoundary(m.session), m.loadMissing())
}
