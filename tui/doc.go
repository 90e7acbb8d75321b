// Package tui is winnow's screen: one Bubble Tea model that shows a Session and its window,
// and turns keys into use cases of the Workspace.
//
// # Types
//
// Model is the only tea.Model of the program: it routes messages, moves the focus, lays
// out the screen, and runs use cases. Its children have their own state; they know neither
// the Model nor each other. The children in this package are conversation (VIEW, with
// search and pointer), input (the box, its completions and the outbox) and commandLine
// (COMMAND). The pane, the HUD, the overlays, the notices and the bars have packages of
// their own. Children get what they need from the session or the screen as arguments, and
// return what the Model should do: a child in this package returns an intent for carryOut,
// a pane returns a pane.Action for perform, and an overlay returns an overlay.Outcome for
// onOutcome. The type turn describes the running turn or, between turns, the last one;
// header.go determines what the header and the footer show.
//
// Everything the user can do is a row in package keymap. A row defines the keys of an
// action; footer, help, palette and /commands are generated from the rows. actions.go
// defines what each action does, by name.
//
// # From a key to the screen
//
// Update calls the action of a key, which returns a command of usecase.Commands. The
// command calls the workspace outside the update loop and ends with a typed
// usecase.Outcome. The outcome includes the state after the command; Update shows this
// state first. Most commands that change something go through (*acts).add: they run one at
// a time, in the order of the key presses, and the outcome of one starts the next. A flow
// of several steps is a small struct that holds the current step; see saving. Changes in
// the session, including those that no key caused, arrive as usecase.LogRead: the parts of
// the session that have changed, and at most one event of a turn, in the order of the
// session's log. Until startup is complete, there is no session and the parts are empty.
//
// To add a use case, see package usecase; to add a key, see package keymap; to add a pane,
// see package pane.
//
// # Modes
//
// INPUT is for writing a message, VIEW for moving through the conversation, COMMAND for the
// filter line, PANE for the pane (the rules or the history), and HUD for the docked list of
// messages. Overlays are drawn above all of them and do not change the mode.
//
// # Components of bubbles
//
// The components key and textarea are used. The others do not fit, for these reasons:
//
//	component   what it does                                  what is needed here
//	textinput   moves and deletes by code point               moving and deleting by grapheme (flags, accents)
//	spinner     wakes the program for each frame              a frame with each chunk of a turn
//	progress    draws a progress bar                          numbers in the header
//	viewport    measures all lines when its content changes   100,000 lines, laid out when they are seen
//	help        cannot be clicked, drops what does not fit    footer entries that react to a click
//	list        shows pages, has its own filter               rows around the cursor that stay visible
//
// # Concurrency
//
// A Model must be used only by its Bubble Tea program. Call EndStart, StoreDraft and Typed
// after the program has ended.
//
// # Caveats
//
// Nothing in Update or View waits. All text is sanitised before it is shown, whatever its
// source.
package tui
