// Package composer is the box in which the user writes a message, with what completes the
// text and what the text names with an @.
//
// # Types
//
// A Model is a textarea of bubbles that never loses typed text. Undo reverts
// edits one by one, and brings back what was cleared, sent or replaced. A large
// paste becomes a chip in the text; its full text is stored beside it. Older and Newer
// walk through sent messages, and through the stash: cleared texts.
//
// Completions is the list above the box: what can complete the text before its cursor. Its
// entries may be read elsewhere; Show then shows them, unless the text is another by then.
//
// A MentionSource finds what a text names with an @, and suggests what can complete an
// @word that is being typed; Attach reads the named files into a prompt: text files, whose
// text is sent with the message, and pictures. Paths are relative to the folder of the
// program, ~/ is the home of the user.
//
// # Concurrency
//
// A Model and Completions belong to one goroutine, the one that runs Update and View. The
// functions and methods for mentions read the disk; any goroutine may call them.
//
// # Caveats
//
// The textarea takes 40 ms a key at 100 KB and drops lines beyond 10,000, which
// is why a paste above ChipFrom never reaches it.
//
// Only text files of at most MaxAttachment bytes and the pictures of package attachment can
// be attached, and no path that contains white space.
package composer
