package postgres

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel is where the programs tell each other of changes, in the form
// "SCHEMA REVISION".
const channel = "winnow_history"

// listenPause is how long the listener waits before it connects again, and how
// often it asks for changes where it cannot listen.
const listenPause = 500 * time.Millisecond

// listen watches for the changes of others until the store closes. conn is nil on
// a server that does not allow it; then it asks from time to time.
func (s *store) listen(conn *pgx.Conn) {
	for {
		if conn != nil {
			err := s.receive(conn)
			s.options.Log.Debug("history notifications ended", "err", err)
			disconnect(conn)
		}
		select {
		case <-time.After(listenPause):
		case <-s.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, connectTimeout)
		conn, _ = s.connectListener(ctx) // where it fails, Refresh tells as much
		_, _ = s.Refresh(ctx)            // of what was missed meanwhile; failed ones are repeated
		cancel()
	}
}

// receive reads notifications until the connection breaks.
func (s *store) receive(conn *pgx.Conn) error {
	for {
		n, err := conn.WaitForNotification(s.ctx)
		if err != nil {
			return err
		}
		schema, rev, _ := strings.Cut(n.Payload, " ")
		if revision, err := strconv.ParseInt(rev, 10, 64); err == nil && schema == s.schema {
			s.revision.Store(max(revision, s.revision.Load()))
		}
	}
}

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
	if owner == 0 {
		err = conn.QueryRow(ctx, "SELECT nextval('owner')").Scan(&owner)
	}
	if err == nil {
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
