package usecase

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	"winnow/assistant/history/transfer"
	"winnow/assistant/workspace"
)

// ErrNotLast is the error of Retry for an answer that is not the last one.
var ErrNotLast = workspace.ErrNotLast

type (
	// PairsLoaded brings pairs as they are stored.
	PairsLoaded struct {
		Reply
		Pairs []assistant.Pair
		Err   error // some could not be read
	}
	// Starred ends SetStars and AddStar.
	Starred struct {
		Reply
		Pair    int64
		Stars   int
		ViewErr error // why the active filter could not be evaluated again
	}
	// Flagged ends ToggleFlag.
	Flagged struct {
		Reply
		Pair    int64
		On      bool
		ViewErr error // see Starred
	}
	// TopicSet ends SetPairTopic.
	TopicSet struct {
		Reply
		Pair    int64
		Path    string // "" is no topic
		ViewErr error  // see Starred
	}
	// AnswerChosen ends ChooseAnswer.
	AnswerChosen struct {
		Reply
		Pair    int64
		Answer  int   // from 0
		Of      int   // as many were there
		ViewErr error // see Starred
	}
	// Deleted ends Delete.
	Deleted struct{ Reply }
	// RetryReady ends Retry: the prompt is to be sent.
	RetryReady struct {
		Reply
		Prompt assistant.Prompt
	}
	// ReAskBegun ends BeginReAsk: the text is to be edited.
	ReAskBegun struct {
		Reply
		Text     string
		Replaces bool // sending it replaces a failed message
	}
)

// LoadPairs reads pairs: PairsLoaded.
func (c *Commands) LoadPairs(request int64, seqs []int64) tea.Cmd {
	return c.command(request, "read the history", func(ctx context.Context, c call) (Outcome, error) {
		pairs, err := c.Session().Pairs(ctx, seqs)
		return PairsLoaded{c.reply(), pairs, err}, nil
	})
}

// SetStars gives a pair so many stars; -1 adds one to those in the store, which may be ahead
// of the screen, and goes from three to none: Starred.
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

// ToggleFlag toggles the flag of a pair: Flagged.
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

// SetPairTopic gives a pair a topic; "" is no topic: TopicSet.
func (c *Commands) SetPairTopic(request, seq int64, path string) tea.Cmd {
	return c.command(request, "set the topic", func(ctx context.Context, c call) (Outcome, error) {
		if err := c.Workspace.SetTopic(ctx, seq, path); err != nil {
			return nil, err
		}
		view := c.refilter(ctx)
		return TopicSet{c.reply(), seq, path, view}, nil
	})
}

// ChooseAnswer makes an answer of a pair, of so many, the one that is sent: AnswerChosen.
func (c *Commands) ChooseAnswer(request, seq int64, answer, of int) tea.Cmd {
	return c.command(request, "choose the answer", func(ctx context.Context, c call) (Outcome, error) {
		if _, err := c.Choose(ctx, seq, answer); err != nil {
			return nil, err
		}
		view := c.refilter(ctx)
		return AnswerChosen{c.reply(), seq, answer, of, view}, nil
	})
}

// refilter evaluates the active filter again when it reads marks.
func (c call) refilter(ctx context.Context) error {
	if !transfer.ReadsMarks(c.Session().Filter()) {
		return nil
	}
	return c.Refilter(ctx)
}

// Delete removes a pair for good: ConfirmWanted, then Deleted.
func (c *Commands) Delete(request, seq int64) tea.Cmd {
	return c.confirmed(request, "delete", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		ask, err := c.Workspace.Delete(ctx, []int64{seq}, confirmed)
		return Deleted{c.reply()}, ask, err
	})
}

// Retry prepares a failed pair to be tried again in its place, or the last answer to be
// regenerated: RetryReady, after ConfirmWanted where that changes more.
func (c *Commands) Retry(request, seq int64) tea.Cmd {
	return c.confirmed(request, "try again", func(ctx context.Context, c call, confirmed *workspace.Confirm) (Outcome, *workspace.Confirm, error) {
		retry, ask, err := c.Workspace.Retry(ctx, seq, confirmed != nil)
		return RetryReady{c.reply(), retry.Prompt}, ask, err
	})
}

// BeginReAsk returns the message of a pair, to be edited: ReAskBegun.
func (c *Commands) BeginReAsk(request, seq int64) tea.Cmd {
	return c.command(request, "edit the message", func(ctx context.Context, c call) (Outcome, error) {
		text, replaces, err := c.Workspace.BeginReAsk(ctx, seq)
		return ReAskBegun{c.reply(), text, replaces}, err
	})
}
