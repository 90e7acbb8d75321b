package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// Handler says how the payloads of one type look and what the user can do with
// them. Its zero value is what a type without a handler gets: the summary, and
// the data as folded JSON.
type Handler struct {
	Title string // what the card is called; "" is the name of the type
	Icon  string // a sign of one cell before the title; "" is none
	// Render gives the rows of the card below its head; nil shows the data as
	// JSON when the card is open. It is called to draw and must not block: what
	// takes time is added later with View.Enrich.
	Render func(p assistant.Payload) []Row
	// Decide says that the session carries out what is accepted and reports to
	// the model what is rejected.
	Decide bool
	// Accept and Reject are called when the user decides; nil does nothing. A
	// type with either of them, or with Decide, gets both buttons.
	Accept, Reject func(p assistant.Payload)
}

// decides says whether there is anything to accept or reject.
func (h Handler) decides() bool { return h.Decide || h.Accept != nil || h.Reject != nil }

// Row is a paragraph of a card. It is sanitised and broken into lines as it is drawn.
type Row struct {
	Sign string // at most two cells before the first line
	Text string
	Tone Tone
}

// Tone is how a row looks.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Quiet
	Good
	Bad
	Warn
)

func (t Tone) style(st *style.Chat) lipgloss.Style {
	return [...]lipgloss.Style{Plain: st.Assistant, Quiet: st.Time, Good: st.ToolOK, Bad: st.ToolBad, Warn: st.Star}[t]
}

// Handle registers the handler of a payload type, in the place of an older one.
func (v *View) Handle(payloadType string, h Handler) {
	v.look.handlers[payloadType] = h
	for _, it := range v.src.items {
		if it.loaded && !it.running {
			it.setPair(it.pair) // another handler offers other choices
		}
	}
}

// handler is the handler of a payload type.
func (l *look) handler(payloadType string) Handler {
	if h, ok := l.handlers[payloadType]; ok || payloadType != pane.RuleProposal {
		return h
	}
	return Handler{Title: "proposed rules", Icon: l.st.Icons.Pending, Decide: true, Render: l.proposalRows}
}

// Enrich adds rows to the card of a payload that its handler could not know while
// it drew, like the effect of a proposal. They replace those added before.
func (v *View) Enrich(payload string, rows []Row) {
	v.look.extra[payload] = rows
	for _, it := range v.src.items {
		for _, p := range it.parts {
			if card, ok := p.(*payloadPart); ok && card.payload.ID == payload {
				card.dirty = true
				it.changed()
			}
		}
	}
}

// Undecided are the payloads of the newest pair that wait for the user.
func (v *View) Undecided() []assistant.Payload {
	if v.Len() == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.src.at(v.Len()-1).pair.Payloads), func(p assistant.Payload) bool {
		return p.Decision != "" || !v.look.handler(p.Type).decides()
	})
}

// Decide calls the handler of an undecided payload with the user's decision, and
// reports whether the session has to know as well (Handler.Decide).
func (v *View) Decide(payload string, accept bool) (session bool) {
	for _, p := range v.Undecided() {
		if p.ID != payload {
			continue
		}
		h := v.look.handler(p.Type)
		do := h.Reject
		if accept {
			do = h.Accept
		}
		if do != nil {
			do(p)
		}
		return h.Decide
	}
	return false
}

// payloadPart is structured data of the turn: a card with its summary.
type payloadPart struct {
	partState
	payload assistant.Payload
}

func newPayload(p assistant.Payload) *payloadPart {
	return &payloadPart{partState{foldable: true}, p}
}

func (p *payloadPart) source() string { return indentedJSON(json.RawMessage(p.payload.Data)) }

func (p *payloadPart) draw(width int, l *look) []string {
	p.sheet = sheet{}
	st, h := &l.st.Chat, l.handler(p.payload.Type)
	lead := p.foldSign(l) + " "
	if h.Icon != "" {
		lead += h.Icon + " "
	}
	head := h.Title
	if head == "" {
		head = oneLine(p.payload.Type)
	}
	if summary := oneLine(p.payload.Summary); summary != "" {
		head += "  " + summary
	}
	line := st.ToolName.Render(textwidth.Truncate(lead+oneLine(head), width, l.st.Icons.Ellipsis))
	p.addText(line, leadCells(ansi.StringWidth(lead)))
	if h.Render != nil {
		p.putRows(h.Render(p.payload), width, st)
	}
	p.putRows(l.extra[p.payload.ID], width, st)
	if p.open {
		p.put(safetext.Clean(visible(p.source())), indent, width-indent, indented(indent, st.ToolArgs))
	}
	if p.payload.Decision != "" {
		p.putRows([]Row{{Text: p.payload.Decision + " by you", Tone: Quiet}}, width, st)
	}
	p.add("")
	return p.text
}

// putRows puts in rows: an indent, a sign of up to two cells, and the text.
func (p *payloadPart) putRows(rows []Row, width int, st *style.Chat) {
	for _, r := range rows {
		before := strings.Repeat(" ", indent)
		if sign := textwidth.Truncate(oneLine(r.Sign), 2, ""); sign != "" {
			before += textwidth.Fit(sign, 2, "")
		}
		before = textwidth.Truncate(before, max(0, width-minText), "")
		lead, tone := ansi.StringWidth(before), r.Tone.style(st)
		p.put(safetext.Clean(visible(r.Text)), lead, width-lead, func(i int, line string) string {
			if i > 0 {
				before = strings.Repeat(" ", lead)
			}
			return tone.Render(before) + tone.Render(line)
		})
	}
}

// proposal is what the card reads of a pane.RuleProposal.
type proposal struct {
	AddIgnore    []string `json:"add_ignore"`
	AddAllow     []string `json:"add_whitelist"`
	RemoveIgnore []string `json:"remove_ignore"`
	RemoveAllow  []string `json:"remove_whitelist"`
	Reasoning    string   `json:"reasoning"`
}

// proposalRows show proposed rules one by one; their effect on the models is
// added with Enrich, see EffectRows.
func (l *look) proposalRows(p assistant.Payload) (rows []Row) {
	var r proposal
	if json.Unmarshal(p.Data, &r) != nil {
		return nil
	}
	add := func(sign, words string, tone Tone, patterns []string) {
		for _, pattern := range patterns {
			rows = append(rows, Row{sign, words + pattern, tone})
		}
	}
	i := l.st.Icons
	add(i.Remove, "no longer ignore ", Quiet, r.RemoveIgnore)
	add(i.Remove, "no longer allow ", Quiet, r.RemoveAllow)
	add(i.Allow, "allow ", Good, r.AddAllow)
	add(i.Ignore, "ignore ", Bad, r.AddIgnore)
	if r.Reasoning != "" {
		rows = append(rows, Row{Text: r.Reasoning, Tone: Quiet})
	}
	return rows
}

// maxNamed is how many models an effect names; the rest is counted.
const maxNamed = 6

// EffectRows shows the effect of a proposal in the rows of a card, for Enrich.
func (v *View) EffectRows(e pane.Effect) (rows []Row) {
	i := v.look.st.Icons
	add := func(sign, verb string, models []string, tone Tone) {
		if len(models) == 0 {
			return
		}
		names := strings.Join(models[:min(len(models), maxNamed)], ", ")
		if more := len(models) - maxNamed; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		rows = append(rows, Row{sign, verb + " " + assistant.Counted(len(models), "model") + ": " + names, tone})
	}
	add(i.Hidden, "hides", e.Hidden, Bad)
	add(i.Available, "shows", e.Shown, Good)
	switch {
	case !e.Known:
		rows = append(rows, Row{Text: "no models are known: the effect is unknown", Tone: Quiet})
	case len(rows) == 0:
		rows = append(rows, Row{Text: "changes no model", Tone: Quiet})
	}
	for _, why := range e.Refused {
		rows = append(rows, Row{i.Warn, why, Warn})
	}
	return rows
}
