// Package checkpoint stores every version of a window's state on disk, so that
// rules and conversation can go back to any earlier point and survive a crash.
//
// A state is one JSON document; what is in it does not matter here. It is
// compared, stored and returned in canonical form: as encoding/json writes it,
// with sorted keys, without white space and HTML escapes, numbers exactly as
// they were written (1.0 is not 1).
//
// A delta is the difference between two documents: what was added, removed and
// modified, by path. Apply makes the second of the first, Invert and Apply the
// first of the second, exactly. The sum of each state in the journal shows that a
// chain of deltas led to it.
//
// A checkpoint is a point to go back to: the moment before a step, which is the
// start of a session, a turn of the assistant that called a write tool, or an
// edit made by hand. Seq orders them, never the clock.
//
// A journal is an append-only file of checksummed records. Each tenth checkpoint
// contains the full state, the others a delta. Open cuts off what a crash left
// unfinished, copies a damaged file aside and continues with its readable records, and
// drops the older part of a file that has grown large. One process writes at a
// time; others get a *LockedError or open ReadOnly.
//
// A rollback concerns two stores, the journal and the database of pairs.
// BeginRollback records the Intent; the caller sets the window to Intent.State
// and marks the cut pairs with Intent.ID; Finish records that it is done, or
// Abandon that it was refused. An intent found by Pending after Open is carried
// out again from the start: both steps have the same effect when done twice. The
// last rollback can be undone until the next Add or Forget.
//
// Methods that write do I/O and do not belong into the update loop of a user
// interface.
//
// # Caveats
//
//   - States and tool arguments are stored as they are given: they must not contain secrets.
//   - Descriptions contain tool arguments; sanitise them before a terminal.
//   - For a message without an Add the caller must call Forget, or an old
//     rollback could still be undone after it.
//   - Open changes the permissions of the journal's folder to 0700.
//   - The records are in memory: up to some 8 MiB, then Open compacts the
//     file; the checkpoints of the 20 newest sessions remain.
//   - Where the system has no lock that ends with its process (Solaris, AIX,
//     WebAssembly), only one process may use a journal.
//
// It implements section 6 of the specification, "Checkpoints".
package checkpoint
