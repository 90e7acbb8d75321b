// Package modelfilter is the model filter window. It edits the rules that hide models of an
// LLM proxy's providers, which are stored as IGNORE_MODELS_<PROVIDER> and
// WHITELIST_MODELS_<PROVIDER> in the proxy's `.env`.
//
// # Types
//
// A Window holds the rules of all providers, both saved and staged; nothing is written
// before Save. A Scope is the part of the window for one provider; the Window's own Scope
// follows the current provider. The lists of a provider are Ignore and Allow; the proxy and the
// assistant call the second one "whitelist".
//
// # Where rules come from
//
// A variable of the real environment takes precedence over the file, as in the proxy; such
// a list is shown but cannot be edited. A list that is set only in another *.env file in
// the folder can be edited: a save writes it to the `.env`, which takes precedence.
//
// If another program changes the file, Watch and Save merge the staged rules into the
// changed file. PlanSave takes the merge into account but changes nothing. There is a
// conflict only if both sides changed the same rule differently, or if Save finds that the
// file was deleted; RefreshSaved resolves it.
//
// # What is saved
//
// A save names, by its digest, the plan that was shown. At every attempt, under the
// window's lock, this digest is compared with the digest of what would be written. Each
// staged change has an author. Authors are not part of the state; Attribute restores them
// from the steps of the journal.
//
// # Concurrency
//
// All methods may be called from any goroutine and return copies. Methods without a context
// do no I/O unless they say so. While the window is locked, methods that make
// changes for the user return ErrLocked; the tools still work.
//
// # Caveats
//
//   - The rules hide models from the proxy's list; the proxy still routes a direct call
//     to a hidden model. The proxy reads the rules when it starts.
//   - Model ids and patterns are not sanitised; the code that draws them makes
//     them safe for a terminal. For the language model, invisible characters
//     are made visible and the text is truncated to 200 characters.
//   - Patterns in the file are used unchanged, including duplicates; only
//     new ones are checked.
package modelfilter
