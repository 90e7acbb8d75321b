// Package rules is the pane of the model filter: its rules, its models and what
// is unsaved, in three tabs, operated by keys.
//
// # Types
//
// A Pane shows a modelfilter.Snapshot, which Show gives it, and keeps search, tab, cursor
// and highlight as its own state. What the user does it answers with an act of the window,
// based on the revision that is shown; Wants tells the window what the user looks at. A row
// is a line of the list of a tab; the foot is below the list: numbers, details of the row
// under the cursor, warnings. The text input takes a pattern with its preview, a search, or
// an import: importedRules are the rules that were typed or pasted.
//
// The overview shows all providers at once: the models that are shown and hidden, the
// unsaved changes, and what saving them would do. It draws providerNumbers, which are
// those of one provider in the snapshot, as the lines of an overviewTable; until the list of
// models of a provider was read, nothing is known of it but its rules.
//
// A rule has a colour and an icon; a model shows the icon of the rule that decides
// it. Enter on either highlights the other.
//
// # Concurrency
//
// A Pane belongs to the goroutine that runs Update and View. It has no window: the
// function inside a Compute works on a snapshot, and is safe from any other.
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
