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

// maxRequest is the largest body that is stored, in bytes: four times the largest
// context window, and a bound for what a damaged row unpacks to.
const maxRequest = 64 << 20

// PackedRequest is a request as an engine stores it.
type PackedRequest struct {
	assistant.PairRequest
	Size   int // of the body, in bytes
	Packed []byte
}

// PackRequests redacts and compresses bodies before the transaction begins. One that is too
// large is left out.
func PackRequests(requests []assistant.PairRequest, redact func(string) string) (list []PackedRequest, err error) {
	for _, r := range requests {
		if len(r.Body) > maxRequest {
			continue
		}
		body := []byte(redact(string(r.Body)))
		packed, err := pack(body)
		if err != nil {
			return nil, err
		}
		list = append(list, PackedRequest{r, len(body), packed})
	}
	return list, nil
}

// pack compresses a body; gzip adds a checksum. The fastest level is good enough:
// what repeats, names and schemas, is close together.
func pack(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(body)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// Unpack restores a packed body of size bytes.
func Unpack(packed []byte, size int) (body []byte, err error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(r, maxRequest+1))
	}
	if err == nil && len(body) != size {
		err = fmt.Errorf("%d bytes, want %d", len(body), size)
	}
	if err != nil {
		return nil, fmt.Errorf("its bytes are not those that were written: %w", err)
	}
	return body, nil
}

// storeRequests adds the requests whose pairs exist, and drops the oldest ones
// beyond the bounds.
func (c *change) storeRequests(list []PackedRequest) {
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
		body, err := Unpack(packed, size)
		if err != nil {
			err = fmt.Errorf("history: request %d of response %d of pair %d: %w", r.Attempt, r.Response, seq, err)
		}
		r.At, r.Body = Instant(sec, nsec, zone), body
		each(r, err)
	})
}
