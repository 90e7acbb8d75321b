// Package slash is the commands that are typed where messages are written: /help,
// /model NAME. The screen and the console of lines have them from one table.
//
// # Types
//
// A Command has a name, and says what its argument is. Table lists those that the front
// ends have in common; Screen adds every other action of the screen under its own name.
// Parse tells a command from a message, Find looks it up, Complete lists what can
// complete it.
//
// # Caveats
//
// Only a text of one line whose first word is a slash and letters, digits or hyphens is
// a command, known or not: /etc/hosts is the beginning of a message. Two slashes, or a
// space before the slash, begin a message that would be a command.
//
// All functions are pure, and safe from any goroutine.
package slash
