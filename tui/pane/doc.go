// Package pane declares Pane, the part of the screen that shows a window, and contains what
// its implementations share.
//
// # Types
//
// A Pane draws a window and lets the user work on it: tui/rules and tui/historypane are
// panes. The screen has one Pane at a time, tui.Parts.Pane, which cmd/winnow creates with the
// window. A Pane answers a key with an Action, which the root model performs, because only
// the root starts commands and knows whether the assistant is working. Tabs are the lists
// of a pane in a Frame, with cursor, scrolling and clicks. A Note is a text in the foot
// below a list. A Choice is something that an answer offers: to send a message, to run an
// action, or to accept or reject proposals. The screen and line mode number choices alike.
//
// # How to add a pane
//
//  1. Start from tui/historypane, the smallest pane. Show receives the snapshot of the
//     window.
//  2. Add the type of the window to the list in tui/usecase/wall_test.go.
//  3. Let cmd/winnow set tui.Parts.Pane.
//
// To add a part of the screen next to the pane, see the layout in package tui.
//
// # Concurrency
//
// A Pane must be used by the goroutine that runs Update and View, and does no I/O there.
// The functions in an Action and the methods of Loader and Forecaster may be called from
// any goroutine.
package pane
