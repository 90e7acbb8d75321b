// Package markdown renders Markdown that arrives in pieces.
//
// A Doc is one text. Append adds to it, Finish ends it, Lines draws it. The text
// is taken apart line by line as CommonMark says: a stack of open containers
// (quotes and items) and one open leaf block (a paragraph, a heading, code, a
// table). A closed block is rendered once, and its lines are kept for the width
// at hand. A document is the lines of its blocks one after the other, so it is
// the same however the text was cut into pieces, and nothing jumps at the end.
//
// The cost of a token does not depend on how long the answer is:
//
//   - a long paragraph is split into pieces, each going on from the last line of
//     the one before;
//   - code is split at lines that end outside of strings and comments; of open
//     code only what follows the last such line is coloured again;
//   - a table is split into pieces with the columns of the first;
//   - quotes and items cost nothing: they are what the lines of a block begin with;
//   - a link definition that arrives late renders the blocks that use it again.
//
// goldmark parses what stands in a paragraph, a heading or the row of a table,
// and glamour draws it, as far as it draws it right:
//
//	construct       glamour's fault                                   our way
//	raw HTML        drops Vec<String> and <think>                     goldmark has no parsers of raw HTML
//	text, code      resolves entities and escapes twice               the tree is copied with both encoded, see copier
//	link, image     makes a hyperlink of every text with an address   text, then the address; only the address is a hyperlink
//	unknown nodes   prints a warning to standard output               the copy has known nodes only
//	block, heading  pads lines to the full width                      text is drawn outside of blocks, and headings are trimmed
//	list item       glues the second paragraph to the first           own layout, behind the bullet
//	code            loses the indent of wrapped lines; one theme      own layout; chroma with the style's own colours
//	                for the whole process
//	table           numbers links as footnotes, no growing            own layout
//	renderer        keeps state between calls                         a lock around each call
//
// A pattern such as “*mini*” or *-preview* is no emphasis, see globParser.
//
// No line is wider than it may be, none ends in blanks, none leaves a style open.
// LineInfos says which line breaks are those of the width, for copying.
//
// # Budget
//
// Quotes and items deeper than maxDepth are text. After maxNodes blocks or
// maxBytes the rest of a document is a Text, with a line that says so. So CPU
// and memory are linear in the text, whatever it is. Only the languages in coloured
// are coloured.
//
// A Text is plain text of any length. It counts its lines as far as it is asked to, keeps
// the beginning of one in lineStep of them, and makes those that are asked for.
//
// # Concurrency
//
// A Style is how documents look, shared by all of a theme and safe for use from
// any goroutine. A Doc belongs to one goroutine. The slices that Lines returns are
// the Doc's: read them, up to the next call.
//
// # Caveats
//
// Text should be sanitised before it comes here; control characters are replaced
// all the same. A paragraph longer than three kilobytes whose emphasis stays open
// all along loses it where it is split. The columns of a table are those of its
// first 200 rows: what is wider in the others is wrapped. A line of more than a
// kilobyte is text or code. Definition lists, footnotes and math are text.
package markdown
