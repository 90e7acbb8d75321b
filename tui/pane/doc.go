// Package pane declares Pane, the part of the screen that shows a window, and
// holds what its implementations share.
//
// # Types
//
// A Pane draws a window and lets the user work on it: tui/rules and tui/historypane are
// panes. The screen has one at a time, tui.Parts.Pane, which cmd/winnow makes with the
// window. A new one is a package whose Pane takes its window's snapshot in Show; the
// window goes into the list of the wall's test, tui/usecase/wall_test.go. It answers a key
// with an Action, which the root model performs, since only the root starts commands and
// knows whether the assistant works. Tabs are the lists of a pane in a Frame: cursor,
// scrolling and clicks. A Note is a text in the foot below a list. A CompiledStyle is a
// style made ready for drawing. A Choice is what an answer offers: a message, an action,
// or yes or no to a proposal; screen and console number the same ones.
//
// # Concurrency
//
// A Pane belongs to the goroutine that runs Update and View, and does no I/O
// there. The functions inside an Action and the methods of Loader and Forecaster
// are safe from any goroutine.
package pane
