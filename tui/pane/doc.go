// Package pane declares Pane, the part of the screen that shows a window, and
// holds what its implementations share.
//
// # Types
//
// A Pane draws a window and lets the user work on it: tui/rules and tui/historypane are
// panes. The screen has one at a time, tui.Parts.Pane, which cmd/winnow makes with the
// window. A Pane answers a key
// with an Action, which the root model performs, since only the root starts commands and
// knows whether the assistant works. Tabs are the lists of a pane in a Frame: cursor,
// scrolling and clicks. A Note is a text in the foot below a list. A Choice is what an answer
// offers: a message, an action, or yes or no to a proposal; screen and console number the
// same ones.
//
// # How to add a pane
//
//  1. Start from tui/historypane, the smallest one. Show receives the snapshot of the window.
//  2. Add the type of the window to the list in the wall's test, tui/usecase/wall_test.go.
//  3. Let cmd/winnow set tui.Parts.Pane. For a part of the screen beside the pane, see the
//     layout in package tui.
//
// # Concurrency
//
// A Pane belongs to the goroutine that runs Update and View, and does no I/O
// there. The functions inside an Action and the methods of Loader and Forecaster
// are safe from any goroutine.
package pane
