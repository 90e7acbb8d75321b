package checkpoint

import (
	"errors"
	"fmt"

	"winnow/checkpoint/privatefile"
)

// Errors of Open and of the calls on a Journal.
var (
	ErrReadOnly   = errors.New("checkpoint: journal is open for reading only")
	ErrClosed     = errors.New("checkpoint: journal is closed")
	ErrUnknown    = errors.New("checkpoint: no such checkpoint")                            // always wrapped
	ErrPending    = errors.New("checkpoint: a rollback is not finished")                    // call Finish or Abandon first
	ErrNoRollback = errors.New("checkpoint: no such rollback")                              // none to undo, or not the pending one
	ErrDamaged    = errors.New("checkpoint: journal is damaged")                            // always wrapped: a state cannot be rebuilt
	ErrUnsafe     = errors.New("checkpoint: not a safe place for a journal")                // always wrapped: not a regular file, or a folder that everyone may write to
	ErrMoved      = errors.New("checkpoint: journal file was moved or replaced while open") // nothing was written
	// ErrStale refuses a state that was read before another process changed the journal.
	// Nothing was written; the Journal has the newest records now.
	ErrStale = errors.New("checkpoint: another program changed the window in the meantime")
)

// LockedError refuses to write while another process holds the writer lock.
type LockedError = privatefile.HeldError

// UnwritableError refuses to write to a place that this user may only read. It
// wraps ErrReadOnly.
type UnwritableError struct {
	Path string
	Err  error
}

// Error says why nothing can be written.
func (e *UnwritableError) Error() string { return fmt.Sprintf("nothing can be written: %v", e.Err) }

// Unwrap returns ErrReadOnly and the cause.
func (e *UnwritableError) Unwrap() []error { return []error{ErrReadOnly, e.Err} }

// VersionError is returned by Open for a journal of a newer format. The file
// is not changed.
type VersionError struct {
	Path         string
	Found, Known int
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("checkpoint: %s was written by a newer winnow (format %d, this one knows %d); it was not changed",
		e.Path, e.Found, e.Known)
}

// Report is what Open found and did. The zero value means nothing unusual.
type Report struct {
	TornBytes         int64    // length of an unfinished record at the end, which was cut off
	Damaged           bool     // whole records were not readable; see the next five fields
	DamagedCopy       string   // path of a copy of the damaged file; "" when ReadOnly
	UnreadableRecords int      // including records that are missing altogether
	Lost, Kept        int      // checkpoints whose state could not be rebuilt, and the others
	StateLost         bool     // the newest state could not be rebuilt; Current is older
	Narrowed          []string // files and folders whose permissions were too wide and were narrowed
}

func (r *Report) addNarrowed(path string, narrowed bool) {
	if narrowed {
		r.Narrowed = append(r.Narrowed, path)
	}
}

// Notices returns the report as sentences for the user, none when all is well.
func (r Report) Notices() []string {
	var out []string
	if r.Damaged {
		text := fmt.Sprintf("The checkpoint journal was damaged: %d records were not readable; %d checkpoints remain, %d are lost.",
			r.UnreadableRecords, r.Kept, r.Lost)
		if r.StateLost {
			text += " The newest state in it is lost; an older one is in effect."
		}
		if r.DamagedCopy != "" {
			text += " A copy of the damaged file is at " + r.DamagedCopy + "."
		}
		out = append(out, text)
	}
	if r.TornBytes > 0 {
		out = append(out, fmt.Sprintf("An unfinished record of %d bytes was cut off the end of the checkpoint journal.", r.TornBytes))
	}
	for _, path := range r.Narrowed {
		out = append(out, "Other users could read "+path+"; its permissions were narrowed.")
	}
	return out
}
