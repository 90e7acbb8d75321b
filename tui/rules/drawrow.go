package rules

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/adapters/modelfilter/engine"
	"winnow/assistant"
	"winnow/assistant/glob"
	"winnow/tui/textwidth"
)

// wideRow is from how many cells on a row spells its numbers out.
const wideRow = 34

func decimal(n int) string { return strconv.Itoa(n) }

// drawRow draws a row in w cells. under says that the cursor is on it.
func (p *Pane) drawRow(r row, under bool, w int) string {
	left, right, over := p.cells(r, w)
	under = under && r.selectable()
	lead := " "
	if under {
		lead = p.st.Icons.Selected
	}
	left = append([]piece{{lead, p.paint.Text}}, left...)
	if under && p.focus {
		over = &p.paint.Selected
	}
	if len(right) > 0 {
		right = append(right, piece{" ", p.paint.Text})
	}
	if over != nil {
		for i := range left {
			left[i].st = *over
		}
		for i := range right {
			right[i].st = *over
		}
	}
	cut := fit
	if r.named() {
		cut = fitName
	}
	return spread(w, cut, p.st.Icons.Ellipsis, left, right)
}

// cells are what a row says at the left and at the right, and the one style of
// all of it, when it has one.
func (p *Pane) cells(r row, w int) (left, right []piece, over *ink) {
	d, st := &p.data, &p.paint
	switch r.kind {
	case rowHead:
		return p.headCells(r)
	case rowNone:
		return []piece{{"  " + longest(w-len("   "), noneWords[r.list][:]...), st.Muted}}, nil, nil
	case rowRule:
		return p.ruleCells(d.rules[r.list][r.at], w)
	case rowRemoved:
		return []piece{{" ", st.Text}, {p.st.Icons.Remove, st.Pending}, {"  " + shown(d.removed[r.list][r.at]), st.Dead}},
			[]piece{{"deleted", st.Pending}}, nil
	case rowChild:
		return []piece{{"     " + shown(d.name(r.text)), st.Highlight}}, nil, nil
	case rowModel:
		return p.modelCells(d.models[r.at], w)
	case rowNew:
		return []piece{{p.st.Icons.New + " " + assistant.Counted(d.counts.New, "new model"), st.Title}}, []piece{{"enter: seen", st.Muted}}, nil
	case rowChange:
		c := d.diff[r.at]
		sign, style := p.st.Icons.Remove, st.Remove
		if c.Added {
			sign, style = p.st.Icons.Add, st.Add
		}
		return []piece{{sign + " ", style}, {pad(c.List.String(), 7), st.Muted}, {shown(c.Pattern), style}}, nil, nil
	case rowFinding:
		return p.findingCells(p.findings()[r.at])
	case rowLint:
		return []piece{{"look for redundant rules", st.Text}}, []piece{{"enter", st.Muted}}, nil
	case rowNotice:
		return []piece{{p.st.Icons.Warn + " ", st.Warn}, {shown(p.inBrief(d.notices[r.at])), st.Text}}, nil, nil
	default:
	}
	return []piece{{r.text, st.Muted}}, nil, nil
}

// noneWords say what a rule of an empty list would be for, in the words that
// there is room for.
var noneWords = [...][3]string{
	modelfilter.Ignore: {"none · i adds one: it hides the models it matches", "none · i adds one: it hides models", "none · i adds one"},
	modelfilter.Allow:  {"none · w adds one: it keeps models that ignore rules hide", "none · w keeps what ignore hides", "none · w adds one"},
}

// headCells are the name of a group; of a list also how much of it is unsaved.
func (p *Pane) headCells(r row) (left, right []piece, over *ink) {
	st := &p.paint
	style := st.Title
	if p.tab != tabRules {
		return []piece{{r.text, style}}, nil, nil
	}
	style = st.Ignore
	if r.list == modelfilter.Allow {
		style = st.Allow
	}
	text := ""
	added, removed := p.data.added[r.list], len(p.data.removed[r.list])
	if added > 0 {
		text = p.st.Icons.Add + decimal(added)
	}
	if removed > 0 {
		text += " " + p.st.Icons.Remove + decimal(removed)
	}
	left = []piece{{r.text, style}}
	if source := p.data.fixed[r.list]; source != "" {
		left = append(left, piece{"  " + p.st.Icons.Lock + " " + source, st.Warn})
	}
	return left, []piece{{text, st.Pending}}, nil
}

func (p *Pane) ruleCells(r modelfilter.RuleView, w int) (left, right []piece, over *ink) {
	st, icons := &p.paint, &p.st.Icons
	colour, sign := st.rule(p.ruleColour(r.List, r.Index))
	mark, pending := " ", " "
	if p.marked[ruleKey(r.List, r.Pattern)] {
		mark = icons.Ticked
	}
	if r.Unsaved {
		pending = icons.Add
	}
	name := st.Text
	if p.data.light.Rule == r.Pattern && p.data.light.List == r.List {
		name = st.Highlight
	}
	left = []piece{{mark, st.Pending}, {pending, st.Pending}, {icons.RuleBar + icons.Wheel[sign] + " ", colour}, {shown(r.Pattern), name}}
	number := decimal(r.Decides)
	if w >= wideRow {
		number = assistant.Counted(r.Decides, "model")
	}
	switch {
	case r.Dead:
		left[3].st = st.Dead
		right = []piece{{icons.Dead + " matches none", st.Muted}}
		if w < wideRow {
			right = []piece{{icons.Dead + " 0", st.Muted}}
		}
	case r.Shadowed:
		left[3].st = st.Shadowed
		right = []piece{{icons.Shadowed + " 0 of " + decimal(r.Matches), st.Shadowed}}
	case r.Decides != r.Matches:
		right = []piece{{decimal(r.Decides) + " of " + assistant.Counted(r.Matches, "model"), st.Count}}
		if w < wideRow {
			right = []piece{{decimal(r.Decides) + " of " + decimal(r.Matches), st.Count}}
		}
	default:
		right = []piece{{number, st.Count}}
	}
	return left, right, nil
}

// modelLead is how many cells of the row of a model the cursor, the signs and
// the gaps take.
const modelLead = 8

func (p *Pane) modelCells(m modelfilter.ModelView, w int) (left, right []piece, over *ink) {
	st, icons := &p.paint, &p.st.Icons
	mark, lit := " ", " "
	if p.marked[modelKey(m.ID)] {
		mark = icons.Ticked
	}
	name := st.Text
	sign, style := icons.Available, st.BarAvailable
	switch m.Status {
	case engine.Ignored:
		sign, style, name = icons.Hidden, st.BarHidden, st.Muted
	case engine.Whitelisted:
		sign, style = icons.Allow, st.Allow
	default:
	}
	if p.data.lit[m.ID] {
		lit, name = icons.Bullet, st.Highlight
	}
	left = []piece{{mark, st.Pending}, {lit, st.Highlight}, {sign + " ", style}, {shown(p.data.name(m.ID)), name}}
	if now, becomes := p.wouldBecome(m); now {
		return left, []piece{{becomes, st.Warn}}, nil
	}
	switch {
	case m.Unfiltered:
		right = []piece{{icons.Warn + " not filtered", st.Warn}}
		if w < wideRow {
			right = []piece{{icons.Warn, st.Warn}}
		}
	case m.RuleIndex >= 0:
		colour, at := st.rule(p.ruleColour(m.RuleList, m.RuleIndex))
		right = []piece{{icons.Wheel[at], colour}}
		rule := " " + textwidth.Truncate(shown(m.Rule), w/3, icons.Ellipsis)
		if room := w - ansi.StringWidth(left[3].text) - modelLead; w >= wideRow && ansi.StringWidth(rule) <= room {
			right = append(right, piece{rule, colour}) // the name goes before it
		}
	}
	if m.New {
		gap := ""
		if len(right) > 0 {
			gap = " "
		}
		right = append([]piece{{"NEW" + gap, st.Pending}}, right...)
	}
	return left, right, nil
}

// wouldBecome says what the pattern that is typed would make of a model that is
// seen, when it would change it.
func (p *Pane) wouldBecome(m modelfilter.ModelView) (bool, string) {
	if p.line.what != linePattern || p.line.preview.pattern == "" || m.Unfiltered {
		return false, ""
	}
	list := p.line.list
	if list == modelfilter.Ignore && m.Status != engine.Normal || list == modelfilter.Allow && m.Status != engine.Ignored {
		return false, ""
	}
	if p.line.glob == nil || p.line.glob.String() != p.line.preview.pattern {
		p.line.glob = glob.Compile(p.line.preview.pattern)
	}
	if !p.line.glob.MatchID(m.ID) {
		return false, ""
	}
	if list == modelfilter.Allow {
		return true, "would show"
	}
	return true, "would hide"
}

// inBrief is a note with the name of the file in the place of its path.
func (p *Pane) inBrief(note string) string {
	if p.data.file == "" {
		return note
	}
	return strings.ReplaceAll(note, p.data.file, base(p.data.file))
}

// findingCells say what is odd about a rule.
func (p *Pane) findingCells(f engine.Finding) (left, right []piece, over *ink) {
	st, icons := &p.paint, &p.st.Icons
	sign, style, why := icons.Warn, st.Warn, f.Kind.String()
	switch f.Kind {
	case engine.Dead:
		sign, style, why = icons.Dead, st.Muted, "matches none"
	case engine.Shadowed:
		sign, style, why = icons.Shadowed, st.Shadowed, "decides none"
	case engine.Redundant:
		sign, why = icons.Shadowed, "redundant"
	case engine.Undecided:
		why = "may be redundant"
	}
	return []piece{{sign + " ", style}, {pad(f.List.String(), 7), st.Muted}, {shown(f.Pattern), st.Text}}, []piece{{why, style}}, nil
}

func pad(text string, w int) string { return fit(text, w, "") }
