package sqlite

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
	"winnow/checkpoint/privatefile"
)

// applicationID identifies a database file of winnow, "wnnw" in ASCII. SQLite stores it in the header of the file.
const applicationID = 0x776e6e77

// schemaVersion is the version that this program writes and the newest that it reads; oldestVersion is the oldest
// version that it can upgrade.
const (
	schemaVersion = 10
	oldestVersion = 7
)

// schema is the current schema. migrations/N.sql upgrades version N-1 to N and is never edited after a release.
//
//go:embed schema.sql
var schema string

//go:embed migrations
var migrations embed.FS

// statements returns the statements that upgrade a database from version to the next version. Version 0 is an empty
// database; its next version is schemaVersion.
func statements(version int) (sql []string, next int, err error) {
	text, next := schema, schemaVersion
	if version > 0 {
		next = version + 1
		raw, err := migrations.ReadFile(fmt.Sprintf("migrations/%d.sql", next))
		if err != nil {
			return nil, 0, err
		}
		text = string(raw)
	}
	for s := range strings.SplitSeq(text, ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			sql = append(sql, s)
		}
	}
	return append(sql, fmt.Sprintf("PRAGMA user_version = %d", next), fmt.Sprintf("PRAGMA application_id = %d", applicationID)), next, nil
}

// migrate upgrades a database from version to schemaVersion. Each version is a separate transaction, so even after a
// crash the schema is exactly that of one version. step is called before each statement and each commit.
func migrate(ctx context.Context, w *writer, version int, step func(string)) error {
	for version < schemaVersion {
		sql, next, err := statements(version)
		if err != nil {
			return err
		}
		err = w.inTx(ctx, func(t *sqlstore.Tx) {
			for _, s := range sql {
				step(fmt.Sprintf("version %d: %.40s", next, s))
				t.Run(s)
			}
			step(fmt.Sprintf("version %d: commit", next))
		})
		if err != nil {
			return fmt.Errorf("history: upgrade the database to version %d: %w", next, err)
		}
		version = next
	}
	return nil
}

// upgrade creates the schema, or upgrades an older schema after a backup.
func (s *store) upgrade(ctx context.Context) error {
	t := sqlstore.NewTx(ctx, conn{Conn: s.writer.Conn})
	n, _ := t.Number("PRAGMA user_version")
	version := int(n)
	if verifyVersion(t, s.path, version); t.Err() != nil || version == schemaVersion {
		return t.Err()
	}
	if version > 0 {
		backup, err := s.backUp(ctx, version)
		if err != nil {
			return fmt.Errorf("history: back up the database before upgrading it: %w", err)
		}
		s.report.Migrated, s.report.Backup = version, backup
	}
	return migrate(ctx, s.writer, version, s.step)
}

// verifyVersion compares the version in the header with the version in meta; databases older than version 5 have no
// version in meta. It fails with a *history.NewerSchemaError for a database of a newer program, with a
// *history.OlderSchemaError for a database that is too old to upgrade, and with errVersion if the two versions
// contradict each other.
func verifyVersion(t *sqlstore.Tx, path string, version int) {
	var repeated int64
	if t.Err() != nil {
		return
	}
	err := t.Try(func() { repeated, _ = t.Number("SELECT version FROM meta") })
	switch known := int(repeated); {
	case err != nil && code(err) != codeError: // meta was not read; codeError means that it does not exist or has no version
		t.Fail(err)
	case version == 0 && known == 0: // the database is empty
	case known == 0 && version < 5, known == version && version < oldestVersion: // known is 0 if there is no table meta
		t.Fail(&history.OlderSchemaError{Path: path, Found: version, Supported: oldestVersion})
	case known == version && version <= schemaVersion:
	case known == version:
		t.Fail(&history.NewerSchemaError{Path: path, Found: version, Supported: schemaVersion})
	default:
		t.Fail(fmt.Errorf("%w: version %d in the header, version %d in the table meta", errVersion, version, known))
	}
}

// backUp makes a durable copy of a database with an older version and returns the path of the copy.
func (s *store) backUp(ctx context.Context, version int) (string, error) {
	name := fmt.Sprintf("%s.v%d.bak", s.path, version)
	unfinished := name + ".part"
	os.Remove(unfinished)
	if err := createFile(unfinished); err != nil { // VACUUM INTO fills an empty file and keeps its mode
		return "", err
	}
	s.step("copy")
	if _, err := s.writer.ExecContext(ctx, "VACUUM INTO ?", unfinished); err != nil {
		return "", err
	}
	if err := privatefile.SyncFile(unfinished); err != nil {
		return "", err
	}
	s.step("rename the copy")
	if err := os.Rename(unfinished, name); err != nil {
		return "", err
	}
	return name, privatefile.SyncFolder(filepath.Dir(name))
}
