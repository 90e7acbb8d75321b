// Package engine computes which models of a provider the proxy's rules hide, by
// which rule, and what a change of the rules would change.
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
// An Engine does no I/O and starts no goroutine; it has one owner, who may not
// call it from several goroutines at once. Whatever it returns is a value of
// the caller's own and stays as it was when the engine changes. Adding or
// removing a rule costs that rule's own matches, not the whole table.
//
// # Caveats
//
// Coverage between rules is exact for the ids of the provider, present and
// future; where the search is given up the rules count as not covered, and the
// answer names them as undecided.
//
// This implements the statuses and checks of section 9 of the specification.
package engine
