package usecase

import (
	"context"
	"encoding/json"
	"errors"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
)

// RequestsRead contains the requests of a pair as they were sent, and the request that
// would be sent now.
type RequestsRead struct {
	Reply
	Pair int64 // the pair whose requests were read; 0 if there is none
	Sent []assistant.SentRequest
	Next json.RawMessage // the request that would be sent now; nil if it cannot be built
	Err  error           // why requests could not be read or built
}

// ReadRequests reads the requests of a pair; 0 means no pair. It also builds the request
// that would be sent now with text as its message. The outcome is RequestsRead.
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
