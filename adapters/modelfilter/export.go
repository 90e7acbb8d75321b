package modelfilter

import (
	"context"
)

// Exported is the window as other programs see it: the rules in force, without staged changes.
type Exported struct {
	File      string             `json:"file"`
	Unsaved   bool               `json:"unsaved"` // there are staged changes
	Providers []ExportedProvider `json:"providers"`
}

// ExportedProvider holds a provider's rules in force, and its models grouped by the effect of these rules.
type ExportedProvider struct {
	Provider string   `json:"provider"`
	Key      bool     `json:"key"` // the proxy has a key for it
	Ignore   []string `json:"ignore"`
	Allow    []string `json:"whitelist"`
	Shown    []string `json:"shown"` // ids of models
	Hidden   []string `json:"hidden"`
}

// Export implements [assistant.Exporter]. It returns an Exported and may wait for the disk.
func (w *Window) Export(ctx context.Context) (any, error) {
	w.ReadModels(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return withLock(w, func() Exported {
		out := Exported{File: w.source.Path, Unsaved: w.dirty(), Providers: []ExportedProvider{}}
		for _, name := range w.order {
			p := w.providerNamed(name)
			e := w.engine(p)
			if p.dirty() {
				e = e.Clone()
				e.Set(p.lists[Ignore].inForce(), p.lists[Allow].inForce())
			}
			hidden := append([]string{}, e.Hidden()...)
			out.Providers = append(out.Providers, ExportedProvider{
				Provider: name, Key: p.hasKey, Ignore: append([]string{}, p.lists[Ignore].inForce()...), Allow: append([]string{}, p.lists[Allow].inForce()...),
				Shown: append([]string{}, without(e.Models(), hidden)...), Hidden: hidden,
			})
		}
		return out
	}), nil
}
