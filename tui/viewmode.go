package tui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/checkpoint"
	"winnow/tui/overlay"
)

func (m *Model) nextItem() tea.Cmd        { return m.walk(m.chat.NextPart) }
func (m *Model) previousItem() tea.Cmd    { return m.walk(m.chat.PrevPart) }
func (m *Model) nextMessage() tea.Cmd     { return m.walk(m.chat.NextPair) }
func (m *Model) previousMessage() tea.Cmd { return m.walk(m.chat.PrevPair) }
func (m *Model) firstMessage() tea.Cmd    { return m.walk(m.chat.Top) }
func (m *Model) lastMessage() tea.Cmd     { return m.walk(m.chat.Bottom) }
func (m *Model) halfDown() tea.Cmd        { return m.walk(func() { m.chat.HalfPage(1) }) }
func (m *Model) halfUp() tea.Cmd          { return m.walk(func() { m.chat.HalfPage(-1) }) }
func (m *Model) pageDown() tea.Cmd        { return m.walk(func() { m.chat.Page(1) }) }
func (m *Model) pageUp() tea.Cmd          { return m.walk(func() { m.chat.Page(-1) }) }

// walk moves and loads what came onto the screen.
func (m *Model) walk(move func()) tea.Cmd {
	move()
	return m.loadMissing()
}

// loadMissing asks for the pairs on the screen that are not loaded.
func (m *Model) loadMissing() tea.Cmd {
	var want []int64
	for _, seq := range m.chat.Missing() {
		if !m.loading[seq] {
			m.loading[seq] = true
			want = append(want, seq)
		}
	}
	if len(want) == 0 {
		return nil
	}
	return loadPairs(m.session, want)
}

func (m *Model) onPairs(msg pairsLoadedMsg) tea.Cmd {
	for _, seq := range msg.asked {
		delete(m.loading, seq)
	}
	if msg.err != nil {
		return m.complain(fmt.Errorf("the history could not be read: %w", msg.err))
	}
	fresh := msg.pairs[:0]
	for _, p := range msg.pairs {
		switch {
		case msg.turn != 0 && p.Seq != m.turn.seq:
			m.chat.Settle(p) // of a turn that ended as the queued message took its place
		case p.Seq != m.turn.seq:
			fresh = append(fresh, p)
		case msg.turn == m.turn.n && !m.turn.running:
			m.chat.Settle(p)
		case !m.turn.running && msg.turn == 0:
			fresh = append(fresh, p)
		}
		// What is left is the pair as it was before the turn that has it now.
	}
	m.chat.Load(fresh)
	return tea.Batch(m.loadMissing(), m.copySelection(), m.forecast())
}

// jumpToBoundary shows the first pair that the next request holds.
func (m *Model) jumpToBoundary() tea.Cmd {
	b := m.session.Boundary()
	switch {
	case b.Y == 0:
		m.notice.say("there is nothing to send yet")
	case b.All() && b.Y == 1:
		m.notice.say("the only pair is included")
	case b.All():
		m.notice.say(fmt.Sprintf("all %d pairs are included", b.Y))
	case b.First >= b.Y:
		m.notice.say("no pair fits; the next message goes alone")
	default:
		m.chat.Aim(m.session.Visible()[b.First].Seq)
		m.notice.say(fmt.Sprintf("from here on %d of %d pairs are sent", b.X, b.Y))
	}
	return m.loadMissing()
}

// openSearch starts the search line.
func (m *Model) openSearch() tea.Cmd {
	m.search.open("")
	return nil
}

// startSearch searches for what the line says; an empty one goes on with the
// search there was.
func (m *Model) startSearch() tea.Cmd {
	m.search.active = false
	if text := m.search.Text(); text != "" {
		m.chat.Search(text)
		m.search.remember(text)
	}
	return m.hit(false)
}

func (m *Model) nextHit() tea.Cmd     { return m.hit(false) }
func (m *Model) previousHit() tea.Cmd { return m.hit(true) }

func (m *Model) hit(back bool) tea.Cmd {
	switch {
	case m.chat.Searching() == "":
		m.notice.say("nothing is searched for · / searches")
	case m.opts.History != nil && m.found.needle != m.chat.Searching():
		return findText(m.opts.History, m.chat.Searching(), back)
	default:
		m.toHit(back)
	}
	return m.loadMissing()
}

func (m *Model) toHit(back bool) {
	hit, ok := m.chat.NextFound(back, m.found.seqs)
	if !ok {
		m.notice.say("“" + m.chat.Searching() + "” is in no pair that is shown · f with c'…' searches all sessions")
		return
	}
	m.notice.say(fmt.Sprintf("“%s” · message %d of %d that say it · n next · N previous", m.chat.Searching(), hit.Nth, hit.Of))
}

// onFound goes to the next hit, now that it is known where the history has any.
func (m *Model) onFound(msg textFoundMsg) tea.Cmd {
	if msg.needle != m.chat.Searching() {
		return nil // another text is searched for by now
	}
	if msg.err != nil {
		return m.complain(msg.err)
	}
	m.found = msg
	m.toHit(msg.back)
	return m.loadMissing()
}

// previousCheckpoint and nextCheckpoint walk over the turns that changed the window.
func (m *Model) previousCheckpoint() tea.Cmd { return m.toCheckpoint(-1) }
func (m *Model) nextCheckpoint() tea.Cmd     { return m.toCheckpoint(1) }

func (m *Model) toCheckpoint(step int) tea.Cmd {
	at := int64(0)
	if p, ok := m.chat.Focused(); ok {
		at = p.Seq
	}
	found := int64(0)
	for _, c := range m.session.Checkpoints() {
		switch {
		case c.Position == 0:
		case step < 0 && c.Position < at && c.Position > found:
			found = c.Position
		case step > 0 && c.Position > at && (found == 0 || c.Position < found):
			found = c.Position
		}
	}
	if found == 0 || !m.chat.Aim(found) {
		m.notice.say("no checkpoint that way")
	}
	return m.loadMissing()
}

func (m *Model) fold() tea.Cmd {
	m.chat.ToggleFold()
	return nil
}

func (m *Model) foldAll() tea.Cmd {
	m.chat.ToggleAll()
	return nil
}

func (m *Model) raw() tea.Cmd {
	m.chat.ToggleRaw()
	return nil
}

// viewEnter chooses what has the focus, else goes to the input.
func (m *Model) viewEnter() tea.Cmd {
	if m.chat.OnChoices() {
		return m.choose(m.chat.Choice())
	}
	return m.toInput()
}

// nextChoice and previousChoice walk along the chips and buttons with the focus.
func (m *Model) nextChoice() tea.Cmd     { return m.moveChoice(1) }
func (m *Model) previousChoice() tea.Cmd { return m.moveChoice(-1) }

func (m *Model) moveChoice(n int) tea.Cmd {
	if !m.chat.MoveChoice(n) && len(m.chat.Choices()) > 0 {
		m.notice.say("j goes on to the suggestions of the newest answer; " + m.firstKey(modeView, "choose-1", "a key") + " chooses the first from anywhere")
	}
	return nil
}

// retry tries an error pair again in its place; of a good pair, the last one
// only, it makes a new answer.
func (m *Model) retry() tea.Cmd {
	p, ok := m.chat.Focused()
	switch {
	case !ok:
		return nil
	case m.session.Busy():
		return m.complain(assistant.ErrBusy)
	case p.State == assistant.PairError:
		return m.start(assistant.Prompt{Text: p.UserText, Retry: p.Seq, Attachments: p.Attachments})
	}
	refs := m.session.Visible()
	if len(refs) == 0 || refs[len(refs)-1].Seq != p.Seq {
		m.notice.say("only the last answer can be made anew · e edits and asks again")
		return nil
	}
	again := func() tea.Cmd {
		return m.start(assistant.Prompt{Text: p.UserText, Replaces: p.Seq, Attachments: p.Attachments})
	}
	if !changedWindow(m.session.Checkpoints(), p.Seq) {
		return again()
	}
	return m.ask("Regenerate?", []string{
		"The old answer changed the " + m.state() + ". They stay as they are;",
		"a new answer may change them again. ctrl+z undoes either.",
	}, "regenerate", again)
}

func changedWindow(all []checkpoint.Checkpoint, seq int64) bool {
	for _, c := range all {
		if c.Position == seq && c.Kind == checkpoint.KindTurn {
			return true
		}
	}
	return false
}

// reAsk puts the message into the box. An error pair goes when it is sent.
func (m *Model) reAsk() tea.Cmd {
	p, ok := m.chat.Focused()
	if !ok {
		return nil
	}
	m.draft.Set(p.UserText)
	m.reask = 0
	if p.State == assistant.PairError {
		m.reask = p.Seq
		m.notice.say("sending takes the place of the failed message · esc gives up")
	}
	m.setMode(modeInput)
	m.fitInput()
	return nil
}

// deletePair asks, except for a pair that failed.
func (m *Model) deletePair() tea.Cmd {
	p, ok := m.chat.Focused()
	switch {
	case !ok:
		return nil
	case m.session.Busy():
		return m.complain(assistant.ErrBusy)
	case p.State == assistant.PairError:
		return m.change(deletePairs(m.session, p.Seq))
	}
	return m.ask("Delete this pair for good?", []string{oneLine(p.UserText)}, "delete", func() tea.Cmd {
		return m.change(deletePairs(m.session, p.Seq))
	})
}

func (m *Model) onPairsChanged(msg pairsChangedMsg) tea.Cmd {
	if msg.err != nil {
		return m.complain(msg.err)
	}
	m.notice.say(msg.said)
	cmds := []tea.Cmd{computeBoundary(m.session), loadNames(m.opts.History)} // its topic may be new
	if len(msg.seqs) > 0 && readsMarks(m.session.Filter()) {
		cmds[0] = m.refilter() // what is visible may be another now
	}
	if len(msg.seqs) > 0 {
		cmds = append(cmds, loadPairs(m.session, msg.seqs))
	}
	return tea.Batch(cmds...)
}

func (m *Model) star() tea.Cmd {
	return m.markFocused(func(p *assistant.Pair) string { return setStars(p, (p.Star+1)%4) })
}

func (m *Model) setStar(n int) tea.Cmd {
	return m.markFocused(func(p *assistant.Pair) string { return setStars(p, n) })
}

func setStars(p *assistant.Pair, n int) string {
	p.Star = n
	return strconv.Itoa(n) + " stars"
}

func (m *Model) flag() tea.Cmd {
	return m.markFocused(func(p *assistant.Pair) string {
		p.Flag = !p.Flag
		return "flag changed"
	})
}

// markFocused changes what is set on the focused pair, as the store has it: the
// screen may be behind.
func (m *Model) markFocused(change func(*assistant.Pair) (said string)) tea.Cmd {
	p, ok := m.chat.Focused()
	if !ok {
		return nil
	}
	return m.change(markPair(m.session, p.Seq, change))
}

func (m *Model) topicOfPair() tea.Cmd {
	p, ok := m.chat.Focused()
	if !ok {
		return nil
	}
	picker := m.topicPicker("Topic of this pair")
	if m.opts.History != nil {
		picker = picker.WithNew("alt+n").WithKeys("enter selects · alt+n the path that is typed, as a new topic")
	}
	return m.open(overlay.Topics, picker, func(c overlay.Chosen) tea.Cmd {
		to := c.Value
		if c.Key == "alt+n" {
			if to = history.TopicPath(c.Query); to == "" {
				m.notice.say("type the path of the new topic, then alt+n")
				return nil
			}
		}
		return m.change(markPair(m.session, p.Seq, func(p *assistant.Pair) string {
			p.Topic = to
			return "topic: " + topicName(to)
		}))
	})
}

// Copying takes the logical text, never what is on the screen.

func (m *Model) copyAnswer() tea.Cmd {
	text, ok := m.chat.Answer()
	return m.copyOut("the answer", text, ok)
}

func (m *Model) copyPair() tea.Cmd {
	text, ok := m.chat.Markdown()
	return m.copyOut("the pair", text, ok)
}

// copyCode copies the only block, or waits for the digit of one.
func (m *Model) copyCode() tea.Cmd {
	switch blocks := m.chat.Code(); len(blocks) {
	case 0:
		m.notice.say("there is no code in this pair")
	case 1:
		return m.copyOut("the code", blocks[0].Text, true)
	default:
		m.pending = "c"
		m.notice.say(fmt.Sprintf("which block? 1-%d", min(len(blocks), 9)))
	}
	return nil
}

// secondKey ends a command of two keys.
func (m *Model) secondKey(name string) tea.Cmd {
	m.pending = ""
	m.notice.clear()
	n, err := strconv.Atoi(name)
	blocks := m.chat.Code()
	if err != nil || n < 1 || n > len(blocks) {
		return nil
	}
	return m.copyOut(fmt.Sprintf("code block %d", n), blocks[n-1].Text, true)
}

func (m *Model) copyOut(what, text string, ok bool) tea.Cmd {
	if !ok || strings.TrimSpace(text) == "" {
		m.notice.say("there is nothing to copy")
		return nil
	}
	if m.opts.Redact != nil {
		text = m.opts.Redact(text)
	}
	return copyText(what, text, m.opts.Clipboard)
}

func (m *Model) onCopied(msg copiedMsg) tea.Cmd {
	way := "to the terminal (OSC 52)"
	if msg.native {
		way += " and the system clipboard"
	}
	m.notice.say("copied " + msg.what + " " + way)
	return nil
}
