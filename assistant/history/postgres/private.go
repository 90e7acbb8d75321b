package postgres

import (
	"context"
	"errors"
	"fmt"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// errNoRoles is returned by SetPrivate for a history that is not in PostgreSQL.
var errNoRoles = errors.New("history: this one is a file on this machine; only one in PostgreSQL has roles, whose pairs it can keep private")

// userError refuses an author that is not the database role, because the policies of
// a private history know roles only.
type userError struct{ user, role string }

func (e *userError) Error() string {
	return fmt.Sprintf("history: the database shows each role only its own pairs, so the setting user cannot be %q for the role %q", e.user, e.role)
}

// SetPrivate switches the row-level security of a history of Open on or off. While
// it is on, the database shows and changes to each role only the pairs, sessions,
// drafts, settings and remembered lines of that role. It fails unless the role owns
// the tables, and changes nothing where the history is in that state already.
func SetPrivate(ctx context.Context, of history.Store, on bool) error {
	s, ok := of.(*store)
	if !ok {
		return errNoRoles
	}
	names := []string{"public"}
	if on {
		if err := s.checkUser(); err != nil {
			return err
		}
		names = append(names, "private")
	}
	var rev int64
	err := s.Write(ctx, func(t *sqlstore.Tx) {
		t.Run("SELECT pg_advisory_xact_lock(?, 0)", lockClass)
		c := s.NewChange(t) // so that the other programs read again what is in view
		rev = c.Rev
		for _, name := range names {
			sql, err := migrations.ReadFile("migrations/" + name + ".sql")
			t.Fail(err)
			t.Run(string(sql))
		}
		s.Changed(c)
	})
	if sqlState(err) == codeDenied {
		return &history.StorageError{Op: "change", Path: s.path, Reason: "only the owner of the tables may make them private or public", Err: err}
	}
	if err == nil {
		s.NoticeRevision(rev)
	}
	return err
}

// checkUser refuses an author other than the database role.
func (s *store) checkUser() error {
	if s.User != s.role {
		return &userError{s.User, s.role}
	}
	return nil
}
