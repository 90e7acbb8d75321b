// Package overlay holds what lies above the screen: pickers, texts and
// questions, on a stack.
//
// An Overlay draws itself into a box and answers each key with an Outcome: it
// stays, it closes, or something was chosen. What a choice means is the root's
// business; nothing here does I/O or knows a session.
//
// A Stack and its overlays belong to one goroutine, the one that runs Update
// and View.
//
// # Caveats
//
// A Confirm takes no key until it was on the screen for GuardTime, so that what
// the user types ahead answers no question that he has not seen.
package overlay
