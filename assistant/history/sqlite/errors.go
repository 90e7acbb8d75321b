package sqlite

import (
	"errors"
	"syscall"

	"winnow/assistant/history"

	modernc "modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// Result codes of SQLite.
const (
	codeError      = sqlitelib.SQLITE_ERROR
	codeConstraint = sqlitelib.SQLITE_CONSTRAINT
)

// code returns the primary result code of an SQLite error, and 0 for any other error.
func code(err error) int {
	var e *modernc.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff // the low byte of an extended code is the primary code
	}
	return 0
}

// fileDamage is damage that SQLite itself does not detect.
type fileDamage string

func (d fileDamage) Error() string { return string(d) }

const (
	errForeign fileDamage = "the file belongs to another program"
	errPages   fileDamage = "the pages of the file are inconsistent"
	errVersion fileDamage = "the version of the schema has changed unexpectedly"
	errHeader  fileDamage = "the header of the file has changed unexpectedly"
	errSchema  fileDamage = "the schema has changed unexpectedly"
	errValue   fileDamage = "the type of a value has changed unexpectedly"
)

// damaged reports whether err means that the database file itself is damaged.
func damaged(err error) bool {
	var found fileDamage
	c := code(err)
	return c == sqlitelib.SQLITE_CORRUPT || c == sqlitelib.SQLITE_NOTADB || errors.As(err, &found)
}

// explain converts an error that means damage to a *history.DamageError, and an error in storageReasons or storageCodes
// to a *history.StorageError. It returns nil and all other errors unchanged.
func (s *store) explain(op string, err error) error {
	var known *history.StorageError
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case damaged(err) || code(err) == codeError && s.schemaAltered():
		return s.reportDamage(err)
	}
	if reason := storageReason(err); reason != "" {
		return &history.StorageError{Op: op, Path: s.path, Reason: reason, Err: err}
	}
	return err
}

// storageReasons maps system errors to explanations.
var storageReasons = []struct {
	err    error
	reason string
}{
	{syscall.ENOSPC, "the disk is full"},
	{syscall.EDQUOT, "the disk is full"},
	{syscall.EROFS, "the disk is read-only"},
	{syscall.EACCES, "permission denied"},
	{syscall.EPERM, "permission denied"},
	{syscall.EMFILE, "too many files are open"},
	{syscall.ENFILE, "too many files are open"},
	{syscall.EIO, "the disk reports an error"},
}

// storageCodes maps SQLite result codes to explanations.
var storageCodes = map[int]string{
	sqlitelib.SQLITE_FULL: "the disk is full", sqlitelib.SQLITE_READONLY: "the file is read-only",
	sqlitelib.SQLITE_CANTOPEN: "the file itself or its -wal or -shm file cannot be opened", sqlitelib.SQLITE_BUSY: "another program holds the lock on the file",
	sqlitelib.SQLITE_IOERR: "the disk reports an error",
}

// storageReason returns the explanation of an error in storageReasons or storageCodes, or "" for any other error.
func storageReason(err error) string {
	for _, known := range storageReasons {
		if errors.Is(err, known.err) {
			return known.reason
		}
	}
	var e *modernc.Error
	if errors.As(err, &e) && (e.Code() == sqlitelib.SQLITE_IOERR_SHMSIZE || e.Code() == sqlitelib.SQLITE_IOERR_WRITE) {
		return "the disk is full or reports an error"
	}
	return storageCodes[code(err)]
}
