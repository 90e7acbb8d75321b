package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"winnow/assistant/history/sqlstore"
)

// A store that can write shows that it is open, so that other stores leave its unfinished pairs alone: its listener
// holds an advisory lock, which is released when the connection ends. Without a listener, as behind a pooler, the
// store renews its row in the table store instead.
const (
	deadAfter     = 36 * time.Second // a row that is at least this old belongs to a program that has ended
	beatsPerDeath = 3                // how often a row is renewed within that time
)

// announce assigns a number to this store and shows that it is open. listener is nil if the store has to poll.
func (s *store) announce(ctx context.Context) (listener *pgx.Conn, err error) {
	listener, err = s.connectListener(ctx)
	switch {
	case listener != nil || err != nil && s.options.Listen == "":
		return listener, err
	case err != nil:
		s.report.Notices = append(s.report.Notices, fmt.Sprintf("cannot listen at the address in history_listen (%v), so changes by other programs appear up to two seconds late", err))
	}
	return nil, s.beat(ctx)
}

// beatDue reports whether the row of this store is due for renewal.
func (s *store) beatDue(now time.Time) bool {
	last := s.beaten.Load()
	return s.report.ReadOnly == nil && (last == 0 || now.Sub(time.Unix(0, last)) >= s.options.deadAfter/beatsPerDeath)
}

// beat renews the row of this store if the renewal is due.
func (s *store) beat(ctx context.Context) error {
	now := time.Now()
	if !s.beatDue(now) {
		return nil
	}
	err := s.Write(ctx, func(t *sqlstore.Tx) {
		owner := s.owner.Load()
		if owner == 0 {
			owner, _ = t.Number("SELECT nextval('owner')")
			s.owner.Store(owner)
		}
		t.Run("INSERT INTO store (owner, seen) VALUES (?, now()) ON CONFLICT (owner) DO UPDATE SET seen = excluded.seen", owner)
	})
	if err == nil {
		s.beaten.Store(now.UnixNano())
	}
	return err
}

// farewell removes the row of this store.
func (s *store) farewell() {
	if s.beaten.Load() == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), downWait)
	defer cancel()
	err := s.transaction(ctx, func(t pgx.Tx) error {
		_, err := t.Exec(ctx, fmt.Sprintf("DELETE FROM %s.store WHERE owner = %d", s.schema, s.owner.Load()))
		return err
	})
	if err != nil {
		s.options.Log.Debug("history: the row of this store remains until it expires", "err", err)
	}
}

// endFirstInterrupted marks as interrupted the pairs of programs that ended before this store was opened. If the row of
// such a program is still recent, endFirstInterrupted checks again later.
func (s *store) endFirstInterrupted(ctx context.Context) error {
	ended, undecided, err := s.endInterrupted(ctx)
	s.report.Interrupted = ended
	if err == nil && undecided {
		s.listener.Go(func() {
			for undecided {
				select {
				case <-time.After(s.options.deadAfter + time.Second):
				case <-s.ctx.Done():
					return
				}
				if _, still, err := s.endInterrupted(quietly(s.ctx)); err == nil {
					undecided = still
				}
			}
		})
	}
	return err
}

// endInterrupted marks as interrupted the unfinished pairs of stores that are no longer open. No connection holds the
// lock of such a store, and its row is missing or old. undecided means that no connection holds the lock of some store,
// but the row of that store is still recent.
func (s *store) endInterrupted(ctx context.Context) (ended int, undecided bool, err error) {
	err = s.Write(ctx, func(t *sqlstore.Tx) {
		ended, undecided = 0, false
		var seqs []int64
		fresh := map[int32]bool{}
		for _, owner := range sqlstore.List[int32](t, "SELECT owner FROM store WHERE seen > now() - make_interval(secs => ?)", s.options.deadAfter.Seconds()) {
			fresh[owner] = true
		}
		for _, owner := range sqlstore.List[int32](t, "SELECT DISTINCT owner FROM pair WHERE owner IS NOT NULL") {
			if dead := sqlstore.List[bool](t, "SELECT pg_try_advisory_xact_lock(?, ?)", lockClass, owner); len(dead) != 1 || !dead[0] {
				continue
			}
			if fresh[owner] {
				undecided = true
				continue
			}
			seqs = append(seqs, sqlstore.List[int64](t, "SELECT seq FROM pair WHERE owner = ?", owner)...)
		}
		t.Run("DELETE FROM store WHERE owner <> ? AND seen <= now() - make_interval(secs => ?)", s.owner.Load(), s.options.deadAfter.Seconds())
		if len(seqs) > 0 {
			c := s.NewChange(t)
			ended, _ = c.EndInterrupted(seqs)
			t.Run("SELECT pg_notify(?, ?)", channel, fmt.Sprint(c.Rev, " 0 ", s.schema)) // no store has number 0, so this store treats the change as another store's, too
		}
	})
	return ended, undecided, err
}
