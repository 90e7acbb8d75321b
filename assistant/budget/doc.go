// Package budget decides which message pairs fit in a request, and which to drop if the
// provider rejects it as too long.
//
// # Nouns
//
// All sizes are estimated tokens: characters divided by Params.CharsPerToken, rounded up,
// part by part. A Cost is the size of one pair: the caller adds up the Estimate of its
// serialised parts.
//
// The telemetry and the specification use these abbreviations: CPT is the number of
// characters per token, URA the user request allowance (tokens reserved for the next
// message), AUT the size of the user's text as sent, and NTA the maximum number of pairs
// that one response may drop. X is the number of included pairs, Y the number of visible
// pairs, and T the number of dropped pairs.
//
// ML is the limit of the selected model, SYS is the size of the system prompt and the tool
// schemas, and usable is ML − SYS. A Boundary is the oldest included pair: Predict walks
// back from the newest visible pair and stops before the first pair that would make
// history plus URA exceed usable. A Tracker computes the next Boundary from the previous
// one, so that appending a pair costs no more than the pairs it pushes out.
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
// After a change to CharsPerToken, the caller must measure its pairs again and call
// Tracker.Replace. Estimates are heuristics; only the provider knows the exact size, which
// is why Attempt exists.
//
// The package implements sections 8.4 and 8.5 of the specification.
package budget
