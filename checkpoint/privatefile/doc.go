// Package privatefile contains what all stores need from the file system: files and folders that only their owner can
// access, durable replacement of files, and locks between processes.
//
// # Types
//
// Acquire waits for the lock of a file and returns a Lock, which is held until Release or until its process ends, so
// a process that has died never blocks another. If the wait is too long, Acquire returns a *HeldError that names the
// holder.
//
// A document is a small JSON file that is replaced atomically: a line with the SHA-256 of the rest, followed by JSON.
// ReadDocument returns ErrDamaged for any other content. DocumentFolder creates a folder for such files, and
// LockDocument serialises the processes that read, change and write one of them.
//
// # Concurrency
//
// All functions except Sum and Cause do I/O. All functions and methods may be called from any goroutine.
//
// # Caveats
//
//   - On Windows, permissions are inherited, so modes are not checked, and the file
//     system makes names durable by itself.
//   - The locks are advisory (flock): they only affect programs that use them.
//   - On a file system without locks, Acquire succeeds without locking.
//   - On Windows the holder of a lock is unknown, because the lock also keeps other
//     processes from reading the file.
//   - Errors about a document contain no path: the caller adds the name of the document.
package privatefile
