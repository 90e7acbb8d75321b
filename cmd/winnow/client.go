package main

import (
	"context"
	"encoding/json"
	"iter"
	"net"
	"net/url"
	"sync"
	"time"

	"winnow/assistant"
	"winnow/assistant/openai"
)

// open makes the client of an endpoint.
func (a *app) open(ctx context.Context, e *endpoint) (*openai.Client, error) {
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	o, err := e.options(ctx)
	if err != nil {
		return nil, err
	}
	o.Name = e.name
	if o.BaseURL == "" {
		o.BaseURL = e.baseURL
	}
	o.Log = a.logger()
	o.Timeouts = openai.Timeouts{Connect: s.ConnectTimeout, FirstByte: s.FirstByteTimeout, Idle: s.IdleTimeout}
	return openai.New(o)
}

// client is an endpoint as a model, made when it is first used.
type client struct {
	endpoint
	app *app

	mu   sync.Mutex
	made *openai.Client
}

func (c *client) get(ctx context.Context) (*openai.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		made, err := c.app.open(ctx, &c.endpoint)
		if err != nil {
			return nil, err
		}
		c.made = made
	}
	return c.made, nil
}

// Stream implements assistant.Model.
func (c *client) Stream(ctx context.Context, req assistant.Request) iter.Seq2[assistant.Part, error] {
	return func(yield func(assistant.Part, error) bool) {
		made, err := c.get(ctx)
		if err != nil {
			yield(nil, &assistant.RequestError{Kind: assistant.KindAuth, Message: err.Error(), Err: err})
			return
		}
		for part, err := range made.Stream(ctx, req) {
			if !yield(part, err) {
				return
			}
		}
	}
}

// Encode implements assistant.Encoder.
func (c *client) Encode(req assistant.Request) (json.RawMessage, error) {
	made, err := c.get(c.app.ctx)
	if err != nil {
		return nil, err
	}
	return made.Encode(req)
}

// Image implements assistant.ImageModel.
func (c *client) Image(ctx context.Context, model, prompt string) (assistant.Image, error) {
	made, err := c.get(ctx)
	if err != nil {
		return assistant.Image{}, err
	}
	return made.Image(ctx, model, prompt)
}

// list asks which models there are.
func (c *client) list(ctx context.Context) ([]assistant.ModelInfo, error) {
	made, err := c.get(ctx)
	if err != nil {
		return nil, err
	}
	found, err := made.Models(ctx)
	for i := range found {
		if found[i].Context == 0 {
			found[i].Context = c.window
		}
	}
	return found, err
}

// probeTime is how long an endpoint on this machine may take to say that it is
// there: a thousand times what it needs.
const probeTime = 500 * time.Millisecond

// answers says whether something listens at an endpoint that was found.
func (e *endpoint) answers(ctx context.Context) bool {
	at, err := url.Parse(e.baseURL)
	if err != nil {
		return false
	}
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(at.Hostname(), port))
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was sent: it answered, that is all
	return true
}
