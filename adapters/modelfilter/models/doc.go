// Package models lists the models of a proxy's providers: where each list comes
// from, which models are new, and whether the proxy serves the models that its
// rules leave available.
//
// # Types
//
// The catalogue is what is compiled in: providers, models, context windows and
// prices. A [List] is what is known of one provider's models now. [Lists] stores
// them, in memory and in a folder. The baseline is every id that the user has seen
// at a provider, also one that has disappeared. [Drift] is the difference between
// what the proxy serves and what its rules leave available.
//
// Provider names are as in the proxy: the lower-case text before _API_KEY.
// Model ids are "provider/name".
//
// # What a fetch changes
//
// A fetch that fails, or returns an empty, an oversized or an unusable list, leaves
// the stored list as it was. The proxy leaves out what its rules hide, so its list
// only adds models. A List is the union of what the provider lists, of what the proxy
// serves and has served, and, unless the provider's own list is known to be complete,
// of the catalogue; such a List is Partial. Each model has its source.
//
// # Keys
//
// The key <P>_API_KEY goes to <P>_API_BASE, or else to the provider's address
// that is compiled in; PROXY_API_KEY goes to the proxy. A key is not sent to a base
// that is set in another place than the key, unless that place is the user's own
// environment, or the user confirmed the base for the key. A key that expands a variable
// of the environment counts as one of the environment. Only the provider that is asked
// for is contacted.
//
// # Concurrency
//
// All functions and methods are safe from any goroutine and return copies. Only
// [Lists.Models], [Lists.Served] and [Lists.Drift] go to the network; [Lists.Accept]
// uses what others got there. Two processes may share a folder.
//
// # Caveats
//
// Ids are stored as the provider writes them, also with invisible characters:
// show them with safetext.Visible. Those with control characters or broken
// UTF-8, with space at an end, or longer than 200 characters are left out.
//
// The catalogue is as old as this build, and lists the models that people chat
// with, not all.
package models
