package chat

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/style"
	"winnow/tui/textwidth"
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

// afterError is what can be done about a pair that failed: by the keys of these
// actions while the pair has the focus, by number when it is the newest, and by a
// click.
var afterError = []Choice{
	{Label: "Retry", Do: "retry"},
	{Label: "Re-ask", Do: "re-ask"},
	{Label: "Delete", Do: "delete-pair"},
}

// defaultKeys are the keys of those actions until SetKeys.
var defaultKeys = map[string]string{"retry": "r", "re-ask": "e", "delete-pair": "d", "last-message": "G"}

// SetKeys says with which key an action of the key table is bound; the texts that
// name a key name that one.
func (v *View) SetKeys(keyOf func(action string) string) {
	v.look.keyOf = keyOf
	for _, it := range v.src.items {
		it.redraw()
	}
}

// keyHint names the key of an action behind a text; "" when it has none.
func (l *look) keyHint(action string) string {
	if key := l.keyOf(action); key != "" {
		return " · " + key
	}
	return ""
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
	at      int  // the one that enter chooses while the part has the focus
	focused bool // it has, and shows which
}

// choiceSpan is where choice i was drawn.
type choiceSpan struct{ i, line, from, to int }

func (p *choicesPart) source() string { return "" }

func (p *choicesPart) lines(width int, l *look) []string {
	p.drawn = true
	if len(p.choices) == 0 || !p.live && p.choices[0].Do == "" { // those of an error come first
		return nil
	}
	st := l.st.Chat
	var out []string
	line := ""
	if !p.live { // below the error, whose text is indented
		line, width = strings.Repeat(" ", indent), max(1, width-indent)
	}
	p.spans = p.spans[:0]
	for i, c := range p.choices {
		if !p.live && c.Do == "" {
			continue
		}
		tone, open := c.tone(st), "["
		if p.focused && i == p.at {
			tone, open = tone.Underline(true), l.st.Icons.Selected
		}
		label := fmt.Sprintf("%s%d %s]", open, i+1, c.Label)
		switch key := l.keyOf(c.Do); {
		case c.Do != "" && p.live:
			label = fmt.Sprintf("%s%d %s%s]", open, i+1, c.Label, l.keyHint(c.Do))
		case c.Do != "":
			label = "[" + strings.TrimSpace(key+" "+c.Label) + "]"
		}
		chip := tone.Render(textwidth.Truncate(label, width, l.st.Icons.Ellipsis))
		if strings.TrimSpace(line) != "" && ansi.StringWidth(line)+1+ansi.StringWidth(chip) > width {
			out, line = append(out, line), ""
		}
		line = strings.TrimPrefix(line+" "+chip, " ")
		to := ansi.StringWidth(line)
		p.spans = append(p.spans, choiceSpan{i, len(out), to - ansi.StringWidth(chip), to})
	}
	return append(out, line, "")
}

// Choice is the one of the choices with the focus that enter chooses.
func (v *View) Choice() int {
	if p := v.focusedChoices(); p != nil {
		return p.at
	}
	return 0
}

// MoveChoice goes n choices on, or back, and stops at the ends. It reports
// whether the choices have the focus.
func (v *View) MoveChoice(n int) bool {
	p := v.focusedChoices()
	if p == nil {
		return false
	}
	p.at = min(max(p.at+n, 0), len(p.choices)-1)
	p.drawn = false
	v.focused().bump()
	return true
}

// focusedChoices are the choices of the newest pair while they have the focus.
func (v *View) focusedChoices() *choicesPart {
	it := v.focused()
	if it == nil || v.focus >= len(it.parts) {
		return nil
	}
	if p, ok := it.parts[v.focus].(*choicesPart); ok && p.live && len(p.choices) > 0 {
		return p
	}
	return nil
}

// pointAtChoice shows on the choices, those of the newest pair, whether they have
// the focus.
func (v *View) pointAtChoice() {
	n := len(v.src.refs)
	if n == 0 {
		return
	}
	it := v.src.item(v.src.refs[n-1].Seq)
	p := it.choices()
	if has := p != nil && p == v.focusedChoices() && v.active; p != nil && p.focused != has {
		p.focused, p.drawn = has, false
		it.bump()
	}
}

// ChoiceAt is the choice of the newest pair on a cell of the view.
func (v *View) ChoiceAt(x, y int) (int, bool) {
	at, i, ok := v.choiceAt(x, y)
	return i, ok && at == v.Len()-1
}

// ActionAt is the action of the key table that a button below an older pair that
// failed stands for. It gives that pair the focus.
func (v *View) ActionAt(x, y int) (action string, ok bool) {
	at, i, ok := v.choiceAt(x, y)
	if !ok || at == v.Len()-1 {
		return "", false
	}
	v.list.Focus(at)
	v.focus = 0
	return v.src.item(v.src.refs[at].Seq).choices().choices[i].Do, true
}

// choiceAt is the pair, and which of its choices, on a cell of the view.
func (v *View) choiceAt(x, y int) (at, i int, ok bool) {
	at, line, ok := v.list.ItemAt(y)
	if !ok {
		return 0, 0, false
	}
	it := v.src.item(v.src.refs[at].Seq)
	p := it.choices()
	if p == nil || it.running {
		return 0, 0, false
	}
	for _, s := range p.spans {
		if line == startOf(it, len(it.parts)-1)+s.line && x-v.gutter() >= s.from && x-v.gutter() < s.to {
			return at, s.i, true
		}
	}
	return 0, 0, false
}

// choices are those below a pair, which are its last part; nil for none.
func (it *item) choices() *choicesPart {
	if n := len(it.parts); n > 0 {
		p, _ := it.parts[n-1].(*choicesPart)
		return p
	}
	return nil
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
