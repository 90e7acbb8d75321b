package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"winnow/assistant"
	"winnow/assistant/history"
)

// loadAtOnce is how many pairs are loaded at a time where all are read.
const loadAtOnce = 500

func (s *store) Load(ctx context.Context, seqs []int64) (pairs []assistant.Pair, err error) {
	err = s.read(ctx, func(t *tx) {
		pairs = make([]assistant.Pair, 0, len(seqs))
		for piece := range slices.Chunk(seqs, loadAtOnce) {
			for _, row := range t.pairs(piece) {
				pairs = append(pairs, row.Pair)
				s.versions.set(row.Seq, row.version)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return pairs, nil
}

// loadedRow is a pair, and whether its texts are not those that were written.
type loadedRow struct {
	history.Row
	version int64
	damaged bool
}

// pairs reads the pairs with these seqs, in the order asked for.
func (t *tx) pairs(seqs []int64) (rows []loadedRow) {
	const query = `SELECT p.seq, p.id, coalesce(s.id, ''), coalesce(t.path, ''), coalesce(m.name, ''), p.star, p.flag = 1, p.state, p.sec, p.nsec, p.zone,
			b.user_text, b.answer, b.reasoning, b.error_code, b.error_message, b.more, b.exact, b.sum, p.version
		FROM unnest($1::bigint[]) WITH ORDINALITY j (seq, at) JOIN pair p ON p.seq = j.seq JOIN body b ON b.seq = p.seq
		LEFT JOIN session s ON s.n = p.session LEFT JOIN topic t ON t.n = p.topic LEFT JOIN model m ON m.n = p.model ORDER BY j.at`
	t.each(query, []any{seqs}, func(scan scanner) {
		var r loadedRow
		var sec, nsec int64
		var zone int
		var exact []byte
		scan(&r.Seq, &r.ID, &r.Session, &r.Topic, &r.Model, &r.Star, &r.Flag, &r.StateNumber, &sec, &nsec, &zone,
			&r.UserText, &r.AssistantText, &r.Reasoning, &r.ErrorCode, &r.ErrorMessage, &r.More, &exact, &r.Sum, &r.version)
		r.CreatedAt = history.Instant(sec, nsec, zone)
		t.fail(restoreExact(&r.Row, exact))
		var err error
		r.damaged, err = r.Decode()
		t.fail(err)
		rows = append(rows, r)
	})
	return rows
}

// versions are the versions of the texts that this process has read or written, by
// seq. It is safe from any goroutine.
type versions struct {
	mu    sync.Mutex
	known map[int64]int64
}

// maxVersions bounds the memory: a pair that is forgotten is replaced unseen.
const maxVersions = 100_000

func (v *versions) set(seq, version int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil || len(v.known) >= maxVersions {
		v.known = map[int64]int64{}
	}
	v.known[seq] = version
}

func (v *versions) get(seq int64) (version int64, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	version, known = v.known[seq]
	return version, known
}

func (s *store) Models(ctx context.Context) (counts []history.ModelCount, err error) {
	const query = `SELECT coalesce((SELECT name FROM model WHERE n = p.model), '') COLLATE "C" AS name, count(*), count(*) FILTER (WHERE p.state = 3)
		FROM pair p WHERE p.cut IS NULL GROUP BY p.model ORDER BY count(*) DESC, name`
	err = s.read(ctx, func(t *tx) {
		counts = nil
		t.each(query, nil, func(scan scanner) {
			var c history.ModelCount
			scan(&c.Model, &c.Pairs, &c.Failed)
			counts = append(counts, c)
		})
	})
	return counts, err
}

func (s *store) MarkGroups(ctx context.Context) (groups []history.MarkGroup, err error) {
	const query = `SELECT star, flag = 1, coalesce((SELECT path FROM topic WHERE n = pair.topic), ''), array_agg(seq ORDER BY seq)
		FROM pair WHERE cut IS NULL GROUP BY star, flag, topic`
	err = s.read(ctx, func(t *tx) {
		groups = nil
		t.each(query, nil, func(scan scanner) {
			var g history.MarkGroup
			scan(&g.Star, &g.Flag, &g.Topic, &g.Seqs)
			groups = append(groups, g)
		})
	})
	return groups, err
}

// maxProblems bounds how many problems are listed.
const maxProblems = 20

// inconsistencies has a row for each problem: a seq, and a sentence with %d for it.
const inconsistencies = `
	SELECT p.seq, 'the texts of pair %d are missing' FROM pair p WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.seq = p.seq)
	UNION ALL SELECT seq, 'the session of pair %d does not exist' FROM pair p WHERE NOT EXISTS (SELECT 1 FROM session WHERE n = p.session)
	UNION ALL SELECT seq, 'the model of pair %d does not exist' FROM pair p WHERE NOT EXISTS (SELECT 1 FROM model WHERE n = p.model)
	UNION ALL SELECT seq, 'the topic of pair %d does not exist' FROM pair p WHERE topic <> 0 AND NOT EXISTS (SELECT 1 FROM topic WHERE n = p.topic)
	LIMIT $1`

// Check verifies every checksum and reference.
func (s *store) Check(ctx context.Context) (report history.CheckReport, err error) {
	err = s.read(ctx, func(t *tx) {
		report = history.CheckReport{}
		problem := func(format string, args ...any) {
			if len(report.Problems) < maxProblems {
				report.Problems = append(report.Problems, fmt.Sprintf(format, args...))
			}
		}
		t.each(inconsistencies, []any{maxProblems}, func(scan scanner) {
			var seq int64
			var format string
			scan(&seq, &format)
			problem(format, seq)
		})
		t.each(`SELECT (SELECT count(*) FROM pair WHERE cut IS NULL), (SELECT count(*) FROM pair WHERE cut IS NOT NULL),
			(SELECT count(*) FROM session), (SELECT count(*) FROM topic)`, nil, func(scan scanner) {
			scan(&report.Pairs, &report.Cut, &report.Sessions, &report.Topics)
		})
		for from := int64(0); t.err == nil; {
			seqs := list[int64](t, "SELECT seq FROM pair WHERE seq > $1 ORDER BY seq LIMIT $2", from, loadAtOnce)
			if len(seqs) == 0 {
				break
			}
			for _, row := range t.pairs(seqs) {
				if row.damaged {
					problem("the texts of pair %d are not those that were written", row.Seq)
				}
			}
			from = seqs[len(seqs)-1]
		}
		t.eachRequest("", nil, func(_ assistant.SentRequest, damage error) {
			report.Requests++
			if damage != nil {
				report.DamagedRequests++
				problem("%v", damage)
			}
		})
	})
	return report, err
}
