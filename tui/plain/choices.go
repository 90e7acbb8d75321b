package plain

import (
	"fmt"
	"strconv"
	"strings"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/tui/pane"
)

// choice is something that /1, /2… chooses: the next message, an action, or
// the answer to a proposal.
type choice struct {
	label    string
	message  string
	action   *assistant.SuggestedAction
	pair     int64 // of the proposal
	proposal string
	accept   bool
}

// ruleProposal is the type of payload that is accepted or rejected.
const ruleProposal = "rule_proposal"

// choicesOf are the choices of a pair, in the order in which the screen
// numbers them.
func choicesOf(p *assistant.Pair) []choice {
	var out []choice
	for _, payload := range p.Payloads {
		if payload.Type == ruleProposal && payload.Decision == "" {
			out = append(out,
				choice{label: "Accept: " + payload.Summary, pair: p.Seq, proposal: payload.ID, accept: true},
				choice{label: "Reject it", pair: p.Seq, proposal: payload.ID})
		}
	}
	if p.Suggested == nil {
		return out
	}
	for _, a := range p.Suggested.Actions {
		out = append(out, choice{label: a.Label, action: &a})
	}
	for _, v := range p.Suggested.Values {
		out = append(out, choice{label: v.Label, message: v.Value})
	}
	return out
}

// offer reads the choices of a pair.
func (c *console) offer(seq int64) {
	pairs, err := c.s.Pairs(c.ctx, []int64{seq})
	if err != nil || len(pairs) == 0 {
		return // the answer is there; only its suggestions cannot be read
	}
	c.choices = choicesOf(&pairs[0])
	c.readChoices("Choices")
}

func (c *console) offerExamples() {
	for _, e := range c.o.Examples {
		c.choices = append(c.choices, choice{label: e, message: e})
	}
	c.readChoices("For example")
}

func (c *console) readChoices(title string) {
	if len(c.choices) == 0 {
		return
	}
	c.out.line(title + ", a slash and the number chooses:")
	for i, ch := range c.choices {
		c.out.line(fmt.Sprintf("  /%d %s", i+1, shown(ch.label)))
	}
}

// choose takes choice n, counted from 1.
func (c *console) choose(number string) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(c.choices) {
		c.out.line(fmt.Sprintf("There is no choice %s; %s offered now.", safetext.Line(number, maxLabel), are(len(c.choices))))
		return
	}
	ch := c.choices[n-1]
	switch {
	case ch.proposal != "":
		c.decide(ch)
	case ch.action == nil:
		c.sayChosen(ch.message)
		c.dispatch(assistant.Prompt{Text: ch.message})
	case ch.action.Handler == "server":
		c.sayChosen(ch.label)
		c.dispatch(assistant.ActionPrompt(*ch.action))
	default:
		c.act(ch.action.Action)
	}
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

// sayChosen shows what a number stands for, as if it had been typed.
func (c *console) sayChosen(text string) {
	if c.o.Interactive {
		c.out.labelled("You", text)
	}
}

// decide answers a proposal. Accepting it is a turn of its own.
func (c *console) decide(ch choice) {
	before := c.newest()
	events, err := c.s.Decide(c.ctx, ch.pair, ch.proposal, ch.accept)
	switch {
	case err != nil:
		c.fail(err)
	case events == nil:
		c.out.line("Rejected; the assistant learns of it with your next message.")
		c.offer(ch.pair)
	default:
		c.follow(events, assistant.Prompt{Text: ch.label}, before)
	}
}

// act carries out an action of the program that an answer suggested: a command
// of this console, or something that the window knows.
func (c *console) act(action string) {
	name := strings.ReplaceAll(action, "_", "-")
	if same, ok := sameAs[name]; ok {
		name = same
	}
	if cmd := commandNamed(name); cmd != nil {
		cmd.run(c, "")
		return
	}
	if d, ok := c.o.Window.(doer); ok {
		w := d.Do(name)
		if _, nothing := w.(pane.Nothing); !nothing {
			c.carry(w)
			return
		}
	}
	c.listRules("")
}

// sameAs are the actions of windows that a command here does.
var sameAs = map[string]string{
	"open-save": "save", "show-rules": "rules", "show-changes": "changes", "rollback": "checkpoints",
}
