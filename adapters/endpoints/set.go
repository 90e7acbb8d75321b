package endpoints

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"winnow/assistant/llm"
	"winnow/assistant/openai"
)

// Set is the endpoints of a run with the registry of their models.
type Set struct {
	All      []*Endpoint // in order of preference; never empty
	Registry *llm.Registry

	byName bool // the user named the first one by its address or name
}

func newSet(all []*Endpoint, o Options) (*Set, error) {
	s := &Set{All: all, Registry: &llm.Registry{}, byName: o.BaseURL != "" || o.Provider != ""}
	for _, e := range all {
		e.log, e.cacheDir, e.readPause = o.Log, o.CacheDir, o.ReadPause
		e.timeouts = openai.Timeouts{Connect: o.Settings.ConnectTimeout, FirstByte: o.Settings.FirstByteTimeout, Idle: o.Settings.IdleTimeout}
		p := llm.Provider{Name: e.Name, Model: e, Known: e.Known}
		if len(e.Known) == 0 {
			p.List = e.listForRegistry
		}
		if err := s.Registry.Add(p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Named is the endpoint of this name; nil when there is none.
func (s *Set) Named(name string) *Endpoint {
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

// ModelID is the full id of a model that the user named: PROVIDER/NAME of an
// endpoint, or a name of the first endpoint if the user set it up. With preferNamed
// the endpoint that the user named takes precedence over a PROVIDER in name. Errors
// are those of Registry.Open.
func (s *Set) ModelID(name string, preferNamed bool) (string, error) {
	prefix, rest, qualified := strings.Cut(name, "/")
	first := s.All[0]
	if qualified && rest != "" && s.Named(prefix) != nil && (prefix == first.Name || !preferNamed) {
		return name, nil
	}
	if !first.Auto && first.Name != OfflineName {
		return first.Name + "/" + name, nil
	}
	_, _, _, err := s.Registry.Open(name)
	return "", err
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
	listed, err := e.List(ctx)
	if err != nil {
		return Choice{}, &ListError{e, err}
	}
	i := slices.IndexFunc(listed, canChat)
	if i < 0 {
		return Choice{}, &ListError{Endpoint: e}
	}
	s.Registry.Learn(listed[i])
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

// Describe tells the registry what is known of a model that its endpoint was not
// asked about in this run: from the cached list, else from the catalogue.
func (s *Set) Describe(id string) error {
	_, _, info, err := s.Registry.Open(id)
	if err != nil || info.Context != 0 {
		return err
	}
	name, _, _ := strings.Cut(id, "/")
	e := s.Named(name)
	if cached, ok := e.cached(id); ok {
		info = cached
		info.Source = "cache"
	}
	s.Registry.Learn(e.describe(info))
	return nil
}
