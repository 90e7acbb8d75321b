// Package openai is the client of any endpoint that speaks OpenAI's chat
// completions protocol. It is the only user of the openai-go module, which
// builds and sends the requests; all responses are parsed here.
//
// # Types
//
// A Client is one endpoint: base URL, key and timeouts. An exchange is one HTTP
// request with its response. A stream is one call of Stream: an exchange, and after a
// failure before the first content up to three more. A frame is one event of a
// response body (server-sent events, a JSON document, or JSON lines); a chunk is a
// parsed frame; an answer assembles chunks and decides whether the response is whole.
//
// # Concurrency
//
// All methods of a Client are safe from any goroutine. A stream belongs to the
// goroutine that ranges over it; leaving the loop or cancelling its context
// closes the connection.
//
// # Caveats
//
// A <think> tag opens reasoning only at the start of an answer or after white
// space, so prose about `<think>` stays prose; a tag alone on a line of a code
// block is still taken for reasoning. White space after either tag is dropped.
//
// Events have no sequence numbers. A lost or repeated event is noticed by what it
// leaves behind: an unreadable line, a call that arrives twice, arguments that are not
// JSON. One whole event of a call's arguments that is lost or doubled without such a
// trace is not noticed: two equal pieces in a row are legal.
//
// Arguments are passed on as received, except that invalid UTF-8 becomes U+FFFD.
// Ids and names lose control characters; a call without an id, or with the id of
// another call, is given one.
//
// Models omits ids with control characters or invalid UTF-8, which could not be both
// shown and sent. Other invisible characters stay: show ids with safetext.Visible.
//
// The key goes to the scheme, host and port of the base URL and nowhere else.
// Nothing is read from the environment but the proxy settings of net/http.
package openai
