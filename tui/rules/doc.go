// Package rules is the pane of the model filter: its rules, its models and what
// is unsaved, in three tabs, operated by keys.
//
// # Types
//
// A Pane shows one modelfilter.Window. It draws from a snapshot of the window, taken
// when Changed says that the window has changed. A row is a line of the list of a tab;
// the foot is below the list: numbers, details of the row under the cursor, warnings.
// The text input takes a pattern with its preview, a search, or an import.
//
// A rule has a colour and an icon; a model shows the icon of the rule that decides
// it. Enter on either highlights the other.
//
// # Concurrency
//
// A Pane belongs to the goroutine that runs Update and View. CountModels, Effect
// and the functions inside actions are safe from any other: they touch the
// window and an inbox, never what is drawn.
//
// # Caveats
//
//   - With more than fewRules rules a pattern is compared with them on enter, not
//     at each key.
//   - With more than fewRules rules the tab of changes lists no redundant ones;
//     "winnow rules lint" does.
//   - An import is divided at commas and at white space, since a paste into a
//     line loses its line ends; patterns with spaces are added one by one.
package rules
