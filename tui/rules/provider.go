package rules

import (
	"context"
	"fmt"
	"maps"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/rules/overview"
)

// allEntry is the line of the provider list that opens their tab; no name has a space.
const allEntry = "all providers"

// pickProvider lets the user choose a provider.
func (p *Pane) pickProvider() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	providers := p.window.Providers()
	entries := []overlay.Entry{{Value: allEntry, Text: allEntry, Extra: assistant.Counted(len(providers), "provider")}}
	for _, v := range providers {
		entries = append(entries, p.providerEntry(v))
	}
	return pane.Pick{Title: "Provider", Entries: entries, Then: func(name string) pane.Action {
		if name == allEntry {
			p.openTab(tabAll)
			return pane.Nothing{}
		}
		return p.switchProvider(name)
	}}
}

func (p *Pane) providerEntry(v modelfilter.ProviderView) overlay.Entry {
	extra := ""
	if p.all.Of(v.Name).Counts.Total > 0 {
		p.all.Count(v.Name) // its models are in memory; its rules may have changed
		n := p.all.Of(v.Name)
		extra = pane.Join(fmt.Sprintf("%d of %d", n.Counts.Available, n.Counts.Total), n.Source)
	}
	unsaved := ""
	if v.Unsaved {
		unsaved = p.st.Icons.Unsaved + " unsaved"
	}
	e := overlay.Entry{Value: v.Name, Text: v.Name, Extra: pane.Join(extra, overview.Numbers{ProviderView: v}.Remarks(), unsaved)}
	if v.Current {
		e.Mark = p.st.Icons.ToolOK
	}
	return e
}

func (p *Pane) switchProvider(name string) pane.Action {
	if name == p.data.provider {
		return pane.Nothing{}
	}
	w, all := p.window, p.all
	clear(p.selected)
	return pane.Edit{
		Description: "Switch to " + pane.Visible(name), ViewOnly: true,
		Change: func() error {
			if err := w.SetProvider(name); err != nil {
				return err
			}
			all.Count(name) // may read the disk, so not while drawing
			return nil
		},
		Done: func() string {
			text := "switched to " + pane.Visible(name)
			if c := all.Of(name).Counts; c.Total > 0 {
				text += fmt.Sprintf(": %d of %d shown", c.Available, c.Total)
			}
			return text
		},
	}
}

// refreshModels asks the provider for its models, and the proxy what it serves.
func (p *Pane) refreshModels() pane.Action {
	names := p.targets()
	if len(names) > 1 {
		return p.refreshAll(names)
	}
	w, all, box, name, drift := p.window, p.all, &p.inbox, names[0], p.opts.Drift
	return pane.Run{Doing: "asking " + pane.Visible(name) + " for its models…", Run: func(ctx context.Context) (string, error) {
		before, err := w.ModelList(name)
		if err != nil {
			return "", err
		}
		r, err := all.Ask(ctx, name)
		if err != nil {
			return "", err
		}
		scope, err := w.On(name)
		if err != nil {
			return "", err
		}
		if drift != nil {
			d, err := drift.Drift(ctx, name, scope.Expected)
			if err != nil {
				d = models.Drift{} // the proxy does not answer: nothing is known
			}
			box.update(func(r *results) {
				r.drift = maps.Clone(r.drift)
				r.drift[name] = d
			})
		}
		if before.Source == models.SourceCatalogue { // the catalogue does not say what the provider had
			r.Gone = nil
		}
		return overview.RefreshedText(r, scope.Counts().New), nil
	}}
}

// markSeen marks the new models as seen.
func (p *Pane) markSeen() pane.Action {
	w, name, n := p.window, p.data.provider, p.data.counts.New
	return pane.Run{Doing: "marking the new models as seen…", Run: func(context.Context) (string, error) {
		if err := w.Seen(name); err != nil {
			return "", err
		}
		return assistant.Counted(n, "new model") + " of " + pane.Visible(name) + " marked as seen", nil
	}}
}

// discard drops the unsaved rules, unless there are none.
func (p *Pane) discard() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	if len(p.data.diff) == 0 {
		return pane.Notify{Text: "there are no unsaved changes"}
	}
	return pane.Discard{}
}
