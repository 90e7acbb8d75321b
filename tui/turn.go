package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

// turnState is what the screen knows of the running turn and of the last one,
// and of the message that waits for its end.
type turnState struct {
	*shared
	turn
	queued  string            // the message that waits, as it was typed
	waiting *assistant.Prompt // it waits for the user: the turn before it failed
	sendNow bool              // it goes out when the turn is cancelled
}

// turn is one turn.
type turn struct {
	n        int // counts turns; messages of another number are late
	running  bool
	began    time.Time
	prompt   assistant.Prompt
	typed    string // the message as it was typed
	seq      int64  // of the pair, once it is durable
	status   string
	retrying bool // status stays until the next text or tool
	wrote    bool // a checkpoint was made
	acted    bool // a tool has run
}

// thinking is the status of a turn until its first text.
const thinking = "Thinking…"

// send starts a turn with what is in the box, or queues it while one runs. The
// message leaves the box for the outbox when it has to wait.
func (m *Model) send() tea.Cmd {
	if m.input.draft.Empty() {
		return nil
	}
	p := assistant.Prompt{Text: m.input.draft.Text()}
	if names := attached(p.Text); len(names) > 0 || len(m.input.outbox) > 0 || !m.ready {
		return m.input.post(p, names)
	}
	return m.dispatch(p)
}

// dispatch sends a message whose files are read, or queues it.
func (m *Model) dispatch(p assistant.Prompt) tea.Cmd {
	if m.session.Busy() {
		return m.enqueueMessage(p)
	}
	switch cost := m.session.Draft(p.Text); {
	case cost.OverBudget:
		return m.askOverBudget(p)
	case cost.OverQuota:
		return m.ask("The provider would likely refuse this now", quotaLines(cost), "send anyway", "don't send", func() tea.Cmd { return m.startDraft(p) })
	}
	return m.startDraft(p)
}

// startPrompt begins a turn that the draft has no part in: a suggestion, a retry.
func (m *Model) startPrompt(p assistant.Prompt) tea.Cmd {
	return m.begin(p, func() string { return p.Text })
}

// startDraft begins a turn. The text leaves the box only when the turn has begun.
func (m *Model) startDraft(p assistant.Prompt) tea.Cmd {
	return m.begin(p, func() string {
		if text := m.input.draft.Text(); p.Retry == 0 && text != "" && strings.HasPrefix(p.Text, text) {
			return m.input.draft.Take() // without the texts of its files
		}
		return p.Text
	})
}

// begin sends a message; typed gives it as it was typed, once it is on its way.
func (m *Model) begin(p assistant.Prompt, typed func() string) tea.Cmd {
	events, err := m.work.Send(context.Background(), p)
	if err != nil {
		return m.fail(err)
	}
	text := typed()
	m.input.draft.AddSent(text)
	cmd := m.follow(events, p)
	m.turn.typed = text
	return tea.Batch(cmd, addSent(m.work, text), m.input.storeDraft())
}

// follow watches a turn that has begun.
func (m *Model) follow(events <-chan assistant.Event, p assistant.Prompt) tea.Cmd {
	m.turn.turn = turn{n: m.turn.n + 1, running: true, began: m.now(), prompt: p, status: thinking}
	m.notice.clear()
	m.pane.Changed()
	if p.Retry == 0 {
		m.conv.chat.Bottom()
	}
	stream := &eventStream{turn: m.turn.n, events: events}
	return tea.Batch(stream.wait, m.tick())
}

// onTurnStarted shows the running pair at the end of the view, or in its place
// when an older one is tried again.
func (m *Model) onTurnStarted(msg turnStartedMsg) tea.Cmd {
	m.turn.seq = msg.seq
	m.pane.Changed() // the turn has the window now, and says so
	m.conv.showRefs(m.session.Visible())
	m.conv.chat.StartTurn(assistant.Pair{
		Seq: msg.seq, UserText: m.turn.prompt.Text, CreatedAt: m.turn.began, Flag: true,
		Model: m.session.Model(), State: assistant.PairSending,
	})
	if last, _ := m.conv.newest(); msg.seq == last {
		m.conv.chat.Bottom()
	} else {
		m.conv.chat.Show(msg.seq, false)
	}
	return computeBoundary(m.session)
}

// onChunk shows a piece of text or reasoning; the status goes with the first text.
func (m *Model) onChunk(msg chunkStreamedMsg) {
	if msg.thought {
		m.turn.setStatus(thinking)
		m.conv.chat.Apply(assistant.ReasoningDelta{Text: msg.text})
		return
	}
	m.turn.status, m.turn.retrying = "", false
	m.conv.chat.Apply(assistant.TextDelta{Text: msg.text})
}

// onTool shows a tool call, and lets the pane show what it has done.
func (m *Model) onTool(msg toolCalledMsg) {
	m.turn.retrying = false
	m.conv.chat.Apply(msg.event)
	if _, done := msg.event.(assistant.ToolComplete); done {
		m.turn.acted = true
		m.pane.Changed()
	}
}

// setStatus says what happens; that something is tried again stays until it has
// led to anything.
func (t *turnState) setStatus(text string) {
	if !t.retrying {
		t.status = text
	}
}

func (t *turnState) onTrimmed(e assistant.ContextTrimmed) {
	t.status = fmt.Sprintf("too long for the model: trying again without %d of %d pairs", e.Trimmed, e.Sent+e.Trimmed)
}

func (t *turnState) onRetry(r assistant.Retrying) {
	t.status, t.retrying = "Retrying…", true
	if r.After > 0 {
		t.status = fmt.Sprintf("Retrying in %s (%d): %s", r.After.Round(100*time.Millisecond), r.Attempt, r.Reason)
	}
}

// onTurnEnd makes the screen ready for the next message.
func (m *Model) onTurnEnd(end assistant.Event) tea.Cmd {
	t := m.turn.turn
	m.turn.running, m.turn.status = false, ""
	m.pane.Changed()
	cmds := []tea.Cmd{computeBoundary(m.session), m.notifyEnd(t), loadTurnPair(m.session, t)}
	switch e := end.(type) {
	case assistant.Complete:
		if t.wrote { // a tool may have changed what pairs say of themselves
			cmds = append(cmds, m.reload())
		}
		cmds = append(cmds, m.startNext(), m.showReply(t.seq), m.checkPair(t.seq))
		m.noticeEnd(e.Payload.Notice)
	case assistant.Error:
		if t.seq == 0 {
			m.input.giveBack(t.typed)
		}
		m.notice.fail("[error: " + e.Code + "] " + e.Message)
		cmds = append(cmds, m.holdQueued())
	case assistant.Cancelled:
		m.onCancelled(t, e)
		cmds = append(cmds, m.holdQueued())
	default:
	}
	return tea.Batch(cmds...)
}

// checkPair asks, under a line of the user's own, whether that shows the pair
// just answered.
func (m *Model) checkPair(seq int64) tea.Cmd {
	if line := m.session.Filter(); m.opts.History == nil || seq == 0 || line == "" || line == "x" {
		return nil
	}
	return checkPair(m.work, seq)
}

// noticeEnd says what a user should know after an answer: winnow's own word
// about it, what was left out of the request, that the conversation grows long.
func (m *Model) noticeEnd(notice string) {
	last, _ := m.session.LastSend()
	switch {
	case notice != "":
		m.notice.info(notice)
	case len(last.LeftOut) > 0:
		m.notice.info(fmt.Sprintf("sent without the oldest: %s, ~%d tokens%s", assistant.Counted(len(last.LeftOut), "pair"), last.Tokens, m.hint(" · %s lists them", "hud")))
	}
}

// onCancelled brings the text back when the pair has vanished.
func (m *Model) onCancelled(t turn, e assistant.Cancelled) {
	switch {
	case e.Kept && t.acted:
		m.notice.info("cancelled; what the tools have done stays")
	case e.Kept:
		m.notice.info("cancelled" + m.hintIn(modeView, "; %s tries again", "retry"))
	default:
		m.conv.chat.Remove(t.seq)
		m.conv.showRefs(m.session.Visible())
		m.input.giveBack(t.typed)
		m.notice.info("cancelled")
	}
}

// cancel breaks the running turn off.
func (m *Model) cancel() tea.Cmd {
	m.session.Cancel()
	m.turn.status = "Cancelling…"
	return nil
}

// onBoundary shows a boundary that was computed anew.
func (m *Model) onBoundary(msg boundaryComputedMsg) tea.Cmd {
	if msg.near && !m.conv.boundary.near && m.ready && m.notice.text == "" {
		m.notice.info("the conversation is close to what the model takes" + m.hint(" · %s begins a new session", "new-session"))
	}
	m.conv.setBoundary(msg)
	return m.conv.loadMissing()
}

// onPairs fills pairs in. The pair of a turn that has ended takes the place of
// the streamed one; that of the running turn is left as it is.
func (m *Model) onPairs(msg pairsLoadedMsg) tea.Cmd {
	m.conv.answered(msg.asked)
	if msg.err != nil {
		return m.fail(fmt.Errorf("the history could not be read: %w", msg.err))
	}
	loaded := msg.pairs[:0]
	for _, p := range msg.pairs {
		switch {
		case msg.turn != 0 && (p.Seq != m.turn.seq || msg.turn == m.turn.n && !m.turn.running):
			m.conv.chat.EndTurn(p)
		case msg.turn == 0 && (p.Seq != m.turn.seq || !m.turn.running):
			loaded = append(loaded, p)
		}
	}
	m.conv.chat.Load(loaded)
	return tea.Batch(m.conv.loadMissing(), m.conv.copySelection(), m.conv.computeEffects())
}

// showReply scrolls to the first line of a reply that is longer than the view.
// The focus stays; where the user wants it, it follows when nobody types.
func (m *Model) showReply(seq int64) tea.Cmd {
	if seq == 0 || !m.conv.chat.AtEnd() || !m.conv.chat.ShowReply(seq) || !m.opts.ReplyView {
		return nil
	}
	return after(idlePause, idleMsg{m.turn.n})
}

// idlePause is how long no key must have come before the focus moves by itself.
const idlePause = 2 * time.Second

// onIdle moves the focus to a long answer when nobody is typing.
func (m *Model) onIdle(msg idleMsg) tea.Cmd {
	quiet := m.now().Sub(m.lastKey) >= idlePause
	if msg.turn == m.turn.n && m.mode == modeInput && m.input.draft.Empty() && !m.overlay.Open() && quiet {
		m.setMode(modeView)
	}
	return nil
}

// tick starts the animation, once.
func (m *Model) tick() tea.Cmd {
	if m.ticking {
		return nil
	}
	m.ticking = true
	return tick()
}

// tick moves the spinner on.
func tick() tea.Cmd {
	return tea.Tick(spinnerFrame, func(time.Time) tea.Msg { return tickedMsg{} })
}

// spinnerFrame is how fast the spinner turns: eight frames a second look alive.
const spinnerFrame = 125 * time.Millisecond

// onTick moves what is animated; when no turn runs, the timer ends.
func (m *Model) onTick() tea.Cmd {
	m.conv.chat.Tick()
	if m.ticking = m.turn.running; !m.ticking {
		return nil
	}
	return tick()
}

// notifyEnd sends a notification when a long turn ends while nobody looks.
func (m *Model) notifyEnd(t turn) tea.Cmd {
	if !m.opts.Notify || m.focused || m.now().Sub(t.began) < longTurn {
		return nil
	}
	return tea.Raw("\x1b]9;winnow: the answer is there\a")
}

// longTurn is from when on one may have looked away.
const longTurn = 10 * time.Second

// statusLine says what happens as long as a turn runs, in one place. What esc
// does depends on what is open.
func (t *turnState) statusLine(w int) string {
	if !t.running {
		return ""
	}
	spin := t.styles.Icons.Running
	parts := []string{spin[int(t.now().Sub(t.began)/spinnerFrame)%len(spin)]}
	if t.status != "" {
		parts[0] += " " + oneLine(t.status)
	}
	if took := t.now().Sub(t.began); took >= time.Second {
		parts[0] += " " + seconds(took)
	}
	if t.overlay.Open() {
		parts = append(parts, t.declines())
	} else if key := t.key("escape"); key != "" {
		parts = append(parts, key+" cancels")
	}
	return fit("  "+t.styles.Chat.Notice.Render(strings.Join(parts, " · ")), w, t.styles.Icons.Ellipsis)
}
