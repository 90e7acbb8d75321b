package history

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/assistant"
)

// Salvage tells what became of a damaged database.
type Salvage struct {
	Reason   string // what was found
	SetAside string // where the file now lies, unchanged, with its -wal
	Foreign  bool   // nothing in it looked like winnow's
	Salvaged int    // pairs in the new database
	Lost     int    // pairs known to have been there
	Altered  int    // of the salvaged, those whose text is not the one that was written
}

// Files of a salvage in progress, beside the database.
const (
	salvageCopy = ".salvage"  // a copy to read from: SQLite may write in what it reads
	salvagePart = ".new.part" // the new database, being filled
	salvageDone = ".new"      // the new database, whole
)

// salvage saves what is readable in a new database, sets the damaged one aside
// and puts the new one in its place. The damaged file stays where it is until
// the new one is whole, so that a crash on the way starts it over.
func (s *Store) salvage(ctx context.Context, v verdict) error {
	report := Salvage{Reason: v.err.Error()}
	if err := s.fill(ctx, &report); err != nil {
		return fmt.Errorf("history: salvage %s (%v): %w", s.path, v.err, err)
	}
	aside, err := setAside(s.path, s.now())
	if err != nil {
		return err
	}
	report.SetAside = aside
	if err := s.finishSalvage(); err != nil {
		return err
	}
	for _, mark := range []string{damagedMark, cleanMark} {
		if err := os.Remove(filepath.Join(s.run, mark)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("history: %w", err)
		}
	}
	s.report.Salvage = &report
	s.options.Log.Error("history database set aside", "salvaged", report.Salvaged, "lost", report.Lost, "file", aside)
	return nil
}

// finishSalvage puts a whole new database in the place of one that was set aside.
func (s *Store) finishSalvage() error {
	if size(s.path) >= 0 || size(s.path+salvageDone) < 0 {
		return nil
	}
	if err := os.Rename(s.path+salvageDone, s.path); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return syncFolder(filepath.Dir(s.path))
}

// fill makes the new database.
func (s *Store) fill(ctx context.Context, report *Salvage) error {
	part := s.path + salvagePart
	for _, name := range []string{part, s.path + salvageCopy, s.path + salvageDone} {
		removeDatabase(name)
	}
	if err := createFile(part); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(part, "immediate", "synchronous(FULL)"))
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	w := newWriter(conn)
	if err := migrate(w, 0, nil); err != nil {
		return err
	}
	if err := s.transfer(ctx, w, report); err != nil {
		return err
	}
	if err := errors.Join(w.close(), db.Close(), syncFile(part)); err != nil {
		return err
	}
	return os.Rename(part, s.path+salvageDone)
}

// transfer copies what is readable from a copy of the damaged file.
func (s *Store) transfer(ctx context.Context, w *writer, report *Salvage) error {
	wreck, err := s.openWreck(ctx)
	if err != nil {
		return err
	}
	defer removeDatabase(s.path + salvageCopy)
	if wreck == nil {
		report.Foreign = true
		return nil
	}
	defer wreck.db.Close()
	return w.inTx(func(t *tx) error {
		c, err := s.change(t)
		if err != nil {
			return err
		}
		for _, table := range []string{"session", "topic", "model", "intent", "draft", "sent", "filter_line", "setting", "saved_filter"} {
			if err := wreck.table(c, table); err != nil {
				return err
			}
		}
		return wreck.pairs(c, report)
	})
}

// wreck is the copy of a damaged database.
type wreck struct {
	ctx   context.Context
	db    *sql.DB
	first bool
}

// openWreck copies the damaged file and opens the copy, mending its first page
// if need be. It is nil when nothing of winnow's can be seen in it.
func (s *Store) openWreck(ctx context.Context) (*wreck, error) {
	mend := []func(path string) error{
		pad,
		func(path string) error { return s.transplant(ctx, path, headerSize) },
		func(path string) error { return s.transplant(ctx, path, -1) },
	}
	for _, m := range mend {
		copied := s.path + salvageCopy
		removeDatabase(copied)
		for _, suffix := range []string{"", "-wal"} {
			if err := copyFile(s.path+suffix, copied+suffix); err != nil {
				return nil, err
			}
		}
		if size(copied) <= 0 {
			return nil, nil // only a log is left: it says nothing without its database
		}
		if err := m(copied); err != nil {
			return nil, err
		}
		db, err := sql.Open("sqlite", dsn(copied, "deferred"))
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		var version, n int
		err = db.QueryRowContext(ctx, "SELECT user_version, (SELECT count(*) FROM sqlite_schema WHERE name = 'pair') FROM pragma_user_version").Scan(&version, &n)
		if err == nil && n > 0 {
			return &wreck{ctx, db, version == 1}, nil
		}
		db.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, nil
}

// pad fills a file that was cut short up to the size that its header names:
// without, SQLite would not even read what is left.
func pad(path string) error {
	h, err := readHeader(path)
	if err != nil || size(path) >= h.pages*h.pageSize {
		return nil // not this fault
	}
	return os.Truncate(path, h.pages*h.pageSize)
}

// transplant gives the database at path the first bytes of a healthy empty one,
// n of them or, with -1, the first page: the tables of a database that was made
// by one version of winnow begin at the same pages in each.
func (s *Store) transplant(ctx context.Context, path string, n int) error {
	donor := s.path + salvageCopy + ".donor"
	removeDatabase(donor)
	defer removeDatabase(donor)
	if err := createFile(donor); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(donor, "immediate"))
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	w := newWriter(conn)
	if err := migrate(w, 0, nil); err != nil {
		return err
	}
	if err := errors.Join(w.close(), db.Close()); err != nil {
		return err
	}
	h, err := readHeader(donor)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(donor)
	if err != nil {
		return err
	}
	if n < 0 {
		n = int(h.pageSize)
	}
	pages := (size(path) + h.pageSize - 1) / h.pageSize
	first := bytes.Clone(page[:n])
	for i, b := range []byte{byte(pages >> 24), byte(pages >> 16), byte(pages >> 8), byte(pages)} {
		first[28+i] = b
	}
	clear(first[32:40]) // the list of free pages is the donor's, not this file's
	f, err := os.OpenFile(path, os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(first, 0); err != nil {
		return err
	}
	return f.Truncate(pages * h.pageSize)
}

// table copies the readable rows of a small table.
func (k *wreck) table(c *change, table string) error {
	rows, err := k.db.QueryContext(k.ctx, "SELECT * FROM "+table)
	if err != nil {
		return k.ctx.Err() // unreadable as a whole, or not in this version
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return k.ctx.Err()
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range into {
		into[i] = &values[i]
	}
	query := "INSERT OR IGNORE INTO " + table + " VALUES (?" + string(bytes.Repeat([]byte(",?"), len(columns)-1)) + ")"
	for rows.Next() && rows.Scan(into...) == nil {
		if err := c.exec(query, values...); err != nil && code(err) != 19 { // 19: a row that its own table would refuse
			return err
		}
	}
	return k.ctx.Err()
}

// pairs copies the readable pairs and counts the others.
func (k *wreck) pairs(c *change, report *Salvage) error {
	r := &reader{ctx: k.ctx, tx: k.db, first: k.first, altered: func(int64) { report.Altered++ }}
	nodes, _ := r.topics()
	hunt := salvageHunt{reader: r, c: c, paths: topicPaths(nodes), saved: map[int64]bool{}}
	last := int64(0)
	for _, query := range []string{"SELECT seq FROM sqlite_sequence WHERE name = 'pair'", "SELECT max(seq) FROM pair", "SELECT max(seq) FROM body"} {
		if n, err := r.number(query); err == nil {
			last = max(last, n)
		}
	}
	for from := int64(1); from <= last; from += loadAtOnce {
		if err := hunt.span(from, min(from+loadAtOnce-1, last)); err != nil {
			return err
		}
	}
	report.Salvaged = len(hunt.saved)
	report.Lost = hunt.lost
	if known, err := k.known(); err == nil {
		report.Lost = 0
		for _, seq := range known {
			if !hunt.saved[seq] {
				report.Lost++
			}
		}
	}
	return k.cuts(c)
}

// known lists the pairs that an index knows of.
func (k *wreck) known() ([]int64, error) {
	var errs []error
	for _, index := range []string{"pair_session", "pair_rev", "sqlite_autoindex_pair_1"} {
		var seqs []int64
		r := &reader{ctx: k.ctx, tx: k.db}
		err := r.each("SELECT seq FROM pair INDEXED BY "+index, nil, func(scan scanner) error {
			var seq int64
			err := scan(&seq)
			seqs = append(seqs, seq)
			return err
		})
		if err == nil {
			return seqs, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// cuts carries over which pairs were rolled back.
func (k *wreck) cuts(c *change) error {
	rows, err := k.db.QueryContext(k.ctx, "SELECT seq, cut FROM pair WHERE cut IS NOT NULL")
	if err != nil {
		return k.ctx.Err()
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var cut string
		if rows.Scan(&seq, &cut) != nil {
			break
		}
		if err := c.exec("UPDATE pair SET cut = ? WHERE seq = ?", cut, seq); err != nil {
			return err
		}
	}
	return k.ctx.Err()
}

// salvageHunt reads pairs by ever smaller spans until the unreadable stand alone.
type salvageHunt struct {
	*reader
	c     *change
	paths map[int64]string
	saved map[int64]bool
	lost  int
}

func (h *salvageHunt) span(from, to int64) error {
	seqs := make([]int64, 0, to-from+1)
	for seq := from; seq <= to; seq++ {
		seqs = append(seqs, seq)
	}
	found := map[int64]assistant.Pair{}
	if err := h.reader.pairs(seqs, h.paths, found); err != nil {
		if h.ctx.Err() != nil {
			return h.ctx.Err()
		}
		if from == to {
			h.lost++
			return nil
		}
		half := from + (to-from)/2
		if err := h.span(from, half); err != nil {
			return err
		}
		return h.span(half+1, to)
	}
	for _, seq := range seqs {
		p, ok := found[seq]
		if !ok {
			continue
		}
		endInterrupted(&p)
		p.Star = min(max(p.Star, 0), maxStar)
		if checkPair(&p) != nil {
			h.lost++
			continue
		}
		if _, _, err := h.c.put(&p); err != nil {
			return err
		}
		h.saved[seq] = true
	}
	return nil
}

// removeDatabase removes a file of ours and its companions.
func removeDatabase(path string) {
	for _, suffix := range append(suffixes, "-journal") {
		os.Remove(path + suffix)
	}
}

// copyFile copies a file that may not exist.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
