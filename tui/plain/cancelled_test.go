package plain

import (
	"os"
	"testing"

	at "winnow/assistant/assistanttest"
)

// cancelled starts a console whose first turn was cancelled after two words.
func cancelled(t *testing.T, answers ...at.Answer) *rig {
	t.Helper()
	gate := at.NewGate()
	r := start(t, at.NewScript(append([]at.Answer{{at.Say("two words"), at.Stop{At: gate}}}, answers...)...), nil)
	r.say("question")
	gate.Wait(t)
	r.ctrlC <- os.Interrupt
	r.wait("2 words of the answer had arrived. Until you send another message, /keep keeps this part and /again sends the cancelled message again.")
	return r
}

func TestACancelledAnswerIsKept(t *testing.T) {
	r := cancelled(t, at.Answer{at.Say("next")})
	r.say("/keep")
	r.wait("Kept. Requests leave it out because it is incomplete.")
	r.say("/pairs")
	r.wait("1 question (cancelled)")
	r.say("/keep")
	r.wait("there is no cancelled answer to keep")
	r.say("other")
	r.wait("next")
	if got := len(r.script.Requests()[1].Messages); got != 2 {
		t.Errorf("%d messages were sent, want 2", got)
	}
	r.say("/quit")
	r.end()
}

func TestACancelledAnswerIsAskedAgain(t *testing.T) {
	r := cancelled(t, at.Answer{at.Say("whole answer")})
	r.say("/again")
	r.wait("whole answer")
	r.say("/quit")
	r.end()
}

func TestASessionIsBranchedAndNamed(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{at.Say("first answer")}, at.Answer{at.Say("second answer")}, at.Answer{at.Say("third answer")}), func(o *testOptions) { o.History = store(t) })
	for _, step := range [][2]string{
		{"one", "first answer"},
		{"two", "second answer"},
		{"/branch 7", "There is no such message"},
		{"/branch 1", "This is a new session that continues from message 1"},
		{"three", "third answer"},
		{"/title", "This session is called"},
		{"/title A plan", "A plan"},
	} {
		r.say(step[0])
		r.wait(step[1])
	}
	if got := len(r.script.Requests()[2].Messages); got != 4 { // system, one, its answer, three
		t.Errorf("the branch sent %d messages, want 4", got)
	}
	r.say("/quit")
	r.end()
}

func TestASessionWithoutMessagesHasNoTitle(t *testing.T) {
	r := start(t, at.NewScript(), func(o *testOptions) { o.History = store(t) })
	r.say("/title")
	r.wait("This session has no messages yet; its first message becomes its title.")
	r.say("/title A plan")
	r.wait("This session has no messages yet")
	r.say("/quit")
	r.end()
}
