package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/budget"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// typingLine says whether a text line has the focus.
func (m *Model) typingLine() bool {
	return m.mode == modeCommand || (m.mode == modeView && m.search.active) || (m.mode == modePane && m.pane.Typing())
}

// lineAction says whether an action works although a text line has the focus.
func lineAction(a *action) bool {
	if a == nil {
		return false
	}
	switch a.name {
	case "escape", "apply-filter", "older-filter", "newer-filter", "complete-filter", "complete-filter-back", "save", "help", "hud", "mouse", "notices":
		return true
	}
	return strings.HasPrefix(a.name, "choose-")
}

// lineKey gives the text line that has the focus a key.
func (m *Model) lineKey(name, text string) tea.Cmd {
	switch {
	case m.mode == modePane:
		return m.carry(m.pane.Key(name, text))
	case m.mode == modeCommand:
		if m.line.key(name, text) {
			return m.lineChanged()
		}
	case name == "enter":
		return m.startSearch()
	case name == "up", name == "ctrl+p":
		m.search.walk(-1)
		m.chat.Search(m.search.Text())
	case name == "down", name == "ctrl+n":
		m.search.walk(1)
		m.chat.Search(m.search.Text())
	default:
		if m.search.key(name, text) {
			m.chat.Search(m.search.Text())
		}
	}
	return nil
}

// lineEscape closes the list of a text line, else clears the line, nothing
// applied, and the key for earlier lines brings it back; an empty one is left.
func (m *Model) lineEscape() tea.Cmd {
	switch {
	case m.mode == modePane:
		m.pane.Escape()
	case m.mode == modeCommand && m.line.offers.open():
		return m.closeOffers()
	case m.mode == modeCommand && !m.line.Empty():
		m.line.clear()
		return m.lineChanged()
	case m.mode == modeCommand:
		m.toView()
	case !m.search.Empty():
		m.search.clear()
		m.chat.Search("")
	default:
		m.search.active = false
		m.chat.Search("")
	}
	return nil
}

// toCommand opens the filter line with the filter that is active.
func (m *Model) toCommand() tea.Cmd { return m.commandLine(m.session.Filter()) }

// commandLine opens the filter line with a text.
func (m *Model) commandLine(text string) tea.Cmd {
	m.setMode(modeCommand)
	m.line.open(text)
	return m.lineChanged()
}

// lineAgain opens it with a line that did not work, and says why.
func (m *Model) lineAgain(line string, err error) {
	if m.mode != modeView || m.overlay.Open() {
		m.complain(err) // the user has gone on to something else
		return
	}
	m.setMode(modeCommand)
	m.line.open(line)
	m.line.fail(err)
}

// env is what a filter line depends on now.
func (m *Model) env() history.Env { return history.EnvOf(m.session, m.now()) }

// lineChanged says what the line would leave, or what is wrong with it.
func (m *Model) lineChanged() tea.Cmd {
	line := m.line.Text()
	m.line.offers = offers{}
	q, err := filter.Parse(line)
	if err != nil {
		m.line.fail(err)
		return nil
	}
	if m.opts.History == nil {
		m.line.say("")
		return nil
	}
	m.line.wrong, m.line.column = false, 0 // the number stays until the new one is known
	return countFilter(m.opts.History, q, line, m.env())
}

func (m *Model) onCount(msg filterCountedMsg) tea.Cmd {
	if msg.line != m.line.Text() || m.mode != modeCommand || m.line.wrong {
		return nil // the answer to a line that is not there any more, or that was applied since and failed
	}
	if msg.err != nil {
		m.line.fail(msg.err)
		return nil
	}
	m.line.say(pairsCounted(msg.count))
	return nil
}

// applyLine applies the line; an error keeps it and applies nothing.
func (m *Model) applyLine() tea.Cmd {
	line := strings.TrimSpace(m.line.Text())
	q, err := filter.Parse(line)
	if err != nil {
		m.line.offers = offers{}
		m.line.fail(err)
		return nil
	}
	m.toView()
	m.notice.clear()
	return m.runLine(q, line)
}

// runLine filters, or makes the command of a line ready.
func (m *Model) runLine(q *filter.Query, line string) tea.Cmd {
	if m.opts.History == nil {
		m.notice.say("without a history there is only this session")
		return nil
	}
	if q.Command != nil {
		return readyOrder(m.opts.History, q, line, m.env())
	}
	return applyFilter(m.opts.History, q, line, m.env())
}

// onFilter shows what a line left. A line that could not be evaluated comes
// back with the reason; nothing is applied.
func (m *Model) onFilter(msg filterAppliedMsg) tea.Cmd {
	if msg.err != nil {
		m.lineAgain(msg.line, msg.err)
		return nil
	}
	m.session.SetView(msg.refs, msg.line, budget.FilterExecuted)
	for _, r := range msg.refs[max(0, len(msg.refs)-2):] {
		m.chat.Hide(r.Seq, false) // the line shows it after all
	}
	m.showView()
	m.chat.Bottom()
	m.notice.say(filterNotice(msg))
	return tea.Batch(m.rememberLine(msg.line), m.loadMissing())
}

// rememberLine keeps a line that worked.
func (m *Model) rememberLine(line string) tea.Cmd {
	m.line.remember(line)
	return addLine(m.opts.History, line)
}

func filterNotice(msg filterAppliedMsg) string {
	text := pairsCounted(len(msg.refs))
	if msg.line == "" {
		text += " · all sessions"
	}
	if len(msg.hints) > 0 {
		text += " · " + strings.Join(msg.hints, " · ")
	}
	return text
}

// pairsCounted says a number of pairs, and none as such.
func pairsCounted(n int) string {
	if n == 0 {
		return "no pair"
	}
	return history.Pairs(n)
}

// refilter evaluates the active line again after pairs have changed.
func (m *Model) refilter() tea.Cmd {
	q, err := filter.Parse(m.session.Filter())
	if err != nil || m.opts.History == nil {
		return computeBoundary(m.session)
	}
	return refilter(m.opts.History, m.session, q, m.session.Filter(), m.env())
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

// olderFilter and newerFilter walk through the lines that worked, or through
// the list that is open.
func (m *Model) olderFilter() tea.Cmd { return m.lineHistory(-1) }
func (m *Model) newerFilter() tea.Cmd { return m.lineHistory(1) }

func (m *Model) lineHistory(step int) tea.Cmd {
	switch {
	case m.line.offers.open():
		return m.nextOffer(step)
	case !m.line.walk(step):
		return nil
	}
	return m.lineChanged()
}
