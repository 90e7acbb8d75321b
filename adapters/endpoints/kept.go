package endpoints

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/adapters/modelfilter/models"
	"winnow/assistant/llm"
	"winnow/checkpoint/privatefile"
)

const (
	// maxGone is the maximum number of models remembered from earlier lists of an address.
	maxGone = 1000
	// limitAge is how long a context limit learned from an error is used. The endpoint may raise the limit, and
	// learning it again costs only one request.
	limitAge = 7 * 24 * time.Hour
)

// keptList is the stored list of models of an address, with ids as the endpoint knows them.
type keptList struct {
	Models []llm.ModelInfo // models of the last list
	Gone   []llm.ModelInfo // models that only earlier lists contained, as last seen
}

// keptPath returns the path of the list of this address.
func (e *Endpoint) keptPath() string {
	return filepath.Join(e.cacheDir, privatefile.Sum([]byte(e.BaseURL))[:24])
}

// kept returns the stored list of this address; an unreadable list is empty.
func (e *Endpoint) kept() (k keptList) {
	if e.cacheDir == "" || privatefile.ReadDocument(e.keptPath(), &k) != nil {
		return keptList{}
	}
	for _, list := range [][]llm.ModelInfo{k.Models, k.Gone} {
		for i := range list {
			list[i].ID, list[i].Source = e.Name+"/"+list[i].ID, "cache"
		}
	}
	return k
}

// keepList stores a list and returns the models that only earlier lists contained.
func (e *Endpoint) keepList(ctx context.Context, listed []llm.ModelInfo) (gone []llm.ModelInfo, err error) {
	if e.cacheDir == "" {
		return nil, nil
	}
	unlock, err := lock(ctx, e.cacheDir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	before, current := e.kept(), map[string]bool{}
	for _, m := range listed {
		current[m.ID] = true
	}
	for _, m := range slices.Concat(before.Models, before.Gone) {
		if !current[m.ID] {
			m.Gone, current[m.ID] = true, true
			gone = append(gone, m)
		}
	}
	slices.SortStableFunc(gone, func(a, b llm.ModelInfo) int { return b.Retrieved.Compare(a.Retrieved) })
	gone = gone[:min(len(gone), maxGone)]
	stored := keptList{e.withoutName(listed), e.withoutName(gone)}
	return gone, privatefile.WriteDocument(e.keptPath(), stored)
}

// withoutName returns a copy of a list with ids as the endpoint knows them.
func (e *Endpoint) withoutName(list []llm.ModelInfo) []llm.ModelInfo {
	list = slices.Clone(list)
	for i := range list {
		list[i].ID = strings.TrimPrefix(list[i].ID, e.Name+"/")
	}
	return list
}

// lock creates and locks the folder of stored lists.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, privatefile.Cause(err)
	}
	return privatefile.LockDocument(context.WithoutCancel(ctx), filepath.Join(dir, ".lock"))
}

// limits are the context limits learned from errors, by address and model name.
type limits map[string]llm.LearnedLimit

func limitsPath(dir string) string { return filepath.Join(dir, "limits") }

func (e *Endpoint) limitKey(name string) string { return e.BaseURL + " " + name }

// readLimits reads the limits that are not too old.
func readLimits(dir string, now time.Time) (limits, error) {
	found := limits{}
	if dir == "" {
		return found, nil
	}
	err := privatefile.ReadDocument(limitsPath(dir), &found)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, privatefile.ErrDamaged) {
		err = nil // the limits will be learned again
	}
	maps.DeleteFunc(found, func(_ string, l llm.LearnedLimit) bool {
		return l.Tokens <= 0 || l.At.After(now) || now.Sub(l.At) > limitAge
	})
	return found, err
}

// limitsIn reads the limits of all addresses; it logs errors.
func limitsIn(dir string, log *slog.Logger) limits {
	all, err := readLimits(dir, time.Now())
	if err != nil && log != nil {
		log.Warn("context limits not read", "error", err)
	}
	return all
}

// of returns the limits of an endpoint by full model id.
func (all limits) of(e *Endpoint) map[string]llm.LearnedLimit {
	own := map[string]llm.LearnedLimit{}
	for key, limit := range all {
		if name, ok := strings.CutPrefix(key, e.limitKey("")); ok {
			own[e.Name+"/"+name] = limit
		}
	}
	return own
}

// keepLimit stores a limit for later runs. If this fails, a later run needs one more request.
func (e *Endpoint) keepLimit(id string, learned llm.LearnedLimit) {
	if e.cacheDir == "" {
		return
	}
	unlock, err := lock(context.Background(), e.cacheDir)
	if err == nil {
		defer unlock()
		var all limits
		if all, err = readLimits(e.cacheDir, time.Now()); err == nil {
			all[e.limitKey(strings.TrimPrefix(id, e.Name+"/"))] = learned
			err = privatefile.WriteDocument(limitsPath(e.cacheDir), all)
		}
	}
	if err != nil && e.log != nil {
		e.log.Warn("context limit not stored", "endpoint", e.Name, "error", err)
	}
}

// Feed calls f with every list of models that an endpoint returns from now on, in the goroutine that asked for it.
func (s *Set) Feed(f func(models.Answer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.feed = f
	for _, e := range slices.Concat(s.All, s.added) {
		e.feedTo(f)
	}
}

func (e *Endpoint) feedTo(f func(models.Answer)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.feed = f
}

// answered passes a list on to the function given to Feed.
func (e *Endpoint) answered(listed []llm.ModelInfo) {
	e.mu.Lock()
	feed := e.feed
	e.mu.Unlock()
	if feed != nil {
		feed(models.Answer{Name: e.Name, BaseURL: e.BaseURL, Models: slices.Clone(listed)})
	}
}

// Ask asks the endpoint of a model for its models, after adding the stored lists to the registry. It returns the error of
// the request, or else the error of Registry.Open, such as a *llm.GoneError if the model is gone.
func (s *Set) Ask(ctx context.Context, id string) error {
	name, _, _ := strings.Cut(id, "/")
	for _, e := range s.All {
		if e.Name == name || !e.guess && !e.Remote {
			s.Registry.Restore(e.Name)
		}
	}
	failed := s.Registry.Refresh(ctx, name)[name]
	_, _, _, gone := s.Registry.Open(id)
	return cmp.Or(failed, gone)
}
