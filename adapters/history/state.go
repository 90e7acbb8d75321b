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

// stateVersion is the version of the state format.
const stateVersion = 1

// maxSeq is higher than any sequence number in practice; it limits the memory that a damaged state can use.
const maxSeq = 1 << 30

// state is what a checkpoint restores.
type state struct {
	Version int                 `json:"version"`
	Newest  int64               `json:"newest"` // the newest pair when the state was taken
	Stars   map[string][]string `json:"stars"`  // ranges of pairs by number of stars, "1" to "3"
	Grey    []string            `json:"grey"`   // ranges of pairs without a flag
	Topics  map[string][]string `json:"topics"` // every topic, with the ranges of its own pairs
}

// State returns the tree of topics and the marks of pairs that differ from the marks of a new pair. Equal states have
// equal encodings.
func (w *Window) State() (json.RawMessage, error) {
	w.storeMu.Lock()
	defer w.storeMu.Unlock()
	m, err := w.readMarks(context.Background())
	if err != nil {
		return nil, err
	}
	s := state{
		Version: stateVersion, Stars: map[string][]string{}, Grey: m.byMark[mark{flags, flagOff}].ranges(), Topics: map[string][]string{},
	}
	if len(m.pairs) > 0 {
		s.Newest = m.pairs[len(m.pairs)-1]
	}
	for key, pairs := range m.byMark {
		switch {
		case key.isDefault():
		case key.kind == stars:
			s.Stars[key.value] = pairs.ranges()
		case key.kind == topics:
			s.Topics[key.value] = pairs.ranges()
		}
	}
	return json.Marshal(s)
}

// readState returns the non-default marks in a state, and the newest pair when the state was taken.
func readState(raw json.RawMessage) (m marks, newest int64, err error) {
	var s state
	if err := json.Unmarshal(raw, &s); err != nil { // Unmarshal ignores the saved filters in states of older versions
		return m, 0, fmt.Errorf("the state of the history cannot be read: %w", err)
	}
	if s.Version != stateVersion || s.Newest < 0 || s.Newest > maxSeq {
		return m, 0, fmt.Errorf("the history state has version %d, and its newest message is %d; this program reads version %d with messages up to %d", s.Version, s.Newest, stateVersion, maxSeq)
	}
	rangesOf := map[mark][]string{{flags, flagOff}: s.Grey}
	for value, ranges := range s.Stars {
		if n, atoiErr := strconv.Atoi(value); atoiErr != nil || n < 1 || n > filter.MaxStars || strconv.Itoa(n) != value {
			return m, 0, fmt.Errorf("the state of the history contains an invalid number of stars: %q", value)
		}
		rangesOf[mark{stars, value}] = ranges
	}
	for path, ranges := range s.Topics {
		if path == "" || path != history.TopicPath(path) {
			return m, 0, fmt.Errorf("the state of the history contains an invalid topic: %q", path)
		}
		rangesOf[mark{topics, path}] = ranges
	}
	m.byMark = map[mark]seqs{}
	for key, ranges := range rangesOf {
		if m.byMark[key], err = parseRanges(ranges, s.Newest); err != nil {
			return m, 0, fmt.Errorf("the state of the history cannot be read: %w", err)
		}
	}
	return m, s.Newest, nil
}

// Apply restores a state in one transaction.
func (w *Window) Apply(raw json.RawMessage) error {
	target, newest, err := readState(raw)
	if err != nil {
		return err
	}
	w.storeMu.Lock()
	defer w.storeMu.Unlock()
	ctx := context.Background() // a rollback must not be cancelled
	now, err := w.readMarks(ctx)
	if err != nil {
		return err
	}
	return w.store.Restore(ctx, w.difference(now, target, newest))
}

// difference returns the changes that give the pairs up to newest the marks in target. Later pairs get back the marks that
// they had before the tools changed them. A topic that target does not contain is kept if it still has pairs, even cut
// ones.
func (w *Window) difference(now, target marks, newest int64) (d history.Snapshot) {
	add := func(key mark, pairs ...int64) {
		m := key.storeMark()
		for _, seq := range pairs {
			d.Marks = append(d.Marks, assistant.PairMark{Seq: seq, Star: m.Star, Flag: m.Flag, Topic: m.Topic})
		}
	}
	for k, value := range defaultMarks {
		rest := now.pairs.upTo(newest)
		for key, pairs := range target.byMark {
			if key.kind == k && !key.isDefault() {
				rest = rest.minus(pairs)
			}
		}
		target.byMark[mark{k, value}] = rest
	}
	for key, pairs := range target.byMark {
		add(key, pairs.minus(now.byMark[key])...)
		if key.kind == topics && key.value != "" {
			d.Topics = append(d.Topics, key.value)
		}
	}
	for key, value := range w.original {
		if _, uncut := slices.BinarySearch(now.pairs, key.seq); uncut && key.seq > newest {
			add(mark{key.kind, value}, key.seq)
		}
	}
	for _, path := range now.paths() {
		if _, wanted := target.byMark[mark{topics, path}]; !wanted {
			d.NewTopics = append(d.NewTopics, path)
		}
	}
	return d
}
