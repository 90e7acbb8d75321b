package rules

import (
	"fmt"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/overlay"
	"winnow/tui/pane"
)

// allEntry is the entry of the provider list that opens the tab of all providers. No
// provider has this name, because a provider name contains no space.
const allEntry = "all providers"

// pickProvider lets the user choose a provider.
func (p *Pane) pickProvider() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	providers := p.data.Providers
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
	if v.Counts.Total > 0 {
		extra = pane.Join(fmt.Sprintf("%d of %d", v.Counts.Shown, v.Counts.Total), v.Source)
	}
	unsaved := ""
	if v.Unsaved {
		unsaved = signChanges.in(&p.st.Icons) + " unsaved"
	}
	e := overlay.Entry{Value: v.Name, Text: v.Name, Extra: pane.Join(extra, providerNumbers{ProviderView: v}.Remarks(), unsaved)}
	if v.Current {
		e.Mark = signProvider.in(&p.st.Icons)
	}
	return e
}

func (p *Pane) switchProvider(name string) pane.Action {
	if name == p.data.Provider {
		return pane.Nothing{}
	}
	clear(p.selected)
	return p.act(modelfilter.PickProvider{Provider: name})
}

// refreshModels asks the providers that the action applies to for their models. If there is
// only one, the proxy is also asked which of its models it serves.
func (p *Pane) refreshModels() pane.Action {
	names := p.targets()
	e := p.act(modelfilter.RefreshModels{Providers: names})
	if e.Doing = safetext.Sprintf("asking %s for its models…", names[0]); len(names) > 1 {
		e.Doing = safetext.Sprintf("asking %s for their models…", assistant.Counted(len(names), "provider"))
	}
	return e
}

// markSeen marks the changes of a provider's models as seen.
func (p *Pane) markSeen(provider string) pane.Action {
	e := p.act(modelfilter.MarkSeen{Provider: provider})
	e.Doing = "marking the changes as seen…"
	return e
}

// discard discards the unsaved rules, if there are any.
func (p *Pane) discard() pane.Action {
	if refusal := p.refuseLocked(); refusal != nil {
		return refusal
	}
	if len(p.data.Unsaved) == 0 {
		return pane.Notify{Text: "there are no unsaved changes"}
	}
	return pane.Discard{}
}
