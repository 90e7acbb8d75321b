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

// Set contains the endpoints of a run and the registry of their models.
type Set struct {
	All      []*Endpoint // in order of preference; never empty
	Registry *llm.Registry

	byName bool // the user named the first endpoint by its address or name

	mu    sync.Mutex
	added []*Endpoint // added by Use; they hide endpoints of All with the same name
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

// configure sets what all endpoints of a run have in common.
func (e *Endpoint) configure(o Options) {
	e.log, e.cacheDir, e.readPause = o.Log, o.CacheDir, o.ReadPause
	e.timeouts = timeouts(o.Settings)
}

func timeouts(s *config.Settings) openai.Timeouts {
	return openai.Timeouts{Connect: s.ConnectTimeout, FirstByte: s.FirstByteTimeout, Idle: s.IdleTimeout}
}

// provider returns the endpoint as a provider for the registry.
func (e *Endpoint) provider(known limits) llm.Provider {
	p := llm.Provider{Name: e.Name, Model: e, Known: e.Known, Limits: known.of(e), OnLimit: e.keepLimit}
	if len(e.Known) == 0 {
		p.List, p.Stored = e.listForRegistry, func() []llm.ModelInfo { return e.kept().Models }
	}
	return p
}

// New returns the endpoint for a [[provider]] that need not be in the settings. It opens no connection. The error is
// a *config.Error about the address.
func New(o Options, p config.Provider) (*Endpoint, error) {
	f := finder{Options: o}
	e, err := f.configured(p)
	if err == nil {
		e.configure(o)
	}
	return e, err
}

// Use adds an endpoint to a run, or replaces the one with the same name. listed contains its models.
func (s *Set) Use(e *Endpoint, listed []llm.ModelInfo) error {
	if err := s.Registry.Put(e.provider(limitsIn(e.cacheDir, e.log))); err != nil {
		return err
	}
	s.Registry.Replace(e.Name, nil) // remove models of an earlier address
	s.Registry.Replace(e.Name, listed)
	s.mu.Lock()
	defer s.mu.Unlock()
	e.feedTo(s.feed)
	s.added = slices.Insert(s.added, 0, e)
	return nil
}

// Named returns the endpoint with this name, or nil.
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

// Connected reports whether the user has set up an endpoint.
func (s *Set) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(slices.Concat(s.added, s.All), func(e *Endpoint) bool { return !e.Auto && e.Name != OfflineName })
}

// Serves reports whether the provider in a model id is an endpoint that may be used: any endpoint or, if the user named
// one, only that one.
func (s *Set) Serves(id string) bool {
	name, _, _ := strings.Cut(id, "/")
	return s.Named(name) != nil && (!s.byName || s.All[0].Name == name)
}

// AskProxy calls Feed with f and asks the folder's proxy for its models, if the proxy is not remote and responds.
// Otherwise, the stored lists stay in use.
func (s *Set) AskProxy(ctx context.Context, f func(models.Answer)) {
	e := s.Named(ProxyName)
	if e == nil || e.Remote || !e.Responds(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	s.Feed(f)
	if _, err := e.List(ctx); err != nil && e.log != nil {
		e.log.Warn("the proxy did not list its models", "error", err)
	}
}

// Choice is a model to start with.
type Choice struct {
	ID   string
	Note string // a sentence about a model that was chosen automatically
}

// ListError means that no initial model could be chosen from an endpoint's list.
type ListError struct {
	Endpoint *Endpoint
	Err      error // nil if the endpoint lists no chat model
}

// Error implements error.
func (l *ListError) Error() string {
	if l.Err == nil {
		return l.Endpoint.Name + " lists no chat model"
	}
	return l.Endpoint.Name + " (" + l.Endpoint.BaseURL + ") does not list its models: " + l.Err.Error()
}

// Unwrap returns the error of the request.
func (l *ListError) Unwrap() error { return l.Err }

// First asks the endpoints for a model to start with: the most suitable model of the first endpoint that the user set
// up or, if there is none, of the first automatic endpoint that responds. The error is a *ListError.
func (s *Set) First(ctx context.Context) (Choice, error) {
	e := s.All[0]
	if e.Auto {
		e = s.firstUsable(ctx)
	}
	if e.Name == OfflineName {
		return Choice{OfflineModel, "no model connected: built-in rules answer"}, nil
	}
	if len(e.Known) > 0 {
		return Choice{e.Known[0].ID, "using " + e.Known[0].ID}, nil
	}
	listed, gone, err := e.list(ctx)
	if err != nil {
		return Choice{}, &ListError{e, err}
	}
	s.Registry.Replace(e.Name, slices.Concat(listed, gone))
	m, which, ok := suitable(listed)
	if !ok {
		return Choice{}, &ListError{Endpoint: e}
	}
	return Choice{m.ID, fmt.Sprintf("using %s, the %s of %s (%s)", m.ID, which, e.Name, e.From)}, nil
}

// suitable chooses a model to start with: the newest general model that is known to call tools or, if there is none,
// the first chat model. description is "newest general model" or "first model".
func suitable(listed []llm.ModelInfo) (m llm.ModelInfo, description string, ok bool) {
	chat := thatChat(listed)
	if len(chat) == 0 {
		return llm.ModelInfo{}, "", false
	}
	general := slices.DeleteFunc(slices.Clone(chat), func(m llm.ModelInfo) bool {
		calls := m.Tools || m.Facts.ToolCalls == llm.Able
		return !calls || m.Images || m.Facts.Released == "" || m.Facts.Status == llm.StatusPreview || m.Facts.Status == llm.StatusDeprecated
	})
	if len(general) == 0 {
		return chat[0], "first model", true
	}
	// Of models released on the same day, MaxFunc returns the first in the list.
	byDate := func(a, b llm.ModelInfo) int { return strings.Compare(a.Facts.Released, b.Facts.Released) }
	return slices.MaxFunc(general, byDate), "newest general model", true
}

// firstUsable tries all automatic endpoints concurrently and returns the first usable one; the offline model is
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

// Describe adds a model to the registry if its endpoint was not asked in this run. The information comes from the
// stored list or the catalogue.
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
