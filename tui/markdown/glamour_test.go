package markdown

import (
	"bytes"
	"fmt"
	"image/color"
	"slices"
	"strings"
	"testing"

	"charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	xansi "github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"pgregory.net/rapid"

	"winnow/tui/style"
)

// What stands in a line must look as glamour draws it, in every theme: glamour is
// the judge here. It is given a copy of the tree that goldmark made, which holds
// only what it draws rightly: it resolves escapes and entities twice, prints a
// warning to standard output for kinds it does not know, and makes a link of every
// text that has an address. In the copy the text is encoded so that it comes out as
// it should, and a link is its text and its address.
func TestTextLooksAsGlamourDrawsIt(t *testing.T) {
	looks := []*judged{judge(look.look), judge(motley())}
	for _, colors := range []style.Profile{style.None, style.Col16} {
		looks = append(looks, judge(style.New(style.Options{Colors: colors}).Markdown))
	}
	for _, theme := range style.Themes() {
		looks = append(looks, judge(style.New(style.Options{Theme: theme, Unicode: true}).Markdown))
	}
	check := func(t interface{ Fatalf(string, ...any) }, src []byte) {
		for _, s := range looks {
			_ = ast.Walk(New(s.style).parse(src), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
				if !entering || n.Kind() != ast.KindParagraph && n.Kind() != ast.KindHeading {
					return ast.WalkContinue, nil
				}
				got, want := onScreen(s.style.inlineText(n, src)), onScreen(s.draws(n, src))
				if !slices.Equal(got, want) {
					t.Fatalf("%q gives\n%q, glamour draws\n%q", src, got, want)
				}
				return ast.WalkContinue, nil
			})
		}
	}
	for _, src := range []string{
		"a *b **c** d* **e *f* `g`** ~~h *i*~~ `j\\*` [k *l* `m\\*` **`n`** ~~o~~](http://p.q/r) <http://s.t> u@v.w",
		"### a *b* `c` [d](e) <http://f.g> ~~h~~ **i**",
		"# a *b* `c` [d](e) http://f.g ~~h~~ **i**",
		"*[a](http://b.c)* **<http://d.e>** ![f *g* `h`](i.png) [![j](http://k.l/m.png)](http://l.m) [n `o`](#p)",
		"a\\\nb  \nc\nd",
	} {
		check(t, []byte(src))
	}
	rapid.Check(t, func(t *rapid.T) { check(t, []byte(markdown().Draw(t, "source"))) })
}

// motley is a look in which every style has colours of its own.
func motley() style.Markdown {
	n := 0
	next := func() lipgloss.Style {
		n++
		return lipgloss.NewStyle().Foreground(lipgloss.ANSIColor(n)).Background(lipgloss.ANSIColor(n + 100))
	}
	m := style.Markdown{Text: next(), Strong: next().Bold(true), Emph: next().Italic(true), Strike: next(), Code: next(), Link: next(), LinkText: next()}
	for i := range m.Heading {
		m.Heading[i] = next().Reverse(true)
	}
	return m
}

// judged is a look, and glamour in it.
type judged struct {
	style   *Style
	glamour renderer.Renderer
}

func judge(look style.Markdown) *judged {
	return &judged{NewStyle(look), newRenderer(config(look))}
}

// draws is what glamour makes of a paragraph or a heading.
func (j *judged) draws(n ast.Node, src []byte) string {
	c := copier{src: src}
	var block ast.Node = ast.NewParagraph()
	if h, ok := n.(*ast.Heading); ok {
		block = ast.NewHeading(h.Level)
	}
	c.children(block, n)
	if block.FirstChild() == nil {
		return ""
	}
	doc := ast.NewDocument()
	doc.AppendChild(doc, block)
	var out bytes.Buffer
	if err := j.glamour.Render(&out, c.buf, doc); err != nil {
		panic(err)
	}
	return out.String()
}

// onScreen is what a terminal shows of s: each character with its look and link.
// Blanks around the text, which glamour adds, do not count.
func onScreen(s string) []string {
	all := cells(s)
	blank := func(c cell) bool { return strings.TrimSpace(c.text) == "" }
	for len(all) > 0 && blank(all[len(all)-1]) {
		all = all[:len(all)-1]
	}
	for len(all) > 0 && blank(all[0]) {
		all = all[1:]
	}
	var shows []string
	parser := xansi.NewParser()
	for _, c := range all {
		var st uv.Style
		for seqs, state := c.pen.style, byte(0); seqs != ""; {
			_, _, n, next := xansi.DecodeSequence(seqs, state, parser)
			uv.ReadStyle(parser.Params(), &st)
			seqs, state = seqs[n:], next
		}
		shows = append(shows, fmt.Sprintf("%s %+v %s", c.text, st, c.pen.link))
	}
	return shows
}

func newRenderer(c ansi.StyleConfig) renderer.Renderer {
	glamour := ansi.NewRenderer(ansi.Options{Styles: c, PreserveNewLines: true})
	return renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(glamour, 1000)))
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

// copier makes the copy that glamour is given; buf is the copy's source.
type copier struct {
	src, buf []byte
}

// add puts s into the source of the copy and gives its place.
func (c *copier) add(s string) text.Segment {
	start := len(c.buf)
	c.buf = append(c.buf, s...)
	return text.NewSegment(start, len(c.buf))
}

// glamour unescapes entities and then backslashes in text, entities in code.
var (
	forText = strings.NewReplacer("&", "&amp;", `\`, `\\`)
	forCode = strings.NewReplacer("&", "&amp;")
)

func (c *copier) text(s string) *ast.Text {
	return ast.NewTextSegment(c.add(forText.Replace(s)))
}

// children copies the children of from into to.
func (c *copier) children(to, from ast.Node) {
	for n := from.FirstChild(); n != nil; n = n.NextSibling() {
		c.node(to, n)
	}
}

// node copies n into to.
func (c *copier) node(to, n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		if s := value(n, c.src); s != "" {
			to.AppendChild(to, c.text(s))
		}
	case *ast.String:
		to.AppendChild(to, c.text(clean(string(n.Value))))
	case *ast.CodeSpan:
		span := ast.NewCodeSpan()
		encode := forCode
		if to.Kind() == ast.KindLink { // it comes through the text of the link
			encode = forText
		}
		span.AppendChild(span, ast.NewTextSegment(c.add(encode.Replace(code(n, c.src)))))
		to.AppendChild(to, span)
	case *ast.Emphasis:
		em := ast.NewEmphasis(n.Level)
		c.children(em, n)
		to.AppendChild(to, em)
	case *extast.Strikethrough:
		struck := extast.NewStrikethrough()
		struck.AppendChild(struck, c.text(words(n, c.src)))
		to.AppendChild(to, struck)
	case *ast.AutoLink:
		c.autoLink(to, n)
	case *ast.Link:
		c.link(to, n, literal(n.Destination), "")
	case *ast.Image:
		c.link(to, n, literal(n.Destination), "image: ")
	case *extast.TaskCheckBox: // the sign of its list item
	default:
		c.children(to, n)
	}
}

// link writes the text of a link and its address, or only the address when they
// are the same.
func (c *copier) link(to, n ast.Node, address, before string) {
	words := words(n, c.src)
	if before == "" && (words == address || words == "") {
		c.address(to, address)
		return
	}
	l := ast.NewLink()
	l.Destination = []byte("#") // glamour shows no address for a fragment
	if before != "" {
		l.AppendChild(l, c.text(before))
	}
	c.children(l, n)
	to.AppendChild(to, l)
	if address != "" {
		to.AppendChild(to, c.text(" "))
		c.address(to, address)
	}
}

func (c *copier) autoLink(to ast.Node, n *ast.AutoLink) {
	label := clean(string(n.Label(c.src)))
	if n.AutoLinkType == ast.AutoLinkURL && label == string(n.URL(c.src)) {
		c.address(to, label)
		return
	}
	c.shown(to, label)
}

// address writes an address; the terminal can open it when it is one of the web.
func (c *copier) address(to ast.Node, address string) {
	if !openable(address) {
		c.shown(to, address)
		return
	}
	value := ast.NewTextSegment(c.add(address))
	to.AppendChild(to, ast.NewAutoLink(ast.AutoLinkURL, value))
}

// shown writes s in the style of a link that cannot be opened.
func (c *copier) shown(to ast.Node, s string) {
	if s == "" {
		return
	}
	l := ast.NewLink()
	l.Destination = []byte("#")
	l.AppendChild(l, c.text(s))
	to.AppendChild(to, l)
}
