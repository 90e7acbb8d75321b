package rules

import (
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/adapters/modelfilter/models"
	"winnow/assistant"
	"winnow/assistant/windowlock"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
)

const (
	minRows  = 12 // rows of the list that stay visible if the foot takes more than half of the pane
	footRows = 6  // lines that a short list leaves empty and the foot may use
)

// Ranks of notes. Notes with a higher rank are left out first; the input and the bar have rank
// 0, all other notes have ranks 1 to 8.
const (
	rankAbout     = 5
	rankSeparator = 9  // the separator and the hints
	rankSource    = 10 // where the models come from
	rankLegend    = 11 // what the columns mean
)

// foot draws what is below the list. It usually takes at most half of the pane, but always
// at least one line, for the text line. The text about the row under the cursor may use the
// lines that a short list leaves empty, but takes no lines from a long list.
func (p *Pane) foot(w, h int) []string {
	if h <= 1 && !p.Typing() {
		return nil
	}
	ellipsis, empty := p.st.Icons.Ellipsis, h-len(p.tabs.List().Rows)
	limit := max(h/2, h-minRows, min(footRows, empty), 1)
	if p.tabs.Open == tabAll {
		limit = max(h/3, 1)
	}
	if p.Typing() {
		return pane.LayoutNotes(p.typingNotes(w, h), w, limit, ellipsis)
	}
	needed := len(pane.LayoutNotes(p.idleNotes(w, h, max(1, h/8, h/3-6)), w, limit, ellipsis))
	return pane.LayoutNotes(p.idleNotes(w, h, h), w, max(needed, min(empty, limit, max(h/2, footRows))), ellipsis)
}

// separator returns the empty line above the foot.
func (p *Pane) separator(w int) pane.Note {
	return pane.Note{Rank: rankSeparator, Text: strings.Repeat(" ", max(0, w))}
}

// oneLine returns a note of one line, with a blank before the border of the pane.
func (p *Pane) oneLine(rank, w int, look style.Style, text string) pane.Note {
	return pane.Note{Rank: rank, Text: look.Render(style.Fit(text, w-1, p.st.Icons.Ellipsis) + " ")}
}

// lockedText says whose assistant has locked the rules. What escape does is said by the
// footer and the status line: the pane does not know what is open above it.
func (p *Pane) lockedText() string {
	switch {
	case p.locked():
		return "assistant is working"
	case p.holder != "":
		return windowlock.AssistantOf(pane.Visible(p.holder)) + " is working"
	}
	return "another assistant is working"
}

// idleNotes returns the foot of a pane of h lines while the user is not typing. The text
// about the row under the cursor takes at most aboutLines.
func (p *Pane) idleNotes(w, h, aboutLines int) []pane.Note {
	st, icons := &p.styles, &p.st.Icons
	notes := []pane.Note{p.separator(w)}
	if p.opts.ReadOnly != "" {
		notes = append(notes, pane.Note{Rank: 1, Text: signLock.in(icons) + " " + p.opts.ReadOnly, Style: st.Warn, MaxLines: aboutLines})
	}
	if p.data.Locked {
		notes = append(notes, p.oneLine(1, w, st.Warn, " "+signLock.in(icons)+" "+p.lockedText()))
	}
	if n := len(p.selected); n > 0 {
		notes = append(notes, p.oneLine(3, w, st.Pending, " "+signTicked.in(icons)+" "+pane.Join(fmt.Sprintf("%d selected", n), p.selectedHint())))
	}
	if p.query != "" && p.tabs.Open != tabChanges {
		notes = append(notes, p.oneLine(4, w, st.Text, fmt.Sprintf(" / %s · %s", pane.Visible(p.query), p.hitCount())))
	}
	if text, short := p.aboutRow(); text != "" {
		notes = append(notes, pane.Note{Rank: rankAbout, Text: text, Short: short, Style: st.Muted, MaxLines: aboutLines})
	}
	if p.tabs.Open == tabAll { // the rows of this tab contain the numbers
		return notes
	}
	notes = append(notes, pane.Note{Text: p.bar(w)})
	notes = append(notes, p.warnings(w)...)
	if text := p.legend(w); text != "" && h >= 2*minRows { // in a low pane, the list needs the lines of the legend
		notes = append(notes, pane.Note{Rank: rankLegend, Text: text, Style: st.Muted, MaxLines: 3})
	}
	return append(notes, p.oneLine(rankSource, w, st.Muted, " "+p.modelSource(w-1)))
}

func (p *Pane) selectedHint() string {
	if p.tabs.Open == tabRules {
		return p.keys.Hint(keymap.DeleteRule, "deletes them")
	}
	return pane.Join(p.keys.Hint(keymap.AddIgnore, "hides"), p.keys.Hint(keymap.AddAllow, "allows"))
}

// hitCount says how many rules or models the search found, or what is wrong with the query.
func (p *Pane) hitCount() string {
	if p.tabs.Open != tabRules {
		if p.filter.problem != "" {
			return pane.Visible(p.filter.problem)
		}
		known := len(p.data.Models)
		if p.tabs.Open == tabAll {
			sum, _ := sumNumbers(p.data.Providers)
			known = sum.Counts.Total
		}
		text := fmt.Sprintf("%d of %s", p.hits(), assistant.Counted(known, "model"))
		if p.filter.unknown > 0 {
			text += fmt.Sprintf(" · %d unknown", p.filter.unknown)
		}
		return text
	}
	return assistant.Counted(p.hits(), "rule")
}

// barCells is the width of the bar if there is enough room. If there is room for less than
// a third of it, only the numbers are shown.
const barCells = 12

// bar returns the bar that shows the share of available models, with the numbers.
func (p *Pane) bar(w int) string {
	c, st, icons := p.data.Counts, &p.styles, &p.st.Icons
	if c.Total == 0 {
		return st.Muted.Render(style.Fit(" no models are known", w, icons.Ellipsis))
	}
	short := fmt.Sprintf("%d of %d shown", c.Shown, c.Total)
	text := short
	if c.Hidden > 0 {
		text += fmt.Sprintf(" · %d hidden", c.Hidden)
	}
	cells := min(barCells, w-style.Width(text)-3) // a blank before the bar, one after it, one before the border
	if cells < barCells/3 {
		return st.Count.Render(style.Fit(" "+pane.FirstFitting(w-2, text, short), w-1, icons.Ellipsis) + " ")
	}
	full := c.Shown * cells / c.Total
	switch { // each share above zero gets at least one cell
	case full == 0 && c.Shown > 0:
		full = 1
	case full == cells && c.Hidden > 0:
		full = cells - 1
	}
	return pane.Spread(w, style.Fit, icons.Ellipsis, []pane.Piece{
		{Text: " ", Style: st.Text},
		{Text: strings.Repeat(signBarShown.in(icons), full), Style: st.BarShown},
		{Text: strings.Repeat(signBarHidden.in(icons), cells-full), Style: st.BarHidden},
		{Text: " " + text, Style: st.Count},
	}, nil)
}

// warnings returns notes about what the user should not overlook.
func (p *Pane) warnings(w int) []pane.Note {
	d, st, icons := &p.data, &p.styles, &p.st.Icons
	var notes []pane.Note
	warn := func(rank int, text string) {
		notes = append(notes, p.oneLine(rank, w, st.Warn, " "+signWarn.in(icons)+" "+text))
	}
	if drift := d.Drift; drift.Any() {
		warn(6, fmt.Sprintf("proxy: %d missing, %d extra · restart it", len(drift.Missing), len(drift.Extra)))
	}
	if n := d.Counts.Unfiltered; n > 0 {
		warn(6, fmt.Sprintf("%s not filtered: no prefix %s/", assistant.Counted(n, "model"), pane.Visible(d.Provider)))
	}
	for _, problem := range []string{d.Source.Err, d.UseProblem} {
		if problem != "" {
			warn(7, pane.Visible(problem))
		}
	}
	if n := d.Counts.New; n > 0 && p.tabs.Open != tabModels {
		text := " " + signNew.in(icons) + " " + pane.Join(assistant.Counted(n, "new model"), p.keys.Hint(keymap.NextTab, "shows them"))
		notes = append(notes, p.oneLine(8, w, st.Pending, text))
	}
	return notes
}

// modelSource says in at most w cells where the list of models comes from.
func (p *Pane) modelSource(w int) string {
	s := p.data.Source
	text := p.data.SourcesText
	if text == "" {
		return p.keys.Hint(keymap.RefreshModels, "asks for the models")
	}
	if !s.At.IsZero() {
		text += " " + s.At.Local().Format("2006-01-02 15:04")
	}
	if s.Partial {
		text += ", may be incomplete"
	}
	return pane.FirstFitting(w, "models "+text, text)
}

// aboutCache caches the text about a row, because the text about a rule requires a preview
// of removing the rule.
type aboutCache struct {
	of          *modelfilter.ProviderSnapshot
	rowID       string
	text, short string
}

// aboutRow returns what does not fit in the row under the cursor. If possible, short omits
// the name at the start of the row.
func (p *Pane) aboutRow() (text, short string) {
	r, ok := p.tabs.List().Current()
	if !ok {
		return "", ""
	}
	d := &p.data
	switch r.kind {
	case rowProvider, rowSum:
		return p.aboutProvider(r)
	case rowNews:
		n, _ := p.newsAt(r)
		hints := p.keys.Hint(keymap.PaneHighlight, "marks the changes of "+pane.Visible(n.Provider)+" as seen")
		if n.Kind != models.Vanished {
			hints = pane.Join(p.keys.Hint(keymap.AddIgnore, "hides it"), p.keys.Hint(keymap.AddAllow, "allows it"), hints)
		}
		return pane.Join(n.Text(), hints), hints
	case rowNotice:
		return p.notice(r.index)
	case rowFinding:
		return p.aboutFinding(p.findings()[r.index]), ""
	case rowChange:
		return p.aboutChange(d.Unsaved[r.index]), ""
	case rowRemoved:
		return pane.Join(listAndPattern(r.list, d.Removed[r.list][r.index])+": deleted, not saved yet", p.keys.Hint(keymap.DeleteRule, "undoes it")), ""
	case rowChild:
		text = "decided by the highlighted rule " + pane.Visible(p.highlight.rule.Pattern)
		return pane.Visible(d.Name(r.text)) + ": " + text, text
	case rowRule, rowModel:
		id := p.rowID(r)
		if p.about.of != d.ProviderSnapshot || p.about.rowID != id {
			name, text := "", ""
			if r.kind == rowRule {
				name, text = p.aboutRule(d.Rules[r.list][r.index])
			} else {
				name, text = p.aboutModel(r.index)
			}
			p.about = aboutCache{of: d.ProviderSnapshot, rowID: id, text: name + ": " + text, short: text}
		}
		return p.about.text, p.about.short
	default:
	}
	return "", ""
}

// aboutRule says where a rule comes from and what it does; name is the name of the rule.
func (p *Pane) aboutRule(r modelfilter.RuleView) (name, text string) {
	name = listAndPattern(r.List, r.Pattern)
	from := "unsaved"
	if r.Source != "" {
		from = pane.Visible(r.Source)
	}
	text = fmt.Sprintf("%s · %d match, %d %s by this rule", from, r.Matches, r.Decides, effectOf(r.List))
	if r.Dead {
		text = from + " · matches no known model"
	}
	if r.Fixed {
		return name, text + " · cannot be edited here"
	}
	if r.Dead {
		return name, text
	}
	switch c := p.data.PreviewRemove(r.List, r.Index); {
	case len(c.Shown) > 0:
		text += fmt.Sprintf(" · without it %s would be shown", assistant.Counted(len(c.Shown), "more model"))
	case len(c.Hidden) > 0:
		text += fmt.Sprintf(" · without it %s would be hidden", assistant.Counted(len(c.Hidden), "more model"))
	default:
		text += " · without it nothing would change"
	}
	return name, text
}

// effectOf says what a rule of a list does to the models that it decides.
func effectOf(l modelfilter.List) string {
	if l == modelfilter.Allow {
		return "shown"
	}
	return "hidden"
}

// aboutChange describes the effect of an unsaved change on the models of the current
// provider.
func (p *Pane) aboutChange(c modelfilter.RuleChange) string {
	what := "deleted"
	if c.Added {
		what = "added"
		if r, ok := p.data.Rule(c.List, c.Pattern); ok && c.Provider == p.data.Provider {
			what += fmt.Sprintf(", %s %s", assistant.Counted(r.Decides, "model"), effectOf(c.List))
		}
	}
	return pane.Join(listAndPattern(c.List, c.Pattern)+": "+what, p.keys.Hint(keymap.DeleteRule, "undoes it"))
}

// aboutModel returns the name of a model, its status and the reason for the status.
func (p *Pane) aboutModel(i int) (name, text string) {
	m := p.data.Models[i]
	name = pane.Visible(m.ID)
	switch {
	case m.Unfiltered:
		return name, "not filtered by the proxy: its id does not begin with " + pane.Visible(p.data.Provider) + "/"
	case m.Status == engine.Ignored:
		text = "hidden by ignore " + pane.Visible(m.Rule)
	case m.Status == engine.Whitelisted:
		text = "allowed by " + pane.Visible(m.Rule)
	default:
		text = "shown: no rule matches"
	}
	if rule, ok := p.data.Rule(m.List, m.Rule); ok && m.Index >= 0 && rule.Source != "" {
		text += " (" + pane.Visible(rule.Source) + ")"
	}
	var also []string
	for _, r := range p.data.Explain(m.ID).Rules {
		if !r.Decides {
			also = append(also, listAndPattern(r.List, r.Pattern))
		}
	}
	if len(also) > 0 {
		text += " · also matched by " + firstOf(also, 3)
	}
	return name, pane.Join(text, p.aboutFacts(i))
}

// aboutFinding says what is wrong with a rule and what the user can do about it.
func (p *Pane) aboutFinding(f engine.Finding) string {
	rule, by := listAndPattern(f.List, f.Pattern), listAndPattern(f.ByList, f.By)
	open, remove := p.keys.Hint(keymap.PaneHighlight, "shows the rule"), p.keys.Hint(keymap.DeleteRule, "deletes it")
	switch {
	case f.Kind == engine.Dead:
		return pane.Join(rule+" matches no known model", remove)
	case f.Kind == engine.Shadowed && f.By == "":
		return pane.Join(rule+" matches only models that other rules hide or allow", open)
	case f.Kind == engine.Shadowed:
		return pane.Join(rule+" has no effect: "+by+" comes first", open)
	case f.Kind == engine.Redundant:
		return pane.Join(rule+" is redundant: "+by+" covers it", remove)
	}
	return rule + " may be redundant: winnow cannot tell whether " + by + " covers it"
}

func listAndPattern(list modelfilter.List, pattern string) string {
	return list.String() + " " + pane.Visible(pattern)
}

// firstOf returns the first n names, and how many other names there are.
func firstOf(names []string, n int) string {
	text := strings.Join(names[:min(len(names), n)], ", ")
	if more := len(names) - n; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
