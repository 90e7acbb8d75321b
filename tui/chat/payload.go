package chat

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
	"winnow/tui/style"
)

// Row is a paragraph of a card. Its text may be of any length: it is wrapped when drawn.
type Row struct {
	Icon string // at most two cells, before the first line
	Text safetext.Text
	Tone Tone
}

// Tone is the style of a row.
type Tone int

// The tones of rows.
const (
	Plain Tone = iota
	Quiet
	Good
	Bad
	Warn
)

func (t Tone) style(st *style.Chat) style.Style {
	return [...]style.Style{Plain: st.Assistant, Quiet: st.Time, Good: st.ToolOK, Bad: st.ToolBad, Warn: st.Star}[t]
}

// SetPayloadTypes registers payload types, which determine the title, icon and rows of
// their cards, and whether they can be accepted. A card of an unregistered type shows the
// payload's summary and, when open, its data.
func (v *View) SetPayloadTypes(types []assistant.PayloadType) {
	for _, t := range types {
		v.rc.payloadTypes[t.Name] = t
	}
	for _, it := range v.src.items {
		if it.loaded && !it.running {
			it.setPair(it.pair, false) // the choices depend on the types
		}
	}
}

// isProposal reports whether payloads of a type are proposals, which the user can accept or
// reject.
func (rc *renderContext) isProposal(payloadType string) bool {
	return payloadType == pane.RuleProposal || rc.payloadTypes[payloadType].Proposal()
}

// payloadHead returns the icon and title of a payload's card, and the rows below them: the
// text of its type, or else the rules of a rule proposal.
func (rc *renderContext) payloadHead(p assistant.Payload) (icon, title string, rows []Row) {
	t := rc.payloadTypes[p.Type]
	icon, title = t.Icon, cmp.Or(t.Title, oneLine(p.Type))
	switch {
	case t.Text != nil:
		for _, line := range t.Text(p.Data).Lines() {
			rows = append(rows, Row{Text: line})
		}
	case p.Type == pane.RuleProposal:
		return cmp.Or(icon, rc.st.Icons.Pending), cmp.Or(t.Title, "proposed rules"), rc.proposalRows(p)
	}
	return icon, title, rows
}

// SetExtraRows sets additional rows of a payload's card that take time to compute, such as
// the effect of a proposal. They are shown until the user accepts or rejects the payload.
func (v *View) SetExtraRows(payload string, rows []Row) {
	v.rc.extraRows[payload] = rows
	for _, it := range v.src.items {
		if card := it.payloadCard(payload); card != nil {
			card.dirty = true
			it.changed()
		}
	}
}

// payloadCard returns the card of a payload, or nil.
func (it *item) payloadCard(payload string) *payloadPart {
	for _, p := range it.parts {
		if card, ok := p.(*payloadPart); ok && slices.ContainsFunc(card.payloads, func(p assistant.Payload) bool { return p.ID == payload }) {
			return card
		}
	}
	return nil
}

// Undecided returns the proposals of the newest pair that the user has neither accepted nor
// rejected.
func (v *View) Undecided() []assistant.Payload {
	if v.Len() == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.src.at(v.Len()-1).pair.Payloads), func(p assistant.Payload) bool {
		return p.Decision != "" || !v.rc.isProposal(p.Type)
	})
}

// payloadPart shows structured data of the turn: a card with its summary. The proposals of
// an answer share one card, because they are accepted or rejected together.
type payloadPart struct {
	partState
	payloads []assistant.Payload // at least one, all of one type
	data     []string            // the payloads as indented JSON; nil until computed
}

// addPayload adds a payload to the card of the previous proposals, or to a new card.
func (rc *renderContext) addPayload(parts []part, p assistant.Payload) []part {
	at := len(parts) - 1
	for at >= 0 && isBlank(parts[at]) { // skip blank text between two proposals
		at--
	}
	if at >= 0 && rc.isProposal(p.Type) {
		if card, ok := parts[at].(*payloadPart); ok && card.payloads[0].Type == p.Type {
			card.payloads, card.data, card.dirty = append(card.payloads, p), nil, true
			return parts
		}
	}
	return append(parts, &payloadPart{partState: partState{foldable: true}, payloads: []assistant.Payload{p}})
}

func isBlank(p part) bool {
	text, ok := p.(*textPart)
	return ok && strings.TrimSpace(text.source()) == ""
}

func (p *payloadPart) source() string {
	if p.data == nil {
		for _, payload := range p.payloads {
			p.data = append(p.data, indentedJSON(json.RawMessage(payload.Data)))
		}
	}
	return strings.Join(p.data, "\n")
}

func (p *payloadPart) draw(width int, rc *renderContext) {
	p.begin()
	var heads []string
	for _, payload := range p.payloads {
		if summary := oneLine(payload.Summary); summary != "" {
			heads = append(heads, summary)
		}
	}
	icon, head, _ := rc.payloadHead(p.payloads[0])
	lead := p.foldIcon(rc) + " "
	if icon != "" {
		lead += icon + " "
	}
	if len(heads) > 0 {
		head += "  " + strings.Join(heads, "; ")
	}
	line := rc.st.Chat.ToolName.Render(style.Truncate(lead+oneLine(head), width, rc.st.Icons.Ellipsis))
	p.addLine(line, uint16(style.Width(lead)))
	for i := range p.payloads {
		if i > 0 {
			p.addDecoration("")
		}
		p.drawPayload(i, width, rc)
	}
	p.addDecoration("")
}

// drawPayload draws one payload of a card.
func (p *payloadPart) drawPayload(i, width int, rc *renderContext) {
	payload := p.payloads[i]
	_, _, rows := rc.payloadHead(payload)
	if payload.Decision == "" { // once accepted or rejected, a payload has no effect to preview
		rows = append(rows, rc.extraRows[payload.ID]...)
	}
	p.addRows(rows, width, rc)
	if p.open {
		p.source() // computes data
		p.addVisible(rc, p.data[i], layout{lead: indent, width: width - indent, draw: indented(indent, rc.st.Chat.ToolArgs)})
	}
	if payload.Decision != "" {
		p.addRows([]Row{{Text: safetext.Visible(payload.Decision), Tone: Quiet}}, width, rc)
	}
}

// addRows adds rows: an indent, an icon of up to two cells, and the text.
func (p *payloadPart) addRows(rows []Row, width int, rc *renderContext) {
	for _, r := range rows {
		before := strings.Repeat(" ", indent)
		if sign := style.Truncate(oneLine(r.Icon), 2, ""); sign != "" {
			before += style.Fit(sign, 2, "")
		}
		before = style.Truncate(before, max(0, width-minText), "")
		lead, tone := style.Width(before), r.Tone.style(&rc.st.Chat)
		p.addText(rc, r.Text, layout{lead: lead, width: width - lead, draw: func(i int, line string) string {
			if i > 0 {
				return tone.Render(strings.Repeat(" ", lead)) + tone.Render(line)
			}
			return tone.Render(before) + tone.Render(line)
		}})
	}
}

// proposalRows returns a row for each proposed rule, and one for the reasoning. The effect on
// the models is added with SetExtraRows, see EffectRows.
func (rc *renderContext) proposalRows(p assistant.Payload) (rows []Row) {
	rules, reasoning := pane.ProposedRules(p)
	for _, r := range rules {
		row := Row{Icon: rc.st.Icons.Add, Text: r.Text, Tone: Bad}
		switch {
		case r.Removes:
			row.Icon, row.Tone = rc.st.Icons.Remove, Quiet
		case r.Allows:
			row.Tone = Good
		}
		rows = append(rows, row)
	}
	if reasoning != "" {
		rows = append(rows, Row{Text: reasoning, Tone: Quiet})
	}
	return rows
}

// maxNamed is how many items of an effect are named; the rest are counted.
const maxNamed = 6

// EffectRows returns the effects of a proposal as rows for SetExtraRows.
func (v *View) EffectRows(effects []assistant.Effect) (rows []Row) {
	i := v.rc.st.Icons
	for _, e := range effects {
		row := Row{Text: e.Sentence, Tone: Quiet}
		switch e.Kind {
		case assistant.EffectRemoves:
			row.Icon, row.Tone = i.Hidden, Bad
		case assistant.EffectAdds:
			row.Icon, row.Tone = i.Available, Good
		case assistant.EffectAsks:
			row.Icon, row.Tone = i.Warn, Warn
		case assistant.EffectNone:
		}
		if n := len(e.Items); n > 0 {
			names := make([]safetext.Text, min(n, maxNamed))
			for i := range names {
				names[i] = safetext.Visible(e.Items[i])
			}
			row.Text += ": " + safetext.Join(names, ", ")
			if more := n - maxNamed; more > 0 {
				row.Text += safetext.Sprintf(" and %d more", more)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
