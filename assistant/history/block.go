package history

// blockPairs is how many pairs a block of the index holds: small enough to be
// copied for one change, large enough that a million pairs make a short list.
const blockPairs = 1024

// block is a run of pairs, column by column, in order. It is never changed: a
// change of a pair makes a new block, so that a filter reads without a lock.
type block struct {
	seq     []int64
	sec     []int64 // created
	nsec    []int32
	session []uint32
	topic   []uint32
	model   []uint32
	bits    []traits
	parts   []uint32 // where the packed parts of each pair end in arena
	arena   []byte
}

// traits packs what needs few of them.
type traits uint16

// The layout of traits.
const (
	starBits   traits = 3
	stateShift        = 2
	flagBit    traits = 1 << 4
	attachBit  traits = 1 << 5
	sendsBit   traits = 1 << 6
	cutBit     traits = 1 << 7
)

// entry is one pair of the index.
type entry struct {
	seq, sec              int64
	nsec                  int32
	session, topic, model uint32
	bits                  traits
	parts                 []byte
}

func (b *block) len() int { return len(b.seq) }

func (b *block) packed(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = b.parts[i-1]
	}
	return b.arena[from:b.parts[i]]
}

func (b *block) entry(i int) entry {
	return entry{b.seq[i], b.sec[i], b.nsec[i], b.session[i], b.topic[i], b.model[i], b.bits[i], b.packed(i)}
}

// makeBlock packs entries, which are in order.
func makeBlock(entries []entry) *block {
	n := len(entries)
	b := &block{
		seq: make([]int64, n), sec: make([]int64, n), nsec: make([]int32, n), session: make([]uint32, n),
		topic: make([]uint32, n), model: make([]uint32, n), bits: make([]traits, n), parts: make([]uint32, n),
	}
	bytes := 0
	for _, e := range entries {
		bytes += len(e.parts)
	}
	b.arena = make([]byte, 0, bytes)
	for i, e := range entries {
		b.seq[i], b.sec[i], b.nsec[i] = e.seq, e.sec, e.nsec
		b.session[i], b.topic[i], b.model[i], b.bits[i] = e.session, e.topic, e.model, e.bits
		b.arena = append(b.arena, e.parts...)
		b.parts[i] = uint32(len(b.arena))
	}
	return b
}
