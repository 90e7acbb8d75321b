package history

import (
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"winnow/assistant"
)

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

// index is what filters ask about of all pairs, in memory: built behind the
// user's back after Open, then kept up with this process and others.
type index struct {
	s       *Store
	current atomic.Pointer[snapshot] // nil until loaded
	loaded  chan struct{}            // closed when loading has ended
	err     error                    // why it failed; read after loaded

	mu sync.Mutex // held while the next snapshot is made
}

func newIndex(s *Store) *index { return &index{s: s, loaded: make(chan struct{})} }

const entryColumns = `seq, sec, nsec, session, topic, model,
	star | (state << 2) | (flag << 4) | ((attachments > 0) << 5) | (sends << 6) | ((cut IS NOT NULL) << 7), parts`

func scanEntry(scan scanner) (entry, error) {
	var e entry
	err := scan(&e.seq, &e.sec, &e.nsec, &e.session, &e.topic, &e.model, &e.bits, &e.parts)
	return e, err
}

// load reads the whole table once.
func (x *index) load() {
	defer close(x.loaded)
	next := &snapshot{}
	x.err = x.s.read(x.s.ctx, func(r *reader) error {
		var err error
		if next.rev, err = r.number("SELECT rev FROM counter"); err != nil {
			return err
		}
		if next.names, err = r.names(names{}); err != nil {
			return err
		}
		entries := make([]entry, 0, blockPairs)
		err = r.each("SELECT "+entryColumns+" FROM pair ORDER BY seq", nil, func(scan scanner) error {
			e, err := scanEntry(scan)
			if entries = append(entries, e); len(entries) == blockPairs {
				next.blocks = append(next.blocks, makeBlock(entries))
				entries = entries[:0]
			}
			return err
		})
		if err == nil && len(entries) > 0 {
			next.blocks = append(next.blocks, makeBlock(entries))
		}
		return err
	})
	if x.err == nil {
		x.current.Store(next)
	}
}

// names reads the names that known lacks; topics, which change, all of them.
func (r *reader) names(known names) (names, error) {
	next := names{sessions: slices.Clip(known.sessions), models: slices.Clip(known.models)}
	for _, t := range []struct {
		query string
		into  *[]string
	}{
		{"SELECT n, id FROM session WHERE n >= ? ORDER BY n", &next.sessions},
		{"SELECT n, name FROM model WHERE n >= ? ORDER BY n", &next.models},
	} {
		err := r.each(t.query, []any{len(*t.into)}, func(scan scanner) error {
			var n int
			var text string
			err := scan(&n, &text)
			for len(*t.into) < n {
				*t.into = append(*t.into, "")
			}
			*t.into = append(*t.into, text)
			return err
		})
		if err != nil {
			return names{}, err
		}
	}
	nodes, err := r.topics()
	next.topics = topicPaths(nodes)
	return next, err
}

// afterCommit keeps up with a transaction of this process. It is called by the
// writer; a failure is found again by the next question.
func (x *index) afterCommit() {
	select {
	case <-x.loaded:
	default:
		return // the next question catches up
	}
	if _, err := x.catchUp(x.s.ctx); err != nil && x.s.ctx.Err() == nil {
		x.s.options.Log.Warn("history index behind", "err", err)
	}
}

// fresh waits for the index and returns it as of now, other processes included.
func (x *index) fresh(ctx context.Context) (*snapshot, error) {
	select {
	case <-x.loaded:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if x.err != nil {
		return nil, x.err
	}
	return x.catchUp(ctx)
}

// catchUp applies what was committed since the current snapshot.
func (x *index) catchUp(ctx context.Context) (*snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.current.Load()
	if now == nil {
		return nil, x.err
	}
	next := now
	err := x.s.read(ctx, func(r *reader) error {
		rev, err := r.number("SELECT rev FROM counter")
		if err != nil || rev == now.rev {
			return err
		}
		var changed []entry
		err = r.each("SELECT "+entryColumns+" FROM pair WHERE rev > ?", []any{now.rev}, func(scan scanner) error {
			e, err := scanEntry(scan)
			changed = append(changed, e)
			return err
		})
		if err != nil {
			return err
		}
		slices.SortFunc(changed, func(a, b entry) int { return int(a.seq - b.seq) })
		var gone []int64
		err = r.each("SELECT seq FROM gone WHERE rev > ?", []any{now.rev}, func(scan scanner) error {
			var seq int64
			err := scan(&seq)
			gone = append(gone, seq)
			return err
		})
		if err != nil {
			return err
		}
		next = now.with(changed, gone)
		next.rev = rev
		next.names, err = r.names(now.names)
		return err
	})
	if err != nil {
		return nil, err
	}
	x.current.Store(next)
	return next, nil
}

// Refresh looks whether another process changed the database since the last
// look, and takes that over. Filter, Count and Refs do so by themselves.
func (s *Store) Refresh(ctx context.Context) (changed bool, err error) {
	before := s.index.current.Load()
	after, err := s.index.fresh(ctx)
	return err == nil && before != nil && before.rev != after.rev, err
}

// Refs returns the uncut pairs of one session in order, costed with
// charsPerToken; session "" means of all sessions.
func (s *Store) Refs(ctx context.Context, session string, charsPerToken float64) ([]assistant.Ref, error) {
	snap, err := s.index.fresh(ctx)
	if err != nil {
		return nil, err
	}
	number := slices.Index(snap.names.sessions, session)
	if session != "" && number < 0 {
		return nil, nil
	}
	refs := []assistant.Ref{}
	for _, b := range snap.blocks {
		for i, v := range b.bits {
			if v&cutBit == 0 && (session == "" || b.session[i] == uint32(number)) {
				refs = append(refs, b.ref(i, charsPerToken))
			}
		}
	}
	return refs, nil
}

func (b *block) ref(i int, charsPerToken float64) assistant.Ref {
	return assistant.Ref{Seq: b.seq[i], Cost: cost(b.packed(i), charsPerToken), Sends: b.bits[i]&sendsBit != 0}
}
