package usecase

import (
	"context"
	"encoding/json"
	"errors"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

// RequestsRead contains the requests of a pair as they were sent, and the one that would be
// sent now.
type RequestsRead struct {
	Reply
	Pair int64 // 0 if there is no pair
	Sent []assistant.SentRequest
	Next json.RawMessage // nil if it cannot be built
	Err  error           // what could not be read or built
}

// ReadRequests reads the requests of a pair (0 reads none). text is the message for the one
// that would be sent now: RequestsRead.
func (c *Commands) ReadRequests(request, pair int64, text string) tea.Cmd {
	return c.command(request, "read the requests", func(ctx context.Context, c call) (Outcome, error) {
		o := RequestsRead{Pair: pair}
		if pair != 0 {
			o.Sent, o.Err = c.Session().SentRequests(ctx, pair)
		}
		_, next, err := c.Request(ctx, text)
		if err == nil {
			o.Next = next
		}
		o.Reply, o.Err = c.reply(), errors.Join(o.Err, err)
		return o, nil
	})
}
