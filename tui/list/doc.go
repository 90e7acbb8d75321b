// Package list shows a long list of items and draws only those on the screen.
//
// A Source returns the lines of one item at a time, so not all items have to be in memory.
// The scroll position is a line of an item, so that line does not move when other items
// grow, shrink or arrive. At the end, the list follows new content.
//
// A frame requests only the lines of visible items, however many items there are. The list
// caches no lines: a Source whose items are expensive to draw must cache them.
//
// A List must be used by the goroutine that runs Update and View.
package list
