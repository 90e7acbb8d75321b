package tui

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/keymap"
	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// 2: a long reply scrolls to its first line and INPUT keeps the focus.
func TestALongReplyLeavesTheFocusInTheInput(t *testing.T) {
	reply := "The first line.\n\n" + strings.Repeat("more\n\n", 40) + "The last line."
	r := start(t, 80, 24, say(reply))
	r.Type("talk", tuitest.Send)
	r.answered(1)
	r.Until(func(frame string) bool {
		return strings.Contains(strings.Split(frame, "\n")[2], "The first line.") && strings.HasPrefix(footerOf(frame), " INPUT ")
	})
	r.Type("red") // r is no command
	r.Wait(" red")
}

// The height that counts is the reply's: a long question does not scroll.
func TestALongQuestionIsNoLongReply(t *testing.T) {
	r := start(t, 80, 24, say("short"))
	r.Paste(strings.Repeat("a line\n", 40))
	r.Type(tuitest.Send)
	r.answered(1)
	if !r.model.conv.chat.AtEnd() {
		t.Error("the view does not follow its end")
	}
}

// 5: the re-ask ends when its draft is undone, emptied or recalled; a chip says
// that it holds.
func TestAReAskEndsWithItsDraft(t *testing.T) {
	for name, keys := range map[string][]any{
		"emptied":  {tuitest.Esc},
		"undone":   {tuitest.CtrlZ},
		"recalled": {tuitest.Up},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, 80, 24, say("one"), broken(), say("three"))
			r.Type("first", tuitest.Send)
			r.answered(1)
			r.Type("second", tuitest.Send)
			r.Wait("[error:")
			r.WaitGone("working")
			r.Type(tuitest.Esc, "e")
			r.Wait("replaces the failed message")
			r.Type(keys...)
			r.WaitGone("replaces the failed message")
			r.Type(tuitest.Key("ctrl+u"), "third", tuitest.Send)
			r.Wait("three")
			r.WaitGone("working")
			if n := len(r.session.Visible()); n != 3 {
				t.Errorf("%d pairs are left, want the one that failed among 3", n)
			}
		})
	}
}

// 15: Retrying… holds until the next text or tool.
func TestRetryingHoldsUntilTheNextText(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	s.turn.running = true
	s.turn.onRetry(assistant.Retrying{Attempt: 2})
	s.turn.setStatus(thinking)
	if s.turn.status != "Retrying…" {
		t.Errorf("the status is %q", s.turn.status)
	}
	s.onText(assistant.TextDelta{Text: "so"})
	s.turn.setStatus(thinking)
	if s.turn.status != thinking {
		t.Errorf("after a text the status is %q", s.turn.status)
	}
}

// What hides in the name of a model is shown in the header and the list.
func TestHiddenCharactersOfAModelAreShown(t *testing.T) {
	id := "test/gpt-4\u200bo"
	d := startProgram(t, setup{w: 120, h: 32, known: []llm.ModelInfo{{ID: id, Context: 1000, Known: true}}})
	d.Type(tuitest.Key("ctrl+l"))
	d.Until(func(frame string) bool { return strings.Count(frame, "gpt-4‹U+200B›o") == 2 }) // header and list
	if frame := d.Frame(); strings.Contains(frame, "gpt-4o") || strings.Contains(frame, "\u200b") {
		t.Errorf("a character is hidden:\n%s", frame)
	}
}

// 22: the footer names where the key of the next region goes.
func TestTheFooterNamesTheNextRegion(t *testing.T) {
	d := startProgram(t, setup{w: 200, h: 40})
	d.says("tab view")
	d.Type(tuitest.Tab)
	d.says("tab pane")
	d.Type(tuitest.Tab)
	d.says("tab input")
}

// 23: what was tried to copy is said, and tmux is asked as well.
func TestCopyingSaysWhatWasTried(t *testing.T) {
	refuse := func(string) error { return context.Canceled }
	accept := func(string) error { return nil }
	for want, ways := range map[string][2]func(string) error{
		"copied it to the clipboard and the tmux buffer · OSC 52 sent":  {accept, accept},
		"copied it to the tmux buffer · OSC 52 sent":                    {refuse, accept},
		"sent it by OSC 52; whether the terminal accepts it is unknown": {refuse, nil},
	} {
		s := newStill(t, style.Options{Unicode: true}, 80, 24)
		s.opts.Clipboard, s.opts.TmuxBuffer = ways[0], ways[1]
		s.do(s.copyOut(copyText{what: "it", text: "text"}))
		if s.notice.Text != want {
			t.Errorf("the notice is %q, want %q", s.notice.Text, want)
		}
	}
}

// 26: a terminal that marks its pastes makes nobody guess.
func TestNothingIsGuessedAfterAMarkedPaste(t *testing.T) {
	m, d := newProgram(t, setup{})
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	m.Update(tea.PasteMsg{Content: "pasted "})
	for _, k := range []tea.KeyPressMsg{{Code: 'a', Text: "a"}, {Code: 'b', Text: "b"}, {Code: 'j', Mod: tea.ModCtrl}} {
		m.Update(k) // at one moment
	}
	if !m.turn.running {
		t.Errorf("ctrl+j did not send, the box holds %q", m.input.draft.Text())
	}
	d.session.Cancel()
}

// 27: with a question open the status line says what esc does to it, and clicks
// reach the footer, [new session] and [ctrl+j send].
func TestEscDeclinesIsSaid(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 80, 24)
	s.turn.running, s.turn.began = true, s.now()
	s.ask("Sure?", nil, "yes", "no", nil)
	if line := s.statusLine(70); !strings.Contains(line, "esc declines") {
		t.Errorf("the status line says %q", line)
	}
}

func TestTheMouseReachesHintsAndButtons(t *testing.T) {
	d := startProgram(t, setup{w: 140, h: 32, answers: []at.Answer{say("an answer")}, change: func(o *Options) { o.Mouse = true }})
	click := func(text string) {
		for y, line := range strings.Split(d.Frame(), "\n") {
			if before, _, ok := strings.Cut(line, text); ok {
				d.Click(len([]rune(before))+1, y)
				return
			}
		}
		t.Fatalf("there is no %q", text)
	}
	d.Type("hello")
	click("[ctrl+j send]")
	d.Wait("an answer")
	d.rest()
	before := d.session.ID()
	click("[new session]")
	d.says("a new session")
	if d.session.ID() == before {
		t.Error("the session is the same")
	}
	d.Type(tuitest.Tab)
	d.in("VIEW")
	click("ctrl+l model")
	d.Wait("━ Model ━")
}

// 28: help opens at the mode of now.
func TestHelpOpensAtTheModeOfNow(t *testing.T) {
	d := startProgram(t, setup{})
	d.goTo("PANE")
	d.Type(tuitest.F1)
	d.Until(func(frame string) bool {
		return strings.Contains(frame, "PANE") && strings.Contains(lineOf(frame, "❯ "), "next line")
	})
}

// 29: an estimate alone does not refuse.
func TestWhatSeemsTooLongCanBeSentAnyway(t *testing.T) {
	d := startProgram(t, setup{
		answers: []at.Answer{say("it fits")},
		known:   []llm.ModelInfo{{ID: "test/script", Context: 2000, Known: true, Tools: true}},
	})
	d.Paste(strings.Repeat("word ", 1600))
	d.Type(tuitest.Send)
	d.Wait("This message is too long")
	d.clock.Advance(overlayGuard)
	d.Type("y")
	d.Wait("it fits")
}

// 3: the window that was changed by somebody else is shown, with a notice.
func TestAChangeOfTheFileIsShown(t *testing.T) {
	changes := make(chan assistant.SavedChange, 1)
	d := startProgram(t, setup{change: func(o *Options) { o.Changes = changes }})
	changes <- assistant.SavedChange{Refreshed: assistant.Refreshed{Changed: true}}
	d.says("another program changed the file")
	changes <- assistant.SavedChange{Conflict: &assistant.Conflict{}}
	d.says("conflict with yours")
	close(changes)
}

// Every text that names a key names it as it is bound: with other keys no text
// names a default one.
func TestKeysAreNamedAsBound(t *testing.T) {
	m, _ := newProgram(t, setup{pairs: []assistant.Pair{told("question", "answer"), failed("broken")}, change: func(o *Options) {
		n := 0
		uses, _ := keymap.Uses(false, nil)
		for _, u := range uses {
			n++
			o.Rebinds = append(o.Rebinds, keymap.Rebind{Mode: u.Mode, Action: u.Action, Keys: []string{fmt.Sprintf("key%d", n)}})
		}
	}})
	done := func(cmd tea.Cmd) { m.Update(cmd()) }
	m.Update(loadStart(m.opts.Parts)())
	m.Update(tea.WindowSizeMsg{Width: 160, Height: 40})
	seen := func(where string) {
		for _, text := range []string{m.notice.Text, plainFrame(m.bar.Draw(m.footer(), 160, m.styles.Footer.Bar)), strings.Join(m.scene(150).welcome(150), " "), m.statusLine(100)} {
			for _, key := range []string{"ctrl+", "alt+", "f1 ", "f2 ", "f4 ", "esc ", "enter ", " u undoes", " r tries", " j goes"} {
				if strings.Contains(text, key) {
					t.Errorf("%s: %q names %q", where, text, key)
				}
			}
		}
	}
	for in := range keymap.HUD + 1 {
		m.setMode(in)
		m.notice.Clear()
		seen(in.String())
	}
	m.setMode(keymap.View)
	m.turn.running, m.turn.began = true, m.now()
	seen("running")
	m.turn.running = false
	for what, do := range map[string]func(){
		"busy": func() { m.fail(assistant.ErrBusy) }, "no model": func() { m.fail(assistant.ErrNoModel) },
		"cleared": func() { m.input.draft.Set("x"); m.carryOut(m.input.clear()) }, "search": func() { m.carryOut(m.conv.toHit(false)) },
		"cancelled": func() { m.onCancelled(turn{}, assistant.Cancelled{Kept: true}) }, "mouse": func() { m.toggleMouse() },
		"edited":   func() { m.onEditEnded(pane.Edit{Act: modelfilter.AddRule{}}, usecase.Edited{Done: "added"}) },
		"session":  func() { m.onSessionOpened(usecase.SessionOpened{New: true}) },
		"restored": func() { m.restored(notify{text: "rolled back"}, "") }, "re-ask": func() { done(m.reAskPair(1, assistant.Pair{Seq: 2})) },
	} {
		m.setMode(keymap.View)
		do()
		seen(what)
	}
}

// A save merges what somebody else has changed beside the rules, and asks where the
// same rules were changed.
func TestASaveMergesOrAsks(t *testing.T) {
	for name, c := range map[string]struct {
		theirs, shows, answer, want string
	}{
		"another key": {testEnv + "OTHER=1\n", "Save these changes?", "y", "OTHER=1"},
		"the same rules": {
			strings.Replace(testEnv, "gpt-3.5*", "theirs*", 1), "load their version and re-apply mine", "t", "IGNORE_MODELS_OPENAI=theirs*,o3*\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := startProgram(t, setup{})
			d.goTo("PANE")
			d.Type("x")
			d.says("deleted ignore rule")
			if err := os.WriteFile(d.file, []byte(c.theirs), 0o600); err != nil {
				t.Fatal(err)
			}
			d.Type(tuitest.CtrlS)
			d.Wait(c.shows)
			d.clock.Advance(time.Second) // the question was read
			d.Type(c.answer)
			d.WaitGone(c.shows)
			d.hold("the file", func() bool { return strings.Contains(d.env(), c.want) })
			d.Wait("saved")
		})
	}
}

// 12: the counter is of one send: it follows each trim of the request that is
// tried again, and stays until the next boundary is computed.
func TestTheCounterFollowsEachTrim(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 100, 24)
	s.conv.boundary.Counter = "4/9"
	for trimmed, want := range map[int]string{1: "[4-1]/9", 2: "[4-2]/9"} {
		s.onTurnEvent(assistant.ContextTrimmed{Sent: 4 - trimmed, Trimmed: trimmed, Visible: 9, Attempt: trimmed})
		if head, _, _ := strings.Cut(s.frame(), "\n"); !strings.Contains(head, want) {
			t.Errorf("after %d trims the header is %q", trimmed, head)
		}
		if hud := strings.Join(s.Model.numbers(), "\n"); !strings.Contains(hud, want) {
			t.Errorf("after %d trims the HUD does not show %s", trimmed, want)
		}
	}
	s.do(s.show(assistant.Update{State: assistant.State{Shown: &assistant.Shown{Stamp: assistant.Stamp{Version: 1 << 20}, Counter: "0/0"}}}))
	if head, _, _ := strings.Cut(s.frame(), "\n"); !strings.Contains(head, "0/0") {
		t.Errorf("with the next boundary the header is %q", head)
	}
}
