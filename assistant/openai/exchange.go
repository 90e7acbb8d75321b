package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/openai/openai-go/v3/option"

	"winnow/assistant/llm"
)

// readSize is how much of a body is read at once: enough for many tokens when they arrive
// fast, without using much memory.
const readSize = 16 << 10

// exchange is one HTTP request with its response. A goroutine sends the request and reads
// the response, until it ends or the context of the exchange is cancelled.
type exchange struct {
	events     chan event // unbuffered; closed after the end, or when ctx ends
	ctx        context.Context
	conn       *pacedConn // nil until connected; always nil with a transport from Options.HTTP
	stopPacing func()     // called only by the receiver, like startPacing
}

// event is a step of an exchange: the connection (the zero value), the headers, pieces of
// the body and the end, in this order. The end may also come earlier, in place of any of
// them.
type event struct {
	header http.Header
	body   []byte // valid until the next event is received
	ended  bool
	err    error // set with ended; nil means the body is complete
}

// send starts the exchange for req.
func (c *Client) send(ctx context.Context, req llm.Request) *exchange {
	x := &exchange{events: make(chan event), ctx: ctx, stopPacing: func() {}}
	go func() {
		defer close(x.events)
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn: x.connected,
		})
		var res *http.Response
		err := c.complete(traced, req, func(r *http.Request, next option.MiddlewareNext) (_ *http.Response, err error) {
			res, err = c.checkStatus(r, next)
			return res, err
		})
		if err == nil {
			defer res.Body.Close()
			err = x.read(res)
		}
		x.report(event{ended: true, err: err})
	}()
	return x
}

// connected stores the connection of the exchange.
func (x *exchange) connected(info httptrace.GotConnInfo) {
	x.conn = pacedBelow(info.Conn)
	x.report(event{})
}

// startPacing paces the connection until stopPacing is called or the exchange ends. It does
// nothing if pause is 0.
func (x *exchange) startPacing(pause time.Duration) {
	if x.conn != nil && pause > 0 {
		ctx, stop := context.WithCancel(x.ctx)
		x.stopPacing = stop
		x.conn.Start(pause, ctx.Done())
	}
}

// report delivers an event. It returns false if the exchange was cancelled first.
func (x *exchange) report(e event) bool {
	select {
	case x.events <- e:
		return true
	case <-x.ctx.Done():
		return false
	}
}

// read reports the headers and the body; the end of the body is not an error. It fills one
// of two buffers while the receiver uses the other.
func (x *exchange) read(res *http.Response) error {
	buffers := [2][]byte{make([]byte, readSize), make([]byte, readSize)}
	if !x.report(event{header: res.Header}) {
		return x.ctx.Err()
	}
	for i := 0; ; i++ {
		buffer := buffers[i%2]
		n, err := res.Body.Read(buffer)
		if n > 0 && !x.report(event{body: buffer[:n]}) {
			return x.ctx.Err()
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// acceptedTypes are substrings of acceptable content types. The framing is detected from
// the first bytes of the body.
var acceptedTypes = []string{"text/", "json", "event-stream", "ndjson", "jsonl", "octet-stream"}

func (c *Client) checkContentType(contentType string) error {
	if contentType == "" || containsAny(strings.ToLower(contentType), acceptedTypes) {
		return nil
	}
	return c.newError(llm.KindUnknown, nil, "%s returned %s instead of an answer", c.host, contentType)
}

// checkStatus is a middleware that turns a status of 300 or more into an error. Otherwise
// openai-go would read the body without a limit, and parse only one of the formats in use.
func (c *Client) checkStatus(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(r)
	if err != nil || res.StatusCode < 300 {
		return res, err
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // a truncated body still contains a message
	return nil, c.statusError(res.StatusCode, body, res.Header)
}

// Limits on retries: enough for a short failure, and short enough for a waiting user.
const (
	maxRetries      = 3
	firstRetryDelay = 500 * time.Millisecond
	maxRetryDelay   = 10 * time.Second // a longer Retry-After ends the request with an error
)

// errTimeout is the cause of every timeout except the one for connecting. A request that
// timed out is not retried: the user has already waited for minutes.
var errTimeout = errors.New("timeout")

// planRetry decides whether retry number n follows err, and after what delay.
func (c *Client) planRetry(err error, n int) (delay time.Duration, ok bool) {
	var re *llm.RequestError
	switch {
	case n > maxRetries || !errors.As(err, &re):
		return 0, false
	case c.refusesUsage(re):
		return 0, true
	case !transient(re) || re.After > maxRetryDelay:
		return 0, false
	case re.After > 0:
		return re.After, true
	}
	return firstRetryDelay << (n - 1), true
}

// refusesUsage reports whether the endpoint rejected the request because it asks for usage.
// It returns true at most once per client: later requests do not ask for usage.
func (c *Client) refusesUsage(err *llm.RequestError) bool {
	bad := err.Status == http.StatusBadRequest || err.Status == http.StatusUnprocessableEntity
	return bad && strings.Contains(err.Message, "stream_options") && c.noUsage.CompareAndSwap(false, true)
}

// creditWords identify a 429 error that waiting does not resolve.
var creditWords = []string{"insufficient_quota", "current quota", "billing", "credits", "balance"}

// transient reports whether the same request may succeed a moment later.
func transient(err *llm.RequestError) bool {
	switch {
	case err.Kind == llm.KindOverflow:
		return false
	case err.Status == http.StatusTooManyRequests:
		return !containsAny(strings.ToLower(err.Message), creditWords)
	case err.Status != 0:
		return err.Status >= 500 && err.Status != http.StatusNotImplemented && err.Status != http.StatusHTTPVersionNotSupported
	case errors.Is(err.Err, errTimeout), errors.Is(err.Err, errRedirect),
		errors.As(err.Err, new(*tls.CertificateVerificationError)), errors.As(err.Err, new(tls.RecordHeaderError)):
		return false
	}
	return err.Kind == llm.KindNet
}

// netError returns the error for a connection that failed before the answer began. A
// *RequestError or a cancellation is returned unchanged.
func (c *Client) netError(err error) error {
	var (
		re          *llm.RequestError
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		wrapped     *url.Error
	)
	words := err.Error()
	switch {
	case errors.As(err, &re), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &dns):
		words = "the host name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		words = "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET):
		words = "the connection was reset"
	case errors.As(err, &certificate):
		words = "its certificate is not valid: " + certificate.Err.Error()
	case errors.As(err, &record):
		words = "it does not speak TLS"
	case errors.As(err, &wrapped):
		words = wrapped.Err.Error()
	}
	return c.newError(llm.KindNet, err, "%s: %s", c.host, words)
}
