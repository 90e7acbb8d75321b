package markdown

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is the word of the text as it is seen that holds the byte at of Source;
// where there is none, the character. The signs of Markdown inside a word belong
// to it.
func (d *Doc) Word(at int) (start, end int) {
	f := d.leafAt(at)
	if f.leaf == nil {
		return at, at
	}
	for _, r := range f.leaf.runs {
		for i, p := range r.places {
			if p == nowhere || f.at < p.start || f.at >= p.end {
				continue
			}
			return d.from(f.doc, f.doc.wordAround(r, i))
		}
	}
	return at, at
}

// wordAround grows cell i of r to a word.
func (d *Doc) wordAround(r run, i int) span {
	from, to := i, i+1
	if IsWord(r.cells[i].text) {
		for from > 0 && d.joins(r, from-1, from) {
			from--
		}
		for to < len(r.cells) && d.joins(r, to-1, to) {
			to++
		}
		for to > i+1 && endsSentence(r.cells[to-1].text) {
			to--
		}
	}
	return span{r.places[from].start, r.places[to-1].end}
}

// joins reports whether the cells a and b, neighbours in r, are of one word.
func (d *Doc) joins(r run, a, b int) bool {
	p, q := r.places[a], r.places[b]
	return IsWord(r.cells[a].text) && IsWord(r.cells[b].text) && p != nowhere && q != nowhere &&
		p.end <= q.start && !bytes.ContainsAny(d.src[p.end:q.start], " \t\n")
}

// IsWord reports whether a character belongs to words: letters, digits, and what
// addresses, paths and the names of models are made of.
func IsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./:@%~+#?&=", r)
}

// endsSentence reports whether a character at the end of a word is none of it.
func endsSentence(text string) bool { return strings.Contains(".:?", text) }

// Paragraph is what one sees as a line when lines have no end: the paragraph, the
// line of code or the row of a table that holds the byte at of Source, without
// bullets and bars.
func (d *Doc) Paragraph(at int) (start, end int) {
	f := d.leafAt(at)
	l := f.leaf
	if l == nil || l.inner == nowhere {
		return at, at
	}
	if l.code {
		for _, r := range l.runs {
			if s := r.bounds(); s != nowhere && f.at < s.end && f.at >= s.start {
				return d.from(f.doc, s)
			}
		}
		return at, at
	}
	s := l.inner
	if chain := f.doc.chain(f.block); len(chain) > 1 {
		if first := f.doc.traceBlock(chain[0], f.doc.traceWidth()).leaves; len(first) > 0 {
			s.start = min(s.start, first[len(first)-1].inner.start)
		}
		if last := f.doc.traceBlock(chain[len(chain)-1], f.doc.traceWidth()).leaves; len(last) > 0 {
			s.end = max(s.end, last[0].inner.end)
		}
	}
	return d.from(f.doc, s)
}

// bounds is from the first to the last place of r.
func (r run) bounds() span {
	s := nowhere
	for _, p := range r.places {
		if p == nowhere {
			continue
		}
		if s == nowhere {
			s = p
		}
		s.start, s.end = min(s.start, p.start), max(s.end, p.end)
	}
	return s
}

// chain are the first and the last block of the paragraph or code that block i is
// a piece of; one block when it is whole.
func (d *Doc) chain(i int) []int {
	first, last := i, i
	for b, _ := d.block(first); b.cont && first > 0; b, _ = d.block(first) {
		first--
	}
	for b, _ := d.block(last); b.more; b, _ = d.block(last) {
		last++
	}
	if first == last {
		return []int{i}
	}
	return []int{first, last}
}

// traceWidth is a width to take blocks apart for when it does not matter which.
func (d *Doc) traceWidth() int { return max(d.view.width, 1) }

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

// Slice is the source from start to end, which are the bounds of characters that
// are seen. The signs of Markdown come with what they enclose or begin when that
// is taken as a whole and something besides, or when whole is set; signs that
// would be left alone are not taken. From within one paragraph or block of code
// comes its own text, without the quotes and items that contain it.
func (d *Doc) Slice(start, end int, whole bool) string {
	src := d.src[:len(d.Source())]
	start, end = max(0, start), min(end, len(src))
	if start >= end {
		return ""
	}
	f, l := d.leafAt(start), d.leafAt(end-1)
	first, last := f.leaf, l.leaf
	one := f.doc == l.doc && f.block == l.block && first != nil && last != nil && first.inner == last.inner
	if f.doc != d && f.doc == l.doc && (one || f.doc.sameChain(f.block, l.block)) {
		return f.doc.Slice(f.at, l.at+1, whole) // without what contains it
	}
	marks := append(d.marksOf(f), d.marksOf(l)...)
	taken := widened(span{start, end}, marks, whole && one && !first.code)
	taken.end = min(taken.end, len(src))
	drop := alone(taken, marks)
	switch {
	case one && first.kind != leafTable:
		return cutOut(src, first.body, taken, drop)
	case f.doc == d && l.doc == d && f.block >= 0 && f.block != l.block && d.sameCode(f.block, l.block):
		b, _ := d.block(f.block)
		return string(b.fence.stripRest(src[taken.start:taken.end]))
	}
	return cutOut(src, []bodyLine{{span: taken}}, taken, drop)
}

// sameChain reports whether the blocks i and k are pieces of the same paragraph
// or the same code.
func (d *Doc) sameChain(i, k int) bool { return i != k && d.chain(i)[0] == d.chain(k)[0] }

// stripRest strips all lines of src but the first.
func (f fence) stripRest(src []byte) []byte {
	if n := bytes.IndexByte(src, '\n') + 1; n > 0 {
		return append(bytes.Clone(src[:n]), f.content(src[n:])...)
	}
	return src
}

// sameCode reports whether the blocks i and k are pieces of the same code.
func (d *Doc) sameCode(i, k int) bool {
	b, _ := d.block(i)
	return b.kind == blockCode && d.chain(i)[0] == d.chain(k)[0]
}

// marksOf are the signs in a leaf and the fences around it, as places of d.
func (d *Doc) marksOf(f found) []markup {
	if f.leaf == nil {
		return nil
	}
	marks := f.doc.ownMarks(f.block, f.leaf)
	for doc := f.doc; doc != d; doc = doc.around.in {
		outward := make([]markup, len(marks))
		for i, m := range marks {
			outward[i] = doc.around.outwardMark(m)
		}
		marks = outward
	}
	return marks
}

// ownMarks are the signs in a leaf of block i and the fences around it.
func (d *Doc) ownMarks(i int, l *tracedLeaf) []markup {
	b, _ := d.block(i)
	if b.kind != blockCode || b.fence.char == 0 {
		return l.marks
	}
	chain := d.chain(i)
	from, _ := d.block(chain[0])
	_, end := d.block(chain[len(chain)-1])
	code := bytes.TrimRight(d.src[from.start:end], " \t\n")
	inner := span{from.start + len(code) - len(bytes.TrimLeft(code, "\n")), from.start + len(code)}
	outer := span{lineStart(d.src, max(0, from.start-1)), inner.end}
	if end > 0 && end < len(d.src) && d.src[end-1] == '\n' {
		if to := lineEnd(d.src, end); b.fence.closes(d.src[end:to]) {
			outer.end = to
		}
	}
	return []markup{fences(outer, inner)}
}

// widened is s with the signs around what it takes as a whole.
func widened(s span, marks []markup, whole bool) span {
	for again := true; again; {
		again = false
		for _, m := range marks {
			covers := s.start <= m.inner.start && s.end >= m.inner.end
			beyond := s.start < m.inner.start || s.end > m.inner.end
			if !covers || !beyond && !(whole && m.paired) {
				continue
			}
			if w := (span{min(s.start, m.outer.start), max(s.end, m.outer.end)}); w != s {
				s, again = w, true
			}
		}
	}
	return s
}

// change is a part of the source that is left out, or replaced.
type change struct {
	span
	by string
}

// alone are the signs in s whose counterparts are not in it. Where a link is
// taken apart, its address stands behind its words in parentheses.
func alone(s span, marks []markup) []change {
	var out []change
	for _, m := range marks {
		if !m.paired {
			continue
		}
		begins := s.start <= m.outer.start && s.end > m.outer.start
		ends := s.start < m.outer.end && s.end >= m.outer.end
		address := m.joint != nowhere && s.start < m.joint.start && s.end > m.joint.end && !(begins && ends)
		switch {
		case begins && !ends:
			out = append(out, change{span: m.opening()})
		case ends && !begins && !address && s.end > m.inner.end:
			out = append(out, change{span: m.closing()})
		}
		if address && ends {
			out = append(out, change{m.joint, " ("})
		} else if address {
			out = append(out, change{m.joint, " "})
		}
	}
	slices.SortFunc(out, func(a, b change) int { return a.start - b.start })
	return slices.CompactFunc(out, func(a, b change) bool { return a == b })
}

// cutOut is what of the lines lies in s and in nothing to drop.
func cutOut(src []byte, lines []bodyLine, s span, drop []change) string {
	var b strings.Builder
	for _, line := range lines {
		from, to := max(line.start, s.start), min(line.end, s.end)
		if from >= to {
			continue
		}
		if s.start < line.start {
			b.WriteString(strings.Repeat(" ", line.blanks))
		}
		for _, hole := range drop {
			if hole.end > from && hole.start < to {
				b.Write(src[from:max(from, hole.start)])
				b.WriteString(hole.by)
				from = min(max(from, hole.end), to)
			}
		}
		b.Write(src[from:to])
	}
	return b.String()
}
