package models

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant/llm"
)

// rig is a network of scripted endpoints and an environment.
type rig struct {
	t     *testing.T
	dir   string
	proxy *Proxy
	now   time.Time

	mu      sync.Mutex
	env     map[string]Value
	serve   map[string]func(context.Context) ([]string, error) // by base URL
	targets []Target                                           // asked, in order
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newRig(t *testing.T) *rig {
	t.Helper()
	return &rig{t: t, dir: t.TempDir() + "/models", now: noon, env: map[string]Value{}, serve: map[string]func(context.Context) ([]string, error){}}
}

// lists starts a run of the program over the rig's folder.
func (r *rig) lists() *Lists {
	return New(Options{
		Dir: r.dir, NewFetcher: r.lister, Proxy: r.proxy,
		Now: func() time.Time { return r.now },
		Env: func(name string) (Value, bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			v, ok := r.env[name]
			return v, ok
		},
	})
}

func (r *rig) lister(t Target) (Fetcher, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.targets = append(r.targets, t)
	f, ok := r.serve[t.BaseURL]
	if !ok {
		return nil, errors.New("no such host")
	}
	return fetcher{t.Name, f}, nil
}

// has makes the endpoint at base serve these names.
func (r *rig) has(base string, names ...string) {
	r.does(base, func(context.Context) ([]string, error) { return names, nil })
}

func (r *rig) fails(base string, err error) {
	r.does(base, func(context.Context) ([]string, error) { return nil, err })
}

func (r *rig) does(base string, f func(context.Context) ([]string, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serve[base] = f
}

func (r *rig) setenv(name, value, from string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.env[name] = Value{Name: name, Text: value, From: from}
}

func (r *rig) asked() []Target {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.targets)
}

type fetcher struct {
	name  string
	serve func(context.Context) ([]string, error)
}

func (f fetcher) Models(ctx context.Context) ([]llm.ModelInfo, error) {
	names, err := f.serve(ctx)
	var out []llm.ModelInfo
	for _, n := range names {
		out = append(out, llm.ModelInfo{ID: f.name + "/" + n, Tools: true})
	}
	return out, err
}

// must refreshes and fails the test on an error.
func must(t *testing.T, l *Lists, provider string) List {
	t.Helper()
	list, err := l.Models(t.Context(), provider)
	if err != nil {
		t.Fatalf("Models(%s): %v", provider, err)
	}
	return list
}

func is(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q", what, abridge(got), abridge(want))
	}
}

func abridge(list []string) []string { return list[:min(len(list), 12)] }

// acme is a provider that the catalogue does not know; many are its models.
const acmeBase = "https://acme.example/v1"

func withAcme(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.setenv("ACME_API_KEY", "acme-secret-key-0001", ".env")
	r.setenv("ACME_API_BASE", acmeBase, ".env")
	return r
}

func many(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("m%06d", i)
	}
	return out
}

func full(provider string, names ...string) []string {
	return ids(provider, slices.Clone(names))
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q does not say %q", text, part)
	}
}

func infoOf(id string) llm.ModelInfo { return llm.ModelInfo{ID: id} }
