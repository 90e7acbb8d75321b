// Package overlay draws what lies above the screen: pickers, texts, questions
// and lines to type, on a stack.
//
// # Types
//
// An Overlay draws itself into a box and answers each key with an Outcome: it
// stays, it closes, something was chosen, or work is wanted. A Picker is a
// list that is searched while one types, a Text shows lines and may ask a
// question, a Line asks for a text. The root model
// knows what a choice means; nothing here does I/O or knows a session.
//
// ModelList writes the models of all endpoints as entries: favourites, the ones chosen
// last, then all by endpoint, and behind an endpoint that serves several providers by
// provider. A model that its endpoint no longer lists is marked and says when it last was
// listed; a list that was not asked for in this run says how old it is. SessionEntries
// writes the sessions of a history. Both are functions of values.
//
// # Concurrency
//
// A Stack and its overlays belong to the goroutine that runs Update and View.
// Work.Run alone is safe from any other.
//
// # Caveats
//
// A question accepts an answer only after GuardTime without a key, so that keys
// typed ahead do not answer a question that the user has not read. The keys in overlays
// come from the key table (tui/keymap, overlays.go) and can be rebound.
package overlay
