package llm

import (
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

// ErrModelGone is the error of opening a model that its endpoint no longer lists.
var ErrModelGone = errors.New("the endpoint no longer offers this model")

// ConfigError is a configuration that cannot work.
type ConfigError struct {
	Field  string
	Reason string
}

// Error names the field and the reason.
func (e *ConfigError) Error() string { return fmt.Sprintf("config: %s: %s", e.Field, e.Reason) }

// Provider is an endpoint under the name that precedes the "/" in its models' ids.
type Provider struct {
	Name  string
	Model Model
	// List asks the endpoint for its models; when nil, it has only those of Known.
	List func(ctx context.Context) ([]ModelInfo, error)
	// Known describes models without asking the endpoint, by full id.
	Known []ModelInfo
}

// Registry knows the providers and their models. The zero value is empty. Its
// methods are safe from any goroutine.
type Registry struct {
	mu        sync.RWMutex
	providers []Provider
	models    map[string]ModelInfo
	gone      map[string]bool       // no longer listed by their endpoint
	quotas    map[string]timedQuota // by full id
}

// Add registers a provider; a name that is taken or empty is a *ConfigError.
func (r *Registry) Add(p Provider) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := slices.ContainsFunc(r.providers, func(have Provider) bool { return have.Name == p.Name })
	if taken || p.Name == "" || strings.Contains(p.Name, "/") || p.Model == nil {
		return &ConfigError{"provider", fmt.Sprintf("provider %q is a duplicate, has no model, or has a name that is empty or contains a slash", p.Name)}
	}
	r.providers = append(r.providers, p)
	r.learn(p.Known...)
	return nil
}

// Learn adds descriptions, for example of a catalogue, to what is known. A field
// that the new description leaves empty keeps its value.
func (r *Registry) Learn(models ...ModelInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn(models...)
}

func (r *Registry) learn(models ...ModelInfo) {
	if r.models == nil {
		r.models, r.gone, r.quotas = map[string]ModelInfo{}, map[string]bool{}, map[string]timedQuota{}
	}
	for _, m := range models {
		old := r.models[m.ID]
		if m.Context == 0 {
			m.Context, m.Known = old.Context, m.Known || old.Known
		}
		if m.PriceIn == 0 && m.PriceOut == 0 {
			m.PriceIn, m.PriceOut = old.PriceIn, old.PriceOut
		}
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
		r.models[m.ID] = m
	}
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
	for _, id := range slices.Sorted(maps.Keys(r.models)) {
		out = append(out, r.models[id])
	}
	return out
}

// Refresh asks the named providers for their models, or all without names. A model
// that a provider listed before and does not list now is gone: Open returns
// ErrModelGone. The models of a provider that fails stay. The errors are by name.
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
			if err == nil {
				r.replace(p, found)
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

// replace makes found the list of a provider, besides the models of Known. An
// empty list removes the models but marks none as gone: the endpoint was not asked.
func (r *Registry) replace(p Provider, found []ModelInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn() // makes the maps
	current := map[string]bool{}
	for _, m := range slices.Concat(p.Known, found) {
		current[m.ID] = true
	}
	for id, m := range r.models {
		listed := m.Source == "live" || m.Source == "cache"
		if listed && !current[id] && strings.HasPrefix(id, p.Name+"/") {
			delete(r.models, id)
			r.gone[id] = len(found) > 0
		}
	}
	for _, m := range found {
		delete(r.gone, m.ID)
	}
	r.learn(found...)
}

// Open returns the endpoint of a model, the name by which the endpoint knows
// it, and its description. The error is a *ConfigError for an unknown provider and
// ErrModelGone for a model that its endpoint no longer lists. A model that was
// never listed is no error: the endpoint decides.
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
	if r.gone[id] {
		return nil, "", ModelInfo{}, fmt.Errorf("%s: %w", id, ErrModelGone)
	}
	info := r.models[id]
	info.ID = id
	if tpm := r.quotas[id].TokensPerMinute; tpm > 0 {
		info.TPM = tpm // reported by the endpoint itself
	}
	return r.providers[i].Model, name, info, nil
}

// Quota is what is left of the quotas of a model: what its endpoint reported
// last, less what was sent to it since.
type Quota struct {
	RateLimits
	Model string    // "provider/name"
	At    time.Time // when the endpoint reported it
	// Wait is the rest of the delay that the endpoint asked for when it refused
	// a request; 0 is none.
	Wait time.Duration
}

// Refuses reports whether the endpoint would likely refuse a request of so many
// tokens now. What is unknown refuses nothing.
func (q Quota) Refuses(tokens int) bool {
	return q.Wait > 0 || q.RequestsLeft == 0 || (q.TokensLeft >= 0 && tokens > q.TokensLeft)
}

// timedQuota is a Quota with the time for which it was computed.
type timedQuota struct {
	Quota
	asOf time.Time
}

// quotaWindow is the reset of a quota whose endpoint reports none: quotas are per
// minute.
const quotaWindow = time.Minute

// aged is the quota at a later time. What is left does not grow before the reset:
// not all endpoints refill gradually, and an underestimate is safe.
func (q timedQuota) aged(now time.Time) timedQuota {
	age := func(limit int, left *int, reset *time.Duration) {
		*reset = max(*reset-now.Sub(q.asOf), 0)
		switch {
		case *left < 0:
			*reset = 0
		case *reset == 0 && limit == 0:
			*left = -1
		case *reset == 0:
			*left = limit
		}
	}
	age(q.RequestsPerMinute, &q.RequestsLeft, &q.RequestsReset)
	age(q.TokensPerMinute, &q.TokensLeft, &q.TokensReset)
	q.Wait = max(q.Wait-now.Sub(q.asOf), 0)
	q.asOf = now
	return q
}

// consume subtracts n from what is left, and sets a reset when there is none.
func consume(n int, left *int, reset *time.Duration) {
	if *left < 0 {
		return
	}
	*left = max(*left-n, 0)
	if *reset == 0 {
		*reset = quotaWindow
	}
}

// SetQuota stores what an endpoint reported of the quotas of a model, "provider/name".
// Its tokens a minute bound the requests to the model from now on. l is nil when there
// was no report; wait is the delay that a refusal asked for, 0 without a refusal.
func (r *Registry) SetQuota(id string, l *RateLimits, wait time.Duration, now time.Time) {
	if l == nil && wait <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn() // makes the maps
	q, known := r.quotas[id]
	q = q.aged(now)
	if !known {
		q.RateLimits = UnknownLimits()
	}
	q.Model, q.At = id, now
	if l != nil {
		q.RateLimits, q.Wait = *l, 0
		consume(0, &q.RequestsLeft, &q.RequestsReset)
		consume(0, &q.TokensLeft, &q.TokensReset)
	}
	if wait > 0 {
		q.Wait = wait
	}
	r.quotas[id] = q
}

// Spend subtracts a request of so many tokens, until the endpoint reports what is left.
func (r *Registry) Spend(id string, tokens int, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q, known := r.quotas[id]; known {
		q = q.aged(now)
		consume(1, &q.RequestsLeft, &q.RequestsReset)
		consume(tokens, &q.TokensLeft, &q.TokensReset)
		r.quotas[id] = q
	}
}

// Quota is what is left of a model's quotas now; ok is false when
// its endpoint never reported any.
func (r *Registry) Quota(id string, now time.Time) (q Quota, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	have, ok := r.quotas[id]
	if !ok {
		return Quota{}, false
	}
	return have.aged(now).Quota, true
}
