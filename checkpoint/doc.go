// Package checkpoint stores every version of a window's state on disk, so that the window and the conversation can be
// rolled back to any earlier point and survive a crash.
//
// # Types
//
// A window is what the assistant works on, such as the settings of a lamp. Its state is a JSON document with any
// content. States are compared, stored and returned in the canonical form of package jsondelta.
//
// A Checkpoint is a point to roll back to: the moment before a step. A step is the start of a session, a turn of the
// assistant that called a write tool, or an edit made by hand. Checkpoints are ordered by Seq, never by time. A
// turn's checkpoint is durable before its first write tool runs. Once the tools have run, the checkpoint stays in the
// list only if they changed the state.
//
// A Journal is an append-only file of checksummed records. Every tenth checkpoint contains the full state; the others
// contain a delta. Each record contains the checksum of the state, so that a state rebuilt from deltas can be
// verified. Open cuts off a record that a crash left unfinished. It keeps a copy of a damaged file and continues with
// the readable records, and it drops the older part of a file that has become large.
//
// Several processes may have a Journal open. Only the process that holds the writer lock writes; it takes the lock
// for one record or, with Lock, for a change or a turn. Lock first reads what the others have written. If it waits
// too long, it returns a *LockedError that names the holder. Reading takes no lock. Follow reads what the others have
// written without locking.
//
// A Change is an entry of the change log: the calls to write tools in a turn, an edit by hand, a save, a rollback or
// its undo, or a change that another program made to the file, with the values that differ. Changes reads the log
// from the records of a Journal in memory, so it goes back as far as they do: compaction removes the records of old
// sessions.
//
// # Rollback
//
// A rollback changes two stores: the journal, and the database of pairs (a user message and its answer).
// BeginRollback records the Intent. The caller then sets the window to Intent.State and marks the cut pairs with
// Intent.ID. Finish records that the rollback is done, Abandon that it failed. If Pending returns an intent after
// Open, carry it out again from the start, which is safe because both changes are idempotent. The last rollback can be
// undone until the next Add or ForgetRollback.
//
// # Concurrency
//
// Methods may be called from any goroutine. Methods that write wait for the disk: do not call them in the update loop
// of a user interface.
//
// # Caveats
//
//   - States and tool arguments are stored unchanged, so they must not contain secrets.
//   - Descriptions may contain tool arguments; sanitise them before printing.
//   - Call ForgetRollback for a message without a checkpoint; otherwise an older rollback
//     can still be undone after it.
//   - Open changes the permissions of the journal's folder to 0700.
//   - All records are kept in memory. Open compacts a file of more than 8 MiB and keeps
//     the checkpoints of the 20 newest sessions.
//   - On systems whose locks are not released when a process ends (Solaris, AIX,
//     WebAssembly), only one process may use a journal.
package checkpoint
