package checkpoint

import (
	"errors"
	"fmt"

	"winnow/checkpoint/privatefile"
)

// Errors returned by Open and by the methods of a Journal.
var (
	ErrReadOnly   = errors.New("checkpoint: journal is open for reading only")
	ErrClosed     = errors.New("checkpoint: journal is closed")
	ErrUnknown    = errors.New("checkpoint: no such checkpoint")                            // always wrapped
	ErrPending    = errors.New("checkpoint: a rollback is not finished")                    // call Finish or Abandon first
	ErrNoRollback = errors.New("checkpoint: no such rollback")                              // there is no rollback to undo, or the given one is not pending
	ErrDamaged    = errors.New("checkpoint: journal is damaged")                            // a state cannot be rebuilt; always wrapped
	ErrUnsafe     = errors.New("checkpoint: the path is not safe for a journal")            // not a regular file, or anyone can write to the folder; always wrapped
	ErrMoved      = errors.New("checkpoint: journal file was moved or replaced while open") // nothing was written
	// ErrStale means that the state was read before another process changed the journal. Nothing was written; the
	// Journal has now read the newest records.
	ErrStale = errors.New("checkpoint: another program changed the window in the meantime")
)

// LockedError means that another process holds the writer lock.
type LockedError = privatefile.HeldError

// UnwritableError means that this process cannot write to the journal. It wraps ErrReadOnly.
type UnwritableError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *UnwritableError) Error() string {
	return fmt.Sprintf("cannot write to the checkpoint journal: %v", e.Err)
}

// Unwrap returns ErrReadOnly and the cause.
func (e *UnwritableError) Unwrap() []error { return []error{ErrReadOnly, e.Err} }

// VersionError is returned by Open for a journal in a newer format, which is left unchanged.
type VersionError struct {
	Path         string
	Found, Known int
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("checkpoint: %s was written by a newer winnow (format %d; this version supports %d); it was not changed",
		e.Path, e.Found, e.Known)
}

// Report is what Open found and repaired. The zero value means nothing unusual.
type Report struct {
	TornBytes         int64    // length in bytes of the unfinished record that was cut off the end
	Damaged           bool     // complete records were unreadable; the next five fields describe this
	DamagedCopy       string   // path of a copy of the damaged file; "" when ReadOnly
	UnreadableRecords int      // number of unreadable or missing records
	Lost, Kept        int      // number of checkpoints whose state was lost, and number of all others
	StateLost         bool     // the newest state could not be rebuilt; Current is older
	Narrowed          []string // what other users could do until now, such as "read PATH"
}

func (r *Report) addNarrowed(path, could string) {
	if could != "" {
		r.Narrowed = append(r.Narrowed, could+" "+path)
	}
}

// Notices returns the report as sentences for the user, or nil if there is nothing to report.
func (r Report) Notices() []string {
	var out []string
	if r.Damaged {
		text := fmt.Sprintf("The checkpoint journal was damaged. Unreadable records: %d. Checkpoints lost: %d, still there: %d.",
			r.UnreadableRecords, r.Lost, r.Kept)
		if r.StateLost {
			text += " The newest state was lost; an older one is in effect."
		}
		if r.DamagedCopy != "" {
			text += " A copy of the damaged file is at " + r.DamagedCopy + "."
		}
		out = append(out, text)
	}
	if r.TornBytes > 0 {
		out = append(out, fmt.Sprintf("An unfinished record was removed from the end of the checkpoint journal. Bytes removed: %d.", r.TornBytes))
	}
	for _, could := range r.Narrowed {
		out = append(out, "Other users could "+could+"; they no longer can.")
	}
	return out
}
