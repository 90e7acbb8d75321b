package rules

import (
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/tui/keymap"
	"winnow/tui/pane"
)

// typingNotes returns the foot while the user is typing.
func (p *Pane) typingNotes(w, h int) []pane.Note {
	st, l := &p.styles, &p.input
	label, style := " / ", st.Text
	switch {
	case l.kind == inputPattern:
		label, style = " "+l.list.String()+" ", p.listStyle(l.list)
	case l.kind == inputImport && !l.chosen:
		label = " import "
	case l.kind == inputImport:
		label, style = " "+verbs[l.list]+" ", p.listStyle(l.list)
	}
	label = label[:min(len(label), max(0, w/2))]
	const suggested = " suggested "
	suffix := ""
	if l.suggested && w-len(label) > 2*len(suggested) {
		suffix = suggested
	}
	text := l.draw(w-len(label)-len(suffix), st)
	notes := []pane.Note{p.separator(w), {Text: style.Render(label) + text + st.Muted.Render(suffix)}}
	if p.data.Locked && l.kind != inputSearch {
		why := "the assistant has locked the rules"
		if !p.locked() {
			why = p.lockedText()
		}
		notes = append(notes, p.oneLine(2, w, st.Warn, " "+signLock.in(&p.st.Icons)+" "+why))
	}
	switch l.kind {
	case inputPattern:
		notes = append(notes, p.previewNotes(w, h)...)
	case inputImport:
		notes = append(notes, p.importNotes(w)...)
	case inputSearch:
		notes = append(notes, p.oneLine(1, w, st.Count, " "+p.hitCount()))
		if p.tabs.Open != tabRules && l.Empty() {
			notes = append(notes, pane.Note{Rank: 4, Text: "part of a name, a pattern, or conditions: price>10 tools !vision ctx>=100k unused:30d status:deprecated family:gpt hidden new", Style: st.Muted, MaxLines: 3})
		}
	default:
	}
	return append(notes, p.oneLine(rankSeparator, w, st.Muted, " "+p.hintLine()))
}

// Hints implements pane.Hinter: it returns the keys of the tab of all providers or of the
// text line; nil otherwise. While Hints returns keys, the footer shows them in place of the
// pane's hints from the key table.
func (p *Pane) Hints() []pane.Hint {
	l := &p.input
	switch {
	case l.kind != inputNone:
	case p.tabs.Open == tabAll:
		return p.keys.Hints(keymap.To("goes there", keymap.PaneHighlight), keymap.To("asks for models", keymap.RefreshModels), keymap.To("tab", keymap.NextTab), keymap.To("provider", keymap.Provider), keymap.To("help", keymap.Help))
	default:
		return nil
	}
	esc := func(does string) []pane.Hint { return p.keys.Hints(keymap.To(does, keymap.Escape)) }
	if l.Empty() {
		hints := esc("leaves")
		if l.last[l.kind] != "" {
			hints = append(hints, p.keys.Hints(keymap.To("brings back your text", keymap.LineUp))...)
		}
		return hints
	}
	enter := ""
	switch {
	case l.kind == inputSearch:
		enter = "applies it"
	case p.locked():
	case l.kind == inputPattern && l.preview.pattern != "" && l.preview.refusal == nil:
		enter = "adds it"
	case l.kind == inputImport && l.rules.Len() > 0:
		enter = "previews it"
	}
	if enter == "" {
		return esc("clears")
	}
	return append(p.keys.Hints(keymap.To(enter, keymap.LineAccept)), esc("clears")...)
}

// hintLine returns the hints as one line.
func (p *Pane) hintLine() string {
	var parts []string
	for _, h := range p.Hints() {
		parts = append(parts, h.Key+" "+h.Text)
	}
	return pane.Join(parts...)
}

// previewNotes describes what the typed pattern would do.
func (p *Pane) previewNotes(w, h int) []pane.Note {
	v, st := &p.input.preview, &p.styles
	if v.pattern == "" {
		return []pane.Note{p.oneLine(1, w, st.Muted, " * any text, ? one, [a-z] one of these")}
	}
	changed := v.change.Hidden
	if p.input.list == modelfilter.Allow {
		changed = v.change.Shown
	}
	var notes []pane.Note
	if v.refusal != nil {
		notes = append(notes, pane.Note{Rank: 2, Text: p.st.Icons.Error + " " + string(modelfilter.RefusalText(v.refusal)), Style: st.Warn, MaxLines: 2})
	}
	text := fmt.Sprintf(" matches %d · %s", v.change.Matches, changeText(len(v.change.Hidden), len(v.change.Shown)))
	switch {
	case p.data.Counts.Total == 0:
		text = " cannot be tested: no models are known"
	case v.change.Matches == 0:
		text = " matches no known model"
	}
	notes = append(notes, p.oneLine(1, w, st.Count, text))
	if used := p.data.UsedText(v.change.Hidden); used != "" {
		notes = append(notes, pane.Note{Rank: 2, Text: signWarn.in(&p.st.Icons) + " " + string(used), Style: st.Warn, MaxLines: 3})
	}
	icon := signHidden.in(&p.st.Icons)
	if p.input.list == modelfilter.Allow {
		icon = signAvailable.in(&p.st.Icons)
	}
	lines := make([]string, len(changed))
	for i, id := range changed {
		lines[i] = " " + icon + " " + pane.Visible(p.data.Name(id))
	}
	notes = append(notes, p.listNotes(w, max(2, h/6), lines)...)
	if len(v.verdict.Redundant) > 0 {
		text := "makes redundant: " + firstOf(visibleAll(v.verdict.Redundant), 4)
		notes = append(notes, pane.Note{Rank: 3, Text: text, Style: st.Muted, MaxLines: 2})
	}
	if !v.compared {
		notes = append(notes, p.oneLine(8, w, st.Muted, " "+p.keys.Hint(keymap.LineAccept, "compares it with all rules")))
	}
	return notes
}

// importNotes describes what an import would add, and the syntax of an import.
func (p *Pane) importNotes(w int) []pane.Note {
	st := &p.styles
	if p.input.rules.Len() == 0 {
		return []pane.Note{
			p.oneLine(1, w, st.Muted, " patterns, separated by commas"),
			p.oneLine(2, w, st.Muted, " allow: before allow rules"),
			p.oneLine(3, w, st.Muted, " or lines of a .env file"),
		}
	}
	return []pane.Note{p.oneLine(1, w, st.Count, " "+p.input.rules.String())}
}

// listNotes returns at most n notes, one per line. If there are more lines, the last note says
// how many are left out.
func (p *Pane) listNotes(w, n int, lines []string) []pane.Note {
	var notes []pane.Note
	for i, text := range lines[:min(len(lines), max(0, n))] {
		if i == n-1 && len(lines) > n {
			text = fmt.Sprintf("   and %d more", len(lines)-n+1)
		}
		text = pane.FitName(" "+text, w, p.st.Icons.Ellipsis)
		notes = append(notes, pane.Note{Rank: 4 + min(i, 3), Text: p.styles.Text.Render(text)})
	}
	return notes
}

// changeText says how many models a change hides and how many it shows.
func changeText(hidden, shown int) string {
	var parts []string
	if hidden > 0 {
		parts = append(parts, "hides "+assistant.Counted(hidden, "more model"))
	}
	if shown > 0 {
		parts = append(parts, "shows "+assistant.Counted(shown, "more model"))
	}
	if len(parts) == 0 {
		return "changes nothing"
	}
	return strings.Join(parts, ", ")
}

func visibleAll(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = pane.Visible(n)
	}
	return out
}
