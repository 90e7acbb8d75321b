package markdown

import (
	"fmt"
	"image/color"
	"strings"
	"sync"

	"charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	"github.com/alecthomas/chroma/v2"
	xansi "github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"winnow/tui/style"
)

// Style is a look for documents: the parser, the renderer and the colours of
// code. Make one per theme and share it; it may be used from any goroutine.
type Style struct {
	look   style.Markdown
	parser parser.Parser

	mu     sync.Mutex        // glamour's renderer keeps its state between calls
	inline renderer.Renderer // headings, which are blocks of glamour's
	flow   renderer.Renderer // all other text

	syntax [syntaxClasses]string // style sequence by class of token

	bar, bullet, ticked, blank string // what the lines of quotes and items begin with
	column                     string // what stands between two columns
	plain, tableHead           string // style sequences of text and of the head of a table
}

// NewStyle makes a Style from the styles of a theme.
func NewStyle(look style.Markdown) *Style {
	s := &Style{look: look, parser: newParser()}
	s.inline, s.flow = newRenderer(config(look)), newRenderer(flowConfig(look))
	s.bar, s.bullet = look.Quote.Render(look.Bar)+" ", look.Item.Render(look.Bullet)+" "
	s.ticked, s.blank = look.Item.Render(look.Ticked)+" ", look.Item.Render(look.Blank)+" "
	s.column = " " + look.TableLine.Render(look.Column) + " "
	s.plain, s.tableHead = sequence(look.Text), sequence(look.TableHead)
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
			util.Prioritized(globParser{}, 400),
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

func newRenderer(c ansi.StyleConfig) renderer.Renderer {
	glamour := ansi.NewRenderer(ansi.Options{Styles: c, PreserveNewLines: true})
	return renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(glamour, 1000)))
}

// flowConfig is config for text that is in no block of glamour's: what a
// paragraph would hand down is in each style. The writers of a block, which pad
// and indent what needs neither, take longer than all the rest.
func flowConfig(look style.Markdown) ansi.StyleConfig {
	c := config(look)
	base := primitive(look.Text)
	for _, p := range []*ansi.StylePrimitive{&c.Text, &c.Strong, &c.Emph, &c.Strikethrough, &c.Link, &c.LinkText, &c.Code.StylePrimitive} {
		if p.Color == nil {
			p.Color = base.Color
		}
		if p.BackgroundColor == nil {
			p.BackgroundColor = base.BackgroundColor
		}
	}
	return c
}

// config is the part of glamour's configuration that inline text and headings
// need; the shape of the blocks is ours.
func config(look style.Markdown) ansi.StyleConfig {
	c := ansi.StyleConfig{
		Text: primitive(look.Text), Strong: primitive(look.Strong), Emph: primitive(look.Emph),
		Strikethrough: primitive(look.Strike), Link: primitive(look.Link), LinkText: primitive(look.LinkText),
		Code: ansi.StyleBlock{StylePrimitive: primitive(look.Code)},
	}
	// The words of a heading are Text too; without a colour of their own they
	// take that of the heading.
	c.Text.Color = nil
	c.Paragraph = ansi.StyleBlock{StylePrimitive: primitive(look.Text)}
	for i, h := range []*ansi.StyleBlock{&c.H1, &c.H2, &c.H3, &c.H4, &c.H5, &c.H6} {
		h.StylePrimitive = primitive(look.Heading[i])
		if i > 0 {
			h.Prefix = strings.Repeat("#", i+1) + " "
		}
	}
	return c
}

// primitive is a lipgloss style in glamour's words.
func primitive(s lipgloss.Style) ansi.StylePrimitive {
	yes := func(b bool) *bool {
		if !b {
			return nil
		}
		return &b
	}
	return ansi.StylePrimitive{
		Color: colour(s.GetForeground()), BackgroundColor: colour(s.GetBackground()),
		Bold: yes(s.GetBold()), Italic: yes(s.GetItalic()), Underline: yes(s.GetUnderline()),
		CrossedOut: yes(s.GetStrikethrough()), Inverse: yes(s.GetReverse()), Faint: yes(s.GetFaint()),
	}
}

// colour is a colour as glamour reads it, nil for the terminal's own.
func colour(c color.Color) *string {
	var s string
	switch c := c.(type) {
	case nil, lipgloss.NoColor:
		return nil
	case xansi.BasicColor:
		s = fmt.Sprint(uint8(c))
	case xansi.IndexedColor:
		s = fmt.Sprint(uint8(c))
	default:
		r, g, b, _ := c.RGBA()
		s = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	return &s
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
