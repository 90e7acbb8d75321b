package chat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// afterError is what can be done about a pair that failed: by the keys of these
// actions while the pair has the focus, by number when it is the newest, and by a
// click.
var afterError = []pane.Choice{{Label: "Retry", KeyAction: keymap.Retry}, {Label: "Re-ask", KeyAction: keymap.ReAsk}, {Label: "Delete", KeyAction: keymap.DeletePair}}

// maxChoices is how many can be chosen: alt+1 to alt+9.
const maxChoices = 9

// choicesOf are the choices under a pair: what waits for a decision first.
func (rc *renderContext) choicesOf(p assistant.Pair) []pane.Choice {
	var out []pane.Choice
	if p.State == assistant.PairError {
		out = append(out, afterError...)
	}
	out = append(out, pane.Choices(&p, rc.decides)...)
	if rc.saved {
		out = slices.DeleteFunc(out, isSave)
	}
	return out[:min(len(out), maxChoices)]
}

// isSave reports whether a choice offers to save: it is not shown while nothing is unsaved.
func isSave(c pane.Choice) bool {
	return strings.EqualFold(c.Label, "save") || c.Action != nil && pane.ActionName(c.Action.Action) == keymap.Save
}

// SetUnsaved says whether the window has unsaved changes.
func (v *View) SetUnsaved(unsaved bool) {
	v.rc.saved = !unsaved
	v.updateChoices()
}

// SetBusy says whether a turn runs: nothing can be chosen meanwhile, so no number is shown.
func (v *View) SetBusy(busy bool) {
	if v.rc.busy == busy {
		return
	}
	v.rc.busy = busy
	if it := v.src.items[v.src.newest()]; it != nil {
		it.updateSelectable()
	}
}

// updateSelectable shows whether the choices of a pair can be chosen.
func (it *item) updateSelectable() {
	if p := it.choicesPart(); p != nil {
		p.selectable, p.dirty = it.selectable(), true
		it.changed()
	}
}

// selectable reports whether the choices of a pair can be chosen.
func (it *item) selectable() bool { return it.newest && !it.rc.busy }

// updateChoices makes the choices of the newest pair again when they were made before
// something became unsaved, or was saved.
func (v *View) updateChoices() {
	if n := v.Len(); n > 0 {
		if it := v.src.at(n - 1); it.loaded && !it.running && it.saved != v.rc.saved {
			it.setPair(it.pair, false)
		}
	}
}

// choicesPart shows the choices of a pair as chips and buttons.
type choicesPart struct {
	partState
	choices    []pane.Choice
	selectable bool // they can be chosen
	spans      []choiceSpan
	selected   int  // the one that enter chooses while the part has the focus
	focused    bool // it has, and shows which
}

// choiceSpan is where choice i was drawn.
type choiceSpan struct{ i, line, from, to int }

func (p *choicesPart) source() string { return "" }

func (p *choicesPart) draw(width int, rc *renderContext) {
	p.begin()
	p.spans = nil
	if !p.selectable && p.choices[0].KeyAction == "" { // those of an error come first
		return
	}
	lines, spans := p.chips(width, rc, true)
	if fewer, there := p.chips(width, rc, false); len(fewer) < len(lines) {
		lines, spans = fewer, there
	}
	p.spans = spans
	for _, line := range lines {
		p.addDecoration(line)
	}
	p.addMessages(width, rc)
	p.addDecoration("")
}

// addMessages shows below the chips what those send whose label is another text.
func (p *choicesPart) addMessages(width int, rc *renderContext) {
	for i, c := range p.choices {
		if _, whole := p.label(i, width, rc, false); p.selectable && !whole {
			text := c.Label + " sends: " + strings.Join(c.Unlabelled(), "\n")
			p.addText(rc, text, layout{lead: indent, width: width - indent, draw: indented(indent, rc.st.Chat.Time)})
		}
	}
}

// chips draws the choices, with or without the second key of those that have two.
func (p *choicesPart) chips(width int, rc *renderContext, bothKeys bool) (out []string, spans []choiceSpan) {
	line := ""
	if !p.selectable { // below the error, whose text is indented
		line, width = strings.Repeat(" ", indent), max(1, width-indent)
	}
	for i, c := range p.choices {
		if !p.selectable && c.KeyAction == "" {
			continue
		}
		tone, open := choiceStyle(c, &rc.st.Chat), "["
		if p.focused && i == p.selected {
			tone, open = tone.With(ansi.AttrUnderline), rc.st.Icons.Selected
		}
		label, _ := p.label(i, width, rc, bothKeys)
		chip := tone.Render(style.Truncate(open+label+"]", width, rc.st.Icons.Ellipsis))
		if strings.TrimSpace(line) != "" && ansi.StringWidth(line)+1+ansi.StringWidth(chip) > width {
			out, line = append(out, line), ""
		}
		line = strings.TrimPrefix(line+" "+chip, " ")
		to := ansi.StringWidth(line)
		spans = append(spans, choiceSpan{i, len(out), to - ansi.StringWidth(chip), to})
	}
	return append(out, line), spans
}

// label is the text of a chip: with the message that the choice sends where that is
// another text and short. whole reports whether nothing that it sends is missing.
func (p *choicesPart) label(i, width int, rc *renderContext, bothKeys bool) (label string, whole bool) {
	const maxInline = 60 // cells
	c := p.choices[i]
	sends := c.Unlabelled()
	if len(sends) == 1 {
		text := c.Label + ": " + sends[0]
		if label = p.withKeys(i, text, width, rc, bothKeys); ansi.StringWidth(text) <= maxInline && ansi.StringWidth("["+label+"]") <= width {
			return label, true
		}
	}
	return p.withKeys(i, c.Label, width, rc, bothKeys), len(sends) == 0
}

// withKeys is the text of a chip with the keys that choose it.
func (p *choicesPart) withKeys(i int, text string, width int, rc *renderContext, bothKeys bool) string {
	key := rc.keys.Hint(p.choices[i].KeyAction, "")
	if !p.selectable {
		return key + text
	}
	choose := rc.keys.Hint(keymap.Choose(i+1), text)
	label := strings.TrimSuffix(cmp.Or(choose, text)+" · "+strings.TrimSpace(key), " · ")
	if choose != "" && (!bothKeys || ansi.StringWidth("["+label+"]") > width) {
		return choose
	}
	return label
}

// choicesPart are those below a pair, which are its last part; nil for none.
func (it *item) choicesPart() *choicesPart {
	if n := len(it.parts); n > 0 {
		p, _ := it.parts[n-1].(*choicesPart)
		return p
	}
	return nil
}

// Choices are what can be chosen below the newest pair; nothing while a turn runs.
func (v *View) Choices() []pane.Choice {
	if v.Len() == 0 {
		return nil
	}
	if it := v.src.at(v.Len() - 1); it.choicesPart() != nil && it.choicesPart().selectable && !it.running {
		return it.choicesPart().choices
	}
	return nil
}

// Choice is the one of the choices with the focus that enter chooses; ok is false
// when the choices do not have the focus.
func (v *View) Choice() (i int, ok bool) {
	if p := v.focusedChoices(); p != nil {
		return p.selected, true
	}
	return 0, false
}

// MoveChoice goes n choices on, or back, and stops at the ends. It reports
// whether the choices have the focus.
func (v *View) MoveChoice(n int) bool {
	p := v.focusedChoices()
	if p == nil {
		return false
	}
	p.selected = min(max(p.selected+n, 0), len(p.choices)-1)
	p.dirty = true
	v.focused().changed()
	return true
}

// focusedChoices are the choices of the newest pair while they have the focus.
func (v *View) focusedChoices() *choicesPart {
	it := v.focused()
	if it == nil || v.focus != len(it.parts)-1 {
		return nil
	}
	if p := it.choicesPart(); p != nil && p.selectable {
		return p
	}
	return nil
}

// updateChoiceFocus shows on the choices of the newest pair whether they have the focus.
func (v *View) updateChoiceFocus() {
	if v.Len() == 0 {
		return
	}
	it := v.src.at(v.Len() - 1)
	p := it.choicesPart()
	if focused := p != nil && p == v.focusedChoices() && v.active; p != nil && p.focused != focused {
		p.focused, p.dirty = focused, true
		it.changed()
	}
}

// ChoiceAt is the choice of the newest pair on a cell of the view.
func (v *View) ChoiceAt(x, y int) (int, bool) {
	at, i, ok := v.choiceAt(x, y)
	return i, ok && at == v.Len()-1
}

// ActionAt is the action of the key table that a button below an older pair that
// failed stands for. It gives that pair the focus.
func (v *View) ActionAt(x, y int) (action keymap.Action, ok bool) {
	at, i, ok := v.choiceAt(x, y)
	if !ok || at == v.Len()-1 {
		return "", false
	}
	v.focusOn(at, 0)
	return v.src.at(at).choicesPart().choices[i].KeyAction, true
}

// choiceAt is the pair, and which of its choices, on a cell of the view.
func (v *View) choiceAt(x, y int) (at, i int, ok bool) {
	at, line, ok := v.list.ItemAt(y)
	if !ok {
		return 0, 0, false
	}
	it := v.src.at(at)
	p := it.choicesPart()
	if p == nil || it.running {
		return 0, 0, false
	}
	first, _ := it.lineRange(len(it.parts) - 1)
	for _, s := range p.spans {
		if line == first+s.line && x-v.gutter() >= s.from && x-v.gutter() < s.to {
			return at, s.i, true
		}
	}
	return 0, 0, false
}

// choiceStyle is how a choice looks: a chip, or a button in its style.
func choiceStyle(c pane.Choice, st *style.Chat) style.Style {
	kind := "secondary"
	switch {
	case c.Accept, c.KeyAction == keymap.Retry:
		kind = "primary"
	case c.KeyAction == keymap.DeletePair:
		kind = "warning"
	case c.Action != nil:
		kind = c.Action.Style
	case c.Proposals == nil && c.KeyAction == "":
		return st.Chip
	}
	switch kind {
	case "primary":
		return st.Primary
	case "warning":
		return st.Warning
	}
	return st.Secondary
}
