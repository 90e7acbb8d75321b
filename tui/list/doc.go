// Package list shows a long list of items and draws only those on the screen.
//
// A Source returns the lines of one item at a time, so not all items have to be in
// memory. The scroll position is an item and a line of it, so nothing that grows,
// shrinks or arrives elsewhere moves that line; at the end the list follows what
// arrives.
//
// A frame asks for the lines of the items on the screen and for nothing else,
// whatever the number of items. The list caches no lines: a Source whose items
// are expensive to draw caches them.
//
// A Cursor is the place in a list whose lines are all in memory and have one height, such
// as that of a picker, a text or a tab of a pane: what it shows and draws is up to its user.
//
// A List or a Cursor belongs to one goroutine, the one that runs Update and View.
package list
