package checkpoint

// maxEdits bounds the search for the smallest difference of two lists: its
// time grows with the length times the edits, its memory with their square
// (4 MB at the bound). Lists that differ in more are replaced from the first
// difference to the last, which is right, only longer.
const maxEdits = 1000

// run is a part of a list that two versions do not have in common: items
// [a, aEnd) of the old one became items [b, bEnd) of the new one.
type run struct{ a, aEnd, b, bEnd int }

// listRuns returns the runs, in order, by which a became b.
func listRuns(a, b []value) []run {
	n := min(len(a), len(b))
	head := 0
	for head < n && a[head].text == b[head].text {
		head++
	}
	tail := 0
	for tail < n-head && a[len(a)-1-tail].text == b[len(b)-1-tail].text {
		tail++
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	var runs []run
	switch {
	case len(a) == 0 && len(b) == 0:
		return nil
	case len(a) == 0 || len(b) == 0:
		runs = []run{{0, len(a), 0, len(b)}}
	default:
		x, y := intern(a, b)
		runs = shortestEdit(x, y)
	}
	for i := range runs {
		runs[i].a, runs[i].aEnd = runs[i].a+head, runs[i].aEnd+head
		runs[i].b, runs[i].bEnd = runs[i].b+head, runs[i].bEnd+head
	}
	return runs
}

// intern gives equal values equal numbers, so that the search compares ints.
func intern(a, b []value) (x, y []int) {
	seen := make(map[string]int, len(a)+len(b))
	number := func(list []value) []int {
		out := make([]int, len(list))
		for i := range list {
			id, ok := seen[list[i].text]
			if !ok {
				id = len(seen)
				seen[list[i].text] = id
			}
			out[i] = id
		}
		return out
	}
	return number(a), number(b)
}

// shortestEdit is Myers' greedy algorithm: reach[k] is the furthest x on the
// diagonal x-y = k after d edits; the reaches of each d are kept to walk back.
func shortestEdit(x, y []int) []run {
	limit := min(len(x)+len(y), maxEdits)
	reach := make([]int32, 2*limit+2) // diagonal k is at k+limit
	var trace [][]int32
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			at := k + limit
			var i int
			switch {
			case d == 0:
			case k == -d || k != d && reach[at-1] < reach[at+1]:
				i = int(reach[at+1]) // down: an item of y is added
			default:
				i = int(reach[at-1]) + 1 // right: an item of x is removed
			}
			for j := i - k; i < len(x) && j < len(y) && x[i] == y[j]; j++ {
				i++
			}
			reach[at] = int32(i)
			if i >= len(x) && i-k >= len(y) {
				return walkBack(trace, limit, len(x), len(y))
			}
		}
		trace = append(trace, append([]int32(nil), reach[limit-d:limit+d+1]...))
	}
	return []run{{0, len(x), 0, len(y)}}
}

// walkBack follows the trace from the ends of both lists to their starts and
// returns what is not on a diagonal, adjoining edits as one run.
func walkBack(trace [][]int32, limit, i, j int) []run {
	var back []run
	for d := len(trace); d > 0; d-- {
		k := i - j
		last := trace[d-1] // diagonals -(d-1) … d-1
		at := func(k int) int32 { return last[k+d-1] }
		added := k == -d || k != d && (k-1 < -(d-1) || k+1 <= d-1 && at(k-1) < at(k+1))
		var from run
		if added {
			px := int(at(k + 1))
			from = run{px, px, px - k - 1, px - k}
		} else {
			px := int(at(k - 1))
			from = run{px, px + 1, px - k + 1, px - k + 1}
		}
		if n := len(back); n > 0 && back[n-1].a == from.aEnd && back[n-1].b == from.bEnd {
			back[n-1].a, back[n-1].b = from.a, from.b
		} else {
			back = append(back, from)
		}
		i, j = from.a, from.b
	}
	for l, r := 0, len(back)-1; l < r; l, r = l+1, r-1 {
		back[l], back[r] = back[r], back[l]
	}
	return back
}
