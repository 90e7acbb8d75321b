package api

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/checkpoint"
)

// SessionPath contains the path parameter of a request to a session. It is exported because huma reads only exported
// fields.
type SessionPath struct {
	ID string `path:"id" doc:"the id of the session"`
}

// streamOf returns the session with an id and marks it as used. It returns an error unless the client opened the
// session.
func (s *Server) streamOf(ctx context.Context, id string) (*stream, error) {
	st, err := s.lookAt(id)
	if err == nil && st.Key() != clientOf(ctx).Key {
		return nil, newProblem(assistant.CodeForbidden, "the session belongs to %s: open one of your own", st.User())
	}
	return st, err
}

// lookAt returns the session with an id and marks it as used. The session may belong to any user.
func (s *Server) lookAt(id string) (*stream, error) {
	st := s.find(id)
	if st == nil {
		return nil, serve.ErrNoSession
	}
	st.Use()()
	return st, nil
}

// find returns the session with an id, or nil if it is not open here.
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

// makeRoom closes a session if too many are open: among the sessions of the user with the most unused sessions, it
// closes the one that has been unused for the longest time. This way one user cannot lock out the others.
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
		s.metrics.Ended(serve.ServerHTTP, "room")
		s.log.Warn("the session was closed: too many sessions are open", "session", st.ID(), "user", st.User())
		return s.closeStream(ctx, st)
	}
	s.metrics.Refused(serve.ServerHTTP, "too_many")
	return newProblem("too_many", "the server has reached the limit of %s, and all are in use: close one first", assistant.Counted(s.most, "open session"))
}

// newSession is the body of a request that opens a session.
type newSession struct {
	Model   string `json:"model,omitempty" doc:"the model, as PROVIDER/NAME; the default is the model of the server"`
	Session string `json:"session,omitempty" doc:"the id of a session in the history, to continue that session"`
}

// sessionInfo describes an open session.
type sessionInfo struct {
	ID        string         `json:"id" doc:"the id in the paths of requests"`
	User      string         `json:"user" doc:"the user who opened the session"`
	Role      assistant.Role `json:"role" doc:"what the user may do in the session"`
	Model     string         `json:"model" doc:"the model of the next turn, as PROVIDER/NAME"`
	Opened    time.Time      `json:"opened" doc:"when the session was opened here"`
	Busy      bool           `json:"busy" doc:"true if a turn is running"`
	Queued    string         `json:"queued,omitempty" doc:"the message that waits for the end of the turn"`
	LastEvent int64          `json:"last_event,omitempty" doc:"the id of the newest event; absent if the session was not opened over HTTP"`
}

func infoOf(session *serve.Session, st *stream) sessionInfo {
	core := session.Session()
	info := sessionInfo{ID: session.ID(), User: session.User(), Role: core.Role(), Model: core.Model(), Opened: session.Opened(), Busy: core.Busy()}
	if p, waits := core.Queued(); waits {
		info.Queued = p.Text
	}
	if st != nil {
		info.LastEvent = st.frames.Last()
	}
	return info
}

type opening struct{ Body newSession }

type opened struct {
	Location string `header:"Location" doc:"the path of the session"`
	Body     sessionInfo
}

func (s *Server) openSession(ctx context.Context, in *opening) (*opened, error) {
	if err := s.makeRoom(ctx); err != nil {
		return nil, err
	}
	return s.openHere(ctx, serve.Join{Session: in.Body.Session, Model: in.Body.Model})
}

// openHere opens a session for the client of a request.
func (s *Server) openHere(ctx context.Context, j serve.Join) (*opened, error) {
	bounded, cancel := context.WithTimeout(ctx, s.opts.HistoryWait)
	defer cancel()
	client := clientOf(ctx)
	j.User, j.Role, j.Key, j.Window = client.User, client.Role, client.Key, s.hub.Place()
	session, err := s.hub.Open(bounded, j)
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		s.log.Warn("the history does not respond", "error", err)
		return nil, newProblem(codeStorage, "the history is currently unavailable: it does not respond")
	case err != nil:
		return nil, err
	}
	st := newStream(s, session)
	if !s.addStream(st) {
		return nil, errors.Join(serve.ErrClosed, session.Close(ctx))
	}
	return &opened{"/v1/sessions/" + url.PathEscape(session.ID()), infoOf(session, st)}, nil
}

// addStream adds a session and reports whether it was added. No session is added while the server is shutting down.
func (s *Server) addStream(st *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.streams[st.ID()] = st
	st.idle = time.AfterFunc(s.opts.Idle, st.endIdle)
	return true
}

// sessionList is a page of the open sessions of all front ends.
type sessionList struct {
	Sessions []sessionInfo `json:"sessions" nullable:"false" doc:"in the order in which they were opened, including sessions of other front ends"`
	PageEnd
}

func (s *Server) listSessions(_ context.Context, in *Paging) (sessionList, error) {
	list := sessionList{Sessions: []sessionInfo{}}
	key := func(session *serve.Session) string { return byTime(session.Opened(), session.ID()) }
	page, end, err := pageOf(sorted(s.hub.Sessions(), key), *in, false, key)
	for _, session := range page {
		list.Sessions = append(list.Sessions, infoOf(session, s.find(session.ID())))
	}
	list.PageEnd = end
	return list, err
}

func (s *Server) getSession(_ context.Context, in *SessionPath) (sessionInfo, error) {
	session, err := s.hub.Session(in.ID)
	if err != nil {
		return sessionInfo{}, err
	}
	session.Use()()
	return infoOf(session, s.find(in.ID)), nil
}

func (s *Server) closeSession(ctx context.Context, in *SessionPath) error {
	st, err := s.lookAt(in.ID)
	if err != nil {
		return err
	}
	if !clientOf(ctx).Role.May(assistant.RoleAdmin) { // an admin may end the sessions of other users
		if st, err = s.streamOf(ctx, in.ID); err != nil {
			return err
		}
	}
	return s.closeStream(ctx, st)
}

// checkpointList is a page of the checkpoints of a session.
type checkpointList struct {
	Checkpoints []checkpoint.Checkpoint `json:"checkpoints" nullable:"false" doc:"oldest first; the next page is older"`
	Newest      string                  `json:"newest" doc:"the id of the newest step, in any session, that a rollback could undo; for the body of a rollback"`
	PageEnd
}

type listingCheckpoints struct {
	SessionPath
	Paging
}

// listedCheckpoints is the response that contains a page of checkpoints.
type listedCheckpoints struct {
	ETag string `header:"ETag" doc:"the value of newest; for If-Match"`
	Body checkpointList
}

func (s *Server) listCheckpoints(_ context.Context, in *listingCheckpoints) (*listedCheckpoints, error) {
	st, err := s.lookAt(in.ID)
	if err != nil {
		return nil, err
	}
	newest := st.Newest()
	page, end, err := pageOf(st.Session.Session().Checkpoints(), in.Paging, true, func(c checkpoint.Checkpoint) int64 { return c.Seq })
	return &listedCheckpoints{quoted(newest), checkpointList{page, newest, end}}, err
}

// target is the body of a request for a rollback.
type target struct {
	Checkpoint string           `json:"checkpoint" doc:"the id of the checkpoint to go back to"`
	Scope      checkpoint.Scope `json:"scope,omitempty" enum:"window,conversation,both" doc:"what to roll back; the default is both"`
	Newest     *string          `json:"newest,omitempty" doc:"the value of newest in the list of checkpoints that was shown; if there is a newer step, the response is a problem with the code plan_changed. Required without If-Match"`
	Confirmed  bool             `json:"confirmed,omitempty" doc:"allow the rollback even if it undoes steps of other sessions"`
}

// rolledBack is the result of a rollback.
type rolledBack struct {
	Checkpoint string                  `json:"checkpoint" doc:"the id of the checkpoint"`
	Text       safetext.Text           `json:"text" doc:"the first message that was removed from the conversation; empty if none was removed"`
	Others     []checkpoint.Checkpoint `json:"others" nullable:"false" doc:"steps of other sessions that were undone; their conversations are unchanged"`
	Warning    safetext.Text           `json:"warning,omitempty" doc:"what failed after the rollback"`
}

type rollingBack struct {
	SessionPath
	Matching
	Body target
}

func (s *Server) rollBack(ctx context.Context, in *rollingBack) (rolledBack, error) {
	st, err := s.streamOf(ctx, in.ID)
	if err != nil {
		return rolledBack{}, err
	}
	to := in.Body
	newest, err := in.basis(to.Newest)
	if err != nil {
		return rolledBack{}, err
	}
	if others := st.OthersSince(to.Checkpoint); len(others) > 0 && to.Scope != checkpoint.ScopeConversation && !to.Confirmed {
		p := newProblem("others_changed", "%s of other sessions would also be undone; to roll back anyway, set confirmed", assistant.Counted(len(others), "step"))
		p.Others = others
		return rolledBack{}, p
	}
	done, err := st.Rollback(ctx, to.Checkpoint, to.Scope, newest)
	return rolledBack{to.Checkpoint, done.Text, append([]checkpoint.Checkpoint{}, done.Others...), done.Warning}, in.failed(err)
}
