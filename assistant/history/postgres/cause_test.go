package postgres

import (
	"context"
	"errors"
	"testing"

	"winnow/assistant/history"
)

// An operation whose caller did not wait longer is neither a server that cannot be reached nor a cancelled operation.
func TestADeadlineIsNamed(t *testing.T) {
	expired, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded) // as Write does
	for name, ended := range map[string]error{"read": context.DeadlineExceeded, "write": expired.Err()} {
		err := (&store{ctx: t.Context()}).retry(expired, name, func() error { return ended })
		var storage *history.StorageError
		if !errors.As(err, &storage) || storage.Reason != "the server took too long" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v; want that the server took too long", name, err)
		}
	}
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(nil)
	if err := (&store{ctx: t.Context()}).retry(cancelled, "write", cancelled.Err); !errors.Is(err, context.Canceled) || errors.As(err, new(*history.StorageError)) {
		t.Errorf("cancelled: %v", err)
	}
}
