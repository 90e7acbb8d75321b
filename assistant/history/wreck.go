package history

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// wreck is the copy of a damaged database.
type wreck struct {
	ctx   context.Context
	db    *sql.DB
	first bool
	// grafted says that even the tables are a guess: what has none of our pairs
	// then is not ours.
	grafted bool
}

// openWreck copies the damaged file and opens the copy, mending its first page
// if need be. It is nil when nothing of winnow's can be seen in it.
func (s *Store) openWreck(ctx context.Context) (*wreck, error) {
	mend := []func(path string) error{
		pad,
		func(path string) error { return s.transplant(ctx, path, false) },
		func(path string) error { return s.transplant(ctx, path, true) },
	}
	for i, m := range mend {
		grafted := i == len(mend)-1
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
			return &wreck{ctx, db, version == 1, grafted}, nil
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
	h, damage, err := readHeader(path)
	if err != nil || damage != nil || size(path) >= h.pages*h.pageSize {
		return err // a damaged header is given another
	}
	return os.Truncate(path, h.pages*h.pageSize)
}

// transplant gives the database at path the header of a healthy empty one or,
// with schema, all pages that say which tables there are: the tables of a
// database that was made by one version of winnow begin at the same pages in each.
func (s *Store) transplant(ctx context.Context, path string, schema bool) error {
	donor, err := s.donor(ctx)
	if err != nil {
		return err
	}
	pages := max((size(path)+donorPage-1)/donorPage, int64(len(donor)/donorPage))
	binary.BigEndian.PutUint32(donor[28:], uint32(pages))
	clear(donor[32:40]) // the list of free pages is the donor's, not this file's
	f, err := os.OpenFile(path, os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(pages * donorPage); err != nil {
		return err
	}
	if !schema {
		_, err := f.WriteAt(donor[:headerSize], 0)
		return err
	}
	for _, n := range schemaPages(donor) {
		at := (n - 1) * donorPage
		if _, err := f.WriteAt(donor[at:at+donorPage], at); err != nil {
			return err
		}
	}
	return nil
}

// donorPage is SQLite's usual size of a page, which winnow never changes.
const donorPage = 4096

// donor is the content of an empty database.
func (s *Store) donor(ctx context.Context) ([]byte, error) {
	path := s.path + salvageCopy + ".donor"
	removeDatabase(path)
	defer removeDatabase(path)
	if err := createFile(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn(path, "immediate", fmt.Sprintf("page_size(%d)", donorPage)))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := newWriter(conn)
	if err := errors.Join(migrate(w, 0, nil), w.close(), db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Where a page of a b-tree keeps what schemaPages needs, from the page's own
// header on. See https://www.sqlite.org/fileformat2.html#b_tree_pages.
const (
	interiorTable = 5 // the kind of a page that only points to others
	cellCount     = 3
	rightmost     = 8
	cellPointers  = 12
)

// schemaPages lists the pages of the table of tables of a healthy database,
// which is two levels deep at most.
func schemaPages(db []byte) []int64 {
	pages := []int64{1}
	root := db[headerSize:]
	if root[0] != interiorTable {
		return pages
	}
	for i := range int(binary.BigEndian.Uint16(root[cellCount:])) {
		cell := binary.BigEndian.Uint16(root[cellPointers+2*i:])
		pages = append(pages, int64(binary.BigEndian.Uint32(db[cell:])))
	}
	return append(pages, int64(binary.BigEndian.Uint32(root[rightmost:])))
}
