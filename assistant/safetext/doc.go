// Package safetext is the one sanitiser of remote text: whatever a model, a
// tool, a provider, a model list, a file name or a paste sends passes here
// before it is stored or reaches a terminal, a log or an export.
//
// # Nouns
//
// Clean text, from Clean and its streaming form Cleaner, is text that has no
// effect on a terminal but to be printed, and that hides nothing from the
// reader: no escape sequence, no control but new line and tab, no bidirectional
// control, no Unicode tag, no invisible filler. Printable text is unchanged.
// Line is Clean for places that hold one line.
//
// Visible text is for what the user is asked to confirm (tool arguments,
// patterns, addresses, ids): a hidden or deceptive character is shown as its
// number, ‹U+202E›, also a letter that looks like another.
//
// Redacted text has [key] in place of secrets, also of their usual encodings. A
// Writer redacts lines; Redactor.ReplaceAttr plugs into slog.
//
// # Who may call what from where
//
// Functions are pure. A Cleaner belongs to one goroutine; a Redactor and its
// Writers may be shared.
//
// # Caveats
//
// Clean drops what it cannot show safely, and so is not meant for bytes that must
// survive, such as tool arguments, which are executed as received. Flags of regions
// made of tags (Scotland) become plain black flags; ideographic variants lose their
// selector. The table of look-alikes is a selection for model ids, patterns and host
// names. A Writer does not find a secret that contains a line break and is split over
// two writes; base64 that is broken into lines is not decoded.
//
// It implements spec section 13 and the promises T1, T2 and K1.
package safetext
