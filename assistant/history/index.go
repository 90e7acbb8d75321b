package history

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"winnow/assistant"
)

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
