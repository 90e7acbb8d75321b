// Package chat shows the conversation: one item per message pair, in a list
// that draws only what is visible.
//
// # Types
//
// A View shows the visible pairs and where the boundary is. A pair is an item made
// of parts: the user's message, the reasoning, stretches of text, tool cards,
// payload cards, a notice or an error, the choices. One part has the focus. Pairs
// that are not loaded are placeholders; Missing names those near the screen, and
// Load fills them in.
//
// StartTurn shows a running pair, Apply shows each event of its turn, and Load
// puts the stored pair in its place.
//
// A part has lines, which are made when they are asked for, and reports of each how it
// is joined to the one above it and how many of its cells are no text. A selection is
// two cells of pairs: it copies the text as drawn, without gutter, bars and padding, and
// with the line breaks of the width joined. It stays while the answer grows and the view
// scrolls, and ends when the width changes or a part is opened or closed. Answer,
// Markdown and Code return the source instead.
//
// SetPayloadTypes says how the payloads of a type look and whether they are accepted;
// rule_proposal is known. The others show a summary and their folded JSON.
//
// # Budget
//
// A frame lays out no more than frameBudget: of longer texts, wherever they stand, it shows
// "…", and LayOut goes on with them, a budget at a time. So no frame takes long, and memory
// is a small multiple of the text.
//
// # Concurrency
//
// A View belongs to the goroutine that runs Update and View. It does no I/O.
//
// # Caveats
//
// At most maxLoaded pairs stay loaded; one that is scrolled back to is missing again.
// The lines of an item contain neither the gutter nor the dimming of pairs that are
// off-context: those are drawn per row, so a moving boundary redraws no pair.
package chat
