package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/condition"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant/llm"
	"winnow/tui/overlay"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// filter is the search for models.
type filter struct {
	query     string
	condition condition.Condition // the words of query that can be parsed
	problem   string              // why a word cannot be parsed; "" if all words can be parsed
	unknown   int                 // number of models that the condition could not judge
}

// modelMatcher returns a function that reports which models the search finds;
// filter.unknown counts the models that the search cannot judge. Words that cannot be
// parsed, such as half-typed words, are ignored.
func (p *Pane) modelMatcher() func(i int) bool {
	if p.parseQuery(); p.filter.condition.Empty() {
		return func(int) bool { return true }
	}
	models := p.data.models()
	return func(i int) bool { return p.filter.finds(&models[i], p.data.Now()) }
}

// parseQuery parses the query and resets filter.unknown.
func (p *Pane) parseQuery() {
	f := &p.filter
	if f.query != p.query {
		f.query, f.problem = p.query, ""
		var err error
		if f.condition, err = condition.ParseSearch(p.query); err != nil {
			f.problem = err.Error()
		}
	}
	f.unknown = 0
}

// finds reports whether the search finds a model. It counts the models for which that is
// unknown.
func (f *filter) finds(m *condition.Model, now time.Time) bool {
	answer := f.condition.Match(m, now)
	if answer == condition.Unknown {
		f.unknown++
	}
	return answer == condition.Yes
}

// column is a column of the table of models.
type column struct {
	title, order string // order is the name of the order that sorts by the column; "-" if there is none
	legend       string // what the title does not explain; "" if the title is sufficient
	width        int
	text         func(m *condition.Model, now time.Time) string // "" if unknown
}

// columns are the columns between the name and the rule, most useful first: a narrow pane
// shows only the first of them.
var columns = []column{
	{"$ out", "price", "$ per million tokens", 6, func(m *condition.Model, _ time.Time) string { return m.Info.Facts.PriceOut.String() }},
	{"context", "context", "", 8, func(m *condition.Model, _ time.Time) string { return contextText(m.Info) }},
	{"last use", "last_used", "", 9, lastUse},
	{"requests", "requests", "", 9, requests},
	{"$ in", "price_in", "", 6, func(m *condition.Model, _ time.Time) string { return m.Info.Facts.PriceIn.String() }},
	{"can", "-", "can: t tools, v vision, r reasoning, s structured output", 4, func(m *condition.Model, _ time.Time) string { return abilities(m.Info, false) }},
	{"released", "released", "", 10, func(m *condition.Model, _ time.Time) string { return m.Info.Facts.Released }},
}

// columnGap is the number of cells between two columns.
const columnGap = 1

func contextText(info llm.ModelInfo) string {
	switch n := info.Context; {
	case n <= 0 || !info.Known:
		return ""
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n/10_000)/100, 'f', -1, 64) + "M"
	case n >= 1000:
		return strconv.Itoa(n/1000) + "k"
	default:
		return strconv.Itoa(n)
	}
}

func lastUse(m *condition.Model, now time.Time) string {
	switch age := now.Sub(m.Use.Last); {
	case !m.UseKnown:
		return ""
	case m.Use.Last.IsZero():
		return "never"
	case age < time.Hour:
		return fmt.Sprintf("%d min", max(0, int(age/time.Minute)))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h", int(age/time.Hour))
	default:
		return fmt.Sprintf("%d d", int(age/(24*time.Hour)))
	}
}

func requests(m *condition.Model, _ time.Time) string {
	switch n := m.Use.Requests; {
	case !m.UseKnown:
		return ""
	case n >= 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	default:
		return strconv.FormatInt(n, 10)
	}
}

// abilities returns what a model can do, as letters or words.
func abilities(info llm.ModelInfo, words bool) string {
	var out []string
	for _, a := range []struct {
		able llm.Ability
		word string
	}{{info.Facts.ToolCalls, "tools"}, {info.Vision, "vision"}, {info.Facts.Reasoning, "reasoning"}, {info.Facts.Structured, "structured output"}} {
		switch {
		case a.able == llm.Able && words:
			out = append(out, a.word)
		case a.able == llm.Able:
			out = append(out, a.word[:1])
		case a.able == llm.Unable && !words:
			out = append(out, "-")
		case !words:
			out = append(out, " ")
		}
	}
	if words {
		return strings.Join(out, ", ")
	}
	return strings.TrimRight(strings.Join(out, ""), " ")
}

// columnsKnown caches which columns have a value for at least one model; of and info
// identify the facts from which the columns were computed.
type columnsKnown struct {
	of    *modelfilter.ProviderSnapshot
	info  []llm.ModelInfo
	known []column
}

const (
	nameCells    = 20 // minimum width of the name in a table
	minRuleCells = 8  // minimum width of the rule's pattern, if there is room
	maxRuleCells = 20
	tableCells   = modelLead + nameCells
)

// columnsIn returns the columns that fit in a row of w cells; none until the facts have
// been read.
func (p *Pane) columnsIn(w int) []column {
	known := p.knownColumns()
	room, n := w-tableCells, 0
	for n < len(known) && room >= known[n].width+columnGap {
		room -= known[n].width + columnGap
		n++
	}
	return known[:n]
}

// knownColumns returns the columns that have a value for at least one model.
func (p *Pane) knownColumns() []column {
	k, d := &p.columns, &p.data
	same := func() bool { return len(k.info) == len(d.Info) && len(d.Info) > 0 && &k.info[0] == &d.Info[0] }
	switch {
	case k.of == d.ProviderSnapshot:
		return k.known
	case k.of != nil && same() && k.of.SameUse(d.ProviderSnapshot):
		k.of = d.ProviderSnapshot
		return k.known
	}
	k.of, k.info, k.known = d.ProviderSnapshot, d.Info, nil
	if d.Info == nil {
		return nil
	}
	missing, now := slices.Clone(columns), d.Now()
	found := map[string]bool{}
	for i := 0; i < len(d.Models) && len(missing) > 0; i++ {
		m := d.Model(i)
		missing = slices.DeleteFunc(missing, func(c column) bool {
			has := c.text(&m, now) != ""
			found[c.title] = found[c.title] || has
			return has
		})
	}
	for _, c := range columns {
		if found[c.title] {
			k.known = append(k.known, c)
		}
	}
	return k.known
}

// legend explains the columns of the table of models, w cells wide.
func (p *Pane) legend(w int) string {
	if p.tabs.Open != tabModels {
		return ""
	}
	var all []string
	for _, c := range p.columnsIn(w) {
		all = append(all, c.legend)
	}
	return pane.Join(all...)
}

// head returns the lines with the column titles of the table of models.
func (p *Pane) head(w, h int) []string {
	if p.tabs.Open != tabModels || h < minRows {
		return nil
	}
	columns := p.columnsIn(w)
	if len(columns) == 0 {
		return nil
	}
	st := &p.styles
	name, _ := nameWidth(w, columns)
	pieces := []pane.Piece{{Text: style.Fit("      model"+p.sortMark(""), name, ""), Style: st.Muted}}
	for _, c := range columns {
		pieces = append(pieces, pane.Piece{Text: strings.Repeat(" ", columnGap) + right(c.title+p.sortMark(c.order), c.width), Style: st.Muted})
	}
	return []string{pane.Spread(w, style.Fit, "", pieces, nil)}
}

// nameWidth returns how many of w cells the part before the columns takes, and how many the
// pattern of the rule takes.
func nameWidth(w int, columns []column) (name, rule int) {
	name = w - len(" x ") // the icon of the rule, and a blank before the border
	for _, c := range columns {
		name -= c.width + columnGap
	}
	if room := name - tableCells; room > minRuleCells {
		rule = min(room, maxRuleCells)
	}
	return name - rule, rule
}

// right right-aligns text in w cells.
func right(text string, w int) string {
	return style.Fit(strings.Repeat(" ", max(0, w-style.Width(text)))+text, w, "")
}

// tablePieces returns the row of a model in a table; left contains the icons and the name.
func (p *Pane) tablePieces(left []pane.Piece, i, w int, columns []column) []pane.Piece {
	st, icons, m := &p.styles, &p.st.Icons, p.data.Models[i]
	known, now, ink := p.data.Model(i), p.data.Now(), st.Count
	if m.Status == engine.Ignored {
		ink = st.Muted
	}
	name := &left[len(left)-1]
	room, ruleCells := nameWidth(w, columns)
	room -= len("xxxxx") // the cursor, two icons, and the rule's icon with a blank
	mark := ""
	if m.New {
		mark = " NEW"
	}
	name.Text = pane.FitName(name.Text, room-len(mark), icons.Ellipsis)
	left = append(left, pane.Piece{Text: mark, Style: st.Pending})
	for _, c := range columns {
		left = append(left, pane.Piece{Text: strings.Repeat(" ", columnGap) + right(c.text(&known, now), c.width), Style: ink})
	}
	rule, look := "  ", st.Text
	switch {
	case m.Unfiltered:
		rule, look = " "+signWarn.in(icons), st.Warn
	case m.Index >= 0:
		var icon string
		icon, look = p.colour(m.List, m.Index)
		rule = " " + icon
		if ruleCells > 0 {
			rule += " " + style.Truncate(pane.Visible(m.Rule), ruleCells-1, icons.Ellipsis)
		}
	}
	return append(left, pane.Piece{Text: rule, Style: look})
}

// aboutFacts returns the facts about a model that do not fit in the table.
func (p *Pane) aboutFacts(i int) string {
	if p.data.Info == nil {
		return ""
	}
	known, now := p.data.Model(i), p.data.Now()
	var out []string
	if in, price := known.Info.Facts.PriceIn, known.Info.Facts.PriceOut; in.Known || price.Known {
		out = append(out, fmt.Sprintf("$%s in, $%s out per million tokens", orUnknown(in.String()), orUnknown(price.String())))
	}
	if c := contextText(known.Info); c != "" {
		out = append(out, c+" context")
	}
	out = append(out, abilities(known.Info, true))
	f := known.Info.Facts
	if f.Released != "" {
		out = append(out, "released "+f.Released)
	}
	if f.Status != "" && f.Status != llm.StatusActive {
		out = append(out, string(f.Status))
	}
	if known.UseKnown {
		use := requests(&known, now) + " requests"
		if known.Use.Requests == 1 {
			use = "1 request"
		}
		if !known.Use.Last.IsZero() {
			use += ", last used " + lastUse(&known, now) + " ago"
		}
		out = append(out, use)
	}
	if from := modelfilter.SourceWords(known.Info.Source); from != "" && len(out) > 0 {
		out = append(out, "facts "+from)
	}
	return pane.Visible(pane.Join(nonEmpty(out...)...))
}

func orUnknown(text string) string {
	if text == "" {
		return "?"
	}
	return text
}

// sortMark returns the mark that follows the title of the column by which the models are
// sorted.
func (p *Pane) sortMark(order string) string {
	switch {
	case p.sorting.order != order:
		return ""
	case p.sorting.reversed == (order != ""):
		return signSortedUp.in(&p.st.Icons)
	}
	return signSortedDown.in(&p.st.Icons)
}

// pickOrder lets the user choose the order of the models. Choosing the current order again
// reverses it.
func (p *Pane) pickOrder() pane.Action {
	if p.tabs.Open != tabModels {
		p.openTab(tabModels)
	}
	entries := []overlay.Entry{{Value: "name", Text: "name"}}
	for _, o := range modelfilter.Orders() {
		entries = append(entries, overlay.Entry{Value: o.Name, Text: o.Title})
	}
	for i, e := range entries {
		if e.Value == p.sorting.order || e.Value == "name" && p.sorting.order == "" {
			entries[i].Mark, entries[i].Extra = p.st.Icons.ToolOK, "again to reverse"
		}
	}
	return pane.Pick{Title: "Sort the models by", Entries: entries, Then: func(name string) pane.Action {
		if name == "name" {
			name = ""
		}
		p.sorting = sorting{order: name, reversed: p.sorting.order == name && !p.sorting.reversed}
		p.openTab(tabModels)
		return pane.Nothing{}
	}}
}
