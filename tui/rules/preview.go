package rules

import (
	"fmt"
	"strings"

	"winnow/adapters/modelfilter"
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
	default:
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
	default:
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
