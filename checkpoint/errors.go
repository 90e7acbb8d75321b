package checkpoint

import (
	"errors"
	"fmt"
)

// Errors of the calls on a Journal.
var (
	// ErrReadOnly is returned by what would write to a journal opened ReadOnly.
	ErrReadOnly = errors.New("checkpoint: journal is open for reading only")
	// ErrClosed is returned by what would write after Close.
	ErrClosed = errors.New("checkpoint: journal is closed")
	// ErrUnknown is wrapped when no checkpoint has the id.
	ErrUnknown = errors.New("checkpoint: no such checkpoint")
	// ErrPending is returned while a rollback is recorded and not done:
	// Finish or Abandon it first.
	ErrPending = errors.New("checkpoint: a rollback is not finished")
	// ErrNothing is returned by BeginUndoRollback when there is no rollback
	// that could be undone, and by Finish and Abandon of an intent that is not
	// the pending one.
	ErrNothing = errors.New("checkpoint: no such rollback")
	// ErrDamaged is wrapped when a state cannot be rebuilt from the records.
	ErrDamaged = errors.New("checkpoint: journal is damaged")
	// ErrMoved is returned when the file of an open journal was moved, deleted
	// or replaced by someone else; nothing was written.
	ErrMoved = errors.New("checkpoint: journal file was moved or replaced while open")
	// ErrUnsafe is wrapped by Open when the file or its folder could be
	// someone else's: a symbolic link, no regular file, a folder that
	// everyone may write to.
	ErrUnsafe = errors.New("checkpoint: not a safe place for a journal")
)

// LockedError is returned by Open while another process has the journal open
// for writing. A process that has ended holds no lock, however it ended.
type LockedError struct {
	PID  int // of the other process; 0 when it is not known
	Path string
}

// Error implements error.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return "another winnow has this window open"
	}
	return fmt.Sprintf("another winnow (process %d) has this window open", e.PID)
}

// VersionError is returned by Open for a journal of a newer format. The file
// is left as it is.
type VersionError struct {
	Path         string
	Found, Known int
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("checkpoint: %s was written by a newer winnow (format %d, this one knows %d); it is left as it is",
		e.Path, e.Found, e.Known)
}

// Report is what Open found and did. The zero value means nothing unusual.
type Report struct {
	// Torn counts the bytes of an unfinished record that were cut off: a
	// write that a crash interrupted before it was acknowledged.
	Torn int64
	// Damaged: whole records were not readable. The counts below are of this.
	Damaged bool
	// Aside is where the damaged file is now, unchanged; "" when ReadOnly.
	Aside string
	// Unreadable counts records that could not be read, Lost the checkpoints
	// whose state could not be rebuilt, and Kept those that are whole.
	Unreadable, Lost, Kept int
	// StateLost: the newest rules could not be rebuilt; Current is older.
	StateLost bool
	// Compacted is by how many bytes the file shrank.
	Compacted int64
	// Repaired names files and folders whose permissions were too wide.
	Repaired []string
	// Failed is why the file could not be compacted, which does no harm.
	Failed error
}

// Notices returns the report as sentences for the user, none when all is well.
func (r Report) Notices() []string {
	var out []string
	if r.Damaged {
		text := fmt.Sprintf("The checkpoint journal was damaged: %d records were not readable; %d checkpoints were kept, %d lost.",
			r.Unreadable, r.Kept, r.Lost)
		if r.StateLost {
			text += " The newest rules in it are lost; older ones were kept."
		}
		if r.Aside != "" {
			text += " The damaged file is kept as " + r.Aside + "."
		}
		out = append(out, text)
	}
	if r.Torn > 0 {
		out = append(out, fmt.Sprintf("An unfinished record of %d bytes was cut off the checkpoint journal.", r.Torn))
	}
	for _, path := range r.Repaired {
		out = append(out, "Others could read "+path+"; its permissions were narrowed.")
	}
	if r.Failed != nil {
		out = append(out, "The checkpoint journal could not be compacted: "+r.Failed.Error())
	}
	return out
}
