// Package api serves the sessions of a serve.Hub over HTTP. Requests are JSON; the events of a turn are a stream of
// server-sent events.
//
// # Terms
//
// A Server handles the requests and shuts down the sessions when the process ends. An operation is a method and a path,
// registered with huma. From the Go types of the operations, huma generates the OpenAPI document and validates every
// request. A Cause is a reason why a request is refused; each operation lists its own causes. A frame is an event in
// the form that is sent, encoded once for all followers. A stream is a session together with the frames of its turns
// and of the changes to the window; the numbers of the frames increase by one. A follower reads the stream at its own
// speed, starting at any number.
//
// # Safety
//
// Every request except /healthz and /readyz needs a token. Requests with a Host header that does not name the server,
// or with an Origin of another site that Options.Origins does not name, are refused before their token is checked. This
// stops DNS rebinding and requests by pages in the user's browser. Refused requests are logged, without token, query
// and body. Errors are problem details (RFC 9457) with a code. A problem with the code internal contains no details,
// and no problem repeats an invalid value of a body.
//
// # Concurrency
//
// All methods may be called from any goroutine. A follower that reads too slowly is disconnected, so that it blocks
// neither the turn nor other followers; it can continue after the last number that it has read. A turn does not end
// with the request that started it.
//
// # Repeated requests
//
// A POST with an Idempotency-Key is carried out once: if the request is repeated with the same key within 24 hours, it
// gets the same response. With Options.StoredResponses, this survives a restart, a kill and a power failure. If the server ended
// between the start of a request and its response, the outcome of the request is unknown, and a repetition is refused.
// Two users may use the same key. The only POST under /v1 that ignores the key is the one that creates a token, because
// its response must not be stored. A request without a key is carried out each time.
//
// Every GET that responds with JSON has an ETag. The ETag of a plan is its digest, and the ETag of the checkpoints is
// the newest step. A save, a discard and a rollback name that ETag in If-Match, or the digest or step in the body.
//
// # Lists
//
// Every list that can grow is divided into pages by pageOf: the lists of sessions, tokens, proposals, pairs, answers
// and checkpoints. The first page of pairs and of checkpoints contains the newest entries, and the first page of the
// other lists contains the oldest. A plan and an exported window have no pages: they are no larger than the rules, and
// a digest covers the whole plan.
//
// # Caveats
//
// The numbers of a stream begin with the time at which its session was opened, in milliseconds, so that a number from
// an earlier run is never mistaken for a number of this run. A stream stores its newest Options.Events frames, up to
// Options.EventBytes.
//
// A session that has no request, no turn and no follower for Options.Idle is closed; it can be reopened with its id. If
// Options.Sessions sessions are open, the server makes room for a new one by closing an unused session: among the
// sessions of the user with the most unused sessions, the one that has been unused for the longest time.
//
// If a question is not answered within five minutes, the server answers no.
//
// huma stores the type of its errors and the case sensitivity of fields in global variables; the first Server sets
// them.
//
// The streams are not written with huma/sse, because huma/sse encodes an event once for each reader, cannot refuse a
// request before the stream begins, and can limit slow readers only with a global variable.
package api
