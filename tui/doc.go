// Package tui is winnow's screen: one Bubble Tea model that shows a Session
// and its window and turns keys into use cases of its Workspace.
//
// # Types
//
// Model is the one tea.Model of the program: it routes, moves the focus, lays out, and runs
// use cases. Its children have their own state and know neither it nor each other:
// conversation (VIEW, with search and pointer), input (the box, the list that completes it,
// outbox), commandLine (COMMAND), and in packages of their own the pane, the HUD, the
// overlays, the notices and the bars. What they read of the session or of the screen is an
// argument. What they ask for they return: a child an intent, a pane a pane.Action, an
// overlay an overlay.Outcome. carryOut, perform and onOutcome do it. turn is the running
// turn; header.go says what header and footer show.
//
// What the user can do is a row of package keymap, which has the keys of each action, and
// writes footer, help, palette and what can be typed as a /command. actions.go has what
// each action does, by its name.
//
// # From a key to the screen
//
// A key goes through Update to its action, which makes a command of usecase.Commands. That
// calls the workspace outside of the update loop and ends in a typed usecase.Outcome, with
// the state after it, which Update shows first. What changes something goes through
// (*acts).add: one act runs at a time, in the order of the keys, and its outcome starts
// the next. Steps that follow each other are a small typed state, see
// saving. What happens without a key arrives as usecase.LogRead: the parts of the session
// that have changed, and at most one event of a turn, in the order of the session's log.
// Before the start is over there is no session and no part.
//
// To add a use case, see package usecase; to add a key, package keymap; to add a pane,
// package pane.
//
// # Modes
//
// INPUT writes a message, VIEW walks through the conversation, COMMAND holds
// the filter line, PANE works in the pane: the rules or the history. Overlays lie above all of them;
// the mode stays as it is behind them.
//
// # Components of bubbles
//
// key and textarea are used. The others do not fit, for these reasons:
//
//	component   what it does                                  what is needed here
//	textinput   moves and deletes by code point               by grapheme: flags, emoji, accents
//	spinner     wakes the program for each frame              frames come with the chunks of a turn
//	progress    draws a bar of a share                        numbers in the header; no bars are drawn
//	viewport    measures all lines when its content changes   100,000 lines, laid out when they are seen
//	help        has no places to click, drops what is over    footer entries that answer a click
//	list        pages, with a filter of its own               the rows beside the cursor stay in sight
//
// # Concurrency
//
// A Model belongs to its program. Typed and StoreDraft are called after its end, Keys
// may be called from any goroutine.
//
// # Caveats
//
// Nothing in Update or View waits. Text is sanitised before it is shown, whoever wrote
// it.
package tui
