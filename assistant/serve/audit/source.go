package audit

import (
	"context"
	"math"
	"os"

	"winnow/assistant/history"
	"winnow/checkpoint"
	"winnow/checkpoint/changelog"
)

// Source returns the changes that it has not returned before, oldest first. Its first call
// returns only the newest of them, as many as Journal or History was told.
type Source func(ctx context.Context) ([]history.WindowChange, error)

// Journal reads the log of the journal at a path, which another process may write. Changes
// of the values at the ignored paths of the window's state are left out.
func Journal(path string, last int, ignored ...string) Source {
	var size, seq int64
	return func(context.Context) (out []history.WindowChange, err error) {
		defer func() { last = math.MaxInt32 }()
		info, err := os.Stat(path)
		if err != nil || info.Size() == size {
			return nil, nil // it is not there yet, or nothing was added
		}
		j, err := checkpoint.Open(path, checkpoint.Options{ReadOnly: true})
		if err != nil {
			return nil, err
		}
		size = info.Size()
		for _, c := range changelog.Read(j, ignored...) {
			if c.Seq > seq {
				out, seq = append(out, history.WindowChange{Change: c}), c.Seq
			}
		}
		return out[max(0, len(out)-last):], nil
	}
}

// History reads the logs of all windows that a history has.
func History(log history.WindowLog, last int) Source {
	newest := int64(0)
	return func(ctx context.Context) (out []history.WindowChange, err error) {
		out, newest, err = log.WindowChanges(ctx, newest, last)
		last = math.MaxInt32
		return out, err
	}
}
