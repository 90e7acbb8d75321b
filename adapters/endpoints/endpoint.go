package endpoints

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"winnow/adapters/modelfilter/models"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant/llm"
	"winnow/assistant/openai"
)

// KeyError means that a key could not be read from its source, or must not be sent to the endpoint.
type KeyError struct {
	Endpoint string // name of the endpoint
	Err      error
}

func (e *KeyError) Error() string { return fmt.Sprintf("the key of %s: %v", e.Endpoint, e.Err) }
func (e *KeyError) Unwrap() error { return e.Err }

// Endpoint is an address that serves models, as an llm.Model. Its client is created on first use.
type Endpoint struct {
	Name    string
	BaseURL string          // "" for the offline model before it runs
	From    string          // where the endpoint was found, for display
	Key     string          // where the key comes from, for display; "" if there is no key
	Auto    bool            // found automatically, not set up by the user
	Remote  bool            // automatic and on another machine: used only if named
	Known   []llm.ModelInfo // its models if it cannot list them
	Unset   error           // a *KeyError if the variable of the key is not set, otherwise nil

	guess     bool   // the address is a default, so it is not an error if nothing responds there
	withheld  error  // why the key must not be sent to the address; if set, nothing is sent there
	setting   string // the setting that contains BaseURL; "" if it is a default
	window    int    // context window of models without their own; 0 if unknown
	options   func(context.Context) (openai.Options, error)
	timeouts  openai.Timeouts
	readPause time.Duration
	log       *slog.Logger
	cacheDir  string // folder for what is stored about the address; "" stores nothing

	mu     sync.Mutex
	client *openai.Client
	feed   func(models.Answer) // set by Set.Feed; may be nil
}

// connect creates the client on the first call. It opens no connection.
func (e *Endpoint) connect(ctx context.Context) (*openai.Client, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client != nil {
		return e.client, nil
	}
	var o openai.Options
	var err error
	if e.options != nil {
		if o, err = e.options(ctx); err != nil {
			return nil, err
		}
	}
	o.BaseURL = cmp.Or(o.BaseURL, e.BaseURL)
	o.Setting, o.Name, o.Log, o.Timeouts, o.ReadPause = e.setting, e.Name, e.log, e.timeouts, e.readPause
	e.client, err = openai.New(o)
	return e.client, err
}

// APIKey reads the endpoint's key, which also makes it known to the redactor. It returns "" if there is no key.
func (e *Endpoint) APIKey(ctx context.Context) (string, error) {
	if e.options == nil || e.Name == OfflineName {
		return "", nil
	}
	o, err := e.options(ctx)
	return o.Key, err
}

// Stream implements llm.Model.
func (e *Endpoint) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	client, err := e.connect(ctx)
	if err != nil {
		return func(yield func(llm.Part, error) bool) {
			yield(nil, &llm.RequestError{Kind: llm.KindAuth, Message: err.Error(), Err: err})
		}
	}
	return client.Stream(ctx, req)
}

// Encode implements llm.Encoder.
func (e *Endpoint) Encode(req llm.Request) (json.RawMessage, error) {
	client, err := e.connect(context.Background()) // the request is only shown, not sent
	if err != nil {
		return nil, err
	}
	return client.Encode(req)
}

// Image implements llm.ImageModel.
func (e *Endpoint) Image(ctx context.Context, model, prompt string) (llm.Image, error) {
	client, err := e.connect(ctx)
	if err != nil {
		return llm.Image{}, err
	}
	return client.Image(ctx, model, prompt)
}

// List asks the endpoint for its models and stores the list. Data that the endpoint omits are added from the catalogue.
func (e *Endpoint) List(ctx context.Context) ([]llm.ModelInfo, error) {
	listed, _, err := e.list(ctx)
	return listed, err
}

// list is like List, but also returns the models that only earlier lists contained.
func (e *Endpoint) list(ctx context.Context) (listed, gone []llm.ModelInfo, err error) {
	if len(e.Known) > 0 {
		return slices.Clone(e.Known), nil, nil
	}
	client, err := e.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	if listed, err = client.Models(ctx); err != nil {
		return nil, nil, err
	}
	e.answered(listed)
	at := listed[0].Retrieved // an empty list is an error
	for i := range listed {
		listed[i] = e.describe(listed[i])
		listed[i].Retrieved = at
	}
	if gone, err = e.keepList(ctx, listed); err != nil && e.log != nil {
		e.log.Warn("model list not stored", "endpoint", e.Name, "error", err)
	}
	return listed, gone, nil
}

// usage implements usage.Asker for the proxy. An error does not quote the response, which may contain names of
// credentials.
func (e *Endpoint) usage(ctx context.Context) ([]byte, error) {
	if !e.Responds(ctx) {
		return nil, nil
	}
	client, err := e.connect(ctx)
	if err != nil {
		return nil, err
	}
	text, err := client.Get(ctx, usage.StatsPath, usage.MaxStats)
	failed, ok := errors.AsType[*llm.RequestError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%s did not respond to %s in time", e.BaseURL, usage.StatsPath)
	case ok && (failed.Status == http.StatusNotFound || failed.Status == http.StatusMethodNotAllowed):
		return nil, nil // a proxy version that does not count requests
	case ok && failed.Status != 0:
		return nil, fmt.Errorf("%s responded to %s with status %d", e.BaseURL, usage.StatsPath, failed.Status)
	}
	return text, err
}

// listForRegistry is list for the registry, which asks every endpoint. It returns no models for default addresses
// that do not respond or for remote endpoints.
func (e *Endpoint) listForRegistry(ctx context.Context) ([]llm.ModelInfo, error) {
	if e.Remote {
		return nil, nil
	}
	if e.guess && !e.Responds(ctx) {
		return nil, ctx.Err() // an endpoint that was not asked to the end has not lost its models
	}
	listed, gone, err := e.list(ctx)
	return append(listed, gone...), err
}

// describe adds what the catalogue and the settings know about a model.
func (e *Endpoint) describe(m llm.ModelInfo) llm.ModelInfo {
	if info, ok := models.Info(m.ID); ok {
		if m.Context == 0 {
			m.Context, m.Known, m.ContextFrom = info.Context, info.Known, llm.FromCatalogue
		}
		m.Facts = m.Facts.Or(info.Facts)
		m.Tools, m.Reasons, m.Images = m.Tools || info.Tools, m.Reasons || info.Reasons, m.Images || info.Images
		m.Vision = cmp.Or(m.Vision, info.Vision)
	}
	if m.Context == 0 && e.window > 0 {
		m.Context, m.ContextFrom = e.window, llm.FromSettings
	}
	return m
}

// answerTimeout is how long an endpoint may take to accept a connection. A server on this machine needs about a
// thousandth of that.
const answerTimeout = 500 * time.Millisecond

// Responds reports whether the address accepts connections.
func (e *Endpoint) Responds(ctx context.Context) bool {
	at, err := url.Parse(e.BaseURL)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(at.Hostname(), llm.Port(at)))
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was sent
	return true
}

// listTimeout limits how long an automatic endpoint may take to list its models.
const listTimeout = 3 * time.Second

// usable reports whether an automatic endpoint lists a chat model.
func (e *Endpoint) usable(ctx context.Context) bool {
	if !e.Responds(ctx) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	listed, err := e.List(ctx)
	return err == nil && slices.ContainsFunc(listed, canChat)
}

func canChat(m llm.ModelInfo) bool { return !m.NoChat }

// thatChat returns the models that can chat.
func thatChat(listed []llm.ModelInfo) []llm.ModelInfo {
	return slices.DeleteFunc(slices.Clone(listed), func(m llm.ModelInfo) bool { return !canChat(m) })
}

// Guessed reports whether the address is a default, so that it is not an error if nothing responds there.
func (e *Endpoint) Guessed() bool { return e.guess }

// Reason returns the kind of a failed request and the endpoint's message or, if there is none, the message of err.
func Reason(err error) string {
	if r, ok := errors.AsType[*llm.RequestError](err); ok && r.Message != "" {
		return fmt.Sprintf("%s: %s", r.Kind, r.Message)
	}
	return err.Error()
}
