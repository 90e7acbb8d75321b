package history

import (
	"context"
	"errors"
	"fmt"

	"winnow/assistant"
)

// CheckReport is what Check found.
type CheckReport struct {
	Pairs, Cut, Sessions, Topics int
	// Requests are the requests of pairs that are kept as they were sent, and
	// DamagedRequests those of them that are not what was sent any more. They are
	// shown on demand only: the conversation does without.
	Requests, DamagedRequests int
	// Problems are what contradicts, a sentence each; none is a healthy database.
	Problems []string
	// Damaged says that the file itself is broken: opening it again after this
	// store is closed salvages what is readable.
	Damaged bool
}

// maxProblems bounds how many contradictions of one kind are listed.
const maxProblems = 20

// contradictions are questions whose every answer is a problem.
var contradictions = []struct{ query, text string }{
	{"SELECT seq FROM pair EXCEPT SELECT seq FROM body", "pair %d has lost its texts"},
	{"SELECT seq FROM body EXCEPT SELECT seq FROM pair", "the texts of pair %d have lost their pair"},
	{"SELECT seq FROM pair WHERE session NOT IN (SELECT n FROM session)", "pair %d is of an unknown session"},
	{"SELECT seq FROM pair WHERE model NOT IN (SELECT n FROM model)", "pair %d is of an unknown model"},
	{"SELECT seq FROM pair WHERE topic <> 0 AND topic NOT IN (SELECT n FROM topic)", "pair %d is of an unknown topic"},
	{"SELECT DISTINCT seq FROM request WHERE seq NOT IN (SELECT seq FROM pair)", "requests of pair %d have lost their pair"},
	{"SELECT n FROM topic WHERE parent <> 0 AND parent NOT IN (SELECT n FROM topic)", "topic %d has lost its parent"},
}

// Check reads the whole database: every page, every sum, every reference. It
// takes seconds for a large one, and changes nothing. Damage is in the report,
// not in the error.
func (s *Store) Check(ctx context.Context) (CheckReport, error) {
	var report CheckReport
	err := s.read(ctx, func(r *reader) error {
		err := r.each(fmt.Sprintf("PRAGMA integrity_check(%d)", maxProblems), nil, func(scan scanner) error {
			var line string
			err := scan(&line)
			if line != "ok" {
				report.Damaged = true
				report.Problems = append(report.Problems, line)
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, q := range contradictions {
			err := r.each(fmt.Sprintf("%s LIMIT %d", q.query, maxProblems), nil, func(scan scanner) error {
				var n int64
				err := scan(&n)
				report.Problems = append(report.Problems, fmt.Sprintf(q.text, n))
				return err
			})
			if err != nil {
				return err
			}
		}
		if err := r.checkTexts(&report); err != nil {
			return err
		}
		return r.checkRequests(&report)
	})
	if damaged(err) {
		report.Damaged = true
		report.Problems = append(report.Problems, err.Error())
		return report, nil
	}
	if report.Damaged {
		_ = s.foundDamage(errors.New(report.Problems[0])) // marked for the next Open; the report tells the caller
	}
	return report, err
}

// checkTexts counts everything and compares each text with its sum.
func (r *reader) checkTexts(report *CheckReport) error {
	for query, into := range map[string]*int{
		"SELECT count(*) FROM pair WHERE cut IS NULL":     &report.Pairs,
		"SELECT count(*) FROM pair WHERE cut IS NOT NULL": &report.Cut,
		"SELECT count(*) FROM session":                    &report.Sessions,
		"SELECT count(*) FROM topic":                      &report.Topics,
	} {
		n, err := r.number(query)
		if err != nil {
			return err
		}
		*into = int(n)
	}
	r.altered = func(seq int64) {
		report.Problems = append(report.Problems, fmt.Sprintf("the texts of pair %d are not those that were written", seq))
	}
	defer func() { r.altered = nil }()
	for from := int64(0); ; {
		var seqs []int64
		err := r.each("SELECT seq FROM pair WHERE seq > ? ORDER BY seq LIMIT ?", []any{from, loadAtOnce}, func(scan scanner) error {
			var seq int64
			err := scan(&seq)
			seqs = append(seqs, seq)
			return err
		})
		if err != nil || len(seqs) == 0 {
			return err
		}
		if err := r.pairs(seqs, nil, map[int64]assistant.Pair{}); err != nil {
			return err
		}
		from = last(seqs)
	}
}

// checkRequests unpacks each request and compares it with its sums. All are
// counted, and the first few named.
func (r *reader) checkRequests(report *CheckReport) error {
	return r.each("SELECT seq, response, attempt, size, packed, body FROM request ORDER BY n", nil, func(scan scanner) error {
		var seq int64
		var response, attempt, size, packed int
		var body []byte
		if err := scan(&seq, &response, &attempt, &size, &packed, &body); err != nil {
			return err
		}
		report.Requests++
		if _, err := inflate(body, size); err == nil && packed == len(body) {
			return nil
		}
		if report.DamagedRequests++; report.DamagedRequests <= maxProblems {
			report.Problems = append(report.Problems, requestName(attempt, response, seq)+" is not the one that was sent")
		}
		return nil
	})
}
