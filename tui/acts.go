package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/usecase"
)

// acts are commands that change something. They run one at a time, in the order of the key
// presses: when one ends, the next starts. Changes that must not wait are not acts, such as
// cancelling, answering a tool, deciding on proposals, storing the draft and quitting.
type acts struct {
	requests int64 // number of requests so far; the last request has this number
	running  int64 // request number of the running act; 0 if none is running
	waiting  []func(request int64) tea.Cmd
	released bool // keys no longer wait for the running act to end
}

// keyQueue holds keys that must wait. While an act is running, keys in VIEW and PANE wait
// for its outcome, because they work on what the act changes; keys in other modes and in
// overlays do not. Until the session is open, keys that need the session wait. Everything
// after a waiting key waits too, except keys that cancel or quit.
type keyQueue struct {
	waiting []tea.Msg // keys, pastes and mouse events, in order
}

// add queues a command that changes something; it runs after the acts before it have ended.
// begin is called when the command's turn comes and reads the state only then; it returns
// nil if there is nothing to do.
func (a *acts) add(begin func(request int64) tea.Cmd) tea.Cmd {
	a.waiting = append(a.waiting, begin)
	return a.next()
}

// next starts waiting acts until one is running.
func (a *acts) next() tea.Cmd {
	for a.running == 0 && len(a.waiting) > 0 {
		begin := a.waiting[0]
		a.waiting = a.waiting[1:]
		request := a.query()
		if cmd := begin(request); cmd != nil {
			a.running, a.released = request, false
			return cmd
		}
	}
	return nil
}

// query returns the request number of a command that does not wait for the acts, such as a
// command that only reads.
func (a *acts) query() (request int64) {
	a.requests++
	return a.requests
}

// onEnded shows the state after a command, then the command's outcome, and starts the acts
// and keys that waited for the command.
func (m *Model) onEnded(o usecase.Outcome) tea.Cmd {
	reply := o.Ended()
	var cmds []tea.Cmd
	cmds = append(cmds, m.show(assistant.Update{State: reply.State}))
	if reply.Request != m.edits.quietRequest {
		m.pane.Changed()
	}
	ended := reply.Request == m.acts.running
	if ended {
		m.acts.running = 0 // before showOutcome, so that the next step of a flow runs before the waiting acts
	}
	if cmds = append(cmds, m.showOutcome(o)); ended {
		cmds = append(cmds, m.acts.next(), m.flushKeys(), m.quitWhenIdle())
	}
	return tea.Batch(cmds...)
}

// late reports whether o counts, finds or lists something of a session that is no longer
// shown. Other outcomes are never late.
func (m *Model) late(o usecase.Outcome) bool {
	switch o.(type) {
	case usecase.Counted, usecase.Matched, usecase.RequestsRead:
		return o.Ended().Session != m.parts.shownSession()
	}
	return false
}

// showOutcome shows the outcome of a command and drops late outcomes. An outcome that only a
// flow handles has no case in the second switch, so it is dropped once the flow waits for
// another request; usecase.Failed has a case and is shown even then. Request numbers start
// at 1; a flow with request 0 waits for nothing.
func (m *Model) showOutcome(o usecase.Outcome) tea.Cmd {
	if m.late(o) {
		return nil
	}
	switch o.Ended().Request {
	case m.saving.request:
		return m.carryOut(m.saving.on(o, m.wording()))
	case m.discarding.request:
		return m.carryOut(m.discarding.on(o, m.wording()))
	case m.edits.quietRequest:
		return m.onQuiet(o)
	case m.rolling.request:
		return m.carryOut(m.rolling.on(o, m.wording()))
	}
	if e, ok := m.edits.begun[o.Ended().Request]; ok {
		delete(m.edits.begun, o.Ended().Request)
		return m.onEditEnded(e, o)
	}
	for _, show := range [...]func(usecase.Outcome) (tea.Cmd, bool){m.onPairOutcome, m.onLineOutcome, m.onPickerOutcome} {
		if cmd, shown := show(o); shown {
			return cmd
		}
	}
	switch o := o.(type) {
	case usecase.EffectsRead:
		m.conv.onEffects(o)
	case usecase.ConfirmWanted:
		return m.askConfirm(o)
	case usecase.Applied:
		if o.Request == m.applying {
			m.applying = 0
		}
	case usecase.MessageQueued:
		return m.onQueued(o)
	case usecase.Decided:
		return m.onDecided(o)
	case usecase.DraftStored:
		if o.Request == m.ending {
			m.unstored = o.Err
			return tea.Quit
		}
		return m.carryOut(m.input.onDraftStored(o))
	case usecase.Failed:
		return m.fail(o.Err)
	case usecase.SentStored, usecase.QueueForgotten, usecase.StartCounted: // nothing to show
	}
	return nil
}

// onLineOutcome handles outcomes about filter lines, searches and the names for completion;
// ok is false for other outcomes.
func (m *Model) onLineOutcome(o usecase.Outcome) (cmd tea.Cmd, ok bool) {
	switch o := o.(type) {
	case usecase.Counted:
		m.command.onCounted(o)
		m.onHidden(o)
	case usecase.Filtered:
		return m.onFiltered(o), true
	case usecase.CommandPlanned:
		return m.onCommandPlanned(o), true
	case usecase.Executed:
		return m.onExecuted(o), true
	case usecase.CommandUndone:
		return m.onCommandUndone(o), true
	case usecase.Refiltered:
		if o.Added > 0 {
			said := m.notice.Text != "" // for example, a notice about the rule change that the message made
			m.notice.Add(safetext.Sprintf("%s added %s", o.By, assistant.Counted(o.Added, "message")), said)
		}
		m.failView(o.Err)
	case usecase.Matched:
		m.conv.onMatched(o)
	case usecase.Found:
		return m.carryOut(m.conv.onFound(o)), true
	case usecase.NamesRead:
		m.stored = o.Names
	default:
		return nil, false
	}
	return nil, true
}

// onPickerOutcome handles outcomes about sessions, cancelled answers, models, topics,
// settings and requests; ok is false for other outcomes.
func (m *Model) onPickerOutcome(o usecase.Outcome) (cmd tea.Cmd, ok bool) {
	switch o := o.(type) {
	case usecase.RollbackUndone:
		return m.onRollbackUndone(o), true
	case usecase.TopicSelected:
		return m.info(topicSelected(o.Path)), true
	case usecase.TopicsChanged:
		return m.onTopicsChanged(o), true
	case usecase.SessionsListed:
		return m.onSessions(o), true
	case usecase.RecentSessionsRead:
		m.earlier = o.Sessions
	case usecase.SessionOpened:
		return m.onSessionOpened(o), true
	case usecase.CancelledKept:
		return m.onCancelledKept(o), true
	case usecase.AskedAgain:
		return m.startDraft(o.Prompt), true
	case usecase.CostRead:
		m.onCost(o)
	case usecase.AboutRead:
		m.about = o.About
		return nil, true
	case usecase.SessionTitled:
		return m.onTitle(o), true
	case usecase.ModelsRefreshed:
		return m.onModels(o), true
	case usecase.ModelPicked:
		return m.onModelPicked(o), true
	case usecase.SettingChanged:
		return m.settingChanged(o.Key), true
	case usecase.FavouritesChanged:
		m.models.favourites = o.Favourites
		m.showModels(o.ID)
	case usecase.RequestsRead:
		return m.carryOut(m.requests.on(o, m.inUse().Budget.Estimate)), true
	default:
		return nil, false
	}
	return nil, true
}

// mustWait reports whether a key works on what the running act changes, or needs a session
// that is not open yet.
func (m *Model) mustWait(msg tea.Msg) bool {
	k, isKey := msg.(tea.KeyPressMsg)
	if !isKey {
		return false
	}
	if m.ready {
		changing := m.acts.running != 0 && !m.acts.released
		return changing && (m.mode == keymap.View || m.mode == keymap.Pane) && !m.overlay.Open()
	}
	a := m.keys.Find(m.mode, keyName(k))
	cancels := len(m.input.outbox) > 0                            // escape then cancels the turn that the outbox would start
	_, _, isCommand := keymap.ParseCommand(m.input.draft.Shown()) // a command needs the session
	return a != nil && (!a.Early || a.Name == keymap.Escape && cancels || isCommand && (a.Name == keymap.Send || a.Name == keymap.Newline))
}

// enqueue queues a key, a paste or a mouse event that must wait; it returns false if msg can
// be handled now. A key that cancels never waits and empties the queue; quit never waits
// here, because quitting has its own wait.
func (m *Model) enqueue(msg tea.Msg) bool {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		a := m.keys.Find(m.mode, keyName(k))
		switch {
		case a == nil:
		case a.Name == keymap.Quit:
			return false
		case a.Name == keymap.Cancel || a.Name == keymap.Escape && m.turn.running:
			m.queue.waiting, m.acts.released = nil, true
			return false
		}
	}
	if len(m.queue.waiting) == 0 && !m.mustWait(msg) {
		return false
	}
	m.queue.waiting = append(m.queue.waiting, msg)
	return true
}

// flushKeys handles what waits in the queue, up to the first key that must still wait. The
// screen is drawn before each of them, because drawing sets the layout and scroll position
// that keys and clicks depend on.
func (m *Model) flushKeys() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.queue.waiting) > 0 && !m.mustWait(m.queue.waiting[0]) {
		msg := m.queue.waiting[0]
		m.queue.waiting = m.queue.waiting[1:]
		m.fitInput()
		m.View()
		cmds = append(cmds, m.handle(msg))
	}
	return tea.Batch(cmds...)
}
