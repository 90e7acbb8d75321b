package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

const (
	// animationFrame is how long what is animated stays the same: eight frames a second
	// look alive.
	animationFrame = 125 * time.Millisecond
	// textFrame is the least time between two pieces of text: faster than anyone reads. It
	// is shorter than the pause between two reads of a connection: what is read is shown at
	// once.
	textFrame = 32 * time.Millisecond
)

// follower reads the log of the session, one message at a time: each logReadMsg is followed
// by the next wait. What only the log brings is in order, whatever the commands do.
type follower struct {
	next    func(ctx context.Context, after int64) (assistant.Update, error)
	ctx     context.Context //nolint:containedctx // that of the screen
	version int64           // read so far
	drawn   time.Time       // when a piece of text was returned last
}

// logReadMsg is what has changed in the session. That of an animated wait may be empty:
// nothing has changed for an animationFrame.
type logReadMsg struct{ assistant.Update }

// wait waits for the next message; with animate, no longer than an animationFrame. Only
// one wait runs at a time.
func (f *follower) wait(animate bool) tea.Cmd {
	return func() tea.Msg {
		ctx := f.ctx
		if animate {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, animationFrame)
			defer cancel()
		}
		u, err := f.next(ctx, f.version)
		if pause := textFrame - time.Since(f.drawn); err == nil && isText(u.Event) && pause > 0 {
			select {
			case <-time.After(pause):
			case <-f.ctx.Done():
			}
			u, err = f.next(f.ctx, f.version) // with the pieces that came meanwhile
		}
		switch {
		case f.ctx.Err() != nil:
			return nil
		case err != nil:
			return logReadMsg{}
		case isText(u.Event):
			f.drawn = time.Now()
		}
		f.version = u.Version
		return logReadMsg{u}
	}
}

func isText(e assistant.Event) bool {
	switch e.(type) {
	case assistant.TextDelta, assistant.ReasoningDelta:
		return true
	default:
		return false
	}
}

// onLog shows what has changed in the session, and waits for more.
func (m *Model) onLog(msg logReadMsg) tea.Cmd {
	if msg.Version == 0 {
		m.animate()
		return m.follower.wait(m.turn.running)
	}
	cmd := m.show(msg.Update)
	return tea.Batch(cmd, m.follower.wait(m.turn.running))
}

// show shows an update: the state first, then the event that depends on it.
func (m *Model) show(u assistant.Update) tea.Cmd {
	news := m.parts.Apply(u.State)
	var cmds []tea.Cmd
	if news.Shown != nil {
		m.conv.setShown(*news.Shown)
		cmds = append(cmds, m.feedHUD(), m.conv.loadMissing())
	}
	if news.Shown != nil || news.Window != nil || news.Checkpoints != nil {
		m.showInPane()
	}
	if news.Window != nil {
		cmds = append(cmds, m.conv.computeEffects())
	}
	if u.Stale != nil {
		m.pane.Changed()
		cmds = append(cmds, m.conv.reloadStale(u.Stale))
	}
	if u.Resync || u.Running != nil {
		cmds = append(cmds, m.resync(u.Running))
	}
	if u.Event != nil {
		m.startTurn(u.Of)
		if u.Of.Number == m.turn.n && m.turn.running { // else its pair is stale
			cmds = append(cmds, m.onTurnEvent(u.Event))
		}
	}
	return tea.Batch(cmds...)
}

// resync shows the running turn as it was received so far, nil: none runs, when the events
// before were not read.
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
	m.startTurn(now.Turn)
	m.turn.seq = pair.Seq
	m.hud.SetRunning(pair.Seq, pair.UserText)
	m.conv.chat.ResumeTurn(*pair)
	if now.Asks != nil {
		return m.askTool(*now.Asks)
	}
	return nil
}
