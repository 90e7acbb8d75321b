package api

import (
	"context"
	"net/http"

	"winnow/assistant"
	"winnow/assistant/serve"
)

// registerVariants registers the operations for cancelled answers, branches and titles.
func (s *Server) registerVariants() {
	branched := operation("branchSession", "POST /v1/sessions/{id}/pairs/{seq}/branch", "Open a new session that continues from a message: its view starts with the pairs up to that message. Nothing is copied, and the window does not change", "no_session", "no_pair", "busy", codeLimit, "too_many", codeStorage, "ending")
	branched.DefaultStatus = http.StatusCreated
	add(s, branched, s.branchSession)
	answer(s, operation("showCancelled", "GET /v1/sessions/{id}/cancelled", "Show the received part of the most recently cancelled answer. It is available until the next message is sent", "no_session", "nothing_cancelled"), s.showCancelled)
	answer(s, operation("keepCancelled", "POST /v1/sessions/{id}/cancelled/keep", "Keep the received part of the cancelled answer. If the message was new, the two form a pair that is never sent to the model. If the message was older, the part is added to the message's answers but not chosen", "no_session", "nothing_cancelled", "busy", codeStorage), s.keepCancelled)
	events(s, operation("askAgain", "POST /v1/sessions/{id}/cancelled/retry", "Send the message of the cancelled answer again and follow the turn to the end", "no_session", "nothing_cancelled", "busy", "model", codeLimit, codeStorage, "ending"), s.askAgain)
	answer(s, operation("showTitle", "GET /v1/sessions/{id}/title", "Show the title of the session", "no_session", codeStorage), s.showTitle)
	answer(s, operation("setTitle", "POST /v1/sessions/{id}/title", "Set the title of the session", "no_session", codeStorage), s.setTitle)
}

// showCancelled returns the received part of the most recently cancelled answer.
func (s *Server) showCancelled(_ context.Context, in *SessionPath) (pairInfo, error) {
	st, err := s.lookAt(in.ID)
	if err != nil {
		return pairInfo{}, err
	}
	p := st.Cancelled()
	if p == nil {
		return pairInfo{}, assistant.ErrNothingCancelled
	}
	return pairInfo{Seq: p.Seq, Pair: *p}, nil
}

func (s *Server) keepCancelled(ctx context.Context, in *SessionPath) (pairInfo, error) {
	st, err := s.streamOf(ctx, in.ID)
	if err != nil {
		return pairInfo{}, err
	}
	p, err := st.KeepCancelled(ctx)
	if err != nil {
		return pairInfo{}, err
	}
	return pairInfo{p.Seq, includedIn(st.Session.Session().Shown())[p.Seq], *p}, nil
}

// otherModel is the body of a request that sends a message again.
type otherModel struct {
	Model string `json:"model,omitempty" doc:"the model for this turn and later ones, as PROVIDER/NAME"`
}

type askingAgain struct {
	SessionPath
	Body otherModel
}

func (s *Server) askAgain(ctx context.Context, in *askingAgain) (responder, error) {
	st, err := s.streamOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if st.Session.Session().Busy() { // the running turn has already dropped the cancelled answer
		return nil, assistant.ErrBusy
	}
	p, err := st.AskAgain(ctx)
	if err != nil {
		return nil, err
	}
	if err := st.pickModel(ctx, in.Body.Model); err != nil {
		return nil, err
	}
	before, err := st.start(st.begin(p))
	if err != nil {
		return nil, err
	}
	return s.followTurn(ctx, st, before)
}

// branchSession opens a new session that branches from this one at a pair. The old session stays open.
func (s *Server) branchSession(ctx context.Context, in *PairPath) (*opened, error) {
	st, err := s.streamOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.makeRoom(ctx); err != nil {
		return nil, err
	}
	id, err := st.BranchOff(ctx, in.Seq)
	if err != nil {
		return nil, err
	}
	return s.openHere(ctx, serve.Join{Session: id, Model: st.Session.Session().Model()})
}

// sessionTitle is the body of the requests and responses for the title of a session.
type sessionTitle struct {
	Title string `json:"title" maxLength:"4096" doc:"the title; the default, which an empty title restores, is the first message"`
}

func (s *Server) showTitle(ctx context.Context, in *SessionPath) (sessionTitle, error) {
	st, err := s.lookAt(in.ID)
	if err != nil {
		return sessionTitle{}, err
	}
	title, err := st.Title(ctx)
	return sessionTitle{title}, err
}

type naming struct {
	SessionPath
	Body sessionTitle
}

func (s *Server) setTitle(ctx context.Context, in *naming) (sessionTitle, error) {
	st, err := s.streamOf(ctx, in.ID)
	if err != nil {
		return sessionTitle{}, err
	}
	title, err := st.SetTitle(ctx, in.Body.Title)
	return sessionTitle{title}, err
}
