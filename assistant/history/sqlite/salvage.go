package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sqlitelib "modernc.org/sqlite/lib"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlstore"
	"winnow/checkpoint/privatefile"
)

// Suffixes of the files that a salvage uses, in the folder of the database.
const (
	salvageCopy = ".salvage" // a copy to read from, because SQLite may write to a database that it reads
	salvageNew  = ".new"     // the new database
)

// salvagePlan returns the path of the plan: a file with the Salvage, written once the new database is complete.
func (s *store) salvagePlan() string { return filepath.Join(s.runDir, "salvage.json") }

// salvage copies the rows that can be read to a new database, renames the damaged database and puts the new one in its
// place. If the process is killed before the plan is written, the next Open starts the salvage again; if it is killed
// later, the next Open completes the salvage.
func (s *store) salvage(ctx context.Context, damage error) error {
	report := history.Salvage{Reason: damage.Error(), SetAside: s.freeName()}
	removeDatabase(s.path + salvageCopy)
	s.step("salvage")
	err := s.build(ctx, func(w *writer) error { return s.copyReadable(ctx, w, &report) })
	if err == nil {
		s.step("write the plan")
		err = privatefile.Replace(s.salvagePlan(), fileMode, func(w io.Writer) error { return json.NewEncoder(w).Encode(report) })
	}
	if err != nil {
		s.unread = true
		removeDatabase(s.path + salvageNew)
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

// finishSalvage completes a salvage that has a plan: it renames the damaged files and gives the new database their
// names.
func (s *store) finishSalvage() error {
	var report history.Salvage
	raw, err := os.ReadFile(s.salvagePlan())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("history: %w", err)
	case json.Unmarshal(raw, &report) != nil:
		return nil //nolint:nilerr // the process was killed while writing the plan, so the salvage starts again
	}
	report.SetAside = filepath.Join(filepath.Dir(s.path), filepath.Base(report.SetAside)) // the folder may have been moved since the plan was written
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
	for _, path := range []string{filepath.Join(s.runDir, damagedMark), s.salvagePlan()} {
		s.step("remove " + filepath.Base(path))
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("history: %w", err)
		}
	}
	s.report.Salvage = &report
	s.options.Log.Error("history: the damaged database was renamed", "salvaged", report.Salvaged, "lost", report.Lost, "file", report.SetAside)
	return nil
}

// copyReadable copies the readable rows from a copy of the damaged file. It skips only damaged rows. It stops at any
// other error, such as a full disk, because then it cannot know which rows the file contains.
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
	report.Lost = history.UnknownLost
	c, err := db.Conn(ctx)
	if err != nil {
		report.Foreign = code(err) == sqlitelib.SQLITE_NOTADB
		if damaged(err) {
			return nil
		}
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil { // one transaction locks the file once, not for each row
		return err
	}
	return w.inTx(ctx, func(t *sqlstore.Tx) {
		r := salvager{s: s, from: sqlstore.NewTx(ctx, newWriter(c).conn), to: s.NewChange(t), report: report, saved: map[int64]bool{}}
		r.read(func() { r.from.Number("SELECT max(seq) FROM pair") })
		if report.Foreign {
			return
		}
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

// salvager copies readable rows from one database to another. Damage ends only the current read; any other error ends
// the salvage.
type salvager struct {
	s      *store
	from   *sqlstore.Tx
	to     *sqlstore.Change
	report *history.Salvage
	saved  map[int64]bool // pairs already saved, by Seq
}

// read runs f, which reads the damaged file, and reports whether everything was readable.
func (r *salvager) read(f func()) bool {
	err := r.from.Try(f)
	if err == nil || r.to.Err() != nil {
		return r.to.Err() == nil
	}
	missing := code(err) == codeError && strings.Contains(err.Error(), "no such ") // the name of a table or column is damaged
	if code(err) == sqlitelib.SQLITE_NOTADB || missing && strings.Contains(err.Error(), "no such table: pair") {
		r.report.Foreign = true
	}
	if !missing && !damaged(err) {
		r.to.Fail(err)
	}
	return false
}

// copyTable copies the rows of a small table, up to the first unreadable one. It copies only the columns whose names are
// undamaged.
func (r *salvager) copyTable(table string) {
	const query = "SELECT name FROM pragma_table_info(?)"
	var readable []string
	r.read(func() { readable = sqlstore.List[string](r.from, query, table) })
	columns := slices.DeleteFunc(sqlstore.List[string](r.to.Tx, query, table), func(name string) bool { return !slices.Contains(readable, name) })
	if len(columns) == 0 {
		return
	}
	names := strings.Join(columns, ", ")
	insert := fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (?%s)", table, names, strings.Repeat(",?", len(columns)-1))
	r.read(func() {
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

// insert runs an insertion and reports whether the row was inserted. A row that violates a constraint is skipped; any
// other error ends the salvage.
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

// maxUnreadable is the maximum number of consecutive Seqs that are tried if SQLite cannot determine the next Seq. It is
// greater than the number of rows that one damaged page can hide.
const maxUnreadable = 100_000

// copyPairs copies the readable pairs. It counts the lost pairs if an index still lists all pairs.
func (r *salvager) copyPairs() {
	unreadable := 0
	for seq := int64(1); unreadable < maxUnreadable && r.to.Err() == nil && r.from.Ctx.Err() == nil; seq++ {
		next, known := r.next(seq)
		switch {
		case known && next == 0:
			unreadable = maxUnreadable // there are no more pairs
			continue
		case known:
			seq, unreadable = next, 0
		default:
			unreadable++
			if next != seq {
				continue // what exists of seq is unreadable
			}
		}
		r.copyPair(seq)
	}
	r.report.Salvaged = len(r.saved)
	for _, index := range []string{"pair_session", "sqlite_autoindex_pair_1"} { // each of these indexes lists the seqs of all pairs
		var listed []int64
		if r.read(func() { listed = sqlstore.List[int64](r.from, "SELECT seq FROM pair INDEXED BY "+index) }) {
			r.report.Lost = len(slices.DeleteFunc(listed, func(seq int64) bool { return r.saved[seq] }))
			break
		}
	}
	var cuts map[int64]string
	r.read(func() {
		cuts = sqlstore.Keyed[int64, string](r.from, "SELECT seq, cut FROM pair WHERE cut IS NOT NULL")
	})
	for seq, cut := range cuts {
		r.to.Run("UPDATE pair SET cut = ? WHERE seq = ?", cut, seq)
	}
}

// next returns the first Seq, starting with from, that has a row or texts, or 0 if there is none. known is false if
// SQLite cannot determine that Seq.
func (r *salvager) next(from int64) (seq int64, known bool) {
	known = true
	for _, table := range []string{"pair", "body"} {
		known = r.read(func() {
			n, _ := r.from.Number("SELECT coalesce(min(seq), 0) FROM "+table+" WHERE seq >= ?", from)
			if n > 0 && (seq == 0 || n < seq) {
				seq = n
			}
		}) && known
	}
	return seq, known
}

// copyPair copies a pair, or only its texts if its row cannot be read.
func (r *salvager) copyPair(seq int64) {
	var p *assistant.Pair
	altered := false
	if !r.read(func() {
		r.s.Pairs(r.from, []int64{seq}, func(read assistant.Pair, damaged bool) { p, altered = &read, damaged })
	}) || p == nil {
		p, altered = r.texts(seq), true
	}
	if p == nil || r.to.Err() != nil {
		return
	}
	p.Interrupt()
	p.Star = min(max(p.Star, 0), history.MaxStar)
	if history.CheckPair(p) != nil {
		return
	}
	if !r.insert(func() { r.to.Put(p, false) }) { // another pair has the same id
		p.Seq, p.ID, altered = seq, "", true
		r.to.Put(p, false)
	}
	if altered {
		r.report.Altered++
	}
	r.saved[p.Seq] = true
}

// texts returns a pair that has a new id and the texts of the pair whose row is unreadable. It returns nil if the texts
// cannot be read either.
func (r *salvager) texts(seq int64) *assistant.Pair {
	p := assistant.Pair{Session: "salvaged", Flag: true, State: assistant.PairComplete, CreatedAt: time.Unix(0, 0).UTC(), Notice: history.DamagedPair}
	const query = "SELECT seq, user, answer, reasoning, error_code, error_message FROM body WHERE seq = ?"
	readable := r.read(func() {
		r.from.Each(query, []any{seq}, func(scan sqlstore.Scanner) {
			scan(&p.Seq, &p.UserText, &p.AssistantText, &p.Reasoning, &p.ErrorCode, &p.ErrorMessage)
		})
	})
	if !readable || p.Seq == 0 {
		return nil
	}
	if p.ErrorCode != "" {
		p.State = assistant.PairError
	}
	return &p
}
