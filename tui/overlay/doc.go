// Package overlay draws overlays on the screen: pickers, texts, questions and input lines,
// on a stack.
//
// # Types
//
// An Overlay draws itself into a box and answers each key with an Outcome: the overlay
// stays open, the overlay closes, the user has chosen something, or work must be done. A
// Picker is a list that is searched while the user types, a Text shows lines and may ask a
// question, and a Line asks for a text. The root model handles choices; nothing in this
// package does I/O or knows a session.
//
// An Editor is a line of text with a cursor and the keys that work in every line of the
// program: the filter line, a search, a pattern, a name. It moves and deletes by grapheme: a
// flag, an emoji of several code points, a letter with its accents. The caller decides which
// text is allowed and how it is drawn. A copy is independent. A HistoryEditor also steps
// through earlier lines. The box for messages is package composer.
//
// A ListCursor is the position in a list whose lines are all in memory and have the same
// height, such as a picker, a text or a tab of a pane. The list draws the lines.
//
// ModelList converts the models of all endpoints to entries: favourites, recently chosen
// models, then all models by endpoint, or by provider for endpoints that serve several
// providers. A model that its endpoint no longer lists is marked, with the time when it was
// last listed; a list that was not requested in this run shows its age. SessionEntries
// converts the sessions of a history. Both are pure functions.
//
// AllSettings lists what the user can change while the program runs: settings of the
// session and of the screen, whose values a ScreenSettings holds. A Setting has a few
// values; Step finds the next or previous one, and Set changes a setting of the screen. A
// setting has the same key and values as in the config file.
//
// # Concurrency
//
// Everything in this package must be used by the goroutine that runs Update and View, except
// the pure functions, and Work.Run, which runs in another goroutine.
//
// # Caveats
//
// A question accepts an answer only after GuardTime without a key press, so that keys typed
// ahead do not answer a question that the user has not read. The keys in overlays come from
// the key table (tui/keymap, overlays.go) and can be rebound.
//
// Editor.Insert does not sanitise text; the caller must do so.
package overlay
