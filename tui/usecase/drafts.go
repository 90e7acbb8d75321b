package usecase

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant/history"
)

type (
	// DraftStored is the outcome of StoreDraft.
	DraftStored struct {
		Reply
		Draft history.Draft
		Err   error // why it was not stored
	}
	// SentStored is the outcome of AddSent.
	SentStored struct{ Reply }
	// StartCounted is the outcome of SetFailedStarts.
	StartCounted struct{ Reply }
)

// StoreDraft stores the content of the box: DraftStored. A limit of 0 means no limit.
func (c *Commands) StoreDraft(request int64, d history.Draft, limit time.Duration) tea.Cmd {
	return c.command(request, "store the draft", func(ctx context.Context, c call) (Outcome, error) {
		if limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		err := c.SaveDraft(ctx, d)
		if limit > 0 && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the history did not answer within %s", limit)
		}
		return DraftStored{c.reply(), d, err}, nil
	})
}

// AddSent stores a message as it was typed, so that it can be recalled: SentStored.
func (c *Commands) AddSent(request int64, text string) tea.Cmd {
	return c.command(request, "store the message", func(ctx context.Context, c call) (Outcome, error) {
		err := c.Workspace.AddSent(ctx, text)
		return SentStored{c.reply()}, err
	})
}

// SetFailedStarts stores the number of consecutive failed starts; errors are not reported:
// StartCounted.
func (c *Commands) SetFailedStarts(request int64, n int) tea.Cmd {
	return c.command(request, "count the start", func(ctx context.Context, c call) (Outcome, error) {
		_ = c.Workspace.SetFailedStarts(ctx, n) // then the next start draws answers as usual
		return StartCounted{c.reply()}, nil
	})
}
