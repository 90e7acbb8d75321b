package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"

	"winnow/assistant"
)

// readSize is how much of a body is read at once: many tokens when they come
// fast, and little memory.
const readSize = 16 << 10

// exchange is one request on the wire. A goroutine of its own sends it and
// reads the answer; whoever made it takes the news and cancels its context when
// it wants no more, which ends the goroutine and the connection.
type exchange struct {
	news chan event
	free chan []byte // buffers to read into
}

// event is news of an exchange: gotConnection, gotHeader, any number of gotBody
// and gotEnd, in this order. Instead of any of them gotEnd may come.
type event struct {
	kind   eventKind
	header http.Header // of gotHeader
	body   []byte      // of gotBody; to be given back to free
	err    error       // of gotEnd; nil is the end of the body
}

type eventKind uint8

const (
	gotConnection eventKind = iota
	gotHeader
	gotBody
	gotEnd
)

// start sends req.
func (c *Client) start(ctx context.Context, req assistant.Request) *exchange {
	// Two buffers: one is read into while the other is understood.
	x := &exchange{news: make(chan event), free: make(chan []byte, 2)}
	x.free <- make([]byte, readSize)
	x.free <- make([]byte, readSize)
	go func() {
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn: func(httptrace.GotConnInfo) { x.tell(ctx, event{kind: gotConnection}) },
		})
		var res *http.Response
		err := c.complete(traced, req, func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			var err error
			res, err = c.answered(next(r))
			return res, err
		})
		if err == nil {
			defer res.Body.Close()
			err = x.read(ctx, res)
		}
		x.tell(ctx, event{kind: gotEnd, err: err})
	}()
	return x
}

// tell hands over an event, unless nobody waits for it any more.
func (x *exchange) tell(ctx context.Context, e event) bool {
	select {
	case x.news <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// read reads the body until its end. A clean end is no error.
func (x *exchange) read(ctx context.Context, res *http.Response) error {
	if !x.tell(ctx, event{kind: gotHeader, header: res.Header}) {
		return ctx.Err()
	}
	for {
		select {
		case buf := <-x.free:
			n, err := res.Body.Read(buf)
			if n > 0 && !x.tell(ctx, event{kind: gotBody, body: buf[:n]}) {
				return ctx.Err()
			}
			if n == 0 {
				x.free <- buf
			}
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drainTime is how long the end of a whole answer may take to come.
const drainTime = time.Second

// drain throws away what follows a whole answer, for a moment, so that the
// connection can be used again.
func (x *exchange) drain(ctx context.Context) {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	for {
		select {
		case e := <-x.news:
			switch e.kind {
			case gotBody:
				x.free <- e.body[:cap(e.body)]
			case gotEnd:
				return
			default:
			}
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// acceptedTypes are the content types that an answer may come under; what it is
// made of is found out from its first bytes.
var acceptedTypes = []string{"text/", "json", "event-stream", "ndjson", "jsonl", "octet-stream"}

// checkType refuses answers that are declared to be something else than text.
func (c *Client) checkType(contentType string) error {
	if contentType == "" || containsAny(strings.ToLower(contentType), acceptedTypes) {
		return nil
	}
	return broken(assistant.KindUnknown, c.host+" answered with "+c.words(contentType)+" in place of an answer", checkBase, nil)
}

// answered judges the head of an answer. The body of a refusal is read here,
// within bounds: openai-go would read it whatever its size, and understand only
// one of the forms it comes in.
func (c *Client) answered(res *http.Response, err error) (*http.Response, error) {
	if err != nil || res.StatusCode < 300 {
		return res, err
	}
	defer res.Body.Close()
	// A body that breaks off still says what it says.
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	failure := c.refusal(res.StatusCode, text, res.Header)
	if hint := c.versionHint(); hint != "" && (res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusMethodNotAllowed) {
		failure.Advice = hint
	}
	return nil, failure
}
