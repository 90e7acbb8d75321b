package history

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"winnow/assistant"
)

// Salvage tells what became of a damaged database.
type Salvage struct {
	Reason   string // what was found
	SetAside string // where the file now lies, unchanged, with its -wal
	Foreign  bool   // nothing in it looked like winnow's
	Salvaged int    // pairs in the new database
	Lost     int    // pairs known to have been there
	Altered  int    // of the salvaged, those whose text is not the one that was written, or of which only the text is left
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
		return fmt.Errorf("history: salvage %s (%s): %w", s.path, report.Reason, err)
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
		if err = wreck.pairs(c, report); err == nil {
			err = wreck.requests(c)
		}
		report.Foreign = wreck.grafted && report.Salvaged == 0 && report.Lost == 0
		return err
	})
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
	query := "INSERT OR IGNORE INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (?" + string(bytes.Repeat([]byte(",?"), len(columns)-1)) + ")"
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

	sessions, ids map[int64]string // by seq, from the indexes; nil until needed
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
			return h.textOnly(from)
		}
		half := from + (to-from)/2
		if err := h.span(from, half); err != nil {
			return err
		}
		return h.span(half+1, to)
	}
	for _, seq := range seqs {
		if p, ok := found[seq]; ok {
			if err := h.save(&p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *salvageHunt) save(p *assistant.Pair) error {
	endInterrupted(p)
	p.Star = min(max(p.Star, 0), maxStar)
	if checkPair(p) != nil {
		h.lost++
		return nil //nolint:nilerr // counted; the other pairs are still to be saved
	}
	if _, _, err := h.c.put(p); err != nil {
		return err
	}
	h.saved[p.Seq] = true
	return nil
}

// textOnly saves the texts of a pair whose row or tool calls cannot be read,
// under what the indexes still know of it.
func (h *salvageHunt) textOnly(seq int64) error {
	p := assistant.Pair{Seq: seq, Flag: true, State: assistant.PairComplete}
	found := false
	err := h.each("SELECT user, answer, reasoning, error_code, error_message FROM body WHERE seq = ?", []any{seq}, func(scan scanner) error {
		found = true
		return scan(&p.UserText, &p.AssistantText, &p.Reasoning, &p.ErrorCode, &p.ErrorMessage)
	})
	if err != nil || !found {
		h.lost++
		return h.ctx.Err()
	}
	if h.sessions == nil {
		h.sessions = h.remembered("SELECT p.seq, s.id FROM pair p INDEXED BY pair_session JOIN session s ON s.n = p.session")
		h.ids = h.remembered("SELECT seq, id FROM pair INDEXED BY sqlite_autoindex_pair_1")
		if err := h.ctx.Err(); err != nil {
			return err // ended by the caller, not by damage
		}
	}
	p.Session, p.ID, p.CreatedAt = h.sessions[seq], h.ids[seq], timeOf(h.ids[seq])
	if p.ErrorCode != "" {
		p.State = assistant.PairError
	}
	h.altered(seq)
	return h.save(&p)
}

// remembered reads what an index still knows.
func (h *salvageHunt) remembered(query string) map[int64]string {
	known := map[int64]string{}
	// An error ends it early: what was read until then is what is known.
	_ = h.each(query, nil, func(scan scanner) error {
		var seq int64
		var text string
		err := scan(&seq, &text)
		if err == nil {
			known[seq] = text
		}
		return err
	})
	return known
}

// timeOf is the moment that an id of assistant.NewID names; of another text
// the zero time.
func timeOf(id string) time.Time {
	b, err := idEncoding.DecodeString(strings.ToUpper(id))
	if err != nil || len(b) != 16 {
		return time.Time{}
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b) >> 16)).UTC()
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
