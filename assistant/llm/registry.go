package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/assistant/nearest"
)

// ErrModelGone matches every *GoneError.
var ErrModelGone = errors.New("the endpoint no longer lists this model")

// GoneError is returned when opening a model that its endpoint no longer lists.
type GoneError struct {
	ID   string
	Seen time.Time // when it was last listed; zero if unknown
}

// Error names the model and says when it was last listed.
func (e *GoneError) Error() string {
	if e.Seen.IsZero() {
		return e.ID + " is no longer listed by its endpoint"
	}
	return e.ID + " is no longer listed by its endpoint (last seen " + e.Seen.Local().Format("2006-01-02 15:04") + ")"
}

// Is makes errors.Is(e, ErrModelGone) true.
func (e *GoneError) Is(target error) bool { return target == ErrModelGone }

// ErrNoVision is returned when pictures are sent to a model that does not accept them.
var ErrNoVision = errors.New("the model cannot see pictures")

// ConfigError reports an invalid configuration.
type ConfigError struct {
	Field  string
	Reason string
}

// Error names the field and the reason.
func (e *ConfigError) Error() string { return fmt.Sprintf("config: %s: %s", e.Field, e.Reason) }

// Provider is an endpoint with the name that precedes the "/" in its models' ids. An id
// in Known or from List that starts with another name causes a *ConfigError. Use
// Client.Provider for a client of package openai.
type Provider struct {
	Name  string
	Model Model
	// List asks the endpoint for its models; if nil, only the models in Known are listed.
	// Unlisted models can still be used.
	List func(ctx context.Context) ([]ModelInfo, error)
	// Stored, which may be nil, returns the last result of List from an earlier run; it returns
	// nil if none was stored.
	Stored func() []ModelInfo
	// Known describes models that need not be requested from the endpoint. Ids are full
	// ids.
	Known []ModelInfo
	// Limits are the context limits found in errors of earlier runs, by full id.
	Limits map[string]LearnedLimit
	// OnLimit is called from the turn's goroutine with each limit found in an error; if it
	// is nil, the limits are forgotten at the end of the run.
	OnLimit func(id string, l LearnedLimit)
}

// LearnedLimit is a model's context limit found in an error.
type LearnedLimit struct {
	Tokens int
	At     time.Time
}

// Registry holds the providers and their models. The zero value is empty. Its methods may
// be called from any goroutine.
type Registry struct {
	mu        sync.RWMutex
	providers []Provider
	models    map[string]ModelInfo
	gone      map[string]ModelInfo // last description of models no longer listed by their endpoint
	limits    map[string]LearnedLimit
	quotas    map[string]LastQuota // by full id
	wake      chan struct{}        // closed at the next change; nil if no caller waits
}

// Changed returns a channel that is closed when what is known about models changes.
func (r *Registry) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake == nil {
		r.wake = make(chan struct{})
	}
	return r.wake
}

// changed closes the channel that Changed returned. r.mu must be held.
func (r *Registry) changed() {
	if r.wake != nil {
		close(r.wake)
		r.wake = nil
	}
}

// Add registers a provider. It returns a *ConfigError if the name is empty, contains a slash
// or is in use, if Model is nil, or if an id in Known starts with another name.
func (r *Registry) Add(p Provider) error { return r.put(p, false) }

// Put is like Add, but replaces a provider with the same name. Running requests keep the
// old provider.
func (r *Registry) Put(p Provider) error { return r.put(p, true) }

func (r *Registry) put(p Provider, replace bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := func(have Provider) bool { return have.Name == p.Name }
	switch {
	case p.Name == "" || strings.Contains(p.Name, "/"):
		return &ConfigError{"provider", fmt.Sprintf("the provider's name %q is empty or contains a slash", p.Name)}
	case p.Model == nil:
		return &ConfigError{"provider", fmt.Sprintf("provider %q has no Model to answer its requests", p.Name)}
	case !replace && slices.ContainsFunc(r.providers, same):
		return &ConfigError{"provider", fmt.Sprintf("provider %q is already registered; Put replaces it", p.Name)}
	}
	if err := p.owns(p.Known); err != nil {
		return err
	}
	if i := slices.IndexFunc(r.providers, same); i >= 0 {
		r.providers[i] = p
	} else {
		r.providers = append(r.providers, p)
	}
	r.learn(p.Known...)
	maps.Copy(r.limits, p.Limits)
	return nil
}

// owns returns an error for models whose ids do not start with the provider's name, because
// they could not be opened.
func (p Provider) owns(list []ModelInfo) error {
	for _, m := range list {
		if !strings.HasPrefix(m.ID, p.Name+"/") {
			return &ConfigError{"provider", fmt.Sprintf("provider %q has a model %q, whose id does not begin with %q", p.Name, m.ID, p.Name+"/")}
		}
	}
	return nil
}

// Learn adds descriptions, for example from a catalogue. A field that is empty in the new
// description keeps its value.
func (r *Registry) Learn(models ...ModelInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn(models...)
}

// learn adds descriptions as Learn does and wakes the callers of Changed. Without arguments
// it still does the latter and creates the maps. r.mu must be held.
func (r *Registry) learn(models ...ModelInfo) {
	r.changed()
	if r.models == nil {
		r.models, r.gone = map[string]ModelInfo{}, map[string]ModelInfo{}
		r.limits, r.quotas = map[string]LearnedLimit{}, map[string]LastQuota{}
	}
	for _, m := range models {
		old := r.models[m.ID]
		if m.Context == 0 {
			m.Context, m.ContextFrom, m.Known = old.Context, old.ContextFrom, m.Known || old.Known
		}
		m.Facts = m.Facts.Or(old.Facts)
		if m.TPM == 0 {
			m.TPM = old.TPM
		}
		if m.Source == "" {
			m.Source, m.NoChat = old.Source, m.NoChat || old.NoChat
		}
		if m.Retrieved.IsZero() {
			m.Retrieved = old.Retrieved
		}
		m.Tools, m.Reasons, m.Images = m.Tools || old.Tools, m.Reasons || old.Reasons, m.Images || old.Images
		m.Vision = cmp.Or(m.Vision, old.Vision)
		r.models[m.ID] = m
	}
}

// LearnLimit stores a model's context limit from an error of its endpoint. This limit takes
// precedence over the Context in every description.
func (r *Registry) LearnLimit(id string, tokens int, now time.Time) {
	l := LearnedLimit{tokens, now}
	r.mu.Lock()
	r.learn() // creates the maps
	r.limits[id] = l
	i := slices.IndexFunc(r.providers, func(p Provider) bool { return strings.HasPrefix(id, p.Name+"/") })
	var store func(string, LearnedLimit)
	if i >= 0 {
		store = r.providers[i].OnLimit
	}
	r.mu.Unlock()
	if store != nil {
		store(id, l)
	}
}

// withLimit returns a description with the limit from LearnLimit. r.mu must be held.
func (r *Registry) withLimit(m ModelInfo) ModelInfo {
	if l, ok := r.limits[m.ID]; ok {
		m.Context, m.Known, m.ContextFrom = l.Tokens, true, "an overflow error, "+l.At.Local().Format("2006-01-02")
	}
	return m
}

// Providers returns the names in the order in which they were added.
func (r *Registry) Providers() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make([]string, len(r.providers))
	for i, p := range r.providers {
		names[i] = p.Name
	}
	return names
}

// Models returns the known models, sorted by id.
func (r *Registry) Models() []ModelInfo {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]ModelInfo, 0, len(r.models))
	for _, id := range slices.Sorted(maps.Keys(r.models)) {
		out = append(out, r.withLimit(r.models[id]))
	}
	return out
}

// Gone returns the models that their endpoints no longer list, sorted by id, with Retrieved
// set to when they were last listed.
func (r *Registry) Gone() []ModelInfo {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]ModelInfo, 0, len(r.gone))
	for _, id := range slices.Sorted(maps.Keys(r.gone)) {
		out = append(out, r.gone[id])
	}
	return out
}

// Restore adds the stored model lists of the named providers, or of all providers if there
// are no names. It reads from the disk.
func (r *Registry) Restore(names ...string) {
	for _, p := range r.listers(names) {
		if p.Stored != nil {
			r.Learn(p.Stored()...)
		}
	}
}

// listers returns the named providers, or all if there are no names, that can list their
// models.
func (r *Registry) listers(names []string) []Provider {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.DeleteFunc(slices.Clone(r.providers), func(p Provider) bool {
		return p.List == nil || len(names) > 0 && !slices.Contains(names, p.Name)
	})
}

// Refresh asks the named providers, or all if there are no names, for their models. A model
// that a provider no longer lists is gone: Open returns a *GoneError. If a provider fails,
// its models stay. Refresh returns the errors by provider name.
func (r *Registry) Refresh(ctx context.Context, names ...string) map[string]error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	failed := map[string]error{}
	for _, p := range r.listers(names) {
		wait.Go(func() {
			found, err := p.List(ctx)
			if err == nil {
				err = p.owns(found)
			}
			if err == nil {
				r.Replace(p.Name, found)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			failed[p.Name] = err
		})
	}
	wait.Wait()
	return failed
}

// Replace makes found the model list of a provider, in addition to Known. Models that found
// marks as Gone, or that are not in found, are gone. An empty list means that the endpoint
// was not asked: it removes the models without marking them as gone.
func (r *Registry) Replace(provider string, found []ModelInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn() // creates the maps
	current := map[string]bool{}
	for _, p := range r.providers {
		for _, m := range p.Known {
			current[m.ID] = true
		}
	}
	for _, m := range found {
		current[m.ID] = !m.Gone
	}
	prefix := provider + "/"
	maps.DeleteFunc(r.gone, func(id string, _ ModelInfo) bool {
		return strings.HasPrefix(id, prefix) && (len(found) == 0 || current[id])
	})
	for id, m := range r.models {
		listed := m.Source == "live" || m.Source == "cache"
		if !listed || current[id] || !strings.HasPrefix(id, prefix) {
			continue
		}
		delete(r.models, id)
		if len(found) > 0 {
			r.gone[id] = m
		}
	}
	for _, m := range found {
		if m.Gone {
			r.gone[m.ID] = m
		} else {
			r.learn(m)
		}
	}
}

// Open returns the endpoint of a model, the endpoint's name for it, and its description. It
// returns a *ConfigError for an unknown provider and a *GoneError for a model that its
// endpoint no longer lists. A model that was never listed is accepted: the endpoint
// decides.
func (r *Registry) Open(id string) (Model, string, ModelInfo, error) {
	provider, name, ok := strings.Cut(id, "/")
	if !ok || name == "" {
		return nil, "", ModelInfo{}, &ConfigError{"model", fmt.Sprintf("%q is not PROVIDER/NAME", id)}
	}
	names := r.Providers()
	r.mu.RLock()
	defer r.mu.RUnlock()
	i := slices.Index(names, provider)
	if i < 0 {
		return nil, "", ModelInfo{}, &ConfigError{"model", fmt.Sprintf("there is no provider %q.%s", provider, nearest.Hint(provider, names))}
	}
	if last, gone := r.gone[id]; gone {
		return nil, "", ModelInfo{}, &GoneError{id, last.Retrieved}
	}
	info := r.models[id]
	info.ID = id
	info = r.withLimit(info)
	if tpm := r.quotas[id].TokensPerMinute; tpm > 0 {
		info.TPM = tpm // reported by the endpoint itself
	}
	return r.providers[i].Model, name, info, nil
}
