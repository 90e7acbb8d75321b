package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/checkpoint"
)

// livesChecks is how many lives are lived in an ordinary run, of some 30 steps
// each; -rapid.checks and -rapid.steps ask for more.
const livesChecks = 8

// TestLivesAgainstAnOracle lives random lives: messages that are answered, fail,
// are cut off and cancelled, tools that write and that fail, edits by hand,
// saves, changes of the file by somebody else, deletions, rollbacks and their
// undo, ends of the program in order and by a crash. After each step everything
// that is kept anywhere is what a simple model of it in memory says.
func TestLivesAgainstAnOracle(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if before := checks.Value.String(); before == checks.DefValue {
		if err := checks.Value.Set(fmt.Sprint(livesChecks)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = checks.Value.Set(before) }()
	}
	ownFolder(t)
	t.Setenv("WINNOW_CONFIRM", "never")
	t.Setenv("WINNOW_MODEL", "openai/test-model")
	rapid.Check(t, func(rt *rapid.T) {
		l := &life{t: t, rt: rt, server: assistanttest.NewServer(t, assistanttest.Text("hello")), oracle: newOracle()}
		t.Setenv("OPENAI_BASE_URL", l.server.URL)
		l.begin()
		defer func() { l.end() }()
		rt.Repeat(l.actions())
	})
}

// life is one program after the other on the same files, with the oracle beside
// it. Its folder is the test's, its homes are its own.
type life struct {
	t      *testing.T
	rt     *rapid.T
	server *assistanttest.Server
	oracle *oracle

	home     string
	app      *app
	said     bytes.Buffer // what the program told the user
	session  *assistant.Session
	window   *modelfilter.Window
	journal  *checkpoint.Journal
	crashed  []*app // their files were taken from under them
	messages int    // sent so far: makes each text its own
	asked    int    // requests before this message
}

const livesEnv = "# note\nFOREIGN=\"a # b\"\nIGNORE_MODELS_OPENAI=w0\n"

// begin writes a fresh .env, opens the program for the first time and says a
// word.
func (l *life) begin() {
	l.must(os.WriteFile(".env", []byte(livesEnv), 0o600))
	l.home = l.t.TempDir()
	l.open()
	l.oracle.begun(l.session.ID(), l.newest())
	l.say(assistant.Prompt{}).answered("hello")
}

func (l *life) open(args ...string) {
	l.t.Setenv("WINNOW_HOME", l.home)
	l.app = newApp(l.t.Context(), strings.NewReader(""), &l.said, &l.said)
	l.must(newRoot(l.app).ParseFlags(args))
	p, err := l.app.open(l.t.Context(), openOptions{afterCrash: true})
	if err != nil {
		l.rt.Fatalf("open: %v\n%s", err, l.said.String())
	}
	l.session, l.window, l.journal = p.session, p.window.filter, p.window.journal
}

func (l *life) end() {
	for _, a := range append(l.crashed, l.app) {
		if err := a.close(); err != nil {
			l.t.Errorf("close: %v", err)
		}
	}
}

func (l *life) must(err error) {
	if err != nil {
		l.rt.Helper()
		l.rt.Fatal(err)
	}
}

// actions are all that can happen. The empty name is what must hold after each.
func (l *life) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":              func(rt *rapid.T) { l.rt = rt; l.check() },
		"chat":          l.chat,
		"write":         l.write,
		"writeAgain":    l.write, // what matters most comes more often
		"fail":          l.fail,
		"failAfterTool": l.failAfterTool,
		"cancel":        l.cancel,
		"cancelLater":   l.cancelAfterTool,
		"queue":         l.queue,
		"reask":         l.reask,
		"retry":         l.retry,
		"regenerate":    l.regenerate,
		"delete":        l.delete,
		"star":          l.star,
		"edit":          l.edit,
		"editAgain":     l.edit,
		"save":          l.save,
		"foreign":       l.foreign,
		"rollback":      l.rollback,
		"undoRollback":  l.undoRollback,
		"undo":          l.undo,
		"quit":          l.quit,
		"crash":         l.crash,
		"renew":         l.renew,
		"resume":        l.resume,
	}
}

// chat is a message that gets an answer.
func (l *life) chat(rt *rapid.T) {
	l.rt = rt
	p := l.say(assistant.Prompt{}, assistanttest.Text("fine"))
	p.answered("fine")
}

// write is a message whose answer begins with calls of tools.
func (l *life) write(rt *rapid.T) {
	l.rt = rt
	calls := l.drawCalls()
	l.oracle.turnWrites(calls)
	p := l.say(assistant.Prompt{}, assistanttest.Calls(wired(calls)...), assistanttest.Text("done"))
	p.ran(calls)
	p.answered("done")
}

// fail is a message whose answer is refused, or breaks off.
func (l *life) fail(rt *rapid.T) {
	l.rt = rt
	l.say(assistant.Prompt{}, l.drawFailure()).failed()
}

func (l *life) failAfterTool(rt *rapid.T) {
	l.rt = rt
	calls := l.drawCalls()
	l.oracle.turnWrites(calls)
	p := l.say(assistant.Prompt{}, assistanttest.Calls(wired(calls)...), l.drawFailure())
	p.ran(calls)
	p.failed()
}

// drawFailure is a refusal, or an answer that is cut in the middle of a text or
// of a call, which must not run.
func (l *life) drawFailure() assistanttest.Reply {
	return rapid.SampledFrom([]assistanttest.Reply{
		assistanttest.Respond(400, `{"error":{"message":"no","code":"bad"}}`),
		assistanttest.CutAfter(assistanttest.TextEvent("half an answer")),
		assistanttest.CutAfter(assistanttest.CallEvent(0, "c", "add_ignore_rule", `{"pattern":"cut"}`)),
	}).Draw(l.rt, "failure")
}

// cancel breaks off before anything came: the message was never sent.
func (l *life) cancel(rt *rapid.T) {
	l.rt = rt
	gate := assistanttest.NewGate()
	defer gate.Open()
	stands := assistanttest.Unanswered(gate, assistanttest.Text("too late"))
	if rapid.Bool().Draw(rt, "begun") {
		stands = assistanttest.Stalled(assistanttest.TextEvent("it beg"), gate, "")
	}
	events := l.send(assistant.Prompt{Text: l.text()}, stands)
	gate.Wait(l.t)
	l.session.Cancel()
	if end := l.last(events); end != (assistant.Cancelled{}) {
		rt.Fatalf("a message that was cancelled ends with %#v", end)
	}
	l.oracle.forget()
}

func (l *life) cancelAfterTool(rt *rapid.T) {
	l.rt = rt
	gate := assistanttest.NewGate()
	defer gate.Open()
	calls := l.drawCalls()
	l.oracle.turnWrites(calls)
	text := l.text()
	events := l.send(assistant.Prompt{Text: text}, assistanttest.Calls(wired(calls)...), assistanttest.Stalled(assistanttest.TextEvent("it beg"), gate, ""))
	gate.Wait(l.t)
	l.session.Cancel()
	if end := l.last(events); end != (assistant.Cancelled{Kept: true}) {
		rt.Fatalf("a message that was cancelled after its tools ends with %#v", end)
	}
	p := l.sent(text, 0)
	p.ran(calls)
	p.failed()
}

// queue is a message that waits for the answer to another one: that ends with
// the response, here one with tools, and the next begins.
func (l *life) queue(rt *rapid.T) {
	l.rt = rt
	gate := assistanttest.NewGate()
	defer gate.Open()
	calls := l.drawCalls()
	l.oracle.turnWrites(calls)
	first, second := l.text(), l.text()
	events := l.send(assistant.Prompt{Text: first}, func(x *assistanttest.Exchange) {
		if gate.Pass(l.t.Context()) == nil {
			assistanttest.Calls(wired(calls)...)(x)
		}
	})
	gate.Wait(l.t)
	l.must(l.session.Queue(assistant.Prompt{Text: "given up for the next"}))
	l.must(l.session.Queue(assistant.Prompt{Text: second}))
	gate.Open()
	l.last(events)
	p := l.sent(first, 0)
	p.ran(calls)
	p.state = assistant.PairComplete
	next, ok := l.session.TakeQueued()
	if !ok || next.Text != second {
		rt.Fatalf("the queue holds %q, want %q", next.Text, second)
	}
	l.sayText(next.Text, next, assistanttest.Text("fine")).answered("fine")
}

// reask sends the text of an error pair as a new one, in its stead.
func (l *life) reask(rt *rapid.T) {
	l.rt = rt
	old := l.draw("error pair", func(p *lived) bool { return p.state == assistant.PairError })
	l.sayInsteadOf(old, "at last")
}

// retry goes on with an error pair in its place.
func (l *life) retry(rt *rapid.T) {
	l.rt = rt
	old := l.draw("error pair", func(p *lived) bool { return p.state == assistant.PairError })
	want := append(l.oracle.wire(old), "user "+old.text)
	want = append(want, old.exchanges...)
	l.last(l.send(assistant.Prompt{Text: old.text, Retry: old.seq}, assistanttest.Text("at last")))
	l.compareRequest(want)
	old.answered("at last")
	l.oracle.forget()
}

// regenerate asks the last good pair again.
func (l *life) regenerate(rt *rapid.T) {
	l.rt = rt
	pairs := l.oracle.pairs()
	n := len(pairs)
	if n == 0 || pairs[n-1].state != assistant.PairComplete {
		rt.Skip("the last pair is none to ask again")
	}
	l.sayInsteadOf(pairs[n-1], "better")
}

// sayInsteadOf sends the text of a pair again; the new one has its stars.
func (l *life) sayInsteadOf(old *lived, answer string) {
	l.oracle.remove(old)
	p := l.say(assistant.Prompt{Text: old.text, Replaces: old.seq}, assistanttest.Text(answer))
	p.answered(answer)
	p.star = old.star
}

func (l *life) delete(rt *rapid.T) {
	l.rt = rt
	p := l.draw("pair", func(*lived) bool { return true })
	l.must(l.session.Delete(l.t.Context(), p.seq))
	l.oracle.remove(p)
}

func (l *life) star(rt *rapid.T) {
	l.rt = rt
	p := l.draw("pair", func(*lived) bool { return true })
	p.star = rapid.IntRange(0, 3).Draw(rt, "stars")
	l.must(l.session.Mark(l.t.Context(), assistant.PairMark{Seq: p.seq, Star: &p.star}))
}

// edit changes the rules by hand.
func (l *life) edit(rt *rapid.T) {
	l.rt = rt
	c := l.drawCall()
	before := l.oracle.rules.clone()
	ok := l.oracle.rules.do(c)
	err := l.session.Edit(c.tool+" "+c.pattern, func() error { return l.byHand(c) })
	if ok != (err == nil) {
		rt.Fatalf("%v by hand: %v", c, err)
	}
	if !l.oracle.rules.equal(before) {
		l.oracle.add(&point{id: l.newest(), kind: checkpoint.KindEdit, before: before, changed: true})
	}
}

func (l *life) byHand(c doing) error {
	list := modelfilter.Ignore
	if c.allow() {
		list = modelfilter.Allow
	}
	switch {
	case c.adds():
		_, err := l.window.Add(list, c.pattern)
		return err
	case c.clears():
		in := modelfilter.Import{Replace: true}
		in.Lists[list] = []string{}
		_, err := l.window.Import(in)
		return err
	}
	return l.window.Remove(list, c.pattern)
}

func (l *life) save(rt *rapid.T) {
	l.rt = rt
	_, err := l.session.Save(l.t.Context())
	l.must(err)
	l.oracle.saved = l.oracle.rules.clone()
}

// foreign is somebody else who changes another line of the file. A save and a
// refresh take the change over.
func (l *life) foreign(rt *rapid.T) {
	l.rt = rt
	file, err := os.ReadFile(".env")
	l.must(err)
	l.oracle.notes++
	l.must(os.WriteFile(".env", append(file, "# a note of somebody else\n"...), 0o600))
	if l.window.Dirty() {
		l.save(rt)
		l.check()
		return
	}
	l.must(l.session.Edit("Merge", func() error { _, err := l.window.RefreshSaved(l.t.Context(), false); return err }))
}

// rollback goes back to any checkpoint.
func (l *life) rollback(rt *rapid.T) {
	l.rt = rt
	c := rapid.SampledFrom(l.oracle.listed()).Draw(rt, "checkpoint")
	l.rollBackTo(c, rapid.SampledFrom([]checkpoint.Scope{checkpoint.ScopeBoth, checkpoint.ScopeRules, checkpoint.ScopeConversation}).Draw(rt, "scope"))
}

func (l *life) rollBackTo(c *point, scope checkpoint.Scope) {
	want := l.oracle.rollback(c, scope)
	text, err := l.session.Rollback(l.t.Context(), c.id, scope)
	l.must(err)
	if text != want {
		l.rt.Errorf("the rollback gives %q back, want %q", text, want)
	}
}

func (l *life) undoRollback(rt *rapid.T) {
	l.rt = rt
	err := l.session.UndoRollback(l.t.Context())
	if l.oracle.back == nil {
		if !errors.Is(err, checkpoint.ErrNoRollback) {
			rt.Fatalf("there was nothing to undo: %v", err)
		}
		return
	}
	l.must(err)
	l.oracle.undoRollback()
}

// undo takes the newest change back, as ctrl+z does.
func (l *life) undo(rt *rapid.T) {
	l.rt = rt
	step, ok := l.session.LastStep()
	want := l.oracle.step()
	if ok != (want != nil) || ok && step.ID != want.id {
		rt.Fatalf("the step to undo is %+v, want %+v", step, want)
	}
	if !ok {
		rt.Skip("no step to undo")
	}
	scope := checkpoint.ScopeRules
	if want.kind == checkpoint.KindTurn && rapid.Bool().Draw(rt, "both") {
		scope = checkpoint.ScopeBoth
	}
	l.rollBackTo(want, scope)
}

// quit ends the program in order and takes the session up again.
func (l *life) quit(rt *rapid.T) {
	l.rt = rt
	l.must(l.app.close())
	l.open("--continue")
	l.oracle.resumed(l.oracle.here)
}

// crash leaves the program where it stands: the next one finds the files as
// they are at this moment.
func (l *life) crash(rt *rapid.T) {
	l.rt = rt
	home := l.t.TempDir()
	l.must(os.CopyFS(home, os.DirFS(l.home)))
	l.must(filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err == nil {
			err = os.Chmod(path, map[bool]os.FileMode{true: 0o700, false: 0o600}[d.IsDir()])
		}
		return err
	}))
	l.crashed, l.home = append(l.crashed, l.app), home
	l.open()
	l.oracle.resumed(l.oracle.here)
}

// renew begins a new session.
func (l *life) renew(rt *rapid.T) {
	l.rt = rt
	l.must(l.session.Renew(l.t.Context()))
	l.touch()
	l.oracle.begun(l.session.ID(), l.newest())
}

// resume takes an older session up, or the same one.
func (l *life) resume(rt *rapid.T) {
	l.rt = rt
	id := rapid.SampledFrom(l.oracle.sessions).Draw(rt, "session")
	l.must(l.session.Resume(l.t.Context(), id))
	l.touch()
	l.oracle.resumed(id)
}

// touch keeps that the session was used last, here.
func (l *life) touch() {
	l.must(l.app.store.Touch(l.t.Context(), history.Session{
		ID: l.session.ID(), Folder: l.app.folder(), Window: l.window.EnvFile(), Model: l.session.Model(),
	}))
}

// newest is the id of the newest checkpoint of the session.
func (l *life) newest() string {
	all := l.session.Checkpoints()
	return all[len(all)-1].ID
}

func (l *life) text() string {
	l.messages++
	return fmt.Sprintf("message %d", l.messages)
}

// say sends a message and reads its turn to the end.
func (l *life) say(p assistant.Prompt, replies ...assistanttest.Reply) *lived {
	if p.Text == "" {
		p.Text = l.text()
	}
	return l.sayText(p.Text, p, replies...)
}

func (l *life) sayText(text string, p assistant.Prompt, replies ...assistanttest.Reply) *lived {
	want := append(l.oracle.wire(nil), "user "+text)
	l.last(l.send(p, replies...))
	l.compareRequest(want)
	return l.sent(text, p.Replaces)
}

func (l *life) send(p assistant.Prompt, replies ...assistanttest.Reply) <-chan assistant.Event {
	l.asked = len(l.server.Asked())
	l.server.Then(replies...)
	events, err := l.session.Send(l.t.Context(), p)
	l.must(err)
	return events
}

// compareRequest compares the first request of a message.
func (l *life) compareRequest(want []string) {
	var got []string
	asked := slices.DeleteFunc(l.server.Asked()[l.asked:], func(x *assistanttest.Exchange) bool { return len(x.Chat.Messages) == 0 })
	for _, m := range asked[0].Chat.Messages {
		switch {
		case m.Role == "system":
		case len(m.ToolCalls) > 0:
			line := "calls"
			for _, c := range m.ToolCalls {
				line += " " + c.Function.Name
			}
			got = append(got, line)
		case m.Role == "tool":
			got = append(got, "tool")
		default:
			got = append(got, m.Role+" "+m.Content)
		}
	}
	if !slices.Equal(got, want) {
		l.rt.Errorf("the request holds\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// sent is the pair of the message that was sent last, as the oracle has it.
func (l *life) sent(text string, replaces int64) *lived {
	refs := l.session.Visible()
	if len(refs) == 0 {
		l.rt.Fatalf("the pair of %q is not in view", text)
	}
	p := &lived{seq: refs[len(refs)-1].Seq, text: text}
	l.oracle.append(p, l.session.Checkpoints())
	return p
}

// last reads a turn to its end.
func (l *life) last(events <-chan assistant.Event) (end assistant.Event) {
	patience := time.NewTimer(time.Minute)
	defer patience.Stop()
	for {
		select {
		case e, open := <-events:
			if !open {
				return end
			}
			end = e
		case <-patience.C:
			l.rt.Fatal("the turn does not end")
		}
	}
}

func (l *life) draw(what string, fits func(*lived) bool) *lived {
	var some []*lived
	for _, p := range l.oracle.pairs() {
		if fits(p) {
			some = append(some, p)
		}
	}
	if len(some) == 0 {
		l.rt.Skip("no " + what)
	}
	return rapid.SampledFrom(some).Draw(l.rt, what)
}
