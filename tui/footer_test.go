package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/tui/keymap"
	"winnow/tui/markdown"
	"winnow/tui/pane"
	"winnow/tui/style"
	"winnow/tui/tuitest"
	"winnow/tui/usecase"
)

// However narrow the screen is, the footer names the first key and the way to
// all others.
func TestFooterAlwaysNamesHelp(t *testing.T) {
	for mode, first := range map[string]string{"INPUT": "ctrl+j send", "VIEW": "enter write", "PANE": "h hide"} {
		d := three(t, setup{w: 80, h: 24})
		if mode != "INPUT" {
			d.goTo(mode)
		}
		for _, w := range []int{40, 60, 80, 120, 200} {
			d.Resize(w, 24)
			d.Until(func(frame string) bool {
				foot := footerOf(frame)
				return strings.HasPrefix(foot, " "+mode+"  "+first) && strings.HasSuffix(foot, "f1 help")
			})
		}
	}
}

// The footer offers the key that deletes a rule only where it acts, and names what it
// does there.
func TestTheFooterOffersToDeleteWhereARuleIs(t *testing.T) {
	d := startProgram(t, setup{w: 200, h: 40, env: "OPENAI_API_KEY=sk-x\nIGNORE_MODELS_OPENAI=gpt-3.5*\n"})
	offers := func(want string) {
		t.Helper()
		d.Until(func(frame string) bool {
			_, rest, _ := strings.Cut(footerOf(frame)+" · ", " · x")
			got, _, _ := strings.Cut(rest, " · ")
			return strings.HasPrefix(footerOf(frame), " PANE ") && got == want
		})
	}
	d.goTo("PANE")
	offers(" delete")
	d.Type("]", "g")
	offers(" delete its rule") // gpt-3.5-turbo, which the rule hides
	d.Type("G")
	offers("") // nothing decides the last model, and the key is not named
	d.Type("[", "x")
	d.says("deleted ignore rule")
	d.Type("g", "g")
	offers(" undo") // the rule that is deleted and not saved
	d.Type("]", "]")
	offers(" undo")
}

// hintingPane has keys of its own.
type hintingPane struct{ pane.None }

func (hintingPane) Hints() []pane.Hint {
	return []pane.Hint{{Key: "a", Text: "first"}, {Key: "b", Text: "second"}, {Key: "c", Text: "third"}, {Key: "z", Text: "last"}}
}

// A text line of the pane has hints of its own.
func TestThePaneGivesItsHints(t *testing.T) {
	m, _ := newProgram(t, setup{})
	m.pane, m.mode = hintingPane{}, keymap.Pane
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if got := ansi.Strip(m.bar.Draw(m.footer(), 80, m.styles.Footer.Bar)); !strings.Contains(got, "a first · b second · c third · z last") {
		t.Errorf("the footer is %q", got)
	}
}

// Whatever was said is over with the next key, also with esc.
func TestANoticeEndsWithAnyKey(t *testing.T) {
	for _, key := range []any{tuitest.Esc, tuitest.Tab, tuitest.ShiftTab} {
		d := three(t, setup{w: 80, h: 24})
		d.goTo("VIEW")
		d.Type("O")
		d.says("all 3 messages are sent")
		d.Type(key)
		d.Until(func(frame string) bool { return !strings.Contains(frame, "all 3 messages") })
	}
}

// Failed messages are shown and never sent, so the header counts fewer than all.
func TestTheBoundarySaysWhatIsNotSent(t *testing.T) {
	failed := told("plums?", "")
	failed.State, failed.ErrorCode = assistant.PairError, "net"
	d := startProgram(t, setup{w: 80, h: 24, pairs: []assistant.Pair{told("apples?", "green"), failed}})
	d.Wait("1/2")
	d.palette("boundary")
	d.says("requests include 1 of 2 messages, no failed or unfinished ones")
	d.in("VIEW")
}

// The palette names the key that works in this terminal first, as help does.
func TestPaletteNamesTheKeyThatWorksHere(t *testing.T) {
	d := three(t, setup{w: 80, h: 24})
	d.Type(tuitest.Key("ctrl+p"), "send the m")
	d.Wait(" ctrl+j ctrl+enter alt+enter │")
}

// The footer names esc only where it does something: in VIEW during a turn.
func TestTheFooterOfViewNamesTheFilterOrCancel(t *testing.T) {
	gate := at.NewGate()
	d := startProgram(t, setup{w: 80, h: 24, answers: []at.Answer{{at.Say("half"), at.Stop{At: gate}, at.Say(" whole")}}})
	names := func(want, not string) {
		t.Helper()
		d.Until(func(frame string) bool {
			return strings.Contains(footerOf(frame), want) && !strings.Contains(footerOf(frame), not)
		})
	}
	d.Type("question", tuitest.Send)
	gate.Wait(t)
	d.goTo("VIEW")
	names(" esc cancel ", " filter ")
	gate.Open()
	d.rest()
	names(" f filter ", " esc ")
}

// What esc clears in a text line comes back with the key for earlier lines.
func TestAClearedLineComesBack(t *testing.T) {
	d := three(t, setup{w: 80, h: 24})
	d.goTo("COMMAND")
	d.Type(tuitest.Key("ctrl+u"), "c'pears'", tuitest.Esc)
	d.line("", "3 messages")
	d.Type(tuitest.Key("ctrl+p"))
	d.line("c'pears'", "1 message")
	d.Type(tuitest.Esc, tuitest.Esc)
	d.in("VIEW")
	d.Type("/", "plums", tuitest.Esc, tuitest.Up)
	d.Until(func(frame string) bool { return strings.HasPrefix(footerOf(frame), " VIEW  / plums") })
}

func TestUndoSaysWhatIsUndone(t *testing.T) {
	d := startProgram(t, setup{w: 120, h: 32})
	d.goTo("PANE")
	d.Type("x")
	d.says("deleted ignore rule")
	d.Type(tuitest.Key("ctrl+z"))
	d.says("undid “stopped hiding ")
}

// Where there is room the message that waits names its keys, at least the one
// of all that can be done with it.
func TestQueuedCardNamesItsKeys(t *testing.T) {
	synctest.Test(t, queuedCardNamesItsKeys)
}

func queuedCardNamesItsKeys(t *testing.T) {
	gate := at.NewGate()
	m, d := newProgram(t, setup{answers: []at.Answer{{at.Stop{At: gate}}, say("b")}})
	events, err := at.Send(t.Context(), m.opts.Work, assistant.Prompt{Text: "a"})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range events {
		}
	}()
	<-gate.Reached()
	defer d.session.Cancel()
	if _, err := m.opts.Work.Queue(t.Context(), assistant.Prompt{Text: "and then the other thing"}); err != nil {
		t.Fatal(err)
	}
	readLog(t, m)
	for w, want := range map[int]string{
		70: "  queued: and then the other thing  alt+q edit, send, drop",
		58: "  queued: and then the other th…  alt+q edit, send, drop",
		38: "  queued: and then the other thing",
		20: "  queued: and the…",
	} {
		if got := strings.TrimRight(ansi.Strip(m.queuedCard(w)), " "); got != want {
			t.Errorf("queuedCard(%d) = %q, want %q", w, got, want)
		}
	}
}

// On an ordinary screen help is read without being cut, and it follows the size.
func TestHelpIsReadWhole(t *testing.T) {
	d := three(t, setup{w: 80, h: 24})
	d.Type(tuitest.Key("f1"))
	d.Wait("ctrl+j ctrl+enter alt+enter  send")
	for range 120 {
		if frame := d.Frame(); strings.Contains(frame, "… │") {
			t.Fatalf("a line of help is cut:\n%s", frame)
		}
		d.Type(tuitest.Down)
	}
	d.Resize(44, 16)
	d.Until(func(frame string) bool { return !strings.Contains(frame, "ctrl+enter") })
}

// The warning and its way out fit beside the mode at 80 columns.
func TestANearlyFullContextIsSaidInOneLine(t *testing.T) {
	m, _ := newProgram(t, setup{})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	shown := m.opts.Work.Session().Shown()
	shown.Version++
	shown.Boundary.Y, shown.Boundary.First = 2, 1 // the older pair does not fit
	m.show(assistant.Update{State: assistant.State{Shown: &shown}})
	if foot := footerOf(ansi.Strip(m.View().Content)); !strings.Contains(foot, "the context is nearly full · ctrl+n starts a new session") {
		t.Errorf("the footer is %q", foot)
	}
}

// 22: the footer names where the key of the next region goes.
func TestTheFooterNamesTheNextRegion(t *testing.T) {
	d := startProgram(t, setup{w: 200, h: 40})
	d.says("shift+tab pane")
	d.Type(tuitest.Tab)
	d.says("tab pane")
	d.Type(tuitest.Tab)
	d.says("tab input")
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
		for _, text := range []string{string(m.notice.Text), plainFrame(m.bar.Draw(m.footer(), 160, m.styles.Footer.Bar)), strings.Join(m.welcomeText(150), " "), m.statusLine(100)} {
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
		"cleared": func() { m.input.draft.Set("x"); m.carryOut(m.input.clear()) }, "search": func() { m.carryOut(m.conv.toHit(markdown.Forward)) },
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

// Where a filter is shown, the way back to the session's own pairs is shown as well.
func TestAFilterNamesItsWayBack(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 24, pairs: []assistant.Pair{told("first question", "an answer"), told("second question", "another")}})
	filter := func() {
		t.Helper()
		d.Type(tuitest.Tab, "f", tuitest.Key("ctrl+u"), "c'first'", tuitest.Enter)
		d.WaitGone("second question")
	}
	filter()
	d.Wait("only c'first' · F ends it")
	d.Type("F")
	d.Wait("second question")
	d.WaitGone("ends it")

	d.Type("i")
	d.in("INPUT")
	filter()
	d.Type("i")
	d.Wait("only c'first' · /unfilter ends it")
	d.Type("/unfilter", tuitest.Send)
	d.Wait("second question")
	d.in("INPUT")
}

// Where a filter matches nothing, the key that changes it is named, except in the filter line,
// where it is a letter.
func TestAFilterWithoutMatchesNamesTheKeyThatChangesIt(t *testing.T) {
	d := startProgram(t, setup{w: 80, h: 24, pairs: []assistant.Pair{told("first question", "an answer")}})
	d.Type(tuitest.Tab, "f", tuitest.Key("ctrl+u"), "c'zork'", tuitest.Enter)
	d.Wait("f changes the filter · an empty filter shows all messages")
	d.Type("f")
	d.in("COMMAND")
	d.WaitGone("f changes the filter")
	d.Wait("an empty filter shows all messages")
}

// However long the filter is, its way back is on the screen.
func TestALongFilterLeavesRoomForItsWayBack(t *testing.T) {
	d := startProgram(t, setup{w: 40, h: 12, pairs: []assistant.Pair{told("first question", "an answer")}})
	d.Type(tuitest.Tab, "f", tuitest.Key("ctrl+u"), "c'"+strings.Repeat("first question ", 1)+"' | c'first' | c'question'", tuitest.Enter)
	d.Wait("… · F ends it")
}

// The footer names the keys of the list above the box: where enter accepts an entry, enter.
func TestTheFooterNamesTheKeysOfTheList(t *testing.T) {
	t.Chdir(t.TempDir())
	d := startProgram(t, setup{w: 80, h: 24})
	d.Type("/mo")
	d.says("enter accepts · ↑ ↓ choose · esc closes")
	d.Type("del ")
	d.says("tab accepts · ↑ ↓ choose · enter runs · esc closes")
	d.Type(tuitest.Key("ctrl+u"), "see @gpt-4o-p")
	d.says("tab accepts · ↑ ↓ choose · esc closes")
}

// welcomeText is the welcome in w cells.
func (m *Model) welcomeText(w int) []string {
	welcome := m.welcome()
	return welcome.lines(m.scene(w), w, 40)
}

// No two keys of the footer say the same.
func TestTheFooterHasNoDoubles(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 200, 40)
	for _, in := range []keymap.Mode{keymap.Input, keymap.View, keymap.Pane} {
		s.setMode(in)
		seen := map[string]string{}
		for _, h := range s.hints() {
			if other, double := seen[h.Text]; double {
				t.Errorf("%s: %s and %s say %q", in, other, h.Key, h.Text)
			}
			seen[h.Text] = h.Key
		}
	}
}

// Without messages, the footer names no key that works on one, and such a key says why it does
// nothing.
func TestTheFooterOfAnEmptyConversationNamesNoKeyOfMessages(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 200, 24)
	s.keys("esc")
	foot := ansi.Strip(footerOf(s.frame()))
	for _, hint := range []string{"j next", "y copy", "/ search", "to the first sent"} {
		if strings.Contains(foot, hint) {
			t.Errorf("the footer of an empty conversation names %q: %q", hint, foot)
		}
	}
	for _, key := range []string{"r", "e", "d", "t", "*", "a", "B", "<"} {
		s.notice.Clear()
		s.keys(key)
		if foot := ansi.Strip(footerOf(s.frame())); !strings.Contains(foot, "there is no message here") {
			t.Errorf("%s in an empty conversation: %q", key, foot)
		}
	}
}

// The footer offers to fold only what folds, and the key says so where nothing does.
func TestTheFooterNamesFoldOnlyWhereSomethingFolds(t *testing.T) {
	thought := told("pears?", "yellow")
	thought.Reasoning = "I have seen them."
	d := startProgram(t, setup{w: 120, h: 40, pairs: []assistant.Pair{thought, told("apples?", "green")}})
	d.Wait("2/2")
	d.goTo("VIEW")
	d.Until(func(frame string) bool { return !strings.Contains(footerOf(frame), "space fold") })
	d.Type(" ")
	d.says("there is nothing to open or close in this message")
	d.Type("K")
	d.Until(func(frame string) bool { return strings.Contains(footerOf(frame), "space fold") })
	d.Type(" ")
	d.Wait("I have seen them.")
}
