// Package status draws what the first and the last line of the screen show: the state of
// the session, keys, notices, the other users, the line that is typed there. It also has
// the context HUD, which shows what the next request contains.
//
// # Types
//
// A BarPart is a piece of the first or last line; a click on it does an action of the key
// table. Header is what the first line shows, a value. A Bar fits what there is into the
// width of the screen and draws it.
//
// Notices are the sentences that the footer shows: what was done, what failed, what others
// did. The newest stays until the next key that does something; all can be read again.
// Others is who else works in the window, as one session sees it; ChangeSentence is the
// notice of a change that another session made. An InputLine is a line of text in the
// footer: the filter line, the search.
//
// ContextNumbers writes the numbers behind the context counter as lines: parameters,
// budget, selection, trimming and the last error. A ContextPanel lists the visible pairs
// with what each costs, and why some are not sent; it can stay on the screen while the
// user types.
//
// # Concurrency
//
// Header and Others are values. Everything else belongs to the goroutine that runs Update
// and View, and does no I/O: a ContextPanel names the pairs that it has to show and does
// not know, and is given them.
//
// # Caveats
//
// Texts are safe to show, whoever wrote them. Tokens are estimates. A frame of a
// ContextPanel costs what its rows cost, whatever the number of pairs; a closed one costs
// nothing.
package status
