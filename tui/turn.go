package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/pane"
)

// turnState is what the screen knows of the running turn, and of the last one.
type turnState struct {
	n       int // counts turns; events of another number are late
	running bool
	began   time.Time
	prompt  assistant.Prompt
	typed   string // the message as it was typed
	seq     int64  // of the pair, once it is durable
	last    int64  // the newest pair before it
	status  string
	ticking bool
	wrote   bool // a checkpoint was made
	acted   bool // a tool has run
}

// thinking is the status of a turn until its first text.
const thinking = "Thinking…"

// send starts a turn with what is in the box, or queues it while one runs.
func (m *Model) send() tea.Cmd {
	if m.draft.Empty() {
		return nil
	}
	p := assistant.Prompt{Text: m.draft.Text(), Replaces: m.reask}
	if names := attached(p.Text); len(names) > 0 || len(m.reading) > 0 {
		return m.read(p, names)
	}
	return m.dispatch(p)
}

// dispatch sends a message whose files are read, or queues it.
func (m *Model) dispatch(p assistant.Prompt) tea.Cmd {
	if m.session.Busy() {
		return m.queue(p)
	}
	m.session.Boundary() // as the send will find it, should it be out of date
	switch cost := m.session.Draft(p.Text); {
	case cost.OverBudget:
		return m.askOverBudget(p)
	case cost.OverQuota:
		return m.ask("The provider would likely refuse this now", quotaLines(cost), "send all the same", func() tea.Cmd { return m.startDraft(p) })
	}
	return m.startDraft(p)
}

// start begins a turn that the draft has no part in: a suggestion, a retry.
func (m *Model) start(p assistant.Prompt) tea.Cmd {
	return m.begin(p, func() string { return p.Text })
}

// startDraft begins a turn. The text leaves the box only when the turn has begun.
func (m *Model) startDraft(p assistant.Prompt) tea.Cmd {
	return m.begin(p, func() string {
		if text := m.draft.Text(); p.Retry == 0 && text != "" && strings.HasPrefix(p.Text, text) {
			return m.draft.Take() // without the texts of its files
		}
		return p.Text
	})
}

// begin sends a message; take gives it as it was typed, once it is on its way.
func (m *Model) begin(p assistant.Prompt, take func() string) tea.Cmd {
	events, err := m.session.Send(context.Background(), p)
	if err != nil {
		return m.complain(err)
	}
	typed := take()
	m.draft.AddSent(typed)
	m.reask = 0
	cmd := m.follow(events, p)
	m.turn.typed = typed
	return tea.Batch(cmd, addSent(m.opts.History, typed), m.keepDraftNow())
}

// follow watches a turn that has begun.
func (m *Model) follow(events <-chan assistant.Event, p assistant.Prompt) tea.Cmd {
	last, _ := m.newestVisible()
	if seq, ok := m.session.Running(); ok && seq == last {
		last-- // it is the new turn's own pair already
	}
	m.turn = turnState{n: m.turn.n + 1, running: true, began: m.now(), prompt: p, status: thinking, last: last}
	m.notice.clear()
	m.pane.Changed()
	if p.Retry == 0 {
		m.chat.Bottom()
	}
	return tea.Batch(waitEvents(m.turn.n, events, time.Time{}), m.tick())
}

// onTurnEvents takes a batch of events. Those of a turn that is over fall to
// the floor, but are read to the end so that the turn can close.
func (m *Model) onTurnEvents(msg turnEventsMsg) tea.Cmd {
	var cmds []tea.Cmd
	if msg.turn == m.turn.n {
		for _, e := range msg.events {
			cmds = append(cmds, m.onTurn(turnMessage(e)))
		}
	}
	if msg.more != nil {
		cmds = append(cmds, waitEvents(msg.turn, msg.more, msg.at))
	}
	return tea.Batch(cmds...)
}

// turnMessage gives an event its typed message.
func turnMessage(e assistant.Event) tea.Msg {
	switch e := e.(type) {
	case assistant.TextDelta, assistant.ReasoningDelta, assistant.PayloadFound:
		return chunkStreamedMsg{e}
	case assistant.ToolStart, assistant.ToolProgress, assistant.ToolComplete:
		return toolCalledMsg{e}
	case assistant.ContextTrimmed:
		return trimRetriedMsg{e}
	case assistant.Retrying:
		return requestRetriedMsg{e}
	case assistant.Status:
		return statusChangedMsg{e.Message}
	case assistant.CheckpointCreated:
		return checkpointMadeMsg{e}
	case assistant.ConfirmRequest:
		return answerWantedMsg{e}
	case assistant.Complete, assistant.Error, assistant.Cancelled:
		return turnEndedMsg{e}
	case assistant.TurnStarted, assistant.Queued: // the view and the card show them
	}
	return nil
}

// onTurn routes the messages of the running turn.
func (m *Model) onTurn(msg tea.Msg) tea.Cmd {
	m.place()
	switch msg := msg.(type) {
	case chunkStreamedMsg:
		m.turn.status = "" // goes with the first text
		if _, thinks := msg.event.(assistant.ReasoningDelta); thinks {
			m.turn.status = thinking
		}
		m.chat.Take(msg.event)
	case toolCalledMsg:
		m.chat.Take(msg.event)
		return m.onTool(msg.event)
	case trimRetriedMsg:
		t := msg.trimmed
		m.turn.status = fmt.Sprintf("too long for the model: trying again without %d of %d pairs", t.Trimmed, t.Sent+t.Trimmed)
	case requestRetriedMsg:
		m.turn.status = retryWords(msg.retry)
	case statusChangedMsg:
		m.turn.status = msg.text
	case checkpointMadeMsg:
		m.turn.wrote = true
	case answerWantedMsg:
		return m.askTool(msg.ask)
	case turnEndedMsg:
		return m.onTurnEnd(msg.end)
	}
	return nil
}

func retryWords(r assistant.Retrying) string {
	if r.After == 0 {
		return "Retrying…"
	}
	return fmt.Sprintf("Retrying in %s (%d): %s", r.After.Round(100*time.Millisecond), r.Attempt, r.Reason)
}

// place shows the running pair at the end of the view as soon as it is durable.
func (m *Model) place() {
	if m.turn.seq != 0 || !m.turn.running {
		return
	}
	seq, ok := m.session.Running()
	if !ok {
		seq, ok = m.newest()
	}
	if m.turn.prompt.Retry != 0 {
		seq, ok = m.turn.prompt.Retry, true
	}
	if !ok {
		return
	}
	m.turn.seq = seq
	m.pane.Changed() // the turn has the window now, and says so
	m.showView()
	m.chat.Begin(seq, assistant.Pair{
		Seq: seq, UserText: m.turn.prompt.Text, CreatedAt: m.turn.began, Flag: true,
		Model: m.session.Model(), State: assistant.PairSending,
	})
	if last, _ := m.newestVisible(); seq == last {
		m.chat.Bottom()
	} else { // an older pair is tried again, in its place
		m.chat.Show(seq, false)
	}
}

// newestVisible is the last pair in view.
func (m *Model) newestVisible() (int64, bool) {
	refs := m.session.Visible()
	if len(refs) == 0 {
		return 0, false
	}
	return refs[len(refs)-1].Seq, true
}

// newest is the pair of a turn that was over before its first event was read.
func (m *Model) newest() (int64, bool) {
	last, ok := m.newestVisible()
	return last, ok && !m.session.Busy() && last > m.turn.last
}

// showView gives the chat what is visible and where the boundary is.
func (m *Model) showView() {
	m.chat.SetRefs(m.session.Visible(), m.session.Boundary().First)
	m.counter = m.session.Counter()
}

// onTool lets the pane show what a tool has done to the window.
func (m *Model) onTool(e assistant.Event) tea.Cmd {
	if _, done := e.(assistant.ToolComplete); done {
		m.turn.acted = true
		m.pane.Changed()
	}
	return nil
}

// onTurnEnd makes the screen ready for the next message.
func (m *Model) onTurnEnd(end assistant.Event) tea.Cmd {
	t := m.turn
	m.turn.running, m.turn.status = false, ""
	m.pane.Changed()
	cmds := []tea.Cmd{computeBoundary(m.session), m.notifyEnd(t)}
	switch e := end.(type) {
	case assistant.Complete:
		if t.wrote { // a tool may have changed what pairs say of themselves
			cmds = append(cmds, m.reloadShown())
		}
		cmds = append(cmds, m.settle(t.seq), m.next(), m.waitIdle(t.seq), m.askShown(t.seq))
		m.sayEnd(e.Payload.Notice)
	case assistant.Error:
		if t.seq == 0 {
			m.giveBack(t.typed)
		}
		m.notice.bad("[error: " + e.Code + "] " + e.Message)
		cmds = append(cmds, m.settle(t.seq), m.hold())
	case assistant.Cancelled:
		cmds = append(cmds, m.onCancelled(t, e))
	case assistant.TurnStarted, assistant.Status, assistant.TextDelta, assistant.ReasoningDelta, assistant.ToolStart, assistant.ToolProgress,
		assistant.ToolComplete, assistant.PayloadFound, assistant.CheckpointCreated, assistant.ContextTrimmed,
		assistant.Queued, assistant.Retrying, assistant.ConfirmRequest:
	}
	return tea.Batch(cmds...)
}

// reloadShown reads the pairs on the screen again, and what is visible when the
// filter looks at what may have changed.
func (m *Model) reloadShown() tea.Cmd {
	cmds := []tea.Cmd{loadPairs(m.session, m.chat.Loaded())}
	if readsMarks(m.session.Filter()) {
		cmds = append(cmds, m.refilter())
	}
	return tea.Batch(cmds...)
}

// sayEnd tells what a user should know after an answer: winnow's own word about
// it, what was left out of the request, that the conversation grows long.
func (m *Model) sayEnd(notice string) {
	near := m.session.NearLimit()
	last, _ := m.session.LastSend()
	switch {
	case notice != "":
		m.notice.say(notice)
	case len(last.LeftOut) > 0:
		m.notice.say(fmt.Sprintf("sent without the oldest: %s, ~%d tokens · f2 lists them", assistant.Counted(len(last.LeftOut), "pair"), last.Tokens))
	case near && !m.near:
		m.notice.say("the conversation is close to what the model takes · ctrl+n begins a new session")
	}
	m.near = near
}

// onCancelled brings the text back when the pair has vanished.
func (m *Model) onCancelled(t turnState, e assistant.Cancelled) tea.Cmd {
	var kept tea.Cmd
	switch {
	case e.Kept && t.acted:
		m.notice.say("cancelled; what the tools have done stays")
		kept = m.settle(t.seq)
	case e.Kept:
		m.notice.say("cancelled; r tries again")
		kept = m.settle(t.seq)
	default:
		m.chat.Drop(t.seq)
		m.showView()
		m.giveBack(t.typed)
		m.notice.say("cancelled")
	}
	return tea.Batch(kept, m.hold())
}

// giveBack returns text to the input; the sent history has it in any case.
func (m *Model) giveBack(text string) {
	if m.draft.Empty() {
		m.draft.Set(text)
	}
}

// settle loads the stored pair in the place of the streamed one.
func (m *Model) settle(seq int64) tea.Cmd {
	if seq == 0 {
		return nil
	}
	return settlePair(m.session, m.turn.n, seq)
}

// cancel breaks the running turn off.
func (m *Model) cancel() tea.Cmd {
	m.session.Cancel()
	m.turn.status = "Cancelling…"
	return nil
}

// onBoundary shows a boundary that was computed anew.
func (m *Model) onBoundary(msg boundaryComputedMsg) tea.Cmd {
	m.near = m.near && m.session.NearLimit()
	m.chat.SetRefs(msg.refs, msg.at.First)
	m.counter = msg.counter
	return m.loadMissing()
}

// waitEvents blocks for one event, then takes whatever else comes within a
// frame: a burst of chunks costs one message, and keys are served in between.
// What the user waits for, a tool, a question, the end, is never held back.
func waitEvents(turn int, ch <-chan assistant.Event, last time.Time) tea.Cmd {
	return func() tea.Msg {
		e, ok := <-ch
		if !ok {
			return turnEventsMsg{turn: turn}
		}
		msg := turnEventsMsg{turn: turn, events: []assistant.Event{e}, more: ch, at: time.Now()}
		frame := time.NewTimer(max(0, streamFrame-msg.at.Sub(last)))
		defer frame.Stop()
		for len(msg.events) < maxBatch && isChunk(e) {
			select {
			case e, ok = <-ch:
				if !ok {
					msg.more = nil
					return msg
				}
				msg.events = append(msg.events, e)
			case <-frame.C:
				msg.at = time.Now()
				return msg
			}
		}
		return msg
	}
}

// streamFrame is how often streamed text is shown: about 30 times a second,
// faster than anyone reads and slow enough to leave the screen to the keys.
const streamFrame = 33 * time.Millisecond

// maxBatch bounds what one message carries.
const maxBatch = 1024

func isChunk(e assistant.Event) bool {
	switch e.(type) {
	case assistant.TextDelta, assistant.ReasoningDelta, assistant.ToolProgress:
		return true
	case assistant.Cancelled, assistant.CheckpointCreated, assistant.Complete, assistant.ConfirmRequest,
		assistant.ContextTrimmed, assistant.Error, assistant.PayloadFound, assistant.Queued, assistant.Retrying,
		assistant.Status, assistant.ToolComplete, assistant.ToolStart, assistant.TurnStarted:
	}
	return false
}

// computeBoundary asks for the boundary after something that can have moved it.
func computeBoundary(s *assistant.Session) tea.Cmd {
	return func() tea.Msg {
		return boundaryComputedMsg{refs: s.Visible(), at: s.Boundary(), counter: s.Counter()}
	}
}

// settlePair loads a pair that has ended.
func settlePair(s *assistant.Session, turn int, seq int64) tea.Cmd {
	return func() tea.Msg {
		pairs, err := s.Pairs(context.Background(), []int64{seq})
		return pairsLoadedMsg{turn: turn, asked: []int64{seq}, pairs: pairs, err: err}
	}
}

// complain shows an error in the footer.
func (m *Model) complain(err error) tea.Cmd {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, assistant.ErrBusy):
		m.notice.bad("assistant is working · esc cancels")
	case errors.Is(err, assistant.ErrNoModel):
		m.notice.bad("no model is selected · ctrl+l chooses one")
	default:
		m.notice.bad(sentence(err))
	}
	return nil
}

// carry does what a pane asks for.
func (m *Model) carry(w pane.Action) tea.Cmd {
	switch w := w.(type) {
	case pane.Edit:
		if m.session.Busy() {
			return m.complain(assistant.ErrBusy)
		}
		return m.change(editWindow(m.session, w))
	case pane.Notify:
		if w.Bad {
			m.notice.bad(w.Text)
		} else {
			m.notice.say(w.Text)
		}
	case pane.SetFilter:
		return m.runText(w.Line)
	case pane.Pick:
		return m.pick(w)
	case pane.Confirm:
		return m.askAction(w)
	case pane.Run:
		m.notice.say(w.Doing)
		return runAction(w)
	case pane.Nothing:
	}
	return nil
}
