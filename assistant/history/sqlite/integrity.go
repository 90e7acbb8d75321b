package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// maxCheckAtOpen is the size in bytes up to which Open checks every page of a
// database that may be damaged: some 100 ms. A larger one is checked while in use.
const maxCheckAtOpen = 16 << 20

// damagedMark is a file in the run folder with the damage that was found in use.
const damagedMark = "damaged"

// inspect checks a database that nobody has open, before anything is written: a
// damaged file is set aside as it was found. It reads every page unless the last
// process closed the database or it is large. err means that the database must not
// be changed.
func (s *store) inspect(ctx context.Context) (damage, err error) {
	if err := s.finishSalvage(); err != nil {
		return nil, err
	}
	if what, err := os.ReadFile(filepath.Join(s.runDir, damagedMark)); err == nil {
		return errors.New(string(what)), nil
	}
	state, found := s.readState()
	bytes, walBytes := fileSize(s.path), fileSize(s.path+"-wal")
	switch {
	case bytes <= 0 && walBytes > 0:
		return errors.New("the database is gone, only its -wal file is left"), nil
	case bytes == 0 && found:
		return errors.New("the file is empty, although there was a database in it"), nil
	case bytes <= 0:
		return nil, nil
	}
	s.report.LostWAL = state.WAL && walBytes <= 0
	if state.Fingerprint != "" && state.Fingerprint == s.fingerprint() && walBytes < 0 {
		return nil, nil
	}
	small := bytes+max(walBytes, 0) <= maxCheckAtOpen
	err = s.probe(ctx, small)
	if damaged(err) || code(err) == codeError { // the statements are correct, so only damage makes them fail
		return err, nil
	}
	s.checkDue = !small
	return nil, err
}

// probe reads a database that may be damaged: with all, every page and pair. It
// writes nothing except the rollback of a transaction that a process left
// unfinished before the database was in WAL mode: nobody could read it otherwise.
func (s *store) probe(ctx context.Context, all bool) error {
	mode := "&mode=ro"
	if fileSize(s.path+"-journal") > 0 {
		mode = "&mode=rw"
	}
	db, err := sql.Open("sqlite", dsn(s.path, "query_only(1)")+mode)
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	t := sqlstore.NewTx(ctx, conn{Conn: c})
	var version, id, tables int
	t.Each("SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)",
		nil, func(scan sqlstore.Scanner) { scan(&version, &id, &tables) })
	if tables > 0 && id != applicationID {
		t.Fail(errForeign)
	}
	if tables > 0 {
		verifyVersion(t, s.path, version)
	}
	current := tables > 0 && version == schemaVersion
	if current {
		s.verifySchema(t)
	}
	if all {
		checkPages(t, "integrity_check")
	}
	if all && current {
		s.AllPairs(t, func(assistant.Pair, bool) {})
	}
	return t.Err()
}

// schemaSum is the Sum of the columns of an undamaged database of schemaVersion.
const schemaSum = 0xc002dcc7

// verifySchema fails with errSchema when the columns of a database are not those
// that were written: SQLite notices a byte that flipped in the text of the schema
// only when a statement uses that part.
func (s *store) verifySchema(t *sqlstore.Tx) {
	columns := sqlstore.List[string](t, `SELECT t.name || '.' || c.name || c.type || c."notnull" || c.pk
		FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1`)
	header := make([]byte, 20)
	f, err := os.Open(s.path)
	if err == nil {
		defer f.Close()
		_, err = f.ReadAt(header, 0)
	}
	t.Fail(err)
	if sum := history.Sum(columns...); sum != schemaSum || header[18] > 2 { // the version for writing; a greater one makes the database read-only
		t.Fail(fmt.Errorf("%w: sum %#x, format %d", errSchema, sum, header[18]))
	}
}

// checkPages reads every page. It fails with errPages and what SQLite found.
func checkPages(t *sqlstore.Tx, pragma string) {
	found := sqlstore.List[string](t, fmt.Sprintf("PRAGMA %s(%d)", pragma, sqlstore.MaxProblems))
	if !slices.Equal(found, []string{"ok"}) {
		t.Fail(fmt.Errorf("%w: %s", errPages, strings.Join(found, "; ")))
	}
}

// reportDamage writes damagedMark for the next Open, calls OnDamage, and returns a
// *DamageError.
func (s *store) reportDamage(err error) error {
	var known *history.DamageError
	if errors.As(err, &known) {
		return err
	}
	found := &history.DamageError{Path: s.path, Err: err}
	s.damageOnce.Do(func() {
		s.options.Log.Error("history database damaged", "err", err)
		if err := os.WriteFile(filepath.Join(s.runDir, damagedMark), []byte(err.Error()), fileMode); err != nil {
			s.options.Log.Error("history damage mark", "err", err)
		}
		if s.options.OnDamage != nil {
			go s.options.OnDamage(found)
		}
	})
	return found
}

// inconsistencies has a row for each problem: a Seq, and a sentence with %d for it.
const inconsistencies = `
	SELECT seq, 'the texts of pair %d are missing' FROM pair WHERE seq NOT IN (SELECT seq FROM body)
	UNION SELECT seq, 'there are texts of pair %d, which does not exist' FROM body WHERE seq NOT IN (SELECT seq FROM pair)
	UNION SELECT seq, 'the session of pair %d does not exist' FROM pair WHERE session NOT IN (SELECT n FROM session)
	UNION SELECT seq, 'the model of pair %d does not exist' FROM pair WHERE model NOT IN (SELECT n FROM model)
	UNION SELECT seq, 'the topic of pair %d does not exist' FROM pair WHERE topic <> 0 AND topic NOT IN (SELECT n FROM topic)
	UNION SELECT seq, 'there are requests of pair %d, which does not exist' FROM request WHERE seq NOT IN (SELECT seq FROM pair)
	LIMIT ?`

// Check verifies every page, checksum and reference: seconds for a large database.
func (s *store) Check(ctx context.Context) (report history.CheckReport, err error) {
	err = s.Read(ctx, func(t *sqlstore.Tx) {
		checkPages(t, "integrity_check")
		report = s.CheckRows(t, inconsistencies)
	})
	var damage *history.DamageError
	if errors.As(err, &damage) {
		report.Damaged = true
		report.Problems = append(report.Problems, damage.Err.Error())
		return report, nil
	}
	return report, err
}
