// Package modelfilter is the model filter window. It edits the rules that hide
// models of an LLM proxy's providers, which are stored as IGNORE_MODELS_<PROVIDER>
// and WHITELIST_MODELS_<PROVIDER> in the proxy's `.env`.
//
// # Types
//
// A Window has the rules of all providers, as the file has them and as they are
// staged; nothing is written before Save. A Scope is the part of the window that
// concerns one provider; that of the Window follows the current one. The lists of
// a provider are Ignore and Allow; the proxy and the assistant call the second
// one "whitelist".
//
// # Where rules come from
//
// A variable of the real environment wins over the file, as in the proxy; such
// a list is shown and cannot be edited. A list that only another *.env file of
// the folder gives can be edited: a save writes it to the `.env`, which wins.
//
// If another program changes the file, Watch and Save merge the staged rules into
// the changed file; PlanSave plans for that and changes nothing. Only a list that both
// sides changed is a conflict, which RefreshSaved resolves.
//
// # What is saved
//
// A save names the digest of the plan that was shown. It is compared with what would be
// written under the lock of the window, at every attempt. Each staged change has its
// author; authors are no part of the state, Attribute reads them from the steps of the
// journal.
//
// # Concurrency
//
// All methods are safe from any goroutine and return copies. Those without a context
// answer from memory and never wait for disk or network. While the window is locked,
// the methods by which a user changes it return ErrLocked; the tools work.
//
// # Caveats
//
//   - The rules hide models from the proxy's list; a direct call is still routed.
//     The proxy reads them when it starts.
//   - Model ids and patterns are not sanitised; the code that draws them makes
//     them safe for a terminal. For the language model they are made
//     visible and cut at 200 characters.
//   - Patterns of the file are taken as they are, duplicates and all; only what
//     is added is checked.
package modelfilter
