package history

import (
	"errors"
	"fmt"
)

var (
	// ErrNoSession is wrapped by errors about a session that does not exist.
	ErrNoSession = errors.New("no such session")
	// ErrClosed is returned by the methods of a closed store that use the database.
	ErrClosed = errors.New("history: the store is closed")
	// ErrChanged is wrapped by the error returned when a pair is not replaced because another program has replaced it
	// since it was loaded.
	ErrChanged = errors.New("another program changed it in the meantime")
	// ErrPicture is wrapped by errors about a missing or damaged picture.
	ErrPicture = errors.New("history: the picture is missing or damaged")
	// ErrTopic is wrapped by errors about invalid changes to the tree of topics.
	ErrTopic = errors.New("history: cannot change the topics")
)

// NewerSchemaError means that a newer winnow wrote the database, which was not changed.
type NewerSchemaError struct {
	Path             string
	Found, Supported int
}

// Error implements error.
func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("history: %s was written by a newer winnow (schema version %d; this one reads up to %d)", e.Path, e.Found, e.Supported)
}

// OlderSchemaError means that the database was written by an older winnow whose schema is no longer supported. The
// database was not changed.
type OlderSchemaError struct {
	Path             string
	Found, Supported int
}

// Error implements error.
func (e *OlderSchemaError) Error() string {
	return fmt.Sprintf("history: %s was written by an older winnow (schema version %d; this one reads %d and newer): "+
		"export it with that version (winnow history export), then import the file into a new history", e.Path, e.Found, e.Supported)
}

// FileError means that the store refuses to use a file or folder.
type FileError struct{ Path, Reason string }

// Error implements error.
func (e *FileError) Error() string { return "history: " + e.Path + ": " + e.Reason }

// DamageError means that the database file is damaged. Closing and reopening the store renames the file and salvages
// what is readable.
type DamageError struct {
	Path string
	Err  error // the damage
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("history: %s is damaged (%v); the next start renames it and salvages what is readable", e.Path, e.Err)
}

// Unwrap returns the damage.
func (e *DamageError) Unwrap() error { return e.Err }

// StorageError means that the database could not be read, written or opened, for example because the disk is full.
// Nothing was changed, unless the connection to the server was lost during a commit: then the outcome is unknown.
type StorageError struct {
	Op     string // "read", "write" or "open"
	Path   string
	Reason string // such as "the disk is full"
	Err    error
}

// Error implements error.
func (e *StorageError) Error() string {
	return fmt.Sprintf("history: cannot %s %s: %s", e.Op, e.Path, e.Reason)
}

// Unwrap returns the error of the database or of the system, or nil.
func (e *StorageError) Unwrap() error { return e.Err }
