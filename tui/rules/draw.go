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
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// styles contains the styles of the pane.
type styles struct {
	style.Rules
	Add, Remove, Cursor style.Style
}

func stylesOf(st *style.Styles) styles {
	return styles{st.Rules, st.Diff.Add, st.Diff.Remove, st.Rules.Text.With(ansi.AttrReverse)}
}

// colour returns the icon and the style of a rule, derived from its index in its list, so
// that every window on the file shows the same icon and style. Allow rules are numbered
// from the last style backwards, so that adding an ignore rule changes none of them.
func (p *Pane) colour(list modelfilter.List, index int) (icon string, style style.Style) {
	n := index % len(p.styles.RuleColours)
	if list == modelfilter.Allow {
		n = len(p.styles.RuleColours) - 1 - n
	}
	return p.st.Icons.RuleIcons[n], p.styles.RuleColours[n]
}

// frame is the last frame and the values it depends on. While these values are unchanged,
// the frame is reused, so that streaming in the chat costs the pane nothing.
type frame struct {
	w, h    int
	version int64
	lines   []string
}

// Lines implements pane.Pane.
func (p *Pane) Lines(w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	if f := &p.frame; f.lines == nil || f.w != w || f.h != h || f.version != p.version {
		border := pane.Frame{Styles: &p.st, Focused: p.focus, Titles: p.titles()}
		lines := p.tabs.Draw(border, w, h, pane.DrawFuncs[row]{Head: p.head, Row: p.drawRow, Foot: p.foot})
		p.frame = frame{w: w, h: h, version: p.version, lines: lines}
	}
	return append([]string(nil), p.frame.lines...)
}

func (p *Pane) titles() []string {
	out := make([]string, tabCount)
	for t, name := range tabNames {
		out[t] = name.title
	}
	if n := len(p.data.Unsaved); n > 0 {
		out[tabChanges] += " " + signChanges.in(&p.st.Icons) + strconv.Itoa(n)
	}
	return out
}

// wideRow is the minimum width of a row in which words follow the numbers.
const wideRow = 34

// drawRow draws a row in w cells.
func (p *Pane) drawRow(r row, current bool, w int) string {
	left, right := p.pieces(r, w)
	lead := " "
	if current {
		lead = p.st.Icons.Selected
	}
	left = append([]pane.Piece{{Text: lead, Style: p.styles.Text}}, left...)
	if len(right) > 0 {
		right = append(right, pane.Piece{Text: " ", Style: p.styles.Text})
	}
	cut := style.Fit
	if r.isName() {
		cut = pane.FitName
	}
	line := pane.Spread(w, cut, p.st.Icons.Ellipsis, left, right)
	if current && p.focus {
		return p.styles.Selected.Render(style.Strip(line))
	}
	return line
}

// pieces returns what a row shows on its left and on its right.
func (p *Pane) pieces(r row, w int) (left, right []pane.Piece) {
	d, st, icons := &p.data, &p.styles, &p.st.Icons
	switch r.kind {
	case rowSum, rowProvider:
		return p.providerPieces(r, w-2), nil // one cell for the cursor, one for the margin
	case rowHeading:
		return p.headingPieces(r)
	case rowEmptyList:
		return []pane.Piece{{Text: "  " + p.emptyList(r.list, w-len("   ")), Style: st.Muted}}, nil
	case rowRule:
		return p.rulePieces(d.Rules[r.list][r.index], w)
	case rowRemoved:
		return []pane.Piece{{Text: " ", Style: st.Text}, {Text: signDeleted.in(icons), Style: st.Pending}, {Text: "  " + pane.Visible(d.Removed[r.list][r.index]), Style: st.Removed}},
			[]pane.Piece{{Text: "deleted", Style: st.Pending}}
	case rowChild:
		return []pane.Piece{{Text: "     " + pane.Visible(d.Name(r.text)), Style: st.Highlight}}, nil
	case rowModel:
		return p.modelPieces(r.index, w)
	case rowFound:
		return p.foundPieces(r)
	case rowNews:
		return p.newsPieces(r, w)
	case rowNew:
		return []pane.Piece{{Text: signNew.in(icons) + " " + assistant.Counted(d.Counts.New, "new model"), Style: st.Title}},
			[]pane.Piece{{Text: p.keys.Hint(keymap.PaneHighlight, "marks seen"), Style: st.Muted}}
	case rowChange:
		c := d.Unsaved[r.index]
		icon, style := signDeleted.in(icons), st.Remove
		if c.Added {
			icon, style = signUnsaved.in(icons), st.Add
		}
		return []pane.Piece{{Text: icon + " ", Style: style}, {Text: c.Verb() + " ", Style: st.Muted}, {Text: pane.Visible(c.Pattern), Style: style}}, nil
	case rowFinding:
		return p.findingPieces(p.findings()[r.index])
	case rowNotice:
		_, short := p.notice(r.index)
		return []pane.Piece{{Text: signWarn.in(icons) + " ", Style: st.Warn}, {Text: short, Style: st.Text}}, nil
	default:
	}
	return []pane.Piece{{Text: r.text, Style: st.Muted}}, nil
}

// emptyList returns the text shown for a list without rules.
func (p *Pane) emptyList(list modelfilter.List, w int) string {
	hint := p.keys.Hint(keymap.AddIgnore, "adds one: it hides models")
	if list == modelfilter.Allow {
		hint = p.keys.Hint(keymap.AddAllow, "adds one: it shows models")
	}
	return pane.FirstFitting(w, pane.Join("none", hint), "none")
}

// headingPieces returns the name of a group, and how many changes to a list are unsaved.
func (p *Pane) headingPieces(r row) (left, right []pane.Piece) {
	st, icons := &p.styles, &p.st.Icons
	if p.tabs.Open != tabRules {
		return []pane.Piece{{Text: r.text, Style: st.Title}}, nil
	}
	left = []pane.Piece{{Text: r.text, Style: p.listStyle(r.list)}}
	if source := p.data.fixedBy(r.list); source != "" {
		left = append(left, pane.Piece{Text: "  " + signLock.in(icons) + " " + source, Style: st.Warn})
	}
	text := ""
	if n := p.data.added(r.list); n > 0 {
		text = signUnsaved.in(icons) + strconv.Itoa(n)
	}
	if n := len(p.data.Removed[r.list]); n > 0 {
		text += " " + signDeleted.in(icons) + strconv.Itoa(n)
	}
	return left, []pane.Piece{{Text: text, Style: st.Pending}}
}

func (p *Pane) listStyle(list modelfilter.List) style.Style {
	if list == modelfilter.Allow {
		return p.styles.Allow
	}
	return p.styles.Ignore
}

func (p *Pane) rulePieces(r modelfilter.RuleView, w int) (left, right []pane.Piece) {
	st, icons := &p.styles, &p.st.Icons
	icon, colour := p.colour(r.List, r.Index)
	tick, pending, nameStyle := " ", " ", st.Text
	if p.selected[ruleID(r.List, r.Pattern)] {
		tick = signTicked.in(icons)
	}
	if r.Unsaved {
		pending = signUnsaved.in(icons)
	}
	if p.highlight.is(r) {
		nameStyle = st.Highlight
	}
	number, short, style := assistant.Counted(r.Decides, "model"), strconv.Itoa(r.Decides), st.Count
	switch {
	case r.Dead:
		number, short, style, nameStyle = signDead.in(icons)+" matches none", signDead.in(icons)+" 0", st.Muted, st.Muted
	case r.Shadowed:
		number = signShadowed.in(icons) + " 0 of " + strconv.Itoa(r.Matches)
		short, style, nameStyle = number, st.Shadowed, st.Shadowed
	case r.Decides != r.Matches:
		number = fmt.Sprintf("%d of %s", r.Decides, assistant.Counted(r.Matches, "model"))
		short = fmt.Sprintf("%d of %d", r.Decides, r.Matches)
	}
	if w < wideRow {
		number = short
	}
	return []pane.Piece{
		{Text: tick, Style: st.Pending},
		{Text: pending, Style: st.Pending},
		{Text: icons.RuleBar + icon + " ", Style: colour},
		{Text: pane.Visible(r.Pattern), Style: nameStyle},
	}, []pane.Piece{{Text: number, Style: style}}
}

// modelLead is the width of the cursor, the icons and the gaps in a model's row.
const modelLead = 8

func (p *Pane) modelPieces(i, w int) (left, right []pane.Piece) {
	m := p.data.Models[i]
	st, icons := &p.styles, &p.st.Icons
	tick, bullet, nameStyle := " ", " ", st.Text
	if p.selected[modelID(m.ID)] {
		tick = signTicked.in(icons)
	}
	icon, shown := signAvailable.in(icons), st.BarShown
	switch m.Status {
	case engine.Ignored:
		icon, shown, nameStyle = signHidden.in(icons), st.BarHidden, st.Muted
	case engine.Whitelisted:
		icon, shown = signAllowed.in(icons), st.Allow
	default:
	}
	if p.highlight.models[m.ID] {
		bullet, nameStyle = signHighlighted.in(icons), st.Highlight
	}
	id := pane.Visible(p.data.Name(m.ID))
	left = []pane.Piece{{Text: tick, Style: st.Pending}, {Text: bullet, Style: st.Highlight}, {Text: icon + " ", Style: shown}, {Text: id, Style: nameStyle}}
	if label := p.previewLabel(m); label != "" {
		return left, []pane.Piece{{Text: label, Style: st.Warn}}
	}
	if columns := p.columnsIn(w); len(columns) > 0 {
		return p.tablePieces(left, i, w, columns), nil
	}
	switch {
	case m.Unfiltered && w < wideRow:
		right = []pane.Piece{{Text: signWarn.in(icons), Style: st.Warn}}
	case m.Unfiltered:
		right = []pane.Piece{{Text: signWarn.in(icons) + " not filtered", Style: st.Warn}}
	case m.Index >= 0:
		ruleIcon, colour := p.colour(m.List, m.Index)
		right = []pane.Piece{{Text: ruleIcon, Style: colour}}
		rule := " " + style.Truncate(pane.Visible(m.Rule), w/3, icons.Ellipsis)
		if w >= wideRow && style.Width(rule) <= w-style.Width(id)-modelLead { // the name takes precedence
			right = append(right, pane.Piece{Text: rule, Style: colour})
		}
	}
	if m.New {
		gap := ""
		if len(right) > 0 {
			gap = " "
		}
		right = append([]pane.Piece{{Text: "NEW" + gap, Style: st.Pending}}, right...)
	}
	return left, right
}

// findingPieces returns a rule and what is wrong with it.
func (p *Pane) findingPieces(f engine.Finding) (left, right []pane.Piece) {
	st, icons := &p.styles, &p.st.Icons
	icon, style, why := signWarn.in(icons), st.Warn, f.Kind.String()
	switch f.Kind {
	case engine.Dead:
		icon, style, why = signDead.in(icons), st.Muted, "matches none"
	case engine.Shadowed:
		icon, style, why = signShadowed.in(icons), st.Shadowed, "no effect"
	case engine.Redundant:
		icon, why = signShadowed.in(icons), "redundant"
	case engine.Undecided:
		why = "may be redundant"
	}
	return []pane.Piece{{Text: icon + " ", Style: style}, {Text: listColumn(f.List), Style: st.Muted}, {Text: pane.Visible(f.Pattern), Style: st.Text}},
		[]pane.Piece{{Text: why, Style: style}}
}

// notice returns a notice about the file, in which hidden characters may already have been made
// visible. In short, the name of the file replaces its path.
func (p *Pane) notice(i int) (text, short string) {
	text = string(safetext.VisibleOnce(p.data.Notices[i]))
	if p.data.File == "" {
		return text, text
	}
	return text, strings.ReplaceAll(text, p.data.File, filepath.Base(p.data.File))
}

// listColumn returns the name of a list, padded so that the names form a column.
func listColumn(list modelfilter.List) string {
	return style.Fit(list.String(), len("ignore "), "")
}
