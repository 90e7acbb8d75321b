package history

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"winnow/assistant"
)

// index is what filters ask about of all pairs, in memory: read on the first
// question or when Warm asks for it, then kept up with this process and others.
type index struct {
	s       *Store
	current atomic.Pointer[snapshot] // nil until loaded
	begin   sync.Once                // starts load
	hurry   sync.Once                // closes wanted
	wanted  chan struct{}            // closed when somebody waits for the index
	loaded  chan struct{}            // closed when loading has ended
	err     error                    // why it failed; read after loaded

	mu sync.Mutex // held while the next snapshot is made

	betweenSlices func() // of tests: called after each block that was read
}

func newIndex(s *Store) *index {
	return &index{s: s, wanted: make(chan struct{}), loaded: make(chan struct{})}
}

const entryColumns = `seq, sec, nsec, session, topic, model,
	star | (state << 2) | (flag << 4) | ((attachments > 0) << 5) | (sends << 6) | ((cut IS NOT NULL) << 7), parts`

func scanEntry(scan scanner) (entry, error) {
	var e entry
	err := scan(&e.seq, &e.sec, &e.nsec, &e.session, &e.topic, &e.model, &e.bits, &e.parts)
	return e, err
}

// loadPause lies between two blocks while nobody waits for the index: reading a
// block takes some 3 ms, so that at most a third of a core goes into it.
const loadPause = 6 * time.Millisecond

// load reads the table once, block by block, each in a transaction of its own:
// none holds up the fold of the log, or a core that a key waits for. What is
// committed meanwhile carries a later number and is taken over at the end.
func (x *index) load() {
	defer close(x.loaded)
	next := &snapshot{}
	x.err = x.s.read(x.s.ctx, func(r *reader) (err error) {
		if next.rev, err = r.number("SELECT rev FROM counter"); err == nil {
			next.names, err = r.names(names{})
		}
		return err
	})
	entries := make([]entry, 0, blockPairs)
	for after := int64(0); x.err == nil; x.err = x.breathe() {
		if entries, x.err = x.slice(entries[:0], after); x.err != nil || len(entries) == 0 {
			break
		}
		next.blocks = append(next.blocks, makeBlock(entries))
		if after = last(entries).seq; len(entries) < blockPairs {
			break // what came since is taken over
		}
	}
	if x.err == nil {
		x.current.Store(next)
		x.s.forgetPages()
	}
}

// slice reads the entries of the next block into into.
func (x *index) slice(into []entry, after int64) ([]entry, error) {
	err := x.s.read(x.s.ctx, func(r *reader) error {
		return r.each("SELECT "+entryColumns+" FROM pair WHERE seq > ? ORDER BY seq LIMIT ?", []any{after, blockPairs}, func(scan scanner) error {
			e, err := scanEntry(scan)
			into = append(into, e)
			return err
		})
	})
	return into, err
}

// breathe leaves the machine to others between two blocks, unless somebody waits.
func (x *index) breathe() error {
	if x.betweenSlices != nil {
		x.betweenSlices()
	}
	pause := time.NewTimer(loadPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-x.wanted:
	case <-x.s.ctx.Done():
		return ErrClosed
	}
	return nil
}

// start has the index loaded in the background, once.
func (x *index) start() { x.begin.Do(func() { x.s.later(x.load) }) }

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
	x.start()
	x.hurry.Do(func() { close(x.wanted) })
	select {
	case <-x.loaded:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-x.s.ctx.Done():
		return nil, ErrClosed
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

// Revision grows with each change of pairs, topics and saved filters that this
// process has made or met; 0 until the index is read. It answers from memory.
func (s *Store) Revision() int64 {
	if now := s.index.current.Load(); now != nil {
		return now.rev
	}
	return 0
}

// Refresh looks whether another process changed the database since the last
// look, and takes that over; the first look, which waits for the index, finds
// nothing changed. Filter and Count look by themselves.
func (s *Store) Refresh(ctx context.Context) (changed bool, err error) {
	before := s.index.current.Load()
	after, err := s.index.fresh(ctx)
	return err == nil && before != nil && before.rev != after.rev, err
}

// Warm has the index of all pairs read in the background, in small pieces, so
// that the first filter need not wait for it. It returns when that is done, with
// ctx's error when ctx ends first; the reading goes on then.
func (s *Store) Warm(ctx context.Context) error {
	s.index.start()
	select {
	case <-s.index.loaded:
		return s.index.err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ctx.Done():
		return ErrClosed
	}
}

// Refs returns the uncut pairs of one session in order, costed with
// charsPerToken; session "" means of all sessions. For one session it reads no
// other pairs: it takes as long as that session is, not the history.
func (s *Store) Refs(ctx context.Context, session string, charsPerToken float64) ([]assistant.Ref, error) {
	if session != "" && s.index.current.Load() == nil {
		return s.sessionRefs(ctx, session, charsPerToken)
	}
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

// pairsOfSession finds them by an index of the database, in order.
const pairsOfSession = "SELECT seq, sends, parts FROM pair WHERE session = ? AND cut IS NULL ORDER BY seq"

// sessionRefs asks the database for the pairs of a session.
func (s *Store) sessionRefs(ctx context.Context, session string, charsPerToken float64) ([]assistant.Ref, error) {
	var refs []assistant.Ref
	err := s.read(ctx, func(r *reader) error {
		number, err := r.number("SELECT n FROM session WHERE id = ?", session)
		if err != nil || number == 0 {
			return err
		}
		refs = []assistant.Ref{}
		return r.each(pairsOfSession, []any{number}, func(scan scanner) error {
			var ref assistant.Ref
			var parts []byte
			err := scan(&ref.Seq, &ref.Sends, &parts)
			ref.Cost = cost(parts, charsPerToken)
			refs = append(refs, ref)
			return err
		})
	})
	return refs, err
}

func (b *block) ref(i int, charsPerToken float64) assistant.Ref {
	return assistant.Ref{Seq: b.seq[i], Cost: cost(b.packed(i), charsPerToken), Sends: b.bits[i]&sendsBit != 0}
}
