package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/history"
	"winnow/assistant/workspace"
)

type (
	// SessionsListed are the sessions that have pairs, the one used last first.
	SessionsListed struct {
		Reply
		Sessions []history.Session
	}
	// SessionOpened ends NewSession and ResumeSession: the session is another one.
	SessionOpened struct {
		Reply
		New bool
		Err error // what failed after it
	}
)

// ListSessions lists the sessions: SessionsListed.
func (c *Commands) ListSessions(request int64) tea.Cmd {
	return c.command(request, "list the sessions", func(ctx context.Context, c call) (Outcome, error) {
		all, err := c.Sessions(ctx)
		return SessionsListed{c.reply(), all}, err
	})
}

// NewSession starts a new session: SessionOpened, after ConfirmWanted with unsaved changes.
func (c *Commands) NewSession(request int64) tea.Cmd {
	return c.confirmed(request, "start a session", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		ask, err := c.Workspace.NewSession(ctx, confirmed != nil)
		return SessionOpened{c.reply(), true, nil}, ask, err
	})
}

// ResumeSession continues another session: SessionOpened, after ConfirmWanted with unsaved
// changes.
func (c *Commands) ResumeSession(request int64, id string) tea.Cmd {
	return c.confirmed(request, "continue the session", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		ask, err := c.Workspace.ResumeSession(ctx, id, confirmed != nil)
		if c.Session().ID() == id { // then only its time of use could not be stored
			return SessionOpened{c.reply(), false, err}, ask, nil
		}
		return nil, ask, err
	})
}
