package markdown

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// definitions contains the link definitions of a text, and the blocks that use labels
// without a definition.
type definitions struct {
	refs  map[string]parser.Reference // definitions by label; the first definition counts
	users map[string][]int            // closed blocks that use an undefined label
}

// maxLabel is the maximum length of a link's label in bytes.
const maxLabel = 999

// labels returns the labels of the links that src may use or define: every text in brackets.
func labels(src []byte) []string {
	var all []string
	for i := bytes.IndexByte(src, '['); i >= 0 && i < len(src); {
		rest := src[i+1:]
		end := bytes.IndexAny(rest, "[]")
		if end < 0 {
			break
		}
		if rest[end] == ']' && end > 0 && end <= maxLabel {
			if label := util.ToLinkReference(rest[:end]); !slices.Contains(all, label) {
				all = append(all, label)
			}
		}
		i += 1 + end
		if rest[end] == ']' {
			next := bytes.IndexByte(src[i:], '[')
			if next < 0 {
				break
			}
			i += next
		}
	}
	return all
}

// context returns a parser context with the definitions that src may use.
func (d *Doc) context(src []byte) parser.ParseOption {
	d.work.parsed += len(src)
	ctx := parser.NewContext()
	if len(d.defined.refs) > 0 && bytes.IndexByte(src, '[') >= 0 {
		for _, label := range labels(src) {
			if ref, ok := d.defined.refs[label]; ok {
				ctx.AddReference(ref)
			}
		}
	}
	return parser.WithContext(ctx)
}

// registerLinks registers the link definitions of the complete block i and the labels it
// uses. Blocks that waited for one of the definitions are rendered again.
func (d *Doc) registerLinks(i int) {
	b := d.blocks[i]
	src := append(b.head[:len(b.head):len(b.head)], b.text...)
	if b.kind == blockCode || bytes.IndexByte(src, '[') < 0 {
		return
	}
	if b.prev == nil && b.kind == blockText && bytes.Contains(src, []byte("]:")) {
		d.define(src)
	}
	for _, label := range labels(src) {
		if _, ok := d.defined.refs[label]; !ok {
			if d.defined.users == nil {
				d.defined.users = map[string][]int{}
			}
			d.defined.users[label] = append(d.defined.users[label], i)
		}
	}
}

// define adds the link definitions in src.
func (d *Doc) define(src []byte) {
	d.work.parsed += len(src)
	d.work.surcharge += textCost
	src = src[:len(src):len(src)]
	ctx := parser.NewContext()
	d.style.parser.Parse(text.NewReader(src), parser.WithContext(ctx))
	for _, ref := range ctx.References() {
		label := util.ToLinkReference(ref.Label())
		if _, ok := d.defined.refs[label]; ok {
			continue
		}
		if d.defined.refs == nil {
			d.defined.refs = map[string]parser.Reference{}
		}
		d.defined.refs[label] = parser.NewReference(
			bytes.Clone(ref.Label()), bytes.Clone(ref.Destination()), bytes.Clone(ref.Title()))
		for _, user := range d.defined.users[label] {
			d.rerender(user)
		}
		delete(d.defined.users, label)
	}
}

// rerender renders block i again.
func (d *Doc) rerender(i int) {
	d.blocks[i].invalidate()
	for k := i + 1; k < len(d.blocks) && d.blocks[k].prev != nil; k++ {
		d.blocks[k].layout = blockLayout{} // the block continues lines that change
	}
	d.version++
	if v := &d.view; i < len(v.starts) { // the lines of the block and the lines below it move
		v.kept, v.starts = v.starts[i], v.starts[:i]
	}
}
