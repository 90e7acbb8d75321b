package tui

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
	"winnow/tui/tuitest"
)

// The card of a proposal says what accepting it would do now, also after the
// rules have become others by hand.
func TestAProposalTellsItsEffect(t *testing.T) {
	d := startProgram(t, setup{answers: []at.Answer{
		say(`I propose this. RULE_PROPOSAL: {"add_ignore":["*-preview"],"reasoning":"previews come and go"}`),
		say("done"),
	}})
	d.Type("hide previews", tuitest.Send)
	d.Wait("hides 2 models: openai/gpt-4o-preview, openai/gpt-5-preview")
	d.WaitGone("working")
	d.Type(tuitest.Tab, tuitest.Tab, "h", "gpt-5*", tuitest.Enter)
	d.Wait("hides 1 model: openai/gpt-4o-preview")
	d.Type(tuitest.Alt(1))
	d.Wait("Carried out")
	d.WaitGone("working")
	d.Wait("+▌▲ gpt-5*")
	d.Wait("*-preview ")
}

// A proposal is accepted with the effect that is shown, or not: another user may have changed
// the rules, and the screen not know it yet.
func TestAProposalIsAcceptedWithTheEffectThatIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, d := steadyFixture(t, answersOf("an acceptance")...)
		b.hurry(append(letters("hi"), "ctrl+j", "down")...)
		if !strings.Contains(frameOf(b.Model), "hides 2 models") {
			t.Fatalf("no effect:\n%s", frameOf(b.Model))
		}
		before := len(d.window.Rules(modelfilter.Ignore))
		add := modelfilter.AddRule{Provider: "openai", Rule: modelfilter.Rule{List: modelfilter.Ignore, Pattern: "gpt-5*"}}
		if _, err := b.opts.Work.Act(t.Context(), add, d.window.Revision()); err != nil {
			t.Fatal(err)
		}
		h := &held{bench: b}
		h.keys("alt+1")
		for h.deliver(&h.outcomes) {
		}
		if got := frameOf(b.Model); !strings.Contains(got, "has changed since it was shown") {
			t.Errorf("no refusal:\n%s", got)
		}
		if n := len(d.window.Rules(modelfilter.Ignore)); n != before+1 {
			t.Errorf("%d rules, want %d", n, before+1)
		}
		for h.deliver(&h.entries) || h.deliver(&h.outcomes) {
		}
		if got := frameOf(b.Model); !strings.Contains(got, "hides 1 model") {
			t.Errorf("the effect is not shown again:\n%s", got)
		}
		h.keys("alt+1")
		for h.deliver(&h.entries) || h.deliver(&h.outcomes) {
		}
		if n := len(d.window.Rules(modelfilter.Ignore)); n != before+2 {
			t.Errorf("accepted again, %d rules", n)
		}
		b.leave()
	})
}

// An answer with several proposals can be accepted or rejected as a whole.
func TestAllProposalsOfAnAnswerAreAccepted(t *testing.T) {
	two := say(`I propose both. RULE_PROPOSAL: {"provider":"openai","add_ignore":["*-preview"],"reasoning":"old"} RULE_PROPOSAL: {"provider":"openai","add_ignore":["gpt-5*"],"reasoning":"older"}`)
	for key, want := range map[tuitest.Key]string{tuitest.Alt(1): "Carried out", tuitest.Alt(2): "rejected; the next message will tell"} {
		d := startProgram(t, setup{w: 120, h: 40, answers: []at.Answer{two, say("done")}})
		d.Type("hide both", tuitest.Send)
		d.Wait("[alt+1 Accept all] [alt+2 Reject all] [alt+3")
		d.WaitGone("working")
		d.rest()
		d.Type(key)
		d.Wait(want)
		d.WaitGone("Accept") // neither all nor one of them
		for _, rule := range []string{"*-preview", "gpt-5*"} {
			d.Until(func(f string) bool {
				return regexp.MustCompile(`▌\S `+regexp.QuoteMeta(rule)).MatchString(f) == (want == "Carried out")
			})
		}
	}
}

// slowDecision is a history that stores a decision once the gate opens.
type slowDecision struct {
	history.Store
	gate *at.Gate
}

func (s slowDecision) Commit(ctx context.Context, b *assistant.Batch) error {
	if len(b.Put) > 0 && len(b.Put[0].Payloads) > 0 && b.Put[0].Payloads[0].Decision != "" {
		if err := s.gate.Pass(ctx); err != nil {
			return err
		}
	}
	return s.Store.Commit(ctx, b)
}

// Storing that a proposal was rejected takes the time of a slow disk: keys go on.
func TestKeysGoOnWhileADecisionIsStored(t *testing.T) {
	gate := at.NewGate()
	d := startProgram(t, setup{
		answers: []at.Answer{say(`I propose this. RULE_PROPOSAL: {"add_ignore":["*-preview"],"reasoning":"previews come and go"}`)},
		wrap:    func(s history.Store) history.Store { return slowDecision{s, gate} },
	})
	d.Type("hide previews", tuitest.Send)
	d.Wait("hides 2 models")
	d.Wait("[alt+2 Reject")
	d.WaitGone("working") // until then a decision is refused
	d.rest()
	d.Type(tuitest.Alt(2))
	gate.Wait(t)
	d.Type("typed meanwhile")
	d.box("typed meanwhile")
	gate.Open()
	d.says("rejected; the next message will tell the model")
	d.box("typed meanwhile")
}

// A program gives the payload types that it registers a card of their own.
func TestARegisteredPayloadTypeHasItsCard(t *testing.T) {
	d := startProgram(t, setup{
		answers: []at.Answer{say(`Here it is. RECEIPT: {"total":"42"} That is all.`)},
		payloads: []assistant.PayloadType{{
			Name: "receipt", Description: "a receipt", Source: assistant.FromLLM, Global: true, Marker: "RECEIPT:", Title: "what it costs", Icon: "$",
			Text: func(data json.RawMessage) safetext.Text { return safetext.Sprintf("the sum is %s", string(data)) },
		}},
	})
	d.Type("how much is it", tuitest.Send)
	d.Wait("what it costs")
	d.Wait(`the sum is {"total":"42"}`)
}
