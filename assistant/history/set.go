package history

import (
	"iter"
	"math/bits"
)

// set is a set of positions, one bit each.
type set []uint64

// everything is the set of the first n positions.
func everything(n int) set {
	s := make(set, (n+63)/64)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if rest := n % 64; rest != 0 {
		s[len(s)-1] = 1<<rest - 1
	}
	return s
}

func (s set) has(pos int) bool { return s[pos>>6]&(1<<(pos&63)) != 0 }
func (s set) put(pos int)      { s[pos>>6] |= 1 << (pos & 63) }

func (s set) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// add puts all of t, of the same size, into s.
func (s set) add(t set) {
	for i, w := range t {
		s[i] |= w
	}
}

func (s set) and(t set) set {
	r := make(set, len(s))
	for i, w := range s {
		r[i] = w & t[i]
	}
	return r
}

// without is s less t; a nil t takes nothing away.
func (s set) without(t set) set {
	r := make(set, len(s))
	copy(r, s)
	for i, w := range t {
		r[i] &^= w
	}
	return r
}

// window keeps the positions from (included) to (not included).
func (s set) window(from, to int) set {
	return s.where(func(pos int) bool { return pos >= from && pos < to })
}

// last keeps the n greatest positions.
func (s set) last(n int) set {
	skip := s.count() - n
	return s.where(func(int) bool { skip--; return skip < 0 })
}

func (s set) where(keep func(pos int) bool) set {
	r := make(set, len(s))
	for pos := range s.each() {
		if keep(pos) {
			r.put(pos)
		}
	}
	return r
}

// each yields the positions in order.
func (s set) each() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
