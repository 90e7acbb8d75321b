// Package slash handles the commands that are typed into the message box, such as /help and
// /model NAME. The screen and the plain console share one table of them.
//
// # Types
//
// A Command has a name and says which argument it takes. Table lists the commands that
// the front ends have in common; Screen adds every other action of the screen under its
// own name. Parse distinguishes a command from a message, Find looks up a command, and
// Complete lists completions of a draft.
//
// # Caveats
//
// A draft is a command, known or unknown, only if it is a single line whose first word is a
// slash followed by letters, digits or hyphens: /etc/hosts begins a message. To send a
// message that looks like a command, begin it with two slashes or a space.
//
// All functions are pure and may be called from any goroutine.
package slash
