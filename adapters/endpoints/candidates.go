package endpoints

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant/llm"
)

// ConnectOptions configures a Connector. All fields are required.
type ConnectOptions struct {
	Endpoints Options  // the options of the run; Settings names the file to write
	Set       *Set     // the endpoints of the run
	Themes    []string // see config.Options
	// Pick selects the model that this folder uses from now on.
	Pick func(ctx context.Context, id string) error
	// Dismiss records that the user does not want to connect a model now.
	Dismiss func(ctx context.Context) error
}

// Connector connects models in one run of the program. Use NewConnector.
type Connector struct {
	opts ConnectOptions

	mu      sync.Mutex
	written []config.Provider // written by Save, newest last
}

// NewConnector returns a Connector. It does no I/O.
func NewConnector(o ConnectOptions) *Connector { return &Connector{opts: o} }

// Host returns the host of the endpoint that serves a model, or "" if there is none.
func (c *Connector) Host(id string) string {
	name, _, _ := strings.Cut(id, "/")
	e := c.opts.Set.Named(name)
	if e == nil {
		return ""
	}
	at, err := url.Parse(e.BaseURL)
	if err != nil {
		return ""
	}
	return at.Host
}

// Connected reports whether the user has set up an endpoint.
func (c *Connector) Connected() bool { return c.opts.Set.Connected() }

// Dismiss records that the user does not want to connect a model now.
func (c *Connector) Dismiss(ctx context.Context) error { return c.opts.Dismiss(ctx) }

// Offline reports whether a model is the built-in one.
func (c *Connector) Offline(id string) bool { return id == OfflineModel }

// SettingsPath returns the path of the file that Save writes.
func (c *Connector) SettingsPath() string { return c.opts.Endpoints.Settings.Path }

// Kind is what is known about a candidate.
type Kind int

// The kinds of candidates, in the order in which they are listed.
const (
	KindResponds Kind = iota // the endpoint lists models
	KindHasKey               // the key is in the environment or the .env file; the endpoint was not asked
	KindSetUp                // already set up by the user; the endpoint was not asked
	KindFails                // found but not usable: see Candidate.Err
	KindVendor               // needs a key
	KindCustom               // needs an address, and possibly a key
)

// Candidate is an endpoint that could be connected.
type Candidate struct {
	Kind    Kind
	Name    string // "" for KindCustom
	BaseURL string // "" for KindCustom
	From    string // where the endpoint or its key was found, for display; "" for Vendor and Custom
	Models  int    // number of chat models that it lists
	Err     error  // for Fails, a *Problem

	endpoint *Endpoint       // endpoint of the run; nil if the candidate must be written to the settings
	provider config.Provider // what is written to the settings
	key      string          // key from the .env file, used like a pasted one; "" if none
}

// vendors are the providers that are offered even if no key is found, most used first.
var vendors = []string{"openai", "anthropic", "openrouter", "gemini", "groq", "mistral", "deepseek", "xai"}

// vendorKey matches the name of a variable with a vendor's key; the variables of a proxy that has several keys of one
// vendor are numbered.
var vendorKey = regexp.MustCompile(`^([A-Z0-9_]+?)_API_KEY(?:_[0-9]+)?$`)

// Search returns the candidates, starting with those that respond. It asks the automatic endpoints for their models,
// concurrently and for at most a few seconds each.
func (c *Connector) Search(ctx context.Context) []Candidate {
	all := c.endpoints(ctx)
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(found Candidate) bool { return found.Name == name })
	}
	for _, entry := range slices.Sorted(slices.Values(c.opts.Endpoints.Environ)) {
		variable, value, _ := strings.Cut(entry, "=")
		if p, ok := vendorWithKey(variable, value); ok && !has(p.Name) {
			p = withKey(p, config.Secret("env:"+variable))
			all = append(all, Candidate{Kind: KindHasKey, Name: p.Name, BaseURL: p.BaseURL, From: variable, provider: p})
		}
	}
	if file, err := dotenv.Load(c.opts.Endpoints.EnvFile); err == nil { // otherwise the window reports the error
		for _, variable := range file.File.Keys() {
			value, _ := file.File.Get(variable, nil)
			if p, ok := vendorWithKey(variable, value); ok && !has(p.Name) {
				from := variable + " of " + filepath.Base(file.Path)
				all = append(all, Candidate{Kind: KindHasKey, Name: p.Name, BaseURL: p.BaseURL, From: from, provider: p, key: value})
			}
		}
	}
	for _, vendor := range vendors {
		if p, ok := vendorOf(vendor, ""); ok && !has(vendor) {
			all = append(all, Candidate{Kind: KindVendor, Name: vendor, BaseURL: p.BaseURL, provider: p})
		}
	}
	all = append(all, Candidate{Kind: KindCustom})
	slices.SortStableFunc(all, func(a, b Candidate) int { return int(a.Kind) - int(b.Kind) })
	return all
}

// vendorWithKey returns the well-known provider whose key a variable contains.
func vendorWithKey(variable, value string) (p config.Provider, ok bool) {
	vendor := vendorKey.FindStringSubmatch(variable)
	if value == "" || vendor == nil {
		return p, false
	}
	return vendorOf(strings.ToLower(vendor[1]), "")
}

// vendorOf returns a well-known provider with this key.
func vendorOf(name string, key config.Secret) (config.Provider, bool) {
	base, keyHeader, header, ok := models.Base(name)
	p := config.Provider{Name: name, BaseURL: base}
	for field, value := range header {
		setHeader(&p, field, config.Secret(value))
	}
	if keyHeader != "" {
		setHeader(&p, keyHeader, "")
	}
	return withKey(p, key), ok && base != ""
}

func setHeader(p *config.Provider, field string, value config.Secret) {
	if p.Headers == nil {
		p.Headers = map[string]config.Secret{}
	}
	p.Headers[field] = value
}

// withKey returns a provider with its key set, in its key header if it has one.
func withKey(p config.Provider, key config.Secret) config.Provider {
	headers := p.Headers
	p.Headers = nil
	p.APIKey = key
	for field, value := range headers {
		if isKeyHeader(field) {
			value, p.APIKey = key, ""
		}
		setHeader(&p, field, value)
	}
	return p
}

// keyOf returns the key of a provider, from its key header if it has one.
func keyOf(p config.Provider) config.Secret {
	for field, value := range p.Headers {
		if isKeyHeader(field) {
			return value
		}
	}
	return p.APIKey
}

func isKeyHeader(field string) bool { return strings.HasSuffix(strings.ToLower(field), "key") }

// endpoints returns the candidates for the run's own endpoints.
func (c *Connector) endpoints(ctx context.Context) []Candidate {
	set := c.opts.Set.All
	found := make([]*Candidate, len(set))
	var wait sync.WaitGroup
	for i, e := range set {
		if e.Name == OfflineName {
			continue
		}
		e = c.opts.Set.Named(e.Name) // the newest endpoint of this name
		wait.Go(func() { found[i] = c.probe(ctx, e) })
	}
	wait.Wait()
	var all []Candidate
	for _, one := range found {
		if one != nil {
			all = append(all, *one)
		}
	}
	return all
}

// providerOf returns an endpoint of the run as a provider, without its key but with its headers, including the header
// for the key if there is one.
func (c *Connector) providerOf(e *Endpoint) config.Provider {
	p := config.Provider{Name: e.Name, BaseURL: e.BaseURL}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, have := range slices.Concat(c.opts.Endpoints.Settings.Providers, c.written) {
		if !e.Auto && have.Name == e.Name {
			p.Headers = maps.Clone(have.Headers)
		}
	}
	return p
}

// probeTimeout limits how long an endpoint may take to list its models during a search.
const probeTimeout = 3 * time.Second

// probe asks an automatic endpoint for its models. It returns nil if the address is a default and nothing responds
// there. It does not send requests to endpoints that the user set up, or to other machines named by a file in the
// folder.
func (c *Connector) probe(ctx context.Context, e *Endpoint) *Candidate {
	found := &Candidate{Kind: KindSetUp, Name: e.Name, BaseURL: e.BaseURL, From: e.From, endpoint: e, provider: c.providerOf(e)}
	if !e.Auto || e.Remote {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if !e.Responds(ctx) {
		found.Kind, found.Err = KindFails, &Problem{Code: NoAnswer, Endpoint: e.Name, At: e.BaseURL}
		if e.Guessed() {
			return nil
		}
		return found
	}
	listed, err := chatModels(ctx, e)
	if found.Kind, found.Models = KindResponds, len(listed); err != nil {
		found.Kind, found.Err = KindFails, problemOf(err, e.Name, e.BaseURL, e.Key != "")
	}
	return found
}

// chatModels returns the chat models that an endpoint lists. If there are none, the error is errNoModels.
func chatModels(ctx context.Context, e *Endpoint) ([]llm.ModelInfo, error) {
	listed, err := e.List(ctx)
	if err != nil {
		return nil, err
	}
	chat := thatChat(listed)
	if len(chat) == 0 {
		return nil, errNoModels
	}
	return chat, nil
}

// nameFor returns the name under which a provider is written: want, with a number if another endpoint has that name.
// An automatic endpoint of the same name is replaced, except the proxy, which differs from folder to folder.
func (c *Connector) nameFor(want, base string) string {
	if want == ProxyName {
		want = "proxy-local"
		if at, err := url.Parse(base); err == nil && at.Port() != "" {
			want = "proxy-" + at.Port()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := 1; ; n++ {
		name := want
		if n > 1 {
			name = fmt.Sprintf("%s-%d", want, n)
		}
		e := c.opts.Set.Named(name)
		own := slices.ContainsFunc(c.written, func(p config.Provider) bool { return p.Name == name }) ||
			slices.ContainsFunc(c.opts.Endpoints.Settings.Providers, func(p config.Provider) bool { return p.Name == name && len(p.Headers) == 0 })
		if e == nil || own && e.BaseURL == base || e.Auto && name != ProxyName {
			return name
		}
	}
}
