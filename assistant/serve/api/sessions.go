package api

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"winnow/assistant"
	"winnow/assistant/serve"
	"winnow/checkpoint"
)

// SessionPath is the path of a request to a session. It is exported for huma, which reads
// exported fields only.
type SessionPath struct {
	ID string `path:"id" doc:"the id of the session"`
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
	return newProblem("too_many", "%d sessions are in use: close one first", s.most)
}

// newSession is the body that opens a session.
type newSession struct {
	User    string `json:"user,omitempty" doc:"who works in it, for the others to see" example:"anna"`
	Model   string `json:"model,omitempty" doc:"PROVIDER/NAME; the server's own if not given"`
	Session string `json:"session,omitempty" doc:"the id of a session of the history, to continue it"`
}

// sessionInfo is an open session.
type sessionInfo struct {
	ID        string    `json:"id" doc:"for the paths of its requests"`
	User      string    `json:"user" doc:"who opened it"`
	Model     string    `json:"model" doc:"PROVIDER/NAME of the next turn"`
	Opened    time.Time `json:"opened" doc:"when it was opened here"`
	Busy      bool      `json:"busy" doc:"a turn runs"`
	Queued    string    `json:"queued,omitempty" doc:"the message that waits for the end of the turn"`
	LastEvent int64     `json:"last_event,omitempty" doc:"the id of the newest event; not there for a session that is not used over HTTP"`
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

type opening struct{ Body newSession }

type opened struct {
	Location string `header:"Location" doc:"the path of the session"`
	Body     sessionInfo
}

func (s *Server) openSession(ctx context.Context, in *opening) (*opened, error) {
	if err := s.makeRoom(ctx); err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, s.opts.HistoryWait)
	defer cancel()
	session, err := s.hub.Open(bounded, serve.Join{User: in.Body.User, Session: in.Body.Session, Model: in.Body.Model})
	switch {
	case err != nil && bounded.Err() != nil && ctx.Err() == nil:
		s.log.Warn("history does not answer", "error", err)
		return nil, newProblem(codeStorage, "the history cannot be used now: it does not answer")
	case err != nil:
		return nil, err
	}
	st := newStream(s, session)
	if !s.addStream(st) {
		return nil, errors.Join(serve.ErrClosed, session.Close(ctx))
	}
	return &opened{"/v1/sessions/" + url.PathEscape(session.ID()), infoOf(session, st)}, nil
}

// addStream reports whether a session may still begin.
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

// sessionList is the open sessions, of all front ends.
type sessionList struct {
	Sessions []sessionInfo `json:"sessions" nullable:"false" doc:"in the order they were opened, including sessions of other front ends"`
}

func (s *Server) listSessions(context.Context, *struct{}) (sessionList, error) {
	list := sessionList{Sessions: []sessionInfo{}}
	for _, session := range s.hub.Sessions() {
		list.Sessions = append(list.Sessions, infoOf(session, s.find(session.ID())))
	}
	return list, nil
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
	st, err := s.streamOf(in.ID)
	if err != nil {
		return err
	}
	return s.closeStream(ctx, st)
}

// checkpointList is the checkpoints of a session.
type checkpointList struct {
	Checkpoints []checkpoint.Checkpoint `json:"checkpoints" nullable:"false" doc:"oldest first"`
	Newest      string                  `json:"newest" doc:"the newest step that a rollback could undo, of any session; for the body of a rollback"`
}

func (s *Server) listCheckpoints(_ context.Context, in *SessionPath) (checkpointList, error) {
	st, err := s.streamOf(in.ID)
	if err != nil {
		return checkpointList{}, err
	}
	newest := st.Newest()
	return checkpointList{append([]checkpoint.Checkpoint{}, st.Session.Session().Checkpoints()...), newest}, nil
}

// target is the body of a rollback.
type target struct {
	Checkpoint string           `json:"checkpoint" doc:"the id of the checkpoint to go back to"`
	Scope      checkpoint.Scope `json:"scope,omitempty" enum:"window,conversation,both" doc:"what goes back; both if not given"`
	Newest     string           `json:"newest" doc:"newest of the list of checkpoints that was shown; when another step was made since, the answer is a problem of the code plan_changed"`
	Confirmed  bool             `json:"confirmed,omitempty" doc:"also when steps of other sessions are undone with it"`
}

// rolledBack is what a rollback did.
type rolledBack struct {
	Checkpoint string                  `json:"checkpoint" doc:"its id"`
	Text       string                  `json:"text" doc:"the first message that left the conversation"`
	Others     []checkpoint.Checkpoint `json:"others" nullable:"false" doc:"steps of other sessions that were undone; their conversations stay"`
	Warning    string                  `json:"warning,omitempty" doc:"what failed after it was done"`
}

type rollingBack struct {
	SessionPath
	Body target
}

func (s *Server) rollBack(ctx context.Context, in *rollingBack) (rolledBack, error) {
	st, err := s.streamOf(in.ID)
	if err != nil {
		return rolledBack{}, err
	}
	to := in.Body
	if others := st.OthersSince(to.Checkpoint); len(others) > 0 && to.Scope != checkpoint.ScopeConversation && !to.Confirmed {
		p := newProblem("others_changed", "%s of other sessions would be undone, too; repeat the request with confirmed", assistant.Counted(len(others), "step"))
		p.Others = others
		return rolledBack{}, p
	}
	done, err := st.Rollback(ctx, to.Checkpoint, to.Scope, to.Newest)
	return rolledBack{to.Checkpoint, done.Text, append([]checkpoint.Checkpoint{}, done.Others...), done.Warning}, err
}
