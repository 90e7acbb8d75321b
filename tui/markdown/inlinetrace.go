package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// markup is a stretch of the source between signs that are not seen: emphasis, a
// code span, a link, the fences of code, the bullet of an item.
type markup struct {
	outer span
	inner span // from the first to the last character that is seen
	// paired signs have no meaning alone: where only a part of what they
	// enclose is taken, they are left out. They are open and closed bytes long.
	paired       bool
	open, closed int
	joint        span // of a link: between its words and its address
}

// opening and closing are the signs.
func (m markup) opening() span { return span{m.outer.start, m.outer.start + m.open} }
func (m markup) closing() span { return span{m.outer.end - m.closed, m.outer.end} }

// tracer finds out where the text that copier shows stands. It goes the way the
// copier goes.
type tracer struct {
	src   []byte
	out   shown
	marks []markup
	end   int // where what was read so far ends, signs and all
}

func (t *tracer) children(n ast.Node) {
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		t.node(k)
	}
}

func (t *tracer) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		t.value(n)
	case *ast.String:
		t.out.add(clean(string(n.Value)), nowhere)
	case *ast.CodeSpan:
		t.enclosed(n, func() { t.code(n) }, t.afterTicks)
	case *ast.Emphasis:
		t.enclosed(n, func() { t.children(n) }, func(int) int { return t.afterSigns(n.Level, "*_") })
	case *extast.Strikethrough:
		t.enclosed(n, func() { t.words(n) }, func(from int) int { return t.afterSigns(t.length(from, '~'), "~") })
	case *ast.AutoLink:
		t.label(n)
	case *ast.Link:
		t.link(n, n.Destination, n.Reference != nil, "")
	case *ast.Image:
		t.link(n, n.Destination, n.Reference != nil, "image: ")
	case *extast.TaskCheckBox: // the sign of its list item
	default:
		t.children(n)
	}
}

// value is the text of n with the break after it.
func (t *tracer) value(n *ast.Text) {
	from, to := n.Segment.Start, n.Segment.Stop
	if bytes.HasPrefix(t.src[from:to], []byte(mark)) {
		if from += len(mark); from == to {
			return
		}
	}
	if n.IsRaw() {
		t.out.addRunes(t.src, from, to)
	} else {
		t.out.addLiteral(t.src, from, to)
	}
	t.end = to
	if n.HardLineBreak() || n.SoftLineBreak() {
		after := span{to, to}
		if i := bytes.IndexByte(t.src[to:], '\n'); i >= 0 {
			after.end = to + i + 1
		}
		sign := " "
		if n.HardLineBreak() {
			sign = "\n"
		}
		t.out.add(sign, after)
	}
}

// words is the text below n without markup.
func (t *tracer) words(n ast.Node) {
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		switch k := k.(type) {
		case *ast.Text:
			t.value(k)
		case *ast.String:
			t.out.add(clean(string(k.Value)), nowhere)
		case *ast.AutoLink:
			t.label(k)
		case *ast.CodeSpan:
			t.code(k)
		default:
			t.words(k)
		}
	}
}

// code is the text of a code span.
func (t *tracer) code(n *ast.CodeSpan) {
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		if text, ok := k.(*ast.Text); ok {
			from, to := text.Segment.Start, text.Segment.Stop
			if bytes.HasPrefix(t.src[from:to], []byte(mark)) {
				from += len(mark)
			}
			t.out.addRunes(t.src, from, to)
			t.end = to
		}
	}
}

// label is the text of an address that stands for itself.
func (t *tracer) label(n *ast.AutoLink) {
	label := n.Label(t.src)
	t.find(max(n.Pos(), 0), label)
}

// find shows s, which stands in the source somewhere from at on.
func (t *tracer) find(at int, s []byte) {
	i := bytes.Index(t.src[min(at, len(t.src)):], s)
	if i < 0 {
		t.out.add(clean(string(s)), nowhere)
		return
	}
	t.out.addRunes(t.src, at+i, at+i+len(s))
	t.end = at + i + len(s)
}

// enclosed shows what stands between signs; after finds the end of those behind
// it, given where the first begin, or -1.
func (t *tracer) enclosed(n ast.Node, show func(), after func(from int) int) {
	from, first := n.Pos(), len(t.out.text)
	t.end = max(t.end, from)
	show()
	body := t.end
	if end := after(from); from >= 0 && end > 0 {
		t.end = end
		t.mark(markup{outer: span{from, end}, open: end - body, closed: end - body, joint: nowhere}, first)
	}
}

// mark notes markup around what was shown from byte first on.
func (t *tracer) mark(m markup, first int) {
	inner := nowhere
	for _, p := range t.out.places[first:] {
		if p == nowhere {
			continue
		}
		if inner == nowhere {
			inner.start = p.start
		}
		inner.end = p.end
	}
	if inner != nowhere {
		m.inner, m.paired = inner, true
		t.marks = append(t.marks, m)
	}
}

// length is how many c stand at from.
func (t *tracer) length(from int, c byte) int {
	n := 0
	for from >= 0 && from+n < len(t.src) && t.src[from+n] == c {
		n++
	}
	return n
}

// afterSigns is the end of n signs that close what was read; -1 when there are none.
func (t *tracer) afterSigns(n int, signs string) int {
	end := t.end + n
	if n == 0 || end > len(t.src) || len(bytes.Trim(t.src[t.end:end], signs)) > 0 {
		return -1
	}
	return end
}

// afterTicks is the end of a code span that begins at from.
func (t *tracer) afterTicks(from int) int {
	n := t.length(from, '`')
	for end := t.end; end < len(t.src) && end <= t.end+1; end++ { // a blank before them is no part of the code
		if n > 0 && t.length(end, '`') == n {
			return end + n
		}
	}
	return -1
}

// link shows a link: its words and its address, or only the address when they
// are the same.
func (t *tracer) link(n ast.Node, destination []byte, elsewhere bool, before string) {
	from, first := n.Pos(), len(t.out.text)
	t.end = max(t.end, from+1)
	c := copier{src: t.src}
	address, words := literal(destination), c.words(n)
	only := before == "" && (words == address || words == "")
	switch {
	case !only:
		t.out.add(before, nowhere)
		t.children(n)
	case words != "":
		t.words(n)
	}
	behind := t.end
	at, end := t.afterWords(destination, elsewhere)
	switch {
	case !only && address != "":
		t.out.add(" ", t.gap(behind, at))
		t.address(address, destination, at)
	case only && words == "":
		t.address(address, destination, at)
	}
	if end > 0 && from >= 0 {
		t.end = end
		m := markup{outer: span{from, end}, open: 1, closed: end - behind, joint: nowhere}
		if before != "" {
			m.open = 2
		}
		if at >= 0 {
			m.joint, m.closed = span{behind, at}, 1
		}
		t.mark(m, first)
	}
}

// gap is the place of the blank between the words of a link and its address.
func (t *tracer) gap(from, to int) span {
	if to < from {
		return nowhere
	}
	return span{from, to}
}

// address shows the address of a link, which stands at at, or nowhere.
func (t *tracer) address(address string, destination []byte, at int) {
	if at < 0 {
		t.out.add(address, nowhere)
		return
	}
	t.out.addLiteral(t.src, at, at+len(destination))
}

// afterWords finds where, behind the words of a link, its address stands (-1 when
// it stands elsewhere) and where the link ends (-1 when that cannot be told).
func (t *tracer) afterWords(destination []byte, elsewhere bool) (at, end int) {
	i := bytes.IndexByte(t.src[min(t.end, len(t.src)):], ']')
	if i < 0 {
		return -1, -1
	}
	p := t.end + i + 1
	if elsewhere {
		if p < len(t.src) && t.src[p] == '[' {
			if i := bytes.IndexByte(t.src[p:], ']'); i >= 0 {
				p += i + 1
			}
		}
		return -1, p
	}
	if p >= len(t.src) || t.src[p] != '(' {
		return -1, -1
	}
	p += 1 + leading(t.src[p+1:])
	angle := p < len(t.src) && t.src[p] == '<'
	if angle {
		p++
	}
	if !bytes.HasPrefix(t.src[p:], destination) {
		return -1, -1
	}
	at = p
	p += len(destination)
	if angle {
		p++
	}
	return at, t.afterTitle(p)
}

// afterTitle is the end of a link whose address ends at p.
func (t *tracer) afterTitle(p int) int {
	if p > len(t.src) {
		return -1
	}
	p += leading(t.src[p:])
	if p < len(t.src) && (t.src[p] == '"' || t.src[p] == '\'' || t.src[p] == '(') {
		closer := t.src[p]
		if closer == '(' {
			closer = ')'
		}
		for p++; p < len(t.src) && t.src[p] != closer; p++ {
			if t.src[p] == '\\' {
				p++
			}
		}
		p++
		if p > len(t.src) {
			return -1
		}
		p += leading(t.src[p:])
	}
	if p < len(t.src) && t.src[p] == ')' {
		return p + 1
	}
	return -1
}

// leading is how many bytes of white space src begins with.
func leading(src []byte) int { return len(src) - len(bytes.TrimLeft(src, " \t\n")) }
