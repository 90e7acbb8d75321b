// Package tui is winnow's screen: one Bubble Tea model that shows a Session
// and its window and turns keys into calls on them.
//
// # How it is built
//
// Model is the one tea.Model of the program; Boot stands in for it in the first
// moments, draws its frame without contents, and hands over what was typed.
// Update routes messages and decides nothing
// else; children (tui/chat, tui/rules, tui/overlay) are structs with plain
// methods that the root asks to draw and to take keys. Whatever waits, for the
// disk, the network or a running turn, happens in a tea.Cmd and comes back as
// a message of msgs.go. A turn's events arrive in batches, carry the turn they
// belong to, and those of a turn that is over fall to the floor.
//
// Every key is in one table, keytable.go. It writes the footer, the help, the
// command palette and the table of the README, and is what Update asks.
//
// # Modes
//
// INPUT writes a message, VIEW walks through the conversation, COMMAND holds
// the filter line, PANE works on the rules. Overlays lie above all of them and
// give the mode back that was there before.
//
// # Caveats
//
// Nothing in Update or View waits. Text is sanitised before it is shown,
// whoever wrote it.
//
// The package implements sections 3 and 4 of winnow's specification.
package tui
