// Package engine computes which models of a provider the proxy's rules hide, by which rule,
// and which models an edit to the rules would hide or show.
//
// # Rule
//
// A rule is a glob pattern in one of two lists, Ignore and Allow. It matches a model by its
// id without the first `/` segment or by its whole id. A model with a matching allow rule
// is Whitelisted, any other model with a matching ignore rule is Ignored, and all others
// are Normal. The first matching rule of the deciding list decides. Ignored models are
// hidden from the proxy's list.
//
// The proxy applies a provider's rules to ids whose first segment is exactly the provider's
// lower-case name, and to ids without a slash, which belong to the provider that listed
// them. All other ids are Unfiltered: they are always Normal, and only Total and Available
// count them; no preview and no match includes them.
//
// # Engine
//
// An Engine does no I/O and starts no goroutines. It is not safe for concurrent use while
// it is changed; a Clone that is never changed is safe. Results are copies that do not
// change with the engine. Adding or removing a rule does not match the other rules again.
//
// # Caveats
//
// Coverage between rules is exact for all ids that the provider can have. If a search gives
// up, the rule counts as not covered and is listed as undecided.
package engine
