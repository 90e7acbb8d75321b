package sqlite

import (
	"path/filepath"
	"testing"

	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
)

func TestSQLite(t *testing.T) {
	historytest.Run(t, func(t *testing.T) history.Store {
		t.Helper()
		s, err := Open(t.Context(), filepath.Join(t.TempDir(), "h", "history.db"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
