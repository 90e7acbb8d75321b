// Package composer is the box in which the user writes a message, including completions and
// @mentions of files.
//
// # Types
//
// A Model is a bubbles textarea that never loses typed text. Undo reverts edits one by one,
// and restores a text that was cleared, sent or replaced. A large paste becomes a chip in
// the text; the pasted text is stored separately. Older and Newer move through sent
// messages and the stash of cleared texts.
//
// Completions is the list above the box with completions of the text before the cursor. Its
// entries may be read in the background; Show then shows the entries, unless the text has
// changed. CompleteCommand lists completions of a slash command.
//
// A MentionSource finds the files mentioned in a text with @, and suggests completions of
// an @word. Attach reads the mentioned files into a prompt: text files, whose text is sent
// with the message, and pictures. Paths are relative to the program's working folder; ~/ is
// the user's home.
//
// # Concurrency
//
// A Model and Completions must be used by the goroutine that runs Update and View. The
// functions and methods for mentions read the disk and may be called from any goroutine.
//
// # Caveats
//
// The textarea takes 40 ms for each key at 100 KB and drops lines beyond 10,000. For this
// reason a paste above ChipFrom is never inserted into it.
//
// Only text files of at most MaxAttachment bytes and the pictures that package attachment
// supports can be attached. A path that contains white space cannot be mentioned.
package composer
