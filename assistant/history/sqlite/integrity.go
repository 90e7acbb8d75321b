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

// maxCheckAtOpen is the size in bytes up to which Open checks every page of a
// database that may be damaged: some 100 ms. A larger one is checked while in use.
const maxCheckAtOpen = 16 << 20

// damagedMark is a file in the run folder with the damage that was found in use.
const damagedMark = "damaged"

// inspect checks a database that nobody has open, before anything is written: a
// damaged file is set aside as it was found. It reads every page when the last process
// did not close the database and it is small. err means that the database must not be
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
		return errors.New("the database is gone, only its -wal file is left"), nil
	case bytes == 0 && s.usedBefore: // a new database gets its name when it is complete
		return errors.New("the file is empty, although there was a database in it"), nil
	case bytes <= 0:
		return nil, nil
	}
	err = s.probe(ctx, bytes+max(walBytes, 0) <= maxCheckAtOpen)
	if damaged(err) || code(err) == codeError { // the statements are correct, so only damage makes them fail
		return err, nil
	}
	return nil, err
}

// probe reads a database that may be damaged: after an unclean end, with all, every
// page. It writes nothing except the rollback of a transaction that a process left
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

// checkLater checks every page of a large database that may be damaged, once, while it is
// in use.
func (s *store) checkLater() {
	if !s.options.noDelay {
		select {
		case <-time.After(checkDelay):
		case <-s.ctx.Done():
			return
		}
	}
	err := s.Read(s.ctx, checkPages) // Read reports damage
	s.checkDue.Store(err != nil)
}

// verifyHeader refuses a header with which SQLite would only read the database.
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
	if header[18] > 2 { // the version for writing
		return errHeader
	}
	return nil
}

// columns lists the columns of all tables.
const columns = `SELECT t.name || '.' || c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1`

// schemaAltered reports whether the columns of the database are not those of its
// version: SQLite notices a byte that flipped in the text of the schema only when a
// statement uses that part.
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

// checkPages reads every page. It fails with errPages and what SQLite found.
func checkPages(t *sqlstore.Tx) { checkWith(t, "quick_check") }

func checkWith(t *sqlstore.Tx, pragma string) {
	found := sqlstore.List[string](t, fmt.Sprintf("PRAGMA %s(%d)", pragma, sqlstore.MaxProblems))
	if !slices.Equal(found, []string{"ok"}) {
		t.Fail(fmt.Errorf("%w: %s", errPages, strings.Join(found, "; ")))
	}
}

// markUnclean notes with the first write of this process that the database is not
// closed; checkpointMark brings that into the file itself, so that a -wal file that is
// lost is missed. The writer is locked.
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

// markClean notes that the last process closes the database, and whether it has still to
// be checked.
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
