package markdown

import (
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// globParser leaves the asterisks of a pattern alone that stands outside of a code
// span, where it is plainly no emphasis: in quotes, or beside the sign that parts
// the names of models.
type globParser struct{}

// quotedGlob is a pattern up to the quotation mark that ends it; partGlob is one
// that begins with an asterisk before a separator.
var (
	quotedGlob = regexp.MustCompile(`^([\w*?./:\-]*[\w?./:\-][\w*?./:\-]*)["'”’“»]`)
	partGlob   = regexp.MustCompile(`^\*[\-/.:]\w[\w*?./:\-]*`)
)

// Trigger implements parser.InlineParser.
func (globParser) Trigger() []byte { return []byte{'*'} }

// Parse implements parser.InlineParser.
func (globParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	n := 0
	switch block.PrecendingCharacter() {
	case '"', '“', '„', '‘', '«', '\'':
		if m := quotedGlob.FindSubmatch(line); m != nil {
			n = len(m[1])
		}
	case ' ', '\n', '(', '[', ',':
		n = len(partGlob.Find(line))
	case '-', '/':
		if n = len(partGlob.Find(line)); n == 0 && (len(line) == 1 || line[1] != '*' && !isWord(line[1])) {
			n = 1
		}
	}
	if n == 0 {
		return nil
	}
	block.Advance(n)
	return ast.NewTextSegment(segment.WithStop(segment.Start + n))
}
