package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/overlay"

	"winnow/tui/status"
	"winnow/tui/usecase"
)

// turn is the running turn, or else the last one.
type turn struct {
	n            int // number of the turn; an event or message with another number is late
	running      bool
	began        time.Time
	prompt       assistant.Prompt
	model        string
	typed        string // the message as the user typed it
	seq          int64  // the pair of the turn, once it is stored
	status       string
	retrying     bool            // status stays until the next text or tool call
	checkpointed bool            // a checkpoint was made
	toolRan      bool            // a tool has run
	asks         overlay.Overlay // the overlay with the last question of a tool
	animated     time.Time
	sendNow      bool // the queued message is sent once the turn is cancelled
}

const (
	thinking    = "Thinking…"      // status of a turn until its first text
	idlePause   = 2 * time.Second  // time without a key press before the focus moves to a reply or enter is explained
	longTurn    = 10 * time.Second // the user is notified of the end of a turn that took at least this long
	queuedFrame = 4                // cells that the text must leave free in the card of a queued message
)

// send starts a turn with the message in the box or, during a turn, queues the message. A
// command is run instead. The message moves from the box to the outbox if it must wait for
// its files or the session.
func (m *Model) send() tea.Cmd {
	if m.input.draft.Empty() {
		return nil
	}
	if m.resend != nil {
		return m.sendAgain()
	}
	if cmd, isCommand := m.runTyped(true); isCommand {
		return cmd
	}
	p := assistant.Prompt{Text: keymap.MessageOf(m.input.draft.Text())}
	if names := m.opts.Files.Files(p.Text); len(names) > 0 || len(m.input.outbox) > 0 || !m.ready {
		return m.post(p, names)
	}
	return m.dispatch(p)
}

// dispatch sends a message whose files have been read or, during a turn, queues it. It asks
// first if the message is too long or the endpoint may refuse it now.
func (m *Model) dispatch(p assistant.Prompt) tea.Cmd {
	if m.turn.running {
		return m.enqueueMessage(p)
	}
	switch cost := m.cost(p); {
	case cost.OverBudget && !p.Again():
		return m.askTooLong(p, cost)
	case cost.OverQuota && !cost.OverBudget:
		return m.ask("The endpoint may refuse this now", status.Refusals(cost), "send anyway", "don't send",
			func() tea.Cmd { return m.startDraft(p) })
	}
	return m.startDraft(p)
}

// askTooLong asks about a message whose estimated size is too large.
func (m *Model) askTooLong(p assistant.Prompt, c assistant.DraftCost) tea.Cmd {
	return m.question(overlay.Confirm, "This message is too long", []string{
		fmt.Sprintf("~%d tokens, plus ~%d for the system prompt; the model accepts %d.", c.AUT, c.SYS, c.ML),
		"This is an estimate: the model may accept it anyway.",
		"If you keep it unsent, it stays in the conversation and can be sent later.",
	}, keymap.AnswerNo, func(answer keymap.Action) tea.Cmd {
		if answer == keymap.AnswerNo {
			return nil
		}
		p.Force = answer == keymap.AnswerYes
		return m.startDraft(p)
	}, says(keymap.AnswerYes, "send anyway"), says(keymap.AnswerKeep, "keep it unsent"), says(keymap.AnswerNo, "keep editing"))
}

// startDraft starts a turn. The text leaves the box only once the turn has started.
func (m *Model) startDraft(p assistant.Prompt) tea.Cmd {
	typed, take := p.Text, false
	if text := m.input.draft.Text(); !p.Again() && text != "" && strings.HasPrefix(p.Text, keymap.MessageOf(text)) {
		typed, take = text, true // without the texts of attached files
	}
	cmd, ok := m.begin(p, typed)
	if ok && take {
		m.input.draft.Reset()
		m.input.editing = 0
		cmd = tea.Batch(cmd, m.carryOut(m.input.storeDraft()))
	}
	return cmd
}

// begin sends a message. typed is the text that the user typed, without the texts of
// attached files. ok is false if the message was rejected.
func (m *Model) begin(p assistant.Prompt, typed string) (cmd tea.Cmd, ok bool) {
	p.ID = assistant.NewID(m.now())
	// Replace a failed message only if the user was shown this and has not cancelled it since:
	// the parts may still contain a cancelled replacement.
	if shown := m.parts.reAsked(); !p.Again() && shown == m.commands.ReAsked() {
		p.Replaces = cmp.Or(p.Replaces, shown)
	}
	if p.Typed = typed; typed == p.Text {
		p.Typed = ""
	}
	begun, err := m.commands.Begin(p)
	if err != nil {
		return m.fail(err), false
	}
	m.input.draft.AddSent(typed)
	return tea.Batch(m.startTurn(begun), m.addSent(typed)), true
}

// startPrompt starts a turn that does not come from the draft, such as a suggestion or a
// retry.
func (m *Model) startPrompt(p assistant.Prompt) tea.Cmd {
	cmd, _ := m.begin(p, p.Text)
	return cmd
}

// addSent stores a message as the user typed it.
func (m *Model) addSent(text string) tea.Cmd {
	return m.commands.AddSent(m.acts.query(), text)
}

// startTurn shows that a turn is running, unless this turn or a later one is already shown. If
// the end of the turn before has not arrived yet, it will be skipped, so startTurn loads the
// pair of that turn.
func (m *Model) startTurn(t *assistant.Turn) (loads tea.Cmd) {
	if t.Number <= m.turn.n {
		return nil
	}
	if m.turn.running && m.turn.seq != 0 {
		m.conv.chat.EndTurn()
		loads = m.load(m.turn.seq)
	}
	m.turn = turn{n: t.Number, running: true, began: m.now(), prompt: t.Prompt, model: t.Model, typed: cmp.Or(t.Prompt.Typed, t.Prompt.Text), status: thinking}
	if m.resend != nil && m.resend.Prompt.ID != t.Prompt.ID {
		m.resend = nil
	}
	m.notice.Clear()
	m.pane.Changed()
	if t.Prompt.Retry == 0 {
		m.conv.chat.Bottom()
	}
	return loads
}

// animate advances the animations while a turn is running. The chunks of the turn serve as
// frames too.
func (m *Model) animate() {
	if now := m.now(); now.Sub(m.turn.animated) >= usecase.AnimationFrame {
		m.turn.animated = now
		m.conv.chat.Tick()
	}
}

// onTurnStarted shows the running pair: at the end of the view or, if an older pair is
// retried, in the place of that pair.
func (m *Model) onTurnStarted(e assistant.TurnStarted) tea.Cmd {
	m.turn.seq = e.Seq
	m.pane.Changed() // the window is now locked, and the pane shows the lock
	text := safetext.Clean(m.turn.prompt.Text)
	m.hud.SetRunning(e.Seq, text)
	m.conv.chat.StartTurn(assistant.Pair{
		Seq: e.Seq, UserText: text, CreatedAt: m.turn.began, Flag: true, Attachments: m.turn.prompt.Attachments,
		Model: m.turn.model, State: assistant.PairSending,
	})
	if last, _ := m.conv.newest(); e.Seq == last {
		m.conv.chat.Bottom()
	} else {
		m.conv.chat.Show(e.Seq, false)
	}
	if m.resend == nil {
		return nil
	}
	m.resend = nil
	sent := m.addSent(m.input.draft.Reset()) // the first attempt failed and left the message in the box
	return tea.Batch(m.carryOut(m.input.storeDraft()), sent)
}

// onText shows a piece of text or reasoning; the first piece of text removes the status.
func (m *Model) onText(e assistant.Event) {
	m.animate()
	if _, thought := e.(assistant.ReasoningDelta); thought {
		m.turn.setStatus(thinking)
	} else {
		m.turn.status, m.turn.retrying = "", false
	}
	m.conv.chat.Apply(e)
}

// onTool shows a tool call and its effect on the window.
func (m *Model) onTool(e assistant.Event) {
	m.turn.retrying = false
	m.conv.chat.Apply(e)
	if _, done := e.(assistant.ToolComplete); done {
		m.turn.toolRan = true
		m.pane.Changed()
	}
}

// setStatus shows a status. The status of a retry stays until the next text or tool call.
func (t *turn) setStatus(text string) {
	if !t.retrying {
		t.status = text
	}
}

func (t *turn) onTrimmed(e assistant.ContextTrimmed) {
	t.status = fmt.Sprintf("too long for the model: trying again without %d of %d messages", e.Trimmed, e.Sent+e.Trimmed)
}

func (t *turn) onRetry(r assistant.Retrying) {
	t.status, t.retrying = "Retrying…", true
	if r.After() > 0 {
		t.status = fmt.Sprintf("Retrying in %s (attempt %d): %s", r.After().Round(100*time.Millisecond), r.Attempt, r.Reason)
	}
}

// onTurnEnd shows how the turn has ended, and sends the queued message if it is due.
func (m *Model) onTurnEnd(end assistant.Event) tea.Cmd {
	t, before := m.turn, m.resend
	m.turn.running, m.turn.status, m.resend = false, "", nil
	m.hud.SetRunning(0, "")
	m.pane.Changed()
	if strings.HasPrefix(string(m.notice.Text), busyNotice) {
		m.notice.Clear()
	}
	cmds := []tea.Cmd{m.notifyEnd(t, end), m.sumUp()}
	if t.seq != 0 {
		cmds = append(cmds, m.load(t.seq))
	}
	switch e := end.(type) {
	case assistant.Complete:
		m.unanswered.model = ""
		if t.checkpointed { // a tool may have changed the marks of pairs
			cmds = append(cmds, m.reload())
		}
		cmds = append(cmds, m.sendQueuedNext(!m.parts.Turn.QueuePaused), m.showReply(t.seq), m.checkPair(t.seq))
		m.noticeEnd(e.Payload.Notice)
	case assistant.Error:
		if t.seq == 0 {
			m.input.giveBack(t.typed)
		}
		m.notice.Fail(safetext.Sprintf("[error: %s] %s%s", e.Code, safetext.Clean(e.Message), t.oldAnswer()))
		m.conv.chat.EndTurn()
		cmds = append(cmds, m.sendQueuedNext(m.turn.sendNow))
		if !m.turn.running && t.typed == m.input.draft.Text() {
			m.resend = unsentMessage{Prompt: t.prompt, Typed: t.typed, Session: m.parts.shownSession()}.After(e.Err, before)
		}
		if m.resend != nil {
			m.notice.Clear()
			cmds = append(cmds, m.countDown(m.resend))
		}
	case assistant.Cancelled:
		m.onCancelled(t, e)
		cmds = append(cmds, m.sendQueuedNext(m.turn.sendNow))
	default:
	}
	return tea.Batch(cmds...)
}

// oldAnswer returns the end of the notice after a turn that produced no answer; "" unless the
// turn was to regenerate one.
func (t turn) oldAnswer() safetext.Text {
	if t.prompt.Regenerate == 0 {
		return ""
	}
	return " · the old answer stays"
}

// onCancelled reports a cancelled turn, and returns its text to the box if no pair is kept.
func (m *Model) onCancelled(t turn, e assistant.Cancelled) {
	m.conv.chat.EndTurn()
	switch {
	case t.prompt.Regenerate != 0 && !t.toolRan:
		m.notice.Info("cancelled" + t.oldAnswer())
	case e.Kept && t.toolRan:
		m.notice.Info("cancelled; changes made by tools stay")
	case e.Kept:
		m.notice.Info("cancelled" + m.hint("; %s tries again", keymap.Retry))
	default:
		m.conv.chat.Remove(t.seq)
		m.notice.Info("cancelled" + m.givenBack(t.typed))
	}
}

// givenBack returns the text of a cancelled turn to the box if the box is empty. The result
// says where the text is.
func (m *Model) givenBack(typed string) safetext.Text {
	if m.input.draft.Empty() {
		m.input.giveBack(typed)
		return " · the message is back in the box"
	}
	if m.mode == keymap.Input {
		return " · your draft stays" + m.hint(" · %s recalls the message", keymap.OlderMessage)
	}
	return " · your draft stays"
}

// noticeEnd shows winnow's own notice about an answer, or what was left out of the request.
func (m *Model) noticeEnd(notice safetext.Text) {
	last := m.parts.Shown.LastSend
	switch {
	case notice != "":
		m.notice.Info(notice)
	case last != nil && len(last.LeftOut) > 0:
		m.notice.Info(safetext.Sprintf("sent without the oldest: %s, ~%d tokens%s", assistant.Counted(len(last.LeftOut), "message"), last.Tokens, m.hint(" · %s lists them", keymap.ContextHUD)))
	}
}

// showReply scrolls to the first line of a reply that is longer than the view, unless
// long_reply = "stay". With long_reply = "view", the focus moves to the reply after
// idlePause, if the user is not typing.
func (m *Model) showReply(seq int64) tea.Cmd {
	reply := m.opts.LongReply
	if reply == "" || reply == overlay.ReplyStay || seq == 0 || !m.conv.chat.AtEnd() || !m.conv.chat.ShowReply(seq) || reply == overlay.ReplyTop {
		return nil
	}
	return tick(idlePause, replyDueMsg{m.turn.n})
}

// onReplyDue moves the focus to the reply, unless the user has started a draft, opened an
// overlay or pressed a key in the meantime.
func (m *Model) onReplyDue(msg replyDueMsg) {
	quiet := m.now().Sub(m.lastKey) >= idlePause
	if msg.turn == m.turn.n && m.mode == keymap.Input && m.input.draft.Empty() && !m.overlay.Open() && quiet {
		m.setMode(keymap.View)
	}
}

// cancel ends the running turn.
func (m *Model) cancel() tea.Cmd {
	m.commands.Cancel()
	m.turn.status = "Cancelling…"
	return nil
}
