package engine

import "math/bits"

// wordBits is the number of models per word of a bitset.
const wordBits = 64

// bitset is a set of models, by position in the list.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+wordBits-1)/wordBits) }

func (m bitset) set(i int32)      { m[i/wordBits] |= 1 << (i % wordBits) }
func (m bitset) has(i int32) bool { return m[i/wordBits]>>(i%wordBits)&1 != 0 }

func (m bitset) count() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// subsetOf reports whether all of m is in other.
func (m bitset) subsetOf(other bitset) bool {
	for i, w := range m {
		if w&^other[i] != 0 {
			return false
		}
	}
	return true
}

// add adds all of other to m.
func (m bitset) add(other bitset) {
	for i, w := range other {
		m[i] |= w
	}
}

// remove removes all of other from m.
func (m bitset) remove(other bitset) {
	for i, w := range other {
		m[i] &^= w
	}
}

// meets reports whether any model is in both.
func (m bitset) meets(other bitset) bool {
	for i, w := range m {
		if w&other[i] != 0 {
			return true
		}
	}
	return false
}

// with returns a new set of the models that are in either.
func (m bitset) with(other bitset) bitset {
	out := make(bitset, len(m))
	for i, w := range m {
		out[i] = w | other[i]
	}
	return out
}

// without returns a new set of m's models that are not in other.
func (m bitset) without(other bitset) bitset {
	out := make(bitset, len(m))
	for i, w := range m {
		out[i] = w &^ other[i]
	}
	return out
}

// intersect returns a new set of the models in both.
func (m bitset) intersect(other bitset) bitset {
	out := make(bitset, len(m))
	for i, w := range m {
		out[i] = w & other[i]
	}
	return out
}

// each calls f with every model of m in order until f returns false.
func (m bitset) each(f func(i int) bool) {
	for k, w := range m {
		for ; w != 0; w &= w - 1 {
			if !f(k*wordBits + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}
