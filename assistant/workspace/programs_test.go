package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// programs are two programs on one history, in one window or in a window each.
type programs struct {
	t        *testing.T
	rt       *rapid.T
	ctx      context.Context
	dir      string
	shared   bool // one window
	all      [2]*program
	reader   history.Store // of a program that only looks
	sessions []string
	sent     int
	there    map[int64]bool    // the pairs that are not cut
	gone     map[int64]bool    // the pairs that a user has deleted or rolled back, or whose turn a user has cancelled
	told     map[int64]*spoken // what was acknowledged, by Seq
}

// spoken is the acknowledged content of a pair.
type spoken struct {
	text    string
	answers []string
	star    int
}

// program is a workspace with its own store and model.
type program struct {
	*workspace.Workspace
	name    string
	store   history.Store
	journal *checkpoint.Journal
	window  *at.Window
	session *assistant.Session
	model   *relay
	events  <-chan assistant.Event // of the running turn; nil if none is running
	gate    *at.Gate               // where the running turn waits
	asked   assistant.Prompt       // of the running turn
	seq     int64                  // the pair of the running turn
	draft   string                 // as last stored
	opened  map[string]bool        // its sessions
}

// relay is a model whose script is replaced for each turn.
type relay struct{ *at.Script }

func newPrograms(t *testing.T, rt *rapid.T) *programs {
	t.Helper()
	ps := &programs{t: t, rt: rt, ctx: context.Background(), dir: t.TempDir(), sessions: []string{"s1"}, there: map[int64]bool{}, gone: map[int64]bool{}, told: map[int64]*spoken{}}
	ps.shared = rapid.Bool().Draw(rt, "one window")
	for i, name := range []string{"anna", "bert"} {
		ps.all[i] = &program{name: name, opened: map[string]bool{"s1": true}}
		ps.open(ps.all[i], "s1")
	}
	var err error
	ps.reader, err = sqlite.Open(ps.ctx, filepath.Join(ps.dir, "history.db"), sqlite.Options{})
	ps.must(err)
	return ps
}

func (ps *programs) must(err error) {
	ps.t.Helper()
	if err != nil {
		ps.rt.Fatal(err)
	}
}

// open starts a program on a session.
func (ps *programs) open(p *program, id string) {
	var err error
	p.store, err = sqlite.Open(ps.ctx, filepath.Join(ps.dir, "history.db"), sqlite.Options{})
	ps.must(err)
	name := p.name
	if ps.shared {
		name = "both"
	}
	p.window = at.NewWindow("one")
	p.journal, err = checkpoint.Open(filepath.Join(ps.dir, name), checkpoint.Options{
		Wait:  time.Millisecond,
		Adopt: func(j *checkpoint.Journal) error { return p.window.Apply(j.Current()) },
	})
	ps.must(err)
	if state := p.journal.Current(); state != nil {
		ps.must(p.window.Apply(state))
	}
	p.model = &relay{at.NewScript()}
	p.session = ps.newSession(p.model, id, assistant.Options{Window: p.window, Store: p.store, Journal: p.journal})
	ps.must(p.store.Touch(ps.ctx, history.Session{ID: id, Folder: "/" + name, Model: "test/script"}))
	p.Workspace = workspace.New(workspace.Options{Session: p.session, History: p.store, Folder: "/" + name})
	ps.must(p.session.Start(ps.ctx))
	ps.must(p.session.LoadView(ps.ctx))
}

func (ps *programs) newSession(m llm.Model, id string, o assistant.Options) *assistant.Session {
	registry := &llm.Registry{}
	ps.must(registry.Add(llm.Provider{Name: "test", Model: m, Known: []llm.ModelInfo{{ID: "test/script", Context: 100_000, Known: true, Tools: true}}}))
	o.ID, o.Model = id, "test/script"
	s, err := assistant.NewSession(registry, o)
	ps.must(err)
	return s
}

// close ends a program as quitting does.
func (ps *programs) close(p *program) {
	ps.must(errors.Join(p.SaveDraft(ps.ctx, history.Draft{Text: p.draft}), p.session.Close(ps.ctx), p.journal.Close(), p.store.Close()))
}

// end ends all programs.
func (ps *programs) end() {
	for _, p := range ps.all {
		if p.gate != nil {
			p.gate.Open()
		}
		_ = p.session.Close(ps.ctx)
		_ = p.journal.Close()
		_ = p.store.Close()
	}
	_ = ps.reader.Close()
}

// poll notices what the other program has changed.
func (ps *programs) poll(p *program) {
	changed, err := p.store.Refresh(ps.ctx)
	ps.must(err)
	if changed || p.session.Filter() != "x" { // a new pair may not match the line
		ps.must(p.Refilter(ps.ctx))
	}
	_, err = p.journal.Follow()
	ps.must(err)
}

// everything returns the pairs that are not cut.
func (ps *programs) everything() map[int64]bool {
	refs, err := ps.reader.Refs(ps.ctx, "", 3.5)
	ps.must(err)
	all := map[int64]bool{}
	for _, r := range refs {
		all[r.Seq] = true
	}
	return all
}

// check compares both programs with a new one, and the history with what was acknowledged.
func (ps *programs) check() {
	now := ps.everything()
	for seq := range ps.there {
		if !now[seq] && !ps.gone[seq] {
			ps.rt.Fatalf("pair %d is lost", seq)
		}
	}
	ps.there = now
	for seq, want := range ps.told {
		pairs, err := ps.reader.Load(ps.ctx, []int64{seq})
		ps.must(err)
		if len(pairs) == 0 {
			ps.rt.Fatalf("pair %d is lost", seq)
		}
		if got := &pairs[0]; string(got.UserText) != want.text || got.Star != want.star || !slices.Equal(answersOf(got), slices.Sorted(slices.Values(want.answers))) {
			ps.rt.Fatalf("pair %d is %q with %q and %d stars, want %+v", seq, got.UserText, answersOf(got), got.Star, *want)
		}
	}
	for _, p := range ps.all {
		ps.poll(p)
		ps.compare(p)
	}
}

// answersOf returns the complete answers of a pair.
func answersOf(p *assistant.Pair) (texts []string) {
	all, _ := p.Answers()
	for _, a := range all {
		if a.State == assistant.PairComplete || a.State == assistant.PairPartial {
			texts = append(texts, final(string(a.AssistantText)))
		}
	}
	slices.Sort(texts)
	return texts
}

// final returns the text after the last tool call.
func final(text string) string {
	if i := strings.LastIndex(text, "]]"); i >= 0 {
		text = text[i+len("]]"):]
	}
	return strings.TrimSpace(text)
}

// compare compares a program with a new one on the same session.
func (ps *programs) compare(p *program) {
	fresh := ps.newSession(at.NewScript(), p.session.ID(), assistant.Options{Store: ps.reader})
	ps.must(fresh.Start(ps.ctx))
	ps.must(fresh.LoadView(ps.ctx))
	if line := p.session.Filter(); line != "x" {
		_, err := workspace.New(workspace.Options{Session: fresh, History: ps.reader}).SetFilter(ps.ctx, line)
		ps.must(err)
	}
	running := func(r assistant.Ref) bool { return r.Seq == p.seq && p.events != nil }
	here, there := slices.DeleteFunc(p.session.Visible(), running), slices.DeleteFunc(fresh.Visible(), running)
	if !slices.Equal(here, there) {
		ps.rt.Fatalf("%s shows %v under %q, a new program %v", p.name, here, p.session.Filter(), there)
	}
	if p.events != nil {
		return
	}
	offered, kept := p.session.Cancelled(), fresh.Cancelled()
	if ps.alone(p) && ((offered == nil) != (kept == nil) || offered != nil && offered.Seq != kept.Seq) {
		ps.rt.Fatalf("%s offers %+v, a new program %+v", p.name, offered, kept)
	}
	if got, want := ps.request(p), ps.included(p); !slices.Equal(got, want) {
		ps.rt.Fatalf("%s sends %q, included are %q", p.name, got, want)
	}
	state, err := p.window.State()
	ps.must(err)
	if string(state) != string(p.journal.Current()) {
		ps.rt.Fatalf("the window of %s has %s, its journal %s", p.name, state, p.journal.Current())
	}
}

// alone notes the session of p, and reports whether the other program has never opened it. A
// program does not notice what another one cancels or queues in its session.
func (ps *programs) alone(p *program) bool {
	p.opened[p.session.ID()] = true
	return !ps.other(p).opened[p.session.ID()]
}

func (ps *programs) other(p *program) *program {
	if ps.all[0] == p {
		return ps.all[1]
	}
	return ps.all[0]
}

// request returns the messages and final answers of the next request.
func (ps *programs) request(p *program) (texts []string) {
	req, _, err := p.Request(ps.ctx, "next")
	ps.must(err)
	for _, m := range req.Messages {
		if (m.Role == llm.RoleUser || m.Role == llm.RoleAssistant) && len(m.Calls) == 0 {
			texts = append(texts, m.Content)
		}
	}
	return texts
}

// included returns what the next request must contain: the visible pairs from the boundary on.
func (ps *programs) included(p *program) (texts []string) {
	shown := p.session.Shown()
	for _, r := range shown.Refs[shown.Boundary.First:] {
		pairs, err := ps.reader.Load(ps.ctx, []int64{r.Seq})
		ps.must(err)
		if !r.Contributes || len(pairs) == 0 {
			continue
		}
		texts = append(texts, string(pairs[0].UserText))
		if pairs[0].State == assistant.PairComplete {
			texts = append(texts, final(string(pairs[0].AssistantText)))
		}
	}
	return append(texts, "next")
}

// lost returns the pairs that are no longer there.
func lost(before, after map[int64]bool) map[int64]bool {
	out := maps.Clone(before)
	maps.DeleteFunc(out, func(seq int64, _ bool) bool { return after[seq] })
	return out
}

// draw returns a visible pair in one of these states.
func (ps *programs) draw(p *program, states ...assistant.PairState) *assistant.Pair {
	pairs, err := p.session.Pairs(ps.ctx, seqsOf(p.session.Visible()))
	ps.must(err)
	pairs = slices.DeleteFunc(pairs, func(pair assistant.Pair) bool {
		return pair.Seq == ps.other(p).seq && ps.other(p).events != nil || !slices.Contains(states, pair.State)
	})
	if len(pairs) == 0 {
		ps.rt.Skip("no such pair")
	}
	return &pairs[rapid.IntRange(0, len(pairs)-1).Draw(ps.rt, "pair")]
}

func seqsOf(refs []assistant.Ref) []int64 {
	seqs := make([]int64, len(refs))
	for i, r := range refs {
		seqs[i] = r.Seq
	}
	return seqs
}

func (ps *programs) text() string { ps.sent++; return fmt.Sprint("text", ps.sent) }
