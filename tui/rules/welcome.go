package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/tui/pane"
)

// maxWelcomed is how many providers the welcome lists.
const maxWelcomed = 4

// welcomeCache caches the Welcome of a snapshot.
type welcomeCache struct {
	of *modelfilter.Snapshot
	pane.Welcome
}

// Welcome implements pane.Welcomer: it returns the file, the first providers with their
// numbers, and example requests about the rules.
func (p *Pane) Welcome() (w pane.Welcome, ok bool) {
	d := &p.data
	if d.Revision == 0 {
		return pane.Welcome{}, false
	}
	if p.welcome.of == d.Snapshot {
		return p.welcome.Welcome, true
	}
	file := d.File
	if below, ok := strings.CutPrefix(file, p.opts.Home+"/"); ok && p.opts.Home != "" {
		file = "~/" + below
	}
	file = pane.Visible(file)
	if !d.FileExists {
		file += " (the first save creates it)"
	}
	w.Facts = []pane.Fact{{Name: "file", Text: file}}
	listed := p.inUse()
	for _, v := range listed[:min(len(listed), maxWelcomed)] {
		w.Facts = append(w.Facts, pane.Fact{Name: pane.Visible(v.Name), Text: welcomeNumbers(v)})
	}
	if more := len(d.Providers) - min(len(listed), maxWelcomed); more > 0 {
		w.Facts = append(w.Facts, pane.Fact{Text: assistant.Counted(more, "more provider")})
	}
	for _, text := range d.ExampleRequests() {
		w.Requests = append(w.Requests, pane.Visible(text))
	}
	p.welcome = welcomeCache{d.Snapshot, w}
	return w, true
}

// inUse returns the providers that have rules, unsaved changes or a key; providers with
// rules come first. If no provider has any of these, it returns the current provider.
func (p *Pane) inUse() (all []modelfilter.ProviderView) {
	for _, v := range p.data.Providers {
		if v.Rules > 0 || v.Key || v.Unsaved {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		for _, v := range p.data.Providers {
			if v.Current {
				all = append(all, v)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b modelfilter.ProviderView) int { return cmp.Compare(min(b.Rules, 1), min(a.Rules, 1)) })
	return all
}

// welcomeNumbers returns the numbers of a provider on one line.
func welcomeNumbers(v modelfilter.ProviderView) string {
	rules := "no rules"
	if v.Rules > 0 {
		rules = assistant.Counted(v.Rules, "rule")
	}
	switch {
	case !v.Read:
		return rules
	case v.Counts.Total == 0:
		return pane.Join("models unknown", rules)
	}
	return pane.Join(fmt.Sprintf("%d shown, %d hidden", v.Counts.Shown, v.Counts.Hidden), rules)
}
