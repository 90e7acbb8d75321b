// Package rules is the pane of the model filter. It shows the rules, the models, the
// unsaved changes and all providers in four tabs, and is operated by keys and clicks.
//
// # Types
//
// A Pane shows a modelfilter.Snapshot, set by Show. The search, the tab, the cursor and the
// highlight are its own state. It answers the user's keys with acts of the window, based on
// the displayed revision; Wants reports to the window what the user is looking at. A row is
// a line of the list on a tab; the foot below the list contains numbers, details about the
// row under the cursor, and warnings. The text input is for a pattern with its preview, a
// search, or an import; importedRules are the rules of an import.
//
// The overview, on the tab All, shows all providers at once: the numbers of shown and hidden
// models, the unsaved changes, and the effect of saving them. It draws the providerNumbers of
// each provider in the snapshot as a line of an overviewTable; until the models of a provider
// have been read, only its rules are known.
//
// A rule has a colour and an icon; a model shows the icon of the rule that decides it.
// Enter on a rule highlights its models, and enter on a model highlights its rule.
//
// # Concurrency
//
// A Pane must be used by the goroutine that runs Update and View. It has no access to the
// window: the function in a Compute works on a snapshot, and may be called from any
// goroutine.
//
// # Caveats
//
//   - With more than fewRules rules, a pattern is compared with the rules only on enter,
//     not at each key press.
//   - With more than fewRules rules, the tab of changes lists no redundant rules;
//     "winnow rules lint" lists them.
//   - An import is divided at commas and white space, because a paste into a text line
//     loses its line ends. Patterns with spaces must therefore be added one by one.
package rules
