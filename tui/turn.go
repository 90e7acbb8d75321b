package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/hud"
	"winnow/tui/mention"
	"winnow/tui/overlay"
)

// turnState is what the screen knows of the running turn and of the last one,
// and of the queued message.
type turnState struct {
	*shared
	turn
	queued  string // the queued message as it was typed; "" is that of the session
	sendNow bool   // the queued message is sent when the turn is cancelled
}

// turn is the running turn, or the last one.
type turn struct {
	n            int // counts turns; messages of another number are late
	running      bool
	began        time.Time
	prompt       assistant.Prompt
	typed        string // the message as it was typed
	seq          int64  // of the pair, once it is durable
	status       string
	retrying     bool // status stays until the next text or tool
	checkpointed bool // a checkpoint was made
	toolRan      bool // a tool has run
	animated     time.Time
}

const (
	thinking     = "Thinking…"            // the status of a turn until its first text
	idlePause    = 2 * time.Second        // how long no key comes before the focus moves by itself
	spinnerFrame = 125 * time.Millisecond // eight frames a second look alive
	longTurn     = 10 * time.Second       // after which the user may have looked away
	queuedFrame  = 4                      // cells that stay free beside the card
)

// send starts a turn with what is in the box, or queues it while one runs. The
// message leaves the box for the outbox when it has to wait.
func (m *Model) send() tea.Cmd {
	if m.input.draft.Empty() {
		return nil
	}
	p := assistant.Prompt{Text: m.input.draft.Text()}
	if names := mention.Files(p.Text); len(names) > 0 || len(m.input.outbox) > 0 || !m.ready {
		return m.post(p, names)
	}
	return m.dispatch(p)
}

// dispatch sends a message whose files are read, or queues it.
func (m *Model) dispatch(p assistant.Prompt) tea.Cmd {
	if m.session.Busy() {
		return m.enqueueMessage(p)
	}
	switch check := m.work.CheckSend(p); {
	case check.TooLong:
		return m.askTooLong(p)
	case check.OverQuota:
		return m.ask("The endpoint would likely refuse this now", hud.Refusals(check.Cost), "send anyway", "don't send",
			func() tea.Cmd { return m.startDraft(p) })
	}
	return m.startDraft(p)
}

// askTooLong asks about a message that is estimated not to fit.
func (m *Model) askTooLong(p assistant.Prompt) tea.Cmd {
	b, n := m.conv.boundary.at, m.session.Settings().Budget.Estimate(p.Text)
	return m.question(overlay.Confirm, "This message is too long", []string{
		fmt.Sprintf("~%d tokens, plus ~%d for the system prompt; the model takes %d.", n, b.SYS, b.ML),
		"This is an estimate: the model may take it all the same.",
		"Kept unsent, it stays in the conversation and can be sent later.",
	}, "n", func(answer string) tea.Cmd {
		if answer == "n" {
			return nil
		}
		p.Force = answer == "y"
		return m.startDraft(p)
	}, "y", "send anyway", "k", "keep it unsent", "n", "keep editing")
}

// startDraft begins a turn. The text leaves the box only when the turn has begun.
func (m *Model) startDraft(p assistant.Prompt) tea.Cmd {
	typed, take := p.Text, false
	if text := m.input.draft.Text(); p.Retry == 0 && text != "" && strings.HasPrefix(p.Text, text) {
		typed, take = text, true // without the texts of its files
	}
	cmd, ok := m.begin(p, typed)
	if ok && take {
		m.input.draft.Reset()
		cmd = tea.Batch(cmd, m.input.storeDraft())
	}
	return cmd
}

// begin sends a message; typed is its text as typed, without files. ok is false when
// it was refused.
func (m *Model) begin(p assistant.Prompt, typed string) (cmd tea.Cmd, ok bool) {
	events, err := m.work.Send(context.Background(), p)
	if err != nil {
		return m.fail(err), false
	}
	m.input.draft.AddSent(typed)
	cmd = m.follow(events, p)
	m.turn.typed = typed
	return tea.Batch(cmd, m.addSent(typed)), true
}

// startPrompt begins a turn that is not from the draft: a suggestion, a retry.
func (m *Model) startPrompt(p assistant.Prompt) tea.Cmd {
	cmd, _ := m.begin(p, p.Text)
	return cmd
}

// addSent stores a message as it was typed.
func (s *shared) addSent(text string) tea.Cmd {
	return attempt(func(ctx context.Context) error { return s.work.AddSent(ctx, text) }, s.fail)
}

// follow shows the events of a turn that has begun.
func (m *Model) follow(events <-chan assistant.Event, p assistant.Prompt) tea.Cmd {
	m.turn.turn = turn{n: m.turn.n + 1, running: true, began: m.now(), prompt: p, status: thinking}
	m.notice.clear()
	m.pane.Changed()
	if p.Retry == 0 {
		m.conv.chat.Bottom()
	}
	return (&eventStream{turn: m.turn.n, events: events}).wait
}

// animate advances what is animated while a turn runs, with its chunks: they are frames already.
func (m *Model) animate() {
	if now := m.now(); now.Sub(m.turn.animated) >= spinnerFrame {
		m.turn.animated = now
		m.conv.chat.Tick()
	}
}

// onTurnStarted shows the running pair at the end of the view, or, when an older one is
// retried, in its place.
func (m *Model) onTurnStarted(e assistant.TurnStarted) tea.Cmd {
	m.turn.seq = e.Seq
	m.pane.Changed() // the window is locked now, and the pane shows it
	m.conv.showRefs(m.session.Visible())
	m.conv.chat.StartTurn(assistant.Pair{
		Seq: e.Seq, UserText: m.turn.prompt.Text, CreatedAt: m.turn.began, Flag: true,
		Model: m.session.Model(), State: assistant.PairSending,
	})
	if last, _ := m.conv.newest(); e.Seq == last {
		m.conv.chat.Bottom()
	} else {
		m.conv.chat.Show(e.Seq, false)
	}
	return computeBoundary(m.session)
}

// onChunk shows a piece of text or reasoning; the status goes with the first text.
func (m *Model) onChunk(msg chunkStreamedMsg) {
	m.animate()
	if msg.thought {
		m.turn.setStatus(thinking)
		m.conv.chat.Apply(assistant.ReasoningDelta{Text: msg.text})
		return
	}
	m.turn.status, m.turn.retrying = "", false
	m.conv.chat.Apply(assistant.TextDelta{Text: msg.text})
}

// onTool shows a tool call, and what it has done to the window.
func (m *Model) onTool(e assistant.Event) {
	m.turn.retrying = false
	m.conv.chat.Apply(e)
	if _, done := e.(assistant.ToolComplete); done {
		m.turn.toolRan = true
		m.pane.Changed()
	}
}

// setStatus shows a status; that of a retry stays until the next text or tool.
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
	if r.After() > 0 {
		t.status = fmt.Sprintf("Retrying in %s (%d): %s", r.After().Round(100*time.Millisecond), r.Attempt, r.Reason)
	}
}

// onTurnEnd makes the screen ready for the next message.
func (m *Model) onTurnEnd(end assistant.Event) tea.Cmd {
	t := m.turn.turn
	m.turn.running, m.turn.status = false, ""
	m.pane.Changed()
	cmds := []tea.Cmd{computeBoundary(m.session), m.notifyEnd(t)}
	if t.seq != 0 {
		cmds = append(cmds, loadPairs(m.session, t.n, t.seq))
	}
	switch e := end.(type) {
	case assistant.Complete:
		if t.checkpointed { // a tool may have changed what pairs say of themselves
			cmds = append(cmds, m.conv.reload())
		}
		cmds = append(cmds, m.sendQueuedNext(!m.work.QueuedHeld()), m.showReply(t.seq), m.checkPair(t.seq))
		m.noticeEnd(e.Payload.Notice)
	case assistant.Error:
		if t.seq == 0 {
			m.input.giveBack(t.typed)
		}
		m.notice.fail("[error: " + e.Code + "] " + e.Message)
		cmds = append(cmds, m.sendQueuedNext(m.turn.sendNow))
	case assistant.Cancelled:
		m.onCancelled(t, e)
		cmds = append(cmds, m.sendQueuedNext(m.turn.sendNow))
	default:
	}
	return tea.Batch(cmds...)
}

// onCancelled gives the text back to the box when no pair is kept.
func (m *Model) onCancelled(t turn, e assistant.Cancelled) {
	switch {
	case e.Kept && t.toolRan:
		m.notice.info("cancelled; changes made by tools stay")
	case e.Kept:
		m.notice.info("cancelled" + m.hint("; %s tries again", "retry"))
	default:
		m.conv.chat.Remove(t.seq)
		m.conv.showRefs(m.session.Visible())
		m.input.giveBack(t.typed)
		m.notice.info("cancelled")
	}
}

// noticeEnd shows winnow's own notice of an answer, or what was left out of its
// request.
func (m *Model) noticeEnd(notice string) {
	last, _ := m.session.LastSend()
	switch {
	case notice != "":
		m.notice.info(notice)
	case len(last.LeftOut) > 0:
		m.notice.info(fmt.Sprintf("sent without the oldest: %s, ~%d tokens%s", assistant.Counted(len(last.LeftOut), "pair"), last.Tokens, m.hint(" · %s lists them", "hud")))
	}
}

// checkPair marks the pair just answered when the user's own filter line hides it.
func (m *Model) checkPair(seq int64) tea.Cmd {
	if line := m.session.Filter(); m.opts.History == nil || seq == 0 || line == "" || line == "x" {
		return nil
	}
	return async(func(ctx context.Context) (bool, error) { return m.work.Matches(ctx, seq) }, func(shown bool, err error) tea.Cmd {
		if err == nil {
			m.conv.chat.SetNotInFilter(seq, !shown)
		}
		return m.fail(err)
	})
}

// showReply scrolls to the first line of a reply that is longer than the view.
// The focus stays; with long_reply = "view" it follows when nobody types.
func (m *Model) showReply(seq int64) tea.Cmd {
	if seq == 0 || !m.conv.chat.AtEnd() || !m.conv.chat.ShowReply(seq) || !m.opts.ReplyView {
		return nil
	}
	n := m.turn.n
	return after(idlePause, func() tea.Cmd {
		quiet := m.now().Sub(m.lastKey) >= idlePause
		if n == m.turn.n && m.mode == modeInput && m.input.draft.Empty() && !m.overlay.Open() && quiet {
			m.setMode(modeView)
		}
		return nil
	})
}

// notifyEnd sends a notification when a long turn ends while nobody looks.
func (m *Model) notifyEnd(t turn) tea.Cmd {
	if !m.opts.Notify || m.focused || m.now().Sub(t.began) < longTurn {
		return nil
	}
	return tea.Raw("\x1b]9;winnow: the answer is ready\a")
}

// cancel ends the running turn.
func (m *Model) cancel() tea.Cmd {
	m.work.Cancel()
	m.turn.status = "Cancelling…"
	return nil
}

// statusLine shows what a running turn does, and what esc does meanwhile.
func (t *turnState) statusLine(w int) string {
	if !t.running {
		return ""
	}
	spin := t.styles.Icons.Running
	took := t.now().Sub(t.began)
	line := spin[int(took/spinnerFrame)%len(spin)]
	if t.status != "" {
		line += " " + oneLine(t.status)
	}
	if took >= time.Second {
		line += " " + took.Truncate(time.Second).String()
	}
	switch _, kind, open := t.overlay.Top(); {
	case open && (kind == overlay.Confirm || kind == overlay.SaveSheet):
		line += " · esc declines"
	case open:
		line += " · esc closes"
	default:
		line += t.hint(" · %s cancels", "escape")
	}
	return t.widths.Fit("  "+t.styles.Chat.Notice.Render(line), w, t.styles.Icons.Ellipsis)
}
