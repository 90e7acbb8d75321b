// Package dotenv reads and edits `.env` files. It reads them as python-dotenv 1.2.2 does. Editing a value changes only
// the bytes of that value.
//
// # Types
//
// A [File] is the text of a `.env` file; it is immutable. An [Edit] sets or removes one key; [File.With] applies edits
// and returns a new File. A [Source] is a File as it was read from disk; [Source.Save] replaces it atomically.
// [Versions] stores the rule lines of the last saves. A [Tree] is what the proxy sees: the environment and all `.env`
// files of a folder. Rule lines are the lines that set IGNORE_MODELS_… or WHITELIST_MODELS_….
//
// # Values
//
// Values are strings without quotes and escapes. `${NAME}` and `${NAME:-text}` are resolved when a value is read
// ([File.Get]), first from the real environment and then from the keys above the value in the file. python-dotenv has
// no syntax for writing them literally, so [File.With] refuses values that contain them. If a key is set several times,
// the last assignment decides. An edit changes that assignment and leaves the others unchanged; removing the key
// removes all of them. After every edit, the text is parsed again. If any key, edited or not, would have a wrong value,
// the edit is refused with a [*RefusedError].
//
// # Saving
//
// A save locks the file and compares it with what was loaded. It writes a temporary file next to it, with the same
// attributes and never a wider mode, syncs the temporary file, and compares the file again. The save is refused if
// another program has the file open for writing. Otherwise the save exchanges the two names, reads the displaced file,
// syncs the folder and removes the displaced file. If the displaced file is not what was loaded, it stays next to the file,
// and the save returns a [*ChangedError] that names it. If the displaced file cannot be read, the names are exchanged
// back. The next [Load] or save cleans up what a killed save left.
//
// A file that is mounted on its own, as into a container, has a name that cannot be exchanged ([Mounted]). Such a file
// is written in place: both versions are first made durable next to it, a lease keeps other programs from opening it in
// the meantime, and the next Load or save restores the previous version if the save was killed.
//
// A save holds two locks: on a lock file next to the `.env`, which is removed when the lock is released, and on the
// `.env` itself. The second lock also works for a container that sees only the file, and if no file can be created next
// to it.
//
// # Concurrency
//
// Files, Edits, Sources and Trees are immutable and may be used from any goroutine. Saves of one file exclude each
// other, also between processes. [Watch] starts a goroutine that ends with its context.
//
// # Caveats
//
//   - Exchanging names and detecting writers work on Linux only. On other systems, and on
//     file systems that cannot exchange names, a change between the last comparison and
//     the rename is lost. Extended attributes are preserved on Linux only.
//   - Without leases, a program that reads a file while it is written in place may see
//     parts of both versions.
//   - A file with several hard links is not saved, because a save would separate them.
//   - A value with variables is cut off at 128 KiB after the variables are resolved.
//   - Files and errors contain secrets. Their printed forms do not, but methods that
//     return bytes or values do.
package dotenv
