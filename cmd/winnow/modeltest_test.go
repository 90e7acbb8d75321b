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

// modelChecks is the number of sequences of about 30 random steps in an ordinary run; -rapid.checks and -rapid.steps
// increase it.
const modelChecks = 8

// TestRandomStepsAgainstAModel is a model-based test. Its steps are messages that are answered, fail, are cut off or
// cancelled, tools that write or fail, edits by hand, saves, changes of the file by another program, deletions,
// rollbacks and their undo, and the end of the program, orderly or by a crash. After each step, everything stored
// must match a simple model in memory, the oracle.
func TestRandomStepsAgainstAModel(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if before := checks.Value.String(); before == checks.DefValue {
		if err := checks.Value.Set(fmt.Sprint(modelChecks)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = checks.Value.Set(before) }()
	}
	ownFolder(t)
	t.Setenv("WINNOW_CONFIRM", "never")
	t.Setenv("WINNOW_MODEL", "openai/test-model")
	rapid.Check(t, func(rt *rapid.T) {
		s := &subject{t: t, rt: rt, server: assistanttest.NewServer(t, assistanttest.Text("hello")), oracle: newOracle()}
		t.Setenv("OPENAI_BASE_URL", s.server.URL)
		s.begin()
		defer func() { s.end() }()
		rt.Repeat(s.actions())
	})
}

// subject is what is tested: a series of programs on the same files, and the oracle of what the files hold. It uses
// the folder of the test but its own homes.
type subject struct {
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
	crashed  []*app // apps whose files were copied away from them
	messages int    // number sent so far, which makes each text unique
	asked    int    // requests before this message
}

const firstEnv = "# note\nFOREIGN=\"a # b\"\nIGNORE_MODELS_OPENAI=w0\n"

// begin writes a new .env, opens the program for the first time and sends a message.
func (s *subject) begin() {
	s.must(os.WriteFile(".env", []byte(firstEnv), 0o600))
	s.home = s.t.TempDir()
	s.open()
	s.oracle.begun(s.session.ID(), s.newest())
	s.exchange(assistant.Prompt{}).answered("hello")
}

func (s *subject) open(args ...string) {
	s.t.Setenv("WINNOW_HOME", s.home)
	s.app = newApp(s.t.Context(), strings.NewReader(""), &s.said, &s.said)
	s.must(newRoot(s.app).ParseFlags(args))
	p, err := s.app.open(s.t.Context(), openOptions{afterCrash: true})
	if err != nil {
		s.rt.Fatalf("open: %v\n%s", err, s.said.String())
	}
	s.session, s.window, s.journal = p.session, p.window.filter, p.window.journal
}

func (s *subject) end() {
	for _, a := range append(s.crashed, s.app) {
		if err := a.close(); err != nil {
			s.t.Errorf("close: %v", err)
		}
	}
}

func (s *subject) must(err error) {
	if err != nil {
		s.rt.Helper()
		s.rt.Fatal(err)
	}
}

// actions returns all steps. The action with the empty name checks the state after each step.
func (s *subject) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":              func(rt *rapid.T) { s.rt = rt; s.check() },
		"chat":          s.chat,
		"write":         s.write,
		"writeAgain":    s.write, // listed twice to run more often
		"fail":          s.fail,
		"failAfterTool": s.failAfterTool,
		"cancel":        s.cancel,
		"cancelLater":   s.cancelAfterTool,
		"queue":         s.queue,
		"reask":         s.reask,
		"retry":         s.retry,
		"regenerate":    s.regenerate,
		"choose":        s.choose,
		"delete":        s.delete,
		"star":          s.star,
		"edit":          s.edit,
		"editAgain":     s.edit,
		"save":          s.save,
		"foreign":       s.foreign,
		"rollback":      s.rollback,
		"undoRollback":  s.undoRollback,
		"undo":          s.undo,
		"quit":          s.quit,
		"crash":         s.crash,
		"renew":         s.renew,
		"resume":        s.resume,
	}
}

// chat sends a message that gets an answer.
func (s *subject) chat(rt *rapid.T) {
	s.rt = rt
	p := s.exchange(assistant.Prompt{}, assistanttest.Text("fine"))
	p.answered("fine")
}

// write sends a message whose answer begins with tool calls.
func (s *subject) write(rt *rapid.T) {
	s.rt = rt
	calls := s.drawCalls()
	s.oracle.turnWrites(calls)
	p := s.exchange(assistant.Prompt{}, assistanttest.Calls(wired(calls)...), assistanttest.Text("done"))
	p.ran(calls)
	p.answered("done")
}

// fail sends a message whose answer is refused or breaks off.
func (s *subject) fail(rt *rapid.T) {
	s.rt = rt
	s.exchange(assistant.Prompt{}, s.drawFailure()).failed()
}

func (s *subject) failAfterTool(rt *rapid.T) {
	s.rt = rt
	calls := s.drawCalls()
	s.oracle.turnWrites(calls)
	p := s.exchange(assistant.Prompt{}, assistanttest.Calls(wired(calls)...), s.drawFailure())
	p.ran(calls)
	p.failed()
}

// drawFailure returns a refusal, or an answer that is cut off within a text or within a call, which must not run.
func (s *subject) drawFailure() assistanttest.Reply {
	return rapid.SampledFrom([]assistanttest.Reply{
		assistanttest.Respond(400, `{"error":{"message":"no","code":"bad"}}`),
		assistanttest.CutAfter(assistanttest.TextEvent("half an answer")),
		assistanttest.CutAfter(assistanttest.CallEvent(0, "c", "add_ignore_rule", `{"pattern":"cut"}`)),
	}).Draw(s.rt, "failure")
}

// cancel cancels before anything has arrived, as if the message had never been sent.
func (s *subject) cancel(rt *rapid.T) {
	s.rt = rt
	gate := assistanttest.NewGate()
	defer gate.Open()
	stands := assistanttest.Unanswered(gate, assistanttest.Text("too late"))
	if rapid.Bool().Draw(rt, "begun") {
		stands = assistanttest.Stalled(assistanttest.TextEvent("it beg"), gate, "")
	}
	events := s.send(assistant.Prompt{Text: s.text()}, stands)
	gate.Wait(s.t)
	s.session.Cancel()
	if end := s.last(events); end != (assistant.Cancelled{}) {
		rt.Fatalf("a message that was cancelled ends with %#v", end)
	}
	s.oracle.forget()
}

func (s *subject) cancelAfterTool(rt *rapid.T) {
	s.rt = rt
	gate := assistanttest.NewGate()
	defer gate.Open()
	calls := s.drawCalls()
	s.oracle.turnWrites(calls)
	text := s.text()
	events := s.send(assistant.Prompt{Text: text}, assistanttest.Calls(wired(calls)...), assistanttest.Stalled(assistanttest.TextEvent("it beg"), gate, ""))
	gate.Wait(s.t)
	s.session.Cancel()
	if end := s.last(events); end != (assistant.Cancelled{Kept: true}) {
		rt.Fatalf("a message that was cancelled after its tools ends with %#v", end)
	}
	p := s.sent(text, 0)
	p.ran(calls)
	p.failed()
}

// queue sends a message that waits for the answer to another one, here with tools: the first turn ends with the
// current response, then the queued message is sent.
func (s *subject) queue(rt *rapid.T) {
	s.rt = rt
	gate := assistanttest.NewGate()
	defer gate.Open()
	calls := s.drawCalls()
	s.oracle.turnWrites(calls)
	first, second := s.text(), s.text()
	events := s.send(assistant.Prompt{Text: first}, func(x *assistanttest.Exchange) {
		if gate.Pass(s.t.Context()) == nil {
			assistanttest.Calls(wired(calls)...)(x)
		}
	})
	gate.Wait(s.t)
	s.must(s.session.Queue(assistant.Prompt{Text: "one more thing"}))
	s.must(s.session.Queue(assistant.Prompt{Text: second}))
	gate.Open()
	s.last(events)
	p := s.sent(first, 0)
	p.ran(calls)
	p.state = assistant.PairComplete
	next, ok := s.session.Dequeue()
	if !ok || next.Text != "one more thing\n\n"+second {
		rt.Fatalf("the queue holds %q, want both messages", next.Text)
	}
	s.exchangeText(next.Text, next, assistanttest.Text("fine")).answered("fine")
}

// reask sends the text of a failed pair as a new pair that replaces it.
func (s *subject) reask(rt *rapid.T) {
	s.rt = rt
	old := s.draw("error pair", func(p *oraclePair) bool { return p.state == assistant.PairError })
	s.sendInPlaceOf(old, "at last")
}

// retry continues a failed pair in place.
func (s *subject) retry(rt *rapid.T) {
	s.rt = rt
	old := s.draw("error pair", func(p *oraclePair) bool { return p.state == assistant.PairError })
	want := append(s.oracle.wire(old), "user "+old.text)
	want = append(want, old.exchanges...)
	s.last(s.send(assistant.Prompt{Text: old.text, Retry: old.seq}, assistanttest.Text("at last")))
	s.compareRequest(want)
	old.answered("at last")
	s.oracle.forget()
}

// regenerate asks for another answer to the last complete pair.
func (s *subject) regenerate(rt *rapid.T) {
	s.rt = rt
	pairs := s.oracle.pairs()
	n := len(pairs)
	if n == 0 || pairs[n-1].state != assistant.PairComplete {
		rt.Skip("the last pair is none to ask again")
	}
	old := pairs[n-1]
	if old.answers == nil {
		old.answers = []oracleAnswer{{old.answer, old.exchanges}}
	}
	better := fmt.Sprintf("better %d", len(old.answers))
	want := append(s.oracle.wire(old), "user "+old.text)
	s.last(s.send(assistant.Prompt{Text: old.text, Regenerate: old.seq}, assistanttest.Text(better)))
	s.compareRequest(want)
	old.answers = append(old.answers, oracleAnswer{text: better})
	old.choose(len(old.answers) - 1)
	s.oracle.forget()
}

// choose selects another answer of a pair to be sent.
func (s *subject) choose(rt *rapid.T) {
	s.rt = rt
	p := s.draw("pair with several answers", func(p *oraclePair) bool { return len(p.answers) > 0 })
	n := rapid.IntRange(0, len(p.answers)-1).Draw(rt, "answer")
	_, err := s.session.Choose(s.t.Context(), p.seq, n)
	s.must(err)
	p.choose(n)
}

// sendInPlaceOf sends the text of a pair again; the new pair keeps the stars.
func (s *subject) sendInPlaceOf(old *oraclePair, answer string) {
	s.oracle.remove(old)
	p := s.exchange(assistant.Prompt{Text: old.text, Replaces: old.seq}, assistanttest.Text(answer))
	p.answered(answer)
	p.star = old.star
}

func (s *subject) delete(rt *rapid.T) {
	s.rt = rt
	p := s.draw("pair", func(*oraclePair) bool { return true })
	s.must(s.session.Delete(s.t.Context(), p.seq))
	s.oracle.remove(p)
}

func (s *subject) star(rt *rapid.T) {
	s.rt = rt
	p := s.draw("pair", func(*oraclePair) bool { return true })
	p.star = rapid.IntRange(0, 3).Draw(rt, "stars")
	s.must(s.session.Mark(s.t.Context(), assistant.PairMark{Seq: p.seq, Star: &p.star}))
}

// edit changes the rules by hand.
func (s *subject) edit(rt *rapid.T) {
	s.rt = rt
	c := s.drawCall()
	before := s.oracle.rules.clone()
	ok := s.oracle.rules.do(c)
	err := s.session.Edit(c.tool+" "+c.pattern, func() error { return s.byHand(c) })
	if ok != (err == nil) {
		rt.Fatalf("%v by hand: %v", c, err)
	}
	if !s.oracle.rules.equal(before) {
		s.oracle.add(&point{id: s.newest(), kind: checkpoint.KindEdit, before: before, changed: true, latest: s.oracle.latest()})
	}
}

func (s *subject) byHand(c doing) error {
	list := modelfilter.Ignore
	if c.allow() {
		list = modelfilter.Allow
	}
	switch {
	case c.adds():
		_, err := s.window.Add(list, c.pattern)
		return err
	case c.clears():
		in := modelfilter.Import{Replace: true}
		in.Lists[list] = []string{}
		_, err := s.window.Import(in)
		return err
	}
	return s.window.Remove(list, c.pattern)
}

func (s *subject) save(rt *rapid.T) {
	s.rt = rt
	_, err := s.session.Save(s.t.Context(), assistant.Basis{})
	s.must(err)
	s.oracle.saved = s.oracle.rules.clone()
}

// foreign changes another line of the file as another program would. A save and a refresh adopt the change.
func (s *subject) foreign(rt *rapid.T) {
	s.rt = rt
	file, err := os.ReadFile(".env")
	s.must(err)
	s.oracle.notes++
	s.must(os.WriteFile(".env", append(file, "# a note of somebody else\n"...), 0o600))
	if s.window.Dirty() {
		s.save(rt)
		s.check()
		return
	}
	s.must(s.session.Edit("Merge", func() error { _, err := s.window.RefreshSaved(s.t.Context(), false); return err }))
}

// rollback rolls back to any checkpoint.
func (s *subject) rollback(rt *rapid.T) {
	s.rt = rt
	c := rapid.SampledFrom(s.oracle.listed()).Draw(rt, "checkpoint")
	s.rollBackTo(c, rapid.SampledFrom([]checkpoint.Scope{checkpoint.ScopeBoth, checkpoint.ScopeWindow, checkpoint.ScopeConversation}).Draw(rt, "scope"))
}

func (s *subject) rollBackTo(c *point, scope checkpoint.Scope) {
	want, nothing := s.oracle.rollback(c, scope)
	text, err := s.session.Rollback(s.t.Context(), c.id, scope, newest(s.session))
	if errors.Is(err, assistant.ErrNothingToRollBack) != nothing {
		s.rt.Errorf("the rollback ends with %v; nothing to roll back: %v", err, nothing)
	}
	if nothing {
		return
	}
	s.must(err)
	if string(text) != want {
		s.rt.Errorf("the rollback gives %q back, want %q", text, want)
	}
}

func (s *subject) undoRollback(rt *rapid.T) {
	s.rt = rt
	plan, err := s.session.PlanUndoRollback()
	if err == nil {
		err = s.session.UndoRollback(s.t.Context(), plan.Digest)
	}
	if s.oracle.back == nil {
		if !errors.Is(err, checkpoint.ErrNoRollback) {
			rt.Fatalf("there was nothing to undo: %v", err)
		}
		return
	}
	s.must(err)
	s.oracle.undoRollback()
}

// undo undoes the newest change, as ctrl+z does.
func (s *subject) undo(rt *rapid.T) {
	s.rt = rt
	step, ok := s.session.LastStep()
	want := s.oracle.step()
	if ok != (want != nil) || ok && step.ID != want.id {
		rt.Fatalf("the step to undo is %+v, want %+v", step, want)
	}
	if !ok {
		rt.Skip("no step to undo")
	}
	scope := checkpoint.ScopeWindow
	if want.kind == checkpoint.KindTurn && rapid.Bool().Draw(rt, "both") {
		scope = checkpoint.ScopeBoth
	}
	s.rollBackTo(want, scope)
}

// quit ends the program normally and resumes the session.
func (s *subject) quit(rt *rapid.T) {
	s.rt = rt
	s.must(s.app.close())
	if len(s.session.Visible()) > 0 {
		s.open("--continue")
	} else { // which skips a session without messages
		s.open("--session", s.session.ID())
	}
	s.oracle.resumed(s.oracle.here)
}

// crash abandons the program; the next one finds the files as they are at this moment.
func (s *subject) crash(rt *rapid.T) {
	s.rt = rt
	home := s.t.TempDir()
	s.must(os.CopyFS(home, os.DirFS(s.home)))
	s.must(filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	}))
	s.crashed, s.home = append(s.crashed, s.app), home
	s.open()
	s.oracle.resumed(s.oracle.here)
}

// renew starts a new session.
func (s *subject) renew(rt *rapid.T) {
	s.rt = rt
	s.must(s.session.Renew(s.t.Context()))
	s.touch()
	s.oracle.begun(s.session.ID(), s.newest())
}

// resume resumes the same or an older session.
func (s *subject) resume(rt *rapid.T) {
	s.rt = rt
	id := rapid.SampledFrom(s.oracle.sessions).Draw(rt, "session")
	s.must(s.session.Resume(s.t.Context(), id))
	s.touch()
	s.oracle.resumed(id)
}

// touch records that the session was the last one used in this folder.
func (s *subject) touch() {
	s.must(s.app.store.Touch(s.t.Context(), history.Session{
		ID: s.session.ID(), Folder: s.app.folder(), Window: s.window.EnvFile(), Model: s.session.Model(),
	}))
}

// newest returns the id of the newest checkpoint of the session.
func (s *subject) newest() string {
	all := s.session.Checkpoints()
	return all[len(all)-1].ID
}

func (s *subject) text() string {
	s.messages++
	return fmt.Sprintf("message %d", s.messages)
}

// exchange sends a message and reads its turn to the end.
func (s *subject) exchange(p assistant.Prompt, replies ...assistanttest.Reply) *oraclePair {
	if p.Text == "" {
		p.Text = s.text()
	}
	return s.exchangeText(p.Text, p, replies...)
}

func (s *subject) exchangeText(text string, p assistant.Prompt, replies ...assistanttest.Reply) *oraclePair {
	want := append(s.oracle.wire(nil), "user "+text)
	s.last(s.send(p, replies...))
	s.compareRequest(want)
	return s.sent(text, p.Replaces)
}

func (s *subject) send(p assistant.Prompt, replies ...assistanttest.Reply) <-chan assistant.Event {
	s.asked = len(s.server.Asked())
	s.server.Then(replies...)
	events, err := assistanttest.Send(s.t.Context(), s.session, p)
	s.must(err)
	return events
}

// compareRequest compares the first request of a message.
func (s *subject) compareRequest(want []string) {
	var got []string
	asked := slices.DeleteFunc(s.server.Asked()[s.asked:], func(x *assistanttest.Exchange) bool { return len(x.Chat.Messages) == 0 })
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
		s.rt.Errorf("the request holds\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// sent returns the oracle's version of the pair that was sent last.
func (s *subject) sent(text string, replaces int64) *oraclePair {
	refs := s.session.Visible()
	if len(refs) == 0 {
		s.rt.Fatalf("the pair of %q is not in view", text)
	}
	p := &oraclePair{seq: refs[len(refs)-1].Seq, text: text}
	s.oracle.append(p, s.session.Checkpoints())
	return p
}

// last reads a turn to its end.
func (s *subject) last(events <-chan assistant.Event) (end assistant.Event) {
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
			s.rt.Fatal("the turn does not end")
		}
	}
}

func (s *subject) draw(what string, fits func(*oraclePair) bool) *oraclePair {
	var some []*oraclePair
	for _, p := range s.oracle.pairs() {
		if fits(p) {
			some = append(some, p)
		}
	}
	if len(some) == 0 {
		s.rt.Skip("no " + what)
	}
	return rapid.SampledFrom(some).Draw(s.rt, what)
}

// newest returns the newest checkpoint that the session knows, the basis of a rollback.
func newest(s *assistant.Session) string {
	step, _ := s.LastStep()
	return step.ID
}
