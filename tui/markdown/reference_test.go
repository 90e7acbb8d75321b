package markdown

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// reference renders the tree that goldmark makes of a whole text: what a Doc must
// give block by block. It shares how text, code and tables look with it, and
// nothing of how a text is taken apart.
type reference struct {
	style *Style
	src   []byte
	lines []string
	width int
	shown int // blocks with lines
}

func referenceLines(src string, width int) []string {
	r := &reference{style: look, src: []byte(src), width: width}
	r.blocks(New(look).parse(r.src), "", "", true)
	return r.lines
}

// blocks renders the children of n. Their lines begin with first, then rest; loose
// says whether they are always set apart by a blank line, as tables are.
func (r *reference) blocks(n ast.Node, first, rest string, loose bool) {
	lead, begun := first, false
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		at, shown := len(r.lines), r.shown
		gap := begun && (loose || k.HasBlankPreviousLines() || isTable(k))
		r.block(k, lead, rest)
		if r.shown == shown {
			continue
		}
		if gap {
			r.insertGap(at, rest)
		}
		lead, begun = rest, true
	}
	if _, item := n.(*ast.ListItem); item && !begun {
		r.put(first, rest, "")
	}
}

func (r *reference) insertGap(at int, lead string) {
	line := trimRight(ansi.Truncate(lead, max(0, r.width-min(minInner, r.width)), ""))
	r.lines = append(r.lines[:at], append([]string{line}, r.lines[at:]...)...)
}

// inner is how many cells are left beside the leads, which are cut to fit.
func (r *reference) inner(first, rest string) (string, string, int) {
	most := max(0, r.width-min(minInner, r.width))
	if most == 0 {
		return "", "", r.width
	}
	first, rest = ansi.Truncate(first, most, ""), ansi.Truncate(rest, most, "")
	return first, rest, r.width - max(ansi.StringWidth(first), ansi.StringWidth(rest))
}

func (r *reference) put(first, rest string, lines ...string) {
	r.shown++
	for i, line := range lines {
		if i > 0 {
			first = rest
		}
		r.lines = append(r.lines, withPrefix(first, line))
	}
}

func (r *reference) block(n ast.Node, first, rest string) {
	st := &r.style.look
	var out blockLayout
	switch n := n.(type) {
	case *ast.List:
		r.list(n, first, rest)
	case *ast.Blockquote:
		bar := st.Quote.Render(st.Bar) + " "
		r.blocks(n, first+bar, rest+bar, true)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		lang := ""
		if f, ok := n.(*ast.FencedCodeBlock); ok {
			lang = clean(string(f.Language(r.src)))
		}
		text := string(n.Lines().Value(r.src))
		if text == "" {
			return
		}
		first, rest, inner := r.inner(first+codeIndent, rest+codeIndent)
		lines, _ := r.style.highlight(lexer(lang), delimiters{}, delimiters{}, text)
		for _, line := range lines {
			wrapCode(&out, line, inner, r.style.wrapped)
		}
		r.put(first, rest, out.lines...)
	case *ast.ThematicBreak:
		first, rest, inner := r.inner(first, rest)
		r.put(first, rest, st.Rule.Render(strings.Repeat(st.Line, inner)))
	case *extast.Table:
		first, rest, inner := r.inner(first, rest)
		t := newTable(r.style, n, r.src)
		for row := n.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
			cells, _ := t.cells(row, r.src)
			t.rows = append(t.rows, cells)
		}
		t.layout(inner)
		r.put(first, rest, t.lines...)
	case *ast.LinkReferenceDefinition: // nothing to see
	default: // paragraphs, headings and the text of tight items
		s, _ := r.style.inlineText(n, r.src)
		if s == "" {
			return
		}
		first, rest, inner := r.inner(first, rest)
		wrap(&out, s, inner)
		r.put(first, rest, out.lines...)
	}
}

func (r *reference) list(n *ast.List, first, rest string) {
	number, lead := n.Start, first
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		sign := r.sign(n, k, number)
		at, gap := len(r.lines), k != n.FirstChild() && k.HasBlankPreviousLines()
		r.blocks(k, lead+sign, rest+strings.Repeat(" ", ansi.StringWidth(sign)), false)
		if gap {
			r.insertGap(at, rest)
		}
		lead = rest
		number++
	}
}

// sign is the bullet, number or box of an item, with the blank after it.
func (r *reference) sign(list *ast.List, item ast.Node, number int) string {
	st := &r.style.look
	if list.IsOrdered() {
		return st.Number.Render(strconv.Itoa(number)+string(rune(list.Marker))) + " "
	}
	if text := item.FirstChild(); text != nil {
		if task, ok := text.FirstChild().(*extast.TaskCheckBox); ok {
			if task.IsChecked {
				return st.Item.Render(st.Ticked) + " "
			}
			return st.Item.Render(st.Blank) + " "
		}
	}
	return st.Item.Render(st.Bullet) + " "
}
