package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
)

// maxCheckAtOpen is the maximum size in bytes of a possibly damaged database that Open checks completely; this takes
// about 100 ms. Larger databases are checked while in use.
const maxCheckAtOpen = 16 << 20

// damagedMark is a file in the run folder that records damage that was found after the inspection.
const damagedMark = "damaged"

// inspect completes an interrupted salvage, then checks the database, which no process has open. The check comes before
// all other writes, so that a damaged file can be renamed exactly as it was found. If the last process did not close the
// database and the database is small, inspect reads every page. A non-nil err means that the database must not be
// changed.
func (s *store) inspect(ctx context.Context) (damage, err error) {
	if err := s.finishSalvage(); err != nil {
		return nil, err
	}
	switch what, err := os.ReadFile(filepath.Join(s.runDir, damagedMark)); {
	case err == nil:
		return errors.New(string(what)), nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("history: %w", err)
	}
	bytes, walBytes := fileSize(s.path), fileSize(s.path+"-wal")
	switch {
	case bytes <= 0 && walBytes > 0:
		return errors.New("the database file is missing; only its -wal file remains"), nil
	case bytes == 0 && s.usedBefore: // a new database gets its name only when it is complete, so an empty file is damaged
		return errors.New("the file is empty, although it contained a database"), nil
	case bytes <= 0:
		return nil, nil
	}
	err = s.probe(ctx, bytes+max(walBytes, 0) <= maxCheckAtOpen)
	if damaged(err) || code(err) == codeError { // the statements are correct, so only damage can make them fail
		return err, nil
	}
	return nil, err
}

// probe reads a database that may be damaged. If all is true, it reads every page after an unclean shutdown. It writes
// nothing, with one exception: it rolls back a transaction that a process left unfinished before the database was in
// WAL mode, because the database cannot be read otherwise.
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
	if t.Err() != nil || tables == 0 {
		return t.Err()
	}
	if id != applicationID {
		return errForeign
	}
	verifyVersion(t, s.path, version)
	t.Fail(verifyHeader(s.path))
	clean := int64(0)
	if version == schemaVersion && t.Err() == nil {
		clean, _ = t.Number("SELECT clean FROM meta")
		s.report.LostWAL = clean == 0 && fileSize(s.path+"-wal") <= 0
	}
	if clean != 1 && all {
		checkPages(t)
	}
	s.checkDue.Store(clean != 1 && !all && t.Err() == nil)
	return t.Err()
}

// checkLater checks every page of a large, possibly damaged database once, while the database is in use.
func (s *store) checkLater() {
	if !s.options.noDelay {
		select {
		case <-time.After(checkDelay):
		case <-s.ctx.Done():
			return
		}
	}
	err := s.Read(s.ctx, checkPages) // Read calls reportDamage
	s.checkDue.Store(err != nil)
}

// verifyHeader returns errHeader if the header would make SQLite open the database read-only.
func verifyHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	header := make([]byte, 20)
	if _, err := f.ReadAt(header, 0); err != nil {
		return err
	}
	if header[18] > 2 { // the write version
		return errHeader
	}
	return nil
}

// columns lists the columns of all tables.
const columns = `SELECT t.name || '.' || c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1`

// schemaAltered reports whether the columns of the database differ from the columns of its schema version. SQLite
// detects a flipped byte in the text of the schema only when a statement uses that part.
func (s *store) schemaAltered() bool {
	ctx := context.Background()
	fresh, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		return false
	}
	defer fresh.Close()
	c, err := fresh.Conn(ctx)
	if err != nil || migrate(ctx, newWriter(c), 0, func(string) {}) != nil {
		return false
	}
	want := sqlstore.NewTx(ctx, conn{Conn: c})
	list := sqlstore.List[string](want, columns)
	here, err := s.readDB.Conn(ctx)
	if err != nil {
		return false
	}
	defer here.Close()
	t := sqlstore.NewTx(ctx, conn{Conn: here})
	version, _ := t.Number("SELECT user_version FROM pragma_user_version")
	got := sqlstore.List[string](t, columns)
	return want.Err() == nil && version == schemaVersion && (damaged(t.Err()) || t.Err() == nil && !slices.Equal(got, list))
}

// checkPages reads every page. It fails with errPages and the problems that SQLite found.
func checkPages(t *sqlstore.Tx) { checkWith(t, "quick_check") }

func checkWith(t *sqlstore.Tx, pragma string) {
	found := sqlstore.List[string](t, fmt.Sprintf("PRAGMA %s(%d)", pragma, sqlstore.MaxProblems))
	if !slices.Equal(found, []string{"ok"}) {
		t.Fail(fmt.Errorf("%w: %s", errPages, strings.Join(found, "; ")))
	}
}

// markUnclean records, with the first write of this process, that the database is not closed. checkpointMark then
// copies this mark from the -wal file to the database file, so that the loss of a -wal file is noticed. The caller has
// locked the writer.
func (s *store) markUnclean(t *sqlstore.Tx) {
	if !s.marked {
		t.Run("UPDATE meta SET clean = 0 WHERE clean <> 0")
	}
}

func (s *store) checkpointMark(ctx context.Context) {
	if s.marked {
		return
	}
	s.marked = true
	if _, err := s.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		s.options.Log.Warn("history checkpoint", "err", err)
	}
}

// markClean records that the last process closed the database, and whether the database still has to be checked.
func (s *store) markClean() error {
	clean := 1
	if s.checkDue.Load() {
		clean = 2
	}
	return s.writer.inTx(context.Background(), func(t *sqlstore.Tx) {
		if now, _ := t.Number("SELECT clean FROM meta"); now != int64(clean) {
			t.Run("UPDATE meta SET clean = ?", clean)
		}
	})
}

// reportDamage returns a *history.DamageError for err. The first time, it records the damage and calls OnDamage.
func (s *store) reportDamage(err error) error {
	var known *history.DamageError
	if errors.As(err, &known) {
		return err
	}
	found := &history.DamageError{Path: s.path, Err: err}
	s.damageOnce.Do(func() {
		s.options.Log.Error("history: the database is damaged", "err", err)
		s.recordDamage(err)
		if s.options.OnDamage != nil {
			go s.options.OnDamage(found)
		}
	})
	return found
}

// recordDamage writes damagedMark, so that the next Open salvages the database without inspecting it.
func (s *store) recordDamage(damage error) {
	if err := os.WriteFile(filepath.Join(s.runDir, damagedMark), []byte(damage.Error()), fileMode); err != nil {
		s.options.Log.Error("history: the damage could not be recorded", "err", err)
	}
}

// inconsistencies is a query that returns a row for each problem: a seq and a sentence in which %d stands for the seq.
const inconsistencies = `
	SELECT seq, 'the texts of message %d are missing' FROM pair WHERE seq NOT IN (SELECT seq FROM body)
	UNION SELECT seq, 'there are texts of message %d, which does not exist' FROM body WHERE seq NOT IN (SELECT seq FROM pair)
	UNION SELECT seq, 'the session of message %d does not exist' FROM pair WHERE session NOT IN (SELECT n FROM session)
	UNION SELECT seq, 'the model of message %d does not exist' FROM pair WHERE model NOT IN (SELECT n FROM model)
	UNION SELECT seq, 'the topic of message %d does not exist' FROM pair WHERE topic <> 0 AND topic NOT IN (SELECT n FROM topic)
	UNION SELECT seq, 'there are requests of message %d, which does not exist' FROM request WHERE seq NOT IN (SELECT seq FROM pair)
	LIMIT ?`

// Check verifies every page, checksum and reference. This takes seconds for a large database.
func (s *store) Check(ctx context.Context) (report history.CheckReport, err error) {
	err = s.Read(ctx, func(t *sqlstore.Tx) {
		checkWith(t, "integrity_check")
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
