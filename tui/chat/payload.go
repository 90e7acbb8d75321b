package chat

import (
	"encoding/json"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/markdown"
	"winnow/tui/style"
	"winnow/tui/textwidth"
)

// Handler says how the payloads of one type look and what the user can make of
// them. Its zero value is what a type without a handler gets: the summary, and
// the data as folded JSON.
type Handler struct {
	Title string // what the card is called; "" is the name of the type
	Icon  string // a sign of one cell before the title; "" is none
	// Render gives the rows of the card below its head; nil shows the data as
	// JSON when the card is open. It is called to draw: it must not wait for
	// anything. What takes time is told later with View.Enrich.
	Render func(p assistant.Payload) []Row
	// Decide says that the session carries out what is accepted and tells the
	// model what is rejected.
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

func (t Tone) style(st style.Chat) lipgloss.Style {
	switch t {
	case Quiet:
		return st.Time
	case Good:
		return st.ToolOK
	case Bad:
		return st.ToolBad
	case Warn:
		return st.Star
	case Plain:
	}
	return st.Assistant
}

// Handle registers the handler of a payload type, in the place of an older one.
func (v *View) Handle(payloadType string, h Handler) {
	v.look.handlers[payloadType] = h
	v.ownProposal = v.ownProposal || payloadType == RuleProposal
	for _, it := range v.src.items {
		it.redecide()
		it.redraw()
	}
}

// Enrich adds rows to the card of a payload: what its handler could not know
// while it drew, like the effect of a proposal on the models of now. They take
// the place of those that were added before.
func (v *View) Enrich(payload string, rows []Row) {
	v.look.extra[payload] = rows
	for _, it := range v.src.items {
		for _, p := range it.parts {
			if card, ok := p.(*payloadPart); ok && card.payload.ID == payload {
				card.dirty = true
				it.bump()
			}
		}
	}
}

// Undecided are the payloads of the newest pair that wait for the user.
func (v *View) Undecided() []assistant.Payload {
	if v.Len() == 0 {
		return nil
	}
	var out []assistant.Payload
	for _, p := range v.src.item(v.src.refs[v.Len()-1].Seq).pair.Payloads {
		if v.look.handlers[p.Type].decides() && p.Decision == "" {
			out = append(out, p)
		}
	}
	return out
}

// Decided tells the handler of a payload what the user made of it, and reports
// whether the session has to know as well (Handler.Decide).
func (v *View) Decided(payload string, accept bool) (session bool) {
	for _, p := range v.Undecided() {
		if p.ID != payload {
			continue
		}
		h := v.look.handlers[p.Type]
		if do := h.Reject; !accept && do != nil {
			do(p)
		}
		if do := h.Accept; accept && do != nil {
			do(p)
		}
		return h.Decide
	}
	return false
}

// payloadPart is structured data of the turn: a card with its summary.
type payloadPart struct {
	sheet
	foldable
	payload assistant.Payload
}

func newPayload(p assistant.Payload) *payloadPart {
	return &payloadPart{payload: p, foldable: foldable{dirty: true}}
}

func (p *payloadPart) key(int) string { return "payload " + p.payload.ID }
func (p *payloadPart) source() string { return indented(json.RawMessage(p.payload.Data)) }

func (p *payloadPart) lines(width int, l *look) []string {
	p.dirty, p.sheet = false, sheet{}
	st, h := l.st, l.handlers[p.payload.Type]
	fold := st.Icons.Folded
	if p.open {
		fold = st.Icons.Open
	}
	title := h.Title
	if title == "" {
		title = one(p.payload.Type)
	}
	lead := fold + " "
	if h.Icon != "" {
		lead += h.Icon + " "
	}
	head := one(title)
	if summary := one(p.payload.Summary); summary != "" {
		head += "  " + summary
	}
	line := st.Chat.ToolName.Render(textwidth.Truncate(lead+head, width, st.Icons.Ellipsis))
	p.addLine(line, markdown.Joint{Lead: leadCells(ansi.StringWidth(lead))})
	if h.Render != nil {
		p.putRows(h.Render(p.payload), width, st.Chat)
	}
	p.putRows(l.extra[p.payload.ID], width, st.Chat)
	if p.open {
		p.put(safetext.Clean(visible(p.source())), indent, width-indent, indentedBy(indent, st.Chat.ToolArgs.Render))
	}
	if p.payload.Decision != "" {
		p.putRows([]Row{{Text: p.payload.Decision + " by you", Tone: Quiet}}, width, st.Chat)
	}
	p.add("")
	return p.text
}

// rowLead is how far the text of rows stands from the edge: an indent, a sign of
// up to two cells and a blank.
const rowLead = 5

func (p *payloadPart) putRows(rows []Row, width int, st style.Chat) {
	for _, r := range rows {
		sign := textwidth.Truncate(one(r.Sign), 2, "")
		lead := indent
		if sign != "" {
			lead = rowLead - 1
		}
		lead = min(lead, max(0, width-leastText))
		tone := r.Tone.style(st)
		text := safetext.Clean(visible(r.Text))
		p.put(text, lead, width-lead, func(i int, line string) string {
			if i > 0 {
				return strings.Repeat(" ", lead) + tone.Render(line)
			}
			before := textwidth.Truncate(strings.Repeat(" ", indent)+sign, lead, "")
			return tone.Render(before+strings.Repeat(" ", max(0, lead-ansi.StringWidth(before)))) + tone.Render(line)
		})
	}
}
