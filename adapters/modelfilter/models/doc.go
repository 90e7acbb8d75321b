// Package models lists the models of a proxy's providers: where each list comes from, which
// models are new, and whether the proxy serves the models that its rules leave available.
//
// # Types
//
// The catalogue is the compiled-in list of providers, models, context windows and prices. A
// [List] is what is currently known about one provider's models. [Lists] stores the lists of
// all providers, in memory and in a folder. The baseline of a provider contains every id that
// the user has seen, including ids that have disappeared. [Drift] is the difference between what the
// proxy serves and what its rules leave available.
//
// Provider names are as in the proxy: the lower-case text before _API_KEY. Model ids are
// "provider/name".
//
// # What a fetch changes
//
// A fetch that fails, or returns an empty, an oversized or an unusable list, does not
// change the stored list. The proxy omits models that its rules hide, so its list only adds
// models. A List is the union of the models that the provider lists and those that the proxy
// serves or has served. Unless the provider's own list is known to be complete, the List also
// contains the catalogue's models. Each model has its source.
//
// # Keys
//
// The key <P>_API_KEY is sent to <P>_API_BASE, or else to the provider's compiled-in
// address; PROXY_API_KEY is sent to the proxy. A key is not sent to a base that is set in a
// different place, unless that place is the user's own environment, the base has the origin
// of the compiled-in address, or the user confirmed the base for the key. A key that expands
// an environment variable counts as part of the environment. Only the requested provider and
// the proxy are contacted.
//
// # Concurrency
//
// All functions and methods may be called from any goroutine and return copies. Only
// [Lists.Models], [Lists.Served] and [Lists.CompareServed] use the network; [Lists.Accept] uses a
// list that was fetched elsewhere. Two processes may share a folder.
//
// # Caveats
//
// Ids are stored as the provider sends them, including invisible characters: show them with
// safetext.Visible. Ids with control characters or invalid UTF-8, with space at either end,
// or longer than 200 characters are dropped.
//
// The catalogue is as old as this build, and lists only chat models.
package models
