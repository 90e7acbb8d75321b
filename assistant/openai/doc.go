// Package openai talks to any endpoint that speaks the chat completions wire
// of OpenAI. It is the only user of the openai-go module, which builds and
// sends the requests; everything that comes back is read here.
//
// # Nouns
//
// A Client is one endpoint: a base URL, a key and the limits of patience. An
// exchange is one request on the wire; an attempt that fails before its first
// content may be followed by another, which the stream announces. Frames are
// the events of a body, whatever its framing; a chunk is what one frame says;
// an answer puts chunks together and knows when it is whole.
//
// # Who may call what from where
//
// All methods of a Client are safe from any goroutine. A stream belongs to the
// goroutine that ranges over it; breaking off the range closes the connection,
// and so does the end of its context.
//
// # Caveats
//
// A <think> tag opens reasoning only at the start of an answer or after white
// space, so that prose about the tag in back quotes stays prose; a tag alone on
// a line of a code block is still taken for reasoning. White space right after
// either tag is dropped. A </think> that nothing opened stays text.
//
// The arguments of a tool call are what came, except that a character that is
// not valid UTF-8 becomes U+FFFD; ids and names lose control characters, and a
// call without an id, or with another call's, is given one.
//
// Model ids with control characters or broken UTF-8 are left out of Models:
// they could not be both shown and sent. Ids with other invisible characters
// are kept as they are, to be shown with safetext.Visible.
//
// The key goes to the scheme, host and port of the base URL and nowhere else.
// Nothing is read from the environment but the proxy settings of net/http.
//
// It implements spec section 11 and the failure classes of section 8.5.
package openai
