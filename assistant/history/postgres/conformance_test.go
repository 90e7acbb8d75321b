//go:build unix

package postgres

import (
	"testing"

	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	needServer(t)
	historytest.Run(t, func(t *testing.T) history.Store {
		t.Helper()
		return newStore(t)
	})
}
