package plain

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/safetext"
	"winnow/tui/keymap"
)

// connecting starts a console whose /connect asks for a name and a key, which it notes.
func connecting(t *testing.T, offer bool) (r *rig, noted chan string, dismissed, hidden *atomic.Int64) {
	t.Helper()
	noted, dismissed, hidden = make(chan string, 10), &atomic.Int64{}, &atomic.Int64{}
	r = start(t, at.NewScript(at.Answer{at.Say("hello")}), func(o *testOptions) {
		o.OfferConnect = offer
		o.Dismiss = func(context.Context) error { dismissed.Add(1); return nil }
		o.Hide = func() func() { hidden.Add(1); return func() { hidden.Add(-1) } }
		o.Connect = func(ctx context.Context, print func(string), ask Ask) error {
			print("  1  ollama")
			for _, q := range []string{"name", "key"} {
				answer, err := ask(ctx, safetext.Sprintf("%s: ", q), q == "key")
				if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
					noted <- "ended"
					print("Nothing was changed.")
					return nil
				}
				noted <- answer
			}
			print("connected")
			return nil
		}
	})
	return r, noted, dismissed, hidden
}

func TestConnectByQuestions(t *testing.T) {
	r, noted, _, hidden := connecting(t, false)
	r.say("/connect")
	r.wait("  1  ollama\n")
	r.answer("name: ", "1")
	r.wait("key: ")
	if hidden.Load() != 1 {
		t.Error("the key is shown as it is typed")
	}
	r.clock.pass(ReadingTime)
	r.blind("sk-typed")
	r.wait("connected\n")
	if a, b := <-noted, <-noted; a != "1" || b != "sk-typed" || hidden.Load() != 0 {
		t.Errorf("answered %q and %q, hidden %d times more than shown", a, b, hidden.Load())
	}
	r.say("a message")
	r.wait("hello")
}

// What is typed ahead answers nothing, and is asked for again.
func TestALineBeforeTheQuestionIsNoAnswer(t *testing.T) {
	r, noted, _, _ := connecting(t, false)
	r.say("/connect")
	r.wait("name: ")
	r.blind("2")
	r.wait("does not count as an answer")
	r.answer("name: ", "1")
	if got := <-noted; got != "1" {
		t.Errorf("answered %q", got)
	}
	r.wait("key: ")
	r.ctrlC <- nil
	r.wait("You: ")
	if got := <-noted; got != "ended" {
		t.Errorf("Ctrl+C answered %q", got)
	}
	r.blind("/connect")
	r.wait("name: ")
	r.keys.Close()
	if got := <-noted; got != "ended" {
		t.Errorf("the end of the input answered %q", got)
	}
	r.wait("Nothing was changed.")
	r.end()
}

// At a first start it is offered; Enter skips it.
func TestConnectIsOffered(t *testing.T) {
	const offer = "Enter skips: "
	r, noted, dismissed, _ := connecting(t, true)
	r.answer(offer, "yes")
	r.answer("name: ", "1")
	if got := <-noted; got != "1" || dismissed.Load() != 0 {
		t.Errorf("answered %q, dismissed %d times", got, dismissed.Load())
	}
	r, _, dismissed, _ = connecting(t, true)
	r.answer(offer, "")
	r.wait("/connect connects one later")
	r.say("a message")
	r.wait("hello")
	if dismissed.Load() != 1 {
		t.Errorf("dismissed %d times", dismissed.Load())
	}
	r, _, _, _ = connecting(t, false)
	r.wait("You: ")
	if strings.Contains(r.all(), offer) {
		t.Error("it is offered again")
	}
}

func TestHelpExplainsATopic(t *testing.T) {
	r := start(t, at.NewScript(), func(o *testOptions) {
		o.Topics = []keymap.HelpTopic{{Name: "keys", Lines: func() []string { return []string{"The keys", "", "  f1  help"} }}}
	})
	r.say("/help keys")
	r.wait("The keys\n\n  f1  help\n")
	r.say("/help kyes")
	r.wait("the help has no topic kyes")
	r.wait("keys")
	r.say("/help")
	r.wait("of these topics: keys.")
}
