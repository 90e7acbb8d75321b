package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"winnow/assistant"
	"winnow/assistant/history"
)

// loadAtOnce is how many pairs are loaded at a time where all are read.
const loadAtOnce = 500

func (s *store) Load(ctx context.Context, seqs []int64) ([]assistant.Pair, error) {
	pairs := make([]assistant.Pair, 0, len(seqs))
	err := s.read(ctx, func(t *tx) {
		for piece := range slices.Chunk(seqs, loadAtOnce) {
			t.pairs(piece, func(p assistant.Pair, _ bool) { pairs = append(pairs, p) })
		}
	})
	if err != nil {
		return nil, err
	}
	return pairs, nil
}

// requestedPairs is a table of seqs in the order asked for, joined with their pairs.
const requestedPairs = "json_each(?) j JOIN pair p ON p.seq = j.value"

// asArray encodes seqs for requestedPairs.
func asArray(seqs []int64) string {
	raw, _ := json.Marshal(seqs) // integers always encode
	return string(raw)
}

// pairs calls each for the pairs with these seqs, in the order asked for. One
// that is damaged has the Notice DamagedPair.
func (t *tx) pairs(seqs []int64, each func(p assistant.Pair, damaged bool)) {
	const query = `SELECT p.seq, p.id, coalesce(s.id, ''), coalesce(t.path, ''), coalesce(m.name, ''), p.star, p.flag, p.state, p.sec, p.nsec, p.zone,
			b.user, b.answer, b.reasoning, b.error_code, b.error_message, b.more, b.sum
		FROM ` + requestedPairs + ` JOIN body b ON b.seq = p.seq LEFT JOIN session s ON s.n = p.session
		LEFT JOIN topic t ON t.n = p.topic LEFT JOIN model m ON m.n = p.model ORDER BY j.key`
	t.each(query, []any{asArray(seqs)}, func(scan scanner) {
		var r history.Row
		var sec, nsec int64
		var zone int
		scan(&r.Seq, &r.ID, &r.Session, &r.Topic, &r.Model, &r.Star, &r.Flag, &r.StateNumber, &sec, &nsec, &zone,
			&r.UserText, &r.AssistantText, &r.Reasoning, &r.ErrorCode, &r.ErrorMessage, &r.More, &r.Sum)
		r.CreatedAt = history.Instant(sec, nsec, zone)
		damaged, err := r.Decode()
		if t.fail(err); t.err == nil {
			each(r.Pair, damaged)
		}
	})
}

func (s *store) Models(ctx context.Context) (counts []history.ModelCount, err error) {
	query := fmt.Sprintf(`SELECT coalesce((SELECT name FROM model WHERE n = p.model), '') AS name, count(*), sum(p.state = %d)
		FROM pair p WHERE p.cut IS NULL GROUP BY p.model ORDER BY count(*) DESC, name`, history.StateError)
	err = s.read(ctx, func(t *tx) {
		t.each(query, nil, func(scan scanner) {
			var c history.ModelCount
			scan(&c.Model, &c.Pairs, &c.Failed)
			counts = append(counts, c)
		})
	})
	return counts, err
}

func (s *store) MarkGroups(ctx context.Context) (groups []history.MarkGroup, err error) {
	const query = `SELECT star, flag, coalesce((SELECT path FROM topic WHERE n = pair.topic), ''), json_group_array(seq ORDER BY seq)
		FROM pair WHERE cut IS NULL GROUP BY star, flag, topic`
	err = s.read(ctx, func(t *tx) {
		t.each(query, nil, func(scan scanner) {
			var g history.MarkGroup
			var seqs []byte
			scan(&g.Star, &g.Flag, &g.Topic, &seqs)
			t.fail(json.Unmarshal(seqs, &g.Seqs))
			groups = append(groups, g)
		})
	})
	return groups, err
}
