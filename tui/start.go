package tui

import (
	"cmp"
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
)

// The screen is drawn before anything is open: a box to write in and empty frames.
// Start opens the rest, and startLoadedMsg delivers it. Until then, keys that need it
// wait in the keyQueue, and messages that were sent in the outbox.

// startLoadedMsg brings what the screen shows and works on, and what is shown first.
type startLoadedMsg struct {
	parts        *Parts           // nil: set already, by Options
	failed       error            // why they could not be opened
	update       assistant.Update // all parts
	draft        history.Draft
	recall       workspace.Recall
	models       modelList
	failedStarts int // before this one, see Workspace.FailedStarts
	err          error
}

// openParts opens the parts and loads what is shown of them first.
func openParts(open func() (Parts, error)) tea.Cmd {
	return func() tea.Msg {
		p, err := open()
		if err != nil {
			return startLoadedMsg{failed: err}
		}
		msg := loadStart(p.Work)().(startLoadedMsg)
		msg.parts = &p
		return msg
	}
}

// loadStart loads what the first screen needs: the pairs of the session, the stored
// draft, and what completion offers. Only pairs that cannot be read are an error.
func loadStart(w *workspace.Workspace) tea.Cmd {
	return func() tea.Msg {
		ctx := context.Background()
		msg := startLoadedMsg{err: w.LoadView(ctx)}
		msg.update, _ = w.Next(ctx, -1) // which does not wait
		msg.draft, _ = w.Draft(ctx)
		msg.recall = w.Recall(ctx)
		msg.failedStarts = w.FailedStarts(ctx)
		msg.models = modelList{recent: w.RecentModels(ctx), favourites: w.FavouriteModels(ctx)}
		return msg
	}
}

// onStart shows what has been opened and loaded, and handles the keys that waited.
// Text typed since the start takes precedence over the stored draft.
func (m *Model) onStart(msg startLoadedMsg) tea.Cmd {
	if m.err = msg.failed; m.err != nil {
		return tea.Quit
	}
	if msg.parts != nil {
		m.use(*msg.parts)
	}
	m.loading = false
	m.fail(msg.err)
	m.stored, m.pickers.models = msg.recall.Names, msg.models
	m.command.line.History = msg.recall.Lines
	m.input.draft.SetSent(msg.recall.Sent)
	m.input.draft.SetStash(append(msg.draft.Stash, m.input.draft.Stash()...))
	m.input.restoreDraft(msg.draft.Text)
	if msg.failedStarts >= maxFailedStarts {
		m.conv.showRaw()
	}
	m.follower = follower{next: m.work.Next, ctx: cmp.Or(m.opts.Context, context.Background()), version: msg.update.Version}
	shown := m.show(msg.update)
	if m.conv.chat.Len() > 0 {
		m.conv.chat.Bottom()
	}
	cmds := []tea.Cmd{shown, m.follower.wait(m.turn.running), m.noteStart(msg.failedStarts)}
	if msg.parts != nil {
		cmds = append(cmds, m.flushOutbox(), m.flushKeys(), waitSavedChange(msg.parts.Changes), m.others.Wait)
	}
	if m.opts.OfferConnect != nil {
		cmds = append(cmds, func() tea.Msg { return connectOfferedMsg(m.opts.OfferConnect()) })
	}
	if m.opts.Recovery != nil {
		m.askRecovery()
	}
	return tea.Batch(cmds...)
}

// After maxFailedStarts starts in a row that did not last startLasts and did not end
// cleanly, the next one shows the answers as their source: drawing one may have been the
// cause.
const (
	maxFailedStarts = 2
	startLasts      = 10 * time.Second
)

// noteStart counts this start as failed until it has lasted, or EndStart is called. A
// served screen is not counted: its start is not the program's.
func (m *Model) noteStart(failed int) tea.Cmd {
	if m.opts.Served != nil {
		return nil
	}
	m.started = m.now()
	return m.setFailedStarts(failed + 1)
}

func (m *Model) setFailedStarts(n int) tea.Cmd {
	return m.commands.SetFailedStarts(m.query(), n)
}

// checkStart counts the start as a good one at the first message after it has lasted.
func (m *Model) checkStart() tea.Cmd {
	if m.lasted || m.started.IsZero() || m.now().Sub(m.started) < startLasts {
		return nil
	}
	m.lasted = true
	return m.setFailedStarts(0)
}

// EndStart is called when the program has ended in order, not by a panic or by force.
func (m *Model) EndStart(ctx context.Context) error {
	if !m.ready || m.lasted || m.opts.Served != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, quitTime)
	defer cancel()
	return m.work.SetFailedStarts(ctx, 0)
}

// onConnectOffered opens the card that connects a model, unless the user has begun to do
// something.
func (m *Model) onConnectOffered(offer bool) tea.Cmd {
	if !offer || !m.lastKey.IsZero() || !m.input.draft.Empty() || m.conv.chat.Len() > 0 || m.overlay.Open() || m.layout.Small {
		return nil
	}
	return m.pickers.connect(true)
}

// Typed is what the user typed when the program ended before a store was open: the
// text, and what was cleared, the newest last. It is called after the program has
// ended; it is empty if the session was open.
func (m *Model) Typed() history.Draft {
	if m.ready {
		return history.Draft{}
	}
	texts := m.input.waitingTexts()
	if text := m.input.draft.Text(); strings.TrimSpace(text) != "" {
		texts = append(texts, text)
	}
	return history.Draft{Text: strings.Join(texts, "\n\n"), Stash: m.input.draft.Stash()}
}
