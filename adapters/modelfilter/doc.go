// Package modelfilter is the model filter window. It edits the rules that hide models of an
// LLM proxy's providers. The rules are stored in the proxy's `.env`, as
// IGNORE_MODELS_<PROVIDER> and WHITELIST_MODELS_<PROVIDER>.
//
// # Types
//
// A Window holds the rules of all providers, both saved and staged; nothing is written
// before Save. A Scope is the part of the window for one provider; the Window's own Scope
// follows the current provider. A provider has two lists, Ignore and Allow; the proxy and the
// assistant call Allow the "whitelist".
//
// # Where rules come from
//
// As in the proxy, a variable in the real environment takes precedence over the file; a list
// set there is shown but cannot be edited. A list that is set only in another *.env file in
// the folder can be edited: a save writes it to the `.env`, which takes precedence.
//
// If another program changes the file, Watch and Save merge the staged rules into the
// changed file. PlanSave takes the merge into account but changes nothing. There is a
// conflict if the changes of both sides contradict each other, if Save finds that the file
// was deleted, or if another program writes the file during a save. RefreshSaved resolves
// conflicts.
//
// # What is saved
//
// A save passes the digest of the plan that was shown. Each attempt compares it, under the
// window's lock, with the digest of what would be written; an empty digest skips this check.
// Each staged change has an author. Authors are not part of the state; Attribute restores
// them from the steps of the journal.
//
// # Concurrency
//
// All methods may be called from any goroutine and return copies. Methods without a context
// do no I/O unless they say so, except that the first call that needs a provider's models
// reads them from the disk. While the window is locked, methods that make changes for the
// user return ErrLocked; the tools still work.
//
// # Caveats
//
//   - The rules hide models from the proxy's list; the proxy still routes a direct call
//     to a hidden model. The proxy reads the rules when it starts.
//   - Model ids and patterns are not sanitised; the code that draws them makes
//     them safe for a terminal. In what the language model gets, invisible
//     characters are made visible, and each id or pattern is truncated to 200
//     characters.
//   - Patterns in the file are used unchanged, including duplicates; only
//     new patterns are checked.
package modelfilter
