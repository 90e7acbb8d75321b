package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
	"winnow/checkpoint/privatefile"
)

// Suffixes of the files of a salvage, in the folder of the database.
const (
	salvageCopy = ".salvage" // a copy to read from: SQLite may write to what it reads
	salvageNew  = ".new"     // the new database
)

// salvagePlan returns the path of a file with the Salvage whose new database is
// complete.
func (s *store) salvagePlan() string { return filepath.Join(s.runDir, "salvage.json") }

// salvage copies the rows that can be read into a new database, renames the
// damaged one and puts the new one in its place. If the process is killed before
// the plan is written, the next Open restarts it; after that, it continues it.
func (s *store) salvage(ctx context.Context, damage error) error {
	report := history.Salvage{Reason: damage.Error(), SetAside: s.freeName()}
	removeDatabase(s.path + salvageNew)
	removeDatabase(s.path + salvageCopy)
	s.step("salvage")
	err := s.fill(ctx, &report)
	if err == nil {
		s.step("write the plan")
		plan, _ := json.Marshal(report) // strings and numbers always encode
		err = errors.Join(os.WriteFile(s.salvagePlan(), plan, fileMode), privatefile.SyncFile(s.salvagePlan()), privatefile.SyncFolder(s.runDir))
	}
	if err != nil {
		return fmt.Errorf("history: salvage %s (%s): %w", s.path, report.Reason, err)
	}
	return s.finishSalvage()
}

// freeName returns an unused name for the damaged file.
func (s *store) freeName() string {
	base := s.path + ".damaged-" + s.options.Now().Format("20060102-150405")
	name := base
	for n := 2; fileSize(name) >= 0; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// finishSalvage does the rest of a salvage that has a plan: it renames the damaged
// files and gives the new database their name.
func (s *store) finishSalvage() error {
	var report history.Salvage
	raw, err := os.ReadFile(s.salvagePlan())
	if err != nil || json.Unmarshal(raw, &report) != nil {
		return nil //nolint:nilerr // there is no salvage, or one to restart
	}
	report.SetAside = filepath.Join(filepath.Dir(s.path), filepath.Base(report.SetAside)) // the folder may have moved
	if fileSize(s.path+salvageNew) >= 0 {
		for _, suffix := range suffixes {
			s.step("set aside " + suffix)
			if err := os.Rename(s.path+suffix, report.SetAside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("history: rename the damaged database: %w", err)
			}
		}
		s.step("put the new database in place")
		if err := errors.Join(os.Rename(s.path+salvageNew, s.path), privatefile.SyncFolder(filepath.Dir(s.path))); err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	for _, path := range []string{filepath.Join(s.runDir, damagedMark), s.statePath(), s.salvagePlan()} {
		s.step("remove " + filepath.Base(path))
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("history: %w", err)
		}
	}
	s.report.Salvage = &report
	s.options.Log.Error("history database set aside", "salvaged", report.Salvaged, "lost", report.Lost, "file", report.SetAside)
	return nil
}

// fill makes the new database.
func (s *store) fill(ctx context.Context, report *history.Salvage) error {
	path := s.path + salvageNew
	if err := createFile(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(path, "synchronous(FULL)"))
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	w := newWriter(c)
	if err := migrate(ctx, w, 0, s.step); err != nil {
		return err
	}
	if err := s.copyReadable(ctx, w, report); err != nil {
		return err
	}
	return errors.Join(w.close(), db.Close(), privatefile.SyncFile(path))
}

// copyReadable copies what is readable from a copy of the damaged file.
func (s *store) copyReadable(ctx context.Context, w *writer, report *history.Salvage) error {
	copied := s.path + salvageCopy
	defer removeDatabase(copied)
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := copyFile(s.path+suffix, copied+suffix); err != nil {
			return err
		}
	}
	db, err := sql.Open("sqlite", dsn(copied, writableSchema))
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		report.Foreign = true
		return ctx.Err()
	}
	defer c.Close()
	from := sqlstore.NewTx(ctx, conn{Conn: c})
	var columns map[string]int
	_ = from.Try(func() { // those that can be read
		columns = sqlstore.Keyed[string, int](from, `SELECT t.name || '.' || c.name, 1 FROM sqlite_schema t
			JOIN pragma_table_info(t.name) c WHERE t.sql LIKE 'CREATE TABLE %'`)
	})
	if columns["pair.seq"] == 0 {
		report.Foreign = true
		return ctx.Err()
	}
	_ = migrate(ctx, newWriter(c), versionOf(columns), s.step) // an error ends it at an older version
	return w.inTx(ctx, func(t *sqlstore.Tx) {
		r := salvager{s: s, from: from, to: s.NewChange(t), report: report, saved: map[int64]bool{}}
		for _, table := range []string{"session", "topic", "model", "intent", "draft", "sent", "filter_line", "setting", "saved_filter"} {
			r.copyTable(table)
		}
		r.copyPairs()
		r.copyTable("request")
		t.Run("DELETE FROM request WHERE seq NOT IN (SELECT seq FROM pair)")
		r.copyTable("picture")
		t.Run("DELETE FROM picture WHERE hash NOT IN (SELECT hash FROM pair_picture)")
		t.Fail(ctx.Err())
	})
}

// versionOf returns the version of a schema from its columns: the number in the
// header may be damaged.
func versionOf(columns map[string]int) int {
	added := []string{2: "unindexed.seq", 3: "request.n", 4: "session.queued", 5: "meta.version", 6: "topic.path", 7: "picture.hash"}
	for version, column := range slices.Backward(added) {
		if columns[column] > 0 {
			return version
		}
	}
	return 1
}

// salvager copies rows that can be read. An error of from ends the read it is in;
// an error of to ends the salvage.
type salvager struct {
	s      *store
	from   *sqlstore.Tx
	to     *sqlstore.Change
	report *history.Salvage
	saved  map[int64]bool // by Seq
	failed int            // pairs that could not be read or saved
}

// copyTable copies the readable rows of a small table, and of them the columns
// whose names are undamaged.
func (r *salvager) copyTable(table string) {
	const query = "SELECT name FROM pragma_table_info(?)"
	var readable []string
	_ = r.from.Try(func() { readable = sqlstore.List[string](r.from, query, table) })
	columns := slices.DeleteFunc(sqlstore.List[string](r.to.Tx, query, table), func(name string) bool { return !slices.Contains(readable, name) })
	if len(columns) == 0 {
		return
	}
	names := strings.Join(columns, ", ")
	insert := fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (?%s)", table, names, strings.Repeat(",?", len(columns)-1))
	_ = r.from.Try(func() { // up to the first row that cannot be read
		r.from.Each("SELECT "+names+" FROM "+table, nil, func(scan sqlstore.Scanner) {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range into {
				into[i] = &values[i]
			}
			if scan(into...); r.from.Err() == nil {
				r.insert(func() { r.to.Run(insert, values...) })
			}
		})
	})
}

// insert runs an insertion, and reports whether the row was inserted: it is not
// when it violates a constraint. Other errors end the salvage.
func (r *salvager) insert(f func()) bool {
	if r.to.Err() != nil {
		return false
	}
	err := r.to.Try(f)
	if err != nil && code(err) != codeConstraint {
		r.to.Fail(err)
	}
	return err == nil
}

// copyPairs copies the readable pairs and counts the others.
func (r *salvager) copyPairs() {
	last := int64(0)
	for _, query := range []string{"SELECT seq FROM sqlite_sequence WHERE name = 'pair'", "SELECT max(seq) FROM pair", "SELECT max(seq) FROM body"} {
		_ = r.from.Try(func() {
			n, _ := r.from.Number(query)
			last = max(last, n)
		})
	}
	for from := int64(1); from <= last; from += sqlstore.LoadAtOnce {
		r.copySpan(from, min(from+sqlstore.LoadAtOnce-1, last))
	}
	r.report.Salvaged, r.report.Lost = len(r.saved), r.failed
	for _, index := range []string{"pair_session", "sqlite_autoindex_pair_1"} { // each has the seqs of all pairs
		var known []int64
		if r.from.Try(func() { known = sqlstore.List[int64](r.from, "SELECT seq FROM pair INDEXED BY "+index) }) == nil {
			r.report.Lost = len(slices.DeleteFunc(known, func(seq int64) bool { return r.saved[seq] }))
			break
		}
	}
	var cuts map[int64]string
	_ = r.from.Try(func() {
		cuts = sqlstore.Keyed[int64, string](r.from, "SELECT seq, cut FROM pair WHERE cut IS NOT NULL")
	})
	for seq, cut := range cuts {
		r.to.Run("UPDATE pair SET cut = ? WHERE seq = ?", cut, seq)
	}
}

// copySpan copies the pairs from the seq first to last. When they cannot be read
// together it halves the span, down to single pairs.
func (r *salvager) copySpan(first, last int64) {
	if r.to.Err() != nil || r.from.Ctx.Err() != nil {
		return
	}
	var seqs []int64
	for seq := first; seq <= last; seq++ {
		seqs = append(seqs, seq)
	}
	var read []assistant.Pair
	var altered []bool
	err := r.from.Try(func() {
		r.s.Pairs(r.from, seqs, func(p assistant.Pair, damaged bool) { read, altered = append(read, p), append(altered, damaged) })
	})
	switch {
	case err != nil && first == last:
		r.saveTexts(first)
	case err != nil:
		half := first + (last-first)/2
		r.copySpan(first, half)
		r.copySpan(half+1, last)
	default:
		for i := range read {
			r.save(&read[i], altered[i])
		}
	}
}

func (r *salvager) save(p *assistant.Pair, altered bool) {
	history.Interrupt(p)
	p.Star = min(max(p.Star, 0), history.MaxStar)
	if history.CheckPair(p) != nil {
		r.failed++
		return
	}
	seq := p.Seq
	if !r.insert(func() { r.to.Put(p, false) }) { // another pair has its id
		p.Seq, p.ID, altered = seq, "", true
		r.to.Put(p, false)
	}
	if altered {
		r.report.Altered++
	}
	r.saved[p.Seq] = true
}

// saveTexts saves the texts of a pair whose row cannot be read, under a new id.
func (r *salvager) saveTexts(seq int64) {
	p := assistant.Pair{Session: "salvaged", Flag: true, State: assistant.PairComplete, CreatedAt: time.Unix(0, 0).UTC(), Notice: history.DamagedPair}
	const query = "SELECT seq, user, answer, reasoning, error_code, error_message FROM body WHERE seq = ?"
	err := r.from.Try(func() {
		r.from.Each(query, []any{seq}, func(scan sqlstore.Scanner) {
			scan(&p.Seq, &p.UserText, &p.AssistantText, &p.Reasoning, &p.ErrorCode, &p.ErrorMessage)
		})
	})
	if err != nil || p.Seq == 0 {
		r.failed++
		return
	}
	if p.ErrorCode != "" {
		p.State = assistant.PairError
	}
	r.save(&p, true)
}
