// Package status draws the first and the last line of the screen: the state of the session,
// keys, notices, the other users, and the text line being typed. It also draws the context
// HUD, which shows what the next request contains.
//
// # Types
//
// A BarPart is a piece of the first or last line; a click on it may run an action of the key
// table. A Header holds what the first line shows. A Bar fits parts into the width of the
// screen and draws them.
//
// Notices holds the sentences that the footer shows: what was done, what failed, what
// others did. The newest notice stays until the next key that does something, and the list
// of notices shows all of them. Others says who else works in the window, from the point of
// view of one session; ChangeSentence returns the notice for a change that another session
// made. An InputLine is a text line in the footer: the filter line or the search.
//
// ContextNumbers formats the numbers behind the context counter as lines: parameters,
// budget, selection, trimming and the last error. A ContextPanel lists the visible pairs
// with their costs, and says why some of them are not sent. It can stay on the screen while
// the user types.
//
// # Concurrency
//
// Header and Others are plain values. Everything else must be used by the goroutine that
// runs Update and View, and does no I/O: a ContextPanel names the pairs that it needs, and
// the caller loads these pairs.
//
// # Caveats
//
// All texts are safe to show, whatever their source. Tokens are estimates. The time to draw
// a ContextPanel depends on the number of rows it shows, not on the number of pairs; a
// closed ContextPanel costs no time.
package status
