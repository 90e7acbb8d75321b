// Package checkpoint stores every version of a window's state on disk, so that
// window and conversation can go back to any earlier point and survive a crash.
//
// # Types
//
// A window is what the assistant works on, such as the settings of a lamp.
// A state is a JSON document of any content. It is
// compared, stored and returned in the canonical form of package jsondelta.
//
// A Checkpoint is a point to go back to: the moment before a step, which is the
// start of a session, a turn of the assistant that called a write tool, or an
// edit made by hand. Checkpoints are ordered by Seq, never by time. A turn's checkpoint is
// durable before its first write tool runs; once the tools have run, it is in the list
// only if they changed the state.
//
// A Journal is an append-only file of checksummed records. Every tenth checkpoint
// contains the full state, the others a delta; each record has the checksum of the
// state, which the state rebuilt from deltas must have. Open cuts off a record that a
// crash left unfinished, keeps a copy of a damaged file and continues with its
// readable records, and drops the older part of a file that has grown large.
//
// Several processes may have a Journal open. One of them holds the writer lock: for a
// record, or with Lock for a change or a turn. Lock first reads what the others wrote; if it
// waits too long, it returns a *LockedError with the name of the holder. Reading takes no
// lock. Follow reads what the others wrote without writing.
//
// A Change is what a reader of the log sees: a turn's call of write tools, an edit by hand,
// a save, a rollback or its undo, or a change that another program made to the file, with
// the values that differ. Changes reads them from the memory of a Journal, as far back as
// its records reach: compaction removes those of old sessions.
//
// # Rollback
//
// A rollback changes two stores: the journal, and the database of pairs (a message of
// the user and its answer). BeginRollback records the Intent; the caller sets the
// window to Intent.State and marks the cut pairs with Intent.ID; Finish records that
// it is done, or Abandon that it was refused. An intent found by Pending after Open is
// carried out again from the start: both steps are idempotent. The last rollback can
// be undone until the next Add or ForgetRollback.
//
// # Concurrency
//
// Methods may be called from any goroutine. Those that write wait for the disk: do
// not call them in the update loop of a user interface.
//
// # Caveats
//
//   - States and tool arguments are stored unchanged: they must not contain secrets.
//   - Descriptions may contain tool arguments; sanitise them before printing.
//   - For a message without a checkpoint, call ForgetRollback, or an older rollback can
//     still be undone after it.
//   - Open changes the permissions of the journal's folder to 0700.
//   - All records are kept in memory. Open compacts a file of more than 8 MiB;
//     the checkpoints of the 20 newest sessions remain.
//   - On systems without a lock that is released when its process ends
//     (Solaris, AIX, WebAssembly), only one process may use a journal.
package checkpoint
