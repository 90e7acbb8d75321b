package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

func TestTheHUDAlwaysHasItsGroups(t *testing.T) {
	r := start(t, 120, 50, say("an answer"))
	r.Type(tuitest.Key("f2"))
	for _, group := range []string{"PARAMETERS", "BUDGET", "SELECTION", "TRIMMING", "ERROR", "no error"} {
		r.Wait(group)
	}
}

func TestTheHUDSaysWhereTheLimitComesFrom(t *testing.T) {
	r := start(t, 120, 50, say("an answer"))
	r.session.Registry().LearnLimit("test/script", 5000, r.clock.Now())
	r.Type(tuitest.Key("f2"))
	r.Wait("an overflow error, " + r.clock.Now().Local().Format("2006-01-02"))
	r.Wait("limit from")
}

// The HUD shows the quota that the endpoint reported, and a message that it would
// refuse is asked about.
func TestTheQuotaOfTheEndpoint(t *testing.T) {
	r := start(t, 120, 50, say("an answer"))
	r.session.Registry().SetQuota("test/script", &llm.RateLimits{
		RequestsPerMinute: 60, RequestsLeft: 59, RequestsReset: time.Second,
		TokensPerMinute: 900, TokensLeft: 300, TokensReset: 21 * time.Second,
	}, 0, r.clock.Now())
	r.Type(tuitest.Key("f2"))
	r.Wait("300 of 900 left, full in 21s")
	r.Wait("59 of 60 left")
	r.Type(tuitest.Esc)
	r.WaitGone("300 of 900")

	r.Type("short") // with the system prompt over 300 tokens
	r.Wait("over the endpoint's limit")
	r.Type(tuitest.Send)
	r.Wait("The endpoint may refuse this now")
	r.Wait("300 are left for")
	r.clock.Advance(overlayGuard)
	r.Type(tuitest.Esc)
	r.Wait("nothing was changed")
	if len(r.script.Requests()) != 0 {
		t.Error("the message was sent")
	}
	r.clock.Advance(time.Minute)
	r.Type(tuitest.Send)
	r.Wait("an answer")
}

// answered waits for the end of the nth turn, on the screen too, and for the
// boundary that the screen computes after it.
func (r *rig) answered(n int) {
	r.Until(func(string) bool {
		if r.session.Boundary().Y != n || !idle(r.Screen, r.session) {
			return false
		}
		same := false
		r.Look(func(m tea.Model) { same = m.(*Model).conv.boundary.Boundary == r.session.Boundary() })
		return same
	})
}

// idle says whether no turn runs, for the screen too: that hears of the end
// after the session, and may not have shown the beginning yet.
func idle(s *tuitest.Screen, session *assistant.Session) bool {
	running := session.Busy()
	s.Look(func(m tea.Model) { running = running || m.(*Model).turn.running })
	return !running
}

func TestTheDraftSaysWhatWillNotFit(t *testing.T) {
	long := strings.Repeat("word ", 700) // about 1,000 estimated tokens
	r := start(t, 100, 30, say(long), say(long))
	for i := range 2 {
		r.Type("more", tuitest.Send)
		r.answered(i + 1)
	}
	r.Type("a word")
	r.Wait("── ~2")
	r.Paste(strings.Repeat(" more", 1200))
	r.Wait("old pair will not fit")
	recomputes := r.session.Recomputes()
	r.Type(" and more")
	r.Wait("old pair will not fit")
	if got := r.session.Recomputes(); got != recomputes {
		t.Errorf("typing computed the boundary %d times", got-recomputes)
	}
	r.Paste(strings.Repeat(" more", 4000))
	r.Wait("too long for the model")
}

func TestWhatWasLeftOutIsTold(t *testing.T) {
	r := start(t, 120, 50, say("one"), say("two"), at.Overflow(), say("three"))
	for i, text := range []string{"first question", "second question", "third question"} {
		r.Type(text, tuitest.Send)
		r.answered(i + 1)
	}
	r.Wait("sent without the oldest: 1 pair")
	r.Type(tuitest.Key("f2"))
	r.Wait("left out (T)")
	r.Wait("1 pair, ~")
	r.Wait("first question")
	r.Wait("2 of 2 pairs included, complete")
}

func TestTheHeaderKeepsTheModel(t *testing.T) {
	for width, want := range map[int]string{120: "◇ openai/gpt-5.1 ▾", 60: "◇ openai/gpt-5.1 ▾", 46: "◇ openai/gpt-5.1 ▾", 40: "◇ openai/"} {
		s := newStill(t, style.Options{Unicode: true}, width, 20)
		line := strings.Split(plainFrame(s.frame()), "\n")[0]
		if !strings.Contains(line, want) {
			t.Errorf("at %d cells the header is %q, want %q in it", width, line, want)
		}
	}
}

func TestTheActivityLineStaysForTheWholeTurn(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 100, 20)
	clock := s.now()
	s.Model.now = func() time.Time { return clock }
	s.turn = turn{n: 1, running: true, began: clock, status: "Thinking…"}
	for _, c := range []struct {
		after  time.Duration
		status string
		want   string
	}{
		{0, "Thinking…", "Thinking… · esc cancels"},
		{12 * time.Second, "Thinking…", "Thinking… 12s · esc cancels"},
		{12 * time.Second, "", " 12s · esc cancels"},
		{90 * time.Second, "", " 1m30s · esc cancels"},
	} {
		clock, s.turn.status = s.turn.began.Add(c.after), c.status
		if frame := plainFrame(s.frame()); !strings.Contains(frame, c.want) {
			t.Errorf("after %s with %q there is no %q in\n%s", c.after, c.status, c.want, frame)
		}
	}
}
