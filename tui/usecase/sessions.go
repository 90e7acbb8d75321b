package usecase

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
)

// About describes the open session: the title that the user has set, and the folder of the
// session if it is not the current folder. Both may be "".
type About struct{ Title, Folder string }

type (
	// SessionsListed contains the sessions that have pairs, most recently used first.
	SessionsListed struct {
		Reply
		Sessions []history.Session
	}
	// RecentSessionsRead contains the most recently used sessions of this folder, which the
	// welcome lists.
	RecentSessionsRead struct {
		Reply
		Sessions []history.Session
	}
	// SessionOpened is the outcome of NewSession, Branch and ResumeSession: a different
	// session is now open.
	SessionOpened struct {
		Reply
		New      bool
		Branched bool   // the new session branches off from the previous session
		Model    string // the model of the session, if a different model was selected before
		About    About
		Err      error // what failed after the session was opened
	}
	// CancelledKept is the outcome of KeepCancelled.
	CancelledKept struct {
		Reply
		Pair *assistant.Pair // the pair that contains the answer
	}
	// AskedAgain is the outcome of AskAgain. The caller can send its prompt.
	AskedAgain struct {
		Reply
		Prompt assistant.Prompt
	}
	// CostRead is the outcome of ReadCost.
	CostRead struct {
		Reply
		Cost workspace.Cost
	}
	// AboutRead is the outcome of ReadAbout.
	AboutRead struct {
		Reply
		About About
	}
	// SessionTitled is the outcome of SetTitle and ReadTitle.
	SessionTitled struct {
		Reply
		Title string
		Read  bool // the title was only read, not changed
	}
)

// ListSessions lists the sessions. The outcome is SessionsListed.
func (c *Commands) ListSessions(request int64) tea.Cmd {
	return c.command(request, "list the sessions", func(ctx context.Context, c call) (Outcome, error) {
		all, err := c.Sessions(ctx)
		return SessionsListed{c.reply(), all}, err
	})
}

// RecentSessions reads the n most recently used sessions of this folder. The outcome is
// RecentSessionsRead.
func (c *Commands) RecentSessions(request int64, n int) tea.Cmd {
	return c.command(request, "list the sessions", func(ctx context.Context, c call) (Outcome, error) {
		all, err := c.RecentSessions(ctx, n)
		return RecentSessionsRead{c.reply(), all}, err
	})
}

// NewSession starts a new session. The outcome is SessionOpened, after ConfirmWanted if
// there are unsaved changes.
func (c *Commands) NewSession(request int64) tea.Cmd {
	return c.confirmed(request, "start a session", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		ask, err := c.Workspace.NewSession(ctx, confirmed != nil)
		return SessionOpened{Reply: c.reply(), New: true}, ask, err
	})
}

// ResumeSession continues another session. The outcome is SessionOpened.
func (c *Commands) ResumeSession(request int64, id string) tea.Cmd {
	return c.command(request, "continue the session", func(ctx context.Context, c call) (Outcome, error) {
		model := c.Session().Model()
		err := c.Workspace.ResumeSession(ctx, id)
		if c.Session().ID() != id {
			return nil, err
		}
		opened := SessionOpened{Reply: c.reply()} // err only means that the session's time of use could not be stored
		if now := c.Session().Model(); now != model {
			opened.Model = now
		}
		about, aboutErr := c.about(ctx)
		opened.About, opened.Err = about, errors.Join(err, aboutErr)
		return opened, nil
	})
}

// Branch starts a session that branches off from this one at a pair. The outcome is
// SessionOpened.
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

// KeepCancelled keeps the cancelled answer. The outcome is CancelledKept.
func (c *Commands) KeepCancelled(request int64) tea.Cmd {
	return c.command(request, "keep the answer", func(ctx context.Context, c call) (Outcome, error) {
		p, err := c.Workspace.KeepCancelled(ctx)
		return CancelledKept{c.reply(), p}, err
	})
}

// AskAgain prepares to repeat the cancelled request. The outcome is AskedAgain.
func (c *Commands) AskAgain(request int64) tea.Cmd {
	return c.command(request, "ask again", func(ctx context.Context, c call) (Outcome, error) {
		p, err := c.Workspace.AskAgain(ctx)
		return AskedAgain{c.reply(), p}, err
	})
}

// SetTitle names the session; "" restores the default title, which is the first message.
// The outcome is SessionTitled.
func (c *Commands) SetTitle(request int64, title string) tea.Cmd {
	return c.command(request, "name the session", func(ctx context.Context, c call) (Outcome, error) {
		title, err := c.Workspace.SetTitle(ctx, title)
		return SessionTitled{c.reply(), title, false}, err
	})
}

// ReadTitle reads the title of the session. The outcome is SessionTitled.
func (c *Commands) ReadTitle(request int64) tea.Cmd {
	return c.command(request, "read the title", func(ctx context.Context, c call) (Outcome, error) {
		title, err := c.Title(ctx)
		return SessionTitled{c.reply(), title, true}, err
	})
}

// ReadAbout reads the title and the folder of the session. The outcome is AboutRead.
func (c *Commands) ReadAbout(request int64) tea.Cmd {
	return c.command(request, "read the session", func(ctx context.Context, c call) (Outcome, error) {
		about, err := c.about(ctx)
		return AboutRead{c.reply(), about}, err
	})
}

func (c call) about(ctx context.Context) (About, error) {
	v, err := c.Workspace.About(ctx)
	return About{v.Title, v.Folder}, err
}

// ReadCost adds up the cost of the session's answers. The outcome is CostRead.
func (c *Commands) ReadCost(request int64) tea.Cmd {
	return c.command(request, "add up the cost", func(ctx context.Context, c call) (Outcome, error) {
		sum, err := c.Cost(ctx)
		return CostRead{c.reply(), sum}, err
	})
}
