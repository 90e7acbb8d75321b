package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history/transfer"
	"winnow/assistant/workspace"
)

// ErrNotLast is returned by Retry for an answer that is not the last one.
var ErrNotLast = workspace.ErrNotLast

type (
	// PairsLoaded contains pairs as stored.
	PairsLoaded struct {
		Reply
		Pairs []assistant.Pair
		Err   error // why some pairs could not be loaded
	}
	// Starred is the outcome of SetStars.
	Starred struct {
		Reply
		Pair    int64
		Stars   int
		ViewErr error // why the active filter could not be evaluated again
	}
	// Flagged is the outcome of ToggleFlag.
	Flagged struct {
		Reply
		Pair    int64
		On      bool
		ViewErr error // as in Starred
	}
	// TopicSet is the outcome of SetPairTopic.
	TopicSet struct {
		Reply
		Pair    int64
		Path    string // "" means no topic
		ViewErr error  // as in Starred
	}
	// AnswerChosen is the outcome of ChooseAnswer.
	AnswerChosen struct {
		Reply
		Pair    int64
		Answer  int   // index of the selected answer, from 0
		Of      int   // number of answers of the pair
		ViewErr error // as in Starred
	}
	// Deleted is the outcome of Delete.
	Deleted struct{ Reply }
	// RetryReady is the outcome of Retry. The caller can send its prompt.
	RetryReady struct {
		Reply
		Prompt assistant.Prompt
	}
	// ReAskBegun is the outcome of BeginReAsk. The user can edit its text.
	ReAskBegun struct {
		Reply
		Pair     int64
		Text     string
		Replaces bool // sending the text replaces a failed message
	}
)

// LoadPairs loads pairs. The outcome is PairsLoaded.
func (c *Commands) LoadPairs(request int64, seqs []int64) tea.Cmd {
	return c.command(request, "read the history", func(ctx context.Context, c call) (Outcome, error) {
		pairs, err := c.Session().Pairs(ctx, seqs)
		return PairsLoaded{c.reply(), pairs, err}, nil
	})
}

// SetStars gives a pair n stars; -1 adds one star or, if the pair has three, removes all. For
// -1, SetStars reads the stored number, which may be newer than the number on the screen. The
// outcome is Starred.
func (c *Commands) SetStars(request, seq int64, n int) tea.Cmd {
	return c.command(request, "set the stars", func(ctx context.Context, c call) (Outcome, error) {
		if n < 0 {
			pairs, err := c.Session().Pairs(ctx, []int64{seq})
			if err != nil || len(pairs) == 0 {
				return Starred{Reply: c.reply(), Pair: seq}, err
			}
			n = (pairs[0].Star + 1) % 4
		}
		if err := c.Workspace.SetStars(ctx, seq, n); err != nil {
			return nil, err
		}
		view := c.refilter(ctx)
		return Starred{c.reply(), seq, n, view}, nil
	})
}

// ToggleFlag toggles the flag of a pair. The outcome is Flagged.
func (c *Commands) ToggleFlag(request, seq int64) tea.Cmd {
	return c.command(request, "set the flag", func(ctx context.Context, c call) (Outcome, error) {
		on, err := c.Workspace.ToggleFlag(ctx, seq)
		if err != nil {
			return nil, err
		}
		view := c.refilter(ctx)
		return Flagged{c.reply(), seq, on, view}, nil
	})
}

// SetPairTopic sets the topic of a pair; "" means no topic. The outcome is TopicSet.
func (c *Commands) SetPairTopic(request, seq int64, path string) tea.Cmd {
	return c.command(request, "set the topic", func(ctx context.Context, c call) (Outcome, error) {
		if err := c.Workspace.SetTopic(ctx, seq, path); err != nil {
			return nil, err
		}
		view := c.refilter(ctx)
		return TopicSet{c.reply(), seq, path, view}, nil
	})
}

// ChooseAnswer selects which answer of a pair is sent in requests; total is the number of
// the pair's answers. The outcome is AnswerChosen.
func (c *Commands) ChooseAnswer(request, seq int64, answer, total int) tea.Cmd {
	return c.command(request, "choose the answer", func(ctx context.Context, c call) (Outcome, error) {
		if _, err := c.Choose(ctx, seq, answer); err != nil {
			return nil, err
		}
		view := c.refilter(ctx)
		return AnswerChosen{c.reply(), seq, answer, total, view}, nil
	})
}

// refilter evaluates the active filter again if the filter depends on marks.
func (c call) refilter(ctx context.Context) error {
	if !transfer.ReadsMarks(c.Session().Filter()) {
		return nil
	}
	return c.Refilter(ctx)
}

// Delete deletes a pair permanently. The outcome is ConfirmWanted and, once confirmed,
// Deleted.
func (c *Commands) Delete(request, seq int64) tea.Cmd {
	return c.confirmed(request, "delete", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		ask, err := c.Workspace.Delete(ctx, []int64{seq}, confirmed)
		return Deleted{c.reply()}, ask, err
	})
}

// Retry prepares to retry a failed pair in place, or to regenerate the last answer. The
// outcome is RetryReady, after ConfirmWanted if the old answer changed the window.
func (c *Commands) Retry(request, seq int64) tea.Cmd {
	return c.confirmed(request, "try again", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		retry, ask, err := c.Workspace.PrepareRetry(ctx, seq, confirmed != nil)
		return RetryReady{c.reply(), retry.Prompt}, ask, err
	})
}

// BeginReAsk returns the message of a pair for editing. The outcome is ReAskBegun.
func (c *Commands) BeginReAsk(request, seq int64) tea.Cmd {
	return c.command(request, "edit the message", func(ctx context.Context, c call) (Outcome, error) {
		text, replaces, err := c.Workspace.BeginReAsk(ctx, seq)
		return ReAskBegun{c.reply(), seq, text, replaces}, err
	})
}
