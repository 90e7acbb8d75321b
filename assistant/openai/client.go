package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3/option"

	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// Options describes an endpoint. BaseURL is required; all other fields may be zero.
type Options struct {
	BaseURL string            // see llm.CheckBaseURL
	Setting string            // the setting that contains BaseURL, for error messages; may be ""
	Key     string            // sent as a bearer token; "" sends none
	Headers map[string]string // sent with every request
	Name    string            // name of the provider, the prefix of model ids; "" means "openai"

	// AllowPlainHTTP is the user's consent to send everything unencrypted to a
	// host that is not this machine.
	AllowPlainHTTP bool
	Timeouts       Timeouts

	// ReadPause is the pause between reads of a streamed answer once all received data has
	// been read; 0 reads each piece as it arrives. The first content is never delayed, nor
	// is anything after the finish_reason.
	ReadPause time.Duration

	// HTTP replaces the default client; only its transport and cookie jar are used. If it
	// has a transport, ReadPause has no effect.
	HTTP *http.Client
	Log  *slog.Logger                                     // nil means no log
	Now  func() time.Time                                 // nil means time.Now
	Wait func(ctx context.Context, d time.Duration) error // pauses before a retry; nil means a timer
}

// Timeouts limits each wait. Zero means the default at the end of the line.
type Timeouts struct {
	Connect   time.Duration // until connected, and without data in Models and Get; 10 s
	FirstByte time.Duration // from connection to first content, and for a whole picture; 300 s
	Idle      time.Duration // between useful pieces of an answer; 120 s
}

// Client is one endpoint. Create it with New.
type Client struct {
	opts     Options // with defaults filled in
	base     *url.URL
	host     string                 // of base
	request  []option.RequestOption // the options of every request; see requestOptions
	secrets  *safetext.Redactor     // redacts displayed and logged text
	outgoing *safetext.Redactor     // redacts text sent to the model

	// noUsage is set once the endpoint has rejected stream_options.
	noUsage atomic.Bool
}

var (
	_ llm.Model      = (*Client)(nil)
	_ llm.Encoder    = (*Client)(nil)
	_ llm.ImageModel = (*Client)(nil)
)

// Provider returns the endpoint as a provider for an llm.Registry, under the name in its
// Options.
func (c *Client) Provider() llm.Provider {
	return llm.Provider{Name: c.opts.Name, Model: c, List: c.Models}
}

// New returns a client for the endpoint. It makes no connection and does not read the
// environment. The error says what is wrong with the options.
func New(opts Options) (*Client, error) {
	base, err := llm.CheckBaseURL(opts.BaseURL, opts.AllowPlainHTTP)
	if err != nil {
		return nil, err
	}
	if err := checkHeaders(opts); err != nil {
		return nil, err
	}
	opts.Name = cmp.Or(opts.Name, "openai")
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	t := &opts.Timeouts
	t.Connect = cmp.Or(t.Connect, 10*time.Second)
	t.FirstByte = cmp.Or(t.FirstByte, 300*time.Second)
	t.Idle = cmp.Or(t.Idle, 120*time.Second)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Wait == nil {
		opts.Wait = sleep
	}
	secrets := secretsOf(opts)
	c := &Client{opts: opts, base: base, host: base.Host, secrets: safetext.NewRedactor(secrets)}
	c.outgoing = safetext.NewRedactor(slices.DeleteFunc(secrets, isPlaceholder))
	c.request = c.requestOptions()
	return c, nil
}

// requestOptions returns the options of every request. The services of openai-go are
// created from these options where they are needed: NewClient of openai-go also reads the
// environment, whatever the base URL, and storing an sdk.Client makes the linker keep all
// services, which adds sixteen megabytes of unused code.
func (c *Client) requestOptions() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(c.base.String() + "/"),
		option.WithHTTPClient(c.httpClient()),
		option.WithMaxRetries(0),
		option.WithHeader("User-Agent", "winnow"),
	}
	for _, name := range []string{"Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Retry-Count", "Timeout"} {
		options = append(options, option.WithHeaderDel("X-Stainless-"+name))
	}
	if c.opts.Key != "" {
		options = append(options, option.WithAPIKey(c.opts.Key))
	}
	for name, value := range c.opts.Headers {
		options = append(options, option.WithHeader(name, value))
	}
	return options
}

// tokenChars are the characters of a header name, RFC 9110 section 5.6.2.
const tokenChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

// checkHeaders rejects a key and headers that cannot be sent. The error never contains the
// key or a header's value.
func checkHeaders(opts Options) error {
	valid := func(value string) bool {
		return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
	}
	if !valid(opts.Key) || strings.TrimSpace(opts.Key) != opts.Key {
		return errors.New("the API key begins or ends with white space, or contains a line break or another control character")
	}
	for name, value := range opts.Headers {
		if name == "" || strings.Trim(name, tokenChars) != "" {
			return fmt.Errorf("%q is not a valid header name", name)
		}
		if !valid(value) {
			return fmt.Errorf("the value of the header %s contains a control character", name)
		}
	}
	return nil
}

// secretHeaders are words in the names of headers with secret values.
var secretHeaders = []string{"auth", "key", "token", "secret", "cookie", "password"}

// secretsOf lists what must never be shown: the key, the values of secret headers, and the
// token in a value such as "Bearer token".
func secretsOf(opts Options) []string {
	secrets := []string{opts.Key}
	for name, value := range opts.Headers {
		if containsAny(strings.ToLower(name), secretHeaders) {
			_, token, _ := strings.Cut(value, " ")
			secrets = append(secrets, value, token)
		}
	}
	return secrets
}

// isPlaceholder reports whether key is too short to be secret: local servers use words such
// as "lm-studio", which may well occur in a message.
func isPlaceholder(key string) bool { return len(key) < 16 }

// maxRedirects is the maximum number of redirects of a request, all within the endpoint's
// own origin.
const maxRedirects = 5

func (c *Client) httpClient() *http.Client {
	client := &http.Client{CheckRedirect: c.checkRedirect}
	if given := c.opts.HTTP; given != nil {
		client.Transport, client.Jar = given.Transport, given.Jar
	}
	if client.Transport == nil {
		client.Transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            dialPaced,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
			DisableCompression:     true, // compression delays a stream, and a small body may decompress to a huge one
		}
	}
	return client
}

// errRedirect is the cause of the error for a refused redirect. The request is not retried.
var errRedirect = errors.New("redirect refused")

func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case !llm.SameOrigin(req.URL, c.base):
		return fmt.Errorf("%w: %s redirects to %s, but the key is only for %s", errRedirect, c.host, safetext.Clean(req.URL.Host), c.host)
	case req.Method != via[0].Method:
		return fmt.Errorf("%w: %s redirects the request without its body", errRedirect, c.host)
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: %s redirected the request more than %d times", errRedirect, c.host, maxRedirects)
	}
	return nil
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
