package assistant

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"winnow/assistant/attachment"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
)

// view holds the visible pairs, which match the active filter line.
type view struct {
	line    string // the filter; "" shows all pairs
	refs    []Ref
	tracker *budget.Tracker // parallel to refs
	made    int             // number of setView calls
	frozen  bool            // Counter shows the last send instead of the boundary
	// system is the size of the system prompt in tokens; payloads is the part of it that
	// lists payloads.
	system, payloads int
	cut              []Ref   // hidden by the last rollback
	added            []int64 // see Shown.Added; replaced, never modified
}

// currentSession is the filter line that matches the pairs of the current session.
const currentSession = "x"

// LoadView puts the pairs of this session into view. It returns ErrBusy while a turn is
// running. It does not wait for StartAsync, which measures the boundary.
func (v View) LoadView(ctx context.Context) error {
	s := v.session
	if s.Busy() {
		return ErrBusy
	}
	refs, err := s.refs(ctx, s.ID())
	if err != nil {
		return err
	}
	s.SetView(refs, currentSession)
	return s.countPayloads(ctx)
}

// SessionRefs returns the pairs of this session and of the sessions it branches from,
// ignoring the filter.
func (v View) SessionRefs(ctx context.Context) ([]Ref, error) {
	return v.session.refs(ctx, v.session.ID())
}

// refs returns the uncut pairs of a session.
func (s *Session) refs(ctx context.Context, session string) ([]Ref, error) {
	return s.opts.Store.Refs(ctx, session, s.Settings().Budget.CPT())
}

// SetView makes refs, the pairs that a filter line selects, the visible pairs. They must be
// in order of Seq. A running pair that does not match stays in view until the next SetView.
func (v View) SetView(refs []Ref, line string) {
	s := v.session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setView(refs, line)
}

// RefreshView is SetView for a line that was evaluated again because pairs have changed. It
// does nothing if another line has been set in the meantime.
func (v View) RefreshView(refs []Ref, line string) {
	s := v.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view.line == line {
		s.setView(refs, line)
	}
}

func (s *Session) setView(refs []Ref, line string) {
	v := &s.view
	v.made++
	v.line, v.refs, v.added = line, slices.Clone(refs), nil
	if t := s.running; t != nil && t.seq != 0 {
		if i, found := v.find(t.seq); !found {
			v.refs = slices.Insert(v.refs, i, Ref{Seq: t.seq})
			v.add(t.seq)
		}
	}
	v.tracker.Replace(costsOf(v.refs))
	v.frozen, v.cut = false, nil
}

// Filter returns the current filter line.
func (v View) Filter() string {
	s := v.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view.line
}

// ReplaceFilterLine replaces the filter line with an equivalent one, for example after a
// rename. The pairs stay.
func (v View) ReplaceFilterLine(line string) {
	s := v.session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.line = line
}

// Visible returns the pairs in view, oldest first.
func (v View) Visible() []Ref {
	s := v.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.view.refs)
}

// Boundary returns which visible pairs the next request contains. It is computed again only
// after the pairs, the model, its limit or the settings have changed.
func (v View) Boundary() budget.Boundary {
	s := v.session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.followLimit()
	return s.view.tracker.Boundary()
}

// followLimit applies what the registry has learned about the model. The boundary does not
// move while a turn is running. s.mu must be held.
func (s *Session) followLimit() {
	if s.running == nil {
		s.view.tracker.SetLimit(s.limit())
	}
}

// Recomputes returns the number of times that the boundary has been computed.
func (m Telemetry) Recomputes() int {
	s := m.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view.tracker.Recomputes()
}

// Shown returns the visible pairs, and which of them the next request contains, as of now.
func (v View) Shown() Shown {
	s := v.session
	s.mu.Lock()
	s.followLimit()
	s.mu.Unlock() // this publishes the change
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return *s.updates.shown.value
}

// Counter returns the context counter: X/Y of the boundary, or [X-T]/Y after a trimmed
// send. The second form stays until the boundary moves for a reason other than the answer
// to the trimmed send.
func (v View) Counter() string {
	s := v.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counter()
}

func (s *Session) counter() string {
	if last := s.current.lastSend; s.view.frozen && len(last.LeftOut) > 0 {
		return budget.Boundary{X: last.Included, Y: last.Visible}.Counter(len(last.LeftOut))
	}
	return s.view.tracker.Boundary().Counter(0)
}

// LastSend reports what the last send left out; ok is false before the session's first
// send. It stays until the next send, even if the view changes.
func (m Telemetry) LastSend() (last LastSend, ok bool) {
	s := m.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.lastSend == nil {
		return LastSend{}, false
	}
	last = *s.current.lastSend
	last.LeftOut = slices.Clone(last.LeftOut)
	return last, true
}

// Fits returns a function that counts how many pairs of base, starting with the
// newest, the next request would contain with the current model and settings.
func (v View) Fits() func(base []Ref) int {
	s := v.session
	b, set := s.Boundary(), s.Settings().Budget
	return func(base []Ref) int {
		at := budget.Predict(costsOf(base), budget.Limit{Context: b.ML, Known: b.Known}, b.SYS, set)
		return at.Y - at.First
	}
}

// limit returns the limit of the selected model. s.mu must be held, unless s is new.
func (s *Session) limit() budget.Limit {
	_, _, info, _ := s.registry.Open(s.model) // for an unknown model, info is zero: the limit is unknown
	return info.Limit()
}

// ModelsChanged applies what the registry has learned about models.
func (s *Session) ModelsChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates.models++
	s.followLimit()
}

// The methods of view must be called with the session's mutex locked.

func bySeq(a, b Ref) int { return cmp.Compare(a.Seq, b.Seq) }

func (v *view) find(seq int64) (i int, found bool) {
	return slices.BinarySearchFunc(v.refs, Ref{Seq: seq}, bySeq)
}

// put adds a pair or updates its cost. A pair that is not in view and is older than the
// newest one stays out.
func (v *view) put(r Ref) {
	i, found := v.find(r.Seq)
	switch {
	case found:
		v.refs[i] = r
		v.tracker.Set(i, r.cost())
	case i == len(v.refs):
		v.refs = append(v.refs, r)
		v.add(r.Seq)
		v.tracker.Append(r.cost())
	}
}

// add notes a pair that is in view without an evaluation of the line.
func (v *view) add(seq int64) {
	if v.line != "" && v.line != currentSession { // these match every new pair
		v.added = append(slices.Clip(v.added), seq)
	}
}

// showRunning shows a pair that is being answered, which contributes nothing yet. A new
// pair does not move the boundary; a retried one may.
func (v *view) showRunning(seq int64) {
	if i, found := v.find(seq); !found || v.refs[i].Contributes {
		v.put(Ref{Seq: seq})
	}
}

// setSystem sets the size of the system prompt, including the list of payloads. The tracker
// uses it from the next computation of the boundary on.
func (v *view) setSystem(tokens, payloads int) {
	v.system, v.payloads = tokens, payloads
	v.tracker.SetSystem(tokens)
}

// ShowPair adds a pair of any session to the view.
func (s *Session) ShowPair(ctx context.Context, seq int64) error {
	p, err := s.pair(ctx, seq)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.view.restore([]Ref{PairRef(p, s.opts.Settings.Budget.CPT())})
	s.updates.addStale(seq)
	s.mu.Unlock()
	s.recountPayloads(ctx)
	return nil
}

// restore puts pairs into view, such as the pairs that drop removed.
func (v *view) restore(refs []Ref) {
	v.frozen = false
	v.refs = append(v.refs, refs...)
	slices.SortFunc(v.refs, bySeq)
	v.refs = slices.CompactFunc(v.refs, func(a, b Ref) bool { return a.Seq == b.Seq })
	v.tracker.Replace(costsOf(v.refs))
}

// drop removes pairs from the view and returns those that were in it, in the order of seqs.
func (v *view) drop(seqs []int64) (dropped []Ref) {
	for _, seq := range seqs {
		if i, found := v.find(seq); found {
			v.frozen = false
			dropped = append(dropped, v.refs[i])
			v.refs = slices.Delete(v.refs, i, i+1)
			v.tracker.Remove(i)
		}
	}
	return dropped
}

func (r Ref) cost() budget.Cost { return budget.Cost{Tokens: r.Cost, Contributes: r.Contributes} }

// costsOf returns the costs of refs.
func costsOf(refs []Ref) []budget.Cost {
	costs := make([]budget.Cost, len(refs))
	for i, r := range refs {
		costs[i] = r.cost()
	}
	return costs
}

// Quota returns what the endpoint of the selected model still allows; ok is false if it
// never reported a quota.
func (m Telemetry) Quota() (q llm.Quota, ok bool) {
	s := m.session
	return s.registry.Quota(s.Model(), s.now())
}

// DraftCost is the cost of sending a message now, in estimated tokens.
type DraftCost struct {
	AUT   int // the message's text and pictures
	Total int // the whole request: system prompt, included pairs and message
	Left  int // what remains of the model's limit; negative if the request is too large
	SYS   int // the system prompt
	ML    int // the model's limit

	// OverReserve reports that the message is larger than the space that the boundary
	// reserves for it, so that the endpoint may find the request too long. The request will
	// then probably be sent without its oldest pairs: Trims is their number, and TrimTokens
	// their size.
	OverReserve       bool
	Trims, TrimTokens int

	// OverBudget reports that message and system prompt alone exceed the model's limit: the
	// message would not be sent.
	OverBudget bool

	// OverQuota reports that the whole request exceeds what the quota currently allows;
	// Quota says when the quota resets.
	OverQuota bool
	Quota     llm.Quota // the zero value if the endpoint never reported one
}

// Draft estimates the cost of sending p. It is cheap enough for every keystroke: it does no
// I/O and does not compute the boundary.
func (v View) Draft(p Prompt) DraftCost {
	s := v.session
	aut := autOf(p, s.Settings().Budget)
	q, known := s.Quota()
	s.mu.Lock()
	at, pairs, tokens := s.view.tracker.Fit(aut)
	s.mu.Unlock()
	return draftCost(aut, at, pairs, tokens, q, known)
}

// Draft estimates the cost of sending p at a given time, like View.Draft. If Shown or Turn
// is nil, only AUT is set.
func (s State) Draft(p Prompt, params budget.Params, now time.Time) DraftCost {
	aut := autOf(p, params)
	if s.Shown == nil || s.Turn == nil {
		return DraftCost{AUT: aut}
	}
	at := s.Shown.Boundary
	pairs, tokens := at.MustTrim(aut, func(i int) budget.Cost { return s.Shown.Refs[i].cost() })
	return draftCost(aut, at, pairs, tokens, s.Turn.Quota.LeftAt(now), s.Turn.Quota != llm.LastQuota{})
}

func autOf(p Prompt, params budget.Params) int {
	return params.Estimate(strings.TrimSpace(p.Text)) + attachment.Tokens(p.Attachments)
}

func draftCost(aut int, at budget.Boundary, pairs, tokens int, q llm.Quota, known bool) DraftCost {
	c := DraftCost{
		AUT: aut, Total: at.SYS + at.HistoryTokens + aut, Left: at.Usable - at.HistoryTokens - aut, SYS: at.SYS, ML: at.ML, Quota: q,
		OverBudget: aut+at.SYS > at.ML,
	}
	if c.Left < 0 && !c.OverBudget {
		c.OverReserve, c.Trims, c.TrimTokens = true, pairs, tokens
	}
	c.OverQuota = known && aut > 0 && q.WouldReject(c.Total)
	return c
}
