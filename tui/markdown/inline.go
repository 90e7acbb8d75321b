package markdown

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	xansi "github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	ghtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// inlineText renders the inline children of a paragraph, a heading or a table cell as one
// styled string without wrapping; "\n" stands for a hard line break. It also returns the
// number of elements drawn.
//
// glamour renders not goldmark's tree but a copy that contains only what glamour renders
// correctly. glamour resolves escapes and entities twice, also in code, prints a warning to
// standard output for unknown kinds, and turns every text that has an address into a link.
// In the copy, the text is encoded so that the result is correct, and a link consists of
// its text and its address.
func (s *Style) inlineText(n ast.Node, src []byte) (styled string, nodes int) {
	var block ast.Node = ast.NewTextBlock()
	doc, r := block, s.flow
	if h, ok := n.(*ast.Heading); ok {
		block, doc, r = ast.NewHeading(h.Level), ast.NewDocument(), s.inline
		doc.AppendChild(doc, block)
	}
	c := copier{src: src}
	if c.children(block, n); block.FirstChild() == nil {
		return "", c.nodes
	}
	s.mu.Lock()
	s.rendered.Reset()
	err := r.Render(&s.rendered, c.buf, doc)
	out := string(bytes.Trim(s.rendered.Bytes(), "\n"))
	s.mu.Unlock()
	if err != nil { // a textBuffer never fails, and glamour's templates, which could, are not used
		return paint(s.plain, clean(string(n.Lines().Value(src)))), c.nodes
	}
	if len(out) < shortText && strings.TrimSpace(xansi.Strip(out)) == "" {
		return "", c.nodes
	}
	return out, c.nodes
}

// textBuffer is a bytes.Buffer to which goldmark writes without an intermediate buffer.
type textBuffer struct{ bytes.Buffer }

// Buffered implements util.BufWriter.
func (*textBuffer) Buffered() int { return 0 }

// Flush implements util.BufWriter.
func (*textBuffer) Flush() error { return nil }

// shortText is the length up to which a text is checked for being blank.
const shortText = 256

// mark starts a line of a paragraph that goldmark, given only that line, would not read as
// a paragraph. It is white space, so that emphasis may follow it, and is not shown.
const mark = "\u205F"

// copier creates the copy for glamour; buf is the source text of the copy.
type copier struct {
	src, buf []byte
	nodes    int // number of copied nodes
}

// add appends s to the source of the copy and returns its position.
func (c *copier) add(s string) text.Segment {
	start := len(c.buf)
	c.buf = append(c.buf, s...)
	return text.NewSegment(start, len(c.buf))
}

// glamour resolves entities and then backslashes in text, and entities in code.
var (
	forText = strings.NewReplacer("&", "&amp;", `\`, `\\`)
	forCode = strings.NewReplacer("&", "&amp;")
)

// text appends s to dst. It merges s with a text that directly precedes it, because goldmark
// splits text at every bracket.
func (c *copier) text(dst ast.Node, s string) {
	last, ok := dst.LastChild().(*ast.Text)
	goesOn := ok && last.Segment.Stop == len(c.buf)
	segment := c.add(forText.Replace(s))
	if goesOn {
		last.Segment.Stop = segment.Stop
		return
	}
	dst.AppendChild(dst, ast.NewTextSegment(segment))
}

// children copies the children of n into dst.
func (c *copier) children(dst, n ast.Node) {
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		c.node(dst, child)
	}
}

// node copies n into dst.
func (c *copier) node(dst, n ast.Node) {
	c.nodes++
	switch n := n.(type) {
	case *ast.Text:
		if s := c.value(n); s != "" {
			c.text(dst, s)
		}
	case *ast.String:
		c.text(dst, clean(string(n.Value)))
	case *ast.CodeSpan:
		span := ast.NewCodeSpan()
		span.AppendChild(span, ast.NewTextSegment(c.add(forCode.Replace(c.code(n)))))
		dst.AppendChild(dst, span)
	case *ast.Emphasis:
		em := ast.NewEmphasis(n.Level)
		c.children(em, n)
		dst.AppendChild(dst, em)
	case *extast.Strikethrough:
		struck := extast.NewStrikethrough()
		c.text(struck, c.plainText(n))
		dst.AppendChild(dst, struck)
	case *ast.AutoLink:
		c.autoLink(dst, n)
	case *ast.Link:
		c.link(dst, n, literal(n.Destination), "")
	case *ast.Image:
		c.link(dst, n, literal(n.Destination), "image: ")
	case *extast.TaskCheckBox: // drawn as the icon of the list item
	default:
		c.children(dst, n)
	}
}

// link writes a link or an image: prefix, its text and its address. A link whose text is
// empty or equal to the address is written as the address only.
func (c *copier) link(dst, n ast.Node, address, prefix string) {
	words := c.plainText(n)
	if prefix == "" && (words == address || words == "") {
		c.address(dst, address)
		return
	}
	l := ast.NewLink()
	l.Destination = []byte("#") // glamour shows no address for a fragment
	if prefix != "" {
		c.text(l, prefix)
	}
	c.children(l, n)
	dst.AppendChild(dst, l)
	if address != "" {
		c.text(dst, " ")
		c.address(dst, address)
	}
}

func (c *copier) autoLink(dst ast.Node, n *ast.AutoLink) {
	label := clean(string(n.Label(c.src)))
	if n.AutoLinkType == ast.AutoLinkURL && label == string(n.URL(c.src)) {
		c.address(dst, label)
		return
	}
	c.plainLink(dst, label)
}

// address writes an address; the terminal can open it if it is a web address.
func (c *copier) address(dst ast.Node, address string) {
	if !openable(address) {
		c.plainLink(dst, address)
		return
	}
	dst.AppendChild(dst, ast.NewAutoLink(ast.AutoLinkURL, ast.NewTextSegment(c.add(address))))
}

// plainLink writes s in the style of a link that cannot be opened.
func (c *copier) plainLink(dst ast.Node, s string) {
	if s == "" {
		return
	}
	l := ast.NewLink()
	l.Destination = []byte("#")
	c.text(l, s)
	dst.AppendChild(dst, l)
}

// openable reports whether an address may become a hyperlink: a web address in printable
// ASCII, so that what is seen is what is opened.
func openable(address string) bool {
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return false
	}
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// value returns the text of n, with "\n" for a hard line break after it, and a blank for a
// soft one.
func (c *copier) value(n *ast.Text) string {
	out := literal(n.Segment.Value(c.src))
	if n.IsRaw() {
		out = clean(string(n.Segment.Value(c.src)))
	}
	if out == mark {
		return ""
	}
	out = strings.TrimPrefix(out, mark)
	switch {
	case n.HardLineBreak():
		out += "\n"
	case n.SoftLineBreak():
		out += " "
	}
	return out
}

// plainText returns the text below n, without markup.
func (c *copier) plainText(n ast.Node) string {
	var b strings.Builder
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		switch k := k.(type) {
		case *ast.Text:
			b.WriteString(c.value(k))
		case *ast.String:
			b.WriteString(clean(string(k.Value)))
		case *ast.AutoLink:
			b.WriteString(clean(string(k.Label(c.src))))
		case *ast.CodeSpan:
			b.WriteString(c.code(k))
		default:
			b.WriteString(c.plainText(k))
		}
	}
	return b.String()
}

// code returns the text of a code span. Nothing is escaped in it, and line breaks are blanks.
func (c *copier) code(n *ast.CodeSpan) string {
	var b strings.Builder
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		if t, ok := k.(*ast.Text); ok {
			b.Write(bytes.TrimPrefix(t.Segment.Value(c.src), []byte(mark)))
		}
	}
	return clean(strings.ReplaceAll(b.String(), "\n", " "))
}

// literal resolves Markdown's escapes and entities.
func literal(s []byte) string {
	if bytes.IndexByte(s, '\\') < 0 && bytes.IndexByte(s, '&') < 0 {
		return clean(string(s))
	}
	var b textBuffer
	ghtml.DefaultWriter.Write(&b, s)
	return clean(html.UnescapeString(b.String()))
}

// clean makes s safe to draw: valid UTF-8, no control characters, and blanks for tabs and
// line breaks. Sanitised text is not changed.
func clean(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r >= 0x7f && r <= 0x9f:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// globParser leaves the asterisks of a pattern outside a code span unchanged where they are
// clearly not emphasis: in quotes, or next to a separator in the name of a model.
type globParser struct{}

// quotedGlob is a pattern up to its closing quotation mark; partGlob starts with an
// asterisk before a separator.
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
