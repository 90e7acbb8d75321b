// Package markup finds what stands between the text of an answer: the payloads
// that a model writes after a marker, and the card markers of its tool calls.
//
// # Nouns
//
// A payload is "MARKER: {json}". A Parser takes those of some Kinds out of streamed
// text, in Segments. The card marker [[tool:N]] is where the card with the result
// of tool call N is shown; Pieces splits a text at them. A Guard escapes
// what a model writes that looks like one, so that only a call has a card.
//
// # Caveats
//
// A Parser and a Guard belong to one goroutine and read one answer each. Both
// hold text back only while it may be the beginning of a marker, or of its JSON:
// a chunk may end anywhere. Time and memory are linear in the text.
package markup
