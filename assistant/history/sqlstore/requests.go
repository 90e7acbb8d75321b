package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"winnow/assistant"
	"winnow/assistant/history"
)

// storeRequests adds those requests of a batch whose pairs exist, and removes the oldest requests beyond the limits.
func (c *Change) storeRequests(b *assistant.Batch, stored []assistant.Pair, requests []history.PackedRequest) {
	for _, r := range requests {
		seq := r.Pair.Seq
		if at := slices.Index(b.Put, r.Pair); at >= 0 { // the copy of a new pair has its Seq
			seq = stored[at].Seq
		}
		_, zone := r.At.Zone()
		c.Run(`INSERT INTO request (seq, answer, response, attempt, trimmed, model, sec, nsec, zone, size, packed, body)
			SELECT seq,?,?,?,?,?,?,?,?,?,?,? FROM pair WHERE seq = ?`,
			r.Answer, r.Response, r.Attempt, r.Trimmed, r.Model, r.At.Unix(), r.At.Nanosecond(), zone, r.Size, len(r.Packed), r.Packed, seq)
	}
	if len(requests) > 0 {
		c.dropRequests(assistant.KeptRequestPairs, assistant.KeptRequestBytes)
	}
}

// dropRequests keeps only the requests of the maxPairs most recently sent pairs, and of these only the newest ones, whose
// packed bodies together have at most maxBytes. It reads only an index, not the bodies.
func (c *Change) dropRequests(maxPairs, maxBytes int) {
	c.Run(`DELETE FROM request WHERE seq IN (SELECT seq FROM
		(SELECT seq, row_number() OVER (ORDER BY max(n) DESC) AS newer FROM request GROUP BY seq) r WHERE newer > ?)`, maxPairs)
	if total, _ := c.Number("SELECT coalesce(sum(packed), 0) FROM request"); total > int64(maxBytes) {
		c.Run(`DELETE FROM request WHERE n IN (SELECT n FROM
			(SELECT n, sum(packed) OVER (ORDER BY n DESC) AS newer FROM request) r WHERE newer > ?)`, maxBytes)
	}
}

// Requests implements assistant.RequestStore.
func (s *Store) Requests(ctx context.Context, seq int64) (all []assistant.SentRequest, err error) {
	var broken []error
	err = s.Read(ctx, func(t *Tx) {
		all, broken = nil, nil
		eachRequest(t, "WHERE seq = ?", []any{seq}, func(r assistant.SentRequest, damage error) {
			if broken = append(broken, damage); damage == nil {
				all = append(all, r)
			}
		})
	})
	if err != nil {
		return nil, fmt.Errorf("history: requests of message %d: %w", seq, err)
	}
	return all, errors.Join(broken...)
}

// eachRequest calls f for every request that meets the condition, oldest first. damage is not nil if the stored body is
// damaged.
func eachRequest(t *Tx, where string, args []any, f func(r assistant.SentRequest, damage error)) {
	query := "SELECT seq, answer, response, attempt, trimmed, model, sec, nsec, zone, size, body FROM request " + where + " ORDER BY n"
	t.Each(query, args, func(scan Scanner) {
		var r assistant.SentRequest
		var seq, sec, nsec int64
		var zone, size int
		var packed []byte
		scan(&seq, &r.Answer, &r.Response, &r.Attempt, &r.Trimmed, &r.Model, &sec, &nsec, &zone, &size, &packed)
		body, err := history.Unpack(packed, size)
		if err != nil {
			err = fmt.Errorf("history: request %d of response %d of message %d: %w", r.Attempt, r.Response, seq, err)
		}
		r.At, r.Body = history.Instant(sec, nsec, zone), body
		f(r, err)
	})
}
