package workspace_test

import (
	"errors"
	"flag"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// TestTwoProgramsShowWhatIsStored lets two programs work on the sessions of one history at
// random. After each step, both show what a new program shows, their next requests contain
// what they show, and nothing that was acknowledged is lost.
func TestTwoProgramsShowWhatIsStored(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue { // each check opens files
		if err := f.Value.Set(strconv.Itoa(at.Rounds(10, 300))); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	rapid.Check(t, func(rt *rapid.T) {
		ps := newPrograms(t, rt)
		defer ps.end()
		do := func(act func(p *program)) func(*rapid.T) {
			return func(rt *rapid.T) {
				ps.rt = rt
				act(ps.all[rapid.IntRange(0, 1).Draw(rt, "program")])
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"":          func(rt *rapid.T) { ps.rt = rt; ps.check() },
			"send":      do(ps.send),
			"sendAgain": do(ps.send),
			"repeat":    do(ps.repeat),
			"finish":    do(ps.finish),
			"cancel":    do(ps.cancel),
			"cancelled": do(ps.cancelled),
			"mark":      do(ps.mark),
			"delete":    do(ps.delete),
			"choose":    do(ps.choose),
			"edit":      do(ps.edit),
			"rollBack":  do(ps.rollBack),
			"undo":      do(ps.undoRollback),
			"branch":    do(ps.branch),
			"renew":     do(ps.renew),
			"resume":    do(ps.resume),
			"filter":    do(ps.filter),
			"store":     do(ps.storeDraft),
			"reopen":    do(ps.reopen),
		})
	})
}

// idle skips the step if a turn of p is running.
func (ps *programs) idle(p *program) {
	if p.events != nil {
		ps.rt.Skip("a turn is running")
	}
}

func (ps *programs) send(p *program) {
	if p.events != nil {
		_, err := p.Queue(ps.ctx, assistant.Prompt{Text: ps.text()})
		ps.must(err)
		return
	}
	ps.begin(p, assistant.Prompt{Text: ps.text()})
}

// repeat retries, regenerates or replaces a pair.
func (ps *programs) repeat(p *program) {
	ps.idle(p)
	pair := ps.draw(p, assistant.PairError, assistant.PairComplete)
	switch how := rapid.IntRange(0, 1).Draw(ps.rt, "how"); {
	case pair.State == assistant.PairComplete:
		ps.begin(p, assistant.Prompt{Regenerate: pair.Seq})
	case how == 0:
		ps.begin(p, assistant.Prompt{Retry: pair.Seq})
	default:
		_, _, err := p.BeginReAsk(ps.ctx, pair.Seq)
		ps.must(err)
		ps.begin(p, assistant.Prompt{Text: string(pair.UserText)})
	}
}

// begin starts a turn that ends in one of several ways, or waits at a gate.
func (ps *programs) begin(p *program, prompt assistant.Prompt) {
	p.gate = at.NewGate()
	word, text := ps.text(), "answer "+ps.text()
	stall := []at.Step{at.Say("half "), at.Stop{At: p.gate}, at.Say(text)}
	answers := map[string][]at.Answer{
		"answer": {say(text)}, "write": {add(word), say(text)}, "fail": {fail()}, "stall": {stall}, "write and stall": {add(word), stall},
		"fail after tool": {add(word), {at.Say("half"), at.Cut{}}},
	}[rapid.SampledFrom([]string{"answer", "write", "fail", "fail after tool", "stall", "stall", "write and stall"}).Draw(ps.rt, "answers")]
	p.model.Script = at.NewScript(answers...)
	p.asked, p.seq = prompt, 0
	if prompt.Replaces = p.ReAsked(); prompt.Again() {
		prompt.Replaces = 0
	}
	p.asked = prompt
	events, err := at.Send(ps.ctx, p, prompt)
	ps.must(err)
	p.events = make(chan assistant.Event)
	patience := time.NewTimer(10 * time.Second)
	defer patience.Stop()
	for {
		select {
		case <-p.gate.Reached():
			for p.events = events; p.seq == 0; {
				ps.happened(p, <-events)
			}
			return
		case e, open := <-events:
			if !open {
				ps.rt.Fatal("the turn has no end")
			}
			if ps.happened(p, e) {
				return
			}
		case <-patience.C:
			ps.rt.Fatal("the turn does not end")
		}
	}
}

// happened records an event of the turn of p, and reports whether it was the last one.
func (ps *programs) happened(p *program, e assistant.Event) (ended bool) {
	switch e := e.(type) {
	case assistant.TurnStarted:
		p.seq = e.Seq
		if r := p.asked.Replaces; r != 0 {
			ps.gone[r] = true
			delete(ps.told, r)
		}
	case assistant.Cancelled:
		if !e.Kept && p.seq != 0 {
			ps.gone[p.seq] = true
			delete(ps.told, p.seq)
		}
	default:
	}
	if !at.Terminal(e) {
		return false
	}
	p.events, p.gate = nil, nil
	ps.note(p.seq)
	return true
}

// note records what is stored of a pair whose turn has just ended.
func (ps *programs) note(seq int64) {
	pairs, err := ps.reader.Load(ps.ctx, []int64{seq})
	ps.must(err)
	if len(pairs) == 0 || pairs[0].State == assistant.PairPartial && !ps.everything()[seq] {
		return // nothing is kept of a cancelled answer
	}
	have := ps.told[seq]
	if have == nil {
		have = &spoken{star: pairs[0].Star}
		ps.told[seq] = have
	}
	for _, was := range have.answers {
		if !slices.Contains(answersOf(&pairs[0]), was) {
			ps.rt.Fatalf("the answer %q of pair %d is lost: %q", was, seq, answersOf(&pairs[0]))
		}
	}
	have.text, have.answers = string(pairs[0].UserText), answersOf(&pairs[0])
}

// ended reads the turn of p to its end.
func (ps *programs) ended(p *program) {
	for _, e := range at.Events(ps.t, p.events) {
		ps.happened(p, e)
	}
}

func (ps *programs) finish(p *program) {
	if p.events == nil {
		ps.rt.Skip("no turn is running")
	}
	p.gate.Open()
	ps.ended(p)
	if next, due := p.NextQueued(); due {
		ps.begin(p, next)
	}
}

func (ps *programs) cancel(p *program) {
	if p.events == nil {
		ps.rt.Skip("no turn is running")
	}
	p.Cancel()
	ps.ended(p)
}

// cancelled keeps the cancelled answer or asks again.
func (ps *programs) cancelled(p *program) {
	ps.idle(p)
	if p.Cancelled() == nil {
		ps.rt.Skip("nothing is offered")
	}
	if rapid.Bool().Draw(ps.rt, "keep") {
		kept, err := p.KeepCancelled(ps.ctx)
		ps.must(err)
		delete(ps.gone, kept.Seq)
		ps.note(kept.Seq)
		return
	}
	again, err := p.AskAgain(ps.ctx)
	ps.must(err)
	ps.begin(p, again)
}

func (ps *programs) mark(p *program) {
	pair := ps.draw(p, assistant.PairComplete, assistant.PairError)
	star := rapid.IntRange(0, 3).Draw(ps.rt, "stars")
	ps.must(p.SetStars(ps.ctx, pair.Seq, star))
	if told := ps.told[pair.Seq]; told != nil {
		told.star = star
	}
}

func (ps *programs) delete(p *program) {
	ps.idle(p)
	pair := ps.draw(p, assistant.PairComplete, assistant.PairError, assistant.PairPartial)
	ask, err := p.Delete(ps.ctx, []int64{pair.Seq}, nil)
	if ask != nil {
		ask, err = p.Delete(ps.ctx, []int64{pair.Seq}, ask)
	}
	if ps.must(err); ask != nil {
		ps.rt.Fatalf("asked again: %+v", ask)
	}
	ps.gone[pair.Seq] = true
	delete(ps.told, pair.Seq)
}

func (ps *programs) choose(p *program) {
	ps.idle(p)
	pair := ps.draw(p, assistant.PairComplete)
	all, _ := pair.Answers()
	_, err := p.Choose(ps.ctx, pair.Seq, rapid.IntRange(0, len(all)-1).Draw(ps.rt, "answer"))
	ps.must(err)
}

// held reports whether the other program holds the window, so that p cannot change it.
func held(err error) bool { return errors.As(err, new(*checkpoint.LockedError)) }

func (ps *programs) edit(p *program) {
	ps.idle(p)
	if err := p.Edit("type", func() error { return p.window.Type(ps.text()) }); !held(err) {
		ps.must(err)
	}
}

// rollBack rolls back to a checkpoint and may undo that at once.
func (ps *programs) rollBack(p *program) {
	ps.idle(p)
	all := p.session.Checkpoints()
	if len(all) == 0 {
		ps.rt.Skip("the session started while the other program held the window")
	}
	c := all[rapid.IntRange(0, len(all)-1).Draw(ps.rt, "checkpoint")]
	scope := rapid.SampledFrom([]checkpoint.Scope{checkpoint.ScopeBoth, checkpoint.ScopeWindow, checkpoint.ScopeConversation}).Draw(ps.rt, "scope")
	before, words := ps.everything(), p.window.Words()
	cut, err := p.session.CutPairs(ps.ctx, c.ID)
	ps.must(err)
	_, err = p.Rollback(ps.ctx, c.ID, scope, p.Newest())
	if held(err) || errors.Is(err, assistant.ErrNothingToRollBack) {
		return
	}
	ps.must(err)
	went := lost(before, ps.everything())
	if scope == checkpoint.ScopeWindow {
		cut = 0
	}
	if len(went) != cut {
		ps.rt.Fatalf("the rollback cut %v, want %d pairs", went, cut)
	}
	for seq := range went {
		ps.gone[seq] = true
	}
	if !rapid.Bool().Draw(ps.rt, "undo at once") {
		return
	}
	ps.check()
	ps.must(ps.undo(p))
	if after := ps.everything(); len(lost(before, after)) > 0 || len(after) != len(before) || !slices.Equal(p.window.Words(), words) {
		ps.rt.Fatalf("after an undo %v %q, before %v %q", after, p.window.Words(), before, words)
	}
}

func (ps *programs) undo(p *program) error {
	_, ask, err := p.UndoRollback(ps.ctx, nil)
	if ask != nil {
		_, _, err = p.UndoRollback(ps.ctx, ask)
	}
	return err
}

func (ps *programs) undoRollback(p *program) {
	ps.idle(p)
	before := ps.everything()
	if err := ps.undo(p); !held(err) && !errors.Is(err, workspace.ErrNothingToUndo) {
		ps.must(err)
	}
	if gone := lost(before, ps.everything()); len(gone) > 0 {
		ps.rt.Fatalf("the undo of a rollback removed %v", gone)
	}
}

func (ps *programs) branch(p *program) {
	ps.idle(p)
	ps.must(p.Branch(ps.ctx, ps.draw(p, assistant.PairComplete, assistant.PairError).Seq))
	ps.sessions = append(ps.sessions, p.session.ID())
}

func (ps *programs) renew(p *program) {
	ps.idle(p)
	_, err := p.NewSession(ps.ctx, true)
	ps.must(err)
	ps.sessions = append(ps.sessions, p.session.ID())
}

func (ps *programs) resume(p *program) {
	ps.idle(p)
	ps.must(p.ResumeSession(ps.ctx, rapid.SampledFrom(ps.sessions).Draw(ps.rt, "session")))
}

func (ps *programs) filter(p *program) {
	_, err := p.SetFilter(ps.ctx, rapid.SampledFrom([]string{"", "x", "!x", "s>=1", "c'text1'"}).Draw(ps.rt, "line"))
	ps.must(err)
}

func (ps *programs) storeDraft(p *program) {
	p.draft = ps.text()
	ps.must(p.SaveDraft(ps.ctx, history.Draft{Text: p.draft}))
}

// reopen ends a program and starts it again.
func (ps *programs) reopen(p *program) {
	ps.idle(p)
	queued, waits := p.Queued()
	ps.close(p)
	ps.open(p, p.session.ID())
	if found, again := p.Queued(); ps.alone(p) && (again != waits || found.Text != queued.Text) {
		ps.rt.Fatalf("queued was %q, is %q", queued.Text, found.Text)
	}
}
