package postgres

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// channel is where the programs tell each other of changes, in the form
// "REVISION OWNER SCHEMA".
const channel = "winnow_history"

// listenPause is how long the listener waits before it connects again, and how
// often it asks for changes where it cannot listen.
const listenPause = 500 * time.Millisecond

// listen watches for the changes of others until the store closes. conn is nil on
// a server that does not allow it; then it asks from time to time.
func (s *store) listen(conn *pgx.Conn) {
	seen := s.Revision()
	for {
		if conn != nil {
			err := s.receive(conn, &seen)
			s.options.Log.Debug("history notifications ended", "err", err)
			disconnect(conn)
		}
		select {
		case <-time.After(listenPause):
		case <-s.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(quietly(s.ctx), connectTimeout)
		conn, _ = s.connectListener(ctx) // where it fails, Refresh tells as much
		if _, err := s.Refresh(ctx); err == nil && s.Revision() > seen {
			s.deliver(ctx, &seen, s.Revision()) // what was missed meanwhile
		}
		cancel()
	}
}

// receive reads notifications until the connection breaks. seen is the revision up
// to which the changes of others are delivered.
func (s *store) receive(conn *pgx.Conn, seen *int64) error {
	for {
		n, err := conn.WaitForNotification(s.ctx)
		if err != nil {
			return err
		}
		var rev, owner int64
		if _, err = fmt.Sscanf(n.Payload, "%d %d", &rev, &owner); err != nil || !strings.HasSuffix(n.Payload, " "+s.schema) {
			continue
		}
		s.NoticeRevision(rev)
		if owner == s.owner.Load() {
			*seen = max(*seen, rev)
		} else if rev > *seen {
			s.deliver(quietly(s.ctx), seen, rev)
		}
	}
}

// deliver reports the changes of others up to a revision to Changes. One that
// nobody has received yet is merged with the next.
func (s *store) deliver(ctx context.Context, seen *int64, to int64) {
	change := history.Change{}
	err := s.Read(ctx, func(t *sqlstore.Tx) {
		change.Deleted = sqlstore.Keyed[int64, string](t, "SELECT seq, author FROM deleted WHERE rev > ? AND owner <> ?", *seen, s.owner.Load())
	})
	if err != nil {
		s.options.Log.Debug("history changes", "err", err)
		return
	}
	*seen = to
	select {
	case waiting := <-s.changes:
		maps.Copy(change.Deleted, waiting.Deleted)
	default:
	}
	s.changes <- change // there is room: nobody else sends
}

// Changes implements history.Notifier.
func (s *store) Changes() <-chan history.Change { return s.changes }

// connectListener opens the connection that hears the notifications. It holds the
// advisory lock which says that this store lives.
func (s *store) connectListener(ctx context.Context) (*pgx.Conn, error) {
	config := s.pool.Config().ConnConfig
	config.RuntimeParams["idle_session_timeout"] = "0"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	owner := s.owner.Load()
	writes := s.report.ReadOnly == nil // otherwise it sends no pair
	if writes && owner == 0 {
		err = conn.QueryRow(ctx, "SELECT nextval('owner')").Scan(&owner)
	}
	if writes && err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_advisory_lock($1, $2)", lockClass, owner)
	}
	if err == nil {
		_, err = conn.Exec(ctx, "LISTEN "+channel)
	}
	if err != nil {
		disconnect(conn)
		return nil, err
	}
	s.owner.Store(owner)
	return conn, nil
}

func disconnect(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	_ = conn.Close(ctx) // nothing is pending on it
}
