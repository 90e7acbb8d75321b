package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// slowWindow tells its state only once the gate is open.
type slowWindow struct {
	*at.Window
	gate *at.Gate
}

func (w *slowWindow) State() (json.RawMessage, error) {
	if err := w.gate.Pass(context.Background()); err != nil {
		return nil, err
	}
	return w.Window.State()
}

// besides is a session in a slow window, beginning; told hears how that ends.
func besides(t *testing.T) (s *assistant.Session, r *rig, w *slowWindow, told <-chan error) {
	t.Helper()
	r = newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	put(t, r.store, assistant.Pair{ID: "old", Session: "s2", UserText: "before", State: assistant.PairComplete, AssistantText: "yes"})
	o := r.options
	w = &slowWindow{r.window, at.NewGate()}
	o.ID, o.Window = "s2", w
	s, err := assistant.NewSession(registryOf(t, r.script), o)
	r.must(err)
	said := make(chan error, 1)
	r.must(s.StartAsync(t.Context(), func(err error) { said <- err }))
	return s, r, w, said
}

func TestASlowWindowIsNotWaitedFor(t *testing.T) {
	s, r, w, told := besides(t)
	w.gate.Wait(t)
	r.must(s.LoadView(t.Context()))
	wantEqual(t, "pairs in view", len(s.Visible()), 1)
	events, err := at.Send(t.Context(), s, assistant.Prompt{Text: "early"})
	r.must(err)
	if n := len(r.script.Requests()); n != 0 {
		t.Errorf("%d requests went out before the session had begun", n)
	}
	w.gate.Open()
	r.must(<-told)
	end[assistant.Complete](t, at.Events(t, events))
	if b := s.Boundary(); b.SYS == 0 || b.X != 2 {
		t.Errorf("boundary %+v, want a measured system prompt and both pairs", b)
	}
	wantEqual(t, "the first checkpoint", len(s.Checkpoints()) > 0 && s.Checkpoints()[0].Session == "s2", true)
}

func TestEscDoesNotWaitForASlowWindow(t *testing.T) {
	s, r, w, told := besides(t)
	w.gate.Wait(t)
	events, err := at.Send(t.Context(), s, assistant.Prompt{Text: "early"})
	r.must(err)
	s.Cancel()
	end[assistant.Cancelled](t, at.Events(t, events))
	wantEqual(t, "busy", s.Busy(), false)
	w.gate.Open()
	r.must(<-told)
	wantEqual(t, "requests", len(r.script.Requests()), 0)
}

func TestASessionThatCouldNotBeginTriesAgain(t *testing.T) {
	s, r, w, told := besides(t)
	broken := errors.New("the disk is gone")
	w.BreakState = broken
	w.gate.Open()
	if err := <-told; !errors.Is(err, broken) {
		t.Fatalf("told %v", err)
	}
	send := func() []assistant.Event {
		events, err := at.Send(t.Context(), s, assistant.Prompt{Text: "a"})
		r.must(err)
		return at.Events(t, events)
	}
	if e := end[assistant.Error](t, send()); !strings.HasSuffix(e.Message, broken.Error()) {
		t.Errorf("error %+v", e)
	}
	wantEqual(t, "requests", len(r.script.Requests()), 0)
	w.BreakState = nil
	end[assistant.Complete](t, send())
	wantEqual(t, "the first checkpoint", len(s.Checkpoints()) > 0 && s.Checkpoints()[0].Session == "s2", true)
}
