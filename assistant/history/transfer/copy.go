package transfer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"winnow/assistant"
	"winnow/assistant/attachment"
	"winnow/assistant/history"
)

// CopyReport contains the counts of a Copy.
type CopyReport struct {
	Pairs int // the number of uncut pairs in the source
	Added int
	Known int // the number of pairs that the target already had
	// Different is the number of known pairs that differ, for example because they were changed after an earlier copy.
	Different int
}

// Copy adds the uncut pairs of one store to another, with their sessions, topics and saved filters. It skips pairs
// whose IDs the target already has, so it can be repeated, even after an error; the pairs copied before the error stay.
// At the end, Copy reads the target and compares the hashes of the pairs with those of the source; a missing pair is an
// error. Requests and cut pairs are not copied. progress is called after each transaction.
func Copy(ctx context.Context, from, to history.Store, progress func(done, total int)) (report CopyReport, err error) {
	refs, err := from.Refs(ctx, "", 0)
	if err != nil {
		return report, err
	}
	report.Pairs = len(refs)
	if err := copyNames(ctx, from, to); err != nil {
		return report, err
	}
	hashes := map[string][sha256.Size]byte{}
	a := appender{to: to, progress: func(done int) { progress(done, len(refs)) }}
	err = eachPiece(ctx, from, refs, func(pairs []assistant.Pair) error {
		for _, p := range pairs {
			hashes[p.ID] = hashOf(p)
			p.Interrupt()
			p.Seq = 0
			if err := loadPictures(ctx, from, &p); err != nil {
				return err
			}
			if err := a.add(ctx, &p); err != nil {
				return err
			}
		}
		return a.flush(ctx)
	})
	report.Added, report.Known = a.added, a.known
	if err == nil {
		err = copyBranches(ctx, from, to)
	}
	if err != nil {
		return report, err
	}
	err = compare(ctx, to, hashes, &report)
	return report, err
}

// copyNames copies topics, saved filters and sessions.
func copyNames(ctx context.Context, from, to history.Store) error {
	paths, err := from.TopicPaths(ctx)
	if err != nil {
		return err
	}
	if err := to.Restore(ctx, history.Snapshot{Topics: paths}); err != nil {
		return err
	}
	saved, err := from.SavedFilters(ctx)
	if err != nil {
		return err
	}
	known, err := to.SavedFilters(ctx)
	if err != nil {
		return err
	}
	for name := range known {
		delete(saved, name) // keep the target's filter
	}
	if err := to.Restore(ctx, history.Snapshot{Filters: saved}); err != nil {
		return err
	}
	sessions, err := from.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(sessions) { // Touch the most recently used session last
		if _, found, err := to.Session(ctx, v.ID); err != nil || found {
			if err != nil {
				return err
			}
			continue
		}
		v.Branch = assistant.Branch{} // see copyBranches
		if err := to.Touch(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// copyBranches copies the titles of sessions and the points at which sessions branch from others. It must run after the
// pairs have been copied, because such a point is the Seq of a pair in the target.
func copyBranches(ctx context.Context, from, to history.Store) error {
	sessions, err := exportedSessions(ctx, from)
	if err != nil {
		return err
	}
	return addSessions(ctx, to, sessions)
}

// compare compares the pairs in the target with the hashes of the pairs in the source.
func compare(ctx context.Context, to history.Pairs, hashes map[string][sha256.Size]byte, report *CopyReport) error {
	refs, err := to.Refs(ctx, "", 0)
	if err != nil {
		return err
	}
	found := 0
	err = eachPiece(ctx, to, refs, func(pairs []assistant.Pair) error {
		for _, p := range pairs {
			if hash, copied := hashes[p.ID]; copied {
				found++
				if hash != hashOf(p) {
					report.Different++
				}
			}
		}
		return nil
	})
	if err == nil && found < len(hashes) {
		err = fmt.Errorf("the target lacks %d of %d messages", len(hashes)-found, len(hashes))
	}
	return err
}

// eachPiece loads the pairs of refs and passes them to f, a few hundred at a time.
func eachPiece(ctx context.Context, s assistant.Store, refs []assistant.Ref, f func([]assistant.Pair) error) error {
	for piece := range slices.Chunk(refs, loadAtOnce) {
		seqs := make([]int64, len(piece))
		for i, r := range piece {
			seqs[i] = r.Seq
		}
		pairs, err := s.Load(ctx, seqs)
		if err == nil {
			err = f(pairs)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hashOf returns a hash of what a copy preserves: everything except the author, which a shared history adds, and the
// state sending, which becomes interrupted.
func hashOf(p assistant.Pair) (hash [sha256.Size]byte) {
	p.Interrupt()
	p.Author = ""
	p.Attachments = attachment.Stripped(p.Attachments) // a picture is represented by its hash
	raw, err := history.EncodePair(&p)
	if err != nil {
		return hash
	}
	return sha256.Sum256(raw)
}
