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
		Err   error // why the draft was not stored
	}
	// SentStored is the outcome of AddSent.
	SentStored struct{ Reply }
	// StartCounted is the outcome of SetFailedStarts.
	StartCounted struct{ Reply }
)

// StoreDraft stores a draft; a limit of 0 means no time limit. The outcome is DraftStored.
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

// AddSent stores a message as the user typed it, so that it can be recalled. The outcome is
// SentStored.
func (c *Commands) AddSent(request int64, text string) tea.Cmd {
	return c.command(request, "store the message", func(ctx context.Context, c call) (Outcome, error) {
		err := c.Workspace.AddSent(ctx, text)
		return SentStored{c.reply()}, err
	})
}

// SetFailedStarts stores the number of consecutive failed starts. Errors are not reported.
// The outcome is StartCounted.
func (c *Commands) SetFailedStarts(request int64, n int) tea.Cmd {
	return c.command(request, "count the start", func(ctx context.Context, c call) (Outcome, error) {
		_ = c.Workspace.SetFailedStarts(ctx, n) // if storing fails, this start is not counted
		return StartCounted{c.reply()}, nil
	})
}
