// Package markup finds what is embedded in the text of an answer: payloads that a model writes after a marker, and
// the card markers of its tool calls.
//
// # Nouns
//
// A payload is "MARKER: {json}". A Parser extracts the payloads of some Kinds from streamed text and returns
// Segments. The card marker [[tool:N]] is where the card with the result of tool call N is shown; Pieces splits the
// text at card markers. A Guard escapes similar text written by a model, so that only real calls have cards.
//
// # Caveats
//
// A Parser and a Guard belong to one goroutine and process one answer each. Chunks may end anywhere: both hold text
// back while it may be the beginning of a marker or of its JSON. Time and memory are linear in the text.
package markup
