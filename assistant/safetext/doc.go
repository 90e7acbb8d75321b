// Package safetext is the one sanitiser of remote text: whatever a model, a
// tool, a provider, a model list, a file name or a paste sends passes here
// before it is stored or reaches a terminal, a log or an export.
//
// # Clean text
//
// Clean and its streaming form, Cleaner, return text that a terminal cannot
// obey and that hides nothing from the reader: no escape sequence, no control
// but new line and tab, no bidirectional control, no Unicode tag, no invisible
// filler. Printable text comes out unchanged. Line is the same for places that
// hold one line.
//
// # Visible text
//
// Visible is for what the user is asked to confirm (tool arguments, patterns,
// addresses, ids): instead of dropping a hidden or deceptive character it shows
// its number, ‹U+202E›, also that of a letter that looks like another.
//
// # Redacted text
//
// A Redactor replaces secrets, also in their usual encodings, by [key]. Its
// Writer does so across the borders of writes; its ReplaceAttr plugs into slog.
//
// All functions are pure and safe from any goroutine. A Cleaner belongs to one
// goroutine; a Redactor and its Writers may be shared.
//
// # Caveats
//
// Clean drops what it cannot show safely, and so is not meant for bytes that
// must survive, such as tool arguments, which are executed as received. Flags
// of regions made of tags (Scotland) become plain black flags; ideographic
// variants lose their selector. The table of look-alikes is a selection made
// for model ids, patterns and host names, not all of Unicode's. A secret that
// overlaps the text [key] itself is caught by Redact, not always by a Writer;
// base64 that is broken into lines is not decoded.
//
// It implements spec section 13 and the promises T1, T2 and K1.
package safetext
