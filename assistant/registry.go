package assistant

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Provider is an endpoint under the name that stands before the "/" of its models.
type Provider struct {
	Name  string
	Model Model
	// List asks which models there are; nil offers only what Known holds.
	List func(ctx context.Context) ([]ModelInfo, error)
	// Known describes models without asking, by full id.
	Known []ModelInfo
	// Hint is what the user can do when this endpoint fails; "" is nothing special.
	Hint string
}

// Registry knows the providers and their models. The zero value is empty. Its
// methods are safe from any goroutine.
type Registry struct {
	mu        sync.RWMutex
	providers []Provider
	models    map[string]ModelInfo
	quotas    map[string]quota // by full id
}

// Add registers a provider; a name that is taken or empty is a *ConfigError.
func (r *Registry) Add(p Provider) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Name == "" || strings.Contains(p.Name, "/") || p.Model == nil {
		return &ConfigError{"provider", fmt.Sprintf("provider %q needs a name without a slash and a model", p.Name)}
	}
	for _, have := range r.providers {
		if have.Name == p.Name {
			return &ConfigError{"provider", fmt.Sprintf("provider %q is there twice", p.Name)}
		}
	}
	r.providers = append(r.providers, p)
	for _, m := range p.Known {
		r.learn(m)
	}
	return nil
}

// learn keeps what is known of a model. What an earlier source knew stays
// where the new one is silent.
func (r *Registry) learn(m ModelInfo) {
	if r.models == nil {
		r.models = map[string]ModelInfo{}
	}
	old, had := r.models[m.ID]
	if had && m.Context == 0 {
		m.Context, m.Known = old.Context, old.Known
	}
	if had && m.PriceIn == 0 && m.PriceOut == 0 {
		m.PriceIn, m.PriceOut = old.PriceIn, old.PriceOut
	}
	if m.TPM == 0 {
		m.TPM = old.TPM
	}
	if had && m.Source == "" {
		m.Source, m.NoChat = old.Source, old.NoChat
	}
	if m.Retrieved.IsZero() {
		m.Retrieved = old.Retrieved
	}
	m.Tools, m.Reasons, m.Images = m.Tools || old.Tools, m.Reasons || old.Reasons, m.Images || old.Images
	r.models[m.ID] = m
}

// Providers returns the names in the order they were added.
func (r *Registry) Providers() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make([]string, len(r.providers))
	for i, p := range r.providers {
		names[i] = p.Name
	}
	return names
}

// Models returns what is known now, in order of ids.
func (r *Registry) Models() []ModelInfo {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]ModelInfo, 0, len(r.models))
	for _, id := range sortedKeys(r.models) {
		out = append(out, r.models[id])
	}
	return out
}

// Refresh asks the named providers, all without names, which models they have.
// A provider that fails keeps what was known of it; the errors are by name.
func (r *Registry) Refresh(ctx context.Context, names ...string) map[string]error {
	r.mu.RLock()
	providers := slices.Clone(r.providers)
	r.mu.RUnlock()
	var wait sync.WaitGroup
	var mu sync.Mutex
	failed := map[string]error{}
	for _, p := range providers {
		if p.List == nil || (len(names) > 0 && !slices.Contains(names, p.Name)) {
			continue
		}
		wait.Go(func() {
			found, err := p.List(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed[p.Name] = err
				return
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.replace(p, found)
		})
	}
	wait.Wait()
	return failed
}

// replace learns the models of a provider that was asked, and forgets those of
// an earlier list that it does not have any more.
func (r *Registry) replace(p Provider, found []ModelInfo) {
	ids := map[string]bool{}
	for _, m := range append(slices.Clip(p.Known), found...) {
		ids[m.ID] = true
	}
	for id, m := range r.models {
		listed := m.Source == "live" || m.Source == "cache"
		if listed && strings.HasPrefix(id, p.Name+"/") && !ids[id] {
			delete(r.models, id)
		}
	}
	for _, m := range found {
		r.learn(m)
	}
}

// Learn adds descriptions, for example of a catalogue, to what is known.
func (r *Registry) Learn(models ...ModelInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range models {
		r.learn(m)
	}
}

// Open returns the endpoint of a model, the name by which the endpoint knows
// it, and its description. An unknown provider is a *ConfigError; an unknown
// model of a known provider is not: the provider has the last word.
func (r *Registry) Open(id string) (Model, string, ModelInfo, error) {
	provider, name, ok := strings.Cut(id, "/")
	if !ok || name == "" {
		return nil, "", ModelInfo{}, &ConfigError{"model", fmt.Sprintf("%q is not PROVIDER/NAME", id)}
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, p := range r.providers {
		if p.Name != provider {
			continue
		}
		info, known := r.models[id]
		if !known {
			info = ModelInfo{ID: id}
		}
		if tpm := r.quotas[id].tokens.limit; tpm > 0 {
			info.TPM = tpm // the endpoint itself said so
		}
		return p.Model, name, info, nil
	}
	names := make([]string, len(r.providers))
	for i, p := range r.providers {
		names[i] = p.Name
	}
	return nil, "", ModelInfo{}, &ConfigError{"model", fmt.Sprintf("there is no provider %q.%s", provider, didYouMean(provider, names))}
}
