package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	Now func() time.Time // nil means time.Now
	Log *slog.Logger     // nil means no log
	// Redact removes secrets from every text before it is stored; nil changes nothing.
	Redact func(string) string
	// Password is the password of the database role. "" means the password in PGPASSWORD, in the service file or in
	// the password file.
	Password string
	// User is the author of the pairs that this store adds; "" means the database role.
	User string
	// Listen is an address that reaches the server without a pooler, for notifications; "" means the address of the store.
	// Without notifications, the store polls for changes once a second.
	Listen string
	// Connections limits the number of connections of the store, including the one that listens; 0 means 3.
	Connections int
	// OnWait is called when an operation has waited for the server for a while, and again when the wait ends. It may be
	// called from any goroutine, and must not block. It may be nil.
	OnWait func(waiting bool)

	deadAfter time.Duration // for tests; 0 means the constant deadAfter
}

// store is a history.Store in a PostgreSQL database.
type store struct {
	sqlstore.Store

	path    string // the address, without secrets
	schema  string // the schema with the tables, quoted
	role    string // the database role
	options Options
	report  history.Report
	pool    *pgxpool.Pool

	settings  map[string]string // settings of every connection or, behind a pooler, of every transaction
	pooled    atomic.Bool       // true if there is a pooler between this store and the server
	listening listenAddress

	owner   atomic.Int64 // the number of this store in pair.owner; 0 means not assigned yet
	beaten  atomic.Int64 // when this store last renewed its row in the table store, in Unix nanoseconds; 0 means never
	silent  atomic.Bool  // true if the server did not answer the last operation
	changes chan history.Change

	ctx      context.Context // cancelled by Close
	cancel   context.CancelFunc
	listener sync.WaitGroup
	close    sync.Once
}

// Open connects to the database at an address, creates or upgrades its schema, and marks as interrupted the pairs that
// crashed programs left in state sending. If the server or the database role does not allow writing, the store can only
// be read; see Report.
//
// Open returns a *history.NewerSchemaError for a schema of a newer winnow, a *history.OlderSchemaError for a schema
// that is too old, and a *history.StorageError if the database cannot be used.
func Open(ctx context.Context, address string, o Options) (history.Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	config, settings, err := parseAddress(address, o.Password)
	if err != nil {
		return nil, err
	}
	o.Connections, o.deadAfter = max(cmp.Or(o.Connections, connections), 2), cmp.Or(o.deadAfter, deadAfter)
	config.MaxConns = int32(o.Connections - 1) // the listener's connection is not in the pool
	s := &store{changes: make(chan history.Change, 1), path: displayed(&config.ConnConfig.Config), settings: settings, options: o}
	s.Engine, s.Dialect, s.Options = s, sqlDialect, sqlstore.Options{Now: o.Now, Redact: o.Redact, Storable: storable}
	s.schema = schemaOf(settings["search_path"])
	if s.listening, err = newListenAddress(config.ConnConfig, settings, o); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	config.BeforeConnect, config.AfterConnect = s.prepare, s.configure
	if s.pool, err = pgxpool.NewWithConfig(s.ctx, config); err != nil {
		s.cancel()
		return nil, s.explain("open", err)
	}
	conn, err := s.open(ctx)
	if err != nil {
		s.cancel()
		s.pool.Close()
		return nil, s.explain("open", err)
	}
	s.listener.Go(func() { s.listen(conn) })
	return s, nil
}

// open prepares the database. It returns the connection that listens, which is nil if the store has to poll.
func (s *store) open(ctx context.Context) (listener *pgx.Conn, err error) {
	const state = `SELECT current_setting('transaction_read_only') = 'on', session_user,
		coalesce((SELECT relrowsecurity FROM pg_class WHERE oid = to_regclass($1)), false),
		coalesce(NOT has_table_privilege(to_regclass($1), 'INSERT'), false)`
	var readOnly, private, mayOnlyRead bool
	w, first := s.await(ctx)
	err = s.transaction(first, func(t pgx.Tx) error {
		return t.QueryRow(first, state, pgx.QueryExecModeDescribeExec, s.schema+".pair").Scan(&readOnly, &s.role, &private, &mayOnlyRead)
	})
	w.end()
	if errors.Is(context.Cause(first), errNoAnswer) {
		return nil, errNoAnswer
	} else if err != nil {
		return nil, err
	}
	s.User = cmp.Or(s.options.User, s.role)
	if private {
		return nil, &history.StorageError{Op: "open", Path: s.path, Reason: "it was made private with row-level security, which this version does not support; " +
			"run winnow history private off as the owner of the tables, with the version that made it private"}
	}
	if readOnly || mayOnlyRead {
		reason := reasons[codeReadOnly]
		if mayOnlyRead {
			reason = "the database role " + s.role + " may only read"
		}
		listener, err = s.openReadOnly(ctx, reason)
	} else if err = s.upgrade(ctx); err == nil {
		if listener, err = s.announce(ctx); err == nil {
			err = s.endFirstInterrupted(ctx)
		}
	}
	if err == nil {
		_, err = s.Refresh(ctx) // initialises Revision
	}
	if err != nil && listener != nil {
		disconnect(listener)
	}
	return listener, err
}

// openReadOnly prepares a read-only store. listener is nil if the server does not allow listening, as on a standby.
func (s *store) openReadOnly(ctx context.Context, reason string) (listener *pgx.Conn, err error) {
	s.report.ReadOnly = &history.StorageError{Op: "write", Path: s.path, Reason: reason}
	version, err := s.version(ctx)
	if err == nil && version < schemaVersion {
		lacks := fmt.Sprintf("its schema has version %d, and %s: to upgrade it to version %d, open it once with write access", version, reason, schemaVersion)
		if version == 0 {
			lacks = "it contains no history, and " + reason + ": to create one, open it once with write access"
		}
		err = &history.StorageError{Op: "open", Path: s.path, Reason: lacks}
	}
	if err != nil {
		return nil, err
	}
	listener, refused := s.connectListener(ctx)
	if refused != nil {
		s.options.Log.Debug("history: no notifications", "err", refused)
	}
	return listener, nil
}

func (s *store) Report() history.Report { return s.report }

func (s *store) Path() string { return s.path }

// Close does not change a pair in state sending; the next Open marks the pair as interrupted.
func (s *store) Close() error {
	s.close.Do(func() {
		s.cancel()
		s.listener.Wait()
		s.farewell()
		closed := make(chan struct{})
		go func() {
			s.pool.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(downWait): // the server does not answer
		}
	})
	return nil
}

var _ interface {
	assistant.RequestStore
	assistant.SessionStore
	history.Store
} = (*store)(nil)
