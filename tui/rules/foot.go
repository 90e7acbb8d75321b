package rules

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
)

// note is a line of the foot. Where there is no room for all, those with the
// highest rank give way.
type note struct {
	rank int
	text string // exactly as wide as the pane
}

// foot is what stands below the list: at most half of the pane, and the line
// that is typed in any case.
func (p *Pane) foot(w, h int) []string {
	notes := p.restNotes(w, h)
	if p.line.what != lineNone {
		notes = p.typingNotes(w, h)
	}
	budget := max(h/2, h-rowsWanted)
	if budget > len(notes) && len(notes) > 0 {
		notes = append([]note{{text: p.separator(w)}}, notes...)
	}
	if h <= 1 && p.line.what == lineNone {
		return nil
	}
	budget = max(budget, 1)
	for len(notes) > budget {
		worst := 0
		for i, n := range notes {
			if n.rank >= notes[worst].rank {
				worst = i
			}
		}
		notes = append(notes[:worst], notes[worst+1:]...)
	}
	lines := make([]string, len(notes))
	for i, n := range notes {
		lines[i] = n.text
	}
	return lines
}

// rowsWanted is how many rows the list keeps before the foot may take more than
// half of the pane.
const rowsWanted = 12

func (p *Pane) separator(w int) string {
	return p.paint.Line.on(strings.Repeat(p.st.Icons.Rule, w))
}

// one is a note of one line.
func (p *Pane) one(rank, w int, st ink, text string) note {
	return note{rank, st.on(fit(text, w, p.st.Icons.Ellipsis))}
}

// several are notes of a text that is wrapped into at most n lines; the first
// line has the rank, the others give way before it.
func (p *Pane) several(rank, w, n int, st ink, text string) []note {
	var out []note
	for i, l := range wrap(text, w-1, n, p.st.Icons.Ellipsis) {
		out = append(out, note{rank + i, st.on(" " + l)})
	}
	return out
}

// restNotes are the foot while nothing is typed.
func (p *Pane) restNotes(w, h int) []note {
	d, st, icons := &p.data, &p.paint, &p.st.Icons
	var notes []note
	if d.locked {
		notes = append(notes, p.one(1, w, st.Warn, " "+icons.Lock+" "+modelfilter.ErrLocked.Error()))
	}
	if n := len(p.marked); n > 0 {
		notes = append(notes, p.one(3, w, st.Pending, fmt.Sprintf(" %s %d selected · %s", icons.Marked, n, p.markedHint())))
	}
	if p.query != "" {
		notes = append(notes, p.one(4, w, st.Text, fmt.Sprintf(" / %s · %s", shown(p.query), p.hits())))
	}
	notes = append(notes, p.several(5, w, max(1, h/8), st.Muted, p.aboutRow())...)
	notes = append(notes, note{0, p.bar(w)})
	notes = append(notes, p.warnings(w)...)
	return append(notes, p.one(9, w, st.Muted, " "+p.sourceWords()))
}

func (p *Pane) markedHint() string {
	if p.tab == tabRules {
		return "x deletes them"
	}
	return "i hides, w keeps them"
}

// hits says how many rows the search left.
func (p *Pane) hits() string {
	n := p.views[p.tab].hits
	if p.tab == tabModels {
		return fmt.Sprintf("%d of %s", n, count(len(p.data.models), "model"))
	}
	return count(n, "rule")
}

// barCells is how wide the bar of the share is where there is room; with less
// than a third of it the numbers say more.
const barCells = 12

// bar is the share of models that is available, with the numbers.
func (p *Pane) bar(w int) string {
	c, st, icons := p.data.counts, &p.paint, &p.st.Icons
	if c.Total == 0 {
		return st.Muted.on(fit(" no models known", w, icons.Ellipsis))
	}
	text := fmt.Sprintf("%d of %d available", c.Available, c.Total)
	if c.Hidden > 0 {
		text += fmt.Sprintf(" · %d hidden", c.Hidden)
	}
	cells := min(barCells, w-ansi.StringWidth(text)-2)
	if cells < barCells/3 {
		return st.Count.on(fit(" "+fmt.Sprintf("%d of %d available", c.Available, c.Total), w, icons.Ellipsis))
	}
	full := c.Available * cells / c.Total
	switch { // one model is seen, on either side
	case full == 0 && c.Available > 0:
		full = 1
	case full == cells && c.Hidden > 0:
		full = cells - 1
	}
	return spread(w, icons.Ellipsis, []piece{{" ", st.Text}, {strings.Repeat(icons.BarFull, full), st.BarAvailable},
		{strings.Repeat(icons.BarEmpty, cells-full), st.BarHidden}, {" " + text, st.Count}}, nil)
}

// warnings are what the user should not overlook.
func (p *Pane) warnings(w int) []note {
	d, st, icons := &p.data, &p.paint, &p.st.Icons
	var notes []note
	if p.inbox.theirs() != nil {
		notes = append(notes, p.one(2, w, st.Warn, " "+icons.Warn+" "+shown(base(d.file))+" was changed by someone else · D"))
	}
	if drift := p.inbox.driftOf(d.provider); drift.Any() {
		notes = append(notes, p.one(6, w, st.Warn, fmt.Sprintf(" %s proxy serves others: %d missing, %d extra · restart it",
			icons.Warn, len(drift.Missing), len(drift.Extra))))
	}
	if n := d.counts.Unfiltered; n > 0 {
		notes = append(notes, p.one(6, w, st.Warn, fmt.Sprintf(" %s %s not filtered: not %s/…", icons.Warn, count(n, "model"), shown(d.provider))))
	}
	if d.source.Err != "" {
		notes = append(notes, p.one(7, w, st.Warn, " "+icons.Warn+" "+shown(d.source.Err)))
	}
	if n := d.counts.New; n > 0 && p.tab != tabModels {
		notes = append(notes, p.one(8, w, st.Pending, fmt.Sprintf(" %s %s · ] shows them", icons.New, count(n, "new model"))))
	}
	return notes
}

// sourceWords say where the list of models comes from.
func (p *Pane) sourceWords() string {
	s := p.data.source
	words := map[string]string{
		"live": "models from the provider", "proxy": "models from the proxy", "cache": "models as they were",
		"catalogue": "models of the built-in list",
	}[s.Source]
	if words == "" {
		return "ctrl+r asks for the models"
	}
	if !s.At.IsZero() {
		words += " " + s.At.Local().Format("2006-01-02 15:04")
	}
	if s.Partial {
		words += ", maybe not all"
	}
	return words
}

// about is what is said of the row under the cursor; it is found out once.
type about struct {
	revision int64
	key      string
	text     string
}

// aboutRow says of the row under the cursor what the row has no room for.
func (p *Pane) aboutRow() string {
	r, ok := p.at()
	if !ok {
		return ""
	}
	d := &p.data
	switch r.kind {
	case rowNotice:
		return shown(d.notices[r.at])
	case rowFinding:
		return p.aboutFinding(p.findings()[r.at])
	case rowChange:
		return p.aboutChange(d.diff[r.at])
	case rowRule, rowModel:
		key := p.rowKey(r)
		if p.about.revision != d.revision || p.about.key != key {
			p.about = about{revision: d.revision, key: key}
			if r.kind == rowRule {
				p.about.text = p.aboutRule(d.rules[r.list][r.at])
			} else {
				p.about.text = p.aboutModel(d.models[r.at])
			}
		}
		return p.about.text
	}
	return ""
}

func (p *Pane) aboutRule(r modelfilter.RuleView) string {
	from := "unsaved"
	if r.Source != "" {
		from = shown(r.Source)
	}
	text := fmt.Sprintf("%s %s: %s · matches %d, decides %d", r.List, shown(r.Pattern), from, r.Matches, r.Decides)
	if r.Fixed {
		return text + " · cannot be edited here"
	}
	scope, err := p.window.On(p.data.provider)
	if err != nil {
		return text
	}
	switch c := scope.PreviewRemove(r.List, r.Index); {
	case len(c.Shown) > 0:
		text += fmt.Sprintf(" · without it %s would be shown", count(len(c.Shown), "more model"))
	case len(c.Hidden) > 0:
		text += fmt.Sprintf(" · without it %s would be hidden", count(len(c.Hidden), "more model"))
	default:
		text += " · without it nothing changes"
	}
	return text
}

// aboutChange says what a staged change does to the models of the provider
// that is shown; of others ctrl+s tells.
func (p *Pane) aboutChange(c modelfilter.RuleChange) string {
	text := fmt.Sprintf("%s %s", c.List, shown(c.Pattern))
	r, ok := p.data.ruleAt(c.List, c.Pattern)
	switch {
	case !c.Added:
		text += ": deleted"
	case ok && c.Provider == p.data.provider:
		text += ": added, decides " + count(r.Decides, "model")
	default:
		text += ": added"
	}
	return text + " · x takes it back"
}

func (p *Pane) aboutModel(m modelfilter.ModelView) string {
	text := shown(m.ID)
	e := p.window.Explain(m.ID)
	var also []string
	for _, r := range e.Rules {
		if !r.Decides {
			also = append(also, r.List.String()+" "+shown(r.Pattern))
		}
	}
	switch {
	case m.Unfiltered:
		return text + ": not filtered by the proxy, its id does not begin with " + shown(p.data.provider) + "/"
	case m.Status == engine.Ignored:
		text += ": hidden by ignore " + shown(m.Rule)
	case m.Status == engine.Whitelisted:
		text += ": shown by allow " + shown(m.Rule)
	default:
		text += ": shown, no rule matches"
	}
	if rule, ok := p.data.ruleAt(m.RuleList, m.Rule); ok && m.RuleIndex >= 0 && rule.Source != "" {
		text += " (" + shown(rule.Source) + ")"
	}
	if len(also) > 0 {
		const most = 3
		more := ""
		if len(also) > most {
			more = fmt.Sprintf(" and %d more", len(also)-most)
			also = also[:most]
		}
		text += " · also matched by " + strings.Join(also, ", ") + more
	}
	return text
}

func (p *Pane) aboutFinding(f engine.Finding) string {
	rule := fmt.Sprintf("%s %s", f.List, shown(f.Pattern))
	by := fmt.Sprintf("%s %s", f.ByList, shown(f.By))
	switch {
	case f.Kind == engine.Dead:
		return rule + " matches no model that is known now · x deletes it"
	case f.Kind == engine.Shadowed && f.By == "":
		return rule + " matches models that other rules decide · enter goes to it"
	case f.Kind == engine.Shadowed:
		return rule + " decides nothing: " + by + " comes before it · enter goes to it"
	case f.Kind == engine.Redundant:
		return rule + " is covered by " + by + " · x deletes it, nothing changes"
	}
	return rule + " may be covered by " + by + ": that was not found out"
}

// typingNotes are the foot while something is typed.
func (p *Pane) typingNotes(w, h int) []note {
	st := &p.paint
	label, style := " / ", st.Text
	switch p.line.what {
	case linePattern:
		label, style = " "+p.line.list.String()+" ", st.Ignore
		if p.line.list == modelfilter.Allow {
			style = st.Allow
		}
	case lineImport:
		label = " import "
	}
	if len(label) > w/2 {
		label = label[:max(0, w/2)]
	}
	edit := style.on(label) + p.line.view(w-len(label), &p.paint)
	notes := []note{{0, edit}}
	switch p.line.what {
	case linePattern:
		notes = append(notes, p.previewNotes(w, h)...)
	case lineImport:
		notes = append(notes, p.importNotes(w)...)
	case lineSearch:
		notes = append(notes, p.one(1, w, st.Muted, " "+p.hits()+" · enter keeps it"))
	}
	return notes
}

func (p *Pane) importNotes(w int) []note {
	st := &p.paint
	if p.line.batch.size() == 0 {
		return []note{
			p.one(1, w, st.Muted, " patterns, commas between them"),
			p.one(2, w, st.Muted, " allow: before those of the allow list"),
			p.one(3, w, st.Muted, " or lines of an .env"),
		}
	}
	return []note{p.one(1, w, st.Count, " "+p.line.batch.words()), p.one(2, w, st.Muted, " enter shows them and asks")}
}

// previewNotes say what the pattern would do before it is added.
func (p *Pane) previewNotes(w, h int) []note {
	v, st, icons := &p.line.preview, &p.paint, &p.st.Icons
	list := p.line.list
	if v.pattern == "" {
		hint := " a pattern: * any run, ? one, [a-z] one of"
		return []note{p.one(1, w, st.Muted, hint), p.one(2, w, st.Muted, " "+p.recallHint())}
	}
	changed := v.change.Hidden
	if list == modelfilter.Allow {
		changed = v.change.Shown
	}
	var notes []note
	if v.refusal != nil {
		notes = append(notes, p.several(2, w, 2, st.Warn, icons.Error+" "+refusalWords(v.refusal))...)
	}
	text := fmt.Sprintf(" matches %d · %s", v.change.Matches, effectWords(list, len(changed)))
	switch {
	case p.data.counts.Total == 0:
		text = " no models are known to try it on"
	case v.change.Matches == 0:
		text = " matches no model that is known now"
	case len(changed) == 0:
		text = fmt.Sprintf(" matches %d · changes nothing", v.change.Matches)
	}
	notes = append(notes, p.one(1, w, st.Count, text))
	notes = append(notes, p.named(w, max(2, h/6), changed)...)
	if len(v.verdict.Redundant) > 0 {
		more := ""
		if v.unsure {
			more = ", maybe more"
		}
		notes = append(notes, p.several(3, w, 2, st.Muted, "makes needless: "+few(v.verdict.Redundant)+more)...)
	}
	if v.unsure && len(v.verdict.Redundant) == 0 {
		notes = append(notes, p.one(8, w, st.Muted, " enter compares it with all rules"))
	}
	if v.refusal != nil {
		return append(notes, p.one(9, w, st.Muted, " esc clears"))
	}
	return append(notes, p.one(9, w, st.Muted, " enter adds it · esc clears"))
}

func (p *Pane) recallHint() string {
	if p.line.last[p.line.what] != "" {
		return "↑ brings back what you typed"
	}
	return "esc leaves"
}

// named are the first n names of models that would change.
func (p *Pane) named(w, n int, ids []string) []note {
	st, sign := &p.paint, p.st.Icons.Hidden
	if p.line.list == modelfilter.Allow {
		sign = p.st.Icons.Available
	}
	var notes []note
	for i, id := range ids[:min(len(ids), n)] {
		text := "  " + sign + " " + shown(p.data.name(id))
		if i == n-1 && len(ids) > n {
			text = fmt.Sprintf("    and %d more", len(ids)-n+1)
		}
		notes = append(notes, p.one(4+min(i, 3), w, st.Text, text))
	}
	return notes
}

// few are the first of some patterns.
func few(patterns []string) string {
	const most = 4
	out := make([]string, 0, most)
	for _, p := range patterns[:min(len(patterns), most)] {
		out = append(out, shown(p))
	}
	text := strings.Join(out, ", ")
	if n := len(patterns) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
