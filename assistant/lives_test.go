package assistant_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/checkpoint"
)

// life is a user who sends, cancels, keeps, branches and rolls back at random.
type life struct {
	*rig
	rt       *rapid.T
	sessions []string
	sent     int
}

// TestEveryLifeIsFoundAgain branches, cancels and rolls back at random. After each step the
// next run finds the same pairs, with the same costs, in view, and a request holds exactly
// the pairs in view that contribute something.
func TestEveryLifeIsFoundAgain(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // every check opens files
		if err := f.Value.Set("20"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	rapid.Check(t, func(rt *rapid.T) {
		l := &life{rig: newRig(t, at.NewScript(), func(o *assistant.Options) { o.Now, o.Settings.Iterations = nil, 1000 }), rt: rt, sessions: []string{"s1"}}
		l.check()
		rt.Repeat(map[string]func(*rapid.T){
			"":          func(rt *rapid.T) { l.rt = rt; l.check() },
			"send":      func(rt *rapid.T) { l.rt = rt; l.run(assistant.Prompt{Text: l.text()}) },
			"sendAgain": func(rt *rapid.T) { l.rt = rt; l.run(assistant.Prompt{Text: l.text()}) },
			"retry":     func(rt *rapid.T) { l.rt = rt; l.run(assistant.Prompt{Retry: l.draw(assistant.PairError)}) },
			"again":     func(rt *rapid.T) { l.rt = rt; l.run(assistant.Prompt{Regenerate: l.draw(assistant.PairComplete)}) },
			"replace": func(rt *rapid.T) {
				l.rt = rt
				l.run(assistant.Prompt{Text: l.text(), Replaces: l.draw(assistant.PairError)})
			},
			"all":       func(rt *rapid.T) { l.rt = rt; l.all() },
			"own":       func(rt *rapid.T) { l.rt = rt; l.must(l.session.LoadView(context.Background())) },
			"cancelled": l.cancelled,
			"branch":    l.branch,
			"resume":    l.resume,
			"renew": func(rt *rapid.T) {
				l.rt = rt
				l.must(l.session.Renew(context.Background()))
				l.sessions = append(l.sessions, l.session.ID())
			},
			"delete": func(rt *rapid.T) { l.rt = rt; l.must(l.session.Delete(context.Background(), l.draw(""))) },
			"choose": l.choose,
			"edit": func(rt *rapid.T) {
				l.rt = rt
				l.must(l.session.Edit("type", func() error { return l.window.Type(l.text()) }))
			},
			"rollBack":      l.rollback,
			"rollBackAgain": l.rollback,
			"undo":          l.undo,
		})
	})
}

func (l *life) text() string { l.sent++; return fmt.Sprint("text", l.sent) }

func (l *life) draw(state assistant.PairState) int64 {
	var found []int64
	for _, ref := range l.session.Visible() {
		if state == "" || l.pair(ref.Seq).State == state {
			found = append(found, ref.Seq)
		}
	}
	if len(found) == 0 {
		l.rt.Skip("no such pair")
	}
	return rapid.SampledFrom(found).Draw(l.rt, "pair")
}

// run runs a turn that ends in one of several ways.
func (l *life) run(p assistant.Prompt) {
	var want []string
	for _, ref := range l.session.Visible() {
		if again := ref.Seq == p.Retry || ref.Seq == p.Regenerate || ref.Seq == p.Replaces; ref.Contributes && !again {
			want = append(want, string(l.pair(ref.Seq).UserText))
		}
	}
	text := p.Text
	if p.Again() {
		text = string(l.pair(p.Retry + p.Regenerate).UserText)
	}
	gate := at.NewGate()
	defer gate.Open()
	tool := at.Answer{at.Say("I add."), addWord(l.text())}
	how := rapid.SampledFrom([]string{"answer", "write", "fail", "fail after tool", "cancel", "cancel in text", "cancel after tool", "cancel in text after tool"}).Draw(l.rt, "how")
	answers := map[string][]at.Answer{
		"answer": {say("fine")}, "write": {tool, say("done")}, "fail": {{at.Fail{Err: errors.New("no")}}},
		"fail after tool": {tool, {at.Say("half"), at.Cut{}}}, "cancel": {{at.Stop{At: gate}}}, "cancel in text": {{at.Say("half"), at.Stop{At: gate}}},
		"cancel after tool": {tool, {at.Stop{At: gate}}}, "cancel in text after tool": {tool, {at.Say("half"), at.Stop{At: gate}}},
	}[how]
	l.script.Then(answers...)
	before := len(l.script.Requests())
	events := l.begin(p)
	if how[0] == 'c' {
		gate.Wait(l.t)
		l.session.Cancel()
	}
	all := l.checked(at.Events(l.t, events))
	if len(l.script.Requests()) == before {
		l.rt.Fatalf("nothing was sent: %#v", all[len(all)-1])
	}
	if got := said(l.script.Requests()[before]); !slices.Equal(got, append(want, text)) {
		l.rt.Fatalf("sent %q, want %q", got, append(want, text))
	}
}

func (l *life) cancelled(rt *rapid.T) {
	l.rt = rt
	if l.session.Cancelled() == nil {
		rt.Skip("nothing is offered")
	}
	defer func() {
		if l.session.Filter() != "" { // a pair of another session is in view until the line is evaluated again
			l.must(l.session.LoadView(context.Background()))
		}
	}()
	if rapid.Bool().Draw(rt, "keep") {
		kept, err := l.session.KeepCancelled(context.Background())
		l.must(err)
		if !slices.Contains(visible(l.session), kept.Seq) {
			rt.Fatalf("pair %d is kept, but in view are %v", kept.Seq, visible(l.session))
		}
		return
	}
	p, err := l.session.AskAgain(context.Background())
	l.must(err)
	l.run(p)
}

// everything is what an empty filter line selects.
func (l *life) everything() []assistant.Ref {
	refs, err := l.store.Refs(context.Background(), "", 3.5)
	l.must(err)
	return refs
}

// all shows the pairs of all sessions.
func (l *life) all() { l.session.SetView(l.everything(), "") }

func (l *life) branch(rt *rapid.T) {
	l.rt = rt
	l.must(l.session.Branch(context.Background(), l.draw("")))
	l.sessions = append(l.sessions, l.session.ID())
}

func (l *life) resume(rt *rapid.T) {
	l.rt = rt
	l.must(l.session.Resume(context.Background(), rapid.SampledFrom(l.sessions).Draw(rt, "session")))
}

func (l *life) choose(rt *rapid.T) {
	l.rt = rt
	seq := l.draw("")
	all, _ := new(l.pair(seq)).Answers()
	_, err := l.session.Choose(context.Background(), seq, rapid.IntRange(0, len(all)-1).Draw(rt, "answer"))
	l.must(err)
}

func (l *life) rollback(rt *rapid.T) {
	l.rt = rt
	c := rapid.SampledFrom(l.session.Checkpoints()).Draw(rt, "checkpoint")
	scope := rapid.SampledFrom([]checkpoint.Scope{checkpoint.ScopeBoth, checkpoint.ScopeWindow, checkpoint.ScopeConversation}).Draw(rt, "scope")
	before, words, all := l.inView(), l.window.Words(), len(l.everything())
	cut, err := l.session.CutPairs(context.Background(), c.ID)
	l.must(err)
	if scope == checkpoint.ScopeWindow {
		cut = 0
	}
	_, err = l.session.Rollback(context.Background(), c.ID, scope, newestStep(l.session))
	if errors.Is(err, assistant.ErrNothingToRollBack) {
		return
	}
	l.must(err)
	if got := all - len(l.everything()); got != cut {
		rt.Fatalf("the rollback cut %d pairs, want %d", got, cut)
	}
	if rapid.Bool().Draw(rt, "undo at once") {
		l.check()
		l.undoRollback()
		if !slices.Equal(l.inView(), before) || !slices.Equal(l.window.Words(), words) {
			rt.Fatalf("after an undo %q %q, before %q %q", l.inView(), l.window.Words(), before, words)
		}
	}
}

func (l *life) undo(rt *rapid.T) {
	l.rt = rt
	if _, err := l.session.PlanUndoRollback(); errors.Is(err, checkpoint.ErrNoRollback) {
		rt.Skip("nothing to undo")
	}
	l.undoRollback()
	if l.session.Filter() == "" { // a workspace evaluates the line again
		l.all()
	}
}

// check compares the session with the next run.
func (l *life) check() {
	next := l.again()
	there := next.Visible()
	if l.session.Filter() == "" {
		there = l.everything()
	}
	if here := l.session.Visible(); !slices.Equal(here, there) {
		l.rt.Fatalf("in view are %v, in the next run %v", here, there)
	}
	here, found := l.session.Cancelled(), next.Cancelled()
	if (here == nil) != (found == nil) || here != nil && (here.AssistantText != found.AssistantText || here.Seq != found.Seq) {
		l.rt.Fatalf("offered is %+v, in the next run %+v", here, found)
	}
}
