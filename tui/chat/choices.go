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

// afterError lists the choices below a failed pair. Their keys work while the pair has the
// focus, and their numbers if the pair is the newest; a click always works.
var afterError = []pane.Choice{{Label: "Retry", KeyAction: keymap.Retry}, {Label: "Re-ask", KeyAction: keymap.ReAsk}, {Label: "Delete", KeyAction: keymap.DeletePair}}

// maxChoices is the maximum number of choices: alt+1 to alt+9.
const maxChoices = 9

// choicesOf returns the choices below a pair: first the choices of an error, then those of the
// answer.
func (rc *renderContext) choicesOf(p assistant.Pair) []pane.Choice {
	var out []pane.Choice
	if p.State == assistant.PairError {
		out = append(out, afterError...)
	}
	out = append(out, pane.Choices(&p, rc.isProposal)...)
	if rc.saved {
		out = slices.DeleteFunc(out, isSave)
	}
	return out[:min(len(out), maxChoices)]
}

// isSave reports whether a choice offers to save; such a choice is hidden while there are
// no unsaved changes.
func isSave(c pane.Choice) bool {
	return strings.EqualFold(c.Label, "save") || c.Action != nil && pane.ActionName(c.Action.Action) == keymap.Save
}

// SetUnsaved sets whether the window has unsaved changes.
func (v *View) SetUnsaved(unsaved bool) {
	v.rc.saved = !unsaved
	v.updateChoices()
}

// SetBusy sets whether a turn is running. During a turn nothing can be chosen, so no
// numbers are shown.
func (v *View) SetBusy(busy bool) {
	if v.rc.busy == busy {
		return
	}
	v.rc.busy = busy
	if it := v.src.items[v.src.newest()]; it != nil {
		it.updateSelectable()
	}
}

// updateSelectable updates whether the choices of a pair can be chosen.
func (it *item) updateSelectable() {
	if p := it.choicesPart(); p != nil {
		p.selectable, p.dirty = it.selectable(), true
		it.changed()
	}
}

// selectable reports whether the choices of a pair can be chosen.
func (it *item) selectable() bool { return it.newest && !it.rc.busy }

// updateChoices rebuilds the choices of the newest pair if the unsaved state has changed
// since they were built.
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
	seq        int64 // Seq of the pair
	choices    []pane.Choice
	selectable bool // the choices can be chosen
	spans      []choiceSpan
	selected   int  // index of the choice that enter chooses while the part has the focus
	focused    bool // the part has the focus, so the selected choice is marked
}

// choiceSpan is where choice i, or one row of it, was drawn: cells [from, to) of a line.
type choiceSpan struct{ i, line, from, to int }

func (p *choicesPart) source() string { return "" }

func (p *choicesPart) draw(width int, rc *renderContext) {
	p.begin()
	p.spans = nil
	if !p.selectable && p.choices[0].KeyAction == "" { // the choices of an error, which come first, are always drawn
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

// addMessages shows, below the chips, the messages that the chips do not show in full.
func (p *choicesPart) addMessages(width int, rc *renderContext) {
	for i, c := range p.choices {
		if _, whole := p.label(i, width, rc, false); p.selectable && !whole {
			text := c.Label + " sends: " + strings.Join(c.Unlabelled(), "\n")
			p.addVisible(rc, text, layout{lead: indent, width: width - indent, draw: indented(indent, rc.st.Chat.Time)})
		}
	}
}

// chips draws the choices. With bothKeys, a choice that has two keys shows the second one
// too.
func (p *choicesPart) chips(width int, rc *renderContext, bothKeys bool) (out []string, spans []choiceSpan) {
	line, start := "", ""
	if !p.selectable { // below the error, whose text is indented
		start, width = strings.Repeat(" ", indent), max(1, width-indent)
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
		for n, chip := range style.Wrap(open+label+"]", width) { // a chip that is wider than the line is wrapped
			chip = tone.Render(chip)
			if line != "" && (n > 0 || style.Width(line)+1+style.Width(chip) > width) {
				out, line = append(out, start+line), ""
			}
			line = strings.TrimPrefix(line+" "+chip, " ")
			to := style.Width(start + line)
			spans = append(spans, choiceSpan{i, len(out), to - style.Width(chip), to})
		}
	}
	return append(out, start+line), spans
}

// label returns the text of a chip, with the message that it sends if that is short and
// differs from the label. whole is false if a message is not shown in full.
func (p *choicesPart) label(i, width int, rc *renderContext, bothKeys bool) (label string, whole bool) {
	const maxInline = 60 // cells
	c := p.choices[i]
	sends := c.Unlabelled()
	if len(sends) == 1 {
		text := c.Label + ": " + sends[0]
		if label = p.withKeys(i, text, width, rc, bothKeys); style.Width(text) <= maxInline && style.Width("["+label+"]") <= width {
			return label, true
		}
	}
	return p.withKeys(i, c.Label, width, rc, bothKeys), len(sends) == 0
}

// withKeys returns the text of a chip with the keys that choose it. The keys of an action
// work only while its pair has the focus; otherwise they type a letter, or act on another
// pair.
func (p *choicesPart) withKeys(i int, text string, width int, rc *renderContext, bothKeys bool) string {
	key := ""
	if rc.keyed == p.seq {
		key = rc.keys.Hint(p.choices[i].KeyAction, "")
	}
	if !p.selectable {
		return key + text
	}
	choose := rc.keys.Hint(keymap.Choose(i+1), text)
	label := strings.TrimSuffix(cmp.Or(choose, text)+" · "+strings.TrimSpace(key), " · ")
	if choose != "" && (!bothKeys || style.Width("["+label+"]") > width) {
		return choose
	}
	return label
}

// choicesPart returns the part with the choices of a pair, which is always the last part;
// nil if the pair has no choices.
func (it *item) choicesPart() *choicesPart {
	if n := len(it.parts); n > 0 {
		p, _ := it.parts[n-1].(*choicesPart)
		return p
	}
	return nil
}

// Choices returns what can be chosen below the newest pair; nothing during a turn.
func (v *View) Choices() []pane.Choice {
	if v.Len() == 0 {
		return nil
	}
	if it := v.src.at(v.Len() - 1); it.choicesPart() != nil && it.choicesPart().selectable && !it.running {
		return it.choicesPart().choices
	}
	return nil
}

// Choice returns the choice that enter would choose; ok is false if the choices do not have
// the focus.
func (v *View) Choice() (i int, ok bool) {
	if p := v.focusedChoices(); p != nil {
		return p.selected, true
	}
	return 0, false
}

// MoveChoice moves the selection by n choices and stops at the ends. It reports whether the
// choices have the focus.
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

// focusedChoices returns the choices of the newest pair if they have the focus.
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

// updateChoiceFocus redraws the choices of a pair that gained or lost the focus, and the
// choices of the newest pair if their part gained or lost the focus.
func (v *View) updateChoiceFocus() {
	keyed := int64(0)
	if i := v.list.Focused(); i >= 0 && v.active {
		keyed = v.src.ID(i)
	}
	if before := v.rc.keyed; before != keyed {
		v.rc.keyed = keyed
		for _, seq := range [...]int64{before, keyed} {
			if it := v.src.items[seq]; it != nil && it.choicesPart() != nil {
				it.choicesPart().dirty = true
				it.changed()
			}
		}
	}
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

// ChoiceAt returns the index of the newest pair's choice at a cell of the view; false if
// there is none.
func (v *View) ChoiceAt(x, y int) (int, bool) {
	at, i, ok := v.choiceAt(x, y)
	return i, ok && at == v.Len()-1
}

// ActionAt returns the action of the button of an older failed pair at a cell of the view, and
// moves the focus to that pair; ok is false if there is no such button.
func (v *View) ActionAt(x, y int) (action keymap.Action, ok bool) {
	at, i, ok := v.choiceAt(x, y)
	if !ok || at == v.Len()-1 {
		return "", false
	}
	v.focusOn(at, 0)
	return v.src.at(at).choicesPart().choices[i].KeyAction, true
}

// choiceAt returns the indexes of the pair and of its choice at a cell of the view.
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

// choiceStyle returns the style of a choice, which looks like a chip or like a button.
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
