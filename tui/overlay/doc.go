// Package overlay draws overlays on the screen: pickers, texts, questions and input lines,
// on a stack.
//
// # Types
//
// An Overlay draws itself into a box and answers each key with an Outcome: the overlay stays
// open, it closes, the user has chosen something, work must be done, or the key came too
// early to answer a question. A Picker is a list that is searched while the user types, a
// Text shows lines and may ask a question, and a Line asks for a line of text. The root model
// handles choices; nothing in this package does I/O or knows a session.
//
// An Editor is a line of text with a cursor. It carries out the editing actions of every
// input line in the program: the filter line, a search, a pattern, a name. It moves and
// deletes by grapheme: a flag, an emoji of several code points, a letter with its accents.
// The caller decides which text is allowed and how it is drawn. A copy of an Editor is
// independent of the original. A HistoryEditor also steps through earlier lines. The message
// box is in package composer.
//
// A ListCursor is the position in a list whose lines are all in memory and have the same
// height, such as a picker, a text or a tab of a pane. The list draws the lines.
//
// ModelList converts the models of all endpoints to entries: favourites, recently chosen
// models, then all others by endpoint, or by provider for endpoints that serve several
// providers. A model that its endpoint no longer lists is marked, with the date when it was
// last listed; a list that was fetched in an earlier run shows its age. SessionEntries
// converts the sessions of a history. Both are pure functions.
//
// AllSettings lists what the user can change while the program runs: the settings of the
// session, and those of the screen, which a ScreenSettings holds. A Setting has a few
// values; Step finds the next or previous one, and Set changes a setting of the screen.
// Stored returns the key and the value as in the config file.
//
// # Concurrency
//
// Everything in this package must be used by the goroutine that runs Update and View, except
// the pure functions, and Work.Run, which runs in another goroutine.
//
// # Caveats
//
// A question accepts an answer only after GuardTime without a key press, so that keys typed
// ahead do not answer a question that the user has not read; only cancelling works at once.
// The keys in overlays come from the key table (tui/keymap, overlays.go) and can be rebound.
//
// Editor.Insert does not sanitise text; the caller must do so.
package overlay
