package markdown

import (
	"bytes"
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
