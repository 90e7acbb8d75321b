// Package list shows a long list of items, drawn only where it is seen.
//
// An Item renders itself to lines at a width and has a version that changes
// whenever those lines may have changed. A Source says how many items there
// are and hands them out one at a time, so a million items need not exist.
// The List keeps the height of each item in a Fenwick tree: an estimate until
// the item is drawn, then the truth. Where the user looks is an anchor, an
// item and a line in it, so nothing that grows, shrinks or arrives elsewhere
// moves the line under the eye; at the end the list follows what arrives.
//
// A frame renders the items on the screen that changed, and nothing else. Its
// cost does not depend on how many items there are, nor on how long they are
// when they implement Liner.
//
// A List belongs to one goroutine, the one that runs Update and View.
//
// # Caveats
//
// The tree costs eight bytes an item. Inserting or removing anywhere but at the
// end takes time in proportion to the number of items (about a millisecond for
// a million). An item always has a line: one that renders to nothing is shown
// as a blank line. A mutator that does not bump the version is not seen until
// Invalidate.
//
// It implements the long lists of the design's sections 3 and 14.
package list
