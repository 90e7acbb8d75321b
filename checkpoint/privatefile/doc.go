// Package privatefile has what all stores need of the file system: files and folders
// that only their owner can use, that are durable, and that one process at a time writes.
//
// # Types
//
// Acquire waits for the lock of a file and returns a Lock, which ends with Release or
// with its process: a dead process blocks no other. A lock that is held for too long is
// a *HeldError that names the holder. A document is a small JSON file, replaced in one
// step: a line with the SHA-256 of what follows, then JSON. ReadDocument returns
// ErrDamaged for anything else; DocumentFolder makes the folder for such files, and
// LockDocument orders the processes that read, change and write one of them.
//
// # Concurrency
//
// All functions but Sum and Cause do I/O; all functions and methods are safe from any
// goroutine.
//
// # Caveats
//
//   - On Windows permissions are inherited: modes are not looked at, and the file system
//     makes names durable by itself.
//   - The locks are advisory (flock): only programs that ask for them respect them.
//   - On a file system without locks Acquire succeeds and locks nothing.
//   - On Windows the holder of a lock is not known, because the lock also keeps others
//     from reading the file.
//   - Errors about a document name no path: the caller adds which document it is about.
package privatefile
