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
)

// pickProvider lets the user choose a provider.
func (p *Pane) pickProvider() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	providers := p.window.Providers()
	entries := make([]overlay.Entry, len(providers))
	for i, v := range providers {
		entries[i] = p.providerEntry(v)
	}
	return pane.Pick{Title: "Provider", Entries: entries, Then: p.switchProvider}
}

func (p *Pane) providerEntry(v modelfilter.ProviderView) overlay.Entry {
	extra := ""
	if found, _ := p.inbox.get(); found.counts[v.Name] != (providerCounts{}) {
		p.inbox.count(p.window, v.Name) // its models are in memory; its rules may have changed
		found, _ = p.inbox.get()
		c := found.counts[v.Name]
		extra = pane.Join(fmt.Sprintf("%d of %d", c.available, c.total), c.source)
	}
	rules, noKey, fixed, unsaved := "", "", "", ""
	if v.Rules > 0 {
		rules = assistant.Counted(v.Rules, "rule")
	}
	if !v.Key {
		noKey = "no key"
	}
	if v.Fixed {
		fixed = "environment"
	}
	if v.Unsaved {
		unsaved = p.st.Icons.Unsaved + " unsaved"
	}
	e := overlay.Entry{Value: v.Name, Text: pane.Visible(v.Name), Extra: pane.Join(extra, rules, noKey, fixed, unsaved)}
	if v.Current {
		e.Mark = p.st.Icons.ToolOK
	}
	return e
}

func (p *Pane) switchProvider(name string) pane.Action {
	if name == p.data.provider {
		return pane.Nothing{}
	}
	w, box := p.window, &p.inbox
	clear(p.selected)
	return pane.Edit{
		Description: "Switch to " + pane.Visible(name), ViewOnly: true,
		Change: func() error {
			if err := w.SetProvider(name); err != nil {
				return err
			}
			box.count(w, name) // may read the disk, so not while drawing
			return nil
		},
		Done: func() string {
			text := "switched to " + pane.Visible(name)
			if found, _ := box.get(); found.counts[name].total > 0 {
				text += fmt.Sprintf(": %d of %d available", found.counts[name].available, found.counts[name].total)
			}
			return text
		},
	}
}

// refreshModels asks the provider for its models, and the proxy what it serves.
func (p *Pane) refreshModels() pane.Action {
	w, box, name, drift, source := p.window, &p.inbox, p.data.provider, p.opts.Drift, p.data.source.Source
	return pane.Run{Doing: "asking " + pane.Visible(name) + " for its models…", Run: func(ctx context.Context) (string, error) {
		r, err := w.Refresh(ctx, name)
		if err != nil {
			return "", err
		}
		box.count(w, name)
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
		if source == models.SourceCatalogue { // the catalogue does not say what the provider had
			r.Gone = nil
		}
		return refreshedText(r, scope.Counts().New), nil
	}}
}

// refreshedText says what a refresh found; fresh is how many models are listed as new.
func refreshedText(r modelfilter.Refreshed, fresh int) string {
	text := fmt.Sprintf("%s: %s", pane.Visible(r.Provider), assistant.Counted(len(r.IDs), "model"))
	if from := sourceNames[r.Source]; from != "" {
		text += " " + from
	}
	if fresh > 0 {
		text += fmt.Sprintf(", %d new", fresh)
	}
	if n := len(r.Gone); n > 0 {
		text += fmt.Sprintf(", %d gone", n)
	}
	return pane.Join(text, r.Err)
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

// confirmDiscard asks before unsaved rules are lost.
func (p *Pane) confirmDiscard() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	if len(p.data.diff) == 0 {
		return pane.Notify{Text: "nothing is unsaved"}
	}
	w, lost := p.window, 0
	discard := pane.Edit{
		Description: "Discard the unsaved rules",
		Change: func() error {
			changes, err := w.Discard()
			lost = len(changes)
			return err
		},
		Done: func() string { return "discarded " + assistant.Counted(lost, "unsaved change") },
	}
	return pane.Confirm{
		Title: "Discard the unsaved rules?", Lines: pane.RuleChangeLines(p.data.diff, &p.st.Icons), Yes: "discard",
		Then: func() pane.Action { return discard },
	}
}
