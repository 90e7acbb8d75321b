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

// CopyReport counts what Copy did.
type CopyReport struct {
	Pairs int // uncut pairs of the source
	Added int
	Known int // the target had them before
	// Different counts the pairs that are not the same in both: the target's were
	// changed after an earlier copy.
	Different int
}

// Copy adds the uncut pairs of one store to another, with their sessions, topics
// and saved filters. Pairs whose id the target has are skipped, so that it can be
// repeated, also after an error, which leaves what was copied. At the end it reads
// all pairs from both and compares their hashes; one that is missing is an error.
// Requests and cut pairs are not copied. progress is called after each transaction.
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
	if err != nil {
		return report, fmt.Errorf("history: copy: %w", err)
	}
	err = compare(ctx, to, hashes, &report)
	return report, err
}

// copyNames copies what is beside the pairs.
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
		delete(saved, name) // the target's own stays
	}
	if err := to.Restore(ctx, history.Snapshot{Filters: saved}); err != nil {
		return err
	}
	sessions, err := from.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(sessions) { // the last used is touched last
		if _, found, err := to.Session(ctx, v.ID); err != nil || found {
			if err != nil {
				return err
			}
			continue
		}
		if err := to.Touch(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// compare reads the pairs of the target that have a hash.
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
		err = fmt.Errorf("history: copy: %d of %d pairs are not in view in the target", len(hashes)-found, len(hashes))
	}
	return err
}

// eachPiece loads pairs, a few hundred at a time.
func eachPiece(ctx context.Context, s assistant.Store, refs []assistant.Ref, each func([]assistant.Pair) error) error {
	for piece := range slices.Chunk(refs, loadAtOnce) {
		seqs := make([]int64, len(piece))
		for i, r := range piece {
			seqs[i] = r.Seq
		}
		pairs, err := s.Load(ctx, seqs)
		if err == nil {
			err = each(pairs)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hashOf is a hash of what a copy preserves: all but the author, whom a shared
// history adds, and that nobody sends the pair any more.
func hashOf(p assistant.Pair) (hash [sha256.Size]byte) {
	p.Interrupt()
	p.Author = ""
	p.Attachments = attachment.Stripped(p.Attachments) // the hash of a picture stands for it
	raw, err := history.EncodePair(&p)
	if err != nil {
		return hash
	}
	return sha256.Sum256(raw)
}
