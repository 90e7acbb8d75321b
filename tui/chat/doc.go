// Package chat shows the conversation as a list with one item per message pair. Only the
// visible part of the list is drawn. A second view shows a request to the model.
//
// # Types
//
// A View shows the visible pairs and the boundary. A pair is an item that consists of
// parts: the user's message, the reasoning, stretches of text, tool cards, payload cards, a
// notice or an error, and the choices. One part has the focus. Pairs that are not loaded
// are placeholders; Missing lists those near the screen, and Load fills them in.
//
// StartTurn shows a running pair, Apply shows each event of its turn, and Load replaces it
// with the stored pair.
//
// The lines of a part are created on demand. For each line, the part reports how it is
// joined to the line above and which cells are not text. A selection may span several
// pairs; its text is copied as drawn, without gutter, bars, padding and soft line breaks.
// It stays while the answer grows and the view scrolls, and ends when the width changes or
// a part is opened or closed. Answer, Markdown and Code return the source instead.
//
// SetPayloadTypes determines how payloads of each type look and whether they can be
// accepted; rule_proposal is built in. The card of any other type shows a summary and, when
// open, the JSON.
//
// A RequestView is an overlay that shows a request to a model in readable form: a section
// for the parameters, one for the tools, and one for each message, with their sizes in
// tokens. Sections can be folded; at first only the newest message is open. A search opens
// the sections that contain the text. One key shows the exact bytes instead. SentRequests
// returns the stored requests of a pair with titles.
//
// # Budget
//
// A frame lays out as much text as frameBudget pays for. It shows "…" for the rest of a long
// text, and LayOut continues with the rest, one budget at a time. So no frame takes long, and
// memory is a small multiple of the text.
//
// # Concurrency
//
// A View or RequestView must be used by the goroutine that runs Update and View, and does
// no I/O.
//
// # Caveats
//
// If more than maxLoaded pairs are loaded, those far from the screen are unloaded; Missing
// lists them again when they come near. The lines of an item contain neither the gutter nor
// the dimming of pairs outside the context: both are drawn per row, so that no pair is
// redrawn when the boundary moves.
//
// A RequestView shows at most maxShown bytes of a text or of the exact request; a line says
// how much is not shown. The bytes of a picture are replaced by a description. Texts are
// untrusted: they are drawn with invisible characters made visible. Token counts are
// estimates. A request that cannot be parsed is shown as bytes.
package chat
