package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"winnow/assistant/history/sqlstore"
)

// unreadable is a connection whose queries fail.
type unreadable struct{ err error }

func (u unreadable) Query(context.Context, string, []any, bool) (sqlstore.Rows, error) {
	return nil, u.err
}

func (u unreadable) Exec(context.Context, string, []any) (int64, error) { return 0, u.err }

// A version that could not be read is not a damaged one: the database would be renamed and salvaged.
func TestAVersionThatCannotBeReadIsNotDamage(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.EIO, syscall.ENOSPC, context.Canceled, context.DeadlineExceeded} {
		tx := sqlstore.NewTx(t.Context(), unreadable{err})
		if verifyVersion(tx, "history.db", schemaVersion); !errors.Is(tx.Err(), err) || damaged(tx.Err()) {
			t.Errorf("verifyVersion = %v, want %v", tx.Err(), err)
		}
	}
}

// A process that could not record that it closed the database leaves the log, so the next Open misses nothing.
func TestACloseThatIsNotRecordedLosesNothing(t *testing.T) {
	for name, prevent := range map[string]func(*testing.T, *store){
		"the mark cannot be written": func(t *testing.T, s *store) { // as on a full disk
			t.Helper()
			if _, err := s.writer.ExecContext(t.Context(), "PRAGMA query_only(1)"); err != nil {
				t.Fatal(err)
			}
		},
		"the open lock cannot be taken": func(t *testing.T, s *store) {
			t.Helper()
			lock := filepath.Join(s.runDir, openLock)
			if err := errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Remove(lock) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			put(t, s, pair("x", "q", "a"))
			prevent(t, s)
			s.Close()
			os.Remove(filepath.Join(s.runDir, openLock))
			if got := seqs(t, openIntact(t, s.path), "x"); len(got) != 1 {
				t.Errorf("the pairs are %v", got)
			}
		})
	}
}
