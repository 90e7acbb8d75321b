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
	_, l := d.leafAt(at)
	if l == nil {
		return at, at
	}
	for _, r := range l.runs {
		for i, p := range r.places {
			if p == nowhere || at < p.start || at >= p.end {
				continue
			}
			return d.wordAround(r, i)
		}
	}
	return at, at
}

// wordAround grows cell i of r to a word.
func (d *Doc) wordAround(r run, i int) (start, end int) {
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
	return r.places[from].start, r.places[to-1].end
}

// joins reports whether the cells a and b, neighbours in r, are of one word.
func (d *Doc) joins(r run, a, b int) bool {
	p, q := r.places[a], r.places[b]
	return IsWord(r.cells[a].text) && IsWord(r.cells[b].text) && p != nowhere && q != nowhere &&
		p.end <= q.start && bytes.IndexAny(d.src[p.end:q.start], " \t\n") < 0
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
	i, l := d.leafAt(at)
	if l == nil || l.inner == nowhere {
		return at, at
	}
	if l.code {
		for _, r := range l.runs {
			if s := r.bounds(); s != nowhere && at < s.end && at >= s.start {
				return s.start, s.end
			}
		}
		return at, at
	}
	s := l.inner
	if i < 0 || len(d.chain(i)) == 1 {
		return s.start, s.end
	}
	chain := d.chain(i)
	if first := d.traceBlock(chain[0], d.traceWidth()).leaves; len(first) > 0 {
		s.start = min(s.start, first[len(first)-1].inner.start)
	}
	if last := d.traceBlock(chain[len(chain)-1], d.traceWidth()).leaves; len(last) > 0 {
		s.end = max(s.end, last[0].inner.end)
	}
	return s.start, s.end
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

// leafAt is the leaf that holds the byte at of the source or that ends next to
// it, and its block. Of a table it is the row.
func (d *Doc) leafAt(at int) (int, *tracedLeaf) {
	if d.Blocks() == 0 {
		return -1, nil
	}
	i := sort.Search(d.Blocks(), func(k int) bool { b, _ := d.block(k); return b.start > at }) - 1
	i = max(i, 0)
	b, _ := d.block(i)
	if b.kind == blockTable {
		return i, d.rowAt(b, at)
	}
	var best *tracedLeaf
	for _, l := range d.traceBlock(i, d.traceWidth()).leaves {
		if l.inner == nowhere {
			continue
		}
		if best == nil || at >= l.inner.start {
			best = l
		}
	}
	return i, best
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
	i, first := d.leafAt(start)
	k, last := d.leafAt(end - 1)
	marks := append(d.marksOf(i, first), d.marksOf(k, last)...)
	one := i == k && first != nil && last != nil && first.inner == last.inner
	taken := widened(span{start, end}, marks, whole && one && !first.code)
	taken.end = min(taken.end, len(src))
	drop := alone(taken, marks)
	switch {
	case one && first.kind != leafTable:
		return cutOut(src, first.body, taken, drop)
	case i >= 0 && i != k && d.sameCode(i, k):
		b, _ := d.block(i)
		return string(b.fence.stripRest(src[taken.start:taken.end]))
	}
	return cutOut(src, []bodyLine{{span: taken}}, taken, drop)
}

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

// marksOf are the signs in a leaf of block i, and the fences around it.
func (d *Doc) marksOf(i int, l *tracedLeaf) []markup {
	if l == nil {
		return nil
	}
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
