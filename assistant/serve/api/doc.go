// Package api serves the sessions of a serve.Hub over HTTP: requests are JSON, the
// events of a turn are a stream of server-sent events.
//
// # Nouns
//
// A Server is the handler and the end of its process. An operation is a method and a path,
// registered with huma: from its Go types huma makes the OpenAPI document and checks every
// request. A Cause is why a request is refused; an operation lists its own. A frame is an event as it goes over the wire,
// encoded once for all its readers. A stream is a session with the frames of its turns
// and of the changes in the window, under numbers that ascend by one; a follower reads
// it at its own pace from any number on.
//
// # Safety
//
// Every request but /healthz needs the token. A Host header that is not the server's
// own, and an Origin of another site, are refused before: neither a name that is
// rebound to this address nor a page in the user's browser gets an answer. What is
// refused is logged, without token, query and body. Failures are problem details (RFC
// 9457) with a code; one that the client did not cause says no more than that, and none
// repeats a value of a body that does not fit.
//
// # Who may call what from where
//
// All methods are safe from any goroutine. A follower that reads too slowly is dropped:
// it blocks neither the turn nor other followers, and continues after the last number
// that it has read. A turn does not end with the request that began it.
//
// # Caveats
//
// The numbers of a stream begin at the time when its session was opened, in
// milliseconds, so that a number of an earlier run is never taken for one of this run. A
// stream stores its newest 16,384 frames, of 32 MiB at most.
//
// A session without a request, a turn and a follower for Options.Idle is closed; it can
// be opened again with its id. When maxStreams are open, the one that was unused longest
// makes room, of the user who has the most.
//
// A question that nobody answers within five minutes is answered with no.
//
// huma keeps the type of its errors and whether the case of a field counts in variables of
// the process; the first Server sets them.
//
// The streams are written here and not with huma/sse, which encodes an event for each
// reader, cannot refuse a request before the stream, and has no limit for a slow reader
// but a variable of the process.
package api
