package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"

	"winnow/tui/style"
)

// Style is a look for documents: the parser, the renderer and the colours of
// code. Make one per theme and share it; it may be used from any goroutine.
type Style struct {
	look   style.Markdown
	parser parser.Parser
	faces  faces
	syntax [syntaxClasses]string // style sequence by class of token
}

// NewStyle makes a Style from the styles of a theme.
func NewStyle(look style.Markdown) *Style {
	s := &Style{look: look, parser: newParser(), faces: newFaces(look)}
	for class, st := range syntaxStyles(look) {
		s.syntax[class] = sequence(st)
	}
	return s
}

// The priorities of goldmark's own parsers, see its DefaultBlockParsers,
// DefaultInlineParsers and extensions. The parsers of raw HTML are left out:
// Vec<String> and <think> are text here.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
			util.Prioritized(extension.NewTableParagraphTransformer(), 200),
		),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

// sequence is what a style writes before its text.
func sequence(s lipgloss.Style) string {
	before, _, _ := strings.Cut(s.Render("x"), "x")
	return before
}

// paint is s in a style, with the style closed at its end.
func paint(sequence, s string) string {
	if sequence == "" || s == "" {
		return s
	}
	return sequence + s + styleEnd
}

// class is a class of words in source code that look the same.
type class int

const (
	classPlain class = iota
	classKeyword
	classType
	classFunction
	className
	classBuiltin
	classString
	classNumber
	classComment
	classOperator
	classError
	classAdded
	classRemoved
	classHeading

	syntaxClasses
)

func syntaxStyles(look style.Markdown) [syntaxClasses]lipgloss.Style {
	s := look.Syntax
	return [syntaxClasses]lipgloss.Style{
		classPlain: look.CodeBlock, classKeyword: s.Keyword, classType: s.Type, classFunction: s.Function,
		className: s.Name, classBuiltin: s.Builtin, classString: s.String, classNumber: s.Number,
		classComment: s.Comment, classOperator: s.Operator, classError: s.Error,
		classAdded: s.Added, classRemoved: s.Removed, classHeading: s.Heading,
	}
}

// classOf is the class of a chroma token.
func classOf(t chroma.TokenType) class {
	switch {
	case t == chroma.KeywordType:
		return classType
	case t.InCategory(chroma.Keyword):
		return classKeyword
	case t.InSubCategory(chroma.NameFunction), t == chroma.NameDecorator:
		return classFunction
	case t.InSubCategory(chroma.NameBuiltin), t == chroma.NameAttribute, t == chroma.NameConstant:
		return classBuiltin
	case t == chroma.NameClass, t == chroma.NameNamespace, t == chroma.NameTag, t == chroma.NameException:
		return classType
	case t.InCategory(chroma.Name):
		return className
	case t.InSubCategory(chroma.LiteralString):
		return classString
	case t.InCategory(chroma.Literal):
		return classNumber
	case t == chroma.CommentPreproc, t == chroma.CommentPreprocFile:
		return classKeyword
	case t.InCategory(chroma.Comment):
		return classComment
	case t.InCategory(chroma.Operator), t == chroma.Punctuation:
		return classOperator
	case t == chroma.GenericInserted:
		return classAdded
	case t == chroma.GenericDeleted:
		return classRemoved
	case t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return classHeading
	case t == chroma.Error:
		return classError
	}
	return classPlain
}
