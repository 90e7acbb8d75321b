package modelfilter

import (
	"context"
	"fmt"
	"slices"

	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
)

// ModelList is what is known about a provider's models.
type ModelList = models.List

// modelLister lists the models of providers. *models.Lists implements it.
type modelLister interface {
	// Cached returns the list as known without the network; ok is false if it is empty.
	Cached(provider string) (list ModelList, ok bool)
	// Models requests the list over the network.
	Models(ctx context.Context, provider string) (ModelList, error)
	// MarkSeen marks the provider's models as seen.
	MarkSeen(provider string) error
}

// setModels replaces the models of p and creates the engine for them.
func (p *provider) setModels(list ModelList) {
	p.models = list
	p.info, p.news, p.newsRead = nil, nil, false
	p.engine = engine.New(p.name, list.IDs)
	p.updateEngine()
}

// cached returns the models of p that are known without a request.
func (w *Window) cached(p *provider) (list ModelList) {
	if w.opts.Models == nil {
		return list
	}
	if cached, ok := w.opts.Models.Cached(p.name); ok { // otherwise return the zero ModelList, which names no source
		list = cached
	}
	return list
}

// Refreshed is the result of Refresh.
type Refreshed struct {
	ModelList
	Added []string // ids that were not known before
	Gone  []string // ids that are no longer listed
}

// Refresh requests a provider's models again over the network; "" means the current
// provider. If the request fails, the list is not changed.
func (w *Window) Refresh(ctx context.Context, name string) (Refreshed, error) {
	r, err := w.refresh(ctx, name)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.record("models_refreshed", map[string]any{"provider": r.Provider, "new_count": len(r.IDs)})
	}
	return r, err
}

func (w *Window) refresh(ctx context.Context, name string) (Refreshed, error) {
	w.mu.Lock()
	p, err := w.findProvider(name)
	if err != nil {
		w.mu.Unlock()
		return Refreshed{}, err
	}
	w.engine(p) // read the list before the fetch, which changes what Cached returns
	before := p.models.IDs
	p.asking++
	w.changed()
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		p.asking--
		w.changed()
	}()
	if w.opts.Models == nil {
		return Refreshed{}, fmt.Errorf("the models of %s cannot be refreshed: no model source is configured", p.name)
	}
	list, err := w.opts.Models.Models(ctx, p.name)
	if err != nil {
		w.opts.Log.Warn("models not refreshed", "provider", p.name, "error", err)
		return Refreshed{}, fmt.Errorf("the models of %s could not be refreshed, and the list is unchanged: %w", p.name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.setModels(list)
	w.touch(p)
	list.Provider = p.name
	return Refreshed{list, without(list.IDs, before), without(before, list.IDs)}, nil
}

// AcceptModels uses a model list that another part of the program got from an endpoint. used
// reports whether the list of any available provider was set from it. AcceptModels waits for the
// disk.
func (w *Window) AcceptModels(ctx context.Context, a models.Answer) (used bool) {
	lists, ok := w.opts.Models.(*models.Lists)
	if !ok {
		return false
	}
	names := lists.Accept(ctx, a, withLock(w, func() []string { return slices.Clone(w.order) }))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		p := w.providerNamed(name)
		p.engine = nil // created from the new list when needed
		w.touch(p)
	}
	return len(names) > 0
}

// without returns the strings of a that are not in b, never nil.
func without(a, b []string) []string {
	excluded := make(map[string]bool, len(b))
	for _, id := range b {
		excluded[id] = true
	}
	out := []string{}
	for _, id := range a {
		if !excluded[id] {
			out = append(out, id)
		}
	}
	return out
}

// MarkSeen marks the models of a provider as seen, so that they are no longer new or changed.
func (w *Window) MarkSeen(name string) error {
	w.mu.Lock()
	p, err := w.findProvider(name)
	w.mu.Unlock()
	if err != nil || w.opts.Models == nil {
		return err
	}
	if err := w.opts.Models.MarkSeen(p.name); err != nil {
		return fmt.Errorf("the new models of %s could not be marked as seen: %w", p.name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.models.New, p.news, p.newsRead = nil, nil, false
	w.touch(p)
	return nil
}

// ModelList returns the models of a provider, with the source and age of the list and the
// new models. "" means the current provider.
func (w *Window) ModelList(name string) (ModelList, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, err := w.findProvider(name)
	if err != nil {
		return ModelList{}, err
	}
	w.engine(p)
	list := p.models
	list.IDs, list.New = slices.Clone(list.IDs), slices.Clone(list.New)
	return list, nil
}

// ReadModels reads the models of all providers whose models have not been read yet. It waits
// for the disk.
func (w *Window) ReadModels(ctx context.Context) {
	for _, name := range withLock(w, func() []string { return slices.Clone(w.order) }) {
		if s, err := w.On(name); err == nil && ctx.Err() == nil {
			s.Counts()
		}
	}
}

// compareServed asks the proxy which models of a provider it serves, and publishes in the
// Snapshot how they differ from those that the rules leave shown. If the proxy does not answer,
// the difference becomes unknown.
func (w *Window) compareServed(ctx context.Context, provider string) {
	source, ok := w.opts.Models.(interface {
		Drift(ctx context.Context, provider string, expected func(served ...string) []string) (models.Drift, error)
	})
	s, err := w.On(provider)
	if !ok || err != nil {
		return
	}
	drift, err := source.Drift(ctx, provider, s.Expected)
	if err != nil {
		drift = models.Drift{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p := s.provider()
	p.drift = drift
	w.touch(p)
}
