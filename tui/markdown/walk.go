package markdown

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// Code is a block of code in a document.
type Code struct {
	Language string // the first word after the fence, "" when there is none
	Text     string // without the fence, with its line breaks
}

// codeIndent sets code apart from text where there is no colour.
const codeIndent = "  "

// walker turns the blocks of a tree into leaves. glamour is not asked for
// blocks: it glues the paragraphs of a list item together, takes the indent
// from wrapped code, pads lines, and keeps the first code theme it was given.
type walker struct {
	style  *Style
	src    []byte
	number int // of the first item of the first list, when it continues one; else 0
	leaves []leaf
	codes  []Code
	tracks bool // find out where everything stands instead of drawing it
	traces []trace
}

// blocks walks the children of n. Their lines begin with first, then rest; loose
// says whether they are always set apart by a blank line, as tables are.
func (w *walker) blocks(n ast.Node, first, rest string, loose bool) {
	lead := first
	begun := false
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		at := len(w.leaves)
		w.block(k, lead, rest)
		if len(w.leaves) == at {
			continue
		}
		if begun && (loose || k.HasBlankPreviousLines() || isTable(k)) { // goldmark does not tell of a table
			w.leaves[at].gap, w.leaves[at].gapLead = true, rest
		}
		lead, begun = rest, true
	}
	if !begun && first != rest { // an empty item still has its bullet
		w.leaves = append(w.leaves, leaf{first: first, rest: rest})
		w.traces = append(w.traces, trace{})
	}
}

// block walks one block.
func (w *walker) block(n ast.Node, first, rest string) {
	look := &w.style.look
	switch n := n.(type) {
	case *ast.List:
		w.list(n, first, rest)
	case *ast.Blockquote:
		bar := look.Quote.Render(look.Bar) + " "
		w.blocks(n, first+bar, rest+bar, true)
	case *ast.FencedCodeBlock:
		lang := clean(string(n.Language(w.src)))
		w.code(n, lang, first, rest)
	case *ast.CodeBlock:
		w.code(n, "", first, rest)
	case *ast.ThematicBreak:
		w.leaves = append(w.leaves, leaf{kind: leafRule, first: first, rest: rest, text: look.Rule.Render(look.Line)})
		w.traces = append(w.traces, trace{})
	case *extast.Table:
		if w.tracks {
			w.traces = append(w.traces, traceTable(n, w.src))
			w.leaves = append(w.leaves, leaf{})
			return
		}
		t := newTable(w.style, n, w.src)
		w.leaves = append(w.leaves, leaf{kind: leafTable, first: first, rest: rest, table: t})
	case *ast.LinkReferenceDefinition: // nothing to see
	default: // paragraphs, headings and the text of tight items
		if w.tracks {
			if t := traceText(n, w.src); len(bytes.TrimSpace(t.lines[0].text)) > 0 {
				w.traces, w.leaves = append(w.traces, t), append(w.leaves, leaf{})
			}
			return
		}
		s := w.style.inlineText(n, w.src)
		if s != "" {
			w.leaves = append(w.leaves, leaf{first: first, rest: rest, text: s})
		}
	}
}

// list walks the items of a list.
func (w *walker) list(n *ast.List, first, rest string) {
	number := n.Start
	if w.number > 0 {
		number, w.number = w.number, 0
	}
	lead := first
	for k := n.FirstChild(); k != nil; k = k.NextSibling() {
		sign := w.sign(n, k, number)
		at := len(w.leaves)
		w.blocks(k, lead+sign, rest+strings.Repeat(" ", ansi.StringWidth(sign)), false)
		if k != n.FirstChild() && k.HasBlankPreviousLines() && at < len(w.leaves) {
			w.leaves[at].gap, w.leaves[at].gapLead = true, rest
		}
		lead = rest
		number++
	}
}

// sign is the bullet, number or box of an item, with the blank after it.
func (w *walker) sign(list *ast.List, item ast.Node, number int) string {
	box := byte(0)
	if text := item.FirstChild(); text != nil {
		if task, ok := text.FirstChild().(*extast.TaskCheckBox); ok {
			box = ' '
			if task.IsChecked {
				box = 'x'
			}
		}
	}
	return w.style.sign(marker{char: list.Marker}, number, box)
}

// sign is that of an item with a marker, whose number and box are given; a box
// of 0 is none.
func (s *Style) sign(m marker, number int, box byte) string {
	look := &s.look
	switch {
	case m.ordered():
		return look.Number.Render(strconv.Itoa(number)+string(rune(m.char))) + " "
	case box == 'x' || box == 'X':
		return look.Item.Render(look.Ticked) + " "
	case box != 0:
		return look.Item.Render(look.Blank) + " "
	}
	return look.Item.Render(look.Bullet) + " "
}

// code adds a block of code.
func (w *walker) code(n ast.Node, lang, first, rest string) {
	text := string(n.Lines().Value(w.src))
	w.codes = append(w.codes, Code{Language: lang, Text: text})
	if text == "" {
		return
	}
	if w.tracks {
		w.traces, w.leaves = append(w.traces, traceCode(n, w.src)), append(w.leaves, leaf{})
		return
	}
	w.leaves = append(w.leaves, leaf{
		kind: leafCode, first: first + codeIndent, rest: rest + codeIndent, lines: w.style.highlight(lang, text),
	})
}
