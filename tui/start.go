package tui

import (
	"cmp"
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/history"
	"winnow/tui/keymap"
	"winnow/tui/usecase"
)

// The screen is drawn before anything is open: a box to write in, and empty frames. Start
// opens the parts, which arrive in a startLoadedMsg. Until then, keys that need the parts
// wait in the keyQueue, and sent messages wait in the outbox.

// startLoadedMsg contains what the screen shows and works on.
type startLoadedMsg struct {
	parts  *Parts // nil if Options already set the parts
	failed error  // why the parts could not be opened
	usecase.Started
}

// openParts opens the parts and loads what is shown first.
func openParts(open func() (Parts, error)) tea.Cmd {
	return func() tea.Msg {
		p, err := open()
		if err != nil {
			return startLoadedMsg{failed: err}
		}
		msg := loadStart(p)().(startLoadedMsg)
		msg.parts = &p
		return msg
	}
}

// loadStart loads what the first screen needs.
func loadStart(p Parts) tea.Cmd {
	var commands usecase.Commands
	commands.Bind(p.Source)
	return func() tea.Msg { return startLoadedMsg{Started: commands.Start(context.Background())} }
}

// onStart shows the opened parts, and handles the keys that waited for them. Text typed
// since the start takes precedence over the stored draft.
func (m *Model) onStart(msg startLoadedMsg) tea.Cmd {
	if m.err = msg.failed; m.err != nil {
		return tea.Quit
	}
	if msg.parts != nil {
		m.use(*msg.parts)
	}
	m.loading = false
	m.fail(msg.Err)
	m.stored, m.models = msg.Recall.Names, modelList{recent: msg.Recent, favourites: msg.Favourites}
	m.command.line.History = msg.Recall.Lines
	m.input.draft.SetEarlier(msg.Recall.Sent, msg.Draft.Stash)
	m.input.restoreDraft(msg.Draft.Text)
	if msg.FailedStarts >= maxFailedStarts {
		m.showRaw()
	}
	m.follower = m.commands.Follow(cmp.Or(m.opts.Context, context.Background()), msg.Update)
	m.conv.chat.SetPayloadTypes(msg.PayloadTypes)
	shown := m.show(msg.Update)
	if m.conv.chat.Len() > 0 {
		m.conv.chat.Bottom()
	}
	cmds := []tea.Cmd{shown, m.follower.Wait(m.turn.running), waitSavedChange(m.opts.Changes), m.noteStart(msg.FailedStarts)}
	if msg.parts != nil {
		cmds = append(cmds, m.flushOutbox(), m.flushKeys())
	}
	cmds = append(cmds, m.readAbout())
	if m.commands.Stores() && m.conv.chat.Len() == 0 {
		cmds = append(cmds, m.commands.RecentSessions(m.acts.query(), maxWelcomeSessions))
	}
	if m.opts.Recovery != nil {
		m.askRecovery()
	}
	return tea.Batch(cmds...)
}

// showRaw shows all answers as source text.
func (m *Model) showRaw() {
	m.conv.chat.SetRaw()
	m.notice.Info("winnow crashed or was killed the last few times it started: answers are shown as raw text" + m.hint(" · %s renders one", keymap.Raw))
}

// After maxFailedStarts consecutive starts that ended uncleanly within startLasts, the next
// start shows the answers as source text, because drawing an answer may have been the
// cause.
const (
	maxFailedStarts = 2
	startLasts      = 10 * time.Second
)

// noteStart counts this start as failed until startLasts has passed or EndStart is called.
// A served screen is not counted, because it does not start the program.
func (m *Model) noteStart(failed int) tea.Cmd {
	if m.opts.Served != nil {
		return nil
	}
	m.started = m.now()
	return m.setFailedStarts(failed + 1)
}

func (m *Model) setFailedStarts(n int) tea.Cmd {
	return m.commands.SetFailedStarts(m.acts.query(), n)
}

// checkStart counts the start as successful at the first message after startLasts has
// passed.
func (m *Model) checkStart() tea.Cmd {
	if m.lasted || m.started.IsZero() || m.now().Sub(m.started) < startLasts {
		return nil
	}
	m.lasted = true
	return m.setFailedStarts(0)
}

// EndStart records that this start did not fail. Call it after the program has ended normally,
// not after a panic or a kill.
func (m *Model) EndStart(ctx context.Context) error {
	if !m.ready || m.lasted || m.opts.Served != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, quitTime)
	defer cancel()
	return m.commands.ResetFailedStarts(ctx)
}

// Typed returns the texts that could not be stored because the program ended before the
// history was open, or because StoreDraft failed: what the user typed, and the texts that
// were cleared, newest last. Call it after the program has ended.
func (m *Model) Typed() history.Draft {
	switch {
	case m.unstored != nil:
		return m.input.drafted()
	case m.ready:
		return history.Draft{}
	}
	texts := m.input.waitingTexts()
	if text := m.input.draft.Text(); strings.TrimSpace(text) != "" {
		texts = append(texts, text)
	}
	return history.Draft{Text: strings.Join(texts, "\n\n"), Stash: m.input.draft.Stash()}
}
