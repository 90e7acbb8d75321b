package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A pooler that shares connections between transactions, such as pgbouncer in transaction mode, keeps no state from
// one transaction to the next: no settings, prepared statements, notifications or session locks. The store recognises
// a pooler by the process id that is reported when a connection starts: a pooler reports one of its own, not the
// server's. From then on, every transaction begins by setting what it needs.

// errPooled closes a connection that turns out to go through a pooler.
var errPooled = errors.New("the connection goes through a pooler")

// prepare is called before a connection is made. Behind a pooler, a prepared statement would not exist in later
// transactions.
func (s *store) prepare(_ context.Context, c *pgx.ConnConfig) error {
	if s.pooled.Load() {
		c.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return nil
}

// configure is called for each new connection. It applies the settings of the address, unless there is a pooler. The
// first connection on which a pooler is detected fails with errPooled and is opened again.
func (s *store) configure(ctx context.Context, conn *pgx.Conn) error {
	if s.pooled.Load() {
		return nil
	}
	direct, err := apply(ctx, conn, s.settings)
	if err == nil && !direct {
		s.pooled.Store(true)
		return errPooled
	}
	return err
}

// acquire returns a connection from the pool. It tries again if the first connection reveals a pooler.
func (s *store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := s.pool.Acquire(ctx)
	if errors.Is(err, errPooled) {
		return s.pool.Acquire(ctx)
	}
	return conn, err
}

// apply applies settings to a connection, and reports whether the connection reaches the server without a pooler.
func apply(ctx context.Context, conn *pgx.Conn, settings map[string]string) (direct bool, err error) {
	query := fmt.Sprintf("%s WHERE pg_backend_pid() = %d", setConfig(settings, false), conn.PgConn().PID())
	done, err := conn.Exec(ctx, query) // pgx prepares no statement for a query without arguments
	return done.RowsAffected() > 0, err
}

// begin returns the options of a transaction.
func (s *store) begin(readOnly bool) (o pgx.TxOptions) {
	begin := "BEGIN"
	if readOnly {
		o.IsoLevel, o.AccessMode = pgx.RepeatableRead, pgx.ReadOnly
		begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	}
	if s.pooled.Load() {
		o.BeginQuery = begin + "; " + setConfig(s.settings, true)
	}
	return o
}

// setConfig returns the query that applies settings to the session, or only to the current transaction. It also makes
// commits durable if the server is configured to report commits before they are durable.
func setConfig(settings map[string]string, local bool) string {
	var calls []string
	set := func(name, value string) {
		calls = append(calls, fmt.Sprintf("set_config(%s, %s, %t)", literal(name), value, local))
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := literal(settings[name])
		if local && name == "default_transaction_read_only" {
			name = "transaction_read_only" // the default applies only to later transactions
		}
		set(name, value)
	}
	set("synchronous_commit", "CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END")
	return "SELECT " + strings.Join(calls, ", ")
}

// transaction runs f in one transaction with the settings of the address.
func (s *store) transaction(ctx context.Context, f func(pgx.Tx) error) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return pgx.BeginTxFunc(ctx, conn, s.begin(false), f) // begin is called after acquire, which may detect a pooler
}
