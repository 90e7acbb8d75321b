// Package markdown renders Markdown that arrives in pieces.
//
// A Doc is one text. Append adds to it, Finish ends it, Lines draws it. The
// text is split into blocks (a paragraph, an item of a list, some code, a
// table) at boundaries that no later text can move; every block but the last
// is parsed and styled once, and its lines are kept for the width at hand. The
// whole is the lines of the blocks one after the other, so it is the same
// however the text was cut into pieces, and nothing jumps at the end. The cost
// of a token does not depend on how long the answer is already:
//
//   - a long paragraph is cut into pieces of some pages, and goes on from the
//     last line of the piece before;
//   - code is coloured from the last line that ends outside of strings and
//     comments, and once more when a piece of it, some screens, is whole;
//   - a list is as many blocks as it has items;
//   - a large item or quote is a document of its own;
//   - a table keeps its rows; its columns widen in steps while it is short;
//   - a link definition that arrives late renders the blocks that use it again.
//
// goldmark parses, without the parsers of raw HTML: Vec<String> and <think>
// stay what they are. glamour renders what stands in a line; the shape of the
// blocks is this package's, as its own faults there are many (see walker). No
// line is wider than it may be, none ends in blanks, none leaves a style open.
// A link is shown with its address, and only an address can be clicked.
//
// Trace, Word, Paragraph and Slice go the other way: from what is seen to the
// Source that it shows, so that a selection copies Markdown and not a screen.
//
// A Style is the look, shared by all documents of a theme and safe for use
// from any goroutine. A Doc belongs to one goroutine. The slices that Lines
// and BlockLines return are the Doc's: read them, up to the next call.
//
// # Caveats
//
// Text should be sanitised before it comes here; control characters are
// replaced all the same. A paragraph longer than three kilobytes whose
// emphasis stays open all along loses it where it is cut. The columns of a
// table are those of its first rows: what is wider in the others is wrapped.
// Definition lists, footnotes and math are text.
//
// It implements the rendering of answers of the design's sections 3 and 14.
package markdown
