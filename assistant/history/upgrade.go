package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// upgrade brings the schema up to date, after a copy.
func (s *Store) upgrade(ctx context.Context) error {
	var version int
	if err := s.writer.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("history: open %s: %w", s.path, err)
	}
	if version > schemaVersion() {
		return &NewerSchemaError{s.path, version, schemaVersion()}
	}
	if version == schemaVersion() {
		return nil
	}
	if version > 0 {
		copied, err := s.copyBefore(ctx, version)
		if err != nil {
			return fmt.Errorf("history: copy the database before bringing it up to date: %w", err)
		}
		s.report.Migrated, s.report.Copy = version, copied
	}
	return migrate(s.writer, version, s.options.afterStep)
}

// copyBefore makes a durable copy of a database of an older version and returns its name.
func (s *Store) copyBefore(ctx context.Context, version int) (string, error) {
	name := fmt.Sprintf("%s.v%d.bak", s.path, version)
	unfinished := name + ".part"
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := createFile(unfinished); err != nil { // VACUUM INTO fills an empty file, and keeps its mode
		return "", err
	}
	if _, err := s.writer.conn.ExecContext(ctx, "VACUUM INTO ?", unfinished); err != nil {
		return "", err
	}
	if err := syncFile(unfinished); err != nil {
		return "", err
	}
	if err := os.Rename(unfinished, name); err != nil {
		return "", err
	}
	return name, syncFolder(filepath.Dir(name))
}
