package openai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3/option"

	"winnow/assistant"
	"winnow/assistant/safetext"
)

// Options describes an endpoint. BaseURL is needed; the zero value of
// everything else works.
type Options struct {
	BaseURL string            // see CheckBaseURL
	Key     string            // sent as a bearer token; "" sends none
	Headers map[string]string // sent with every request, besides our own
	Name    string            // of the provider, the prefix of model ids; "" means "openai"

	// AllowPlainHTTP is the user's consent to send everything unencrypted to a
	// host that is not this machine.
	AllowPlainHTTP bool
	Timeouts       Timeouts

	// HTTP is used in place of our own client; its transport and cookies are,
	// its redirect policy and time limit are not. nil means our own.
	HTTP *http.Client
	Log  *slog.Logger                                     // nil means no log
	Now  func() time.Time                                 // nil means time.Now
	Wait func(ctx context.Context, d time.Duration) error // pauses before a retry; nil means a timer
	Rand func() float64                                   // in [0,1), spreads retries; nil means math/rand
}

// Timeouts are the limits of patience. Zero means the default.
type Timeouts struct {
	Connect   time.Duration // until there is a connection; 10 s
	FirstByte time.Duration // from then until the first content; 300 s
	Idle      time.Duration // between useful pieces of an answer; 120 s
	Notice    time.Duration // a Wait part each time nothing useful came for so long; 20 s
	List      time.Duration // a whole list of models; 60 s
}

func (t Timeouts) orDefaults() Timeouts {
	for _, d := range []struct {
		of *time.Duration
		is time.Duration
	}{
		{&t.Connect, 10 * time.Second},
		{&t.FirstByte, 300 * time.Second},
		{&t.Idle, 120 * time.Second},
		{&t.Notice, 20 * time.Second},
		{&t.List, 60 * time.Second},
	} {
		if *d.of <= 0 {
			*d.of = d.is
		}
	}
	return t
}

// Client is one endpoint. Make it with New.
type Client struct {
	name     string
	base     *url.URL
	host     string // of base, as it is named to the user
	keyed    bool   // there is a key
	timeouts Timeouts
	options  []option.RequestOption // of every request; see requestOptions
	secrets  *safetext.Redactor     // for what is shown and logged
	ours     *safetext.Redactor     // for what is sent to the model
	log      *slog.Logger
	now      func() time.Time
	wait     func(context.Context, time.Duration) error
	rand     func() float64

	// noUsage is set once the endpoint has refused stream_options.
	noUsage atomic.Bool
}

var (
	_ assistant.Model      = (*Client)(nil)
	_ assistant.Encoder    = (*Client)(nil)
	_ assistant.ImageModel = (*Client)(nil)
)

// New returns a client for the endpoint. It connects to nothing and reads
// nothing from the environment. The error says what is wrong with the options.
func New(opts Options) (*Client, error) {
	base, err := checkBaseURL(opts.BaseURL, opts.AllowPlainHTTP)
	if err != nil {
		return nil, err
	}
	if err := checkHeaders(opts); err != nil {
		return nil, err
	}
	c := &Client{
		name: opts.Name, base: base, host: base.Host, keyed: opts.Key != "", timeouts: opts.Timeouts.orDefaults(),
		secrets: safetext.NewRedactor(secrets(opts)),
		ours:    safetext.NewRedactor(slices.DeleteFunc(secrets(opts), placeholder)),
		log:     opts.Log, now: opts.Now, wait: opts.Wait, rand: opts.Rand,
	}
	if c.name == "" {
		c.name = "openai"
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.wait == nil {
		c.wait = pause
	}
	if c.rand == nil {
		c.rand = rand.Float64
	}
	c.options = requestOptions(base, opts, c.httpClient(opts.HTTP))
	return c, nil
}

// Name returns the name of the provider.
func (c *Client) Name() string { return c.name }

// BaseURL returns the address of the endpoint.
func (c *Client) BaseURL() string { return c.base.String() }

// requestOptions are what every request has in common. The services of openai-go
// are made from them where they are used: NewClient would add what it finds in
// the environment, whatever the base URL, and a Client that is kept would bring
// all its services into the program, sixteen megabytes that nobody calls.
func requestOptions(base *url.URL, opts Options, client *http.Client) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(base.String() + "/"),
		option.WithHTTPClient(client),
		option.WithMaxRetries(0),
		option.WithHeader("User-Agent", "winnow"),
	}
	for _, name := range []string{"Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Retry-Count", "Timeout"} {
		options = append(options, option.WithHeaderDel("X-Stainless-"+name))
	}
	if opts.Key != "" {
		options = append(options, option.WithAPIKey(opts.Key))
	}
	for name, value := range opts.Headers {
		options = append(options, option.WithHeader(name, value))
	}
	return options
}

// checkHeaders refuses what the wire cannot carry, without repeating it.
func checkHeaders(opts Options) error {
	if !headerValue(opts.Key) || strings.TrimSpace(opts.Key) != opts.Key {
		return errors.New("the API key holds a line break, white space around it or another control character")
	}
	for name, value := range opts.Headers {
		if !headerName(name) {
			return fmt.Errorf("%q cannot be the name of a header", name)
		}
		if !headerValue(value) {
			return fmt.Errorf("the value of the header %s holds a control character", name)
		}
	}
	return nil
}

// headerName reports whether name is a token of RFC 9110.
func headerName(name string) bool {
	return name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == ""
}

// headerValue reports whether value fits on the line of a header.
func headerValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// secrets lists what must never be shown: the key, and the values of headers
// whose names say that they are one.
func secrets(opts Options) []string {
	var list []string
	if opts.Key != "" {
		list = append(list, opts.Key)
	}
	for name, value := range opts.Headers {
		if value == "" || !containsAny(strings.ToLower(name), []string{"auth", "key", "token", "secret", "cookie", "password"}) {
			continue
		}
		list = append(list, value)
		if _, token, found := strings.Cut(value, " "); found && token != "" {
			list = append(list, token)
		}
	}
	return list
}

// placeholder reports a key that is too short to be one: local servers are given
// words such as "lm-studio", which may well occur in a message.
func placeholder(key string) bool { return len(key) < 16 }

// maxRedirects is how often an endpoint may send a request elsewhere on its own origin.
const maxRedirects = 5

// httpClient returns the client that all requests go through.
func (c *Client) httpClient(given *http.Client) *http.Client {
	client := &http.Client{CheckRedirect: c.checkRedirect}
	if given != nil {
		client.Transport, client.Jar = given.Transport, given.Jar
	}
	if client.Transport == nil {
		client.Transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
			DisableCompression:     true, // a compressed stream comes in lumps, and may be a bomb
		}
	}
	return client
}

// errRedirect is the cause of a refused redirect. Trying again would not help.
var errRedirect = errors.New("redirect refused")

func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case !sameOrigin(req.URL, c.base):
		return fmt.Errorf("%w: %s sends the request on to %s, and the key stays here", errRedirect, c.base.Host, safetext.Clean(req.URL.Host))
	case req.Method != via[0].Method:
		return fmt.Errorf("%w: %s sends the request on without its body; is the base URL right?", errRedirect, c.base.Host)
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: %s sends the request round in circles", errRedirect, c.base.Host)
	}
	return nil
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
