package history

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"winnow/assistant"
)

// maxRequest is the largest body that is stored, in bytes before it is packed:
// four times what the largest context windows take, and a bound for what a
// damaged or forged row can unpack to.
const maxRequest = 64 << 20

// packedRequest is a request as the database holds it.
type packedRequest struct {
	assistant.PairRequest
	size   int // of the body, in bytes
	packed []byte
}

// packRequests packs bodies, before the transaction begins: nobody waits for
// the database meanwhile. One that is too large is left out.
func (s *SQLite) packRequests(requests []assistant.PairRequest) ([]packedRequest, error) {
	var list []packedRequest
	for _, r := range requests {
		if len(r.Body) > maxRequest {
			continue
		}
		if s.options.Redact != nil {
			r.Body = []byte(s.Redact(string(r.Body)))
		}
		packed, err := deflate(r.Body)
		if err != nil {
			return nil, err
		}
		list = append(list, packedRequest{r, len(r.Body), packed})
	}
	return list, nil
}

// deflate packs a body, with a sum that tells when its bytes have changed. Fast
// is good enough: what repeats in a body, names and schemas, lies close together.
func deflate(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(body)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// errPacked is a body that is not the one that was packed.
var errPacked = errors.New("its bytes are not those that were written")

// inflate unpacks what deflate made of a body of size bytes.
func inflate(packed []byte, size int) ([]byte, error) {
	if size < 0 || size > maxRequest {
		return nil, errPacked
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPacked, err)
	}
	r.Multistream(false)
	body, err := io.ReadAll(io.LimitReader(r, int64(size)+1)) // one more: so that the sum at the end is read
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errPacked, err)
	case len(body) != size:
		return nil, errPacked
	}
	return body, nil
}

// storeRequests adds requests of pairs that are there, and drops those that are
// beyond the bounds.
func (c *change) storeRequests(list []packedRequest, seqOf func(*assistant.Pair) int64) error {
	for _, r := range list {
		_, zone := r.At.Zone()
		err := c.run(`INSERT INTO request (seq, response, attempt, trimmed, model, sec, nsec, zone, size, packed, body)
			SELECT seq,?,?,?,?,?,?,?,?,?,? FROM pair WHERE seq = ?`,
			r.Response, r.Attempt, r.Trimmed, r.Model, r.At.Unix(), r.At.Nanosecond(), zone, r.size, len(r.packed), r.packed, seqOf(r.Pair))
		if err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	return c.dropRequests(assistant.KeptRequestPairs, assistant.KeptRequestBytes)
}

// dropRequests drops the requests of all but so many pairs, those sent last,
// and the oldest ones beyond so many packed bytes. All that it looks
// at lies in the index of the table: no body is read.
func (c *change) dropRequests(pairs, packed int) error {
	err := c.run(`DELETE FROM request WHERE seq IN
		(SELECT seq FROM request GROUP BY seq ORDER BY max(n) DESC LIMIT -1 OFFSET ?)`, pairs)
	if err != nil {
		return err
	}
	total, _, err := c.number("SELECT coalesce(sum(packed), 0) FROM request")
	if err != nil || total <= int64(packed) {
		return err
	}
	return c.run(`DELETE FROM request WHERE n IN (SELECT n FROM
		(SELECT n, sum(packed) OVER (ORDER BY n DESC) AS newer FROM request) WHERE newer > ?)`, packed)
}

// Requests returns the requests of a pair as they were sent, oldest first; none
// is nil, nil. When a body is damaged the others are returned with an error
// that names it.
func (s *SQLite) Requests(ctx context.Context, seq int64) ([]assistant.SentRequest, error) {
	var list []assistant.SentRequest
	var broken []error
	err := s.read(ctx, func(t *tx) error {
		return t.each(`SELECT response, attempt, trimmed, model, sec, nsec, zone, size, body
			FROM request WHERE seq = ? ORDER BY n`, []any{seq}, func(scan scanner) error {
			var v assistant.SentRequest
			var sec, nsec int64
			var zone, size int
			var packed []byte
			if err := scan(&v.Response, &v.Attempt, &v.Trimmed, &v.Model, &sec, &nsec, &zone, &size, &packed); err != nil {
				return err
			}
			body, err := inflate(packed, size)
			if err != nil {
				broken = append(broken, fmt.Errorf("history: %s: %w", requestName(v.Attempt, v.Response, seq), err))
				return nil
			}
			v.At, v.Body = instant(sec, nsec, zone), body
			list = append(list, v)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("history: requests of pair %d: %w", seq, err)
	}
	return list, errors.Join(broken...)
}

// requestName names a request in a sentence.
func requestName(attempt, response int, seq int64) string {
	return fmt.Sprintf("request %d of response %d of pair %d", attempt, response, seq)
}
