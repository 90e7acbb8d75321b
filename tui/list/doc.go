// Package list shows a long list of items, drawn only where it is seen.
//
// A Source hands out the lines of its items one item at a time, so a million
// items need not exist. The place where the user looks is an item and a line of
// it, so nothing that grows, shrinks or arrives elsewhere moves that line; at
// the end the list follows what arrives.
//
// A frame asks for the lines of the items on the screen and for nothing else,
// whatever the number of items. The list keeps no lines: a Source whose items
// are expensive to draw caches them.
//
// A List belongs to one goroutine, the one that runs Update and View.
package list
