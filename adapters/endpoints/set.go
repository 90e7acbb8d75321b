package endpoints

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"winnow/adapters/config"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant/llm"
	"winnow/assistant/openai"
)

// Set is the endpoints of a run with the registry of their models.
type Set struct {
	All      []*Endpoint // in order of preference; never empty
	Registry *llm.Registry

	byName bool // the user named the first one by its address or name

	mu    sync.Mutex
	added []*Endpoint // by Use; they hide models of All with the same name
	feed  func(models.Answer)
}

func newSet(all []*Endpoint, o Options) (*Set, error) {
	s := &Set{All: all, Registry: &llm.Registry{}, byName: o.BaseURL != "" || o.Provider != ""}
	known := limitsIn(o.CacheDir, o.Log)
	for _, e := range all {
		e.configure(o)
		if err := s.Registry.Add(e.provider(known)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// configure gives an endpoint what all of a run have in common.
func (e *Endpoint) configure(o Options) {
	e.log, e.cacheDir, e.readPause = o.Log, o.CacheDir, o.ReadPause
	e.timeouts = timeouts(o.Settings)
}

func timeouts(s *config.Settings) openai.Timeouts {
	return openai.Timeouts{Connect: s.ConnectTimeout, FirstByte: s.FirstByteTimeout, Idle: s.IdleTimeout}
}

// provider is an endpoint for the registry.
func (e *Endpoint) provider(known limits) llm.Provider {
	p := llm.Provider{Name: e.Name, Model: e, Known: e.Known, Limits: known.of(e), Learned: e.keepLimit}
	if len(e.Known) == 0 {
		p.List, p.Kept = e.listForRegistry, func() []llm.ModelInfo { return e.kept().Models }
	}
	return p
}

// New makes the endpoint of a [[provider]] that need not be in the settings. It
// connects to nothing; the error is a *config.Error about its address.
func New(o Options, p config.Provider) (*Endpoint, error) {
	f := finder{Options: o}
	e, err := f.configured(p)
	if err == nil {
		e.configure(o)
	}
	return e, err
}

// Use adds an endpoint to a run, or replaces the one of its name. Its models are those
// that were listed.
func (s *Set) Use(e *Endpoint, listed []llm.ModelInfo) error {
	if err := s.Registry.Put(e.provider(limitsIn(e.cacheDir, e.log))); err != nil {
		return err
	}
	s.Registry.Replace(e.Name, nil) // it may have been another address
	s.Registry.Replace(e.Name, listed)
	s.mu.Lock()
	defer s.mu.Unlock()
	e.feedTo(s.feed)
	s.added = slices.Insert(s.added, 0, e)
	return nil
}

// Named is the endpoint of this name; nil when there is none.
func (s *Set) Named(name string) *Endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.added, func(e *Endpoint) bool { return e.Name == name }); i >= 0 {
		return s.added[i]
	}
	if i := slices.IndexFunc(s.All, func(e *Endpoint) bool { return e.Name == name }); i >= 0 {
		return s.All[i]
	}
	return nil
}

// Serves reports whether the provider of a model id is an endpoint that may be
// used: any, or only the one that the user named.
func (s *Set) Serves(id string) bool {
	name, _, _ := strings.Cut(id, "/")
	return s.Named(name) != nil && (!s.byName || s.All[0].Name == name)
}

// AskProxy asks the proxy of the folder for its models, if it runs on this machine; to
// receives the answer. One that does not answer is left out: the lists of earlier runs count.
func (s *Set) AskProxy(ctx context.Context, to func(models.Answer)) {
	e := s.Named(ProxyName)
	if e == nil || e.Remote || !e.Answers(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	s.Feed(to)
	if _, err := e.List(ctx); err != nil && e.log != nil {
		e.log.Warn("the proxy did not list its models", "error", err)
	}
}

// Choice is a model to begin with.
type Choice struct {
	ID   string
	Note string // one sentence about a model that the user did not name
}

// A ListError is the error of an endpoint that has no model to begin with.
type ListError struct {
	Endpoint *Endpoint
	Err      error // nil: it lists no model that can chat
}

// Error names the endpoint and the reason.
func (l *ListError) Error() string {
	if l.Err == nil {
		return l.Endpoint.Name + " lists no model that can chat"
	}
	return l.Endpoint.Name + " (" + l.Endpoint.BaseURL + ") does not list its models: " + l.Err.Error()
}

// Unwrap returns the error of the request.
func (l *ListError) Unwrap() error { return l.Err }

// First asks the endpoints for a model to begin with: the first chat model of the
// first endpoint that the user set up, else of the first that answers. The error
// is a *ListError.
func (s *Set) First(ctx context.Context) (Choice, error) {
	e := s.All[0]
	if e.Auto {
		e = s.firstUsable(ctx)
	}
	if e.Name == OfflineName {
		return Choice{OfflineModel, "no endpoint is set up: " + OfflineModel + " answers with built-in rules, without a language model"}, nil
	}
	if len(e.Known) > 0 {
		return Choice{e.Known[0].ID, "using " + e.Known[0].ID}, nil
	}
	listed, gone, err := e.list(ctx)
	if err != nil {
		return Choice{}, &ListError{e, err}
	}
	s.Registry.Replace(e.Name, slices.Concat(listed, gone))
	i := slices.IndexFunc(listed, canChat)
	if i < 0 {
		return Choice{}, &ListError{Endpoint: e}
	}
	return Choice{listed[i].ID, fmt.Sprintf("using %s, the first model of %s (%s)", listed[i].ID, e.Name, e.From)}, nil
}

// firstUsable tries all automatic endpoints concurrently. The offline model is
// always usable.
func (s *Set) firstUsable(ctx context.Context) *Endpoint {
	usable := make([]bool, len(s.All))
	var wait sync.WaitGroup
	for i, e := range s.All {
		switch {
		case e.Name == OfflineName, !e.Auto:
			usable[i] = true
		case !e.Remote:
			wait.Go(func() { usable[i] = e.usable(ctx) })
		}
	}
	wait.Wait()
	return s.All[slices.Index(usable, true)]
}

// Describe gives the registry what is known of a model that its endpoint was not
// asked about in this run: from the kept list, else from the catalogue.
func (s *Set) Describe(id string) error {
	_, _, info, err := s.Registry.Open(id)
	if err != nil || info.Context != 0 {
		return err
	}
	name, _, _ := strings.Cut(id, "/")
	e := s.Named(name)
	kept := e.kept().Models
	if i := slices.IndexFunc(kept, func(m llm.ModelInfo) bool { return m.ID == id }); i >= 0 {
		info = kept[i]
	}
	s.Registry.Learn(e.describe(info))
	return nil
}
