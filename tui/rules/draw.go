package rules

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// inks are the styles of the pane.
type inks struct {
	Title, Text, Count, Muted, Ignore, Allow, Pending, Shadowed, Dead pane.CompiledStyle
	Highlight, Selected, BarAvailable, BarHidden, Warn, Add, Remove   pane.CompiledStyle
	Cursor, Line                                                      pane.CompiledStyle
	Wheel                                                             []pane.CompiledStyle
}

func newInks(st style.Styles) inks {
	r, ink := st.Rules, pane.CompileStyle
	i := inks{
		Title: ink(r.Title), Text: ink(r.Text), Count: ink(r.Count), Muted: ink(r.Muted), Ignore: ink(r.Ignore), Allow: ink(r.Allow),
		Pending: ink(r.Pending), Shadowed: ink(r.Shadowed), Dead: ink(r.Dead), Highlight: ink(r.Highlight), Selected: ink(r.Selected),
		BarAvailable: ink(r.BarAvailable), BarHidden: ink(r.BarHidden), Warn: ink(r.Warn), Add: ink(st.Diff.Add), Remove: ink(st.Diff.Remove),
		Cursor: ink(r.Text.Reverse(true)), Line: ink(st.Border.Idle),
	}
	for _, w := range r.RuleColours {
		i.Wheel = append(i.Wheel, ink(w))
	}
	return i
}

// assignColours gives each rule that is new to the pane the next rule colour. A
// rule keeps its colour when rules before it come and go.
func (p *Pane) assignColours() {
	known := p.colours[p.data.provider]
	if known == nil {
		known = map[string]int{}
		p.colours[p.data.provider] = known
	}
	for _, list := range lists {
		for _, r := range p.data.rules[list] {
			if key := ruleKey(list, r.Pattern); known[key] == 0 {
				known[key] = len(known) + 1
			}
		}
	}
}

// colour is the sign and the ink of a rule of the provider.
func (p *Pane) colour(list modelfilter.List, pattern string) (sign string, ink pane.CompiledStyle) {
	at := max(0, p.colours[p.data.provider][ruleKey(list, pattern)]-1) % len(p.inks.Wheel)
	return p.st.Icons.RuleIcons[at], p.inks.Wheel[at]
}

// frame is the last frame and what it was drawn for: as long as nothing changes,
// streaming beside the pane costs the pane nothing.
type frame struct {
	w, h           int
	version, inbox int64
	lines          []string
}

// Lines implements pane.Pane.
func (p *Pane) Lines(w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	_, inbox := p.inbox.get()
	if f := &p.frame; f.lines == nil || f.w != w || f.h != h || f.version != p.version || f.inbox != inbox {
		border := pane.Frame{Styles: &p.st, Focused: p.focus, Titles: p.titles()}
		lines := p.tabs.Draw(border, w, h, pane.DrawFuncs[row]{Row: p.drawRow, Foot: p.foot})
		p.frame = frame{w: w, h: h, version: p.version, inbox: inbox, lines: lines}
	}
	return append([]string(nil), p.frame.lines...)
}

func (p *Pane) titles() []string {
	out := make([]string, tabCount)
	for t, name := range tabNames {
		out[t] = name.title
	}
	if n := len(p.data.diff); n > 0 {
		out[tabChanges] += " " + p.st.Icons.Unsaved + strconv.Itoa(n)
	}
	return out
}

// wideRow is from how many cells on a row spells its numbers out.
const wideRow = 34

// drawRow draws a row in w cells.
func (p *Pane) drawRow(r row, current bool, w int) string {
	left, right := p.pieces(r, w)
	lead := " "
	if current {
		lead = p.st.Icons.Selected
	}
	left = append([]pane.Piece{{Text: lead, Style: p.inks.Text}}, left...)
	if len(right) > 0 {
		right = append(right, pane.Piece{Text: " ", Style: p.inks.Text})
	}
	if current && p.focus {
		for _, pieces := range [][]pane.Piece{left, right} {
			for i := range pieces {
				pieces[i].Style = p.inks.Selected
			}
		}
	}
	cut := textwidth.Fit
	if r.isName() {
		cut = pane.FitName
	}
	return pane.Spread(w, cut, p.st.Icons.Ellipsis, left, right)
}

// pieces are what a row shows at the left and at the right.
func (p *Pane) pieces(r row, w int) (left, right []pane.Piece) {
	d, in, icons := &p.data, &p.inks, &p.st.Icons
	switch r.kind {
	case rowHead:
		return p.headPieces(r)
	case rowNone:
		return []pane.Piece{{Text: "  " + p.emptyList(r.list, w-len("   ")), Style: in.Muted}}, nil
	case rowRule:
		return p.rulePieces(d.rules[r.list][r.at], w)
	case rowRemoved:
		return []pane.Piece{{Text: " ", Style: in.Text}, {Text: icons.Remove, Style: in.Pending}, {Text: "  " + pane.Visible(d.removed[r.list][r.at]), Style: in.Dead}},
			[]pane.Piece{{Text: "deleted", Style: in.Pending}}
	case rowChild:
		return []pane.Piece{{Text: "     " + pane.Visible(d.name(r.text)), Style: in.Highlight}}, nil
	case rowModel:
		return p.modelPieces(d.models[r.at], w)
	case rowNew:
		return []pane.Piece{{Text: icons.New + " " + assistant.Counted(d.counts.New, "new model"), Style: in.Title}},
			[]pane.Piece{{Text: p.keys.Hint("pane-highlight", "marks seen"), Style: in.Muted}}
	case rowChange:
		c := d.diff[r.at]
		sign, ink := icons.Remove, in.Remove
		if c.Added {
			sign, ink = icons.Add, in.Add
		}
		return []pane.Piece{{Text: sign + " ", Style: ink}, {Text: listColumn(modelfilter.ListOf(c)), Style: in.Muted}, {Text: pane.Visible(c.Pattern), Style: ink}}, nil
	case rowFinding:
		return p.findingPieces(p.findings()[r.at])
	case rowNotice:
		return []pane.Piece{{Text: icons.Warn + " ", Style: in.Warn}, {Text: pane.Visible(p.shortNotice(d.notices[r.at])), Style: in.Text}}, nil
	default:
	}
	return []pane.Piece{{Text: r.text, Style: in.Muted}}, nil
}

// emptyList explains a list without rules.
func (p *Pane) emptyList(list modelfilter.List, w int) string {
	hint := p.keys.Hint("add-ignore", "adds one: it hides models")
	if list == modelfilter.Allow {
		hint = p.keys.Hint("add-allow", "adds one: it shows models")
	}
	return pane.FirstFitting(w, pane.Join("none", hint), "none")
}

// headPieces are the name of a group, and how much of a list is unsaved.
func (p *Pane) headPieces(r row) (left, right []pane.Piece) {
	in, icons := &p.inks, &p.st.Icons
	if p.tabs.Open != tabRules {
		return []pane.Piece{{Text: r.text, Style: in.Title}}, nil
	}
	left = []pane.Piece{{Text: r.text, Style: p.listInk(r.list)}}
	if source := p.data.fixed[r.list]; source != "" {
		left = append(left, pane.Piece{Text: "  " + icons.Lock + " " + source, Style: in.Warn})
	}
	text := ""
	if n := p.data.added[r.list]; n > 0 {
		text = icons.Add + strconv.Itoa(n)
	}
	if n := len(p.data.removed[r.list]); n > 0 {
		text += " " + icons.Remove + strconv.Itoa(n)
	}
	return left, []pane.Piece{{Text: text, Style: in.Pending}}
}

func (p *Pane) listInk(list modelfilter.List) pane.CompiledStyle {
	if list == modelfilter.Allow {
		return p.inks.Allow
	}
	return p.inks.Ignore
}

func (p *Pane) rulePieces(r modelfilter.RuleView, w int) (left, right []pane.Piece) {
	in, icons := &p.inks, &p.st.Icons
	sign, colour := p.colour(r.List, r.Pattern)
	mark, pending, name := " ", " ", in.Text
	if p.selected[ruleKey(r.List, r.Pattern)] {
		mark = icons.Ticked
	}
	if r.Unsaved {
		pending = icons.Add
	}
	if p.data.isHighlighted(r) {
		name = in.Highlight
	}
	wide, short, ink := assistant.Counted(r.Decides, "model"), strconv.Itoa(r.Decides), in.Count
	switch {
	case r.Dead:
		wide, short, ink, name = icons.Dead+" matches none", icons.Dead+" 0", in.Muted, in.Dead
	case r.Shadowed:
		wide = icons.Shadowed + " 0 of " + strconv.Itoa(r.Matches)
		short, ink, name = wide, in.Shadowed, in.Shadowed
	case r.Decides != r.Matches:
		wide = fmt.Sprintf("%d of %s", r.Decides, assistant.Counted(r.Matches, "model"))
		short = fmt.Sprintf("%d of %d", r.Decides, r.Matches)
	}
	if w < wideRow {
		wide = short
	}
	return []pane.Piece{
		{Text: mark, Style: in.Pending},
		{Text: pending, Style: in.Pending},
		{Text: icons.RuleBar + sign + " ", Style: colour},
		{Text: pane.Visible(r.Pattern), Style: name},
	}, []pane.Piece{{Text: wide, Style: ink}}
}

// modelLead is how many cells of a model's row the cursor, the signs and the
// gaps take.
const modelLead = 8

func (p *Pane) modelPieces(m modelfilter.ModelView, w int) (left, right []pane.Piece) {
	in, icons := &p.inks, &p.st.Icons
	mark, lit, name := " ", " ", in.Text
	if p.selected[modelKey(m.ID)] {
		mark = icons.Ticked
	}
	sign, ink := icons.Available, in.BarAvailable
	switch m.Status {
	case engine.Ignored:
		sign, ink, name = icons.Hidden, in.BarHidden, in.Muted
	case engine.Whitelisted:
		sign, ink = icons.Allow, in.Allow
	default:
	}
	if p.data.lit[m.ID] {
		lit, name = icons.Bullet, in.Highlight
	}
	id := pane.Visible(p.data.name(m.ID))
	left = []pane.Piece{{Text: mark, Style: in.Pending}, {Text: lit, Style: in.Highlight}, {Text: sign + " ", Style: ink}, {Text: id, Style: name}}
	if would := p.wouldBecome(m); would != "" {
		return left, []pane.Piece{{Text: would, Style: in.Warn}}
	}
	switch {
	case m.Unfiltered && w < wideRow:
		right = []pane.Piece{{Text: icons.Warn, Style: in.Warn}}
	case m.Unfiltered:
		right = []pane.Piece{{Text: icons.Warn + " not filtered", Style: in.Warn}}
	case m.Index >= 0:
		sign, colour := p.colour(m.List, m.Rule)
		right = []pane.Piece{{Text: sign, Style: colour}}
		rule := " " + textwidth.Truncate(pane.Visible(m.Rule), w/3, icons.Ellipsis)
		if w >= wideRow && ansi.StringWidth(rule) <= w-ansi.StringWidth(id)-modelLead { // the name comes first
			right = append(right, pane.Piece{Text: rule, Style: colour})
		}
	}
	if m.New {
		gap := ""
		if len(right) > 0 {
			gap = " "
		}
		right = append([]pane.Piece{{Text: "NEW" + gap, Style: in.Pending}}, right...)
	}
	return left, right
}

// findingPieces are a rule and what is odd about it.
func (p *Pane) findingPieces(f engine.Finding) (left, right []pane.Piece) {
	in, icons := &p.inks, &p.st.Icons
	sign, ink, why := icons.Warn, in.Warn, f.Kind.String()
	switch f.Kind {
	case engine.Dead:
		sign, ink, why = icons.Dead, in.Muted, "matches none"
	case engine.Shadowed:
		sign, ink, why = icons.Shadowed, in.Shadowed, "decides none"
	case engine.Redundant:
		sign, why = icons.Shadowed, "redundant"
	case engine.Undecided:
		why = "may be redundant"
	}
	return []pane.Piece{{Text: sign + " ", Style: ink}, {Text: listColumn(f.List), Style: in.Muted}, {Text: pane.Visible(f.Pattern), Style: in.Text}},
		[]pane.Piece{{Text: why, Style: ink}}
}

// shortNotice is a notice with the name of the file in place of its path.
func (p *Pane) shortNotice(text string) string {
	if p.data.file == "" {
		return text
	}
	return strings.ReplaceAll(text, p.data.file, filepath.Base(p.data.file))
}

// listColumn is the name of a list in a column of its own.
func listColumn(list modelfilter.List) string {
	return textwidth.Fit(list.String(), len("ignore "), "")
}
