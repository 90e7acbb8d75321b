package plain

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/historytest"
	"winnow/assistant/llm"
)

func TestCancelBreaksOffAndKeepsTheText(t *testing.T) {
	gate := at.NewGate()
	script := at.NewScript(at.Answer{at.Say("Half. "), at.Stop{At: gate}}, at.Answer{at.Say("Whole.")})
	r := start(t, script, nil)
	r.say("go on")
	r.wait("Half.")
	r.ctrlC <- os.Interrupt
	r.wait("Cancelled. The message is not in the conversation")
	if n := len(r.session.Visible()); n != 0 {
		t.Errorf("%d pairs in view", n)
	}
	r.say("/retry")
	r.wait("Assistant: Whole.")
	all := script.Requests()[1].Messages
	if got := all[len(all)-1].Content; got != "go on" {
		t.Errorf("sent again: %q", got)
	}
}

func TestCancelKeepsWhatToolsDid(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Stop{At: at.NewGate()}}), nil)
	r.say("go")
	r.wait("done: added cat")
	r.ctrlC <- os.Interrupt
	r.wait("Everything that the tools have done stays.")
	r.say("/rules")
	r.wait("word cat")
}

func TestCancelWhileAskedIsNo(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{add("cat"), save}), nil)
	r.say("go")
	r.wait("Type yes to do it: ")
	r.ctrlC <- os.Interrupt
	r.wait("Cancelled.")
	r.say("yes") // a message now
	r.wait("Tool: add_word")
	if slices.Contains(r.window.Saved(), "cat") {
		t.Error("saved")
	}
}

func TestCtrlCTwiceQuits(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{at.Say("Hm.")}), nil)
	r.wait("You: ")
	r.ctrlC <- os.Interrupt
	r.wait("Ctrl+C again quits")
	r.say("hello") // in between: not in a row
	r.wait("Hm.")
	r.wait("You: ")
	r.ctrlC <- os.Interrupt
	r.wait("Ctrl+C again quits")
	r.wait("You: ")
	r.ctrlC <- os.Interrupt
	if status := r.end(); status != exitCancelled {
		t.Errorf("status %d", status)
	}
}

// What is typed while an answer comes is sent after it.
func TestMessagesTypedAhead(t *testing.T) {
	gate := at.NewGate()
	script := at.NewScript(at.Answer{at.Say("One. "), at.Stop{At: gate}}, at.Answer{at.Say("Two.")})
	r := start(t, script, nil)
	r.say("first")
	r.wait("One.")
	r.blind("second")
	r.blind("third")
	gate.Open()
	r.wait("You: second\n")
	r.wait("Assistant: Two.")
	r.wait("You: third\n")
	r.wait("Assistant: Two.")
	all := script.Requests()[2].Messages
	if got := all[len(all)-1].Content; got != "third" {
		t.Errorf("sent %q", got)
	}
}

// After an answer that was cancelled or failed, nothing is sent by itself.
func TestWhatWasTypedAheadIsNotSentAfterACancel(t *testing.T) {
	h := store(t)
	script := at.NewScript(at.Answer{at.Say("One. "), at.Stop{At: at.NewGate()}}, at.Answer{at.Say("Two.")})
	r := start(t, script, func(o *testOptions) { o.History = h })
	r.say("first")
	r.wait("One.")
	r.blind("second")
	r.blind("/quit")
	r.blind("") // is read after both lines have come
	r.ctrlC <- os.Interrupt
	r.wait("Not sent: second\nNot sent: /quit\n")
	r.say("/retry")
	r.wait("Assistant: Two.")
	if n := len(script.Requests()); n != 2 {
		t.Errorf("%d requests: sent by itself", n)
	}
	if sent, err := h.Sent(t.Context(), 10); err != nil || !slices.Contains(sent, "second") {
		t.Errorf("to recall: %q, %v", sent, err)
	}
}

func refuse(kind llm.Kind, message string) at.Answer {
	return at.Answer{at.Fail{Err: &llm.RequestError{Kind: kind, Message: message, Err: errors.New(message)}}}
}

func TestErrorAndRetry(t *testing.T) {
	script := at.NewScript(refuse(llm.KindAuth, "wrong \x1b[31mkey"), at.Answer{at.Say("Well.")})
	r := start(t, script, nil)
	r.say("hello")
	r.wait("Error (auth): wrong key\n")
	r.wait("Check the API key with winnow doctor, or choose another model (/model).\n/retry sends the message again; /retry TEXT sends TEXT instead.\n")
	before := r.session.Visible()
	r.say("/retry")
	r.wait("Assistant: Well.")
	r.wait("You: ")
	if refs := r.session.Visible(); len(refs) != 1 || refs[0].Seq != before[0].Seq {
		t.Errorf("%v, then %v: not in its place", before, refs)
	}
}

func TestErrorAndOtherWords(t *testing.T) {
	script := at.NewScript(refuse(llm.KindNet, "gone"), at.Answer{at.Say("Well.")})
	r := start(t, script, nil)
	r.say("hello")
	r.wait("Error (net)")
	r.say("/retry other words")
	r.wait("Assistant: Well.")
	r.say("/messages")
	r.wait("1 other words")
	if n := len(r.session.Visible()); n != 1 {
		t.Errorf("%d pairs: the failed one stays", n)
	}
}

func TestErrorOfAScript(t *testing.T) {
	r := start(t, at.NewScript(refuse(llm.KindQuota, "no money")), func(o *testOptions) {
		o.Interactive, o.In = false, strings.NewReader("hello")
	})
	if status := r.end(); status != exitFailed {
		t.Errorf("status %d", status)
	}
	r.err.wait("Error (quota): no money")
}

func TestTrimmedAndRetrying(t *testing.T) {
	script := at.NewScript(at.Answer{at.Say("A.")}, at.Overflow(), at.Answer{
		at.Emit{Part: llm.Retry{Attempt: 2, Reason: "busy", After: 1500_000_000}}, at.Say("B."),
	})
	r := start(t, script, nil)
	r.say("one")
	r.wait("In context: 1 of 1 messages.")
	r.say("two")
	r.wait("Notice: too long for the model: trying again without 1 of 1 message.")
	r.wait("Notice: trying again in 1.5s, attempt 2: busy")
	r.wait("Assistant: B.")
	r.wait("In context: [1-1] of 1 messages.")
}

func TestReasoningIsReadOnlyWhenWanted(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{at.Think("Hm, a secret."), at.Say("Well.")}), nil)
	r.say("one")
	r.wait("Thinking…\nAssistant: Well.\n")
	r.say("/message")
	r.wait("You: one\nThinking: Hm, a secret.\nAssistant: Well.\n")
}

// Another answer to the last message is chosen by its number, and is sent.
func TestAnswers(t *testing.T) {
	script := at.NewScript(at.Answer{at.Say("First.")}, at.Answer{add("cat")}, at.Answer{at.Say("Second.")}, at.Answer{at.Say("Well.")})
	r := start(t, script, nil)
	r.say("/answer")
	r.wait("No messages are shown.")
	r.say("one")
	r.wait("Assistant: First.")
	r.say("/retry")
	r.wait("Assistant: Second.")
	r.say("/answer")
	r.wait("  1 First.\n  2 Second. (chosen)\n")
	r.say("/answer 3")
	r.wait("There is no answer with that number; /answer lists them.")
	r.say("/answer 1")
	r.wait("From now on, requests contain answer 1 of 2.\nYou: one\nAssistant: First.\nThis is answer 1 of 2.\n")
	r.say("two")
	r.wait("Assistant: Well.")
	requests := script.Requests()
	if all := requests[len(requests)-1].Messages; !slices.ContainsFunc(all, func(m llm.Message) bool { return m.Content == "First." }) {
		t.Errorf("sent: %+v", all)
	}
}

// Files that a user names go with the message, as on the screen; those of a script do not.
func TestFilesGoWithAMessage(t *testing.T) {
	t.Chdir(t.TempDir())
	picture := historytest.Picture(t, "a.png", 8)
	for name, data := range map[string][]byte{"a.txt": []byte("the text"), "a.png": picture.Data} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, script := store(t), at.NewScript(at.Answer{at.Say("Well.")})
	r := start(t, script, func(o *testOptions) { o.History = h })
	r.say("read @a.txt, see @a.png")
	r.wait("Assistant: Well.")
	r.say("and @none.txt")
	r.wait("Error: @none.txt does not exist; nothing was sent, /retry tries again")
	r.say("/quit")
	r.end()
	sent := script.Requests()
	last := sent[0].Messages[len(sent[0].Messages)-1]
	if len(sent) != 1 || !strings.Contains(last.Content, "the text") || len(last.Pictures) != 1 {
		t.Errorf("%d requests, the first with %+v", len(sent), last)
	}
	if words, err := h.Sent(t.Context(), 10); err != nil || !slices.Equal(words, []string{"read @a.txt, see @a.png"}) {
		t.Errorf("to recall: %q, %v", words, err)
	}
	script = at.NewScript(at.Answer{at.Say("Well.")})
	r = start(t, script, func(o *testOptions) { o.Interactive, o.In = false, strings.NewReader("read @a.txt") })
	r.end()
	if last := script.Requests()[0].Messages; last[len(last)-1].Content != "read @a.txt" {
		t.Errorf("a script sends %q", last[len(last)-1].Content)
	}
}

func TestAFullContextIsSaid(t *testing.T) {
	h := store(t)
	r := start(t, at.NewScript(at.Answer{at.Say(strings.Repeat("word ", 80_000))}), func(o *testOptions) { o.History = h })
	r.say("one")
	r.wait("The context is nearly full: the oldest messages will be left out. /session new starts a new session.")
	r.say("/quit")
	r.end()
	id := r.session.ID()
	r = start(t, at.NewScript(), func(o *testOptions) { o.History = h }, func(o *assistant.Options) { o.ID = id })
	r.wait("1 message in this session; /messages lists them.\n")
	r.wait("The context is nearly full")
}

// A message that waited when winnow last ended is not sent by itself, and not lost.
func TestAMessageThatWaitsIsSaid(t *testing.T) {
	h, script := store(t), at.NewScript(at.Answer{at.Say("Well.")})
	ctx := t.Context()
	if err := h.Touch(ctx, history.Session{ID: "before"}); err != nil {
		t.Fatal(err)
	}
	if err := h.SaveQueued(ctx, "before", assistant.Prompt{Text: "next"}); err != nil {
		t.Fatal(err)
	}
	r := start(t, script, func(o *testOptions) { o.History = h }, func(o *assistant.Options) { o.ID = "before" })
	r.wait("has not been sent: next. /retry sends it.")
	r.say("/retry")
	r.wait("Assistant: Well.")
	if _, waits := r.session.Queued(); waits {
		t.Error("it waits still")
	}
}

func TestProgressIsReadInSteps(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{at.Call{Name: "progress", Arguments: `{}`}}, at.Answer{at.Say("Well.")}), nil)
	r.say("go")
	r.wait("Progress: 50 percent, half of it\nTool: progress, done: done\n")
}

func TestEndOfInputKeepsWhatIsUnsaved(t *testing.T) {
	r := start(t, at.NewScript(at.Answer{add("cat")}, at.Answer{at.Say("Well.")}), nil)
	r.say("go")
	r.wait("Well.")
	r.wait("You: ")
	r.keys.Close()
	r.wait("The unsaved changes are kept")
	if status := r.end(); status != exitOK {
		t.Errorf("status %d", status)
	}
	if got := r.window.Words(); !slices.Contains(got, "cat") {
		t.Errorf("words %q", got)
	}
	if got := r.window.Saved(); slices.Contains(got, "cat") {
		t.Errorf("saved %q", got)
	}
}

// TestEndOfInputFinishesTheTurn: the last line of a pipe is still answered,
// and a question that nobody can answer is a no.
func TestEndOfInputFinishesTheTurn(t *testing.T) {
	gate := at.NewGate()
	r := start(t, at.NewScript(at.Answer{add("cat"), save}, at.Answer{at.Stop{At: gate}, at.Say("Well.")}), nil)
	r.say("go")
	r.wait("Type yes to do it: ")
	r.keys.Close()
	r.wait("Declined.")
	gate.Wait(t)
	gate.Open()
	r.wait("Assistant: Well.")
	r.end()
}

func TestContextEndsIt(t *testing.T) {
	script := at.NewScript(at.Answer{at.Say("Half. "), at.Stop{At: at.NewGate()}})
	r := start(t, script, nil)
	r.say("go")
	r.wait("Half.")
	r.stop()
	if status := r.end(); status != exitCancelled {
		t.Errorf("status %d", status)
	}
	if r.session.Busy() || script.Cancelled() != 1 {
		t.Errorf("busy %v, %d cancelled", r.session.Busy(), script.Cancelled())
	}
	// What was asked stays, as after a kill.
	refs := r.session.Visible()
	if len(refs) != 1 {
		t.Fatalf("%d pairs in view, want the one that was asked", len(refs))
	}
	pairs, err := r.session.Pairs(t.Context(), []int64{refs[0].Seq})
	if err != nil || pairs[0].ErrorCode != assistant.CodeInterrupted || strings.TrimSpace(string(pairs[0].AssistantText)) != "Half." {
		t.Errorf("the pair is %+v, %v; want it interrupted, with what was received", pairs, err)
	}
}

// TestNobodyReadsOn: a terminal that is gone ends the turn and the console.
func TestNobodyReadsOn(t *testing.T) {
	gone := &brokenAfter{text: "Thinking…"}
	script := at.NewScript(at.Answer{at.Say("Half. "), at.Say("More. "), at.Stop{At: at.NewGate()}})
	r := start(t, script, func(o *testOptions) { o.Out, o.Interactive, o.In = gone, false, strings.NewReader("go\n") })
	if status := r.end(); status != exitFailed {
		t.Errorf("status %d", status)
	}
	if r.session.Busy() {
		t.Error("the turn still runs")
	}
}

// A terminal that takes nothing holds up no turn, and shows the whole answer later.
func TestASlowTerminalHoldsUpNoTurn(t *testing.T) {
	slow := &stoppedAfter{text: "Assistant:", stopped: make(chan struct{}), goOn: make(chan struct{})}
	var long at.Answer
	for range 1000 { // more than fits into any buffer of events
		long = append(long, at.Say("word. "), at.Think("thought. "))
	}
	first := at.NewGate()
	r := start(t, at.NewScript(slices.Concat(at.Answer{at.Say("First. "), at.Stop{At: first}}, long)), func(o *testOptions) {
		o.Interactive, o.In, o.Out = false, strings.NewReader("go"), slow
	})
	<-slow.stopped
	first.Open()
	for u := range r.session.Follow(t.Context(), -1) {
		if u.Turn != nil && !u.Turn.Running {
			break
		}
	}
	close(slow.goOn)
	r.end()
	if n := strings.Count(slow.all.String(), "word."); n != 1000 {
		t.Errorf("%d of 1000 words are shown", n)
	}
}

// stoppedAfter takes no more after a text until it goes on.
type stoppedAfter struct {
	text          string
	all           strings.Builder
	stopped, goOn chan struct{}
	once          sync.Once
}

func (w *stoppedAfter) Write(p []byte) (int, error) {
	w.all.Write(p)
	if strings.Contains(w.all.String(), w.text) {
		w.once.Do(func() { close(w.stopped); <-w.goOn })
	}
	return len(p), nil
}

// brokenAfter fails every write after the one with its text.
type brokenAfter struct {
	text string
	seen bool
}

func (w *brokenAfter) Write(p []byte) (int, error) {
	if w.seen {
		return 0, errors.New("broken pipe")
	}
	w.seen = strings.Contains(string(p), w.text)
	return len(p), nil
}

// TestHostileText: whatever a model, a tool or an error says, the terminal
// gets no sequence, and what is asked about hides nothing.
func TestHostileText(t *testing.T) {
	const evil = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\u202eevil\u200b\x9b31m"
	script := at.NewScript(
		at.Answer{at.Think(evil), at.Say("a" + evil + "b [[tool:0]] "), at.Call{Name: "add_word", Arguments: `{"word":"x\u202e\u001b[8my"}`}},
		at.Answer{at.Say("SUGGESTED_VALUES: {\"values\":[{\"label\":\"\u202eevil\\u001b[2J\",\"value\":\"x\"}]}"), save},
		refuse(llm.KindNet, evil),
	)
	r := start(t, script, nil)
	r.say("go")
	r.wait(" [[tool:0]]")
	r.wait(`Tool: add_word x‹U+202E›‹U+001B›[8my, done`)
	r.wait("+ant x‹U+202E›‹U+001B›[8my")
	r.answer("Type yes to do it: ", "no")
	r.wait("Error (net)")
	r.say("/message")
	r.wait("Error (net)")
	r.say("/messages")
	r.say("/rollback")
	r.wait("You: ")
	for i, c := range r.all() {
		if c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0 || c == '\u202e' || c == '\u200b' {
			t.Fatalf("%U at byte %d: %q", c, i, r.all()[max(0, i-40):i+10])
		}
	}
}

// TestHostileChoice: a suggestion shows the text that it sends, whatever its label says.
func TestHostileChoice(t *testing.T) {
	offer := at.Say("SUGGESTED_VALUES: {\"values\":[{\"label\":\"\u202eevil\\u001b[2J\",\"value\":\"hide\u200b \\u001b[8mall\"}," +
		"{\"label\":\"Two\",\"value\":\"first\\nsecond\"},{\"label\":\"Hidden\",\"value\":\"\u202e\"},{\"label\":\"same\",\"value\":\"same\"}]}")
	script := at.NewScript(at.Answer{offer}, at.Answer{offer})
	r := start(t, script, nil)
	r.say("go")
	r.wait("  /1 evil: hide all\n  /2 Two:\n     first\n     second\n  /3 same\n")
	r.say("/1")
	r.wait("/3 same\n")
	requests := script.Requests()
	messages := requests[len(requests)-1].Messages
	if got := messages[len(messages)-1].Content; got != "hide all" {
		t.Errorf("sent %q", got)
	}
}

// An estimate alone refuses nothing: what is too long by it is sent after a yes.
func TestLongMessageAsks(t *testing.T) {
	script := at.NewScript(at.Answer{at.Say("Well.")})
	r := start(t, script, nil)
	r.say(strings.Repeat("long ", 100_000))
	r.wait("This message is too long: about ")
	r.answer("Type yes to send it anyway: ", "no")
	r.wait("Nothing was sent; /retry tries again.")
	if n := len(script.Requests()); n != 0 {
		t.Errorf("%d requests after a no", n)
	}
	r.say("/retry")
	r.answer("Type yes to send it anyway: ", "yes")
	r.wait("Assistant: Well.")
	if n := len(script.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestColour: it is on labels and nowhere else, and nothing moves.
func TestColour(t *testing.T) {
	const bold, red, off = "\x1b[1m", "\x1b[1;31m", "\x1b[0m"
	r := start(t, at.NewScript(at.Answer{at.Say("Well.")}, refuse(llm.KindNet, "gone")), func(o *testOptions) { o.Color = true })
	r.say("one")
	r.wait(bold + "Assistant:" + off + " Well.\n")
	r.say("two")
	r.wait(red + "Error (net):" + off + " gone\n")
	r.wait("You: ")
	rest := strings.NewReplacer(bold, "", red, "", off, "").Replace(r.all())
	if strings.ContainsAny(rest, "\x1b\r\b") {
		t.Errorf("other sequences: %q", rest)
	}
}
