package history

import (
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
)

const (
	headerSize = 100 // bytes of a database's header
	// checkNow is the size up to which a database in doubt is checked whole
	// before it is used: some 50 ms. A larger one is checked behind the user's back.
	checkNow = 16 << 20

	cleanMark   = "clean"   // in the run folder: size and time of the database as its last close or fold left it
	damagedMark = "damaged" // in the run folder: what was found while the database was in use
)

// magic begins every SQLite database.
const magic = "SQLite format 3\x00"

// header is what the first bytes of a database say. See https://www.sqlite.org/fileformat2.html#the_database_header.
type header struct {
	pageSize      int64
	pages         int64 // 0: not to be trusted
	version       int
	applicationID uint32
}

// readHeader reads the header of a closed database. damage is what is wrong with
// it; err is why the file cannot be read, which says nothing of what it holds.
func readHeader(path string) (h header, damage, err error) {
	f, err := os.Open(path)
	if err != nil {
		return header{}, nil, fmt.Errorf("history: %w", err)
	}
	defer f.Close()
	var b [headerSize]byte
	switch _, err := io.ReadFull(f, b[:]); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return header{}, errors.New("the file is shorter than a header"), nil
	case err != nil:
		return header{}, nil, fmt.Errorf("history: %w", err)
	case string(b[:len(magic)]) != magic:
		return header{}, errors.New("the file is not a SQLite database"), nil
	}
	h = header{
		pageSize:      int64(binary.BigEndian.Uint16(b[16:])),
		version:       int(binary.BigEndian.Uint32(b[60:])),
		applicationID: binary.BigEndian.Uint32(b[68:]),
	}
	if h.pageSize == 1 { // that is how 65,536 is written
		h.pageSize = 1 << 16
	}
	if h.pageSize < 512 || h.pageSize&(h.pageSize-1) != 0 {
		return header{}, fmt.Errorf("the header names a page size of %d", h.pageSize), nil
	}
	if binary.BigEndian.Uint32(b[24:]) == binary.BigEndian.Uint32(b[92:]) {
		h.pages = int64(binary.BigEndian.Uint32(b[28:]))
	}
	return h, nil, nil
}

// verdict is what an inspection found.
type verdict struct {
	err    error // the damage; nil is none
	unsure bool  // a check of every page, in the background, is due
}

// inspect looks at a database that nobody has open, cheaply when the last
// process closed it in peace, thoroughly otherwise. An error means that the
// database must not be touched at all.
func (s *Store) inspect(ctx context.Context, users census) (verdict, error) {
	if err := s.finishSalvage(); err != nil {
		return verdict{}, err
	}
	if what, err := os.ReadFile(filepath.Join(s.run, damagedMark)); err == nil {
		return verdict{err: errors.New(string(what))}, nil
	}
	log := size(s.path + "-wal")
	bytes := size(s.path)
	switch {
	case bytes <= 0 && log > 0:
		return verdict{err: errors.New("the database is gone, only its -wal file is left")}, nil
	case bytes <= 0:
		return verdict{}, nil
	}
	s.report.LostLog = users.logged && log < 0
	h, damage, err := readHeader(s.path)
	if damage != nil || err != nil {
		return verdict{err: damage}, err
	}
	if h.applicationID == applicationID && h.version > schemaVersion() {
		return verdict{}, &NewerSchemaError{s.path, h.version, schemaVersion()}
	}
	if log <= 0 && h.pages > 0 && bytes < h.pages*h.pageSize {
		return verdict{err: fmt.Errorf("the file is cut short: %d bytes of %d", bytes, h.pages*h.pageSize)}, nil
	}
	asLeft := s.markFits() && h.applicationID == applicationID
	if asLeft && log < 0 && !users.unclean {
		return verdict{}, nil
	}
	v, err := s.probe(ctx, bytes+max(log, 0) <= checkNow)
	if asLeft && log >= 0 {
		// Who died wrote into the log only since the last fold, and each page in
		// it has a sum that SQLite goes by.
		v.unsure = false
	}
	return v, err
}

// probe asks SQLite, which may not write, about a database in doubt.
func (s *Store) probe(ctx context.Context, whole bool) (verdict, error) {
	db, err := sql.Open("sqlite", dsn(s.path, "deferred", "query_only(1)")+"&mode=ro")
	if err != nil {
		return verdict{}, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var version, id int
	var tables string
	err = db.QueryRowContext(ctx, "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), coalesce((SELECT group_concat(name) FROM sqlite_schema), '')").
		Scan(&version, &id, &tables)
	switch {
	case damaged(err):
		return verdict{err: err}, nil
	case err != nil:
		return verdict{}, fmt.Errorf("history: open %s: %w", s.path, err)
	case id == applicationID && version > schemaVersion():
		return verdict{}, &NewerSchemaError{s.path, version, schemaVersion()}
	case id != applicationID && tables != "":
		return verdict{err: errors.New("the file belongs to another program")}, nil
	case !whole:
		return verdict{unsure: true}, nil
	}
	return verdict{err: quickCheck(ctx, db)}, nil
}

// quickCheck reads every page; an error is what contradicts.
func quickCheck(ctx context.Context, db querier) error {
	rows, err := db.QueryContext(ctx, "PRAGMA quick_check(5)")
	if err != nil {
		return err
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			found = append(found, line)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(found) > 0 {
		return errors.New(strings.Join(found, "; "))
	}
	return nil
}

// checkQuietly checks every page while the store is in use, and says whether
// all were found sound.
func (s *Store) checkQuietly() (sound bool) {
	conn, err := s.readers.Conn(s.ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	err = quickCheck(s.ctx, conn)
	if err != nil && s.ctx.Err() == nil {
		_ = s.foundDamage(err) // marked for the next Open, and OnDamage told
	}
	return err == nil
}

// foundDamage leaves a mark for the next Open, tells OnDamage, and returns the
// error in plain words.
func (s *Store) foundDamage(err error) error {
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

// size is the size of a file, -1 when there is none.
func size(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// fingerprint is what the folder tells of the database file.
func (s *Store) fingerprint() string {
	info, err := os.Lstat(s.path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

// markFits tells whether the file is as the last process left it.
func (s *Store) markFits() bool {
	mark, err := os.ReadFile(filepath.Join(s.run, cleanMark))
	return err == nil && string(mark) == s.fingerprint()
}

// leaveMark notes how the file looks after a close. Where another process still
// has it open nothing was folded, and the mark stays what it is. Losing the mark
// costs a check, no more.
func (s *Store) leaveMark() {
	if size(s.path+"-wal") < 0 {
		s.noteMark()
	}
}

// noteMark notes how the file looks now.
func (s *Store) noteMark() {
	if err := os.WriteFile(filepath.Join(s.run, cleanMark), []byte(s.fingerprint()), fileMode); err != nil {
		s.options.Log.Warn("history clean mark", "err", err)
	}
}

// dropMark has the next Open check the file.
func (s *Store) dropMark() {
	if err := os.Remove(filepath.Join(s.run, cleanMark)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.options.Log.Warn("history clean mark", "err", err)
	}
}
