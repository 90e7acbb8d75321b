package chat

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/cells"
	"winnow/tui/style"
)

// Choice is something under an answer that a key chooses: a next message or an action.
type Choice struct {
	Label  string
	Value  string                     // the message to send; "" for an action
	Action *assistant.SuggestedAction // nil for a message
	// Payload is the proposal that Accept answers; "" for a message or action.
	Payload string
	Accept  bool
	// Do is what the key table calls what is done with the pair itself: of a
	// pair that failed; "" for all others.
	Do string
}

// afterError is what can be done about a pair that failed. The letter is the
// key of it while the pair has the focus.
var afterError = []Choice{
	{Label: "Retry · r", Do: "retry"},
	{Label: "Re-ask · e", Do: "re-ask"},
	{Label: "Delete · d", Do: "delete-pair"},
}

// maxChoices is how many can be chosen: alt+1 to alt+9.
const maxChoices = 9

// choicesOf are the choices under a pair: what waits for a decision first.
func (l *look) choicesOf(p assistant.Pair) []Choice {
	var out []Choice
	if p.State == assistant.PairError {
		out = append(out, afterError...)
	}
	for _, payload := range p.Payloads {
		if l.handlers[payload.Type].decides() && payload.Decision == "" {
			out = append(out,
				Choice{Label: "Accept", Payload: payload.ID, Accept: true},
				Choice{Label: "Reject", Payload: payload.ID})
		}
	}
	if p.Suggested == nil {
		return out[:min(len(out), maxChoices)]
	}
	for _, a := range p.Suggested.Actions {
		out = append(out, Choice{Label: safetext.Line(a.Label, 60), Action: &a})
	}
	for _, v := range p.Suggested.Values {
		out = append(out, Choice{Label: safetext.Line(v.Label, 60), Value: v.Value})
	}
	return out[:min(len(out), maxChoices)]
}

// choicesPart shows the choices of a pair as chips and buttons.
type choicesPart struct {
	fixed
	sheet   // empty: keys choose them, nobody copies them
	choices []Choice
	live    bool // the newest pair: they can be chosen
	spans   []choiceSpan
}

// choiceSpan is where a choice was drawn.
type choiceSpan struct{ line, from, to int }

func (p *choicesPart) source() string { return "" }

func (p *choicesPart) lines(width int, l *look) []string {
	p.drawn = true
	if !p.live || len(p.choices) == 0 {
		return nil
	}
	st := l.st.Chat
	var out []string
	line := ""
	p.spans = p.spans[:0]
	for i, c := range p.choices {
		chip := c.tone(st).Render(cells.Truncate(fmt.Sprintf("[%d %s]", i+1, c.Label), width, l.st.Icons.Ellipsis))
		if line != "" && ansi.StringWidth(line)+1+ansi.StringWidth(chip) > width {
			out, line = append(out, line), ""
		}
		line = strings.TrimPrefix(line+" "+chip, " ")
		to := ansi.StringWidth(line)
		p.spans = append(p.spans, choiceSpan{len(out), to - ansi.StringWidth(chip), to})
	}
	return append(out, cells.Truncate(line, width, l.st.Icons.Ellipsis), "")
}

// ChoiceAt is the choice of the newest pair on a cell of the view.
func (v *View) ChoiceAt(x, y int) (int, bool) {
	i, line, ok := v.list.ItemAt(y)
	if !ok || i != v.Len()-1 {
		return 0, false
	}
	it := v.src.item(v.src.refs[i].Seq)
	for k, part := range it.parts {
		p, ok := part.(*choicesPart)
		if !ok || !p.live || it.running {
			continue
		}
		for n, s := range p.spans {
			if line == startOf(it, k)+s.line && x-gutterWidth >= s.from && x-gutterWidth < s.to {
				return n, true
			}
		}
	}
	return 0, false
}

// tone is how a choice looks: a chip, or a button in its style.
func (c Choice) tone(st style.Chat) lipgloss.Style {
	switch {
	case c.Accept:
		return st.Primary
	case c.Do == "retry":
		return st.Primary
	case c.Do == "delete-pair":
		return st.Warning
	case c.Payload != "", c.Do != "":
		return st.Secondary
	case c.Action == nil:
		return st.Chip
	case c.Action.Style == "primary":
		return st.Primary
	case c.Action.Style == "warning":
		return st.Warning
	}
	return st.Secondary
}
