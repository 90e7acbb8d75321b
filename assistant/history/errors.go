package history

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is returned by every method of a store that was closed.
	ErrClosed = errors.New("history: the store is closed")
	// ErrChanged is wrapped by a refusal to replace a pair that another program has
	// replaced since it was loaded.
	ErrChanged = errors.New("another program changed it in the meantime")
	// ErrPicture is wrapped when a picture is not stored, or not as it was written.
	ErrPicture = errors.New("history: the picture is missing or damaged")
	// ErrTopic is wrapped by refusals to change the tree of topics.
	ErrTopic = errors.New("history: topic")
)

// NewerSchemaError is returned for a database that a newer winnow wrote. The file
// was not changed.
type NewerSchemaError struct {
	Path             string
	Found, Supported int
}

// Error names both versions.
func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("history: %s was written by a newer winnow (version %d of its schema; this one reads up to %d)", e.Path, e.Found, e.Supported)
}

// OlderSchemaError is returned for a database that a winnow too old to be followed
// wrote. It was not changed.
type OlderSchemaError struct {
	Path             string
	Found, Supported int
}

// Error names both versions and what to do.
func (e *OlderSchemaError) Error() string {
	return fmt.Sprintf("history: %s was written by an older winnow (version %d of its schema; this one reads from %d on): "+
		"export it with that winnow (winnow history export), and import the file into a new history", e.Path, e.Found, e.Supported)
}

// FileError is returned for a file or folder that the store refuses to use.
type FileError struct{ Path, Reason string }

// Error names the file and the reason.
func (e *FileError) Error() string { return "history: " + e.Path + ": " + e.Reason }

// DamageError is returned for a database file that is damaged. Closing the store
// and opening it again renames the file and salvages what is readable.
type DamageError struct {
	Path string
	Err  error // what was found
}

// Error names the file and what was found.
func (e *DamageError) Error() string {
	return fmt.Sprintf("history: %s is damaged (%v); the next start renames it and salvages what is readable", e.Path, e.Err)
}

// Unwrap returns what was found.
func (e *DamageError) Unwrap() error { return e.Err }

// StorageError is returned when a disk or folder failed. Nothing was changed; what
// is stored can still be read as far as the disk allows.
type StorageError struct {
	Op     string // "read", "write" or "open"
	Path   string
	Reason string // "the disk is full"
	Err    error
}

// Error says what could not be done, with which file, and why.
func (e *StorageError) Error() string {
	return fmt.Sprintf("history: cannot %s %s: %s", e.Op, e.Path, e.Reason)
}

// Unwrap returns what SQLite or the system said.
func (e *StorageError) Unwrap() error { return e.Err }
