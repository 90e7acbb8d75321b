package rules

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/tui/pane"
)

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
		if p.line.offered {
			label = " " + p.line.list.String() + " "
		}
	default:
	}
	if len(label) > w/2 {
		label = label[:max(0, w/2)]
	}
	word := p.offerWord(w - len(label))
	room := w - len(label) - ansi.StringWidth(word)
	edit := style.on(label) + p.line.view(room, &p.paint) + st.Muted.on(word)
	notes := []note{p.separator(10, w), {rank: 0, text: edit}}
	if p.data.locked && p.line.what != lineSearch {
		notes = append(notes, p.one(2, w, st.Warn, " "+p.st.Icons.Lock+" assistant at work: nothing is added"))
	}
	switch p.line.what {
	case linePattern:
		notes = append(notes, p.previewNotes(w, h)...)
	case lineImport:
		notes = append(notes, p.importNotes(w, h)...)
	case lineSearch:
		notes = append(notes, p.one(1, w, st.Count, " "+p.hits()), p.one(9, w, st.Muted, " "+p.hintWords()))
	default:
	}
	return notes
}

// offerWord says that the text of the line is only offered, in as many words as
// leave room for it.
func (p *Pane) offerWord(w int) string {
	if !p.line.offered {
		return ""
	}
	const gaps = 3 // around the word, and the cursor after the text
	word := longest(w-ansi.StringWidth(shown(p.line.Text()))-gaps, "typing replaces it", "suggested", "")
	if word == "" && w > 2*len("suggested") { // the text is cut anyway
		word = "suggested"
	}
	if word == "" {
		return ""
	}
	return " " + word + " "
}

// Hints implements pane.Hinter.
func (p *Pane) Hints() []pane.Hint {
	if p.line.what == lineNone {
		return nil
	}
	if p.line.Empty() {
		hints := []pane.Hint{{Key: "esc", Text: "leaves"}}
		if p.line.last[p.line.what] != "" {
			hints = append(hints, pane.Hint{Key: "↑", Text: "brings back your text"})
		}
		return hints
	}
	enter := ""
	switch {
	case p.line.what == lineSearch:
		enter = "keeps it"
	case p.data.locked:
	case p.line.what == linePattern && p.line.preview.pattern != "" && p.line.preview.refusal == nil:
		enter = "adds it"
	case p.line.what == lineImport && p.line.offered:
		enter = "adds them"
	case p.line.what == lineImport && p.line.batch.size() > 0:
		enter = "shows and asks"
	}
	clears := pane.Hint{Key: "esc", Text: "clears"}
	if enter == "" {
		return []pane.Hint{clears}
	}
	return []pane.Hint{{Key: "enter", Text: enter}, clears}
}

// hintWords are the hints in one line.
func (p *Pane) hintWords() string {
	var words []string
	for _, h := range p.Hints() {
		words = append(words, h.Key+" "+h.Text)
	}
	return strings.Join(words, " · ")
}

// importNotes say what an import would bring, and how one is written.
func (p *Pane) importNotes(w, h int) []note {
	st := &p.paint
	if p.line.batch.size() == 0 {
		return []note{
			p.one(1, w, st.Muted, " patterns, commas between them"),
			p.one(2, w, st.Muted, " allow: before those of the allow list"),
			p.one(3, w, st.Muted, " or lines of an .env"),
			p.one(9, w, st.Muted, " "+p.hintWords()),
		}
	}
	notes := []note{p.one(1, w, st.Count, " "+p.line.batch.words())}
	if p.line.offered {
		notes = append(notes, p.some(w, h/3, len(p.line.lines)-1, func(i int) string { return p.line.lines[i+1] })...)
	}
	return append(notes, p.one(9, w, st.Muted, " "+p.hintWords()))
}

// previewNotes say what the pattern would do before it is added.
func (p *Pane) previewNotes(w, h int) []note {
	v, st, icons := &p.line.preview, &p.paint, &p.st.Icons
	list := p.line.list
	if v.pattern == "" {
		hint := " * any run, ? one, [a-z] one of these"
		return []note{p.one(1, w, st.Muted, hint), p.one(2, w, st.Muted, " "+p.hintWords())}
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
	return append(notes, p.one(9, w, st.Muted, " "+p.hintWords()))
}

// named are the first n names of models that would change.
func (p *Pane) named(w, n int, ids []string) []note {
	sign := p.st.Icons.Hidden
	if p.line.list == modelfilter.Allow {
		sign = p.st.Icons.Available
	}
	return p.some(w, n, len(ids), func(i int) string { return " " + sign + " " + shown(p.data.name(ids[i])) })
}

// some are the first n of all lines; the last of them says how many more there
// are.
func (p *Pane) some(w, n, all int, line func(i int) string) []note {
	var notes []note
	for i := range min(all, n) {
		text := line(i)
		if i == n-1 && all > n {
			text = fmt.Sprintf("   and %d more", all-n+1)
		}
		notes = append(notes, note{rank: 4 + min(i, 3), text: p.paint.Text.on(fitName(" "+text, w, p.st.Icons.Ellipsis))})
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
