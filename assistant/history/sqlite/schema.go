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

// applicationID marks a database file as winnow's, "wnnw" in ASCII. SQLite
// stores it in the header of the file.
const applicationID = 0x776e6e77

// schemaVersion is what this program writes and the newest it reads; oldestVersion is
// the oldest that it migrates.
const (
	schemaVersion = 9
	oldestVersion = 7
)

// schema is the current form. migrations/N.sql brings version N-1 to N, and is
// never edited after a release.
//
//go:embed schema.sql
var schema string

//go:embed migrations
var migrations embed.FS

// statements returns the statements that bring a database of this version to
// the next; version 0 is an empty one, which the schema brings to schemaVersion.
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

// migrate brings a database of this version to schemaVersion. Each version is a
// transaction: a crash leaves the complete version before it. step is called
// before each statement and each commit.
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
			return fmt.Errorf("history: bring the database to version %d: %w", next, err)
		}
		version = next
	}
	return nil
}

// upgrade creates the schema, or brings an older one up to date after a backup.
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
			return fmt.Errorf("history: back up the database before migrating it: %w", err)
		}
		s.report.Migrated, s.report.Backup = version, backup
	}
	return migrate(ctx, s.writer, version, s.step)
}

// verifyVersion compares the version in the header with the one in meta, which
// versions before 5 do not have. It fails with a *NewerSchemaError for what a newer
// program wrote, an *OlderSchemaError for what is too old to be migrated, and errVersion
// when the two contradict each other.
func verifyVersion(t *sqlstore.Tx, path string, version int) {
	var repeated int64
	if t.Err() != nil {
		return
	}
	err := t.Try(func() { repeated, _ = t.Number("SELECT version FROM meta") })
	switch known := int(repeated); {
	case damaged(err) || t.Ctx.Err() != nil:
		t.Fail(err)
	case version == 0 && known == 0: // nothing is in it
	case known == 0 && version < 5, known == version && version < oldestVersion: // without the table it is 0
		t.Fail(&history.OlderSchemaError{Path: path, Found: version, Supported: oldestVersion})
	case known == version && version <= schemaVersion:
	case known == version:
		t.Fail(&history.NewerSchemaError{Path: path, Found: version, Supported: schemaVersion})
	default:
		t.Fail(fmt.Errorf("%w: the header says %d, the database %d", errVersion, version, known))
	}
}

// backUp makes a durable copy of a database of an older version and returns its path.
func (s *store) backUp(ctx context.Context, version int) (string, error) {
	name := fmt.Sprintf("%s.v%d.bak", s.path, version)
	unfinished := name + ".part"
	os.Remove(unfinished)
	if err := createFile(unfinished); err != nil { // VACUUM INTO fills an empty file, and leaves its mode
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
