package models

import (
	"slices"
	"strings"

	"winnow/assistant/llm"
)

// ChangeKind is what has changed about a model.
type ChangeKind string

// The kinds of changes, in the order in which News lists them.
const (
	Appeared   ChangeKind = "new"        // it was never listed before
	Vanished   ChangeKind = "vanished"   // it is no longer listed
	Deprecated ChangeKind = "deprecated" // it was not deprecated before
	Repriced   ChangeKind = "repriced"   // one of its prices has changed
)

// Change is a change to a provider's list since the user last looked at it.
type Change struct {
	ID       string // "provider/name"
	Kind     ChangeKind
	PriceIn  llm.Price // previous prices, for Repriced
	PriceOut llm.Price
}

// listed is a model as the user last saw it, with the endpoint's facts only: a difference
// between two builds' catalogues is not news.
type listed struct {
	Name     string     `json:"name"`
	PriceIn  llm.Price  `json:"price_in,omitzero"`
	PriceOut llm.Price  `json:"price_out,omitzero"`
	Status   llm.Status `json:"status,omitempty"`
}

// look adds the names in seen to the baseline, and records the current models with these names
// as the user saw them.
func (r *record) look(seen []string) {
	r.markSeen(seen)
	slices.Sort(seen)
	r.Looked = make([]listed, 0, len(seen))
	for _, m := range r.Models {
		if _, ok := slices.BinarySearch(seen, m.Name); ok {
			f := m.Facts
			r.Looked = append(r.Looked, listed{m.Name, f.PriceIn, f.PriceOut, f.Status})
		}
	}
}

// news lists what has changed since the user last looked. proxy is the address of the proxy whose
// models can be new, too.
func (r *record) news(proxy string) (out []Change) {
	for _, name := range r.newNames(proxy) {
		out = append(out, Change{ID: name, Kind: Appeared})
	}
	var deprecated, repriced []Change
	models := r.Models
	for _, was := range r.Looked {
		for len(models) > 0 && models[0].Name < was.Name {
			models = models[1:]
		}
		if len(models) == 0 || models[0].Name != was.Name {
			out = append(out, Change{ID: was.Name, Kind: Vanished})
			continue
		}
		is := models[0].Facts
		if is.Status == llm.StatusDeprecated && was.Status != llm.StatusDeprecated {
			deprecated = append(deprecated, Change{ID: was.Name, Kind: Deprecated})
		}
		if otherPrice(was.PriceIn, is.PriceIn) || otherPrice(was.PriceOut, is.PriceOut) {
			repriced = append(repriced, Change{ID: was.Name, Kind: Repriced, PriceIn: was.PriceIn, PriceOut: was.PriceOut})
		}
	}
	out = slices.Concat(out, deprecated, repriced)
	for i := range out {
		out[i].ID = r.Provider + "/" + out[i].ID
	}
	return out
}

// otherPrice reports whether both prices are known and differ; a price that was unknown has
// not changed.
func otherPrice(was, is llm.Price) bool { return was.Known && is.Known && was.USD != is.USD }

// News lists the changes to a provider's models since MarkSeen was last called for it, or since its
// first fetch: new, vanished, deprecated and repriced models. Like Cached, it may
// read the disk.
func (l *Lists) News(provider string) []Change {
	e := l.entry(providerName(provider))
	l.mu.Lock()
	r := e.record
	l.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.news(l.proxyBase()) // records are replaced, never changed
}

// trimProvider removes the provider from ids, in place.
func trimProvider(ids []string, provider string) []string {
	for i, id := range ids {
		ids[i] = strings.TrimPrefix(id, provider+"/")
	}
	return ids
}
