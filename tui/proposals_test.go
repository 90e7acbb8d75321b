package tui

import (
	"testing"

	at "winnow/assistant/assistanttest"
	"winnow/tui/tuitest"
)

// The card of a proposal says what accepting it would do now, also after the
// rules have become others by hand.
func TestAProposalTellsItsEffect(t *testing.T) {
	d := furnish(t, furniture{answers: []at.Answer{
		say(`I propose this. RULE_PROPOSAL: {"add_ignore":["*-preview"],"reasoning":"previews come and go"}`),
		say("done"),
	}})
	d.Type("hide previews", tuitest.Send)
	d.Wait("hides 2 models: openai/gpt-4o-preview, openai/gpt-5-preview")
	d.WaitGone("working")
	d.Type(tuitest.Tab, tuitest.Tab, "i", "gpt-5*", tuitest.Enter)
	d.Wait("hides 1 model: openai/gpt-4o-preview")
	d.Type(tuitest.Alt(1))
	d.Wait("Carried out")
	d.WaitGone("working")
	d.Wait("+▌▲ gpt-5*")
	d.Wait("*-preview ")
}
