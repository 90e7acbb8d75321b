package rules

import (
	"context"
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// pickProvider lets the user choose a provider.
func (p *Pane) pickProvider() pane.Action {
	if no, ok := p.locked(); ok {
		return no
	}
	providers := p.window.Providers()
	entries := make([]overlay.Entry, len(providers))
	for i, v := range providers {
		entries[i] = p.providerEntry(v)
	}
	return pane.Pick{Title: "Provider", Entries: entries, Then: p.switchTo}
}

func (p *Pane) providerEntry(v modelfilter.ProviderView) overlay.Entry {
	var extra []string
	if _, ok := p.inbox.countOf(v.Name); ok {
		p.inbox.count(p.window, v.Name) // its models are known; its rules may be others by now
		c, _ := p.inbox.countOf(v.Name)
		extra = append(extra, fmt.Sprintf("%d of %d", c.available, c.total))
		if c.source != "" {
			extra = append(extra, c.source)
		}
	}
	if v.Rules > 0 {
		extra = append(extra, assistant.Counted(v.Rules, "rule"))
	}
	if !v.Key {
		extra = append(extra, "no key")
	}
	if v.Fixed {
		extra = append(extra, "environment")
	}
	if v.Unsaved {
		extra = append(extra, p.st.Icons.Unsaved+" unsaved")
	}
	e := overlay.Entry{Value: v.Name, Text: shown(v.Name), Extra: strings.Join(extra, " · ")}
	if v.Current {
		e.Mark = p.st.Icons.ToolOK // not the sign of the line that the cursor is on
	}
	return e
}

func (p *Pane) switchTo(name string) pane.Action {
	if name == p.data.provider {
		return pane.Nothing{}
	}
	w, box := p.window, &p.inbox
	clear(p.marked)
	change := func() error {
		if err := w.SetProvider(name); err != nil {
			return err
		}
		box.count(w, name) // its models are read here, not while a frame waits
		return nil
	}
	done := func() string {
		said := "switched to " + shown(name)
		if c, ok := box.countOf(name); ok && c.total > 0 {
			said += fmt.Sprintf(": %d of %d available", c.available, c.total)
		}
		return said
	}
	return pane.Edit{Description: "Switch to " + shown(name), Change: change, Done: done, View: true}
}

// refreshModels asks the provider for its models, and looks after the file.
func (p *Pane) refreshModels() pane.Action {
	w, box, name, drift, known := p.window, &p.inbox, p.data.provider, p.opts.Drift, p.data.source.Source
	return pane.Run{Doing: "asking " + shown(name) + " for its models…", Run: func(ctx context.Context) (string, error) {
		if theirs, changed, err := w.Foreign(ctx); err == nil && changed {
			box.setFile(false, &theirs)
		}
		r, err := w.Refresh(ctx, name)
		if err != nil {
			return "", err
		}
		box.count(w, name)
		if drift != nil {
			box.setDrift(name, driftOf(ctx, w, drift, name))
		}
		if known == sourceBuiltIn { // no measure of what is gone
			r.Gone = nil
		}
		fresh := 0
		if scope, err := w.On(name); err == nil {
			fresh = scope.Counts().New
		}
		return refreshedWords(r, fresh), nil
	}}
}

// refreshedWords say what came of asking for models, fresh of which are listed
// as new.
func refreshedWords(r modelfilter.Refreshed, fresh int) string {
	said := fmt.Sprintf("%s: %s", shown(r.Provider), assistant.Counted(r.Total, "model"))
	if from := sourceNames[r.Source]; from != "" {
		said += " " + from
	}
	if fresh > 0 {
		said += fmt.Sprintf(", %d new", fresh)
	}
	if n := len(r.Gone); n > 0 {
		said += fmt.Sprintf(", %d gone", n)
	}
	if r.Problem != "" {
		said += " · " + r.Problem
	}
	return said
}

// driftOf is how what the proxy serves differs from the rules of the file; the
// zero value when the proxy cannot be asked, since then nothing is known.
func driftOf(ctx context.Context, w *modelfilter.Window, from drifter, name string) models.Drift {
	scope, err := w.On(name)
	if err != nil {
		return models.Drift{}
	}
	d, err := from.Drift(ctx, name, scope.Expected)
	if err != nil {
		return models.Drift{}
	}
	return d
}

// seen makes the new models known.
func (p *Pane) seen() pane.Action {
	w, name, n := p.window, p.data.provider, p.data.counts.New
	return pane.Run{Doing: "marking the new models as seen…", Run: func(context.Context) (string, error) {
		if err := w.Seen(name); err != nil {
			return "", err
		}
		return assistant.Counted(n, "new model") + " of " + shown(name) + " marked as seen", nil
	}}
}

// lookForRedundant holds each rule against all others of its list.
func (p *Pane) lookForRedundant() pane.Action {
	w, box := p.window, &p.inbox
	return pane.Run{Doing: "looking for redundant rules…", Run: func(context.Context) (string, error) {
		l := lint{revision: w.Revision(), findings: w.Lint(), done: true}
		box.setLint(l)
		n := 0
		for _, f := range l.findings {
			if f.Kind == engine.Redundant {
				n++
			}
		}
		return assistant.Counted(n, "redundant rule") + " found", nil
	}}
}
