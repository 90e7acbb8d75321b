package history

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"winnow/assistant"
)

// maxRequest is the maximum size, in bytes, of a request body that is stored. It also limits how much is unpacked from a
// damaged row.
const maxRequest = 64 << 20

// PackedRequest is a request as an engine stores it.
type PackedRequest struct {
	assistant.PairRequest
	Size   int // size of the body in bytes
	Packed []byte
}

// PackRequests redacts and compresses the bodies of requests; call it before the transaction begins. It omits requests
// whose bodies are larger than maxRequest.
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

// pack compresses a body with gzip, which adds a checksum. The fastest level is sufficient, because the names and
// schemas that repeat are close together.
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

// Unpack decompresses a packed body and returns an error if it does not have size bytes.
func Unpack(packed []byte, size int) (body []byte, err error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(r, maxRequest+1))
	}
	if err == nil && len(body) != size {
		err = fmt.Errorf("%d bytes, want %d", len(body), size)
	}
	if err != nil {
		return nil, fmt.Errorf("damaged on disk: %w", err)
	}
	return body, nil
}
