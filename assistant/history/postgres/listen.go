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

// channel is the notification channel on which the programs announce changes, in the form "REVISION OWNER SCHEMA".
const channel = "winnow_history"

const (
	listenPause = 500 * time.Millisecond // wait before the listener reconnects
	pollPause   = time.Second            // wait between two polls for changes, if listening is not possible
)

// listenAddress is the address at which the store listens for notifications.
type listenAddress struct {
	config   *pgx.ConnConfig
	settings map[string]string
}

// newListenAddress returns Options.Listen, which must reach the server without a pooler, or the address of the store if
// Listen is empty.
func newListenAddress(own *pgx.ConnConfig, settings map[string]string, o Options) (listenAddress, error) {
	a := listenAddress{config: own.Copy(), settings: maps.Clone(settings)}
	if o.Listen != "" {
		direct, ofDirect, err := parseAddress(o.Listen, o.Password)
		if err != nil {
			return a, fmt.Errorf("history_listen: %w", err)
		}
		a = listenAddress{config: direct.ConnConfig, settings: ofDirect}
		a.settings["search_path"] = settings["search_path"]
	}
	a.settings["idle_session_timeout"] = "0"
	return a, nil
}

// listen watches for changes by other programs until the store is closed. If conn is nil, because the server or a
// pooler does not allow listening, it polls instead.
func (s *store) listen(conn *pgx.Conn) {
	seen := s.Revision()
	for {
		pause := pollPause
		if conn != nil {
			pause = listenPause
			err := s.receive(conn, &seen)
			s.options.Log.Debug("history notifications ended", "err", err)
			disconnect(conn)
		}
		select {
		case <-time.After(pause):
		case <-s.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(quietly(s.ctx), connectTimeout)
		if conn, _ = s.connectListener(ctx); conn == nil { // an error is ignored, because Refresh then fails for the same reason
			_ = s.beat(ctx)
		}
		if _, err := s.Refresh(ctx); err == nil && s.Revision() > seen {
			s.deliver(ctx, &seen, s.Revision()) // deliver the changes made since the connection broke
		}
		cancel()
	}
}

// receive reads notifications until the connection breaks. seen is the revision up to which the changes by other
// programs have been delivered.
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

// deliver sends the changes by other programs, up to a revision, to Changes. It merges them with a change that has
// not been received yet.
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
	s.changes <- change // never blocks: this is the only sender
}

// Changes implements history.Notifier.
func (s *store) Changes() <-chan history.Change { return s.changes }

// connectListener opens the connection that receives the notifications. This connection holds the advisory lock that
// shows that the store is open. conn is nil if there is a pooler and no direct address.
func (s *store) connectListener(ctx context.Context) (conn *pgx.Conn, err error) {
	if s.pooled.Load() && s.options.Listen == "" {
		return nil, nil
	}
	conn, err = pgx.ConnectConfig(ctx, s.listening.config)
	if err != nil {
		return nil, err
	}
	direct, err := apply(ctx, conn, s.listening.settings)
	if err == nil && !direct {
		err = errPooled
	}
	owner := s.owner.Load()
	writes := s.report.ReadOnly == nil // a read-only store sends no pairs
	if err == nil && writes && owner == 0 {
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
	_ = conn.Close(ctx) // the connection has no pending work
}
