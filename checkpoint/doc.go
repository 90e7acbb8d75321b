// Package checkpoint keeps every version of a window's state on disk, so that
// rules and conversation can go back to any earlier point and survive a crash.
//
// # State
//
// A state is one JSON document; the package knows nothing of what is in it.
// It is compared and returned in canonical form (see Canonical): keys sorted,
// numbers as they were written.
//
// # Delta
//
// Diff says how one document became another: what was added, removed and
// modified, by path. Apply leads forth, Invert and Apply back, exactly; a
// document that does not fit is an error, never a wrong document.
//
// # Checkpoint
//
// A point to go back to: the moment before a step. The step is the start of a
// session, a turn of the assistant that called a write tool, or an edit that
// the user made by hand. Seq orders them, never the clock.
//
// # Journal
//
// An append-only file of checksummed records. Start, Add, Record, Edit and
// Saved each write one and return when it is durable; each tenth checkpoint
// holds the full state and the others a delta. Open cuts off what a crash left
// unfinished, sets a damaged file aside and salvages what is readable, and
// rewrites a file that has grown large; Report and LastRun tell what was found.
// One process writes at a time; others get a *LockedError or open ReadOnly.
//
// # Rollback
//
// Two stores take part, the journal and the database of pairs. BeginRollback
// writes the Intent; the caller sets the window to Intent.State and marks the
// cut pairs with Intent.ID; Finish records that it is done, or Abandon that it
// was refused. An intent found by Pending after Open is carried out again from
// the start: both steps are the same when done twice. The last rollback can be
// undone, by BeginUndoRollback and Finish, until the next Add or Forget.
//
// # Who may call what
//
// All methods of a Journal may be called from any goroutine. Current, Clean,
// SavedState, List, UndoStep, CanUndoRollback, LastRun, Report and Path answer
// from memory and never wait for the disk. All others do I/O and do not belong
// into the update loop of a user interface.
//
// # Caveats
//
//   - States and tool arguments are stored as they are given: keep secrets out.
//   - Descriptions hold tool arguments; sanitise them before a terminal.
//   - A message that leads to no Add must call Forget, or an old rollback could
//     still be undone after it.
//   - Open changes the permissions of the journal's folder to 0700: give it a
//     folder of its own.
//   - Where the system has no lock that ends with its process (Solaris, AIX,
//     WebAssembly), only one process may use a journal.
//   - When a large journal is compacted, the 20 newest sessions keep their
//     checkpoints.
//
// It implements section 6 of the specification, "Checkpoints".
package checkpoint
