// Package budget decides which message pairs fit in a request, and which to drop if the
// provider rejects it as too long.
//
// # Nouns
//
// All sizes are estimated tokens: characters divided by Params.CharsPerToken, rounded up,
// part by part. A Cost is the size of one pair: the caller adds up the Estimate of its
// serialised parts.
//
// The telemetry and the specification abbreviate: CPT characters per token, URA the user
// request allowance (tokens reserved for the next message), AUT the tokens of the user's
// text as sent, NTA the maximum number of pairs that one response may drop, X the number of
// included pairs, Y of visible pairs, T of dropped pairs.
//
// ML is the limit of the selected model, SYS the size of system prompt and tool schemas,
// usable = ML − SYS. A Boundary is the oldest included pair: Predict walks from the newest
// visible pair back and stops before the first that would make history plus URA exceed
// usable. A Tracker computes the next Boundary from the previous one, so that appending a
// pair costs no more than the pairs it pushes out.
//
// An Attempt is the state of one send: it starts with the pairs of a Boundary and drops the
// oldest at each overflow. It never moves the Boundary, which is what the user sees. A
// Record is the telemetry of one attempt.
//
// # Concurrency
//
// Functions have no side effects, and the other types are plain data. A Tracker or an
// Attempt must be used by one goroutine.
//
// # Caveats
//
// After a change of CharsPerToken the caller must measure its pairs again and call
// Tracker.Replace. Estimates are heuristics; only the provider knows the exact size, which
// is why Attempt exists.
//
// The package implements spec sections 8.4 and 8.5 and the promise A4.
package budget
