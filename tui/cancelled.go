package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/style"
	"winnow/tui/usecase"
)

// numbers identifies what the number keys alt+1 to alt+9 choose from.
type numbers int

// What the number keys choose from, in order of precedence.
const (
	ofEnterQuestion numbers = iota // the question in the footer
	ofCancelled                    // the card of a cancelled answer
	ofAnswer                       // the suggestions of the newest answer, or the lines of the welcome
)

// numbersOf returns what the number keys currently choose from, ignoring overlays.
func (m *Model) numbersOf() numbers {
	switch {
	case m.enterQuestion.open:
		return ofEnterQuestion
	case m.parts.cancelled() != nil && !m.turn.running:
		return ofCancelled
	}
	return ofAnswer
}

// cancelled returns the cancelled answer that the user can keep, or nil.
func (p *parts) cancelled() *assistant.Pair {
	if p.Turn == nil {
		return nil
	}
	return p.Turn.Cancelled
}

// cancelledCard returns the last line of the conversation, which offers to keep a cancelled
// answer or to ask again; "" if there is no cancelled answer or a turn is running.
func (m *Model) cancelledCard(w int) string {
	p := m.parts.cancelled()
	if p == nil || m.turn.running {
		return ""
	}
	what, until := "Cancelled while thinking", "dropped when you send"
	if n := assistant.PartialWords(p); n > 0 {
		what = "Cancelled after " + assistant.Counted(n, "word")
	}
	button := func(n int, label, short string) (long, brief string) {
		key := ""
		if m.numbersOf() == ofCancelled {
			key = string(m.hint("%s ", keymap.Choose(n)))
		}
		return "[" + key + label + "]", "[" + key + short + "]"
	}
	keep, keepShort := button(1, "Keep this part", "Keep")
	again, againShort := button(2, "Ask again", "Again")
	buttons := keep + " " + again
	if m.widths.Width("  "+what+", "+until+" · "+buttons) <= w {
		what += ", " + until
	}
	if m.widths.Width("  "+what+" · "+buttons) > w {
		buttons = keepShort + " " + againShort
	}
	if m.widths.Width("  "+what+" · "+buttons) > w {
		what = "Cancelled"
	}
	return style.Fit("  "+m.styles.Chat.Notice.Render(what+" · ")+m.styles.Chat.Number.Render(buttons), w, m.styles.Icons.Ellipsis)
}

// chooseCancelled chooses button i of the card, counted from 0: it keeps the cancelled answer or
// repeats its request.
func (m *Model) chooseCancelled(i int) tea.Cmd {
	switch i {
	case 0:
		return m.keepCancelled()
	case 1:
		return m.askAgain()
	}
	return m.info(safetext.Sprintf("there is no choice %d", i+1))
}

func (m *Model) keepCancelled() tea.Cmd {
	return m.acts.add(m.commands.KeepCancelled)
}

func (m *Model) askAgain() tea.Cmd {
	return m.acts.add(m.commands.AskAgain)
}

// onCancelledKept reports how the cancelled answer was kept, and shows it.
func (m *Model) onCancelledKept(o usecase.CancelledKept) tea.Cmd {
	all, _ := o.Pair.Answers()
	if len(all) > 1 {
		m.notice.Info(safetext.Sprintf("kept as answer %d of %d", len(all), len(all)) + m.hint(" · %s shows it", keymap.NextAnswer))
	} else {
		m.notice.Info("kept · it is incomplete, so requests do not include it")
	}
	m.conv.chat.Bottom()
	return m.load(o.Pair.Seq)
}

// branchPair starts a session that branches off from this one at a pair.
func (m *Model) branchPair(request int64, p assistant.Pair) tea.Cmd {
	return m.commands.Branch(request, p.Seq)
}

// nameSession puts /title with the current title into the box, if the box is empty.
func (m *Model) nameSession() tea.Cmd {
	if !m.input.draft.Empty() {
		return m.info("type /title and the new title")
	}
	return m.acts.add(m.commands.ReadTitle)
}

// onTitle reports the title of the session or, if the title was only read and the box is
// empty, puts it into the box for editing.
func (m *Model) onTitle(o usecase.SessionTitled) tea.Cmd {
	if o.Read && m.input.draft.Empty() {
		m.setMode(keymap.Input)
		m.input.draft.Set(string("/title " + oneLine(o.Title)))
		return m.carryOut(m.input.draftChanged())
	}
	return tea.Batch(m.info("this session is called “"+oneLine(o.Title)+"”"), m.readAbout())
}

// setTitle names the session; "-" restores the default, its first message.
func (m *Model) setTitle(title string) tea.Cmd {
	if title == "-" {
		title = ""
	}
	return m.acts.add(func(request int64) tea.Cmd { return m.commands.SetTitle(request, title) })
}
