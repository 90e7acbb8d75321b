package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"winnow/assistant"
	"winnow/assistant/history"
)

// LoadAtOnce is the maximum number of pairs that one query loads.
const LoadAtOnce = 500

// Load implements history.Store.
func (s *Store) Load(ctx context.Context, seqs []int64) (pairs []assistant.Pair, err error) {
	err = s.Read(ctx, func(t *Tx) {
		pairs = make([]assistant.Pair, 0, len(seqs))
		for piece := range slices.Chunk(seqs, LoadAtOnce) {
			for _, r := range s.rows(t, piece) {
				pairs = append(pairs, r.Pair)
				s.noteVersion(r.Seq, r.version)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return pairs, nil
}

// Payloads implements history.Store. The condition in its query avoids decoding pairs that have no payloads.
func (s *Store) Payloads(ctx context.Context, seqs []int64) (pairs []assistant.Pair, err error) {
	query := "SELECT b.seq, b.more FROM " + s.Seqs + ` j JOIN body b ON b.seq = j.seq WHERE b.more LIKE '%"payloads":%' ORDER BY j.at`
	err = s.Read(ctx, func(t *Tx) {
		pairs = nil
		t.Each(query, []any{asArray(seqs)}, func(scan Scanner) {
			var p assistant.Pair
			var more string
			scan(&p.Seq, &more)
			var form struct {
				Payloads []assistant.Payload `json:"payloads"`
			}
			if json.Unmarshal([]byte(more), &form) == nil && len(form.Payloads) > 0 { // damage is reported by Load
				p.Payloads = form.Payloads
				for i := range p.Payloads {
					p.Payloads[i].Data = nil
				}
				pairs = append(pairs, p)
			}
		})
	})
	return pairs, err
}

// loadedRow is a pair, its version, and whether its texts are damaged.
type loadedRow struct {
	history.Row
	version int64 // meta.rev when the texts were last written; 0 if the database is not shared
	damaged bool
}

// rows reads the pairs with these seqs, in the given order. A damaged pair has the Notice DamagedPair.
func (s *Store) rows(t *Tx, seqs []int64) (rows []loadedRow) {
	version := "0"
	if s.Shared {
		version = "p.version"
	}
	query := `SELECT p.seq, p.id, coalesce(s.id, ''), coalesce(t.path, ''), coalesce(m.name, ''), p.star, p.flag = 1, p.state, p.sec, p.nsec, p.zone,
			` + s.UserText + ", b.answer, b.reasoning, b.error_code, b.error_message, b.more, b.sum, " + s.Exact + ", " + version + `
		FROM ` + s.Seqs + ` j JOIN pair p ON p.seq = j.seq JOIN body b ON b.seq = p.seq
		LEFT JOIN session s ON s.n = p.session LEFT JOIN topic t ON t.n = p.topic LEFT JOIN model m ON m.n = p.model ORDER BY j.at`
	rows = make([]loadedRow, 0, len(seqs))
	t.Each(query, []any{asArray(seqs)}, func(scan Scanner) {
		var r loadedRow
		var sec, nsec int64
		var zone int
		var exact []byte
		scan(&r.Seq, &r.ID, &r.Session, &r.Topic, &r.Model, &r.Star, &r.Flag, &r.StateNumber, &sec, &nsec, &zone,
			&r.UserText, &r.AssistantText, &r.Reasoning, &r.ErrorCode, &r.ErrorMessage, &r.More, &r.Sum, &exact, &r.version)
		r.CreatedAt = history.Instant(sec, nsec, zone)
		t.Fail(r.SetExactTexts(exact))
		var err error
		r.damaged, err = r.Decode()
		t.Fail(err)
		rows = append(rows, r)
	})
	return rows
}

// Pairs calls f for each pair with one of these seqs, in the given order, until an error occurs.
func (s *Store) Pairs(t *Tx, seqs []int64, f func(p assistant.Pair, damaged bool)) {
	for _, r := range s.rows(t, seqs) {
		if t.err == nil {
			f(r.Pair, r.damaged)
		}
	}
}

// AllPairs calls f for every pair, including cut ones, until an error occurs.
func (s *Store) AllPairs(t *Tx, f func(p assistant.Pair, damaged bool)) {
	for from := int64(0); ; {
		seqs := List[int64](t, "SELECT seq FROM pair WHERE seq > ? ORDER BY seq LIMIT ?", from, LoadAtOnce)
		if len(seqs) == 0 || t.err != nil {
			return
		}
		s.Pairs(t, seqs, f)
		from = seqs[len(seqs)-1]
	}
}

// Models implements history.Store.
func (s *Store) Models(ctx context.Context) (counts []history.ModelCount, err error) {
	query := fmt.Sprintf(`SELECT coalesce((SELECT name FROM model WHERE n = p.model), ''), count(*), count(*) FILTER (WHERE p.state = %d)
		FROM pair p WHERE p.cut IS NULL GROUP BY p.model`, history.StateError)
	err = s.Read(ctx, func(t *Tx) {
		counts = nil
		t.Each(query, nil, func(scan Scanner) {
			var c history.ModelCount
			scan(&c.Model, &c.Pairs, &c.Failed)
			counts = append(counts, c)
		})
	})
	slices.SortFunc(counts, func(a, b history.ModelCount) int {
		return cmp.Or(cmp.Compare(b.Pairs, a.Pairs), cmp.Compare(a.Model, b.Model))
	})
	return counts, err
}

// MaxProblems is the maximum number of problems that a check lists.
const MaxProblems = 20

// CheckRows checks all pairs, pictures and requests, and counts the rows. inconsistencies is a query of the engine that
// returns a row for each problem: a seq and a sentence in which %d stands for the seq. Its argument limits the rows.
func (s *Store) CheckRows(t *Tx, inconsistencies string) (report history.CheckReport) {
	problem := func(format string, args ...any) {
		if len(report.Problems) < MaxProblems {
			report.Problems = append(report.Problems, fmt.Sprintf(format, args...))
		}
	}
	t.Each(inconsistencies, []any{MaxProblems}, func(scan Scanner) {
		var seq int64
		var format string
		scan(&seq, &format)
		problem(format, seq)
	})
	t.Each(`SELECT (SELECT count(*) FROM pair WHERE cut IS NULL), (SELECT count(*) FROM pair WHERE cut IS NOT NULL),
		(SELECT count(*) FROM session), (SELECT count(*) FROM topic)`, nil, func(scan Scanner) {
		scan(&report.Pairs, &report.Cut, &report.Sessions, &report.Topics)
	})
	s.AllPairs(t, func(p assistant.Pair, damaged bool) {
		if damaged {
			problem("the texts of message %d are damaged on disk", p.Seq)
		}
	})
	checkPictures(t, problem)
	eachRequest(t, "", nil, func(_ assistant.SentRequest, damage error) {
		report.Requests++
		if damage != nil {
			report.DamagedRequests++
			problem("%v", damage)
		}
	})
	return report
}
