// Package openai is a client for any endpoint that speaks OpenAI's chat completions
// protocol. No other package uses the openai-go module, which builds and sends the
// requests; this package parses all responses.
//
// # Types
//
// A Client is one endpoint: base URL, key and timeouts. An exchange is one HTTP request
// with its response. A stream is one call to Stream: an exchange and, if it fails before
// the first content, up to three more. A frame is one event of a response body
// (server-sent events, a JSON document, or JSON lines); a chunk is a parsed frame; an
// answer assembles chunks and decides whether the response is complete.
//
// # Concurrency
//
// All methods of a Client may be called from any goroutine. A stream must be used by the
// goroutine that ranges over it; leaving the loop or cancelling its context closes the
// connection.
//
// # Caveats
//
// A <think> tag opens reasoning only at the start of an answer or after white space, so
// prose about `<think>` stays prose; a tag alone on a line of a code block is still treated
// as reasoning. White space after either tag is dropped.
//
// Events have no sequence numbers. A lost or repeated event is detected by its effects: an
// unreadable line, a call that arrives twice, arguments that are not JSON. The loss or
// repetition of one whole event with call arguments is not detected if it has no such
// effect: two equal pieces in a row are legal.
//
// Arguments are passed on as received, except that invalid UTF-8 becomes U+FFFD. Ids and
// names lose control characters; a call without an id, or with the id of another call, gets
// a new one.
//
// Models omits ids with control characters or invalid UTF-8, which could not be both shown
// and sent. Other invisible characters stay: show ids with safetext.Visible.
//
// The key is sent only to the scheme, host and port of the base URL. The package reads no
// environment variables except the proxy settings of net/http.
package openai
