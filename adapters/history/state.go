package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	// Filters are in states of older versions. They stay as they are.
	Filters json.RawMessage `json:"filters,omitempty"`
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
		Version: stateVersion, Newest: m.newest(), Stars: map[string][]string{},
		Grey: m.sets[mark{flags, flagOff}].runs(), Topics: map[string][]string{},
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
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
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

// ApplyState restores a state, all of it or nothing: when it fails midway, what
// it did is undone. Each mark is a transaction of its own.
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
	err = w.restore(ctx, before, target, newest)
	if err == nil {
		return nil
	}
	midway, undoErr := w.read(ctx)
	if undoErr == nil {
		undoErr = w.restore(ctx, midway, before, max(before.newest(), midway.newest()))
	}
	if undoErr != nil {
		return errors.Join(err, fmt.Errorf("and the marks could not be restored: %w", undoErr))
	}
	return err
}

// restore makes target of now, for the pairs up to newest; later ones get back
// what they had before the tools changed it.
func (w *Window) restore(ctx context.Context, now, target marks, newest int64) error {
	known := now.pairs.upTo(newest)
	for k, plain := range plainMarks {
		rest := known
		for of, pairs := range target.sets {
			if of.kind == k && !of.plain() {
				rest = rest.minus(pairs)
			}
		}
		target.sets[mark{k, plain}] = rest
	}
	needs := now.changes(target)
	for of, pairs := range needs {
		needs[of] = pairs.upTo(newest)
	}
	for of, value := range w.original {
		if _, uncut := slices.BinarySearch(now.pairs, of.seq); uncut && of.seq > newest {
			needs[mark{of.kind, value}] = append(needs[mark{of.kind, value}], of.seq)
		}
	}
	for _, of := range sorted(needs) {
		if len(needs[of]) == 0 {
			continue
		}
		if _, err := w.store.Mark(ctx, needs[of], of.set()); err != nil {
			return err
		}
	}
	return w.restoreTopics(ctx, now, target)
}

// restoreTopics makes the tree that of target, but for topics with pairs that
// target does not speak of.
func (w *Window) restoreTopics(ctx context.Context, now, target marks) error {
	for _, path := range target.topicPaths() {
		delete(w.nonEmpty, path)
		if _, has := now.sets[mark{topics, path}]; has {
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
		if _, wanted := target.sets[mark{topics, t.Path}]; wanted {
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

// notice notes what changed since the model was last told, and remembers now as
// what it is told. Pairs that are new or gone are not noted.
func (w *Window) notice(now marks, line string) {
	then, oldLine := w.seen, w.line
	w.seen, w.line = &now, line
	if then == nil {
		return
	}
	changed := then.changes(now)
	for _, of := range sorted(changed) {
		pairs := changed[of].and(then.pairs)
		if len(pairs) == 0 {
			continue
		}
		fields := map[string]any{"ids": pairs.String(), "count": len(pairs)}
		switch of.kind {
		case stars:
			fields["stars"], _ = strconv.Atoi(of.value)
			w.note("pairs_starred", fields)
		case flags:
			fields["flag"] = of.value == flagOn
			w.note("pairs_flagged", fields)
		case topics:
			fields["topic"] = shown(of.value)
			w.note("topic_set", fields)
		}
	}
	w.noteTopics("topic_created", now, *then)
	w.noteTopics("topic_removed", *then, now)
	if line != oldLine {
		w.note("filter_changed", map[string]any{"line": shown(line)})
	}
}

// noteTopics notes the topics of one moment that the other does not have.
func (w *Window) noteTopics(kind string, of, other marks) {
	for _, path := range of.topicPaths() {
		if _, has := other.sets[mark{topics, path}]; !has {
			w.note(kind, map[string]any{"topic": shown(path)})
		}
	}
}

func (w *Window) note(kind string, fields map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log.Add(assistant.NewChange(kind, w.now(), fields))
}
