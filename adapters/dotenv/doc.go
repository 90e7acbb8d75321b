// Package dotenv reads and edits `.env` files as python-dotenv 1.2.2 reads
// them, and changes nothing but the bytes it was asked to change.
//
// # Nouns
//
// A [File] is the text of a `.env` file, cut into [Binding]s; it never changes.
// An [Edit] gives one key a value or removes it; [File.With] applies edits and
// answers a new File. A [Source] is a File as it was read from disk, with
// everything that must survive a save; [Source.Save] replaces it atomically.
// [Versions] keeps what the last saves replaced. A [Tree] is all `.env` files
// of a folder in the order in which the proxy loads them.
//
// # Values
//
// Values are strings after quotes and escapes. `${NAME}` and `${NAME:-text}` are
// resolved when a value is read ([File.Get]), from the real environment first
// and then from the keys above it in the file. python-dotenv knows no way to
// write them literally, so [File.With] refuses them. After every edit the text
// is parsed again; when any key, edited or not, would read differently than it
// should, the edit is refused with a [*RefusedError].
//
// The bytes that result depend on the text that was parsed and on the last
// value given to each key, never on the steps between: giving a key back its
// old value gives the file back its old bytes.
//
// When a key stands several times the last one decides. An edit changes that
// one and leaves the others as they are; removing the key removes all.
//
// # Saving
//
// A save writes a temporary file beside the real one, with no wider mode, gives
// it owner, mode and extended attributes of the real one, syncs it, exchanges
// the two, and then looks at what came out. If that is not what was loaded, or
// somebody has it open for writing, the two are exchanged back and the save
// ends in a [*ChangedError] that holds base, theirs and ours. A save that was
// killed is finished or undone by the next [Load] or save.
//
// # Who may call what
//
// Files, Bindings, Edits and Trees are values: any goroutine may use them.
// Sources are not changed by a save and may be shared too; saves of one file
// wait for each other, also between processes.
//
// # Caveats
//
//   - Between two exchanges of a save that is undone, a reader can see bytes that were
//     never saved. The time between is kept to a few system calls.
//   - A program that edits in place is seen by a read lease on the file that came
//     out, where the system has leases (Linux, own files or CAP_LEASE). It remains
//     unseen if it stalls inside its open call from before the exchange until
//     after the save ended. Without leases, a program that had the file open before the
//     exchange and writes after the comparison loses that write.
//   - Where two names cannot be exchanged (some network file systems, systems other than
//     Linux and macOS), the file is compared right before it is replaced; a
//     change between these two system calls is lost.
//   - A file with several hard links is not saved: a save would part them.
//   - A value that holds variables is cut off at 128 KiB once they are resolved.
//   - Extended attributes are kept on Linux and macOS, owners on every Unix.
//   - Files and errors hold secrets. Their printed forms do not, except under
//     the methods that return bytes or values.
//
// It implements the `.env` part of section 9 of the specification, promises
// E1 to E5 and K3.
package dotenv
