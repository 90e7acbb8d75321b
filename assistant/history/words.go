package history

import (
	"strings"
	"unicode/utf8"
)

const (
	// needleRunes is the length from which the full-text index can find a
	// needle: it is made of runs of three letters.
	needleRunes = 3
	// indexPairs and indexBytes bound one turn of background indexing to some
	// 5 ms, so that a commit never waits long behind it. A pair is never divided.
	indexPairs = 32
	indexBytes = 4 << 10
	// foldEvery is after how many transactions the writer folds the log into
	// the database, in an idle moment.
	foldEvery = 200
)

// doubtful are the runes that the index does not tell from each other.
const doubtful = "\x00\ufffd\ufffe\uffff"

// fold brings a text into the form that the index holds: as the filter language
// compares, in lower case, and without the zero byte that would end it.
func fold(text string) string {
	return strings.ReplaceAll(strings.ToLower(text), "\x00", "\ufffd")
}

// indexable tells whether the index finds exactly the pairs that hold the
// folded needle.
func indexable(needle string) bool {
	return utf8.RuneCountInString(needle) >= needleRunes && !strings.ContainsAny(needle, doubtful)
}

// phrase is a needle as the index is asked for it.
func phrase(needle string) string { return `"` + strings.ReplaceAll(needle, `"`, `""`) + `"` }

// idle indexes a few pairs and folds the log; it tells whether more is left.
// What fails here is tried again after the next commit, and harms nobody:
// pairs that are not indexed are read.
func (s *Store) idle() bool {
	more := false
	if s.options.noIndex {
		return s.foldLog()
	}
	err := s.writer.unhurried(func(t *tx) error {
		queue, err := s.unindexed(t)
		more = len(queue) > 0
		for _, seq := range queue {
			if err == nil {
				err = t.exec("DELETE FROM words WHERE rowid = ?", seq.seq)
			}
			if err == nil {
				err = t.exec("INSERT INTO words (rowid, user, answer) VALUES (?, ?, ?)", seq.seq, fold(seq.user), fold(seq.answer))
			}
			if err == nil {
				err = t.exec("DELETE FROM unindexed WHERE seq = ?", seq.seq)
			}
		}
		return err
	})
	if err != nil {
		s.options.Log.Warn("history full-text index", "err", s.seen(err))
		return false
	}
	return more || s.foldLog()
}

// waiting is a pair that the index lacks.
type waiting struct {
	seq          int64
	user, answer string
}

// unindexed takes the newest pairs that wait for the index.
func (s *Store) unindexed(t *tx) ([]waiting, error) {
	rows, err := t.query(`SELECT u.seq, coalesce(b.user, ''), coalesce(b.answer, '')
		FROM unindexed u LEFT JOIN body b USING (seq) ORDER BY u.seq DESC LIMIT ?`, indexPairs)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var queue []waiting
	for bytes := 0; bytes < indexBytes && rows.Next(); {
		var w waiting
		if err := rows.Scan(&w.seq, &w.user, &w.answer); err != nil {
			return nil, err
		}
		bytes += len(w.user) + len(w.answer)
		queue = append(queue, w)
	}
	return queue, rows.Err()
}

// foldLog copies the log into the database now and then, so that no commit has
// to do it. It waits for nobody; what readers hold is left for the next time.
func (s *Store) foldLog() bool {
	if s.writer.unfolded < foldEvery {
		return false
	}
	s.writer.unfolded = 0
	asLeft := s.markFits()
	// Not under s.ctx: an interrupt that comes late would stay with the
	// connection and keep Close from folding the rest.
	if _, err := s.writer.conn.ExecContext(s.writer.ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		s.options.Log.Warn("history log", "err", s.seen(err))
	} else if asLeft { // and by nobody else since: after a crash the file needs no check
		s.noteMark()
	}
	return false
}
