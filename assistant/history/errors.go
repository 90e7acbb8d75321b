package history

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

var (
	// ErrClosed is returned by every method of a store that was closed.
	ErrClosed = errors.New("history: the store is closed")
	// ErrTopic is wrapped by refusals to change the tree of topics.
	ErrTopic = errors.New("history: topic")
)

// NewerSchemaError is a database that a newer winnow wrote. It was not touched.
type NewerSchemaError struct {
	Path             string
	Found, Supported int
}

// Error says what to do about it.
func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("history: %s was written by a newer winnow (version %d of its form; this one reads up to %d): update winnow, or use another --home",
		e.Path, e.Found, e.Supported)
}

// FileError is a file or folder that the store refuses to use.
type FileError struct{ Path, Reason string }

// Error names the file and the reason.
func (e *FileError) Error() string { return "history: " + e.Path + ": " + e.Reason }

// DamageError is a database whose bytes contradict each other. Closing the
// store and opening it again sets the file aside and salvages what is readable.
type DamageError struct {
	Path string
	Err  error // what SQLite found
}

// Error names the file and what was found.
func (e *DamageError) Error() string {
	return fmt.Sprintf("history: %s is damaged (%v): start winnow again to set it aside and salvage what is readable", e.Path, e.Err)
}

// Unwrap returns what SQLite found.
func (e *DamageError) Unwrap() error { return e.Err }

// code is the primary result code of an error of SQLite, 0 for another error.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff // the extended codes have the primary one in the low byte
	}
	return 0
}

// damaged tells whether err means that the file itself is broken.
func damaged(err error) bool {
	c := code(err)
	return c == sqlitelib.SQLITE_CORRUPT || c == sqlitelib.SQLITE_NOTADB
}
