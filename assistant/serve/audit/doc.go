// Package audit is the log of who changed what in a window: where it is read, and how that
// of a served window gets into its history.
//
// # Nouns
//
// The log of a window is in its journal; see package changelog. A history.WindowLog has
// the logs of all windows that are served with that history, from any number of hosts. A
// Source reads one of both, piece by piece.
//
// # Who may call what from where
//
// Record starts a goroutine for a hub, which ends after the hub has closed. A Source is
// for one goroutine.
//
// # Caveats
//
// The journal is the log; the history gets a copy, soon after each change and again after
// failures. What compaction removes from a journal before its window is served is never in
// the history.
package audit
