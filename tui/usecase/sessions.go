package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
)

type (
	// SessionsListed contains the sessions that have pairs, most recently used first.
	SessionsListed struct {
		Reply
		Sessions []history.Session
	}
	// RecentSessionsRead contains the most recently used sessions of this folder, for the
	// welcome.
	RecentSessionsRead struct {
		Reply
		Sessions []history.Session
	}
	// SessionOpened is the outcome of NewSession, Branch and ResumeSession: the session has
	// changed.
	SessionOpened struct {
		Reply
		New      bool
		Branched bool  // New branches off from the previous session
		Err      error // what failed afterwards
	}
	// CancelledKept is the outcome of KeepCancelled.
	CancelledKept struct {
		Reply
		Pair *assistant.Pair // holds the answer
	}
	// AskedAgain is the outcome of AskAgain; the prompt can be sent.
	AskedAgain struct {
		Reply
		Prompt assistant.Prompt
	}
	// CostRead is the outcome of ReadCost.
	CostRead struct {
		Reply
		Cost workspace.Cost
	}
	// SessionTitled is the outcome of SetTitle and ReadTitle.
	SessionTitled struct {
		Reply
		Title string
		Read  bool // it was not changed
	}
)

// ListSessions lists the sessions: SessionsListed.
func (c *Commands) ListSessions(request int64) tea.Cmd {
	return c.command(request, "list the sessions", func(ctx context.Context, c call) (Outcome, error) {
		all, err := c.Sessions(ctx)
		return SessionsListed{c.reply(), all}, err
	})
}

// RecentSessions reads the n most recently used sessions of this folder:
// RecentSessionsRead.
func (c *Commands) RecentSessions(request int64, n int) tea.Cmd {
	return c.command(request, "list the sessions", func(ctx context.Context, c call) (Outcome, error) {
		all, err := c.RecentSessions(ctx, n)
		return RecentSessionsRead{c.reply(), all}, err
	})
}

// NewSession starts a new session: SessionOpened, after ConfirmWanted if there are unsaved
// changes.
func (c *Commands) NewSession(request int64) tea.Cmd {
	return c.confirmed(request, "start a session", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		ask, err := c.Workspace.NewSession(ctx, confirmed != nil)
		return SessionOpened{Reply: c.reply(), New: true}, ask, err
	})
}

// ResumeSession continues another session: SessionOpened, after ConfirmWanted if there are
// unsaved changes.
func (c *Commands) ResumeSession(request int64, id string) tea.Cmd {
	return c.confirmed(request, "continue the session", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		ask, err := c.Workspace.ResumeSession(ctx, id, confirmed != nil)
		if c.Session().ID() == id { // only its time of use could not be stored
			return SessionOpened{Reply: c.reply(), Err: err}, ask, nil
		}
		return nil, ask, err
	})
}

// Branch starts a session that branches off from this one at a pair: SessionOpened.
func (c *Commands) Branch(request, seq int64) tea.Cmd {
	return c.command(request, "branch the session", func(ctx context.Context, c call) (Outcome, error) {
		before := c.Session().ID()
		err := c.Workspace.Branch(ctx, seq)
		if c.Session().ID() == before {
			return nil, err
		}
		return SessionOpened{Reply: c.reply(), New: true, Branched: true, Err: err}, nil
	})
}

// KeepCancelled keeps the cancelled answer: CancelledKept.
func (c *Commands) KeepCancelled(request int64) tea.Cmd {
	return c.command(request, "keep what came", func(ctx context.Context, c call) (Outcome, error) {
		p, err := c.Workspace.KeepCancelled(ctx)
		return CancelledKept{c.reply(), p}, err
	})
}

// AskAgain prepares to repeat the cancelled request: AskedAgain.
func (c *Commands) AskAgain(request int64) tea.Cmd {
	return c.command(request, "ask again", func(ctx context.Context, c call) (Outcome, error) {
		p, err := c.Workspace.AskAgain(ctx)
		return AskedAgain{c.reply(), p}, err
	})
}

// SetTitle names the session; "" restores the default, its first message: SessionTitled.
func (c *Commands) SetTitle(request int64, title string) tea.Cmd {
	return c.command(request, "name the session", func(ctx context.Context, c call) (Outcome, error) {
		title, err := c.Workspace.SetTitle(ctx, title)
		return SessionTitled{c.reply(), title, false}, err
	})
}

// ReadTitle reads the title of the session: SessionTitled.
func (c *Commands) ReadTitle(request int64) tea.Cmd {
	return c.command(request, "read the title", func(ctx context.Context, c call) (Outcome, error) {
		title, err := c.Title(ctx)
		return SessionTitled{c.reply(), title, true}, err
	})
}

// ReadCost adds up the cost of the session's answers: CostRead.
func (c *Commands) ReadCost(request int64) tea.Cmd {
	return c.command(request, "sum up the session", func(ctx context.Context, c call) (Outcome, error) {
		sum, err := c.Cost(ctx)
		return CostRead{c.reply(), sum}, err
	})
}
