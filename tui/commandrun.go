package tui

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/tui/overlay"
)

// onFilter shows what a line left. A line that could not be evaluated comes
// back with the reason; nothing is applied.
func (m *Model) onFilter(msg filterAppliedMsg) tea.Cmd {
	if msg.err != nil {
		return m.lineAgain(msg.line, msg.err)
	}
	for _, r := range msg.refs[max(0, len(msg.refs)-2):] {
		m.conv.chat.SetHidden(r.Seq, false) // the line shows it after all
	}
	m.conv.setBoundary(msg.boundary)
	m.conv.chat.Bottom()
	m.command.line.remember(msg.line)
	text := pairsCounted(len(msg.refs))
	if msg.line == "" {
		text += " · all sessions"
	}
	m.notice.info(strings.Join(append([]string{text}, msg.hints...), " · "))
	return m.conv.loadMissing()
}

// pairsCounted says a number of pairs, and none as such.
func pairsCounted(n int) string {
	if n == 0 {
		return "no pair"
	}
	return assistant.Counted(n, "pair")
}

// readsMarks says whether a line looks at what a user sets on pairs: stars,
// flag, topic. A saved filter may.
func readsMarks(line string) bool {
	q, err := filter.Parse(line)
	if err != nil || q.Expr == nil {
		return false
	}
	reads := false
	filter.Walk(q.Expr, func(x filter.Expr) {
		switch x.(type) {
		case filter.Stars, filter.Flag, filter.Topic, filter.TopicSelected, filter.TopicLast, filter.Saved:
			reads = true
		default:
		}
	})
	return reads
}

// onCommandPlanned executes a command; what changes many pairs, or for good,
// asks first.
func (m *Model) onCommandPlanned(msg commandPlannedMsg) tea.Cmd {
	if msg.err != nil {
		return m.lineAgain(msg.line, msg.err)
	}
	do := func() tea.Cmd { return executeCommand(m.work, msg.order, msg.line) }
	yes := string(msg.order.Verb)
	if msg.order.Verb == filter.SetTopic {
		yes = "move"
	}
	what := oneLine(msg.order.Does())
	what = strings.ToUpper(what[:1]) + what[1:]
	switch msg.order.Confirm() {
	case history.ConfirmNewTopic:
		return m.ask("There is no topic "+oneLine(msg.order.Topic)+". Create it?", []string{what + "."}, yes, "don't "+yes, do)
	case history.ConfirmDelete:
		return m.ask(what+" for good?", nil, yes, "don't "+yes, do)
	case history.ConfirmMany:
		return m.ask(what+"?", nil, yes, "don't "+yes, do)
	default:
		return do()
	}
}

// onCommandExecuted says what was done, and shows the pairs as they are now.
func (m *Model) onCommandExecuted(msg commandExecutedMsg) tea.Cmd {
	if msg.err != nil && msg.out.Text == "" {
		return m.lineAgain(msg.line, msg.err)
	}
	notice := msg.out.Text
	if msg.out.CanUndo() {
		m.command.undoStack = append(m.command.undoStack, msg.order.Seqs)
		notice += m.hintIn(modeView, " · %s undoes it", "undo-pairs")
	}
	m.notice.info(notice)
	if msg.err != nil { // what could not be evaluated again is the view
		return m.onStale(viewStaleMsg{msg.err})
	}
	m.command.line.remember(msg.line)
	var cmds []tea.Cmd
	if len(msg.out.Filters) > 0 {
		cmds = append(cmds, m.openFilters(msg.out.Filters))
	}
	if !msg.order.DryRun {
		cmds = append(cmds, m.showMarks(msg.order.Seqs))
	}
	return tea.Batch(cmds...)
}

// showMarks shows what has changed of pairs: on the screen, and by the active
// filter, which the workspace has evaluated again.
func (m *Model) showMarks(seqs []int64) tea.Cmd {
	loaded := slices.DeleteFunc(m.conv.chat.Loaded(), func(seq int64) bool {
		_, in := slices.BinarySearch(seqs, seq)
		return !in
	})
	cmds := []tea.Cmd{computeBoundary(m.session), loadNames(m.work)}
	if len(loaded) > 0 {
		cmds = append(cmds, loadPairs(m.session, loaded))
	}
	return tea.Batch(cmds...)
}

// onCommandUndone shows the pairs as they were before the last command.
func (m *Model) onCommandUndone(msg commandUndoneMsg) tea.Cmd {
	switch {
	case errors.Is(msg.err, workspace.ErrNothingToUndo):
		return m.info("there is no command of the filter line to undo")
	case msg.err != nil && msg.out.Text == "":
		return m.fail(msg.err)
	}
	m.notice.info("undone: " + msg.out.Text)
	if msg.err != nil {
		m.onStale(viewStaleMsg{msg.err})
	}
	var seqs []int64
	if n := len(m.command.undoStack); n > 0 {
		seqs = m.command.undoStack[n-1]
		m.command.undoStack = m.command.undoStack[:n-1]
	}
	return m.showMarks(seqs)
}

// openFilters lists the saved filters, to apply or to delete one.
func (m *Model) openFilters(all []history.SavedFilter) tea.Cmd {
	entries := make([]overlay.Entry, len(all))
	for i, f := range all {
		entries[i] = overlay.Entry{Value: f.Name, Text: "@" + f.Name, Extra: f.Line}
	}
	const forget = "alt+x"
	p := overlay.NewPicker("Saved filters", entries, 0).WithKeys("enter shows its pairs · "+forget+" deletes it", forget)
	return m.open(overlay.Filters, p, func(c overlay.Chosen) tea.Cmd {
		if c.Key == forget {
			return m.runLine(":forget " + c.Value)
		}
		return m.runLine("@" + c.Value)
	})
}

// onStale says that the view is one of before: its line can no longer be
// evaluated. What was just done is said first.
func (m *Model) onStale(msg viewStaleMsg) tea.Cmd {
	text := "the filter of the view cannot be evaluated: " + sentence(msg.err)
	if m.notice.text != "" {
		text = m.notice.text + " · " + text
	}
	m.notice.fail(text)
	return nil
}

// onNames changes what completion offers.
func (m *Model) onNames(msg namesLoadedMsg) tea.Cmd {
	m.pickers.topics, m.command.saved = msg.topics, msg.saved
	return nil
}

// onTopics lets the selected topic follow, and shows the pairs under their new
// names.
func (m *Model) onTopics(msg topicsChangedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.pickers.topics, m.command.saved = msg.topics, msg.saved
	m.notice.info(msg.notice)
	if msg.from == "" { // a new topic is selected at once
		m.session.SetTopic(msg.to)
		return nil
	}
	m.session.TopicMoved(msg.from, msg.to)
	return tea.Batch(loadPairs(m.session, m.conv.chat.Loaded()), refilter(m.work))
}

// onConfirmWanted asks for a yes.
func (m *Model) onConfirmWanted(msg confirmWantedMsg) tea.Cmd {
	unsaved := "There are unsaved " + m.state() + ". They stay as they are;"
	yes := func() tea.Cmd { return m.change(msg.yes) }
	switch msg.confirm.Kind {
	case workspace.ConfirmDelete:
		return m.ask("Delete this pair for good?", []string{oneLine(msg.confirm.Text)}, "delete", "keep", yes)
	case workspace.ConfirmRegenerate:
		return m.ask("Regenerate?", []string{
			"The old answer changed the " + m.state() + ". They stay as they are;",
			"a new answer may change them again." + m.hint(" %s undoes either.", "undo"),
		}, "regenerate", "keep the answer", yes)
	case workspace.ConfirmResume:
		return m.ask("Continue this session?", []string{unsaved, "the conversation of now stays in the history."}, "continue", "stay here", yes)
	case workspace.ConfirmNewSession:
		return m.ask("Start a new session?", []string{unsaved, "the old conversation stays in the history."}, "new session", "stay here", yes)
	}
	return nil
}

// onSessionChanged shows the session that goes on now.
func (m *Model) onSessionChanged(msg sessionChangedMsg) tea.Cmd {
	if !msg.switched {
		return m.fail(msg.err)
	}
	m.turn.turn = turn{n: m.turn.n + 1}
	m.setMode(modeInput)
	m.conv.showRefs(m.session.Visible())
	switch {
	case msg.err != nil:
		m.fail(msg.err)
	case msg.resumed:
		m.notice.info("the session continues; the one before is in the history")
		m.conv.chat.Bottom()
	default:
		m.notice.info("a new session; the old one is in the history" + m.hintIn(modeView, " (%s, then an empty line)", "filter"))
	}
	return tea.Batch(computeBoundary(m.session), m.conv.loadMissing())
}

// onRolledBack shows the window and the conversation as they are now.
func (m *Model) onRolledBack(msg rolledBackMsg) tea.Cmd {
	switch {
	case errors.Is(msg.err, workspace.ErrNothingToUndo):
		return m.info("there is no rollback to undo")
	case msg.err != nil:
		return m.fail(msg.err)
	}
	m.pane.Changed()
	if msg.text != "" {
		m.input.giveBack(msg.text)
	}
	if msg.undoable {
		msg.notice += m.hint(" · %s “Undo the last rollback” undoes it", "palette")
	}
	m.notice.info(msg.notice)
	return tea.Batch(computeBoundary(m.session), m.reload())
}

// reload reads the pairs on the screen again, and what is visible when the
// filter looks at what may have changed.
func (m *Model) reload() tea.Cmd {
	load := loadPairs(m.session, m.conv.chat.Loaded())
	if readsMarks(m.session.Filter()) {
		return tea.Batch(load, refilter(m.work))
	}
	return load
}

// onPairsChanged shows pairs as they are now.
func (m *Model) onPairsChanged(msg pairsChangedMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.notice.info(msg.notice)
	cmds := []tea.Cmd{computeBoundary(m.session), loadNames(m.work)} // its topic may be new
	if len(msg.seqs) > 0 {
		if readsMarks(m.session.Filter()) {
			cmds[0] = refilter(m.work) // what is visible may be another now
		}
		cmds = append(cmds, loadPairs(m.session, msg.seqs))
	}
	return tea.Batch(cmds...)
}

// onRetryPrepared answers a pair again.
func (m *Model) onRetryPrepared(msg retryPreparedMsg) tea.Cmd {
	switch {
	case errors.Is(msg.err, workspace.ErrNotLast):
		return m.info("only the last answer can be regenerated" + m.hintIn(modeView, " · %s edits and asks again", "re-ask"))
	case msg.err != nil:
		return m.fail(msg.err)
	}
	return m.startPrompt(msg.prompt)
}

// onReAskRead puts a message into the box to be edited and sent again.
func (m *Model) onReAskRead(msg reAskReadMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail(msg.err)
	}
	m.setMode(modeInput)
	m.input.draft.Set(msg.text)
	if msg.replaces {
		m.notice.info("sending replaces the failed message" + m.hint(" · %s gives up", "escape"))
	}
	return m.input.draftChanged()
}
