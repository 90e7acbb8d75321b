package markdown

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// longestLabel is how long the label of a link may be, in bytes.
const longestLabel = 999

// labels gives the labels of the links that src may use or define: everything
// between brackets.
func labels(src []byte) []string {
	var all []string
	for i := bytes.IndexByte(src, '['); i >= 0 && i < len(src); {
		rest := src[i+1:]
		end := bytes.IndexAny(rest, "[]")
		if end < 0 {
			break
		}
		if rest[end] == ']' && end > 0 && end <= longestLabel {
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

// context is a parser's context with the definitions that src may use.
func (d *Doc) context(src []byte) parser.ParseOption {
	d.work.parsed += len(src)
	ctx := parser.NewContext()
	if len(d.refs) > 0 && bytes.IndexByte(src, '[') >= 0 {
		for _, label := range labels(src) {
			if ref, ok := d.refs[label]; ok {
				ctx.AddReference(ref)
			}
		}
	}
	return parser.WithContext(ctx)
}

// links takes the link definitions out of block i, which is whole now, and notes
// what it uses. Blocks that waited for one of the definitions are rendered anew.
func (d *Doc) links(i int) {
	b := d.blocks[i]
	src := d.src[b.start:b.end]
	if b.kind == blockCode || bytes.IndexByte(src, '[') < 0 {
		return
	}
	if !b.cont && bytes.Contains(src, []byte("]:")) {
		d.define(src)
	}
	for _, label := range labels(src) {
		if _, ok := d.refs[label]; !ok {
			if d.users == nil {
				d.users = map[string][]int{}
			}
			d.users[label] = append(d.users[label], i)
		}
	}
}

// define adds the link definitions in src.
func (d *Doc) define(src []byte) {
	d.work.parsed += len(src)
	src = src[:len(src):len(src)]
	ctx := parser.NewContext()
	d.style.parser.Parse(text.NewReader(src), parser.WithContext(ctx))
	for _, ref := range ctx.References() {
		label := util.ToLinkReference(ref.Label())
		if _, ok := d.refs[label]; ok {
			continue
		}
		if d.refs == nil {
			d.refs = map[string]parser.Reference{}
		}
		d.refs[label] = parser.NewReference(
			bytes.Clone(ref.Label()), bytes.Clone(ref.Destination()), bytes.Clone(ref.Title()))
		d.traces = nil
		for _, i := range d.users[label] {
			d.blocks[i].forget()
			for k := i + 1; k < len(d.blocks) && d.blocks[k].cont; k++ {
				d.blocks[k].drawn = drawn{} // it goes on from lines that change
			}
			d.view.stale(i)
		}
		delete(d.users, label)
	}
}
