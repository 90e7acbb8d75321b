// Package engine computes which models of a provider the proxy's rules hide, by
// which rule, and which models an edit of the rules would hide or show.
//
// # Rule
//
// A rule is a glob pattern in one of two lists, Ignore and Allow. It matches a
// model by its id without the first `/` segment or by its whole id. A model
// with a matching allow rule is Whitelisted, else one with a matching ignore
// rule is Ignored, else it is Normal; the first matching rule of the deciding
// list decides. Ignored models are hidden from the proxy's list.
//
// The proxy applies a provider's rules to ids whose first segment is exactly the
// provider's lower-case name, and to ids without a slash, which belong to the
// provider that listed them. All other ids are Unfiltered: always Normal, and
// no count, preview or match includes them.
//
// # Engine
//
// An Engine does no I/O, starts no goroutine and is not safe for concurrent use, except
// that any number of goroutines may use an engine that does not change: a Clone.
// Results are copies: they do not change with the engine. Adding or removing a
// rule takes time for the models that this rule matches, not for all models.
//
// # Caveats
//
// Coverage between rules is exact for all ids that the provider can have. Where
// the search for it is given up, the rules count as not covered and are listed as
// undecided.
package engine
