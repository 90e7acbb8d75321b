package markdown

import (
	"bytes"
	"slices"
	"strings"
)

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
