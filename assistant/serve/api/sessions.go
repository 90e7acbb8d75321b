package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"winnow/assistant"
	"winnow/assistant/serve"
	"winnow/checkpoint"
)

// stream is the session that the path of a request names.
func (s *Server) stream(r *http.Request) (*stream, error) {
	return s.streamOf(r.PathValue("id"))
}

// streamOf is the session with an id, which is used from now on.
func (s *Server) streamOf(id string) (*stream, error) {
	st := s.find(id)
	if st == nil {
		return nil, serve.ErrNoSession
	}
	st.Use()()
	return st, nil
}

// find is the session with an id; nil when it is not open here.
func (s *Server) find(id string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[id]
}

// closeStream closes a session and ends its stream.
func (s *Server) closeStream(ctx context.Context, st *stream) error {
	s.mu.Lock()
	delete(s.streams, st.ID())
	st.idle.Stop()
	s.mu.Unlock()
	err := st.Close(ctx)
	st.frames.Close()
	return err
}

// makeRoom closes a session when there are too many: of the user who has the most that
// nobody uses now, the one that was unused longest. So one user does not lock out others.
func (s *Server) makeRoom(ctx context.Context) error {
	open := s.open()
	if len(open) < s.most {
		return nil
	}
	unused := map[string]int{}
	for _, st := range open {
		if st.Unused() > 0 {
			unused[st.User()]++
		}
	}
	longest := func(a, b *stream) int {
		return cmp.Or(cmp.Compare(unused[b.User()], unused[a.User()]), cmp.Compare(b.Unused(), a.Unused()))
	}
	if st := slices.MinFunc(open, longest); st.Unused() > 0 {
		s.log.Warn("session closed: too many are open", "session", st.ID(), "user", st.User())
		return s.closeStream(ctx, st)
	}
	return newProblem(http.StatusServiceUnavailable, "too_many", "%d sessions are in use: close one first", s.most)
}

// newSession is the body that opens a session.
type newSession struct {
	User    string `json:"user,omitempty" jsonschema:"who works in it, for the others to see"`
	Model   string `json:"model,omitempty" jsonschema:"PROVIDER/NAME; the server's own if not given"`
	Session string `json:"session,omitempty" jsonschema:"the id of a session of the history, to continue it"`
}

// sessionInfo is an open session.
type sessionInfo struct {
	ID        string    `json:"id"`
	User      string    `json:"user"`
	Model     string    `json:"model"`
	Opened    time.Time `json:"opened"`
	Busy      bool      `json:"busy" jsonschema:"a turn runs"`
	Queued    string    `json:"queued,omitempty" jsonschema:"the message that waits for the end of the turn"`
	LastEvent int64     `json:"last_event,omitempty" jsonschema:"the id of the newest event; none for a session that is not used over HTTP"`
}

func infoOf(session *serve.Session, st *stream) sessionInfo {
	core := session.Session()
	info := sessionInfo{ID: session.ID(), User: session.User(), Model: core.Model(), Opened: session.Opened(), Busy: core.Busy()}
	if p, waits := core.Queued(); waits {
		info.Queued = p.Text
	}
	if st != nil {
		info.LastEvent = st.frames.Last()
	}
	return info
}

func (s *Server) openSession(r *http.Request, in newSession) (sessionInfo, error) {
	if err := s.makeRoom(r.Context()); err != nil {
		return sessionInfo{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.opts.HistoryWait)
	defer cancel()
	session, err := s.hub.Open(ctx, serve.Join{User: in.User, Session: in.Session, Model: in.Model})
	switch {
	case err != nil && ctx.Err() != nil && r.Context().Err() == nil:
		s.log.Warn("history does not answer", "error", err)
		return sessionInfo{}, newProblem(http.StatusServiceUnavailable, codeStorage, "the history cannot be used now: it does not answer")
	case err != nil:
		return sessionInfo{}, err
	}
	st := newStream(s, session)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[session.ID()] = st
	st.idle = time.AfterFunc(s.opts.Idle, st.endIdle)
	return infoOf(session, st), nil
}

// sessionList is the open sessions, of all front ends.
type sessionList struct {
	Sessions []sessionInfo `json:"sessions"`
}

func (s *Server) listSessions(*http.Request, none) (sessionList, error) {
	list := sessionList{Sessions: []sessionInfo{}}
	for _, session := range s.hub.Sessions() {
		list.Sessions = append(list.Sessions, infoOf(session, s.find(session.ID())))
	}
	return list, nil
}

func (s *Server) closeSession(r *http.Request, _ none) (none, error) {
	st, err := s.stream(r)
	if err != nil {
		return none{}, err
	}
	return none{}, s.closeStream(r.Context(), st)
}

func (s *Server) cancelTurn(r *http.Request, _ none) (none, error) {
	st, err := s.stream(r)
	if err == nil {
		st.Cancel()
	}
	return none{}, err
}

// decision is the body that answers a question.
type decision struct {
	Accept bool `json:"accept"`
}

func (s *Server) answerQuestion(r *http.Request, in decision) (none, error) {
	st, err := s.stream(r)
	if err == nil {
		err = st.Answer(r.PathValue("question"), in.Accept)
	}
	return none{}, err
}

// pairList is pairs of the history.
type pairList struct {
	Filter   string     `json:"filter" jsonschema:"the line that selects them; the view begins with x, the pairs of the session"`
	Matching int        `json:"matching" jsonschema:"how many pairs the line matches; the list may be shorter"`
	Counter  string     `json:"counter" jsonschema:"how many pairs of the view the next request includes: X/Y"`
	Pairs    []pairInfo `json:"pairs"`
}

type pairInfo struct {
	Seq      int64 `json:"seq" jsonschema:"its place in the history"`
	Included bool  `json:"included" jsonschema:"in the next request"`
	assistant.Pair
}

const (
	defaultPairs = 100
	maxPairs     = 1000
)

func (s *Server) listPairs(r *http.Request, _ none) (pairList, error) {
	st, err := s.stream(r)
	if err != nil {
		return pairList{}, err
	}
	limit, err := intOf(r, "limit", defaultPairs)
	if err != nil || limit < 1 || limit > maxPairs {
		return pairList{}, newProblem(http.StatusUnprocessableEntity, "invalid", "limit must be a number from 1 to %d", maxPairs)
	}
	before, err := intOf(r, "before", 0)
	if err != nil {
		return pairList{}, newProblem(http.StatusUnprocessableEntity, "invalid", "before must be a number")
	}
	core := st.Session.Session()
	shown := core.Shown()
	refs := shown.Refs
	included := map[int64]bool{}
	for i, ref := range refs {
		included[ref.Seq] = shown.Boundary.Includes(i) && ref.Contributes
	}
	list := pairList{Filter: core.Filter(), Counter: shown.Counter, Pairs: []pairInfo{}}
	if r.URL.Query().Has("filter") {
		list.Filter = r.URL.Query().Get("filter")
		if refs, err = st.Match(r.Context(), list.Filter); err != nil {
			return pairList{}, err
		}
	}
	list.Matching = len(refs)
	var seqs []int64
	for _, ref := range refs {
		if before == 0 || ref.Seq < before {
			seqs = append(seqs, ref.Seq)
		}
	}
	pairs, err := core.Pairs(r.Context(), seqs[max(0, int64(len(seqs))-limit):])
	for _, p := range pairs {
		list.Pairs = append(list.Pairs, pairInfo{p.Seq, included[p.Seq], p})
	}
	return list, err
}

// intOf is a number of the query.
func intOf(r *http.Request, name string, unset int64) (int64, error) {
	if !r.URL.Query().Has(name) {
		return unset, nil
	}
	return strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
}

// request is what a message would send.
type request struct {
	Model string          `json:"model"`
	Body  json.RawMessage `json:"body" jsonschema:"the document for the endpoint, without its headers"`
}

func (s *Server) showRequest(r *http.Request, _ none) (request, error) {
	st, err := s.stream(r)
	if err != nil {
		return request{}, err
	}
	req, body, err := st.Request(r.Context(), r.URL.Query().Get("text"))
	if err == nil && body == nil {
		body, err = assistant.PlainJSON(req)
	}
	return request{st.Session.Session().Model(), body}, err
}

// checkpointList is the checkpoints of a session.
type checkpointList struct {
	Checkpoints []checkpoint.Checkpoint `json:"checkpoints"`
	Newest      string                  `json:"newest" jsonschema:"the newest step that a rollback could undo, of any session; for the body of a rollback"`
}

func (s *Server) listCheckpoints(r *http.Request, _ none) (checkpointList, error) {
	st, err := s.stream(r)
	if err != nil {
		return checkpointList{}, err
	}
	newest := st.Newest()
	return checkpointList{append([]checkpoint.Checkpoint{}, st.Session.Session().Checkpoints()...), newest}, nil
}

// target is the body of a rollback.
type target struct {
	Checkpoint string `json:"checkpoint" jsonschema:"the id of the checkpoint to go back to"`
	Scope      string `json:"scope,omitempty" jsonschema:"rules, conversation, or both if not given"`
	Newest     string `json:"newest" jsonschema:"newest of the list of checkpoints that was shown; when another step was made since, the answer is a problem of the code plan_changed"`
	Confirmed  bool   `json:"confirmed,omitempty" jsonschema:"also when steps of other sessions are undone with it"`
}

// rolledBack is what a rollback did.
type rolledBack struct {
	Checkpoint string                  `json:"checkpoint"`
	Text       string                  `json:"text" jsonschema:"the first message that left the conversation"`
	Others     []checkpoint.Checkpoint `json:"others" jsonschema:"steps of other sessions that were undone; their conversations stay"`
	Warning    string                  `json:"warning,omitempty" jsonschema:"what failed after it was done"`
}

func (s *Server) rollback(r *http.Request, in target) (rolledBack, error) {
	st, err := s.stream(r)
	if err != nil {
		return rolledBack{}, err
	}
	scope := checkpoint.Scope(in.Scope)
	switch scope {
	case "", checkpoint.ScopeBoth, checkpoint.ScopeRules, checkpoint.ScopeConversation:
	default:
		return rolledBack{}, newProblem(http.StatusUnprocessableEntity, "invalid", "scope must be rules, conversation or both")
	}
	if others := st.OthersSince(in.Checkpoint); len(others) > 0 && scope != checkpoint.ScopeConversation && !in.Confirmed {
		p := newProblem(http.StatusConflict, "others_changed", "%s of other sessions would be undone, too; repeat the request with confirmed", assistant.Counted(len(others), "step"))
		p.Others = others
		return rolledBack{}, p
	}
	done, err := st.Rollback(r.Context(), in.Checkpoint, scope, in.Newest)
	return rolledBack{in.Checkpoint, done.Text, append([]checkpoint.Checkpoint{}, done.Others...), done.Warning}, err
}
