package postgres

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"winnow/assistant/history"
)

const (
	schemaVersion = 7 // the version that this program writes, and the newest that it reads
	baseVersion   = 4 // the oldest version that it reads
)

// migrations/N.sql upgrades version N-1 to N; the file of baseVersion starts from an empty schema. The files are
// never edited after a release.
//
//go:embed migrations
var migrations embed.FS

// lockClass is the first number of all advisory locks of winnow, "wnnw" in ASCII. The second number is 0 for
// migrations, logLock, or the number of a store.
const lockClass = 0x776e6e77

// schemaOf returns the first schema of a search path, quoted.
func schemaOf(path string) string {
	name, _, _ := strings.Cut(path, ",")
	return pgx.Identifier{strings.Trim(strings.TrimSpace(name), `"`)}.Sanitize()
}

// literal returns a text as an SQL literal.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// version reads the version of the schema, 0 if there is no schema. It returns a *history.NewerSchemaError or a
// *history.OlderSchemaError for a version that this program cannot read.
func (s *store) version(ctx context.Context) (version int, err error) {
	err = s.transaction(ctx, func(t pgx.Tx) error {
		version, err = s.versionIn(ctx, t)
		return err
	})
	return version, err
}

// versionIn reads the version within a transaction.
func (s *store) versionIn(ctx context.Context, t pgx.Tx) (version int, err error) {
	var exists bool // checked first, because a failed query would abort the transaction
	const find = `SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relname = 'meta' AND '"' || replace(n.nspname, '"', '""') || '"' = $1)`
	err = t.QueryRow(ctx, find, pgx.QueryExecModeDescribeExec, s.schema).Scan(&exists)
	if err != nil || !exists {
		return 0, err
	}
	err = t.QueryRow(ctx, "SELECT version FROM "+s.schema+".meta", pgx.QueryExecModeDescribeExec).Scan(&version)
	switch {
	case err == nil && version > schemaVersion:
		err = &history.NewerSchemaError{Path: s.path, Found: version, Supported: schemaVersion}
	case err == nil && version < baseVersion:
		err = &history.OlderSchemaError{Path: s.path, Found: version, Supported: baseVersion}
	}
	return version, err
}

// upgrade creates the schema or upgrades an older schema. Each version is a separate transaction, and only one
// program upgrades at a time.
func (s *store) upgrade(ctx context.Context) error {
	version, err := s.version(ctx)
	for first := true; err == nil && version < schemaVersion; first = false {
		if first {
			s.report.Migrated = version
		}
		if err = s.migrate(ctx, max(version+1, baseVersion)); err == nil {
			version, err = s.version(ctx)
		}
	}
	if err != nil {
		return err
	}
	return s.prepareTextIndex(ctx)
}

// migrate upgrades the schema to the target version from the version before it. It does nothing if another program has
// already done so.
func (s *store) migrate(ctx context.Context, target int) error {
	sql, err := migrations.ReadFile(fmt.Sprintf("migrations/%d.sql", target))
	if err != nil {
		return err
	}
	return s.locked(ctx, func(t pgx.Tx, run func(string) error) error {
		if version, err := s.versionIn(ctx, t); err != nil || version >= target {
			return err
		}
		for _, statement := range []string{
			// CREATE SCHEMA IF NOT EXISTS would require the right to create schemas even if the schema exists.
			fmt.Sprintf("DO $do$ BEGIN IF to_regnamespace(%s) IS NULL THEN CREATE SCHEMA %s; END IF; END $do$", literal(s.schema), s.schema),
			"SET LOCAL search_path TO " + s.schema,
			string(sql), fmt.Sprintf("UPDATE meta SET version = %d", target),
		} {
			if err := run(statement); err != nil {
				return fmt.Errorf("history: upgrade the database to version %d: %w", target, err)
			}
		}
		return nil
	})
}

// locked runs f in a transaction that holds the migration lock.
func (s *store) locked(ctx context.Context, f func(t pgx.Tx, run func(string) error) error) error {
	return s.transaction(ctx, func(t pgx.Tx) error {
		run := func(sql string) error {
			_, err := t.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
			return err
		}
		err := run(fmt.Sprintf("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(%d, 0)", lockClass))
		if err != nil {
			return err
		}
		return f(t, run)
	})
}

// noTextIndex is reported once for a database without the extension pg_trgm.
const noTextIndex = "the database does not have the extension pg_trgm, so searching is slow; " +
	"the owner of the database can add the extension with CREATE EXTENSION pg_trgm"

// prepareTextIndex creates the trigram index for searching texts, if the extension pg_trgm is installed or this role
// may install it.
func (s *store) prepareTextIndex(ctx context.Context) error {
	const state = `SELECT coalesce((SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'pg_trgm'), ''), to_regclass($1) IS NOT NULL`
	var extension string
	var exists bool
	read := func() error {
		return s.transaction(ctx, func(t pgx.Tx) error {
			return t.QueryRow(ctx, state, pgx.QueryExecModeDescribeExec, s.schema+".body_trigrams").Scan(&extension, &exists)
		})
	}
	err := read()
	if err == nil && extension == "" {
		refused := s.locked(ctx, func(_ pgx.Tx, run func(string) error) error {
			return run("CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA " + s.schema)
		})
		if err = read(); err == nil && extension == "" {
			s.options.Log.Info("history: no trigram index", "err", refused)
			return s.noticeOnce(ctx, noTextIndex)
		}
	}
	if err != nil || exists {
		return err
	}
	err = s.locked(ctx, func(_ pgx.Tx, run func(string) error) error {
		return run(fmt.Sprintf("CREATE INDEX IF NOT EXISTS body_trigrams ON %[1]s.body USING gin (user_low %[2]s.gin_trgm_ops, answer_low %[2]s.gin_trgm_ops)",
			s.schema, extension))
	})
	if sqlState(err) == codeDenied {
		s.options.Log.Info("history: no trigram index", "err", err)
		return nil
	}
	return err
}

// noticeOnce reports a notice, unless it is the one that this user was shown last.
func (s *store) noticeOnce(ctx context.Context, notice string) error {
	const key = "postgres.notice"
	if known, err := s.Get(ctx, key); err != nil || known == notice {
		return err
	}
	s.report.Notices = append(s.report.Notices, notice)
	return s.Set(ctx, key, notice)
}
