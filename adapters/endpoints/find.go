package endpoints

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter/models"
	"winnow/adapters/modelfilter/usage"
	"winnow/assistant/llm"
	"winnow/assistant/offline"
	"winnow/assistant/openai"
	"winnow/assistant/safetext"
)

// The names of endpoints that are not in the settings.
const (
	OfflineName = "offline"
	ProxyName   = "proxy"
	OpenAIName  = "openai"
	// OfflineModel is the id of the built-in model.
	OfflineModel = OfflineName + "/" + offline.ModelID
)

const (
	openaiURL = "https://api.openai.com/v1"
	proxyURL  = "http://127.0.0.1:8000/v1"
)

// Server is a model server on this machine at its usual address.
type Server struct{ Name, URL string }

// LocalServers returns the usual local model servers.
func LocalServers() []Server {
	return []Server{
		{"ollama", "http://127.0.0.1:11434/v1"},
		{"lmstudio", "http://127.0.0.1:1234/v1"},
		{"llamacpp", "http://127.0.0.1:8080/v1"},
	}
}

// Options configures Find. Settings is required; the other fields may be zero.
type Options struct {
	Settings  *config.Settings
	Environ   []string           // "NAME=value"
	EnvFile   string             // the .env file of the proxy
	Provider  string             // name of the endpoint that the user wants; "" for any
	BaseURL   string             // address of the endpoint that the user wants, or ""
	Local     []Server           // local servers to look for
	CacheDir  string             // folder for what is learned about endpoints; "" stores nothing
	Delay     time.Duration      // pause between the chunks that the offline model streams; 0 for none
	ReadPause time.Duration      // see openai.Options
	Redactor  *safetext.Redactor // receives every key; may be nil
	Log       *slog.Logger
	Notice    func(string) // receives the reason why an endpoint of the folder is ignored; may be nil
}

// EndpointError means that an endpoint named by the user does not exist or has an invalid address.
type EndpointError struct {
	What   string   // "provider", "--base-url" or "OPENAI_BASE_URL"
	Value  string   // as the user gave it
	Reason string   // why an address is refused
	Near   string   // the most similar known provider, or ""
	Names  []string // the known providers
}

// Error implements error.
func (e *EndpointError) Error() string {
	if e.What != "provider" {
		return e.What + ": " + e.Reason
	}
	text := fmt.Sprintf("there is no endpoint %q", e.Value)
	if e.Near != "" {
		text += fmt.Sprintf("; did you mean %q?", e.Near)
	}
	return text
}

// Find lists the endpoints in order of preference without connecting to them. The error is an *EndpointError, a
// *config.Error for an address in the settings, or an error of reading the .env file.
func Find(o Options) (*Set, error) {
	f := finder{Options: o}
	environment, err := f.fromEnvironment()
	if err != nil {
		return nil, err
	}
	found := []*Endpoint{environment}
	for _, p := range o.Settings.Providers {
		e, err := f.configured(p)
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	proxy, err := f.proxy()
	if err != nil {
		return nil, err
	}
	found = append(found, proxy)
	named, err := f.atBaseURL(found)
	if err != nil {
		return nil, err
	}
	f.add(named)
	for _, e := range found {
		f.add(e)
	}
	for _, s := range o.Local {
		f.add(&Endpoint{Name: s.Name, BaseURL: s.URL, From: "its usual port", Auto: true, guess: true})
	}
	f.add(f.offline())
	if err := f.moveNamedFirst(); err != nil {
		return nil, err
	}
	return newSet(f.all, o)
}

// Lists returns the model lists of the proxy's providers, which are stored in the folder
// dir, and a usage.Asker that asks the proxy how often its models are used. The Asker is nil
// if there is no proxy, if it is remote, or if it must not get the key. Lists ignores options
// that name another endpoint, and opens no connection.
func Lists(o Options, dir string) (*models.Lists, usage.Asker, error) {
	f := finder{Options: o}
	proxy, err := f.proxy()
	if err != nil {
		return nil, nil, err
	}
	l := models.Options{
		Dir: dir, Log: o.Log, Env: f.variable, Confirmed: f.confirmed,
		NewFetcher: func(t models.Target) (models.Fetcher, error) {
			f.addSecret(t.Key)
			return openai.New(openai.Options{Name: t.Name, BaseURL: t.BaseURL, Key: t.Key, Headers: t.Headers, Log: o.Log, Timeouts: timeouts(o.Settings)})
		},
	}
	var ask usage.Asker
	if proxy != nil {
		key, _ := f.variable("PROXY_API_KEY")
		l.Proxy = &models.Proxy{BaseURL: proxy.BaseURL, Key: key.Text, Withheld: proxy.withheld}
		if !proxy.Remote && proxy.withheld == nil {
			proxy.configure(o)
			ask = proxy.usage
		}
	}
	return models.New(l), ask, nil
}

// finder collects the endpoints for one call to Find.
type finder struct {
	Options
	all    []*Endpoint
	source *dotenv.Source // the .env file; set by proxy
}

// add appends an endpoint unless it is nil or its name is already taken.
func (f *finder) add(e *Endpoint) {
	if e != nil && !slices.ContainsFunc(f.all, func(o *Endpoint) bool { return o.Name == e.Name }) {
		f.all = append(f.all, e)
	}
}

// moveNamedFirst moves the endpoint named by Options.Provider to the front. That endpoint then counts as set up by the
// user.
func (f *finder) moveNamedFirst() error {
	if f.Provider == "" {
		return nil
	}
	names := make([]string, len(f.all))
	for i, e := range f.all {
		names[i] = e.Name
	}
	at := slices.Index(names, f.Provider)
	if at < 0 {
		return &EndpointError{What: "provider", Value: f.Provider, Near: config.Nearest(f.Provider, names), Names: names}
	}
	e := f.all[at]
	e.Auto, e.Remote, e.guess = false, false, false
	f.all = slices.Insert(slices.Delete(f.all, at, at+1), 0, e)
	return nil
}

// atBaseURL returns the endpoint of Options.BaseURL, or nil if there is none. The endpoint gets the key of another one
// only if both have the same origin.
func (f *finder) atBaseURL(others []*Endpoint) (*Endpoint, error) {
	if f.BaseURL == "" {
		return nil, nil
	}
	at, err := checkBaseURL(f.BaseURL)
	if err != nil {
		return nil, &EndpointError{What: "--base-url", Value: f.BaseURL, Reason: err.Error()}
	}
	e := &Endpoint{From: "--base-url"}
	for _, o := range others {
		if o == nil {
			continue
		}
		if there, err := url.Parse(o.BaseURL); err == nil && llm.SameOrigin(there, at) {
			e = &Endpoint{Key: o.Key, Known: o.Known, From: e.From, window: o.window, options: o.options}
			break
		}
	}
	e.Name, e.BaseURL, e.setting = cmp.Or(f.Provider, NameOf(at)), at.String(), e.From
	return e, nil
}

// fromEnvironment returns the endpoint that OPENAI_API_KEY and OPENAI_BASE_URL describe, or nil if neither is set.
func (f *finder) fromEnvironment() (*Endpoint, error) {
	key, _ := f.lookup("OPENAI_API_KEY")
	raw, _ := f.lookup("OPENAI_BASE_URL")
	if key == "" && raw == "" {
		return nil, nil
	}
	e := &Endpoint{Name: OpenAIName, BaseURL: openaiURL, From: "OPENAI_API_KEY"}
	if raw != "" {
		at, err := checkBaseURL(raw)
		if err != nil {
			return nil, &EndpointError{What: "OPENAI_BASE_URL", Value: raw, Reason: err.Error()}
		}
		e.BaseURL, e.From, e.setting = at.String(), "OPENAI_BASE_URL", "OPENAI_BASE_URL"
	}
	return f.withKey(e, "OPENAI_API_KEY", key), nil
}

// configured returns the endpoint for a provider in the settings. Its key is read on first use.
func (f *finder) configured(p config.Provider) (*Endpoint, error) {
	at, err := llm.CheckBaseURL(p.BaseURL, p.AllowHTTP)
	if err != nil {
		return nil, &config.Error{Path: f.Settings.Path, Line: p.Line, Where: "provider " + p.Name, Reason: llm.AllowHTTP(err, "set allow_http = true in this entry").Error()}
	}
	e := &Endpoint{
		Name: p.Name, BaseURL: at.String(), Key: p.APIKey.String(), From: fmt.Sprintf("%s:%d", f.Settings.Path, p.Line), window: p.ContextWindow,
	}
	if p.Line > 0 { // otherwise the provider is not in the settings yet
		e.setting = "base_url in " + e.From
	}
	for _, s := range append(slices.Collect(maps.Values(p.Headers)), p.APIKey) {
		if !strings.HasPrefix(string(s), "env:") {
			continue // a command or the keyring may ask the user for a password
		}
		if _, err := f.secret(context.Background(), s); err != nil {
			e.Unset = &KeyError{p.Name, err}
		}
	}
	for _, m := range p.Models {
		info := llm.ModelInfo{ID: p.Name + "/" + m, Source: "config"}
		if p.ContextWindow > 0 {
			info.Context, info.Known, info.ContextFrom = p.ContextWindow, true, llm.FromSettings
		}
		e.Known = append(e.Known, info)
	}
	e.options = func(ctx context.Context) (opts openai.Options, err error) {
		opts = openai.Options{AllowPlainHTTP: p.AllowHTTP, Headers: map[string]string{}}
		if opts.Key, err = f.secret(ctx, p.APIKey); err != nil {
			return opts, &KeyError{p.Name, err}
		}
		for name, value := range p.Headers {
			if opts.Headers[name], err = f.secret(ctx, value); err != nil {
				return opts, fmt.Errorf("the header %s of %s: %w", name, p.Name, err)
			}
		}
		return opts, nil
	}
	return e, nil
}

func (f *finder) secret(ctx context.Context, s config.Secret) (string, error) {
	v, err := s.Resolve(ctx, f.Environ, f.Redactor)
	f.addSecret(v)
	return v, err
}

// proxy returns the proxy that the environment or the .env file describes, or nil if there is none or its address is
// refused.
func (f *finder) proxy() (*Endpoint, error) {
	source, err := dotenv.Load(f.EnvFile)
	if err != nil {
		return nil, err
	}
	f.source = source
	for _, key := range source.File.Keys() {
		if v, ok := source.File.Get(key, f.lookup); ok && dotenv.LooksSecret(key) {
			f.addSecret(v)
		}
	}
	base, _ := f.variable("PROXY_BASE_URL")
	key, _ := f.variable("PROXY_API_KEY")
	if base.Text == "" && key.Text == "" {
		return nil, nil
	}
	e := &Endpoint{Name: ProxyName, BaseURL: proxyURL, From: "the usual port of the proxy of " + source.Path, Auto: true, guess: true}
	if base.Text != "" {
		at, err := checkBaseURL(base.Text)
		if err == nil {
			err = models.CheckKey(models.KeyUse{Base: base})
		}
		if err != nil {
			f.notice("the proxy of this folder is ignored: PROXY_BASE_URL: %v", err)
			return nil, nil
		}
		if strings.Trim(at.Path, "/") == "" {
			at.Path = "/v1"
		}
		e.BaseURL, e.From, e.setting, e.guess = at.String(), source.Path, "PROXY_BASE_URL", false
		if base.From == "" {
			e.From = "the environment"
		}
		e.Remote = base.From != "" && !llm.Loopback(at.Hostname())
		if e.withheld = models.CheckKey(models.KeyUse{Key: key, Base: base, Confirmed: f.confirmed(key, e.BaseURL)}); e.withheld != nil && !e.Remote {
			f.notice("%v", e.withheld)
		}
	}
	return f.withKey(e, "PROXY_API_KEY", key.Text), nil
}

// confirmed reports whether the user has confirmed an address for a key in the environment: a provider in the
// settings with that origin names the key's variable.
func (f *finder) confirmed(key models.Value, base string) bool {
	at, err := url.Parse(base)
	return err == nil && !key.Expanded && slices.ContainsFunc(f.Settings.Providers, func(p config.Provider) bool {
		there, err := url.Parse(p.BaseURL)
		named := append(slices.Collect(maps.Values(p.Headers)), p.APIKey)
		return err == nil && llm.SameOrigin(at, there) && slices.Contains(named, config.Secret("env:"+key.Name))
	})
}

func (f *finder) notice(format string, args ...any) {
	if f.Notice != nil {
		f.Notice(fmt.Sprintf(format, args...))
	}
}

// offline returns the endpoint of the built-in model.
func (f *finder) offline() *Endpoint {
	e := &Endpoint{Name: OfflineName, From: "built in"}
	e.Known = []llm.ModelInfo{{ID: OfflineModel, Context: offline.ContextWindow, Known: true, Tools: true, Reasons: true, Source: "built in", ContextFrom: "winnow itself"}}
	e.options = func(context.Context) (openai.Options, error) {
		return openai.Options{BaseURL: offline.BaseURL, HTTP: offline.Client(f.Delay)}, nil
	}
	return e
}

// withKey sets the key of an endpoint, which was read from a variable; "" means no key.
func (f *finder) withKey(e *Endpoint, variable, key string) *Endpoint {
	if key != "" {
		e.Key = variable
		f.addSecret(key)
	}
	e.options = func(context.Context) (openai.Options, error) {
		if e.withheld != nil {
			return openai.Options{}, &KeyError{e.Name, e.withheld}
		}
		return openai.Options{Key: key}, nil
	}
	return e
}

// addSecret adds a key to the redactor.
func (f *finder) addSecret(key string) {
	if f.Redactor != nil {
		f.Redactor.Add(key)
	}
}

// variable reads a variable as the proxy does: from the environment or, if unset there, from the .env file.
func (f *finder) variable(name string) (models.Value, bool) {
	if text, ok := f.lookup(name); ok {
		return models.Value{Name: name, Text: text}, true
	}
	text, ok := f.source.File.Get(name, f.lookup)
	unexpanded, _ := f.source.File.Get(name, nil)
	return models.Value{Name: name, Text: text, From: f.source.Path, Expanded: text != unexpanded}, ok
}

// lookup reads a variable of the environment.
func (f *finder) lookup(name string) (string, bool) {
	return config.Lookup(f.Environ, name)
}

// NameOf returns a name for an endpoint based on its host: "openai" for api.openai.com, "local" for this machine.
func NameOf(at *url.URL) string {
	if llm.Loopback(at.Hostname()) {
		return "local"
	}
	parts := strings.Split(strings.TrimPrefix(at.Hostname(), "api."), ".")
	return parts[max(0, len(parts)-2)]
}
