package main

import (
	"cmp"
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
	"winnow/checkpoint"
	"winnow/checkpoint/jsondelta"
)

// oracle is the expected state of the subject in its simplest form.
type oracle struct {
	rules    ruleset // the staged rules
	saved    ruleset // the rules in the file
	notes    int     // number of lines written by another program
	all      []*oraclePair
	points   []*point // all checkpoints that have not been dropped, oldest first
	turn     *point   // made by the turn about to be sent, or nil
	back     *wayBack // what undoes the last rollback; nil if it cannot be undone
	sessions []string // ids, oldest first
	here     string   // the open session
	clock    int      // counts the journal's records
	active   map[string]int
}

func newOracle() *oracle {
	start := ruleset{ignore: []string{"w0"}}
	return &oracle{rules: start.clone(), saved: start.clone(), active: map[string]int{}}
}

// pairs returns the pairs of the open session.
func (o *oracle) pairs() []*oraclePair {
	var here []*oraclePair
	for _, p := range o.all {
		if p.session == o.here {
			here = append(here, p)
		}
	}
	return here
}

// tick counts one record of the journal in the open session.
func (o *oracle) tick() int {
	o.clock++
	o.active[o.here] = o.clock
	return o.clock
}

// ruleset is the rules of the only provider, in order.
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
	session  string
	at       int // on the oracle's clock
	kind     checkpoint.Kind
	before   ruleset // the rules at the checkpoint
	changed  bool    // the step after it changed the rules
	position int64   // seq of the pair whose turn made it, or 0
	latest   int64   // seq of the newest pair at the time of an edit by hand
	undone   bool
}

// wayBack is what the last rollback removed.
type wayBack struct {
	earlier   *wayBack // undoes the rollback before that; nil if it cannot be undone
	scope     checkpoint.Scope
	rules     ruleset
	pairs     []*oraclePair
	points    []*point
	done      int // time on the oracle's clock
	target    *point
	wasUndone bool
}

// oraclePair is a pair as the oracle expects it.
type oraclePair struct {
	seq       int64
	session   string
	text      string
	state     assistant.PairState
	answer    string   // of a complete pair, without tool markers
	exchanges []string // its tool calls, as a request contains them
	star      int
	answers   []oracleAnswer // all answers, if there are several
}

// oracleAnswer is one of several answers of a pair.
type oracleAnswer struct {
	text      string
	exchanges []string
}

// choose selects the answer that is sent.
func (p *oraclePair) choose(n int) { p.answer, p.exchanges = p.answers[n].text, p.answers[n].exchanges }

func (p *oraclePair) answered(text string) { p.state, p.answer = assistant.PairComplete, text }
func (p *oraclePair) failed()              { p.state = assistant.PairError }

func (p *oraclePair) ran(calls []doing) {
	line := "calls"
	for _, c := range calls {
		line += " " + c.tool
	}
	p.exchanges = append(p.exchanges, line)
	for range calls {
		p.exchanges = append(p.exchanges, "tool")
	}
}

// wire returns what a request contains for a pair.
func (p *oraclePair) wire() []string {
	if p.state != assistant.PairComplete && len(p.exchanges) == 0 {
		return nil
	}
	lines := append([]string{"user " + p.text}, p.exchanges...)
	if p.answer != "" {
		lines = append(lines, "assistant "+p.answer)
	}
	return lines
}

// wire returns what a request contains for all pairs except one.
func (o *oracle) wire(but *oraclePair) []string {
	var lines []string
	for _, p := range o.pairs() {
		if p != but {
			lines = append(lines, p.wire()...)
		}
	}
	return lines
}

// doing is a change to the rules, by a tool or by hand.
type doing struct{ tool, pattern string }

func (c doing) adds() bool   { return strings.HasPrefix(c.tool, "add_") }
func (c doing) clears() bool { return strings.HasPrefix(c.tool, "clear_") }
func (c doing) allow() bool  { return strings.Contains(c.tool, "whitelist") }

// do changes the rules and reports whether that was possible.
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

// The names of tools in this test that do not change rules.
const (
	toolSave    = "save_changes"
	toolDiscard = "discard_changes"
)

func (s *subject) drawCall() doing {
	tool := rapid.SampledFrom([]string{
		"add_ignore_rule", "add_ignore_rule", "remove_ignore_rule", "add_whitelist_rule", "remove_whitelist_rule", "clear_all_ignore_rules",
	}).Draw(s.rt, "what")
	return doing{tool, fmt.Sprintf("w%d", rapid.IntRange(0, 7).Draw(s.rt, "pattern"))}
}

// drawCalls returns the calls of one response. A call that changes nothing still counts as a write, because that is
// not known before it has run; only discarding when nothing is staged is known in advance not to write.
func (s *subject) drawCalls() []doing {
	calls := make([]doing, rapid.IntRange(1, 3).Draw(s.rt, "calls"))
	for i := range calls {
		switch rapid.IntRange(0, 9).Draw(s.rt, "kind") {
		case 0:
			calls[i] = doing{tool: toolSave}
		case 1:
			calls[i] = doing{tool: toolDiscard}
		default:
			calls[i] = s.drawCall()
		}
	}
	return calls
}

// wired returns the calls as a model makes them.
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

// turnWrites applies the calls of the turn about to be sent. A turn that leaves the rules unchanged has no
// checkpoint.
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
	if !o.rules.equal(before) {
		o.turn = &point{kind: checkpoint.KindTurn, before: before, changed: true}
	}
}

// begun records the start of a new session.
func (o *oracle) begun(session, id string) {
	o.sessions, o.here = append(o.sessions, session), session
	o.add(&point{id: id, kind: checkpoint.KindStart, before: o.rules.clone()})
}

// resumed records that an older session was resumed.
func (o *oracle) resumed(session string) {
	o.here = session
	o.tick()
}

func (o *oracle) add(c *point) {
	c.session, c.at = o.here, o.tick()
	o.points = append(o.points, c)
}

// append records a sent pair, with the checkpoint that its turn made.
func (o *oracle) append(p *oraclePair, listed []checkpoint.Checkpoint) {
	p.session = o.here
	o.all = append(o.all, p)
	o.forget()
	if o.turn != nil {
		o.turn.position, o.turn.id = p.seq, listed[len(listed)-1].ID
		o.add(o.turn)
		o.turn = nil
	}
}

// forget records that the last rollback can no longer be undone, because a message was sent.
func (o *oracle) forget() { o.back = nil }

func (o *oracle) remove(p *oraclePair) {
	o.all = slices.DeleteFunc(o.all, func(other *oraclePair) bool { return other == p })
}

// listed returns the checkpoints of this session.
func (o *oracle) listed() []*point {
	var list []*point
	for _, c := range o.points {
		if c.session == o.here {
			list = append(list, c)
		}
	}
	return list
}

// step returns the step that ctrl+z would undo.
func (o *oracle) step() *point {
	for _, c := range slices.Backward(o.points) {
		if c.changed && !c.undone {
			return c
		}
	}
	return nil
}

// rollback rolls back to c, and returns the text of the first pair that it removes.
func (o *oracle) rollback(c *point, scope checkpoint.Scope) (text string, nothing bool) {
	back := &wayBack{scope: scope, rules: o.rules.clone(), target: c, wasUndone: c.undone}
	later := func(p *point) bool { return p.at > c.at && p.kind != checkpoint.KindStart }
	cut := o.cutOf(c, later)
	isCut := func(p *oraclePair) bool {
		return scope != checkpoint.ScopeWindow && cut > 0 && p.seq >= cut && (o.active[p.session] >= c.at || p.session == c.session)
	}
	sameRules := scope == checkpoint.ScopeConversation || o.rules.equal(c.before) && !slices.ContainsFunc(o.points, later)
	if sameRules && !slices.ContainsFunc(o.all, isCut) {
		return "", true
	}
	if scope != checkpoint.ScopeConversation {
		o.rules = c.before.clone()
		o.points, back.points = parted(o.points, later)
		c.undone = c.undone || c.kind != checkpoint.KindStart
	}
	if o.all, back.pairs = parted(o.all, isCut); len(back.pairs) > 0 {
		text = back.pairs[0].text
	}
	o.clock++
	back.done, back.earlier, o.back = o.clock, o.back, back
	return text, false
}

// cutOf returns the first pair that a rollback to c removes: the pair of its turn or, if it has none, of the first
// turn after it; for the start of a session, the first pair of that session, and for an edit by hand the first one of its session after
// it.
func (o *oracle) cutOf(c *point, later func(*point) bool) int64 {
	cut := c.position
	sooner := func(seq int64) {
		if seq > 0 && (cut == 0 || seq < cut) {
			cut = seq
		}
	}
	for _, p := range o.points {
		if later(p) {
			sooner(p.position)
		}
	}
	for _, p := range o.all {
		if p.session == c.session && (c.kind == checkpoint.KindStart || c.kind == checkpoint.KindEdit && p.seq > c.latest) {
			sooner(p.seq)
		}
	}
	return cut
}

// latest returns the seq of the newest pair that is not cut, or 0.
func (o *oracle) latest() int64 {
	if len(o.all) == 0 {
		return 0
	}
	return o.all[len(o.all)-1].seq
}

// parted splits a list by what a rollback takes.
func parted[T any](list []T, takes func(T) bool) (rest, taken []T) {
	for _, item := range list {
		if takes(item) {
			taken = append(taken, item)
		} else {
			rest = append(rest, item)
		}
	}
	return rest, taken
}

func (o *oracle) undoRollback() {
	b := o.back
	o.back = b.earlier
	o.all = append(o.all, b.pairs...)
	slices.SortFunc(o.all, func(p, q *oraclePair) int { return cmp.Compare(p.seq, q.seq) })
	if b.scope == checkpoint.ScopeConversation {
		return
	}
	// Edits made since then are dropped.
	o.points, _ = parted(o.points, func(p *point) bool { return p.at > b.done && p.kind != checkpoint.KindStart })
	o.points = append(o.points, b.points...)
	slices.SortFunc(o.points, func(p, q *point) int { return cmp.Compare(p.at, q.at) })
	o.rules = b.rules
	b.target.undone = b.wasUndone
}

var toolPlaces = regexp.MustCompile(`\s*\[\[tool:\d+\]\]\s*`)

// check compares everything stored with the oracle.
func (s *subject) check() {
	s.rt.Helper()
	s.checkPairs()
	s.checkRules()
	s.checkFile()
	s.checkPoints()
	if s.said.Len() > 0 && !strings.Contains(s.said.String(), "cut off") {
		s.rt.Errorf("the program said: %s", s.said.String())
	}
}

func (s *subject) checkPairs() {
	s.rt.Helper()
	refs := s.session.Visible()
	stored, err := s.app.store.Refs(s.t.Context(), s.session.ID(), 0)
	s.must(err)
	if got, want := seqsOf(refs), seqsOf(stored); !slices.Equal(got, want) {
		s.rt.Errorf("in view are %v, in the store %v", got, want)
	}
	pairs, err := s.session.Pairs(s.t.Context(), seqsOf(refs))
	s.must(err)
	got, want := make([]string, len(pairs)), make([]string, len(s.oracle.pairs()))
	for i, p := range pairs {
		got[i] = fmt.Sprintf("%d %q %s *%d", p.Seq, p.UserText, p.State, p.Star)
		if p.State == assistant.PairComplete {
			got[i] += " " + toolPlaces.ReplaceAllString(string(p.AssistantText), "")
		}
	}
	for i, p := range s.oracle.pairs() {
		want[i] = fmt.Sprintf("%d %q %s *%d", p.seq, p.text, p.state, p.star)
		if p.state == assistant.PairComplete {
			want[i] += " " + p.answer
		}
	}
	if !slices.Equal(got, want) {
		s.rt.Errorf("the pairs are\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func seqsOf(refs []assistant.Ref) []int64 {
	seqs := make([]int64, len(refs))
	for i, r := range refs {
		seqs[i] = r.Seq
	}
	return seqs
}

func (s *subject) checkRules() {
	s.rt.Helper()
	got := ruleset{patterns(s.window.Rules(modelfilter.Ignore)), patterns(s.window.Rules(modelfilter.Allow))}
	if !got.equal(s.oracle.rules) {
		s.rt.Errorf("the rules are %v, want %v", got, s.oracle.rules)
	}
	if want := !s.oracle.rules.equal(s.oracle.saved); s.window.Dirty() != want {
		s.rt.Errorf("unsaved: %v, want %v; rules %v, file %v", !want, want, s.oracle.rules, s.oracle.saved)
	}
	text, err := s.window.State()
	s.must(err)
	if !jsondelta.Equal(text, s.journal.Current()) {
		s.rt.Errorf("the journal ends with %s, the window is %s", s.journal.Current(), text)
	}
}

func patterns(views []modelfilter.RuleView) []string {
	out := make([]string, len(views))
	for i, v := range views {
		out[i] = v.Pattern
	}
	return out
}

func (s *subject) checkFile() {
	s.rt.Helper()
	text, err := os.ReadFile(".env")
	s.must(err)
	foreign := 0
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "IGNORE_MODELS_OPENAI="), strings.HasPrefix(line, "WHITELIST_MODELS_OPENAI="):
		case line == "# note", line == `FOREIGN="a # b"`, line == "# a note of somebody else":
			foreign++
		default:
			s.rt.Errorf("the file has got the line %q", line)
		}
	}
	if foreign != 2+s.oracle.notes {
		s.rt.Errorf("the file has %d lines that are not winnow's, want %d:\n%s", foreign, 2+s.oracle.notes, text)
	}
	file := dotenv.Parse(text)
	for key, want := range map[string][]string{"IGNORE_MODELS_OPENAI": s.oracle.saved.ignore, "WHITELIST_MODELS_OPENAI": s.oracle.saved.allow} {
		if got, _ := file.Get(key, func(string) (string, bool) { return "", false }); got != strings.Join(want, ",") {
			s.rt.Errorf("the file says %s=%s, want %v", key, got, want)
		}
	}
}

func (s *subject) checkPoints() {
	s.rt.Helper()
	var got, want []string
	for _, c := range s.session.Checkpoints() {
		got = append(got, fmt.Sprintf("%s %s at %d undone %v", c.ID, c.Kind, c.PairSeq, c.Undone))
	}
	for _, c := range s.oracle.listed() {
		want = append(want, fmt.Sprintf("%s %s at %d undone %v", c.id, c.kind, c.position, c.undone))
	}
	if !slices.Equal(got, want) {
		s.rt.Fatalf("the checkpoints are\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	for _, c := range s.oracle.points {
		raw, err := s.journal.State(c.id)
		s.must(err)
		var state struct {
			Rules map[string]struct{ Ignore, Whitelist []string }
		}
		s.must(json.Unmarshal(raw, &state))
		if at := (ruleset{state.Rules["openai"].Ignore, state.Rules["openai"].Whitelist}); !at.equal(c.before) {
			s.rt.Errorf("at checkpoint %s (%s) the rules are %v, want %v: %s", c.id, c.kind, at, c.before, raw)
		}
	}
	if _, can := s.journal.LastRollback(); can != (s.oracle.back != nil) {
		s.rt.Errorf("a rollback can be undone: %v", can)
	}
}
