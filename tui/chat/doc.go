// Package chat shows the conversation: one item a message pair, in a list that
// is drawn only where it is seen.
//
// # Nouns
//
// A View shows the visible pairs and knows where the boundary is. A pair is an
// item made of parts: what the user said, the reasoning, stretches of text,
// tool cards, payload cards, a notice or an error, the suggestions. One part
// has the focus. Pairs that are not loaded yet are placeholders; Missing names
// those that are on the screen, and Load fills them in.
//
// The running pair is fed with the events of its turn and drawn from them until
// Settle puts the stored pair in its place.
//
// A part draws lines, and says of each how it is joined to the one above it and how
// many of its cells are no text. A selection with the mouse is two cells of parts:
// it copies the text as drawn, without gutter, bars and padding, and with the line
// breaks of the width joined. It stays where it is while the answer grows and the
// view scrolls, and ends when the width changes. Answer, Markdown and Code give
// the source instead.
//
// A Handler says how the payloads of a type look and what the user can make of
// them; rule_proposal has one. The others show a summary and their folded JSON.
//
// # Who may call what
//
// A View belongs to the goroutine that runs Update and View. It does no I/O.
//
// # Caveats
//
// At most keepItems pairs stay loaded; one that is scrolled back to is asked
// for again. Lines of an item never hold the gutter or the dimming of pairs
// that are off-context: those are drawn per row, so that a moving boundary
// renders nothing anew.
package chat
