package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
)

type (
	// SessionsListed are the sessions that have pairs, the one used last first.
	SessionsListed struct {
		Reply
		Sessions []history.Session
	}
	// RecentSessionsRead are the sessions of this folder used last, for the welcome.
	RecentSessionsRead struct {
		Reply
		Sessions []history.Session
	}
	// SessionOpened ends NewSession, Branch and ResumeSession: the session is another one.
	SessionOpened struct {
		Reply
		New      bool
		Branched bool  // New continues the one before, up to a pair
		Err      error // what failed after it
	}
	// CancelledKept ends KeepCancelled.
	CancelledKept struct {
		Reply
		Pair *assistant.Pair // that has the answer now
	}
	// AskedAgain ends AskAgain: the prompt is to be sent.
	AskedAgain struct {
		Reply
		Prompt assistant.Prompt
	}
	// CostRead ends ReadCost.
	CostRead struct {
		Reply
		Cost workspace.Cost
	}
	// SessionTitled ends SetTitle and ReadTitle.
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

// RecentSessions reads the n sessions of this folder used last: RecentSessionsRead.
func (c *Commands) RecentSessions(request int64, n int) tea.Cmd {
	return c.command(request, "list the sessions", func(ctx context.Context, c call) (Outcome, error) {
		all, err := c.RecentSessions(ctx, n)
		return RecentSessionsRead{c.reply(), all}, err
	})
}

// NewSession starts a new session: SessionOpened, after ConfirmWanted with unsaved changes.
func (c *Commands) NewSession(request int64) tea.Cmd {
	return c.confirmed(request, "start a session", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		ask, err := c.Workspace.NewSession(ctx, confirmed != nil)
		return SessionOpened{Reply: c.reply(), New: true}, ask, err
	})
}

// ResumeSession continues another session: SessionOpened, after ConfirmWanted with unsaved
// changes.
func (c *Commands) ResumeSession(request int64, id string) tea.Cmd {
	return c.confirmed(request, "continue the session", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		ask, err := c.Workspace.ResumeSession(ctx, id, confirmed != nil)
		if c.Session().ID() == id { // then only its time of use could not be stored
			return SessionOpened{Reply: c.reply(), Err: err}, ask, nil
		}
		return nil, ask, err
	})
}

// Branch starts a session that continues this one up to a pair: SessionOpened.
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

// KeepCancelled keeps the cancelled answer that is offered: CancelledKept.
func (c *Commands) KeepCancelled(request int64) tea.Cmd {
	return c.command(request, "keep what came", func(ctx context.Context, c call) (Outcome, error) {
		p, err := c.Workspace.KeepCancelled(ctx)
		return CancelledKept{c.reply(), p}, err
	})
}

// AskAgain prepares to repeat what was cancelled: AskedAgain.
func (c *Commands) AskAgain(request int64) tea.Cmd {
	return c.command(request, "ask again", func(ctx context.Context, c call) (Outcome, error) {
		p, err := c.Workspace.AskAgain(ctx)
		return AskedAgain{c.reply(), p}, err
	})
}

// SetTitle names the session; "" names it after its first message: SessionTitled.
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

// ReadCost sums up what the answers of the session took: CostRead.
func (c *Commands) ReadCost(request int64) tea.Cmd {
	return c.command(request, "sum up the session", func(ctx context.Context, c call) (Outcome, error) {
		sum, err := c.Cost(ctx)
		return CostRead{c.reply(), sum}, err
	})
}
