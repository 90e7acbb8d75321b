package historytest

import (
	"path/filepath"
	"testing"

	"winnow/assistant/history"
)

func TestSQLite(t *testing.T) {
	Run(t, func(t *testing.T) history.Store {
		t.Helper()
		s, err := history.Open(t.Context(), filepath.Join(t.TempDir(), "h", "history.db"), history.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
