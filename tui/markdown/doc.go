// Package markdown renders Markdown that arrives in pieces.
//
// A Doc is one text. Append adds to it, Finish ends it, Lines draws it. The text is parsed
// line by line as specified by CommonMark, with a stack of open containers (quotes and
// items) and one open leaf block (a paragraph, a heading, code, a table). A closed block is
// rendered once, and its lines are cached for the current width. The lines of a document are
// the lines of its blocks, so they do not depend on how the text was cut into pieces, and
// nothing jumps at the end.
//
// The cost of a token does not depend on the length of the answer:
//
//   - a long paragraph is split into pieces, each continuing the last line of
//     the previous one;
//   - code is split at lines that end outside strings and comments; of open
//     code, only what follows the last such line is highlighted again;
//   - a table is split into pieces with the columns of the first;
//   - quotes and items cost nothing: they are prefixes of the lines of a block;
//   - when a link definition arrives late, only the blocks that use it are
//     rendered again.
//
// goldmark parses the content of paragraphs, headings and table rows. glamour draws the
// result, except where glamour has faults:
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
// A pattern such as “*mini*” or *-preview* is not emphasis, see globParser.
//
// No line exceeds the width, ends in blanks or leaves a style open. LineInfos says which
// line breaks are soft, for copying.
//
// # Budget
//
// Quotes and items deeper than maxDepth are text. After maxNodes blocks and table rows, or
// after maxBytes, the rest of a document is a Text, with a line that says so. So the time and
// memory needed are linear in the length of the text. Only the languages in coloured are
// highlighted.
//
// A Text is plain text of any length. It counts its lines as far as requested, remembers
// where every lineStep-th line starts, and creates lines on demand.
//
// # Concurrency
//
// A Style is the look of documents, shared by all documents of a theme; it may be used from
// any goroutine. A Doc must be used by one goroutine. The slice that Lines returns belongs
// to the Doc and is valid until the next call.
//
// # Caveats
//
// Text should be sanitised first; control characters are replaced in any case. A paragraph
// longer than three kilobytes whose emphasis stays open throughout loses it where it is
// split. The column widths of a table are determined by its first 200 rows; wider cells in
// later rows are wrapped. A line of more than a kilobyte is text or code; a row of a table
// may have 16 kilobytes. Definition lists, footnotes and math are text.
package markdown
