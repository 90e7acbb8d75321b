// Package chat shows the conversation: one item per message pair, in a list
// that draws only what is visible. A second view shows the request behind a pair.
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
// A RequestView is an overlay that shows a request to a model as a reader wants it: one
// section for the parameters, one for the tools, one for each message, with what they
// cost. Its sections fold; the newest message is open. A search opens the sections that
// contain the text. One key shows the bytes instead, as they are sent. SentRequests returns
// the stored requests of a pair as a ShownRequest each, with its title.
//
// # Budget
//
// A frame lays out no more than frameBudget: of longer texts, wherever they stand, it shows
// "…", and LayOut goes on with them, a budget at a time. So no frame takes long, and memory
// is a small multiple of the text.
//
// # Concurrency
//
// A View or RequestView belongs to the goroutine that runs Update and View, and does no I/O.
//
// # Caveats
//
// At most maxLoaded pairs stay loaded; one that is scrolled back to is missing again.
// The lines of an item contain neither the gutter nor the dimming of pairs that are
// off-context: those are drawn per row, so a moving boundary redraws no pair.
//
// A RequestView shows at most maxShown of a text, and of the bytes; a line says how many
// are not shown. The bytes of a picture are left out: what stands for them says so. Texts
// are untrusted: they are drawn with invisible characters spelled out. Tokens are
// estimates, as in the counter. A request that is not understood is shown as bytes.
package chat
