package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"winnow/assistant/filter"
)

// stateVersion is the form of the state.
const stateVersion = 1

// maxNewest is above any number a stream will reach, and bounds what a damaged
// state can ask for.
const maxNewest = 1 << 30

// state is what a checkpoint brings back.
type state struct {
	Version int                 `json:"version"`
	Newest  int64               `json:"newest"` // the last pair that it speaks of
	Stars   map[string][]string `json:"stars"`  // runs of pairs by stars, "1" to "3"
	Grey    []string            `json:"grey"`   // pairs without flag
	Topics  map[string][]string `json:"topics"` // every topic, with its own pairs
	Filters map[string]string   `json:"filters"`
}

// State is the marks of all pairs that are not as a new pair's, the tree of
// topics and the saved filters. Equal states encode equally.
func (w *Window) State() (any, error) {
	w.work.Lock()
	defer w.work.Unlock()
	m, err := w.read(context.Background())
	if err != nil {
		return nil, err
	}
	s := state{
		Version: stateVersion, Newest: m.newest(), Stars: map[string][]string{},
		Grey: m.columns[flags].sets[flagOff].runs(), Topics: map[string][]string{}, Filters: m.filters,
	}
	for value, pairs := range m.columns[stars].sets {
		if len(pairs) > 0 {
			s.Stars[value] = pairs.runs()
		}
	}
	for path, pairs := range m.columns[topics].sets {
		s.Topics[path] = pairs.runs()
	}
	return s, nil
}

// readState returns the marks that a state holds, and its newest pair.
func readState(raw json.RawMessage) (m marks, newest int64, err error) {
	var s state
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return m, 0, fmt.Errorf("the state of the history cannot be read: %w", err)
	}
	if s.Version != stateVersion || s.Newest < 0 || s.Newest > maxNewest {
		return m, 0, fmt.Errorf("the state of the history has version %d and newest pair %d, this program reads version %d", s.Version, s.Newest, stateVersion)
	}
	m = noMarks()
	put := func(kind int, value string, runs []string) {
		pairs, problem := readRuns(runs, s.Newest)
		if err == nil && problem != nil {
			err = fmt.Errorf("the state of the history cannot be read: %w", problem)
		}
		m.columns[kind].sets[value] = pairs
	}
	for value, runs := range s.Stars {
		if n, problem := strconv.Atoi(value); problem != nil || n < 1 || n > filter.MaxStars || strconv.Itoa(n) != value {
			return m, 0, fmt.Errorf("the state of the history gives pairs %q stars", value)
		}
		put(stars, value, runs)
	}
	put(flags, flagOff, s.Grey)
	for path, runs := range s.Topics {
		if path == "" || path != canonical(path) {
			return m, 0, fmt.Errorf("the state of the history has a topic %q", path)
		}
		put(topics, path, runs)
	}
	for name, line := range s.Filters {
		if name == "" || line == "" {
			return m, 0, fmt.Errorf("the state of the history has a filter %q of %q", name, line)
		}
		m.filters[name] = line
	}
	return m, s.Newest, err
}

// ApplyState brings a state back, all of it or nothing: when it fails midway,
// what it did is put back. Each kind of mark is a transaction of its own.
func (w *Window) ApplyState(raw json.RawMessage) error {
	target, newest, err := readState(raw)
	if err != nil {
		return err
	}
	w.work.Lock()
	defer w.work.Unlock()
	ctx := context.Background() // a rollback is not left half done
	before, err := w.read(ctx)
	if err != nil {
		return err
	}
	err = w.bring(ctx, before, target, newest)
	if err == nil {
		return nil
	}
	midway, readErr := w.read(ctx)
	if readErr == nil {
		readErr = w.bring(ctx, midway, before, max(before.newest(), midway.newest()))
	}
	if readErr != nil {
		return errors.Join(err, fmt.Errorf("and the marks could not be put back: %w", readErr))
	}
	return err
}

// bring makes target of now, for the pairs up to newest; later ones get back
// their original marks.
func (w *Window) bring(ctx context.Context, now, target marks, newest int64) error {
	for kind := range now.columns {
		needs := w.original.back(kind, now, newest)
		for value, pairs := range now.columns[kind].changes(target.columns[kind]) {
			needs[value] = needs[value].or(pairs.upTo(newest))
		}
		for _, value := range sortedKeys(needs) {
			if len(needs[value]) == 0 {
				continue
			}
			if _, err := w.store.Mark(ctx, needs[value], mark(kind, value)); err != nil {
				return err
			}
		}
	}
	if err := w.bringTopics(ctx, now, target); err != nil {
		return err
	}
	if maps.Equal(now.filters, target.filters) {
		return nil
	}
	return w.store.SetFilters(ctx, target.filters)
}

// bringTopics makes the tree that of target, but for topics with pairs that
// target does not speak of.
func (w *Window) bringTopics(ctx context.Context, now, target marks) error {
	for _, path := range target.topicPaths() {
		delete(w.nonEmpty, path)
		if _, has := now.columns[topics].sets[path]; has {
			continue
		}
		if err := w.store.CreateTopic(ctx, path); err != nil {
			return err
		}
	}
	tree, err := w.store.Topics(ctx)
	if err != nil {
		return err
	}
	for _, t := range slices.Backward(tree) { // those below come first
		if _, wanted := target.columns[topics].sets[t.Path]; wanted {
			continue
		}
		if t.All > 0 {
			w.nonEmpty[t.Path] = true
		}
		if w.nonEmpty[t.Path] {
			continue
		}
		if err := w.store.DeleteTopic(ctx, t.Path); err != nil {
			return err
		}
	}
	return nil
}
