package rules

import (
	"winnow/tui/pane"
)

// providerRows are the rows of the tab of all providers, from the numbers that are known now.
func (p *Pane) providerRows() []row {
	rows := []row{{kind: rowSum}}
	for i, n := range p.data.Providers {
		rows = append(rows, row{kind: rowProvider, index: i, text: n.Name})
	}
	return rows
}

// providerPieces draw a row of the tab of all providers in w cells.
func (p *Pane) providerPieces(r row, w int) []pane.Piece {
	st := &p.styles
	t := overviewTable{W: w, Icons: &p.st.Icons, Ink: overviewInk{
		Text: st.Text, Muted: st.Muted, Shown: st.BarAvailable, Hidden: st.BarHidden, Pending: st.Pending,
	}}
	if r.kind == rowSum {
		sum, _ := sumNumbers(p.data.Providers)
		return t.Line("all", sum)
	}
	return t.Line(pane.Visible(r.text), providerNumbers{ProviderView: p.data.Providers[r.index]})
}

// aboutProvider is what a row has no room for; short leaves the name out.
func (p *Pane) aboutProvider(r row) (text, short string) {
	if r.kind == rowProvider {
		short = providerNumbers{ProviderView: p.data.Providers[r.index]}.About()
		return pane.Visible(r.text) + ": " + short, short
	}
	short = aboutAllProviders(p.data.Providers)
	return "all providers: " + short, short
}

// openProvider goes to the rules of a provider.
func (p *Pane) openProvider(name string) pane.Action {
	if refusal := p.refuseLocked(); refusal != nil && name != p.data.Provider {
		return refusal
	}
	p.openTab(tabRules)
	return p.switchProvider(name)
}

// targets are the providers that an action is about: all of them on the sum of all
// providers, else the one under the cursor or the current one.
func (p *Pane) targets() []string {
	r, _ := p.tabs.List().Current()
	switch {
	case p.tabs.Open == tabAll && r.kind == rowSum:
		var names []string
		for _, n := range p.data.Providers {
			names = append(names, n.Name)
		}
		return names
	case p.tabs.Open == tabAll && r.kind == rowProvider:
		return []string{r.text}
	}
	return []string{p.data.Provider}
}
