package rules

import (
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/glob"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// providerRows returns the rows of the tab of all providers, with the numbers known so far.
func (p *Pane) providerRows() []row {
	if p.query != "" {
		return p.foundRows()
	}
	rows := []row{{kind: rowSum}}
	for i, n := range p.data.Providers {
		rows = append(rows, row{kind: rowProvider, index: i, text: n.Name})
	}
	return append(append(rows, p.targetRows()...), p.newsRows()...)
}

// foundRows returns the models of all providers that the search finds. Facts that have not
// been read are unknown.
func (p *Pane) foundRows() (rows []row) {
	p.parseQuery()
	for _, v := range p.data.Providers {
		for i, m := range v.Models {
			known := m.Known()
			if p.filter.finds(&known, p.data.Now()) {
				rows = append(rows, row{kind: rowFound, index: i, text: v.Name})
			}
		}
	}
	if len(rows) == 0 {
		return textRows(append(nonEmpty("No model of any provider matches "+quote(p.query)+"."), p.endSearchHints("providers")...)...)
	}
	return rows
}

// foundAt returns the model that a row shows.
func (p *Pane) foundAt(r row) (m modelfilter.ModelView, ok bool) {
	for _, v := range p.data.Providers {
		if r.kind == rowFound && v.Name == r.text && r.index < len(v.Models) {
			return v.Models[r.index], true
		}
	}
	return m, false
}

// foundPieces draws a model that the search of all providers found.
func (p *Pane) foundPieces(r row) (left, right []pane.Piece) {
	m, _ := p.foundAt(r)
	ink, status := p.styles.Text, ""
	if m.Status == engine.Ignored {
		ink, status = p.styles.Muted, "hidden"
	}
	return []pane.Piece{{Text: "  " + pane.Visible(m.ID), Style: ink}}, []pane.Piece{{Text: status, Style: p.styles.Muted}}
}

// openFound opens the models of a found model's provider, with the cursor on the model.
func (p *Pane) openFound(r row) pane.Action {
	m, ok := p.foundAt(r)
	if refusal := p.refuseLocked(); refusal != nil && r.text != p.data.Provider {
		return refusal
	}
	if ok {
		p.jumpTo = modelID(m.ID)
	}
	p.openTab(tabModels)
	return p.switchProvider(r.text)
}

// targetRows returns the rows that say how other proxies differ from this one.
func (p *Pane) targetRows() []row {
	if !p.data.HasTargets {
		return nil
	}
	rows := []row{{kind: rowHeading, text: "other proxies"}}
	if !p.data.Compared {
		return append(rows, row{kind: rowText, text: "asking…"})
	}
	for _, t := range p.data.Targets {
		rows = append(rows, row{kind: rowText, text: pane.Visible(t.Name) + ": " + targetText(t)})
	}
	return rows
}

// targetText says how a proxy differs from this one.
func targetText(t modelfilter.TargetView) string {
	switch {
	case t.Problem != "":
		return pane.Visible(t.Problem)
	case t.Rules+t.Models == 0:
		return "same rules, same models"
	}
	return fmt.Sprintf("%s and %s differ", assistant.Counted(t.Rules, "rule"), assistant.Counted(t.Models, "model"))
}

// maxNewsRows is how many model changes are listed for each provider.
const maxNewsRows = 50

// newsRows returns the rows for the model changes since the user last looked.
func (p *Pane) newsRows() (rows []row) {
	for _, v := range p.data.Providers {
		for i := range v.News[:min(len(v.News), maxNewsRows)] {
			rows = append(rows, row{kind: rowNews, index: i, text: v.Name})
		}
		if more := len(v.News) - maxNewsRows; more > 0 {
			rows = append(rows, row{kind: rowText, text: fmt.Sprintf("%s of %s", assistant.Counted(more, "more change"), pane.Visible(v.Name))})
		}
	}
	if len(rows) > 0 {
		rows = append([]row{{kind: rowHeading, text: "since you last looked"}}, rows...)
	}
	return rows
}

// newsAt returns the model change that a row shows.
func (p *Pane) newsAt(r row) (n modelfilter.News, ok bool) {
	for _, v := range p.data.Providers {
		if r.kind == rowNews && v.Name == r.text && r.index < len(v.News) {
			return v.News[r.index], true
		}
	}
	return n, false
}

// newsPieces draws a model change in w cells: the kind of change and the model on the left, the
// price and the context of the model on the right.
func (p *Pane) newsPieces(r row, w int) (left, right []pane.Piece) {
	st, icons := &p.styles, &p.st.Icons
	n, ok := p.newsAt(r)
	if !ok {
		return nil, nil
	}
	icon, ink := signNew.in(icons), st.Pending
	switch n.Kind {
	case models.Vanished:
		icon, ink = signDeleted.in(icons), st.Remove
	case models.Deprecated, models.Repriced:
		icon, ink = signWarn.in(icons), st.Warn
	default:
	}
	name := st.Text
	if n.Model.Hidden {
		name = st.Muted
	}
	left = []pane.Piece{{Text: "  " + icon + " " + n.Word() + " ", Style: ink}, {Text: pane.Visible(n.ID), Style: name}}
	used := style.Width(left[0].Text+left[1].Text) + newsGap
	for _, about := range newsAbout(n) {
		if n := style.Width(about); used+n <= w && n+newsGap <= w/2 { // pane.Spread drops a longer text
			return left, []pane.Piece{{Text: about, Style: st.Muted}}
		}
	}
	return left, nil
}

// newsGap is the number of cells that the texts of a row leave free.
const newsGap = 3

// newsAbout returns what a row says about the model of a change: the full text, followed by
// shorter texts.
func newsAbout(n modelfilter.News) []string {
	context, hidden := "", ""
	if n.Context() > 0 {
		context = contextText(n.Model.Info)
	}
	if n.Model.Hidden {
		hidden = "hidden"
	}
	f, price := n.Model.Info.Facts, ""
	if n.Price() != "" {
		price = "$" + orUnknown(f.PriceIn.String()) + "/$" + orUnknown(f.PriceOut.String())
	}
	return []string{pane.Join(n.Price(), context, hidden), pane.Join(price, context, hidden), pane.Join(price, context), price, context}
}

// decideNews hides or shows the model of a change by adding a rule for its name.
func (p *Pane) decideNews(n modelfilter.News, list modelfilter.List) pane.Action {
	switch {
	case n.Kind == models.Vanished:
		return pane.Notify{Text: safetext.Sprintf("%s is no longer listed", n.ID)}
	case list == modelfilter.Ignore && n.Model.Hidden:
		return pane.Notify{Text: safetext.Sprintf("%s is already hidden", n.ID)}
	}
	name := strings.TrimPrefix(n.ID, n.Provider+"/")
	return p.edit(modelfilter.AddRule{Provider: n.Provider, Rule: modelfilter.Rule{List: list, Pattern: glob.Quote(name)}})
}

// providerPieces draws a row of the tab of all providers in w cells.
func (p *Pane) providerPieces(r row, w int) []pane.Piece {
	t := overviewTable{W: w, Icons: &p.st.Icons, Ink: p.styles}
	if r.kind == rowSum {
		sum, _ := sumNumbers(p.data.Providers)
		return t.Line("all", sum)
	}
	return t.Line(pane.Visible(r.text), providerNumbers{ProviderView: p.data.Providers[r.index]})
}

// aboutProvider returns what does not fit in a provider's row; short omits the name of the
// provider.
func (p *Pane) aboutProvider(r row) (text, short string) {
	if r.kind == rowProvider {
		short = providerNumbers{ProviderView: p.data.Providers[r.index]}.About()
		return pane.Visible(r.text) + ": " + short, short
	}
	short = aboutAllProviders(p.data.Providers)
	return "all providers: " + short, short
}

// openProvider opens the rules of a provider.
func (p *Pane) openProvider(name string) pane.Action {
	if refusal := p.refuseLocked(); refusal != nil && name != p.data.Provider {
		return refusal
	}
	p.openTab(tabRules)
	return p.switchProvider(name)
}

// targets returns the providers that an action applies to: all providers if the cursor is
// on the total, the provider whose row the cursor is on, or else the current provider.
func (p *Pane) targets() []string {
	r, _ := p.tabs.List().Current()
	switch {
	case p.tabs.Open == tabAll && r.kind == rowSum:
		var names []string
		for _, n := range p.data.Providers {
			names = append(names, n.Name)
		}
		return names
	case p.tabs.Open == tabAll && (r.kind == rowProvider || r.kind == rowNews || r.kind == rowFound):
		return []string{r.text}
	}
	return []string{p.data.Provider}
}
