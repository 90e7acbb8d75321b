package markdown

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
	"sync"

	"charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	"github.com/alecthomas/chroma/v2"
	xansi "github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"winnow/tui/style"
)

// Style is a look for documents: the parser, the renderer and the colours of code. Create
// one per theme and share it; it may be used from any goroutine.
type Style struct {
	look   style.Markdown
	parser parser.Parser

	mu       sync.Mutex        // glamour's renderer keeps state between calls
	inline   renderer.Renderer // for headings, which are blocks in glamour
	flow     renderer.Renderer // for all other text
	rendered textBuffer        // output of inline or flow

	syntax map[chroma.TokenType]string // style sequences by token type, see token
	code   string                      // style sequence for all other tokens

	bar, bullet, ticked, blank string // prefixes of the lines of quotes and items
	wrapped                    cell   // starts the lines of code after a break
	column                     string // separates two columns
	plain, tableHead           string // style sequences of text and of table heads
}

// NewStyle returns a Style with the styles of a theme.
func NewStyle(look style.Markdown) *Style {
	s := &Style{look: look, parser: newParser()}
	s.inline, s.flow = newRenderer(config(look)), newRenderer(flowConfig(look))
	s.bar, s.bullet = look.Quote.Render(look.Bar)+" ", look.Item.Render(look.Bullet)+" "
	s.ticked, s.blank = look.Item.Render(look.Ticked)+" ", look.Item.Render(look.Blank)+" "
	s.wrapped = cell{text: look.Wrapped, width: 1, pen: pen{style: sequence(look.TableLine)}}
	s.column = " " + look.TableLine.Render(look.Column) + " "
	s.plain, s.tableHead = sequence(look.Text), sequence(look.TableHead)
	s.code, s.syntax = sequence(look.CodeBlock), map[chroma.TokenType]string{}
	for token, st := range syntaxStyles(look.Syntax) {
		s.syntax[token] = sequence(st)
	}
	return s
}

// newParser returns goldmark's parser with GitHub's extensions and without raw HTML:
// Vec<String> and <think> are text here.
func newParser() parser.Parser {
	withoutHTML := func(parsers []util.PrioritizedValue) []util.PrioritizedValue {
		return slices.DeleteFunc(parsers, func(p util.PrioritizedValue) bool {
			return p.Value == any(parser.NewHTMLBlockParser()) || p.Value == any(parser.NewRawHTMLParser())
		})
	}
	p := parser.NewParser(
		parser.WithBlockParsers(withoutHTML(parser.DefaultBlockParsers())...),
		parser.WithInlineParsers(withoutHTML(parser.DefaultInlineParsers())...),
		parser.WithInlineParsers(util.Prioritized(globParser{}, 400)), // before emphasis
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
	return goldmark.New(goldmark.WithParser(p), goldmark.WithExtensions(extension.GFM)).Parser()
}

func newRenderer(c ansi.StyleConfig) renderer.Renderer {
	glamour := ansi.NewRenderer(ansi.Options{Styles: c, PreserveNewLines: true})
	return renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(glamour, 1000)))
}

// flowConfig is config for text outside glamour's blocks: each style includes what it would
// inherit from a paragraph. glamour's writers for blocks, which pad and indent
// unnecessarily, take longer than everything else.
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

// config returns the part of glamour's configuration needed for inline text and headings;
// blocks are drawn by this package.
func config(look style.Markdown) ansi.StyleConfig {
	c := ansi.StyleConfig{
		Text: primitive(look.Text), Strong: primitive(look.Strong), Emph: primitive(look.Emph),
		Strikethrough: primitive(look.Strike), Link: primitive(look.Link), LinkText: primitive(look.LinkText),
		Code: ansi.StyleBlock{StylePrimitive: primitive(look.Code)},
	}
	// The words of a heading are Text too; without a colour of their own, they inherit the
	// colour of the heading.
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

// primitive converts a lipgloss style to glamour's type.
func primitive(s lipgloss.Style) ansi.StylePrimitive {
	yes := func(b bool) *bool {
		if !b {
			return nil
		}
		return &b
	}
	return ansi.StylePrimitive{
		Color: ansiColour(s.GetForeground()), BackgroundColor: ansiColour(s.GetBackground()),
		Bold: yes(s.GetBold()), Italic: yes(s.GetItalic()), Underline: yes(s.GetUnderline()),
		CrossedOut: yes(s.GetStrikethrough()), Inverse: yes(s.GetReverse()), Faint: yes(s.GetFaint()),
	}
}

// ansiColour converts a colour for glamour; nil means the terminal's default.
func ansiColour(c color.Color) *string {
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

// sequence returns the escape sequence that starts a style.
func sequence(s lipgloss.Style) string { return style.Compile(s).Sequence() }

// paint returns s in a style, which is reset at its end.
func paint(sequence, s string) string {
	if sequence == "" || s == "" {
		return s
	}
	return sequence + s + styleEnd
}

// syntaxStyles returns the styles of source code by token, subcategory or category.
func syntaxStyles(s style.Syntax) map[chroma.TokenType]lipgloss.Style {
	return map[chroma.TokenType]lipgloss.Style{
		chroma.Keyword: s.Keyword, chroma.KeywordType: s.Type, chroma.CommentPreproc: s.Keyword, chroma.CommentPreprocFile: s.Keyword,
		chroma.Name: s.Name, chroma.NameFunction: s.Function, chroma.NameFunctionMagic: s.Function, chroma.NameDecorator: s.Function,
		chroma.NameBuiltin: s.Builtin, chroma.NameBuiltinPseudo: s.Builtin, chroma.NameAttribute: s.Builtin, chroma.NameConstant: s.Builtin,
		chroma.NameClass: s.Type, chroma.NameNamespace: s.Type, chroma.NameTag: s.Type, chroma.NameException: s.Type,
		chroma.Literal: s.Number, chroma.LiteralString: s.String, chroma.Comment: s.Comment,
		chroma.Operator: s.Operator, chroma.Punctuation: s.Operator, chroma.Error: s.Error,
		chroma.GenericInserted: s.Added, chroma.GenericDeleted: s.Removed, chroma.GenericHeading: s.Heading, chroma.GenericSubheading: s.Heading,
	}
}

// token returns the style sequence for a token of code.
func (s *Style) token(t chroma.TokenType) string {
	for _, kind := range [...]chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if before, ok := s.syntax[kind]; ok {
			return before
		}
	}
	return s.code
}
