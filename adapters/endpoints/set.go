package endpoints

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"winnow/assistant"
	"winnow/assistant/openai"
)

// Set is the endpoints of a run with the registry of their models.
type Set struct {
	All      []*Endpoint // in order of preference; never empty
	Registry *assistant.Registry

	byURL bool // the user named the first one by its address or name
}

func newSet(all []*Endpoint, o Options) (*Set, error) {
	s := &Set{All: all, Registry: &assistant.Registry{}, byURL: o.BaseURL != "" || o.Provider != ""}
	for _, e := range all {
		e.log = o.Log
		e.timeouts = openai.Timeouts{Connect: o.Settings.ConnectTimeout, FirstByte: o.Settings.FirstByteTimeout, Idle: o.Settings.IdleTimeout}
		if o.CacheDir != "" {
			e.cache = &listCache{o.CacheDir}
		}
		p := assistant.Provider{Name: e.Name, Model: e, Known: e.Known}
		if len(e.Known) == 0 {
			p.List = e.offered
		}
		if err := s.Registry.Add(p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close stops what was started; it is safe to call more than once.
func (s *Set) Close() error {
	var faults []error
	for _, e := range s.All {
		faults = append(faults, e.close())
	}
	return errors.Join(faults...)
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
	return s.Named(name) != nil && (!s.byURL || s.All[0].Name == name)
}

// ModelID is the full id of a model that the user named: PROVIDER/NAME of an
// endpoint, or a name of the first endpoint when the user set that up. preferNamed
// says that the endpoint the user named goes before a PROVIDER in name. Errors
// are ErrNotQualified and those of Registry.Open.
func (s *Set) ModelID(name string, preferNamed bool) (string, error) {
	prefix, rest, qualified := strings.Cut(name, "/")
	first := s.All[0]
	if qualified && rest != "" && s.Named(prefix) != nil && (prefix == first.Name || !preferNamed) {
		return name, nil
	}
	if !first.Auto && first.Name != OfflineName {
		return first.Name + "/" + name, nil
	}
	if !qualified {
		return "", fmt.Errorf("%w: %q", ErrNotQualified, name)
	}
	_, _, _, err := s.Registry.Open(name)
	return "", err
}

// Choice is a model to begin with.
type Choice struct {
	ID   string
	Note string // one sentence about a model that the user did not name
}

// First asks the endpoints for a model to begin with: the first chat model of the
// first endpoint that the user set up, else of the first that answers. The error
// is a *ListError.
func (s *Set) First(ctx context.Context) (Choice, error) {
	e := s.All[0]
	if e.Auto {
		e = s.firstUsable(ctx)
	}
	if e.Name == OfflineName {
		return Choice{OfflineModel, "no endpoint is set up: " + OfflineModel + " answers, built-in rules and no language model"}, nil
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

// firstUsable tries all automatic endpoints at the same time. The offline model
// is always usable.
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
	if e.cache != nil {
		listed := e.cache.load(e.BaseURL)
		if i := slices.IndexFunc(listed, func(m assistant.ModelInfo) bool { return m.ID == id }); i >= 0 {
			info = listed[i]
			info.Source = "cache"
		}
	}
	s.Registry.Learn(e.describe(info))
	return nil
}

// listCache keeps the model list of each address in a file of its own.
type listCache struct{ dir string }

func (c *listCache) path(baseURL string) string {
	sum := sha256.Sum256([]byte(baseURL))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:12])+".json")
}

func (c *listCache) store(baseURL string, models []assistant.ModelInfo) error {
	data, err := json.Marshal(models)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, ".list-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path(baseURL))
	}
	if err != nil {
		_ = os.Remove(f.Name()) // what is left is only a temporary file
	}
	return err
}

// load returns the cached list; nothing when there is none that can be read.
func (c *listCache) load(baseURL string) []assistant.ModelInfo {
	data, err := os.ReadFile(c.path(baseURL))
	if err != nil {
		return nil
	}
	var models []assistant.ModelInfo
	if json.Unmarshal(data, &models) != nil {
		return nil
	}
	return models
}
