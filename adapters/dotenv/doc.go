// Package dotenv reads and edits `.env` files as python-dotenv 1.2.2 reads
// them, and changes nothing but the bytes it was asked to change.
//
// # Types
//
// A [File] is the text of a `.env` file; it never changes. An [Edit] gives one
// key a value or removes it; [File.With] applies edits and returns a new File. A
// [Source] is a File as it was read from disk; [Source.Save] replaces it
// atomically. [Versions] stores the rule lines of the last saves. A [Tree] is
// what the proxy sees: the environment and all `.env` files of a folder. Rule
// lines are those that set IGNORE_MODELS_… or WHITELIST_MODELS_….
//
// # Values
//
// Values are strings after quotes and escapes. `${NAME}` and `${NAME:-text}` are
// resolved when a value is read ([File.Get]), from the real environment first
// and then from the keys above it in the file. python-dotenv has no way to
// write them literally, so [File.With] refuses them. When a key is set several
// times the last assignment decides. An edit changes that one and leaves the
// others as they are; removing the key removes all. After every edit the text is
// parsed again; if any key, edited or not, would have another value than it
// should, the edit is refused with a [*RefusedError].
//
// # Saving
//
// A save locks the file, compares it with what was loaded, writes a temporary file
// next to it with the same attributes and never a wider mode, syncs it, compares again,
// refuses if another program has the file open for writing, exchanges the two names,
// reads the displaced file, syncs the folder and removes the displaced file. If that is
// not what was loaded, it remains next to the file and the save ends in a
// [*ChangedError] that names it. If it cannot be read, the names are exchanged back.
// The next [Load] or save removes what a killed save left.
//
// A file that is mounted by itself, as into a container, has a name that cannot be
// exchanged ([Mounted]). It is written in place: both versions are durable next to it
// first, a lease keeps other programs from opening it meanwhile, and the next Load
// restores the previous version if the save was killed.
//
// The save lock is a file beside the `.env`, which is removed with the lock, and the
// `.env` itself: that holds also for a container that sees only the file, and where
// nothing can be made next to it.
//
// # Concurrency
//
// Files, Edits, Sources and Trees are immutable: any goroutine may use them.
// Saves of one file exclude each other, also between processes. [Watch] starts
// a goroutine that ends with its context.
//
// # Caveats
//
//   - Names are exchanged and writers detected on Linux only. Elsewhere, and on
//     file systems without an exchange, a change between the last comparison and
//     the rename is lost. Extended attributes are preserved on Linux only.
//   - Where there are no leases, a program that reads a file while it is written in
//     place may see parts of both versions.
//   - A file with several hard links is not saved: a save would separate them.
//   - A value with variables is cut off at 128 KiB once they are resolved.
//   - Files and errors contain secrets. Their printed forms do not, except under
//     the methods that return bytes or values.
package dotenv
