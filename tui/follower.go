package tui

import (
	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/usecase"
)

// onLog shows what has changed in the session, and waits for the next change. If nothing has
// changed for an AnimationFrame, it advances the animations.
func (m *Model) onLog(msg usecase.LogRead) tea.Cmd {
	if msg.Version == 0 {
		m.animate()
		return m.follower.Wait(m.turn.running)
	}
	cmds := []tea.Cmd{m.show(msg.Update), m.onOthers(msg)}
	return tea.Batch(append(cmds, m.follower.Wait(m.turn.running))...)
}

// known reports whether a message only repeats what an outcome has already shown.
func (m *Model) known(msg tea.Msg) bool {
	read, ok := msg.(usecase.LogRead)
	if !ok || read.Version == 0 || read.Event != nil || read.Stale != nil || read.Running != nil || read.Resync || read.Missed || len(read.Done) > 0 {
		return false
	}
	now := m.parts
	return now.Apply(read.State) == assistant.State{}
}

// show shows an update: first the state, then the event that depends on the state.
func (m *Model) show(u assistant.Update) tea.Cmd {
	news := m.parts.Apply(u.State)
	var cmds []tea.Cmd
	if news.Shown != nil {
		m.setShown(*news.Shown)
		cmds = append(cmds, m.feedHUD(), m.loadMissing())
	}
	if news.Shown != nil || news.Window != nil || news.Checkpoints != nil || news.Others != nil || news.Turn != nil {
		m.showInPane()
	}
	if news.Window != nil {
		cmds = append(cmds, m.computeEffects())
	}
	if u.Resync || u.Running != nil {
		cmds = append(cmds, m.resync(u.Running))
	}
	if u.Stale != nil { // a pair whose turn ended during the resync is loaded again too
		m.pane.Changed()
		cmds = append(cmds, m.reloadStale(u.Stale))
	}
	if u.Event != nil {
		cmds = append(cmds, m.startTurn(u.Of))
		if u.Of.Number == m.turn.n && m.turn.running { // events of other turns are skipped: their pairs are stale
			cmds = append(cmds, m.onTurnEvent(u.Event))
		}
	}
	return tea.Batch(cmds...)
}

// setShown updates which pairs are visible and which of them the next request includes. Unless
// another notice is shown, it says if the context has become nearly full.
func (m *Model) setShown(now assistant.Shown) {
	m.hud.Show(now.Refs, now.Boundary)
	if nearlyFull := m.conv.setShown(now); nearlyFull && (m.notice.Text == "" || string(m.notice.Text) == m.opts.Notice) {
		m.notice.Info("the context is nearly full" + m.hint(" · %s starts a new session", keymap.NewSession))
	}
}

// showInPane passes the pane the state to draw: the window, its checkpoints, the topic, and
// whether the window is locked.
func (m *Model) showInPane() {
	now := pane.State{Working: m.parts.Turn != nil && m.parts.Turn.Running, Holder: m.parts.others().Holder}
	if m.parts.Window != nil {
		now.Window = m.parts.Window.Value
	}
	if s := m.parts.Shown; s != nil {
		now.Topic, now.Checkpoints = s.Topic, m.parts.Checkpoints.Of(s.Session)
	}
	m.pane.Show(now)
	m.wasUnsaved = m.wasUnsaved || m.pane.Status().Unsaved > 0
}

// resync updates the screen after events were missed. pair is the pair of the running turn
// as received so far; nil if no turn is running.
func (m *Model) resync(pair *assistant.Pair) tea.Cmd {
	now := m.parts.Turn
	if m.turn.running && !(now.Running && now.Turn.Number == m.turn.n) {
		m.turn.running, m.turn.status = false, ""
		m.conv.chat.EndTurn()
		m.hud.SetRunning(0, "")
	}
	if pair == nil {
		return nil
	}
	loads := m.startTurn(now.Turn)
	m.turn.seq = pair.Seq
	m.hud.SetRunning(pair.Seq, pair.UserText)
	m.conv.chat.ResumeTurn(*pair)
	if now.Asks != nil {
		return tea.Batch(loads, m.askTool(*now.Asks))
	}
	return loads
}
