package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"winnow/assistant"
)

// checkNow is the size up to which a database in doubt is checked whole before
// it is used: some 50 ms. A larger one is checked while it is in use.
const checkNow = 16 << 20

// damagedMark is a file in the run folder: what was found while the database
// was in use.
const damagedMark = "damaged"

// inspection is what inspect found.
type inspection struct {
	damage error // nil is none
	unsure bool  // a check of every page, in the background, is due
}

// inspect looks at a database that nobody has open, cheaply when the last
// process closed it in an orderly way, thoroughly otherwise. An error means that
// the database must not be touched at all.
func (s *SQLite) inspect(ctx context.Context) (inspection, error) {
	if err := s.finishSalvage(); err != nil {
		return inspection{}, err
	}
	if what, err := os.ReadFile(filepath.Join(s.run, damagedMark)); err == nil {
		return inspection{damage: errors.New(string(what))}, nil
	}
	state, bytes, log := s.readState(), size(s.path), size(s.path+"-wal")
	switch {
	case bytes <= 0 && log > 0:
		return inspection{damage: errors.New("the database is gone, only its -wal file is left")}, nil
	case bytes == 0 && state.phase != phaseNone:
		return inspection{damage: errors.New("the file is empty, although there was a database in it")}, nil
	case bytes <= 0:
		return inspection{}, nil
	}
	s.report.LostLog = state.phase == phaseWritten && log <= 0
	if state.phase == phaseClosed && !state.unchecked && state.fingerprint == s.fingerprint() && log < 0 {
		return inspection{}, nil
	}
	return s.probe(ctx, bytes+max(log, 0) <= checkNow)
}

// probe asks SQLite about a database in doubt. It writes nothing, but for the
// rollback of a transaction that a process left unfinished before the database
// was in WAL mode: no later connection could read past that.
func (s *SQLite) probe(ctx context.Context, whole bool) (inspection, error) {
	mode := "&mode=ro"
	if size(s.path+"-journal") > 0 {
		mode = "&mode=rw"
	}
	db, err := sql.Open("sqlite", dsn(s.path, "query_only(1)")+mode)
	if err != nil {
		return inspection{}, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var version, id int
	var tables string
	err = db.QueryRowContext(ctx, "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), coalesce((SELECT group_concat(name) FROM sqlite_schema), '')").
		Scan(&version, &id, &tables)
	if err == nil && tables != "" {
		if id != applicationID {
			return inspection{damage: errors.New("the file belongs to another program")}, nil
		}
		err = verifyVersion(ctx, db, s.path, version)
	}
	if err == nil && tables != "" && version == schemaVersion {
		err = verifySchema(ctx, db, s.path)
	}
	var newer *NewerSchemaError
	switch {
	case damaged(err) || code(err) == codeError: // nobody else has it open, and the statements are right
		return inspection{damage: err}, nil
	case errors.As(err, &newer):
		return inspection{}, err
	case err != nil:
		return inspection{}, fmt.Errorf("history: open %s: %w", s.path, err)
	case !whole:
		return inspection{unsure: true}, nil
	}
	found, err := checkPages(ctx, db, "integrity_check")
	if err != nil && !damaged(err) {
		return inspection{}, err
	}
	if err == nil && len(found) > 0 {
		err = errors.New(strings.Join(found, "; "))
	}
	if err == nil && tables != "" && version == schemaVersion {
		err = readAllPairs(ctx, db)
	}
	return inspection{damage: err}, nil
}

// readAllPairs reads every pair: a column may hold a value of a type that it never gets.
func readAllPairs(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return (&tx{ctx: ctx, conn: conn}).checkTexts(&CheckReport{})
}

// verifySchema compares the columns of a database with those of an empty one: a
// byte that flipped in the text of the schema is in the way only when a
// statement meets it. It returns errSchema when they differ.
func verifySchema(ctx context.Context, db querier, path string) error {
	const query = `SELECT group_concat(name, ' ') FROM (SELECT t.name || '.' || c.name || c.type || c."notnull" || c.pk AS name
		FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1)`
	empty, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer empty.Close()
	empty.SetMaxOpenConns(1)
	if _, err := empty.ExecContext(ctx, schema); err != nil {
		return err
	}
	var want, got string
	if err := empty.QueryRowContext(ctx, query).Scan(&want); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, query).Scan(&got); err != nil {
		return err
	}
	// A file that cannot be written by its own header is in no form that SQLite writes.
	header := make([]byte, 20)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.ReadAt(header, 0); err != nil {
		return err
	}
	if want != got || header[18] > 2 {
		return errSchema
	}
	return nil
}

// maxProblems bounds how many contradictions of one kind are listed.
const maxProblems = 20

// checkPages reads every page and lists what contradicts.
func checkPages(ctx context.Context, db querier, pragma string) (found []string, err error) {
	rows, err := db.QueryContext(ctx, fmt.Sprintf("PRAGMA %s(%d)", pragma, maxProblems))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return found, err
		}
		if line != "ok" {
			found = append(found, line)
		}
	}
	return found, rows.Err()
}

// checkLater checks a database in doubt while it is in use. Until it is found
// sound the state says that a check is due.
func (s *SQLite) checkLater() {
	select {
	case <-time.After(s.options.quiet()):
	case <-s.ctx.Done():
		return
	}
	conn, err := s.readers.Conn(s.ctx)
	if err != nil {
		return
	}
	defer conn.Close()
	found, err := checkPages(s.ctx, conn, "quick_check")
	switch {
	case s.ctx.Err() != nil || err != nil && !damaged(err):
	case err != nil || len(found) > 0:
		_ = s.foundDamage(errors.Join(err, errors.New(strings.Join(found, "; ")))) // marked, and OnDamage called
	default:
		state := s.readState()
		state.unchecked = false
		s.writeState(state)
	}
}

// foundDamage leaves a mark for the next Open, calls OnDamage, and returns a
// *DamageError.
func (s *SQLite) foundDamage(err error) error {
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
	// Requests are the stored requests of pairs, and DamagedRequests those of
	// them that are not what was sent any more. They are shown on demand only: the
	// conversation does without.
	Requests, DamagedRequests int
	// Problems are what contradicts, a sentence each; none is a healthy database.
	Problems []string
	// Damaged says that the file itself is broken: opening it again after this
	// store is closed salvages what is readable.
	Damaged bool
}

// contradictions are questions whose every answer is a problem.
var contradictions = []struct{ query, text string }{
	{"SELECT seq FROM pair EXCEPT SELECT seq FROM body", "pair %d has lost its texts"},
	{"SELECT seq FROM body EXCEPT SELECT seq FROM pair", "the texts of pair %d have lost their pair"},
	{"SELECT seq FROM pair WHERE session NOT IN (SELECT n FROM session)", "pair %d is of an unknown session"},
	{"SELECT seq FROM pair WHERE model NOT IN (SELECT n FROM model)", "pair %d is of an unknown model"},
	{"SELECT seq FROM pair WHERE topic <> 0 AND topic NOT IN (SELECT n FROM topic)", "pair %d is of an unknown topic"},
	{"SELECT DISTINCT seq FROM request WHERE seq NOT IN (SELECT seq FROM pair)", "requests of pair %d have lost their pair"},
	{"SELECT n FROM topic WHERE parent <> 0 AND parent NOT IN (SELECT n FROM topic)", "topic %d has lost its parent"},
}

// Check reads the whole database: every page, every sum, every reference. It
// takes seconds for a large one, and changes nothing. Damage is in the report,
// not in the error.
func (s *SQLite) Check(ctx context.Context) (CheckReport, error) {
	var report CheckReport
	err := s.read(ctx, func(t *tx) (err error) {
		if report.Problems, err = checkPages(ctx, t.conn, "integrity_check"); err != nil {
			return err
		}
		if len(report.Problems) > 0 {
			report.Damaged = true
			return nil
		}
		for _, q := range contradictions {
			found, err := list[int64](t, fmt.Sprintf("%s LIMIT %d", q.query, maxProblems))
			if err != nil {
				return err
			}
			for _, n := range found {
				report.Problems = append(report.Problems, fmt.Sprintf(q.text, n))
			}
		}
		err = t.each(`SELECT (SELECT count(*) FROM pair WHERE cut IS NULL), (SELECT count(*) FROM pair WHERE cut IS NOT NULL),
			(SELECT count(*) FROM session), (SELECT count(*) FROM topic)`, nil, func(scan scanner) error {
			return scan(&report.Pairs, &report.Cut, &report.Sessions, &report.Topics)
		})
		return errors.Join(err, t.checkTexts(&report), t.checkRequests(&report))
	})
	var damage *DamageError
	if errors.As(err, &damage) {
		report.Damaged = true
		report.Problems = append(report.Problems, damage.Err.Error())
		return report, nil
	}
	if report.Damaged {
		_ = s.foundDamage(errors.New(report.Problems[0])) // marked for the next Open; the report tells the caller
	}
	return report, err
}

// checkTexts compares each text with its sum.
func (t *tx) checkTexts(report *CheckReport) error {
	for from := int64(0); ; {
		seqs, err := list[int64](t, "SELECT seq FROM pair WHERE seq > ? ORDER BY seq LIMIT ?", from, loadAtOnce)
		if err != nil || len(seqs) == 0 {
			return err
		}
		err = t.pairs(seqs, nil, func(p assistant.Pair, damaged bool) error {
			if damaged {
				report.Problems = append(report.Problems, fmt.Sprintf("the texts of pair %d are not those that were written", p.Seq))
			}
			return nil
		})
		if err != nil {
			return err
		}
		from = seqs[len(seqs)-1]
	}
}

// checkRequests unpacks each request and compares it with its sums. All are
// counted, and the first few named.
func (t *tx) checkRequests(report *CheckReport) error {
	return t.each("SELECT seq, response, attempt, size, packed, body FROM request ORDER BY n", nil, func(scan scanner) error {
		var seq int64
		var response, attempt, size, packed int
		var body []byte
		if err := scan(&seq, &response, &attempt, &size, &packed, &body); err != nil {
			return err
		}
		report.Requests++
		if _, err := inflate(body, size); err == nil && packed == len(body) {
			return nil
		}
		if report.DamagedRequests++; report.DamagedRequests <= maxProblems {
			report.Problems = append(report.Problems, requestName(attempt, response, seq)+" is not the one that was sent")
		}
		return nil
	})
}
