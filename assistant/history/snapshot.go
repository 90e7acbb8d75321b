package history

import (
	"slices"
	"sort"
)

// names gives the texts of the numbers in the columns.
type names struct {
	sessions, models []string         // by number; "" where there is none
	topics           map[int64]string // paths
}

// snapshot is the index at one revision. It is never changed.
type snapshot struct {
	rev    int64
	blocks []*block // none empty, in order
	names  names
}

// locate is the block that holds seq or would, and the place in it.
func (s *snapshot) locate(seq int64) (b, i int, found bool) {
	b = sort.Search(len(s.blocks), func(b int) bool {
		seqs := s.blocks[b].seq
		return seqs[len(seqs)-1] >= seq
	})
	if b == len(s.blocks) {
		return b, 0, false
	}
	i, found = slices.BinarySearch(s.blocks[b].seq, seq)
	return b, i, found
}

// with returns the snapshot after these changes. changed is in order.
func (s *snapshot) with(changed []entry, gone []int64) *snapshot {
	edits := map[int][]entry{} // by block; those beyond the last go to its number
	drops := map[int64]bool{}
	for _, e := range changed {
		b, _, _ := s.locate(e.seq)
		edits[b] = append(edits[b], e)
	}
	touched := map[int]bool{}
	for _, seq := range gone {
		if b, _, found := s.locate(seq); found {
			drops[seq], touched[b] = true, true
		}
	}
	// What comes after the end fills up the last block first.
	if n := len(s.blocks); n > 0 && len(edits[n]) > 0 && s.blocks[n-1].len() < blockPairs {
		edits[n-1] = append(edits[n-1], edits[n]...)
		delete(edits, n)
	}
	next := &snapshot{rev: s.rev, names: s.names, blocks: make([]*block, 0, len(s.blocks)+1)}
	for b := 0; b <= len(s.blocks); b++ {
		if len(edits[b]) == 0 && !touched[b] {
			if b < len(s.blocks) {
				next.blocks = append(next.blocks, s.blocks[b])
			}
			continue
		}
		var old *block
		if b < len(s.blocks) {
			old = s.blocks[b]
		}
		merged := merge(old, edits[b], drops)
		for len(merged) > 0 {
			n := len(merged)
			if n > 2*blockPairs {
				n = blockPairs
			}
			next.blocks = append(next.blocks, makeBlock(merged[:n]))
			merged = merged[n:]
		}
	}
	return next
}

// merge lays edits, in order, over the entries of a block, which may be nil.
func merge(old *block, edits []entry, drops map[int64]bool) []entry {
	var out []entry
	n := 0
	if old != nil {
		n = old.len()
	}
	for i, e := 0, 0; i < n || e < len(edits); {
		switch {
		case e == len(edits) || i < n && old.seq[i] < edits[e].seq:
			if !drops[old.seq[i]] {
				out = append(out, old.entry(i))
			}
			i++
		case i < n && old.seq[i] == edits[e].seq:
			i++
		default:
			out = append(out, edits[e])
			e++
		}
	}
	return out
}
