package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/tui/overlay"
)

// A line with a :command goes through three steps: readyOrder selects its
// pairs, onOrder asks where one has to, carryOut does it.

// readyOrder makes the command of a line ready.
func readyOrder(h history.Store, q *filter.Query, line string, env history.Env) tea.Cmd {
	return func() tea.Msg {
		o, err := history.Prepare(context.Background(), h, q, env)
		return orderReadyMsg{line: line, order: o, err: err}
	}
}

// onOrder carries a command out; what changes many pairs, or for good, asks
// first.
func (m *Model) onOrder(msg orderReadyMsg) tea.Cmd {
	o, err := msg.order, msg.err
	if err == nil {
		err = o.Refused()
	}
	if err == nil && o.Verb == filter.Delete && !o.DryRun && m.session.Busy() {
		err = assistant.ErrBusy
	}
	if err != nil {
		m.lineAgain(msg.line, err)
		return nil
	}
	do := func() tea.Cmd { return carryOut(m.opts.History, m.session, o, msg.line) }
	switch what := capitalized(oneLine(o.Does())); o.Confirm() {
	case history.ConfirmNewTopic:
		return m.ask("There is no topic "+oneLine(o.Topic)+". Create it?", []string{what + "."}, yesWord(o.Verb), do)
	case history.ConfirmDelete:
		return m.ask(what+" for good?", nil, yesWord(o.Verb), do)
	case history.ConfirmMany:
		return m.ask(what+"?", nil, yesWord(o.Verb), do)
	default:
		return do()
	}
}

// capitalized makes the first letter of a clause a capital one.
func capitalized(clause string) string { return strings.ToUpper(clause[:1]) + clause[1:] }

// yesWord is the answer that lets a command happen.
func yesWord(v filter.Verb) string {
	if v == filter.SetTopic {
		return "move"
	}
	return string(v)
}

// carryOut does what a command says.
func carryOut(h history.Store, s *assistant.Session, o history.Command, line string) tea.Cmd {
	return func() tea.Msg {
		out, err := history.Execute(context.Background(), h, o, s)
		return orderDoneMsg{line: line, order: o, out: out, err: err}
	}
}

// onOrderDone says what was done, and shows the pairs as they are now.
func (m *Model) onOrderDone(msg orderDoneMsg) tea.Cmd {
	if msg.err != nil {
		m.lineAgain(msg.line, msg.err)
		return nil
	}
	said := msg.out.Text
	if msg.out.CanUndo() {
		m.orders = append(m.orders, msg)
		m.orders = m.orders[max(0, len(m.orders)-history.MaxUndo):]
		said += m.undoHint()
	}
	m.notice.say(said)
	cmds := []tea.Cmd{m.rememberLine(msg.line)}
	if len(msg.out.Filters) > 0 {
		cmds = append(cmds, m.showFilters(msg.out.Filters))
	}
	if !msg.order.DryRun {
		cmds = append(cmds, m.pairsMarked(msg.order.Seqs), loadNames(m.opts.History))
	}
	return tea.Batch(cmds...)
}

// undoHint names the way back, with its key where it has one here.
func (m *Model) undoHint() string {
	a := m.keys.named("undo-pairs")
	if keys := m.keys.keysOf(modeView, a); len(keys) > 0 {
		return " · " + keys[0] + " undoes it"
	}
	return " · the palette undoes it"
}

// pairsMarked shows what has changed of pairs: on the screen, and by the active
// filter.
func (m *Model) pairsMarked(seqs []int64) tea.Cmd {
	loaded := slices.DeleteFunc(m.chat.Loaded(), func(seq int64) bool {
		_, in := slices.BinarySearch(seqs, seq)
		return !in
	})
	if len(loaded) == 0 {
		return m.refilter()
	}
	return tea.Batch(m.refilter(), loadPairs(m.session, loaded))
}

// undoPairs takes back what the last command did.
func (m *Model) undoPairs() tea.Cmd {
	n := len(m.orders)
	if n == 0 {
		m.notice.say("there is no command of the filter line to undo")
		return nil
	}
	last := m.orders[n-1]
	m.orders = m.orders[:n-1]
	return takeBack(m.opts.History, last)
}

// takeBack undoes what a command has done.
func takeBack(h history.Store, done orderDoneMsg) tea.Cmd {
	return func() tea.Msg {
		return orderUndoneMsg{done: done, err: history.Undo(context.Background(), h, done.out)}
	}
}

func (m *Model) onOrderUndone(msg orderUndoneMsg) tea.Cmd {
	if msg.err != nil {
		m.orders = append(m.orders, msg.done)
		return m.complain(msg.err)
	}
	m.notice.say("undone: " + msg.done.out.Text)
	return tea.Batch(m.pairsMarked(msg.done.order.Seqs), loadNames(m.opts.History))
}

// showFilters lists the saved filters, to apply or to forget one.
func (m *Model) showFilters(all []history.SavedFilter) tea.Cmd {
	entries := make([]overlay.Entry, len(all))
	for i, f := range all {
		entries[i] = overlay.Entry{Value: f.Name, Text: "@" + f.Name, Extra: f.Line}
	}
	const forget = "alt+x"
	p := overlay.NewPicker("Saved filters", entries, 0).WithKeys("enter shows its pairs · "+forget+" forgets it", forget)
	return m.open(overlay.Filters, p, func(c overlay.Chosen) tea.Cmd {
		line := "@" + c.Value
		if c.Key == forget {
			line = ":forget " + c.Value
		}
		return m.runText(line)
	})
}

// runText carries a line out as if it had been typed.
func (m *Model) runText(line string) tea.Cmd {
	q, err := filter.Parse(line)
	if err != nil {
		return m.complain(err)
	}
	m.toView()
	return m.runLine(q, line)
}

// onFailed says what could not be done in the background.
func (m *Model) onFailed(msg failedMsg) tea.Cmd { return m.complain(msg.err) }

// onStale says that the view is one of before: its line can no longer be
// evaluated. What was just done is said first.
func (m *Model) onStale(msg viewStaleMsg) tea.Cmd {
	text := "the filter of the view cannot be evaluated: " + sentence(msg.err)
	if m.notice.text != "" {
		text = m.notice.text + " · " + text
	}
	m.notice.bad(text)
	return nil
}

// The commands of the palette write a line for the pairs that are shown, which
// the user ends or applies.

func (m *Model) exportShown() tea.Cmd { return m.commandOnShown(":export ") }
func (m *Model) starShown() tea.Cmd   { return m.commandOnShown(":star ") }
func (m *Model) flagShown() tea.Cmd   { return m.commandOnShown(":flag") }
func (m *Model) unflagShown() tea.Cmd { return m.commandOnShown(":unflag") }
func (m *Model) topicShown() tea.Cmd  { return m.commandOnShown(":topic ") }
func (m *Model) deleteShown() tea.Cmd { return m.commandOnShown(":delete") }
func (m *Model) saveFilter() tea.Cmd  { return m.commandOnShown(":save ") }
func (m *Model) anyCommand() tea.Cmd  { return m.commandOnShown(":") }
func (m *Model) listFilters() tea.Cmd { return m.runText(":filters") }

// commandOnShown opens the filter line with a command on the pairs that are
// shown, and the list of what it takes.
func (m *Model) commandOnShown(command string) tea.Cmd {
	line := m.session.Filter()
	if line != "" {
		line += " "
	}
	cmd := m.commandLine(line + command)
	if strings.HasSuffix(command, " ") || command == ":" {
		m.offer()
	}
	return cmd
}
