// Package safetext is the only sanitiser of external text: everything received from a model, a tool, a provider, a
// model list, a file name or a paste passes through it before it is stored or reaches a terminal, a log or an export.
//
// # Theory
//
// Text is a type, not a promise: what draws on the screen, copies or exports asks for Text, and a string that was not
// cleaned does not compile there. An answer is Text from the model on. Line mode and the commands print whatever else
// they are given, so their writers clean it themselves. A dynamic string becomes Text only in this package, where it
// enters the program: by one of its functions, or by being decoded into a field of type Text from JSON or a database.
// A constant converts implicitly. Names, patterns, paths and hosts stay strings, because they must be exact; Sprintf
// inserts them in a sentence with their hidden characters made visible. Converting Text to a string is always safe; a
// test of the dependency rule keeps other packages from doing the opposite. Joining clean texts and cutting one
// between characters gives clean text, so the operators + and [:] work on Text.
//
// # Nouns
//
// Clean text, returned by Clean and its streaming form Cleaner, has no effect on a terminal except that it is
// printed, and hides nothing from the reader. It contains no escape sequences, no controls except new line and tab,
// no bidirectional controls, no Unicode tags and no invisible fillers. Printable text is unchanged. Line is Clean
// for a single line.
//
// Visible text is for what the user is asked to confirm (tool arguments, patterns, addresses, ids): a hidden or
// deceptive character, such as a letter that looks like a different letter, is shown as its number, ‹U+202E›.
//
// Redacted text has [key] in place of secrets, including their usual encodings. A Writer redacts line by line;
// Redactor.ReplaceAttr is for slog.
//
// # Concurrency
//
// Functions are pure. A Cleaner belongs to one goroutine; a Redactor and its Writers may be shared.
//
// # Caveats
//
// Clean drops what it cannot show safely, so it must not be used for bytes that must be preserved, such as tool
// arguments, which are executed as received. Flags that consist of tags, such as Scotland's, become plain black
// flags; ideographic variants lose their selector. The table of look-alikes covers only characters relevant for model
// ids, patterns and host names. A Writer does not find a secret that contains a line break and is split over two
// writes, and base64 broken into lines is not decoded.
//
// The package implements section 13 of the specification.
package safetext
