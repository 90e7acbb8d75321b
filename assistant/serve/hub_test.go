package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
	"winnow/assistant/windowlock"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// rig is a hub over a list of words.
type rig struct {
	*servetest.Rig
	t   testing.TB
	ctx context.Context

	mu      sync.Mutex
	changes []windowlock.Change // as the hub announced them
}

func newRig(t testing.TB, change ...func(*serve.Options)) *rig {
	t.Helper()
	r := &rig{t: t, ctx: context.Background()}
	r.Rig = servetest.Start(t, servetest.Options{Name: "obedient", Model: servetest.Obedient{}, Change: func(o *serve.Options) {
		o.OnChange = func(c windowlock.Change) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.changes = append(r.changes, c)
		}
		for _, f := range change {
			f(o)
		}
	}})
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) open(user string) *serve.Session {
	r.t.Helper()
	s, err := r.Open(r.ctx, serve.Join{User: user})
	r.must(err)
	return s
}

// send starts a turn.
func (r *rig) send(s *serve.Session, text string) <-chan assistant.Event {
	r.t.Helper()
	events, err := at.Send(r.ctx, s, assistant.Prompt{Text: text})
	r.must(err)
	return events
}

// turn runs a turn to its end and returns its events.
func (r *rig) turn(s *serve.Session, text string) []assistant.Event {
	r.t.Helper()
	return at.Events(r.t, r.send(s, text))
}

// texts are the messages in view.
func (r *rig) texts(s *serve.Session) []string {
	r.t.Helper()
	return r.loaded(s, s.Session().Visible())
}

// loaded are the messages of pairs.
func (r *rig) loaded(s *serve.Session, refs []assistant.Ref) []string {
	r.t.Helper()
	var seqs []int64
	for _, ref := range refs {
		seqs = append(seqs, ref.Seq)
	}
	pairs, err := s.Session().Pairs(r.ctx, seqs)
	r.must(err)
	texts := []string{}
	for _, p := range pairs {
		texts = append(texts, string(p.UserText))
	}
	return texts
}

// add is an edit by hand.
func (r *rig) add(s *serve.Session, word string) error {
	return s.Edit("add "+word, func() error { return r.Words.Type(word) })
}

// announced are the changes so far: "edited anna add cat".
func (r *rig) announced() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []string{}
	for _, c := range r.changes {
		if c.Kind != windowlock.Joined && c.Kind != windowlock.Left {
			out = append(out, strings.TrimSpace(fmt.Sprint(c.Kind, " ", c.User, " ", c.What)))
		}
	}
	return out
}

func wantList(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}

// held starts a turn of s that has the window and waits at the gate.
func (r *rig) held(s *serve.Session, word string) <-chan assistant.Event {
	r.t.Helper()
	events := r.send(s, "call add_word "+word+"; slow")
	r.Words.Slow.Wait(r.t)
	return events
}

// impatient lets changes wait for the turns of others for a moment only.
func impatient(o *serve.Options) { o.Wait = time.Millisecond }

func TestAWritingTurnHasTheWindowUntilItsEnd(t *testing.T) {
	r := newRig(t, impatient)
	anna, bert, cleo := r.open("anna"), r.open("bert"), r.open("cleo")
	if _, held := r.Holder(); held {
		t.Error("somebody has the window before the first turn")
	}
	working := r.held(anna, "cat")

	holder, held := r.Holder()
	if !held || holder.User != "anna" || holder.Session != anna.ID() || holder.Doing != "add_word" || holder.Since.IsZero() {
		t.Errorf("the holder is %+v, %v", holder, held)
	}
	for name, change := range map[string]func() error{
		"edit":    func() error { return r.add(bert, "dog") },
		"save":    func() error { _, err := bert.Save(r.ctx, assistant.Basis{}); return err },
		"discard": func() error { _, err := bert.Discard("discard", assistant.Basis{}); return err },
		"rollback": func() error {
			_, err := bert.Rollback(r.ctx, r.Journal().List("")[0].ID, "", bert.Newest())
			return err
		},
		"tool": func() error {
			_, err := bert.CallTool(r.ctx, "add_word", json.RawMessage(`{"word":"dog"}`), nil)
			return err
		},
	} {
		err := change()
		if refused, ok := errors.AsType[*windowlock.LockedError](err); !ok || refused.User != "anna" || err.Error() != "anna's assistant is working" {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if err := r.add(anna, "dog"); !errors.Is(err, assistant.ErrBusy) {
		t.Errorf("the holder's own edit: %v", err)
	}

	reading := r.turn(bert, "how are you?")
	if _, ok := reading[len(reading)-1].(assistant.Complete); !ok {
		t.Errorf("a turn that only reads ended with %#v", reading[len(reading)-1])
	}
	if r.open("dora").ID() == "" {
		t.Error("nobody can come while the window is held")
	}

	waiting := r.send(cleo, "call add_word cow")
	for e := range waiting {
		if e == (assistant.Status{Message: "anna's assistant is working"}) {
			break
		}
	}
	r.Words.Slow.Open()
	at.Events(t, working)
	rest := at.Events(t, waiting)
	if _, ok := rest[len(rest)-1].(assistant.Complete); !ok {
		t.Errorf("the turn that waited ended with %#v", rest[len(rest)-1])
	}
	if _, held := r.Holder(); held || r.Words.Locked() {
		t.Error("the window is held after the last turn")
	}
	r.must(r.add(bert, "dog"))
	wantList(t, "words", r.Words.Words(), "one", "cat", "cow", "dog")
	wantList(t, "changes", r.announced(), "held anna add_word", "tool_ran anna add_word", "released anna add_word",
		"held cleo add_word", "tool_ran cleo add_word", "released cleo add_word", "edited bert add dog")
}

func TestAWaitingTurnCanBeCancelled(t *testing.T) {
	r := newRig(t)
	anna, bert := r.open("anna"), r.open("bert")
	working := r.held(anna, "cat")
	waiting := r.send(bert, "call add_word dog")
	for e := range waiting {
		if e == (assistant.Status{Message: "anna's assistant is working"}) {
			break
		}
	}
	bert.Cancel()
	if all := at.Events(t, waiting); all[len(all)-1] != (assistant.Cancelled{}) {
		t.Errorf("the turn ended with %#v", all[len(all)-1])
	}
	r.Words.Slow.Open()
	at.Events(t, working)
	wantList(t, "words", r.Words.Words(), "one", "cat")
}

func TestTheWindowIsFreeAfterEveryEndOfATurn(t *testing.T) {
	for name, end := range map[string]func(r *rig, s *serve.Session){
		"panic":   func(r *rig, s *serve.Session) { r.turn(s, "call add_word cat; panic") },
		"failure": func(r *rig, s *serve.Session) { r.turn(s, "call add_word cat; fail") },
		"cancel":  func(r *rig, s *serve.Session) { e := r.held(s, "cat"); s.Cancel(); at.Events(r.t, e) },
		"closed":  func(r *rig, s *serve.Session) { r.held(s, "cat"); r.must(s.Close(r.ctx)) }, // nobody reads the events
		"journal fails": func(r *rig, s *serve.Session) {
			r.Words.BreakState = errors.New("no state")
			r.turn(s, "call add_word cat")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			anna, bert := r.open("anna"), r.open("bert")
			end(r, anna)
			r.Words.BreakState = nil
			r.must(r.add(bert, "dog"))
			if r.Words.Locked() {
				t.Error("the window is locked")
			}
		})
	}
}

func TestARollbackCutsOnlyTheOwnConversation(t *testing.T) {
	r := newRig(t)
	anna, bert := r.open("anna"), r.open("bert")
	r.turn(anna, "call add_word cat")
	r.turn(bert, "call add_word dog")
	r.turn(bert, "how are you?")
	r.turn(anna, "and me?")
	r.must(r.add(bert, "cow"))
	back := anna.Session().Checkpoints()[1]

	others := anna.OthersSince(back.ID)
	if len(others) != 2 || others[0].Session != bert.ID() || others[1].Description != "add cow" {
		t.Errorf("steps of others since then: %+v", others)
	}
	done, err := anna.Rollback(r.ctx, back.ID, "", anna.Newest())
	r.must(err)
	if len(done.Others) != 2 || done.Text != "call add_word cat" {
		t.Errorf("the rollback reports %+v", done)
	}
	wantList(t, "words", r.Words.Words(), "one")
	wantList(t, "anna's messages", r.texts(anna))
	wantList(t, "bert's messages", r.texts(bert), "call add_word dog", "how are you?")

	_, ask, err := bert.UndoRollback(r.ctx, nil)
	if err != nil || ask == nil || ask.By != "anna" || len(ask.Drops) != 0 {
		t.Fatalf("undoing anna's rollback asks %+v, %v", ask, err)
	}
	_, _, err = bert.UndoRollback(r.ctx, ask)
	r.must(err)
	wantList(t, "words after the undo", r.Words.Words(), "one", "cat", "dog", "cow")
	wantList(t, "bert's messages after the undo", r.texts(bert), "call add_word dog", "how are you?")
	// The hub shows anna's pairs again: her view is evaluated in the background.
	for deadline := time.Now().Add(time.Minute); len(r.texts(anna)) != 2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	wantList(t, "anna's messages after the undo", r.texts(anna), "call add_word cat", "and me?")
}

func TestStepsBelongToWhoMadeThem(t *testing.T) {
	r := newRig(t)
	anna, bert := r.open("anna"), r.open("bert")
	r.must(r.add(anna, "cat")) // bert's session is the one that started last
	working := r.held(bert, "dog")
	cleo := r.open("cleo") // starts in the middle of his turn
	r.Words.Slow.Open()
	at.Events(t, working)
	r.turn(cleo, "call add_word cow")
	for i, want := range []string{anna.ID(), bert.ID(), cleo.ID()} {
		steps := slices.DeleteFunc(r.Journal().List(""), func(c checkpoint.Checkpoint) bool { return c.Kind == checkpoint.KindStart })
		if steps[i].Session != want {
			t.Errorf("step %d, %s, belongs to %s, want %s", i, steps[i].Description, steps[i].Session, want)
		}
		if i > 0 && steps[i].Undoes() == "" {
			t.Errorf("the results of step %d are lost", i)
		}
	}
	users := map[string]string{anna.ID(): "anna", bert.ID(): "bert", cleo.ID(): "cleo"}
	authors := map[string]bool{}
	r.Journal().Replay(func(c checkpoint.Record) {
		if c.Before.Text() != c.After.Text() {
			authors[c.User] = true
			if c.User != users[c.Session] || c.Checkpoint != nil && c.Checkpoint.Session != c.Session {
				t.Errorf("record %d, %s, was written by %q in session %q", c.Seq, c.Op, c.User, c.Session)
			}
		}
	})
	for _, user := range users {
		if !authors[user] {
			t.Errorf("no change by %s", user)
		}
	}
}

func TestEveryUserHasADraftAndAModel(t *testing.T) {
	r := newRig(t)
	anna, bert := r.open("anna"), r.open("bert")
	r.must(anna.SaveDraft(r.ctx, history.Draft{Text: "half a thought"}))
	r.must(anna.PickModel(r.ctx, "test/other"))
	if d, err := bert.Draft(r.ctx); err != nil || d.Text != "" {
		t.Errorf("bert's draft is %q, %v", d.Text, err)
	}
	if bert.Session().Model() != "test/obedient" {
		t.Errorf("bert's model is %s", bert.Session().Model())
	}
	r.must(anna.Close(r.ctx))
	again := r.open("anna")
	if d, err := again.Draft(r.ctx); err != nil || d.Text != "half a thought" {
		t.Errorf("anna's draft is %q, %v", d.Text, err)
	}
}

// A user of a session is the author of what is sent in it, and u are the own pairs. Who
// has no name writes as the user of the history.
func TestUsersAreTheAuthorsOfTheirPairs(t *testing.T) {
	r := newRig(t)
	r.must(r.History.Commit(r.ctx, &assistant.Batch{Put: []*assistant.Pair{{Session: "earlier", State: assistant.PairComplete}}}))
	matches := map[string][]string{"anna": {"u", "u'ANNA'"}, "bert": {"u"}, "": {"u"}}
	sessions := map[string]*serve.Session{}
	for user := range matches {
		sessions[user] = r.open(user)
		r.turn(sessions[user], "of "+user)
	}
	for user, s := range sessions {
		for _, line := range matches[user] {
			refs, err := s.Match(r.ctx, line)
			r.must(err)
			want := []string{"of " + user}
			if user == "" {
				want = []string{"", "of"} // also those of before
			}
			wantList(t, line+" of "+s.User(), r.loaded(s, refs), want...)
		}
	}
	refs, err := sessions["bert"].Match(r.ctx, "u'anna'")
	r.must(err)
	wantList(t, "u'anna' of bert", r.loaded(sessions["bert"], refs), "of anna")
}

func TestASessionCanBeContinuedButNotTwice(t *testing.T) {
	r := newRig(t)
	anna := r.open("anna")
	r.turn(anna, "call add_word cat")
	r.must(anna.PickModel(r.ctx, "test/other"))
	if _, err := r.Open(r.ctx, serve.Join{User: "bert", Session: anna.ID()}); !errors.Is(err, serve.ErrOpen) {
		t.Errorf("opened twice: %v", err)
	}
	if _, err := r.Open(r.ctx, serve.Join{Session: "nobody"}); !errors.Is(err, serve.ErrNoSession) {
		t.Errorf("an unknown session: %v", err)
	}
	r.must(anna.Close(r.ctx))
	again, err := r.Open(r.ctx, serve.Join{User: "bert", Session: anna.ID()})
	r.must(err)
	wantList(t, "messages", r.texts(again), "call add_word cat")
	if again.Session().Model() != "test/other" || again.User() != "bert" {
		t.Errorf("continued with %s by %s", again.Session().Model(), again.User())
	}
	r.must(r.Close(r.ctx))
	if _, err := r.Open(r.ctx, serve.Join{}); !errors.Is(err, serve.ErrClosed) {
		t.Errorf("opened after the end: %v", err)
	}
}

func TestToolsByHand(t *testing.T) {
	r := newRig(t)
	anna := r.open("anna")
	call := func(name, args string) assistant.ToolResult {
		t.Helper()
		result, err := anna.CallTool(r.ctx, name, json.RawMessage(args), nil)
		r.must(err)
		return result
	}
	for name, c := range map[string]struct{ tool, args, code string }{
		"unknown":  {"delete_all", "{}", assistant.CodeUnknownTool},
		"missing":  {"add_word", "", assistant.CodeInvalidArguments},
		"mistyped": {"add_word", `{"word":1}`, assistant.CodeInvalidArguments},
		"fails":    {"fail", "", assistant.CodeFailed},
		"panics":   {"panic", "", assistant.CodePanic},
	} {
		if got := call(c.tool, c.args); got.Success || got.ErrorCode != c.code {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := call("add_word", `{"word":"cat"}`); !got.Success {
		t.Errorf("add_word: %+v", got)
	}
	if got := call("save_words", ""); !got.Success || !slices.Equal(r.Words.Saved(), []string{"one", "cat"}) {
		t.Errorf("save_words: %+v, saved %q", got, r.Words.Saved())
	}
	wantList(t, "changes", r.announced(), "edited anna add word cat", "saved anna save_words")
	step, _ := anna.Session().LastStep()
	done, err := anna.Rollback(r.ctx, step.ID, checkpoint.ScopeWindow, step.ID)
	r.must(err)
	if done.Step.Description != "add word cat" {
		t.Errorf("undone: %+v", done.Step)
	}
	wantList(t, "words", r.Words.Words(), "one")
}

// TestAllAgree edits, sends, undoes and comes and goes at random from many sessions at
// once. In the end the window, the journal and the announced changes agree.
func TestAllAgree(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // every check opens files
		if err := f.Value.Set("20"); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		users := rapid.IntRange(2, 8).Draw(rt, "users")
		plans := make([][]int, users)
		for u := range plans {
			plans[u] = rapid.SliceOfN(rapid.IntRange(0, 6), 1, 10).Draw(rt, "plan")
		}
		var all sync.WaitGroup
		for u, plan := range plans {
			all.Go(func() { r.live(fmt.Sprint("user", u), plan) })
		}
		all.Wait()
		r.agree()
	})
}

// live does what a plan says, one step after the other.
func (r *rig) live(user string, plan []int) {
	s := r.open(user)
	for i, step := range plan {
		word := fmt.Sprint(user, "-", i)
		var err error
		switch step {
		case 0:
			err = r.add(s, word)
		case 1:
			r.turn(s, "call add_word "+word)
		case 2:
			r.turn(s, "hello")
		case 3:
			if step, ok := s.Session().LastStep(); ok { // another step may be the newest by now
				_, err = s.Rollback(r.ctx, step.ID, checkpoint.ScopeBoth, step.ID)
			}
		case 4:
			_, err = s.CallTool(r.ctx, "add_word", fmt.Appendf(nil, `{"word":%q}`, word), nil)
		case 5:
			var ask *workspace.Confirm
			if _, ask, err = s.UndoRollback(r.ctx, nil); ask != nil { // another answer may be wanted by now
				_, _, err = s.UndoRollback(r.ctx, ask)
			}
		case 6:
			r.must(s.Close(r.ctx))
			s = r.open(user)
		}
		_, held := errors.AsType[*windowlock.LockedError](err)
		_, changed := errors.AsType[*assistant.PlanChanged](err)
		if err != nil && !held && !changed && !errors.Is(err, workspace.ErrNothingToUndo) && !errors.Is(err, checkpoint.ErrUnknown) {
			r.t.Errorf("step %d of %s: %v", step, user, err)
		}
	}
	r.must(s.Close(r.ctx))
}

// agree compares the window with its journal and with what was announced.
func (r *rig) agree() {
	r.t.Helper()
	now, err := r.Words.State()
	r.must(err)
	if !jsondelta.Equal(r.Journal().Current(), now) {
		r.t.Errorf("the journal has %s, the window %s", r.Journal().Current(), now)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	last := json.RawMessage(`{"words":["one"]}`)
	holder := ""
	for _, c := range r.changes {
		switch {
		case c.Kind == windowlock.Held && holder == "":
			holder = c.User
		case c.Kind == windowlock.Released && holder == c.User:
			holder = ""
		case c.Kind == windowlock.Held, c.Kind == windowlock.Released, holder != "" && c.User != holder && c.Before != nil:
			r.t.Errorf("%s of %s while %q has the window", c.Kind, c.User, holder)
		}
		if c.Before == nil {
			continue
		}
		if !jsondelta.Equal(c.Before, last) {
			r.t.Errorf("%s of %s begins with %s after %s", c.Kind, c.User, c.Before, last)
		}
		last = c.After
	}
	if !jsondelta.Equal(last, now) {
		r.t.Errorf("the last change leaves %s, the window has %s", last, now)
	}
	if numbered, _, err := r.Changes().After(0); err != nil || len(numbered) != len(r.changes) {
		r.t.Errorf("readers see %d of %d changes, %v", len(numbered), len(r.changes), err)
	}
}

// A session whose client went away without closing it is not one of the others.
func TestAnAbandonedSessionIsNotOneOfTheOthers(t *testing.T) {
	now := time.Now()
	r := servetest.Start(t, servetest.Options{Model: servetest.Obedient{}, Clock: func() time.Time { return now }})
	open := func(user string) *serve.Session {
		t.Helper()
		s, err := r.Open(t.Context(), serve.Join{User: user})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	anna, bert, carl := open("anna"), open("bert"), open("carl")
	release := bert.Use()
	if got := anna.Others(); !slices.Equal(got, []string{"bert", "carl"}) {
		t.Errorf("the others are %q", got)
	}
	now = now.Add(time.Hour)
	if got := anna.Others(); !slices.Equal(got, []string{"bert"}) {
		t.Errorf("an hour later the others are %q", got)
	}
	release()
	carl.Use()()
	if got := anna.Others(); !slices.Equal(got, []string{"bert", "carl"}) {
		t.Errorf("after they have come back the others are %q", got)
	}
}

// While a turn waits for an answer the window is free. What is confirmed is compared with
// what the turn would do by then, and asked about again.
func TestAQuestionLeavesTheWindowFree(t *testing.T) {
	r := newRig(t)
	anna, bert := r.open("anna"), r.open("bert")
	events := r.send(anna, "call add_word cat; save_words; add_word cow")
	ask := func() assistant.ConfirmRequest {
		t.Helper()
		for e := range events {
			if question, ok := e.(assistant.ConfirmRequest); ok {
				return question
			}
		}
		t.Fatal("nothing is asked")
		return assistant.ConfirmRequest{}
	}
	first := ask()
	if waiting := r.Waiting(); len(waiting) != 1 || waiting[0].User != "anna" || waiting[0].Doing != "save_words" {
		t.Errorf("waiting are %+v", waiting)
	}
	if _, held := r.Holder(); held || !slices.Equal(bert.OthersWaiting(), []string{"anna"}) || len(anna.OthersWaiting()) != 0 {
		t.Error("the window is held, or bert does not see whom it waits for")
	}
	r.must(r.add(bert, "dog"))
	r.must(anna.Answer(first.ID, true))
	second := ask()
	if saved := r.Words.Saved(); len(saved) != 1 || second.Digest == first.Digest || !strings.Contains(string(second.Diff), "dog") || !strings.HasPrefix(string(second.Note), "bert changed this after it was shown") {
		t.Errorf("saved %q, asked %+v", saved, second)
	}
	r.must(anna.Answer(second.ID, true))
	for range events {
	}
	wantList(t, "saved", r.Words.Saved(), "one", "cat", "dog")
	wantList(t, "words", r.Words.Words(), "one", "cat", "dog", "cow")
	if len(r.Waiting()) != 0 {
		t.Errorf("waiting are %+v", r.Waiting())
	}
	step, _ := anna.Session().LastStep() // that after the question: bert's stays
	_, err := anna.Rollback(r.ctx, step.ID, checkpoint.ScopeWindow, step.ID)
	r.must(err)
	wantList(t, "words after the undo", r.Words.Words(), "one", "cat", "dog")
}

// A rollback undoes the steps that were shown.
func TestARollbackOfWhatAnotherUserChanged(t *testing.T) {
	r := newRig(t)
	anna, bert := r.open("anna"), r.open("bert")
	r.must(r.add(anna, "cat"))
	step, _ := anna.Session().LastStep()
	r.must(r.add(bert, "dog"))
	_, err := anna.Rollback(r.ctx, step.ID, checkpoint.ScopeWindow, step.ID)
	changed, ok := errors.AsType[*assistant.PlanChanged](err)
	if !ok || !slices.Equal(changed.By, []string{"bert"}) || len(changed.Steps) != 2 || changed.Newest != bert.Newest() {
		t.Fatalf("the rollback ends with %v, %+v", err, changed)
	}
	wantList(t, "words", r.Words.Words(), "one", "cat", "dog")
	_, err = anna.Rollback(r.ctx, step.ID, checkpoint.ScopeWindow, changed.Newest)
	r.must(err)
	wantList(t, "words", r.Words.Words(), "one")
}

// A question that is cancelled gives nothing back that it does not have.
func TestACancelledQuestion(t *testing.T) {
	r := newRig(t)
	anna, bert := r.open("anna"), r.open("bert")
	events := r.send(anna, "call add_word cat; save_words")
	for e := range events {
		if _, ok := e.(assistant.ConfirmRequest); ok {
			anna.Cancel()
		}
	}
	if _, held := r.Holder(); held || len(r.Waiting()) != 0 {
		t.Error("the window is held, or waits")
	}
	r.must(r.add(bert, "dog"))
}
