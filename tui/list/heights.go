package list

import "math/bits"

// firstEstimate is the height of an item that was never drawn, in lines, as
// long as no other was: a short question or answer with its blank line.
const firstEstimate = 4

// heights are the heights of the items in lines, with a Fenwick tree over them:
// tree[i] holds the sum of the bits.TrailingZeros(i+1) power of two items that
// end with item i. Both are estimates until set.
type heights struct {
	each, tree      []int32
	measured, total int64 // how many heights are known, and their sum
}

func (h *heights) len() int { return len(h.each) }

// reset makes h the heights of n items that were never drawn.
func (h *heights) reset(n int) {
	h.each = make([]int32, n)
	e := h.estimate()
	for i := range h.each {
		h.each[i] = e
	}
	h.build()
}

// estimate is the height to expect of an item: the mean of the known ones.
func (h *heights) estimate() int32 {
	if h.measured == 0 {
		return firstEstimate
	}
	return int32(max(1, (h.total+h.measured/2)/h.measured))
}

// build makes the tree for each.
func (h *heights) build() {
	h.tree = append(h.tree[:0], h.each...)
	for i := range h.tree {
		if up := i | (i + 1); up < len(h.tree) {
			h.tree[up] += h.tree[i]
		}
	}
}

// insert makes room for n items at place i.
func (h *heights) insert(i, n int) {
	e := h.estimate()
	if i == len(h.each) {
		for range n {
			h.push(e)
		}
		return
	}
	grown := make([]int32, len(h.each)+n)
	copy(grown, h.each[:i])
	for k := i; k < i+n; k++ {
		grown[k] = e
	}
	copy(grown[i+n:], h.each[i:])
	h.each = grown
	h.build()
}

// push adds one item at the end.
func (h *heights) push(e int32) {
	i := len(h.each)
	h.each = append(h.each, e)
	sum := e
	for k := i; k > i&(i+1); k &= k - 1 { // the sums that tree[i] covers
		sum += h.tree[k-1]
	}
	h.tree = append(h.tree, sum)
}

// remove takes n items out from place i on.
func (h *heights) remove(i, n int) {
	h.each = append(h.each[:i], h.each[i+n:]...)
	h.build()
}

// set makes lines the height of item i.
func (h *heights) set(i, lines int) {
	h.measured++
	h.total += int64(lines)
	if h.measured >= meanOf {
		h.measured, h.total = h.measured/2, h.total/2
	}
	d := int32(lines) - h.each[i]
	if d == 0 {
		return
	}
	h.each[i] = int32(lines)
	for k := i; k < len(h.tree); k |= k + 1 {
		h.tree[k] += d
	}
}

// meanOf bounds the memory of the mean, so that it follows the width.
const meanOf = 4096

// before is the number of lines of the items before item i.
func (h *heights) before(i int) int {
	sum := 0
	for k := i; k > 0; k &= k - 1 {
		sum += int(h.tree[k-1])
	}
	return sum
}

// all is the number of lines of all items.
func (h *heights) all() int { return h.before(len(h.each)) }

// find is the item that holds line n, counted from the first line of all, and
// the line within the item. n beyond the end gives the last line.
func (h *heights) find(n int) anchor {
	at := 0
	for step := 1 << bits.Len(uint(len(h.tree))); step > 0; step >>= 1 {
		if at+step <= len(h.tree) && int(h.tree[at+step-1]) <= n {
			at += step
			n -= int(h.tree[at-1])
		}
	}
	if at == len(h.each) {
		return anchor{at - 1, int(h.each[at-1]) - 1}
	}
	return anchor{at, n}
}
