// Package markup finds in the text of an answer what is not text: the payloads that
// a model writes after a marker, and the places of the cards of its tool calls.
//
// # Nouns
//
// A payload is "MARKER: {json}". A Parser takes those of some Kinds out of streamed
// text. A card is the place of the result of tool call N, the marker [[tool:N]]:
// Pieces splits a text at them. What a model writes that looks like one is escaped
// by a Guard, so that a card never opens but where a call was made.
//
// # Caveats
//
// A Parser and a Guard belong to one goroutine and read one answer each. Both
// hold text back only while it may be the beginning of a marker, or of its JSON:
// the chunks may cut it anywhere. Time and memory are linear in the text.
package markup
