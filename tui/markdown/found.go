package markdown

import "sort"

// found is a leaf and the block that it is of, in the document that holds it.
// Its places are those of that document.
type found struct {
	doc   *Doc
	block int
	leaf  *tracedLeaf // nil when there is none
	at    int         // the byte that was asked for
}

// leafAt is the leaf that holds the byte at of the source or that ends next to
// it. Of a table it is the row.
func (d *Doc) leafAt(at int) found {
	if d.Blocks() == 0 {
		return found{d, -1, nil, at}
	}
	i := sort.Search(d.Blocks(), func(k int) bool { b, _ := d.block(k); return b.start > at }) - 1
	i = max(i, 0)
	b, _ := d.block(i)
	if c := b.inner; c != nil {
		if rest := d.undecidedLeaves(b); len(rest) > 0 && at >= c.fed {
			return found{d, i, last(rest, at), at}
		}
		return c.doc.leafAt(c.inward(at))
	}
	if b.kind == blockTable {
		return found{d, i, d.rowAt(b, at), at}
	}
	return found{d, i, last(d.traceBlock(i, d.traceWidth()).leaves, at), at}
}

// last is the last of leaves that begins before the byte at, or the first.
func last(leaves []*tracedLeaf, at int) *tracedLeaf {
	var best *tracedLeaf
	for _, l := range leaves {
		if l.inner != nowhere && (best == nil || at >= l.inner.start) {
			best = l
		}
	}
	return best
}

// rowAt is the row of the table b that holds the byte at.
func (d *Doc) rowAt(b *block, at int) *tracedLeaf {
	if b.table == nil {
		d.renderTable(b)
	}
	if b.table == nil {
		return nil
	}
	i := sort.Search(len(b.rows), func(k int) bool { return b.rows[k].start > at })
	i = min(i, len(b.table.rows)-1)
	runs, marks := d.tableRow(b, i)
	l := &tracedLeaf{leaf: &leaf{kind: leafTable}, runs: runs, trace: trace{inner: nowhere, marks: marks}}
	for _, r := range runs {
		s := r.bounds()
		switch {
		case s == nowhere:
		case l.inner == nowhere:
			l.inner = s
		default:
			l.inner.end = max(l.inner.end, s.end)
		}
	}
	return l
}
