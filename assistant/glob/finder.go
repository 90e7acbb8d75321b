package glob

import (
	"slices"
	"unicode/utf8"
)

const (
	// blockBits is the number of tokens that one machine word tracks.
	blockBits = 64
	// maxBlocks is the maximum number of blocks of a search that are kept on the stack; Match allocates for a longer
	// segment. 256 blocks are 16,384 characters.
	maxBlocks = 256
)

// finder searches for a segment with the shift-and algorithm: bit i of the state is set if the last i+1 characters
// match the first i+1 tokens. Each character costs one step per block of 64 tokens, whatever the text; memory is
// linear in the number of tokens.
type finder struct {
	blocks   int
	accept   uint64 // the bit of the last token in the last block
	ascii    []uint64
	nonASCII []nonASCIIBlock
}

// nonASCIIBlock contains the masks of one block for non-ASCII characters: masks[i] applies to the characters in
// [starts[i], starts[i+1]).
type nonASCIIBlock struct {
	starts []rune
	masks  []uint64
}

func newFinder(tokens []token) *finder {
	n := (len(tokens) + blockBits - 1) / blockBits
	f := &finder{
		blocks:   n,
		accept:   1 << ((len(tokens) - 1) % blockBits),
		ascii:    make([]uint64, utf8.RuneSelf*n), // row r contains the masks of character r, one per block
		nonASCII: make([]nonASCIIBlock, n),
	}
	for i, t := range tokens {
		b, bit := i/blockBits, uint64(1)<<(i%blockBits)
		for r := rune(0); r < utf8.RuneSelf; r++ {
			if t.accepts(r) {
				f.ascii[int(r)*n+b] |= bit
			}
		}
	}
	for b := range f.nonASCII {
		f.nonASCII[b] = newNonASCIIBlock(tokens[b*blockBits : min(len(tokens), (b+1)*blockBits)])
	}
	return f
}

func newNonASCIIBlock(tokens []token) nonASCIIBlock {
	starts := appendBounds([]rune{utf8.RuneSelf}, tokens)
	slices.Sort(starts)
	starts = slices.Compact(starts)
	first, _ := slices.BinarySearch(starts, utf8.RuneSelf)
	w := nonASCIIBlock{starts: starts[first:]}
	w.masks = make([]uint64, len(w.starts))
	for k, r := range w.starts {
		for i, t := range tokens {
			if t.accepts(r) {
				w.masks[k] |= 1 << i
			}
		}
	}
	return w
}

func (w *nonASCIIBlock) mask(r rune) uint64 {
	lo, hi := 0, len(w.starts)
	for hi-lo > 1 { // faster than slices.BinarySearch; runs once per character
		if mid := (lo + hi) / 2; w.starts[mid] <= r {
			lo = mid
		} else {
			hi = mid
		}
	}
	return w.masks[lo]
}

// find returns the end of the leftmost match in s, or -1.
func (f *finder) find(s string) int {
	if f.blocks == 1 {
		return f.findShort(s)
	}
	if f.blocks > maxBlocks {
		return f.findLong(s, make([]uint64, f.blocks))
	}
	var state [maxBlocks]uint64
	return f.findLong(s, state[:f.blocks])
}

func (f *finder) findShort(s string) int {
	var state uint64
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			state = (state<<1 | 1) & f.ascii[b]
			i++
		} else {
			r, size := decode(s[i:])
			state = (state<<1 | 1) & f.nonASCII[0].mask(r)
			i += size
		}
		if state&f.accept != 0 {
			return i
		}
	}
	return -1
}

func (f *finder) findLong(s string, state []uint64) int {
	live := 0 // all blocks from here on are zero
	for i := 0; i < len(s); {
		r, size := decode(s[i:])
		i += size
		var row []uint64
		if r < utf8.RuneSelf {
			row = f.ascii[int(r)*f.blocks:][:f.blocks]
		}
		carry := uint64(1)
		for b := range state {
			if b >= live {
				if carry == 0 {
					break
				}
				live = b + 1
			}
			next := state[b]<<1 | carry
			carry = state[b] >> (blockBits - 1)
			if row != nil {
				next &= row[b]
			} else if next != 0 {
				next &= f.nonASCII[b].mask(r)
			}
			state[b] = next
		}
		if state[len(state)-1]&f.accept != 0 {
			return i
		}
	}
	return -1
}
