package markdown

import (
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"pgregory.net/rapid"

	"winnow/tui/style"
)

// inBlock renders n as glamour does: as a paragraph of a document.
func (s *Style) inBlock(n ast.Node, src []byte) string {
	c := copier{src: src}
	block := ast.NewParagraph()
	c.children(block, n)
	if block.FirstChild() == nil {
		return ""
	}
	doc := ast.NewDocument()
	doc.AppendChild(doc, block)
	return strings.Trim(s.drawn(s.inline, c.buf, doc, n, src), "\n")
}

// Text must look as if it stood in a paragraph of glamour's.
func TestFlowLooksLikeAParagraph(t *testing.T) {
	looks := []*Style{look, NewStyle(style.New(style.Options{Colors: style.None}).Markdown), NewStyle(style.New(style.Options{Colors: style.Col16}).Markdown)}
	rapid.Check(t, func(t *rapid.T) {
		src := []byte(markdown().Draw(t, "source"))
		for _, s := range looks {
			root := New(s).parse(src)
			_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
				if !entering || n.Kind() != ast.KindParagraph {
					return ast.WalkContinue, nil
				}
				got, want := s.inFlow(n, src), s.inBlock(n, src)
				if !slices.Equal(wrap(got, 1000), wrap(want, 1000)) {
					t.Fatalf("%q\nin flow  %q\nin block %q", src, wrap(got, 1000), wrap(want, 1000))
				}
				return ast.WalkContinue, nil
			})
		}
	})
}
