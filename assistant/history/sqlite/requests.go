package sqlite

import (
	"context"
	"errors"
	"fmt"

	"winnow/assistant"
	"winnow/assistant/history"
)

// storeRequests adds the requests whose pairs exist, and drops the oldest ones
// beyond the bounds.
func (c *change) storeRequests(list []history.PackedRequest) {
	for _, r := range list {
		_, zone := r.At.Zone()
		c.run(`INSERT INTO request (seq, response, attempt, trimmed, model, sec, nsec, zone, size, packed, body)
			SELECT seq,?,?,?,?,?,?,?,?,?,? FROM pair WHERE seq = ?`,
			r.Response, r.Attempt, r.Trimmed, r.Model, r.At.Unix(), r.At.Nanosecond(), zone, r.Size, len(r.Packed), r.Packed, r.Pair.Seq)
	}
	if len(list) > 0 {
		c.dropRequests(assistant.KeptRequestPairs, assistant.KeptRequestBytes)
	}
}

// dropRequests keeps the requests of so many pairs, those sent last, and of them
// the newest up to so many packed bytes. It reads only the index.
func (c *change) dropRequests(pairs, packed int) {
	c.run(`DELETE FROM request WHERE seq IN
		(SELECT seq FROM request GROUP BY seq ORDER BY max(n) DESC LIMIT -1 OFFSET ?)`, pairs)
	if total, _ := c.number("SELECT coalesce(sum(packed), 0) FROM request"); total > int64(packed) {
		c.run(`DELETE FROM request WHERE n IN (SELECT n FROM
			(SELECT n, sum(packed) OVER (ORDER BY n DESC) AS newer FROM request) WHERE newer > ?)`, packed)
	}
}

func (s *store) Requests(ctx context.Context, seq int64) ([]assistant.SentRequest, error) {
	var list []assistant.SentRequest
	var broken []error
	err := s.read(ctx, func(t *tx) {
		t.eachRequest("WHERE seq = ?", []any{seq}, func(r assistant.SentRequest, damage error) {
			if broken = append(broken, damage); damage == nil {
				list = append(list, r)
			}
		})
	})
	if err != nil {
		return nil, fmt.Errorf("history: requests of pair %d: %w", seq, err)
	}
	return list, errors.Join(broken...)
}

// eachRequest calls each for requests, oldest first. damage is not nil for one
// whose body is not what was sent.
func (t *tx) eachRequest(where string, args []any, each func(r assistant.SentRequest, damage error)) {
	query := "SELECT seq, response, attempt, trimmed, model, sec, nsec, zone, size, body FROM request " + where + " ORDER BY n"
	t.each(query, args, func(scan scanner) {
		var r assistant.SentRequest
		var seq, sec, nsec int64
		var zone, size int
		var packed []byte
		scan(&seq, &r.Response, &r.Attempt, &r.Trimmed, &r.Model, &sec, &nsec, &zone, &size, &packed)
		body, err := history.Unpack(packed, size)
		if err != nil {
			err = fmt.Errorf("history: request %d of response %d of pair %d: %w", r.Attempt, r.Response, seq, err)
		}
		r.At, r.Body = history.Instant(sec, nsec, zone), body
		each(r, err)
	})
}
