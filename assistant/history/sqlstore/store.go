package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
)

// Engine is the database of a Store.
type Engine interface {
	// Read runs f on one snapshot of the database.
	Read(ctx context.Context, f func(*Tx)) error
	// Write runs f in one transaction, which is durable when Write returns nil. Once f has started, Write ignores ctx, so
	// that the caller learns whether the transaction was committed.
	Write(ctx context.Context, f func(*Tx)) error
	// Owner returns the value of pair.owner for a pair that this store is sending.
	Owner() any
	// Author returns the name under which a user's pairs are stored and that the filter term u selects: user or, if user is
	// "", the store's user.
	Author(user string) string
	// PutBody inserts or replaces the texts of a pair.
	PutBody(t *Tx, seq int64, r *history.Row)
	// Deleted is called after rows of the table pair have been deleted.
	Deleted(c *Change, seqs []int64)
	// Changed is called before a change is committed.
	Changed(c *Change)
	// Reader returns the reader with which a Search evaluates filter lines on the snapshot of t.
	Reader(t *Tx) history.PairReader
}

// Dialect contains the SQL that differs between engines.
type Dialect struct {
	Seqs     string // expands its argument, a JSON array of seqs, into a table (seq, at)
	IDs      string // expands its argument, a JSON array of texts, into a table
	NewSeqs  string // the query that reserves the number of seqs given by its argument; "" if inserting a pair assigns its seq
	SeqArray string // the aggregate function for a JSON array
	NewSeq   string // the expression for the seq of a new pair
	LastKey  string // the query that returns the key of the row that was just inserted; "" for INSERT … RETURNING
	UserText string // the expression for the user's text of body b
	Exact    string // the expression for the exact texts of body b, or NULL
	// AuthorNames is a query that returns the names of the authors of pairs.
	AuthorNames string
	// Shared means that users share the database, so rows have authors and versions.
	Shared bool
}

// Options configures a Store.
type Options struct {
	Now    func() time.Time
	Redact func(string) string // removes secrets; may be nil
	// Storable converts text to a form that a column can store; nil means no conversion. The texts of pairs are
	// passed to Engine.PutBody unconverted.
	Storable func(string) string
}

// Store implements history.Store except Check, Close, Report and Path.
type Store struct {
	Engine
	Dialect
	Options
	User string // the author of new pairs in a shared database; otherwise ""

	revision atomic.Int64 // meta.rev as this process last read or wrote it
	versions versions
}

// Redact implements history.Store.
func (s *Store) Redact(text string) string {
	if s.Options.Redact == nil {
		return text
	}
	return s.Options.Redact(text)
}

// text redacts a text and converts it to a storable one.
func (s *Store) text(text string) string {
	text = s.Redact(text)
	if s.Storable != nil {
		text = s.Storable(text)
	}
	return text
}

// Revision implements history.Store.
func (s *Store) Revision() int64 { return s.revision.Load() }

// NoticeRevision records a revision, and reports whether it is newer than the one recorded before.
func (s *Store) NoticeRevision(rev int64) (newer bool) {
	for {
		old := s.revision.Load()
		if rev <= old || s.revision.CompareAndSwap(old, rev) {
			return rev > old
		}
	}
}

// Refresh implements history.Store.
func (s *Store) Refresh(ctx context.Context) (changed bool, err error) {
	var rev int64
	var found bool
	err = s.Read(ctx, func(t *Tx) { rev, found = t.Number("SELECT rev FROM meta") })
	return err == nil && found && s.NoticeRevision(rev), err // another write may have recorded a newer revision in the meantime
}

// exec runs one statement as a transaction.
func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	return s.Write(ctx, func(t *Tx) { t.Run(query, args...) })
}

// own returns the condition that selects this user's rows in a table with separate rows for each user. The condition is
// always true if the database is not shared.
func (s *Store) own() (where string, args []any) {
	if !s.Shared {
		return "TRUE", nil
	}
	return "author = ?", []any{s.User}
}

// insertOwn returns the statement that inserts a row for this user, and its arguments.
func (s *Store) insertOwn(table, columns string, values ...any) (sql string, args []any) {
	if s.Shared {
		columns += ", author"
		values = append(values, s.User)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, columns, strings.Repeat(", ?", len(values)-1)), values
}

// Change is a running transaction that changes pairs, topics or saved filters. It increments meta.rev to Rev.
type Change struct {
	*Tx
	s   *Store
	Rev int64
	now time.Time

	newTopics []string           // paths created by topic, parents first
	numbers   map[numbered]int64 // numbers of rows already looked up, so that an import looks up each row only once
}

// numbered identifies a row that has a number, by its table and its name.
type numbered struct{ table, name string }

// number returns the number of a row. It calls find only once for each row and caches the result for the rest of the
// change, which must not remove the row.
func (c *Change) number(table, name string, find func() int64) int64 {
	key := numbered{table, name}
	n, known := c.numbers[key]
	if !known {
		if n = find(); c.err == nil {
			if c.numbers == nil {
				c.numbers = map[numbered]int64{}
			}
			c.numbers[key] = n
		}
	}
	return n
}

// change runs one transaction that changes what filters can match.
func (s *Store) change(ctx context.Context, f func(*Change)) error {
	var rev int64
	err := s.Write(ctx, func(t *Tx) {
		c := s.NewChange(t)
		rev = c.Rev
		f(c)
		s.Changed(c)
	})
	if err == nil {
		s.NoticeRevision(rev)
	}
	return err
}

// NewChange begins a change in a transaction.
func (s *Store) NewChange(t *Tx) *Change {
	rev, _ := t.Number("UPDATE meta SET rev = rev + 1 RETURNING rev")
	return &Change{Tx: t, s: s, Rev: rev, now: s.Now()}
}

// require fails if one of the pairs is not in the database. Without this check, a change that has no effect would be
// reported as successful.
func (c *Change) require(seqs []int64) {
	there := Keyed[int64, bool](c.Tx, "SELECT p.seq, TRUE FROM "+c.s.Seqs+" j JOIN pair p ON p.seq = j.seq", asArray(seqs))
	for _, seq := range seqs {
		if c.err != nil || there[seq] {
			continue
		}
		var by []string
		if c.s.Shared {
			by = List[string](c.Tx, "SELECT author FROM deleted WHERE seq = ?", seq)
		}
		err := fmt.Errorf("message %d: %w", seq, assistant.ErrNoPair)
		if len(by) > 0 {
			err = fmt.Errorf("%w: %s deleted it", err, by[0])
		}
		c.Fail(err)
	}
}

// asArray encodes seqs as the argument of Dialect.Seqs.
func asArray(seqs []int64) string {
	if len(seqs) == 0 {
		return "[]"
	}
	raw, _ := json.Marshal(seqs) // cannot fail for integers
	return string(raw)
}

// versions contains the versions of the texts that this process has read or written, by seq. It is safe for
// concurrent use.
type versions struct {
	mu    sync.Mutex
	known map[int64]int64
}

// maxVersions limits the memory for versions. A pair whose version has been evicted is replaced without a check.
const maxVersions = 100_000

func (v *versions) set(seq, version int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil || len(v.known) >= maxVersions {
		v.known = map[int64]int64{}
	}
	v.known[seq] = version
}

func (v *versions) get(seq int64) (version int64, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, known = v.known[seq]
	return version, known
}
