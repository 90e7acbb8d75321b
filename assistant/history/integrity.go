package history

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
)

// checkNow is the size in bytes up to which a database in doubt is read whole
// before it is used: some 100 ms. A larger one is checked while it is in use.
const checkNow = 16 << 20

// damagedMark is a file in the run folder: the damage that was found in use.
const damagedMark = "damaged"

// inspect looks at a database that nobody has open, before anything is written:
// what is set aside must be the bytes that were found. It reads all of it unless
// the last process closed it in an orderly way. err means that the database must
// not be touched.
func (s *store) inspect(ctx context.Context) (damage, err error) {
	if err := s.finishSalvage(); err != nil {
		return nil, err
	}
	if what, err := os.ReadFile(filepath.Join(s.run, damagedMark)); err == nil {
		return errors.New(string(what)), nil
	}
	state, bytes, log := s.readState(), size(s.path), size(s.path+"-wal")
	switch {
	case bytes <= 0 && log > 0:
		return errors.New("the database is gone, only its -wal file is left"), nil
	case bytes == 0 && state.Phase != phaseNone:
		return errors.New("the file is empty, although there was a database in it"), nil
	case bytes <= 0:
		return nil, nil
	}
	s.report.LostLog = state.Phase == phaseWritten && log <= 0
	if state.Phase == phaseClosed && state.Fingerprint == s.fingerprint() && log < 0 {
		return nil, nil
	}
	whole := bytes+max(log, 0) <= checkNow
	err = s.probe(ctx, whole)
	if damaged(err) || code(err) == codeError { // nobody else has it open, and the statements are right
		return err, nil
	}
	s.inDoubt = !whole
	return nil, err
}

// probe reads a database in doubt. It writes nothing, but for the rollback of a
// transaction that a process left unfinished before the database was in WAL
// mode: no later connection could read past that.
func (s *store) probe(ctx context.Context, whole bool) error {
	mode := "&mode=ro"
	if size(s.path+"-journal") > 0 {
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
	if whole {
		t.checkPages("integrity_check")
	}
	if whole && current {
		t.allPairs(func(assistant.Pair, bool) {})
	}
	return t.err
}

// schemaSum is the bodySum of the columns of a sound database of schemaVersion.
const schemaSum = 0xd3129d7

// verifySchema fails with errSchema when the columns of a database are not those
// that were written: a byte that flipped in the text of the schema shows only when a
// statement meets it.
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
	if sum := bodySum(columns...); sum != schemaSum || header[18] > 2 { // the version for writing; a greater one makes the database read-only
		t.fail(fmt.Errorf("%w: sum %#x, format %d", errSchema, sum, header[18]))
	}
}

// maxProblems bounds how many problems of one kind are listed.
const maxProblems = 20

// checkPages reads every page. It fails with errPages and what contradicts.
func (t *tx) checkPages(pragma string) {
	found := list[string](t, fmt.Sprintf("PRAGMA %s(%d)", pragma, maxProblems))
	if !slices.Equal(found, []string{"ok"}) {
		t.fail(fmt.Errorf("%w: %s", errPages, strings.Join(found, "; ")))
	}
}

// foundDamage leaves a mark for the next Open, calls OnDamage, and returns a *DamageError.
func (s *store) foundDamage(err error) error {
	var known *DamageError
	if errors.As(err, &known) {
		return err
	}
	found := &DamageError{s.path, err}
	s.damage.Do(func() {
		s.options.Log.Error("history database damaged", "err", err)
		if err := os.WriteFile(filepath.Join(s.run, damagedMark), []byte(err.Error()), fileMode); err != nil {
			s.options.Log.Error("history damage mark", "err", err)
		}
		if s.options.OnDamage != nil {
			go s.options.OnDamage(found)
		}
	})
	return found
}

// CheckReport is what Check found.
type CheckReport struct {
	Pairs, Cut, Sessions, Topics int
	// Requests are the stored requests of pairs, and DamagedRequests those of them
	// that are not what was sent any more.
	Requests, DamagedRequests int
	// Problems are what contradicts, a sentence each; none is a healthy store.
	Problems []string
	// Damaged says that the file itself is broken: opening it again after this
	// store is closed salvages what is readable.
	Damaged bool
}

// contradictions has a row for each problem: a number, and a sentence with its place.
const contradictions = `
	SELECT seq, 'pair %d has lost its texts' FROM pair WHERE seq NOT IN (SELECT seq FROM body)
	UNION SELECT seq, 'the texts of pair %d have lost their pair' FROM body WHERE seq NOT IN (SELECT seq FROM pair)
	UNION SELECT seq, 'pair %d is of an unknown session' FROM pair WHERE session NOT IN (SELECT n FROM session)
	UNION SELECT seq, 'pair %d is of an unknown model' FROM pair WHERE model NOT IN (SELECT n FROM model)
	UNION SELECT seq, 'pair %d is of an unknown topic' FROM pair WHERE topic <> 0 AND topic NOT IN (SELECT n FROM topic)
	UNION SELECT seq, 'requests of pair %d have lost their pair' FROM request WHERE seq NOT IN (SELECT seq FROM pair)
	LIMIT ?`

// Check reads every page, every sum and every reference: seconds for a large database.
func (s *store) Check(ctx context.Context) (CheckReport, error) {
	var report CheckReport
	problem := func(format string, args ...any) {
		if len(report.Problems) < maxProblems {
			report.Problems = append(report.Problems, fmt.Sprintf(format, args...))
		}
	}
	err := s.read(ctx, func(t *tx) {
		t.checkPages("integrity_check")
		t.each(contradictions, []any{maxProblems}, func(scan scanner) {
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
	var damage *DamageError
	if errors.As(err, &damage) {
		report.Damaged = true
		report.Problems = append(report.Problems, damage.Err.Error())
		return report, nil
	}
	return report, err
}

// allPairs calls each for every pair, cut ones too.
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
