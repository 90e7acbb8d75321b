package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

// stateVersion is the form of the state.
const stateVersion = 1

// maxNewest is above any number a stream will reach, and bounds what a damaged
// state can ask for.
const maxNewest = 1 << 30

// state is what a checkpoint restores.
type state struct {
	Version int                 `json:"version"`
	Newest  int64               `json:"newest"` // the last pair that it speaks of
	Stars   map[string][]string `json:"stars"`  // runs of pairs by stars, "1" to "3"
	Grey    []string            `json:"grey"`   // pairs without flag
	Topics  map[string][]string `json:"topics"` // every topic, with its own pairs
}

// State is the marks of all pairs that are not as a new pair's, and the tree of
// topics. Equal states encode equally.
func (w *Window) State() (any, error) {
	w.work.Lock()
	defer w.work.Unlock()
	m, err := w.read(context.Background())
	if err != nil {
		return nil, err
	}
	s := state{
		Version: stateVersion, Stars: map[string][]string{}, Grey: m.sets[mark{flags, flagOff}].runs(), Topics: map[string][]string{},
	}
	if len(m.pairs) > 0 {
		s.Newest = m.pairs[len(m.pairs)-1]
	}
	for of, pairs := range m.sets {
		switch {
		case of.plain():
		case of.kind == stars:
			s.Stars[of.value] = pairs.runs()
		case of.kind == topics:
			s.Topics[of.value] = pairs.runs()
		}
	}
	return s, nil
}

// readState returns the marks that a state holds, those of its pairs that it
// does not name left out, and its newest pair.
func readState(raw json.RawMessage) (m marks, newest int64, err error) {
	var s state
	if err := json.Unmarshal(raw, &s); err != nil { // saved filters, in states of older versions, are left out
		return m, 0, fmt.Errorf("the state of the history cannot be read: %w", err)
	}
	if s.Version != stateVersion || s.Newest < 0 || s.Newest > maxNewest {
		return m, 0, fmt.Errorf("the state of the history has version %d and newest pair %d, this program reads version %d", s.Version, s.Newest, stateVersion)
	}
	all := map[mark][]string{{flags, flagOff}: s.Grey}
	for value, runs := range s.Stars {
		if n, problem := strconv.Atoi(value); problem != nil || n < 1 || n > filter.MaxStars || strconv.Itoa(n) != value {
			return m, 0, fmt.Errorf("the state of the history gives pairs %q stars", value)
		}
		all[mark{stars, value}] = runs
	}
	for path, runs := range s.Topics {
		if path == "" || path != history.TopicPath(path) {
			return m, 0, fmt.Errorf("the state of the history has a topic %q", path)
		}
		all[mark{topics, path}] = runs
	}
	m.sets = map[mark]seqs{}
	for of, runs := range all {
		if m.sets[of], err = readRuns(runs, s.Newest); err != nil {
			return m, 0, fmt.Errorf("the state of the history cannot be read: %w", err)
		}
	}
	return m, s.Newest, nil
}

// ApplyState restores a state in one transaction.
func (w *Window) ApplyState(raw json.RawMessage) error {
	target, newest, err := readState(raw)
	if err != nil {
		return err
	}
	w.work.Lock()
	defer w.work.Unlock()
	ctx := context.Background() // a rollback is not left half done
	now, err := w.read(ctx)
	if err != nil {
		return err
	}
	return w.store.Restore(ctx, w.difference(now, target, newest))
}

// difference is what makes target of now, for the pairs up to newest; later ones
// get back what they had before the tools changed it. A topic that still has pairs,
// be they cut, stays when target does not have it.
func (w *Window) difference(now, target marks, newest int64) (d history.Snapshot) {
	add := func(of mark, pairs ...int64) {
		m := of.set()
		for _, seq := range pairs {
			d.Marks = append(d.Marks, assistant.PairMark{Seq: seq, Star: m.Star, Flag: m.Flag, Topic: m.Topic})
		}
	}
	for k, plain := range plainMarks {
		rest := now.pairs.upTo(newest)
		for of, pairs := range target.sets {
			if of.kind == k && !of.plain() {
				rest = rest.minus(pairs)
			}
		}
		target.sets[mark{k, plain}] = rest
	}
	for of, pairs := range target.sets {
		add(of, pairs.minus(now.sets[of])...)
		if of.kind == topics && of.value != "" {
			d.Topics = append(d.Topics, of.value)
		}
	}
	for of, value := range w.original {
		if _, uncut := slices.BinarySearch(now.pairs, of.seq); uncut && of.seq > newest {
			add(mark{of.kind, value}, of.seq)
		}
	}
	for _, path := range now.paths() {
		if _, wanted := target.sets[mark{topics, path}]; !wanted {
			d.NewTopics = append(d.NewTopics, path)
		}
	}
	return d
}
