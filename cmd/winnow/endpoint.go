package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"winnow/adapters/config"
	"winnow/adapters/dotenv"
	"winnow/assistant"
	"winnow/assistant/offline"
	"winnow/assistant/openai"
)

// endpoint is a place that answers requests, found by one of the ways of spec
// §11.5.
type endpoint struct {
	name    string
	baseURL string // "" of the offline model, whose address is not known before it runs
	from    string // where it was found, for people
	key     string // where its key comes from, for people; "" is none
	// auto endpoints were found, not asked for: they count when they answer.
	auto bool
	// guess endpoints were only looked for on their usual port: nobody misses
	// one that is not there.
	guess bool
	// remote auto endpoints are named by a file of the folder and lie elsewhere:
	// they are used only when the user names them.
	remote bool
	known  []assistant.ModelInfo
	window int // context window of models that tell none; 0 is unknown
	// options says how to reach it; it may ask the user for a key.
	options func(context.Context) (openai.Options, error)
}

// The names of endpoints that are found by themselves.
const (
	offlineName = "offline"
	proxyName   = "proxy"
	openaiName  = "openai"
)

const (
	openaiURL    = "https://api.openai.com/v1"
	proxyURL     = "http://127.0.0.1:8000/v1"
	offlineModel = offlineName + "/" + offline.ModelID
)

// localServers are the model servers that people run at home, on their usual ports.
var localServers = []struct{ name, url string }{
	{"ollama", "http://127.0.0.1:11434/v1"},
	{"lmstudio", "http://127.0.0.1:1234/v1"},
	{"llamacpp", "http://127.0.0.1:8080/v1"},
}

// endpoints lists what there is, in the order in which it is preferred. It
// connects to nothing.
func (a *app) endpoints(delay time.Duration) ([]endpoint, error) {
	s, err := a.config()
	if err != nil {
		return nil, err
	}
	proxy, err := a.proxyEndpoint()
	if err != nil {
		return nil, err
	}
	var all []endpoint
	add := func(e *endpoint) {
		if e != nil && !slices.ContainsFunc(all, func(o endpoint) bool { return o.name == e.name }) {
			all = append(all, *e)
		}
	}
	configured := make([]*endpoint, len(s.Providers))
	for i, p := range s.Providers {
		if configured[i], err = a.configEndpoint(s, p); err != nil {
			return nil, err
		}
	}
	ambient, err := a.ambientEndpoint()
	if err != nil {
		return nil, err
	}
	named, err := a.namedEndpoint(append([]*endpoint{ambient, proxy}, configured...))
	if err != nil {
		return nil, err
	}
	add(named)
	add(ambient)
	for _, e := range configured {
		add(e)
	}
	add(proxy)
	if s.LocalServers {
		for _, l := range localServers {
			add(&endpoint{name: l.name, baseURL: l.url, from: "its usual port", auto: true, guess: true, options: keyed("")})
		}
	}
	add(a.offlineEndpoint(delay))
	return a.only(all)
}

// only keeps the endpoint that --provider names, in front of the others.
func (a *app) only(all []endpoint) ([]endpoint, error) {
	name := a.given(a.flags.provider, "WINNOW_PROVIDER")
	if name == "" {
		return all, nil
	}
	at := slices.IndexFunc(all, func(e endpoint) bool { return e.name == name })
	if at < 0 {
		names := make([]string, len(all))
		for i, e := range all {
			names[i] = e.name
		}
		near := ""
		if n := config.Nearest(name, names); n != "" {
			near = fmt.Sprintf("; did you mean %q?", n)
		}
		return nil, advise(fmt.Errorf("there is no endpoint %q%s", name, near),
			"there are %s; add others as [[provider]] to the settings (winnow config edit), or give --base-url", strings.Join(names, ", "))
	}
	named := all[at]
	named.auto, named.guess, named.remote = false, false, false
	return slices.Insert(slices.Delete(all, at, at+1), 0, named), nil
}

// namedEndpoint is that of --base-url. A key goes with it only when it was
// entered for the same place.
func (a *app) namedEndpoint(others []*endpoint) (*endpoint, error) {
	raw := a.given(a.flags.baseURL, "WINNOW_BASE_URL")
	if raw == "" {
		return nil, nil
	}
	at, err := openai.CheckBaseURL(raw)
	if err != nil {
		return nil, &usageError{"winnow", "--base-url: " + err.Error()}
	}
	name := a.given(a.flags.provider, "WINNOW_PROVIDER")
	if name == "" {
		name = hostName(at)
	}
	for _, o := range others {
		if o == nil {
			continue
		}
		if there, err := url.Parse(o.baseURL); err == nil && origin(there) == origin(at) {
			same := *o
			same.name, same.baseURL, same.from = name, at.String(), "--base-url"
			same.auto, same.guess, same.remote = false, false, false
			return &same, nil
		}
	}
	return &endpoint{name: name, baseURL: at.String(), from: "--base-url", options: keyed("")}, nil
}

// ambientEndpoint is that of OPENAI_API_KEY and OPENAI_BASE_URL.
func (a *app) ambientEndpoint() (*endpoint, error) {
	key, raw := a.env("OPENAI_API_KEY"), a.env("OPENAI_BASE_URL")
	if key == "" && raw == "" {
		return nil, nil
	}
	e := &endpoint{name: openaiName, baseURL: openaiURL, from: "OPENAI_API_KEY"}
	if raw != "" {
		at, err := openai.CheckBaseURL(raw)
		if err != nil {
			return nil, advise(fmt.Errorf("OPENAI_BASE_URL: %w", err), "correct the variable or unset it")
		}
		e.baseURL, e.from = at.String(), "OPENAI_BASE_URL"
	}
	if key != "" {
		e.key = "OPENAI_API_KEY"
	}
	e.options = keyed(key)
	return e, nil
}

// configEndpoint is one of the settings. Its key is looked up when it is first used.
func (a *app) configEndpoint(s *config.Settings, p config.Provider) (*endpoint, error) {
	at, err := openai.CheckBaseURL(p.BaseURL)
	if err != nil && p.AllowHTTP {
		if plain, bad := url.Parse(p.BaseURL); bad == nil && plain.Scheme == "http" && plain.Host != "" && plain.User == nil {
			at, err = plain, nil
		}
	}
	if err != nil {
		return nil, &config.Error{Path: s.Path, Line: p.Line, Where: "provider " + p.Name, Reason: err.Error()}
	}
	e := &endpoint{
		name: p.Name, baseURL: at.String(), window: p.ContextWindow, key: p.APIKey.String(),
		from: fmt.Sprintf("%s:%d", s.Path, p.Line),
	}
	for _, m := range p.Models {
		e.known = append(e.known, assistant.ModelInfo{ID: p.Name + "/" + m, Context: p.ContextWindow, Known: p.ContextWindow > 0, Source: "config"})
	}
	e.options = func(ctx context.Context) (opts openai.Options, err error) {
		opts = openai.Options{AllowPlainHTTP: p.AllowHTTP, Headers: map[string]string{}}
		if opts.Key, err = a.secret(ctx, p.APIKey); err != nil {
			return opts, fmt.Errorf("the key of %s: %w", p.Name, err)
		}
		for name, value := range p.Headers {
			if opts.Headers[name], err = a.secret(ctx, value); err != nil {
				return opts, fmt.Errorf("the header %s of %s: %w", name, p.Name, err)
			}
		}
		return opts, nil
	}
	return e, nil
}

func (a *app) secret(ctx context.Context, s config.Secret) (string, error) {
	v, err := s.Resolve(ctx, a.environ)
	a.redactor.Add(v)
	return v, err
}

// proxyEndpoint is the proxy whose .env lies in this folder; nil when the file
// says nothing of one.
func (a *app) proxyEndpoint() (*endpoint, error) {
	source, err := dotenv.Load(a.envFile())
	if err != nil {
		return nil, err
	}
	for _, key := range source.File.Keys() {
		if v, ok := source.File.Get(key, a.lookupEnv); ok && dotenv.LooksSecret(key) {
			a.redactor.Add(v)
		}
	}
	base, keyAt := a.fromEnvOrFile(source, "PROXY_BASE_URL")
	key, _ := a.fromEnvOrFile(source, "PROXY_API_KEY")
	if base == "" && key == "" {
		return nil, nil
	}
	e := &endpoint{name: proxyName, baseURL: proxyURL, from: "the usual port of the proxy of " + source.Path, auto: true, guess: true}
	if base != "" {
		at, err := openai.CheckBaseURL(base)
		if err != nil {
			a.say("the proxy of this folder is left out: PROXY_BASE_URL: %v", err)
			return nil, nil
		}
		if strings.Trim(at.Path, "/") == "" {
			at.Path = "/v1"
		}
		e.baseURL, e.from, e.guess = at.String(), keyAt, false
		e.remote = keyAt != "the environment" && !loopback(at.Hostname())
	}
	if key != "" {
		e.key = "PROXY_API_KEY"
	}
	a.redactor.Add(key)
	e.options = keyed(key)
	return e, nil
}

func (a *app) lookupEnv(name string) (string, bool) {
	for _, e := range a.environ {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

func (a *app) fromEnvOrFile(source *dotenv.Source, key string) (value, from string) {
	if v, ok := a.lookupEnv(key); ok {
		return v, "the environment"
	}
	v, _ := source.File.Get(key, a.lookupEnv)
	return v, source.Path
}

// offlineEndpoint is the built-in model. It starts when it is first asked.
func (a *app) offlineEndpoint(delay time.Duration) *endpoint {
	known := []assistant.ModelInfo{{ID: offlineModel, Context: offline.ContextWindow, Known: true, Tools: true, Reasons: true, Source: "built in"}}
	return &endpoint{name: offlineName, from: "built in", known: known, options: func(context.Context) (openai.Options, error) {
		server, err := offline.Start(a.ctx, offline.Options{Delay: delay})
		if err != nil {
			return openai.Options{}, fmt.Errorf("the offline model cannot listen on this machine: %w", err)
		}
		a.onClose(server.Close)
		a.redactor.Add(server.Token())
		return openai.Options{BaseURL: server.URL(), Key: server.Token()}, nil
	}}
}

// keyed is an endpoint that needs no more than a key, or not even that.
func keyed(key string) func(context.Context) (openai.Options, error) {
	return func(context.Context) (openai.Options, error) { return openai.Options{Key: key}, nil }
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// hostName is the name for an endpoint that has none: the telling part of its host.
func hostName(at *url.URL) string {
	if loopback(at.Hostname()) {
		return "local"
	}
	parts := strings.Split(strings.TrimPrefix(at.Hostname(), "api."), ".")
	return parts[max(0, len(parts)-2)]
}

// origin is the scheme, host and port that a key is bound to.
func origin(at *url.URL) string {
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
	}
	return strings.ToLower(at.Scheme + "://" + at.Hostname() + ":" + port)
}
