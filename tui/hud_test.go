package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/keymap"
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
	r.Wait("known from")
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
	r.Wait("300 of 900 left, full again in 21s")
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
	r.Wait("old message will not fit")
	recomputes := r.session.Recomputes()
	r.Type(" and more")
	r.Wait("old message will not fit")
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
	r.Wait("sent without the oldest: 1 message")
	r.Type(tuitest.Key("f2"))
	r.Wait("left out to fit")
	r.Wait("1 message, ~")
	r.Wait("first question")
	r.Wait("2 of 2 messages sent, answered")
}

func TestTheHeaderKeepsTheModel(t *testing.T) {
	for width, want := range map[int]string{120: " gpt-5.1 · 0 % of ", 60: " gpt-5.1 · ", 46: " gpt-5.1 · ", 40: " gpt-5.1 · "} {
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
	for _, keys := range [][]string{{"esc", "f"}, {"esc", "/"}} {
		s.turn.running = false // escape focuses the conversation
		s.keys(keys...)
		s.turn.running = true
		if frame := plainFrame(s.frame()); !strings.Contains(frame, "1m30s") || strings.Contains(frame, "esc cancels") {
			t.Errorf("after %q escape clears the line, but the screen says\n%s", keys, frame)
		}
		s.keys("esc", "esc")
	}
}

// The docked HUD follows each key of the draft, each pair and the filter; it has the
// keys while it has the focus, and shows its pair in the conversation.
func TestTheDockedHUDFollows(t *testing.T) {
	gate := at.NewGate()
	answers := []at.Answer{{at.Say("half"), at.Stop{At: gate}, at.Say(" and whole")}}
	d := startProgram(t, setup{pairs: []assistant.Pair{told("first question", "an answer"), told("second question", "another"), failed("third question")}, answers: answers})
	row := func(cost, text string) { // of the panel, on a screen of 120 cells
		t.Helper()
		d.Until(func(frame string) bool {
			return slices.ContainsFunc(strings.Split(frame, "\n"), func(line string) bool {
				cells := []rune(line)
				return len(cells) > 72 && strings.Contains(string(cells[72:]), cost) && strings.Contains(string(cells[72:]), text)
			})
		})
	}
	d.Type(tuitest.Key("f5"))
	row("context", "2/3")
	row("~0", "your draft")
	for i, cost := range []string{"~1", "~1", "~1", "~2"} { // 3.5 characters a token
		d.Type(string(rune('a' + i)))
		row(cost, "your draft")
	}
	row("~0", "failed")
	row("✓", "second question")
	d.Type(tuitest.Send)
	row("·", "being answered")
	gate.Open()
	d.rest()
	row("✓", "abcd")

	d.Type(tuitest.Tab, "f", tuitest.Key("ctrl+u"), "c'first'", tuitest.Enter)
	row("context", "1/1")
	row("3 other messages", "hidden by the filter")
	d.Type("f", tuitest.Key("ctrl+u"), "x", tuitest.Enter)
	row("context", "3/4")

	d.Type(tuitest.Esc)
	d.Type(tuitest.Key("ctrl+u"), tuitest.Enter)
	d.in("VIEW")
	d.Type(tuitest.Enter, tuitest.ShiftTab)
	d.in("HUD")
	d.Type("G", tuitest.Enter)
	d.in("VIEW")
	d.focused("first question")
	d.Type(tuitest.Key("f5"))
	d.WaitGone("your draft")
	d.Type(tuitest.Tab, tuitest.Tab)
	d.in("INPUT")
}

// Where a low screen has no room for the docked HUD, the notice names the key that
// shows it, and docking notes nothing else.
func TestDockingOnALowScreen(t *testing.T) {
	r := start(t, 40, 12)
	r.Type(tuitest.Key("f5"))
	r.Wait("HUD docked · tab shows it")
	r.Type(tuitest.Key("f4"))
	r.Wait("Notices")
	r.WaitGone("HUD closed")
	r.Type(tuitest.Esc, tuitest.ShiftTab)
	r.Wait("context 0/0")
}

// A draft that is too long shows which pairs give way, and the boundary which do not fit.
func TestTheDockedHUDSaysWhatWillNotFit(t *testing.T) {
	long := strings.Repeat("word ", 700) // about 1,000 estimated tokens
	r := start(t, 120, 40, say(long), say(long))
	for i := range 2 {
		r.Type(fmt.Sprint("question ", i), tuitest.Send)
		r.answered(i + 1)
	}
	r.Type(tuitest.Key("f5"), "a word")
	r.Wait("your draft")
	r.WaitGone("! ")
	r.Paste(strings.Repeat(" more", 1200))
	r.Wait("!  ~1003  question 0")
	r.Paste(strings.Repeat(" more", 4000))
	r.Wait("too long for the model")
	r.Type(tuitest.Esc)
	r.WaitGone("too long for the model")
}

// The choice is stored for the next start; what cannot be stored is said.
func TestTheDockedHUDIsRemembered(t *testing.T) {
	var stored []string
	var fault error
	r := newStill(t, style.Options{Unicode: true}, 80, 24)
	r.opts.StoreSetting = func(key, value string) error { stored = append(stored, key+"="+value); return fault }
	r.keys("f5", "f5")
	if want := []string{"hud=true", "hud=false"}; !slices.Equal(stored, want) {
		t.Errorf("stored: %q, want %q", stored, want)
	}
	fault = errors.New("the disk is full")
	r.keys("f5")
	if got := plainFrame(r.frame()); !strings.Contains(got, "the disk is full") || !strings.Contains(got, "context 0/0") {
		t.Errorf("the frame is\n%s", got)
	}
}

// It can be docked from its overlay, by the mouse it gets the focus, and on a narrow
// screen it has, with the focus, the place of all else.
func TestTheDockedHUDOnANarrowScreen(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	s.opts.Mouse = true
	s.pairs(longTalk()...)
	s.keys("f2")
	s.do(s.onKey(tea.KeyPressMsg{Code: tea.KeyF5}))
	docked := plainFrame(s.frame())
	if !strings.Contains(docked, "which models are hidden?") || !strings.Contains(docked, "context 2/2") {
		t.Errorf("the frame is\n%s", docked)
	}
	at := s.layout.HUD.Min
	s.do(s.onClick(at.X+4, at.Y+2))
	if focused := plainFrame(s.frame()); strings.Contains(focused, "which models are hidden?    ") || !strings.Contains(focused, "─ HUD") && !strings.Contains(focused, " HUD ") {
		t.Errorf("with the focus the frame is\n%s", focused)
	}
	s.keys("f5")
	if s.mode != keymap.Input || strings.Contains(plainFrame(s.frame()), "context 2/2") {
		t.Errorf("in mode %s the frame is\n%s", s.mode, plainFrame(s.frame()))
	}
}
