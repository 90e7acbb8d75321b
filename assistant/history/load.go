package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/assistant"
)

// loadAtOnce is how many pairs one query of Load asks for.
const loadAtOnce = 500

// DamagedText is the Notice of a pair whose texts are not those that were
// written: a byte on the disk has changed.
const DamagedText = "The stored text of this pair is damaged: it is not the text that was written."

// Load returns the pairs with these Seqs, in the order asked for; cut ones too.
// One that is unknown is left out. The Notice of a damaged one is DamagedText.
func (s *SQLite) Load(ctx context.Context, seqs []int64) ([]assistant.Pair, error) {
	pairs := make([]assistant.Pair, 0, len(seqs))
	err := s.read(ctx, func(t *tx) error {
		paths, err := t.topicPaths()
		if err != nil {
			return err
		}
		for rest := seqs; len(rest) > 0; {
			n := min(len(rest), loadAtOnce)
			err := t.pairs(rest[:n], paths, func(p assistant.Pair, damaged bool) error {
				if damaged {
					p.Notice = DamagedText
				}
				pairs = append(pairs, p)
				return nil
			})
			if err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pairs, nil
}

// pairs calls each for the pairs with these seqs, in the order asked for.
// damaged says that the texts are not those that were written.
func (t *tx) pairs(seqs []int64, paths map[int64]string, each func(p assistant.Pair, damaged bool) error) error {
	wanted, err := json.Marshal(seqs)
	if err != nil {
		return err
	}
	const query = `SELECT p.seq, p.id, coalesce(s.id, ''), p.topic, coalesce(m.name, ''), p.star, p.flag, p.state, p.sec, p.nsec, p.zone,
			b.user, b.answer, b.reasoning, b.error_code, b.error_message, b.more, b.sum
		FROM json_each(?) j JOIN pair p ON p.seq = j.value JOIN body b ON b.seq = p.seq
		LEFT JOIN session s ON s.n = p.session LEFT JOIN model m ON m.n = p.model ORDER BY j.key`
	return t.each(query, []any{string(wanted)}, func(scan scanner) error {
		var p assistant.Pair
		var b bodyRow
		var topic, sec, nsec int64
		var state, zone int
		var sum sql.NullInt64
		if err := scan(&p.Seq, &p.ID, &p.Session, &topic, &p.Model, &p.Star, &p.Flag, &state, &sec, &nsec, &zone,
			&b.user, &b.answer, &b.reasoning, &b.errorCode, &b.errorMessage, &b.more, &sum); err != nil {
			return err
		}
		p.UserText, p.AssistantText, p.Reasoning, p.ErrorCode, p.ErrorMessage = b.user, b.answer, b.reasoning, b.errorCode, b.errorMessage
		p.Topic, p.State, p.CreatedAt = paths[topic], states[state&3], instant(sec, nsec, zone)
		damaged := !b.intact(&p, sum)
		if b.more != "" {
			if err := decodePair([]byte(b.more), &p); err != nil && !damaged {
				return fmt.Errorf("history: pair %d: %w", p.Seq, err)
			}
		}
		return each(p, damaged)
	})
}

// IDs returns the ids of the pairs with these Seqs, in the order asked for, and
// reads nothing else of them. One that is unknown is left out.
func (s *SQLite) IDs(ctx context.Context, seqs []int64) ([]string, error) {
	wanted, err := json.Marshal(seqs)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	err = s.read(ctx, func(t *tx) error {
		found, err := list[string](t, "SELECT p.id FROM json_each(?) j JOIN pair p ON p.seq = j.value ORDER BY j.key", string(wanted))
		ids = append(ids, found...)
		return err
	})
	return ids, err
}

// Newest returns the Seqs of up to n uncut pairs before the pair before (0: from
// the end), of one session or, with "", of all, in order.
func (s *SQLite) Newest(ctx context.Context, session string, before int64, n int) ([]int64, error) {
	query := "SELECT seq FROM pair WHERE cut IS NULL AND (? = 0 OR seq < ?) ORDER BY seq DESC LIMIT ?"
	args := []any{before, before, n}
	if session != "" {
		query = `SELECT seq FROM pair WHERE session = (SELECT n FROM session WHERE id = ?)
			AND cut IS NULL AND (? = 0 OR seq < ?) ORDER BY seq DESC LIMIT ?`
		args = append([]any{session}, args...)
	}
	var seqs []int64
	err := s.read(ctx, func(t *tx) (err error) {
		seqs, err = list[int64](t, "SELECT seq FROM ("+query+") ORDER BY seq", args...)
		return err
	})
	return seqs, err
}

// groupValues is the text of each Field's value; a topic is its number.
var groupValues = map[Field]string{
	BySession: "(SELECT id FROM session WHERE n = p.session)", ByModel: "(SELECT name FROM model WHERE n = p.model)",
	ByTopic: "p.topic", ByStar: "p.star", ByFlag: "p.flag", ByState: "p.state",
}

// Groups counts the uncut pairs of every value of a field, the value with the
// newest pair first. It looks at each pair.
func (s *SQLite) Groups(ctx context.Context, by Field) ([]Group, error) {
	value, ok := groupValues[by]
	if !ok {
		return nil, fmt.Errorf("history: no field %q", by)
	}
	var groups []Group
	err := s.read(ctx, func(t *tx) error {
		paths, err := t.topicPaths()
		if err != nil {
			return err
		}
		query := fmt.Sprintf(`SELECT coalesce(%s, ''), count(*), sum(p.state = %d), max(p.seq)
			FROM pair p WHERE p.cut IS NULL GROUP BY p.%s ORDER BY max(p.seq) DESC`, value, stateError, by)
		return t.each(query, nil, func(scan scanner) error {
			var g Group
			err := scan(&g.Value, &g.Pairs, &g.Failed, &g.Newest)
			if n, number := strconv.ParseInt(g.Value, 10, 64); number == nil {
				switch by {
				case ByTopic:
					g.Value = paths[n]
				case ByState:
					g.Value = string(states[n&3])
				default: // the value is what it says
				}
			}
			groups = append(groups, g)
			return err
		})
	})
	return groups, err
}

// MarkGroups lists the uncut pairs by their marks. It looks at each pair.
func (s *SQLite) MarkGroups(ctx context.Context) (groups []MarkGroup, err error) {
	err = s.read(ctx, func(t *tx) error {
		paths, err := t.topicPaths()
		if err != nil {
			return err
		}
		const query = "SELECT star, flag, topic, group_concat(seq, ' ') FROM pair WHERE cut IS NULL GROUP BY star, flag, topic"
		return t.each(query, nil, func(scan scanner) error {
			var g MarkGroup
			var topic int64
			var packed string
			if err := scan(&g.Star, &g.Flag, &topic, &packed); err != nil {
				return err
			}
			g.Topic = paths[topic]
			for field := range strings.SplitSeq(packed, " ") {
				seq, err := strconv.ParseInt(field, 10, 64)
				if err != nil {
					return err
				}
				g.Seqs = append(g.Seqs, seq)
			}
			slices.Sort(g.Seqs)
			groups = append(groups, g)
			return nil
		})
	})
	return groups, err
}
