package openai

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"winnow/assistant"
)

// The bounds of retrying: enough to get over a hiccup, short enough that the
// user still knows what happens.
const (
	maxRetries  = 3
	firstPause  = 500 * time.Millisecond
	maxPause    = 10 * time.Second // what an endpoint asks above this is shown, not slept
	pauseSpread = 0.25             // a pause is up to so much shorter or longer
)

// The causes of a wait that was too long. Connecting is tried again; an endpoint
// that was given minutes and used them is not.
var (
	errTimeout      = errors.New("timeout")
	errNoConnection = errors.New("no connection")
)

// again decides whether the retry of this number follows on err, and after how
// long a pause.
func (c *Client) again(err error, retry int) (after time.Duration, ok bool) {
	var re *assistant.RequestError
	if retry > maxRetries || !errors.As(err, &re) {
		return 0, false
	}
	if c.refusesUsage(re) {
		return 0, true
	}
	if !transient(re) || re.After > maxPause {
		return 0, false
	}
	if re.After > 0 {
		return re.After, true
	}
	spread := 1 + pauseSpread*(2*c.rand()-1)
	return time.Duration(float64(firstPause<<(retry-1)) * spread), true
}

// refusesUsage reports, once, that the endpoint does not know the request for a
// usage report. The client does without from now on.
func (c *Client) refusesUsage(err *assistant.RequestError) bool {
	bad := err.Status == http.StatusBadRequest || err.Status == http.StatusUnprocessableEntity
	return bad && strings.Contains(err.Message, "stream_options") && c.noUsage.CompareAndSwap(false, true)
}

// transient reports whether the same request may do better a moment later.
func transient(err *assistant.RequestError) bool {
	switch {
	case err.Kind == assistant.KindOverflow:
		return false
	case err.Status == http.StatusTooManyRequests:
		return !noCredit(err)
	case err.Status != 0:
		return err.Status >= 500 && err.Status != http.StatusNotImplemented && err.Status != http.StatusHTTPVersionNotSupported
	}
	return err.Kind == assistant.KindNet && !errors.Is(err.Err, errTimeout) && !final(err.Err)
}

// noCredit reports a quota that waiting does not fill.
func noCredit(err *assistant.RequestError) bool {
	return err.Status == http.StatusPaymentRequired ||
		containsAny(strings.ToLower(err.Message), []string{"insufficient_quota", "current quota", "billing", "credits", "balance"})
}

// final reports the failures of a connection that come back every time.
func final(err error) bool {
	var (
		authority   x509.UnknownAuthorityError
		invalid     x509.CertificateInvalidError
		hostname    x509.HostnameError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
	)
	return errors.Is(err, errRedirect) || errors.As(err, &authority) || errors.As(err, &invalid) ||
		errors.As(err, &hostname) || errors.As(err, &certificate) || errors.As(err, &record)
}

// reason is one sentence about why the request is sent again.
func (c *Client) reason(err error) string {
	var re *assistant.RequestError
	if !errors.As(err, &re) {
		return c.words(err.Error())
	}
	if re.Status != 0 {
		if strings.HasPrefix(re.Message, c.host+" answered") {
			return re.Message
		}
		return c.host + " answered " + statusText(re.Status) + ": " + re.Message
	}
	return re.Message
}

// netError makes the error of a connection that failed before the answer began.
func (c *Client) netError(err error) error {
	var re *assistant.RequestError
	if errors.As(err, &re) || errors.Is(err, context.Canceled) {
		return err
	}
	return &assistant.RequestError{Kind: assistant.KindNet, Message: c.words(c.base.Host + ": " + netWordsOf(err)), Err: err}
}

// netWordsOf says in plain words what the network reported.
func netWordsOf(err error) string {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		wrapped     *url.Error
	)
	switch {
	case errors.As(err, &dns):
		return "no address is known for this host"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused; is the server running?"
	case errors.Is(err, syscall.ECONNRESET):
		return "the connection was reset"
	case errors.As(err, &certificate):
		return "its certificate is not valid: " + certificate.Err.Error()
	case errors.As(err, &record):
		return "it does not speak TLS; is the port right?"
	case errors.As(err, &wrapped):
		return wrapped.Err.Error()
	}
	return err.Error()
}
