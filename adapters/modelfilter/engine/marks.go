package engine

import "math/bits"

// wordBits is how many models one word of marks is for.
const wordBits = 64

// marks is a set of models, by their place in the list.
type marks []uint64

func newMarks(n int) marks { return make(marks, (n+wordBits-1)/wordBits) }

func (m marks) set(i int32)      { m[i/wordBits] |= 1 << (i % wordBits) }
func (m marks) has(i int32) bool { return m[i/wordBits]>>(i%wordBits)&1 != 0 }

func (m marks) count() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// within reports whether all of m is in other.
func (m marks) within(other marks) bool {
	for i, w := range m {
		if w&^other[i] != 0 {
			return false
		}
	}
	return true
}

// add adds all of other to m.
func (m marks) add(other marks) {
	for i, w := range other {
		m[i] |= w
	}
}

// remove removes all of other from m.
func (m marks) remove(other marks) {
	for i, w := range other {
		m[i] &^= w
	}
}

// moveTo moves those of m that are in which to another set.
func (m marks) moveTo(to, which marks) {
	for i, w := range which {
		moved := m[i] & w
		m[i] &^= moved
		to[i] |= moved
	}
}

// without returns a new set of m's models that are not in other.
func (m marks) without(other marks) marks {
	out := make(marks, len(m))
	for i, w := range m {
		out[i] = w &^ other[i]
	}
	return out
}

// and returns a new set of the models in both.
func (m marks) and(other marks) marks {
	out := make(marks, len(m))
	for i, w := range m {
		out[i] = w & other[i]
	}
	return out
}

// each calls f with every model of m in order until f returns false.
func (m marks) each(f func(i int) bool) {
	for k, w := range m {
		for ; w != 0; w &= w - 1 {
			if !f(k*wordBits + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}
