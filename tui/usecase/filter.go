package usecase

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history/transfer"
	"winnow/assistant/workspace"
)

// ErrNoHistory is returned by use cases that need a history when there is none.
var ErrNoHistory = workspace.ErrNoHistory

type (
	// Counted contains the number of pairs that a filter line selects.
	Counted struct {
		Reply
		Line string
		N    int
		Err  error // what is wrong with the line, or why the pairs could not be counted
	}
	// Filtered is the outcome of SetFilter. Unless Err is set, the view now shows the pairs that
	// the line selects.
	Filtered struct {
		Reply
		Line   string
		Result workspace.Filtered
		Err    error // why the filter could not be set, or nil
	}
	// CommandPlanned describes what the :command of a filter line would do.
	CommandPlanned struct {
		Reply
		Line    string
		Command transfer.Command
		Err     error // why the command cannot be executed
	}
	// Executed is the outcome of Execute. If Err is set in addition to a result, the command
	// was executed but the view could not be filtered again.
	Executed struct {
		Reply
		Line    string
		Command transfer.Command
		Outcome transfer.Outcome
		Err     error
	}
	// CommandUndone is the outcome of UndoCommand.
	CommandUndone struct {
		Reply
		Nothing bool // there was no command to undo
		Outcome transfer.Outcome
		Err     error // as in Executed
	}
	// Refiltered is the outcome of Refilter.
	Refiltered struct {
		Reply
		Err   error  // why the active line could not be evaluated again
		By    string // the user passed to Refilter
		Added int    // how many pairs By added to the view
	}
	// Matched says whether the active filter line selects a pair.
	Matched struct {
		Reply
		Pair int64
		Yes  bool
	}
	// Found contains the pairs of all sessions that contain a text, sorted.
	Found struct {
		Reply
		Text     string
		Seqs     []int64
		Backward bool // as passed to FindText: go to the previous hit
	}
	// NamesRead contains the names for completion.
	NamesRead struct {
		Reply
		Names filter.Sources
	}
)

// CountFilter counts the pairs that a filter line selects. The outcome is Counted.
func (c *Commands) CountFilter(request int64, line string) tea.Cmd {
	return c.command(request, "count the messages", func(ctx context.Context, c call) (Outcome, error) {
		n, err := c.Workspace.CountFilter(ctx, line)
		return Counted{c.reply(), line, n, err}, nil
	})
}

// SetFilter filters the view by a filter line. The outcome is Filtered.
func (c *Commands) SetFilter(request int64, line string) tea.Cmd {
	return c.command(request, "filter", func(ctx context.Context, c call) (Outcome, error) {
		result, err := c.Workspace.SetFilter(ctx, line)
		return Filtered{c.reply(), line, result, err}, nil
	})
}

// PlanCommand plans the :command of a filter line. The outcome is CommandPlanned.
func (c *Commands) PlanCommand(request int64, line string) tea.Cmd {
	return c.command(request, "plan the command", func(ctx context.Context, c call) (Outcome, error) {
		command, err := c.Workspace.PlanCommand(ctx, line)
		return CommandPlanned{c.reply(), line, command, err}, nil
	})
}

// Execute executes a planned command. The outcome is Executed.
func (c *Commands) Execute(request int64, planned CommandPlanned) tea.Cmd {
	return c.command(request, "execute the command", func(ctx context.Context, c call) (Outcome, error) {
		out, err := c.Workspace.Execute(ctx, planned.Command, planned.Line)
		return Executed{c.reply(), planned.Line, planned.Command, out, err}, nil
	})
}

// UndoCommand undoes the newest command on pairs. The outcome is CommandUndone.
func (c *Commands) UndoCommand(request int64) tea.Cmd {
	return c.command(request, "undo the command", func(ctx context.Context, c call) (Outcome, error) {
		out, err := c.Workspace.UndoCommand(ctx)
		if errors.Is(err, workspace.ErrNothingToUndo) {
			return CommandUndone{Reply: c.reply(), Nothing: true}, nil
		}
		return CommandUndone{c.reply(), false, out, err}, nil
	})
}

// Refilter evaluates the active filter line again. by is the other user who has changed
// pairs; if it is "", Refiltered.Added is 0. The outcome is Refiltered.
func (c *Commands) Refilter(request int64, by string) tea.Cmd {
	return c.command(request, "filter again", func(ctx context.Context, c call) (Outcome, error) {
		before := c.Session().State()
		err := c.Workspace.Refilter(ctx)
		o := Refiltered{Reply: c.reply(), Err: err, By: by}
		if by != "" {
			o.Added = added(before, o.State)
		}
		return o, nil
	})
}

// added returns how many pairs came into view, not counting the pair of the running turn.
func added(before, now assistant.State) (n int) {
	old := before.Shown.Refs // ordered by Seq, like now.Shown.Refs
	for _, ref := range now.Shown.Refs {
		for len(old) > 0 && old[0].Seq < ref.Seq {
			old = old[1:]
		}
		if (len(old) == 0 || old[0].Seq != ref.Seq) && ref.Seq != now.Turn.Pair {
			n++
		}
	}
	return n
}

// Matches checks whether the active filter line selects a pair. The outcome is Matched.
func (c *Commands) Matches(request, seq int64) tea.Cmd {
	return c.command(request, "filter the answer", func(ctx context.Context, c call) (Outcome, error) {
		yes, err := c.Workspace.Matches(ctx, seq)
		return Matched{c.reply(), seq, yes}, err
	})
}

// FindText finds the pairs that contain a text. back is copied to the outcome. The outcome
// is Found.
func (c *Commands) FindText(request int64, text string, back bool) tea.Cmd {
	return c.command(request, "search", func(ctx context.Context, c call) (Outcome, error) {
		seqs, err := c.Workspace.FindText(ctx, text)
		return Found{c.reply(), text, seqs, back}, err
	})
}

// ReadNames reads the names for completion. The outcome is NamesRead.
func (c *Commands) ReadNames(request int64) tea.Cmd {
	return c.command(request, "read the names", func(ctx context.Context, c call) (Outcome, error) {
		return NamesRead{c.reply(), c.Names(ctx)}, nil
	})
}
