package markdown

import (
	"bufio"
	"bytes"
	"hash/fnv"
	"html"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	xansi "github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	ghtml "github.com/yuin/goldmark/renderer/html"
)

// mark begins the continuation of a long paragraph, so that its first word is
// never read as the beginning of another kind of block, and stands in the place
// of the box of a task, which is as long. It is taken out again.
const mark = "\uE0FF"

// inlineText renders the inline children of a paragraph, a heading or a table cell
// as one styled string without wrapping; "\n" stands for a hard line break.
func (s *Style) inlineText(n ast.Node, src []byte) string {
	if h, ok := n.(*ast.Heading); ok {
		return s.heading(h, src)
	}
	w := inliner{src: src, faces: &s.faces, base: s.faces.text}
	w.children(n, voice{})
	out := strings.Trim(w.out.String(), "\n")
	if len(out) < shortText && strings.TrimSpace(xansi.Strip(out)) == "" {
		return ""
	}
	return out
}

// shortText is the length up to which a text is looked at for whether it is
// nothing but blanks.
const shortText = 256

// heading renders a heading; from the second level on it keeps its signs.
func (s *Style) heading(n *ast.Heading, src []byte) string {
	base := s.faces.heading[n.Level-1]
	w := inliner{src: src, faces: &s.faces, base: base}
	w.children(n, voice{})
	if w.out.Len() == 0 {
		return ""
	}
	signs := ""
	if n.Level > 1 {
		signs = paint(base.sequence(), strings.Repeat("#", n.Level)+" ")
	}
	return strings.Trim(signs+w.out.String(), "\n")
}

// inliner writes what stands in a line as glamour draws it. glamour itself does not
// write: it resolves escapes and entities twice, makes a link of every text that has
// an address, and what it imports initialises for longer than all the rest of the
// program does, before main begins.
type inliner struct {
	src   []byte
	faces *faces
	base  face // of the block
	out   strings.Builder
}

// voice is what the markup around a text asks of its look. Emphasis hides the
// colours of what it encloses; code and addresses have their own in it, and show
// a link that encloses them where they have none.
type voice struct{ over, below face }

// put writes s with a face.
func (w *inliner) put(f face, s string) {
	w.out.WriteString(paint(f.sequence(), s))
}

// text writes words.
func (w *inliner) text(v voice, s string) {
	w.put(w.base.with(w.faces.words).with(v.over), s)
}

// children writes the children of n.
func (w *inliner) children(n ast.Node, v voice) {
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		w.node(k, v)
	}
}

func (w *inliner) node(n ast.Node, v voice) {
	switch n := n.(type) {
	case *ast.Text:
		w.text(v, value(n, w.src))
	case *ast.String:
		w.text(v, clean(string(n.Value)))
	case *ast.CodeSpan:
		w.put(w.base.with(v.below).with(w.faces.code), code(n, w.src))
	case *ast.Emphasis:
		own := w.faces.emph
		if n.Level > 1 {
			own = w.faces.strong
		}
		w.children(n, voice{over: own.with(v.over)})
	case *extast.Strikethrough:
		w.put(w.base.with(w.faces.struck).with(v.over), words(n, w.src))
	case *ast.AutoLink:
		w.autoLink(n, v)
	case *ast.Link:
		w.link(n, literal(n.Destination), "", v)
	case *ast.Image:
		w.link(n, literal(n.Destination), "image: ", v)
	case *extast.TaskCheckBox: // the sign of its list item
	default:
		w.children(n, v)
	}
}

// link writes the text of a link and its address, or only the address when they
// are the same.
func (w *inliner) link(n ast.Node, address, before string, v voice) {
	label := words(n, w.src)
	if before == "" && (label == address || label == "") {
		w.address(address, v)
		return
	}
	in := voice{over: w.faces.link, below: w.faces.link}
	w.text(in, before)
	w.children(n, in)
	if address != "" {
		w.text(v, " ")
		w.address(address, v)
	}
}

func (w *inliner) autoLink(n *ast.AutoLink, v voice) {
	label := clean(string(n.Label(w.src)))
	if n.AutoLinkType == ast.AutoLinkURL && label == string(n.URL(w.src)) {
		w.address(label, v)
		return
	}
	w.shown(label)
}

// address writes an address; the terminal can open it when it is one of the web.
// What it may break into over several lines is one link by its id.
func (w *inliner) address(address string, v voice) {
	if !openable(address) {
		w.shown(address)
		return
	}
	id := fnv.New32a()
	_, _ = io.WriteString(id, address) // a hash takes everything
	opens := xansi.SetHyperlink(address, "id="+strconv.FormatUint(uint64(id.Sum32()), 10))
	w.put(w.base.with(v.below).with(w.faces.address), opens+address+linkEnd)
}

// shown writes s in the look of a link that cannot be opened.
func (w *inliner) shown(s string) {
	w.text(voice{over: w.faces.link}, s)
}

// openable reports whether an address may be made a hyperlink: printable ASCII
// throughout, so that what is seen is what is opened, and of the web.
func openable(address string) bool {
	for _, b := range []byte(address) {
		if b <= ' ' || b > '~' || b == '\\' {
			return false
		}
	}
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// value is the text of n as it reads, with the break after it.
func value(n *ast.Text, src []byte) string {
	s := n.Segment.Value(src)
	out := ""
	if n.IsRaw() {
		out = clean(string(s))
	} else {
		out = literal(s)
	}
	if marked, ok := strings.CutPrefix(out, mark); ok {
		if out = marked; out == "" {
			return ""
		}
	}
	switch {
	case n.HardLineBreak():
		out += "\n"
	case n.SoftLineBreak():
		out += " "
	}
	return out
}

// words is the text below n, without markup.
func words(n ast.Node, src []byte) string {
	var b strings.Builder
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		switch k := k.(type) {
		case *ast.Text:
			b.WriteString(value(k, src))
		case *ast.String:
			b.WriteString(clean(string(k.Value)))
		case *ast.AutoLink:
			b.WriteString(clean(string(k.Label(src))))
		case *ast.CodeSpan:
			b.WriteString(code(k, src))
		default:
			b.WriteString(words(k, src))
		}
	}
	return b.String()
}

// code is the text of a code span, which knows neither escapes nor breaks.
func code(n *ast.CodeSpan, src []byte) string {
	var b strings.Builder
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		if t, ok := k.(*ast.Text); ok {
			b.Write(bytes.TrimPrefix(t.Segment.Value(src), []byte(mark)))
		}
	}
	return clean(strings.ReplaceAll(b.String(), "\n", " "))
}

// literal resolves the escapes and entities of Markdown.
func literal(s []byte) string {
	if bytes.IndexByte(s, '\\') < 0 && bytes.IndexByte(s, '&') < 0 {
		return clean(string(s))
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	ghtml.DefaultWriter.Write(w, s)
	_ = w.Flush() // a bytes.Buffer takes everything
	return clean(html.UnescapeString(b.String()))
}

// clean makes s safe to draw: valid UTF-8, no control characters, and blanks
// for tabs and line breaks. What is sanitised already stays as it is.
func clean(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
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
