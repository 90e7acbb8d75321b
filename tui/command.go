package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/budget"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// textLine is a line of text with a cursor: the filter line, the search.
type textLine struct {
	runes   []rune
	at      int // of the cursor
	active  bool
	hint    string // what the text would do, or what is wrong with it
	wrong   bool
	history []string
	place   int // in history; len(history) is the line being written
	kept    string
	offers  []filter.Completion
}

func (t *textLine) text() string { return string(t.runes) }

func (t *textLine) open(text string) {
	*t = textLine{active: true, history: t.history, place: len(t.history)}
	t.set(text)
}

func (t *textLine) set(text string) { t.runes = []rune(text); t.at = len(t.runes) }

// walk goes to an earlier or a later line of the history; it reports whether
// there is one.
func (t *textLine) walk(step int) bool {
	at := t.place + step
	if at < 0 || at > len(t.history) {
		return false
	}
	if t.place == len(t.history) {
		t.kept = t.text()
	}
	t.place = at
	if at == len(t.history) {
		t.set(t.kept)
	} else {
		t.set(t.history[at])
	}
	return true
}

// remember keeps a line that worked.
func (t *textLine) remember(line string) {
	if line != "" && (len(t.history) == 0 || t.history[len(t.history)-1] != line) {
		t.history = append(t.history, line)
	}
}

// key edits the line; it reports whether the text changed.
func (t *textLine) key(name, text string) bool {
	before := t.text()
	switch name {
	case "left":
		t.at = max(0, t.at-1)
	case "right":
		t.at = min(len(t.runes), t.at+1)
	case "home", "ctrl+a":
		t.at = 0
	case "end", "ctrl+e":
		t.at = len(t.runes)
	case "backspace", "ctrl+h":
		if t.at > 0 {
			t.runes = append(t.runes[:t.at-1:t.at-1], t.runes[t.at:]...)
			t.at--
		}
	case "delete":
		if t.at < len(t.runes) {
			t.runes = append(t.runes[:t.at:t.at], t.runes[t.at+1:]...)
		}
	case "ctrl+u":
		t.runes, t.at = t.runes[t.at:], 0
	case "ctrl+k":
		t.runes = t.runes[:t.at]
	case "ctrl+w":
		from := strings.LastIndexByte(strings.TrimRight(string(t.runes[:t.at]), " "), ' ') + 1
		head := []rune(string(t.runes[:t.at])[:from])
		t.runes, t.at = append(head, t.runes[t.at:]...), len(head)
	default:
		if add := []rune(safetext.Line(text, 4000)); len(add) > 0 {
			t.runes = append(t.runes[:t.at:t.at], append(add, t.runes[t.at:]...)...)
			t.at += len(add)
		}
	}
	return t.text() != before
}

// view draws the line in w cells with its cursor in sight, and says in which
// cell the cursor is.
func (t *textLine) view(w int) (string, int) {
	head := ansi.StringWidth(string(t.runes[:t.at]))
	shift := max(0, head-w+1)
	return ansi.Cut(t.text(), shift, shift+w), head - shift
}

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
	case "escape", "apply-filter", "older-filter", "newer-filter", "complete-filter", "save", "help", "hud", "mouse":
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
		m.chat.Search(m.search.text())
	case name == "down", name == "ctrl+n":
		m.search.walk(1)
		m.chat.Search(m.search.text())
	default:
		if m.search.key(name, text) {
			m.chat.Search(m.search.text())
		}
	}
	return nil
}

// lineEscape clears the text line, nothing applied; an empty one is left.
func (m *Model) lineEscape() {
	switch {
	case m.mode == modePane:
		m.pane.Escape()
	case m.mode == modeCommand && len(m.line.runes) > 0:
		m.line.set("")
		m.line.hint, m.line.wrong = "", false
	case m.mode == modeCommand:
		m.toView()
	case len(m.search.runes) > 0:
		m.search.set("")
		m.chat.Search("")
	default:
		m.search.active = false
		m.chat.Search("")
	}
}

// toCommand opens the filter line with the filter that is active.
func (m *Model) toCommand() tea.Cmd {
	m.setMode(modeCommand)
	m.line.open(m.session.Filter())
	return m.lineChanged()
}

// env is what a filter line depends on now.
func (m *Model) env() history.Env {
	b, set := m.session.Boundary(), m.session.Settings().Budget
	return history.Env{
		Env: filter.Env{
			Now: m.now(), Location: time.Local, SelectedTopic: m.session.Topic(),
			SelectedModel: m.session.Model(), Session: m.session.ID(),
		},
		CharsPerToken: set.CPT(),
		Fits: func(base []assistant.Ref) int {
			costs := make([]budget.Cost, len(base))
			for i, r := range base {
				costs[i] = budget.Cost{Tokens: r.Cost, Contributes: r.Sends}
			}
			at := budget.Predict(costs, budget.Limit{Context: b.ML, Known: b.Known}, b.SYS, set)
			return at.Y - at.First
		},
	}
}

// lineChanged says what the line would leave, or what is wrong with it.
func (m *Model) lineChanged() tea.Cmd {
	line := m.line.text()
	m.line.offers = nil
	q, err := filter.Parse(line)
	if err != nil {
		m.line.hint, m.line.wrong = err.Error(), true
		return nil
	}
	m.line.wrong = false
	if m.opts.History == nil {
		m.line.hint = ""
		return nil
	}
	return countFilter(m.opts.History, q, line, m.env())
}

func (m *Model) onCount(msg filterCountedMsg) tea.Cmd {
	if msg.line != m.line.text() || m.mode != modeCommand {
		return nil // the answer to a line that is not there any more
	}
	if msg.err != nil {
		m.line.hint, m.line.wrong = sentence(msg.err), true
		return nil
	}
	m.line.hint = fmt.Sprintf("%d pairs", msg.count)
	return nil
}

// applyLine applies the filter; an error keeps the line and applies nothing.
func (m *Model) applyLine() tea.Cmd {
	line := strings.TrimSpace(m.line.text())
	q, err := filter.Parse(line)
	if err != nil {
		m.line.hint, m.line.wrong = err.Error(), true
		return nil
	}
	if m.opts.History == nil {
		m.notice.say("without a history there is only this session")
		m.toView()
		return nil
	}
	if q.Command != nil && q.Command.Base {
		q.Expr = filter.Base(q.Expr)
	}
	m.toView()
	return applyFilter(m.opts.History, q, line, m.env())
}

// onFilter shows what a line left. A line that could not be evaluated comes
// back with the reason; nothing is applied.
func (m *Model) onFilter(msg filterAppliedMsg) tea.Cmd {
	if msg.err != nil {
		m.setMode(modeCommand)
		m.line.open(msg.line)
		m.line.hint, m.line.wrong = sentence(msg.err), true
		return nil
	}
	m.line.remember(msg.line)
	q, err := filter.Parse(msg.line)
	if err != nil {
		return nil
	}
	keep := addLine(m.opts.History, msg.line)
	if q.Command != nil {
		return tea.Batch(keep, m.colon(q, msg.refs))
	}
	m.session.SetView(msg.refs, msg.line, budget.FilterExecuted)
	for _, r := range msg.refs[max(0, len(msg.refs)-2):] {
		m.chat.Hide(r.Seq, false) // the line shows it after all
	}
	m.showView()
	m.chat.Bottom()
	m.notice.say(filterNotice(msg))
	return tea.Batch(keep, m.loadMissing())
}

func filterNotice(msg filterAppliedMsg) string {
	text := fmt.Sprintf("%d pairs", len(msg.refs))
	if msg.line == "" {
		text += " · all sessions"
	}
	if len(msg.hints) > 0 {
		text += " · " + strings.Join(msg.hints, " · ")
	}
	return text
}

func (m *Model) onCommandDone(msg commandDoneMsg) tea.Cmd {
	if msg.err != nil {
		return m.complain(msg.err)
	}
	if msg.said == "" {
		return nil
	}
	m.notice.say(msg.said)
	return tea.Batch(m.refilter(), loadNames(m.opts.History))
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

func (m *Model) olderFilter() tea.Cmd { return m.lineHistory(-1) }
func (m *Model) newerFilter() tea.Cmd { return m.lineHistory(1) }

func (m *Model) lineHistory(step int) tea.Cmd {
	if !m.line.walk(step) {
		return nil
	}
	return m.lineChanged()
}

// completeLine completes the word at the cursor; pressed again it goes on.
func (m *Model) completeLine() tea.Cmd {
	var models []string
	for _, info := range m.session.Registry().Models() {
		models = append(models, info.ID)
	}
	var saved []string
	for name := range m.names.saved {
		saved = append(saved, name)
	}
	offers := filter.Complete(m.line.text(), m.line.at, filter.Sources{Topics: m.names.topics, Models: models, Saved: saved})
	if len(offers) == 0 {
		return nil
	}
	o := offers[0]
	text := append([]rune(nil), m.line.runes[:o.From]...)
	text = append(text, []rune(o.Text)...)
	at := len(text)
	m.line.runes, m.line.at = append(text, m.line.runes[o.To:]...), at
	if len(offers) > 1 {
		labels := make([]string, 0, 6)
		for _, o := range offers[:min(len(offers), 6)] {
			labels = append(labels, o.Label)
		}
		m.notice.say(strings.Join(labels, "  "))
	}
	return m.lineChanged()
}
