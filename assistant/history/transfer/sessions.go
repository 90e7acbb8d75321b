package transfer

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/history"
)

// exportedSession is what an export contains about a session in addition to its pairs.
type exportedSession struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`  // the title that the user chose
	Parent string `json:"parent,omitempty"` // the session from which it branches
	UpTo   string `json:"up_to,omitempty"`  // ID of the last pair that the session takes over from its parent
}

// versionWith returns the format version of an export with these sessions.
func versionWith(sessions []exportedSession) int {
	if len(sessions) == 0 {
		return 1
	}
	return exportVersion
}

// exportedSessions returns the sessions that have a title or branch from another session, parents first.
func exportedSessions(ctx context.Context, s Source) (list []exportedSession, err error) {
	all, err := s.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range parentsFirst(all) {
		e := exportedSession{ID: v.ID, Parent: v.Branch.Parent}
		if v.Named {
			e.Title = v.Title
		}
		if e.Parent != "" {
			if e.UpTo, err = lastTaken(ctx, s, v.Branch); err != nil {
				return nil, err
			}
		}
		if e.Title != "" || e.Parent != "" {
			list = append(list, e)
		}
	}
	return list, nil
}

// parentsFirst returns the sessions in an order in which every parent precedes its branches.
func parentsFirst(all []history.Session) (sorted []history.Session) {
	slices.SortStableFunc(all, func(a, b history.Session) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
	})
	byID, done := map[string]history.Session{}, map[string]bool{}
	for _, v := range all {
		byID[v.ID] = v
	}
	var add func(id string)
	add = func(id string) {
		v, found := byID[id]
		if done[id] || !found {
			return
		}
		done[id] = true // set before the parent is visited, in case the parents form a cycle
		add(v.Branch.Parent)
		sorted = append(sorted, v)
	}
	for _, v := range all {
		add(v.ID)
	}
	return sorted
}

// lastTaken returns the ID of the last pair that a branch takes over from its parent, or "" if no such pair is left.
func lastTaken(ctx context.Context, s assistant.Store, from assistant.Branch) (id string, err error) {
	refs, err := s.Refs(ctx, from.Parent, 1)
	if err != nil {
		return "", err
	}
	for _, r := range slices.Backward(refs) {
		if r.Seq <= from.UpTo {
			pairs, err := s.Load(ctx, []int64{r.Seq})
			if err != nil || len(pairs) == 0 {
				return "", err
			}
			return pairs[0].ID, nil
		}
	}
	return "", nil
}

// addSessions stores titles and parents of sessions, unless the store already has them.
func addSessions(ctx context.Context, s ImportTarget, list []exportedSession) error {
	for _, e := range list {
		known, _, err := s.Session(ctx, e.ID)
		if err != nil {
			return err
		}
		v := history.Session{ID: e.ID, Used: known.Used} // an import does not use the session
		if e.Title != "" && !known.Named {
			v.Title, v.Named = e.Title, true
		}
		if e.Parent != "" && known.Branch.Parent == "" {
			if v.Branch.UpTo, err = seqOf(ctx, s, e.Parent, e.UpTo); err != nil {
				return err
			}
			v.Branch.Parent = e.Parent
		}
		if v.Named || v.Branch.Parent != "" {
			if err := s.Touch(ctx, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// seqOf returns the seq of the pair with an ID in the view of a session, or 0 if the view does not contain that pair.
func seqOf(ctx context.Context, s assistant.Store, session, id string) (seq int64, err error) {
	refs, err := s.Refs(ctx, session, 1)
	if err != nil || id == "" {
		return 0, err
	}
	err = eachPiece(ctx, s, refs, func(pairs []assistant.Pair) error {
		for _, p := range pairs {
			if p.ID == id {
				seq = p.Seq
			}
		}
		return nil
	})
	return seq, err
}
