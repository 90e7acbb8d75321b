package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"winnow/adapters/dotenv"
	"winnow/adapters/modelfilter"
	"winnow/assistant"
	"winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/checkpoint"
)

// oracle is what must be true of a life, kept in the plainest way.
type oracle struct {
	rules  ruleset  // as they are staged
	saved  ruleset  // as the file has them
	notes  int      // lines that somebody else wrote
	pairs  []*lived // of this session
	older  []*lived // of those before
	points []*point // all that were not dropped, of all sessions
	turn   *point   // made by the turn that is about to be sent; nil is none
	back   *wayBack // what undoes the last rollback; nil when nothing does
	runs   int      // counts sessions
}

func newOracle() *oracle {
	start := ruleset{ignore: []string{"w0"}}
	return &oracle{rules: start.clone(), saved: start.clone()}
}

// ruleset is the rules of the one provider there is, in order.
type ruleset struct{ ignore, allow []string }

func (r ruleset) clone() ruleset {
	return ruleset{slices.Clone(r.ignore), slices.Clone(r.allow)}
}

func (r ruleset) equal(other ruleset) bool {
	return slices.Equal(r.ignore, other.ignore) && slices.Equal(r.allow, other.allow)
}

// point is a checkpoint.
type point struct {
	id       string
	session  int
	kind     checkpoint.Kind
	before   ruleset // the state at it
	changed  bool    // the step after it changed the rules
	position int64   // seq of the pair whose turn made it; 0 is none
	undone   bool
}

// wayBack is what the last rollback took.
type wayBack struct {
	scope     checkpoint.Scope
	rules     ruleset
	pairs     []*lived
	older     []*lived
	points    []*point
	known     int // points there were after the rollback
	target    *point
	wasUndone bool
}

// lived is a pair.
type lived struct {
	seq       int64
	text      string
	state     assistant.PairState
	answer    string   // of a complete one, without the places of its tools
	exchanges []string // of its tools, as a request holds them
	star      int
}

func (p *lived) answered(text string) { p.state, p.answer = assistant.PairComplete, text }
func (p *lived) failed()              { p.state = assistant.PairError }

func (p *lived) ran(calls []doing) {
	line := "calls"
	for _, c := range calls {
		line += " " + c.tool
	}
	p.exchanges = append(p.exchanges, line)
	for range calls {
		p.exchanges = append(p.exchanges, "tool")
	}
}

// wire is what a request holds of a pair.
func (p *lived) wire() []string {
	if p.state != assistant.PairComplete && len(p.exchanges) == 0 {
		return nil
	}
	lines := append([]string{"user " + p.text}, p.exchanges...)
	if p.answer != "" {
		lines = append(lines, "assistant "+p.answer)
	}
	return lines
}

// wire is what a request holds of all pairs but one.
func (o *oracle) wire(but *lived) []string {
	var lines []string
	for _, p := range o.pairs {
		if p != but {
			lines = append(lines, p.wire()...)
		}
	}
	return lines
}

// doing is a change of the rules, by a tool or by hand.
type doing struct{ tool, pattern string }

func (c doing) adds() bool   { return strings.HasPrefix(c.tool, "add_") }
func (c doing) clears() bool { return strings.HasPrefix(c.tool, "clear_") }
func (c doing) allow() bool  { return strings.Contains(c.tool, "whitelist") }

// do changes the rules and says whether that could be done.
func (r *ruleset) do(c doing) bool {
	list := &r.ignore
	if c.allow() {
		list = &r.allow
	}
	at := slices.Index(*list, c.pattern)
	switch {
	case c.clears():
		*list = nil
	case c.adds() && at < 0:
		*list = append(*list, c.pattern)
	case !c.adds() && at >= 0:
		*list = slices.Delete(*list, at, at+1)
	default:
		return false
	}
	return true
}

// The names of tools that this test knows beside those of rules.
const (
	toolSave    = "save_changes"
	toolDiscard = "discard_changes"
)

func (l *life) drawCall() doing {
	tool := rapid.SampledFrom([]string{
		"add_ignore_rule", "add_ignore_rule", "remove_ignore_rule", "add_whitelist_rule", "remove_whitelist_rule", "clear_all_ignore_rules",
	}).Draw(l.rt, "what")
	return doing{tool, fmt.Sprintf("w%d", rapid.IntRange(0, 7).Draw(l.rt, "pattern"))}
}

// drawCalls are the calls of one response. One that changes nothing counts as
// a write all the same: nobody knows before it ran.
func (l *life) drawCalls() []doing {
	calls := make([]doing, rapid.IntRange(1, 3).Draw(l.rt, "calls"))
	for i := range calls {
		switch rapid.IntRange(0, 9).Draw(l.rt, "kind") {
		case 0:
			calls[i] = doing{tool: toolSave}
		case 1:
			calls[i] = doing{tool: toolDiscard}
		default:
			calls[i] = l.drawCall()
		}
	}
	return calls
}

// wired is the calls as a model makes them.
func wired(calls []doing) []assistanttest.Call {
	out := make([]assistanttest.Call, len(calls))
	for i, c := range calls {
		arguments := "{}"
		if c.pattern != "" && !c.clears() {
			arguments = fmt.Sprintf(`{"pattern":%q}`, c.pattern)
		}
		out[i] = assistanttest.Call{Name: c.tool, Arguments: arguments}
	}
	return out
}

// turnWrites does what the calls of the turn that is about to be sent do.
func (o *oracle) turnWrites(calls []doing) {
	before := o.rules.clone()
	for _, c := range calls {
		switch c.tool {
		case toolSave:
			o.saved = o.rules.clone()
		case toolDiscard:
			o.rules = o.saved.clone()
		default:
			o.rules.do(c)
		}
	}
	o.turn = &point{session: o.runs, kind: checkpoint.KindTurn, before: before, changed: !o.rules.equal(before)}
}

// begun is the start of the first session, or of a new one.
func (o *oracle) begun(id string) {
	o.checkpoint(id, o.rules.clone(), 0, checkpoint.KindStart)
	o.points[len(o.points)-1].changed = false
}

func (o *oracle) renew(id string) {
	o.runs++
	o.pairs, o.older = nil, append(o.older, o.pairs...)
	o.begun(id)
}

func (o *oracle) checkpoint(id string, before ruleset, position int64, kind checkpoint.Kind) {
	o.points = append(o.points, &point{id: id, session: o.runs, kind: kind, before: before, changed: true, position: position})
}

// append is a pair that was sent, with the checkpoint its turn made.
func (o *oracle) append(p *lived, listed []checkpoint.Checkpoint) {
	o.pairs = append(o.pairs, p)
	o.forget()
	if o.turn != nil {
		o.turn.position, o.turn.id = p.seq, listed[len(listed)-1].ID
		o.points = append(o.points, o.turn)
		o.turn = nil
	}
}

// forget: a message was sent, and the last rollback stays as it is.
func (o *oracle) forget() { o.back = nil }

func (o *oracle) remove(p *lived) {
	o.pairs = slices.DeleteFunc(o.pairs, func(other *lived) bool { return other == p })
}

// listed are the checkpoints of this session.
func (o *oracle) listed() []*point {
	var list []*point
	for _, c := range o.points {
		if c.session == o.runs {
			list = append(list, c)
		}
	}
	return list
}

// step is what ctrl+z would undo.
func (o *oracle) step() *point {
	for _, c := range slices.Backward(o.points) {
		if c.changed && !c.undone {
			return c
		}
	}
	return nil
}

// rollback goes back to c, and returns the text of the first pair that is cut.
func (o *oracle) rollback(c *point, scope checkpoint.Scope) (text string) {
	back := &wayBack{scope: scope, rules: o.rules.clone(), target: c, wasUndone: c.undone}
	at := slices.Index(o.points, c)
	cut := c.position
	for _, later := range o.points[at+1:] { // of an edit: before the first turn after it
		if later.position > 0 && (cut == 0 || later.position < cut) {
			cut = later.position
		}
	}
	if c.kind == checkpoint.KindStart {
		cut = 1
	}
	if scope != checkpoint.Conversation {
		o.rules = c.before.clone()
		kept := slices.Clone(o.points[:at+1])
		for _, p := range o.points[at+1:] {
			if p.kind == checkpoint.KindStart {
				kept = append(kept, p)
			} else {
				back.points = append(back.points, p)
			}
		}
		o.points = kept
		c.undone = c.undone || c.kind != checkpoint.KindStart
	}
	if scope != checkpoint.Rules && cut > 0 {
		o.pairs, back.pairs = cutAt(o.pairs, cut)
		if c.kind != checkpoint.KindStart { // else it is a thing of this session alone
			o.older, back.older = cutAt(o.older, cut)
		}
		if first := slices.Concat(back.older, back.pairs); len(first) > 0 {
			text = first[0].text
		}
	}
	back.known = len(o.points)
	o.back = back
	return text
}

// cutAt parts pairs, which are in order, before the first with this seq or more.
func cutAt(pairs []*lived, seq int64) (rest, cut []*lived) {
	at := slices.IndexFunc(pairs, func(p *lived) bool { return p.seq >= seq })
	if at < 0 {
		return pairs, nil
	}
	return slices.Clone(pairs[:at]), slices.Clone(pairs[at:])
}

func (o *oracle) undoRollback() {
	b := o.back
	o.back = nil
	o.pairs, o.older = append(o.pairs, b.pairs...), append(o.older, b.older...)
	if b.scope == checkpoint.Conversation {
		return
	}
	since := o.points[b.known:] // edits since then are dropped
	o.points = slices.Concat(o.points[:b.known], b.points, slices.DeleteFunc(slices.Clone(since), func(p *point) bool {
		return p.kind != checkpoint.KindStart
	}))
	o.rules = b.rules
	b.target.undone = b.wasUndone
}

var toolPlaces = regexp.MustCompile(`\s*\[\[tool:\d+\]\]\s*`)

// check compares all that is kept with the oracle.
func (l *life) check() {
	l.rt.Helper()
	l.checkPairs()
	l.checkRules()
	l.checkFile()
	l.checkPoints()
	if l.said.Len() > 0 && !strings.Contains(l.said.String(), "had no answer") {
		l.rt.Errorf("the program said: %s", l.said.String())
	}
}

func (l *life) checkPairs() {
	l.rt.Helper()
	refs := l.session.Visible()
	stored, err := l.app.store.Refs(l.t.Context(), l.session.ID(), 0)
	l.must(err)
	if got, want := seqsOf(refs), seqsOf(stored); !slices.Equal(got, want) {
		l.rt.Errorf("in view are %v, in the store %v", got, want)
	}
	pairs, err := l.session.Pairs(l.t.Context(), seqsOf(refs))
	l.must(err)
	got, want := make([]string, len(pairs)), make([]string, len(l.oracle.pairs))
	for i, p := range pairs {
		got[i] = fmt.Sprintf("%d %q %s *%d", p.Seq, p.UserText, p.State, p.Star)
		if p.State == assistant.PairComplete {
			got[i] += " " + toolPlaces.ReplaceAllString(p.AssistantText, "")
		}
	}
	for i, p := range l.oracle.pairs {
		want[i] = fmt.Sprintf("%d %q %s *%d", p.seq, p.text, p.state, p.star)
		if p.state == assistant.PairComplete {
			want[i] += " " + p.answer
		}
	}
	if !slices.Equal(got, want) {
		l.rt.Errorf("the pairs are\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func seqsOf(refs []assistant.Ref) []int64 {
	seqs := make([]int64, len(refs))
	for i, r := range refs {
		seqs[i] = r.Seq
	}
	return seqs
}

func (l *life) checkRules() {
	l.rt.Helper()
	got := ruleset{patterns(l.window.Rules(modelfilter.Ignore)), patterns(l.window.Rules(modelfilter.Allow))}
	if !got.equal(l.oracle.rules) {
		l.rt.Errorf("the rules are %v, want %v", got, l.oracle.rules)
	}
	if want := !l.oracle.rules.equal(l.oracle.saved); l.window.Dirty() != want {
		l.rt.Errorf("unsaved: %v, want %v; rules %v, file %v", !want, want, l.oracle.rules, l.oracle.saved)
	}
	state, err := l.window.State()
	l.must(err)
	text, err := json.Marshal(state)
	l.must(err)
	if !checkpoint.Equal(text, l.journal.Current()) {
		l.rt.Errorf("the journal ends with %s, the window is %s", l.journal.Current(), text)
	}
}

func patterns(views []modelfilter.RuleView) []string {
	out := make([]string, len(views))
	for i, v := range views {
		out[i] = v.Pattern
	}
	return out
}

func (l *life) checkFile() {
	l.rt.Helper()
	text, err := os.ReadFile(".env")
	l.must(err)
	foreign := 0
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "IGNORE_MODELS_OPENAI="), strings.HasPrefix(line, "WHITELIST_MODELS_OPENAI="):
		case line == "# note", line == `FOREIGN="a # b"`, line == "# a note of somebody else":
			foreign++
		default:
			l.rt.Errorf("the file has got the line %q", line)
		}
	}
	if foreign != 2+l.oracle.notes {
		l.rt.Errorf("the file has %d lines that are not winnow's, want %d:\n%s", foreign, 2+l.oracle.notes, text)
	}
	file := dotenv.Parse(text)
	for key, want := range map[string][]string{"IGNORE_MODELS_OPENAI": l.oracle.saved.ignore, "WHITELIST_MODELS_OPENAI": l.oracle.saved.allow} {
		if got, _ := file.Get(key, func(string) (string, bool) { return "", false }); got != strings.Join(want, ",") {
			l.rt.Errorf("the file says %s=%s, want %v", key, got, want)
		}
	}
}

func (l *life) checkPoints() {
	l.rt.Helper()
	var got, want []string
	for _, c := range l.session.Checkpoints() {
		got = append(got, fmt.Sprintf("%s %s at %d undone %v", c.ID, c.Kind, c.Position, c.Undone))
	}
	for _, c := range l.oracle.listed() {
		want = append(want, fmt.Sprintf("%s %s at %d undone %v", c.id, c.kind, c.position, c.undone))
	}
	if !slices.Equal(got, want) {
		l.rt.Fatalf("the checkpoints are\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	for _, c := range l.oracle.points {
		raw, err := l.journal.State(c.id)
		l.must(err)
		var state struct {
			Rules map[string]struct{ Ignore, Whitelist []string }
		}
		l.must(json.Unmarshal(raw, &state))
		if at := (ruleset{state.Rules["openai"].Ignore, state.Rules["openai"].Whitelist}); !at.equal(c.before) {
			l.rt.Errorf("at checkpoint %s (%s) the rules are %v, want %v: %s", c.id, c.kind, at, c.before, raw)
		}
	}
	if _, can := l.journal.CanUndoRollback(); can != (l.oracle.back != nil) {
		l.rt.Errorf("a rollback can be undone: %v", can)
	}
}

// historySession is how the session of a life is kept.
func historySession(l *life) history.Session {
	return history.Session{ID: l.session.ID(), Folder: l.app.folder(), Window: l.window.EnvFile(), Model: l.session.Model()}
}
