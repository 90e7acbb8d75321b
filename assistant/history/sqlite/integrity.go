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
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	t := &tx{ctx: ctx, conn: conn}
	var version, id, tables int
	t.each("SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)",
		nil, func(scan scanner) { scan(&version, &id, &tables) })
	if tables > 0 && id != applicationID {
		t.fail(errForeign)
	}
	if tables > 0 {
		t.verifyVersion(s.path, version)
	}
	current := tables > 0 && version == schemaVersion
	if current {
		s.verifySchema(t)
	}
	if all {
		t.checkPages("integrity_check")
	}
	if all && current {
		t.allPairs(func(assistant.Pair, bool) {})
	}
	return t.err
}

// schemaSum is the Sum of the columns of an undamaged database of schemaVersion.
const schemaSum = 0xd3129d7

// verifySchema fails with errSchema when the columns of a database are not those
// that were written: SQLite notices a byte that flipped in the text of the schema
// only when a statement uses that part.
func (s *store) verifySchema(t *tx) {
	columns := list[string](t, `SELECT t.name || '.' || c.name || c.type || c."notnull" || c.pk
		FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1`)
	header := make([]byte, 20)
	f, err := os.Open(s.path)
	if err == nil {
		defer f.Close()
		_, err = f.ReadAt(header, 0)
	}
	t.fail(err)
	if sum := history.Sum(columns...); sum != schemaSum || header[18] > 2 { // the version for writing; a greater one makes the database read-only
		t.fail(fmt.Errorf("%w: sum %#x, format %d", errSchema, sum, header[18]))
	}
}

// maxProblems bounds how many problems of one kind are listed.
const maxProblems = 20

// checkPages reads every page. It fails with errPages and what SQLite found.
func (t *tx) checkPages(pragma string) {
	found := list[string](t, fmt.Sprintf("PRAGMA %s(%d)", pragma, maxProblems))
	if !slices.Equal(found, []string{"ok"}) {
		t.fail(fmt.Errorf("%w: %s", errPages, strings.Join(found, "; ")))
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
func (s *store) Check(ctx context.Context) (history.CheckReport, error) {
	var report history.CheckReport
	problem := func(format string, args ...any) {
		if len(report.Problems) < maxProblems {
			report.Problems = append(report.Problems, fmt.Sprintf(format, args...))
		}
	}
	err := s.read(ctx, func(t *tx) {
		t.checkPages("integrity_check")
		t.each(inconsistencies, []any{maxProblems}, func(scan scanner) {
			var seq int64
			var format string
			scan(&seq, &format)
			problem(format, seq)
		})
		t.each(`SELECT (SELECT count(*) FROM pair WHERE cut IS NULL), (SELECT count(*) FROM pair WHERE cut IS NOT NULL),
			(SELECT count(*) FROM session), (SELECT count(*) FROM topic)`, nil, func(scan scanner) {
			scan(&report.Pairs, &report.Cut, &report.Sessions, &report.Topics)
		})
		t.allPairs(func(p assistant.Pair, damaged bool) {
			if damaged {
				problem("the texts of pair %d are not those that were written", p.Seq)
			}
		})
		t.eachRequest("", nil, func(_ assistant.SentRequest, damage error) {
			report.Requests++
			if damage != nil {
				report.DamagedRequests++
				problem("%v", damage)
			}
		})
	})
	var damage *history.DamageError
	if errors.As(err, &damage) {
		report.Damaged = true
		report.Problems = append(report.Problems, damage.Err.Error())
		return report, nil
	}
	return report, err
}

// allPairs calls each for every pair, cut ones included.
func (t *tx) allPairs(each func(p assistant.Pair, damaged bool)) {
	for from := int64(0); ; {
		seqs := list[int64](t, "SELECT seq FROM pair WHERE seq > ? ORDER BY seq LIMIT ?", from, loadAtOnce)
		if len(seqs) == 0 || t.err != nil {
			return
		}
		t.pairs(seqs, each)
		from = seqs[len(seqs)-1]
	}
}
