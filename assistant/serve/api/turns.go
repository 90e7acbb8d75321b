package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"winnow/assistant"
	"winnow/assistant/filter"
)

// message is the body of a request that sends a message.
type message struct {
	Text   string  `json:"text" doc:"the message" example:"hide every mini model"`
	Model  string  `json:"model,omitempty" doc:"the model for this message and later ones, as PROVIDER/NAME"`
	Filter *string `json:"filter,omitempty" doc:"a filter line that selects the pairs to send with the message; it becomes the view"`
}

// queuedMessage is the response to a message that was queued.
type queuedMessage struct {
	Queued string `json:"queued" doc:"the message that waits; it contains the messages that were queued before"`
}

type sending struct {
	SessionPath
	Body message
}

func (s *Server) sendMessage(ctx context.Context, in *sending) (responder, error) {
	st, err := s.streamOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Body.Text) == "" { // check this before the model and the view are changed
		return nil, assistant.ErrEmpty
	}
	if in.Body.Filter != nil {
		if _, err := filter.Parse(*in.Body.Filter); err != nil {
			return nil, err
		}
	}
	if err := st.pickModel(ctx, in.Body.Model); err != nil {
		return nil, err
	}
	if in.Body.Filter != nil {
		if _, err := st.SetFilter(ctx, *in.Body.Filter); err != nil {
			return nil, err
		}
	}
	before, queued, err := st.send(ctx, assistant.Prompt{Text: in.Body.Text})
	switch {
	case err != nil:
		return nil, err
	case queued != "":
		return func(ctx huma.Context) {
			ctx.SetHeader("Content-Type", mediaJSON)
			ctx.SetStatus(http.StatusAccepted)
			_ = writeJSON(ctx.BodyWriter(), queuedMessage{queued})
		}, nil
	}
	return s.followTurn(ctx, st, before)
}

// followTurn returns a responder that writes the events of the turn that the request has started.
func (s *Server) followTurn(ctx context.Context, st *stream, before int64) (responder, error) {
	return served(s.follow(ctx, st, before, true))
}

// served returns a responder that calls handle; it passes err through.
func served(handle http.HandlerFunc, err error) (responder, error) {
	return func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		handle(w, r)
	}, err
}

// pickModel selects the model for the next turn; "" leaves the model unchanged.
func (st *stream) pickModel(ctx context.Context, id string) error {
	if id == "" || id == st.Session.Session().Model() {
		return nil
	}
	return st.PickModel(ctx, id)
}

type following struct {
	SessionPath
	Last string `header:"Last-Event-ID" doc:"the id of the last event that the client has read"`
}

func (s *Server) followEvents(ctx context.Context, in *following) (responder, error) {
	st, err := s.lookAt(in.ID)
	if err != nil {
		return nil, err
	}
	after := st.frames.Last()
	if st.Session.Session().Busy() {
		st.mu.Lock()
		after = st.turn
		st.mu.Unlock()
	}
	if in.Last != "" {
		if after, err = parseID(in.Last); err != nil {
			return nil, err
		}
	}
	return served(s.follow(ctx, st, after, false))
}

// parseID parses the id of an event as a number.
func parseID(id string) (int64, error) {
	n, err := strconv.ParseUint(id, 10, 63)
	if err != nil {
		return 0, newProblem("event_id", "Last-Event-ID must be the id of an event")
	}
	return int64(n), nil
}

func (s *Server) cancelTurn(ctx context.Context, in *SessionPath) error {
	st, err := s.streamOf(ctx, in.ID)
	if err == nil {
		st.Cancel()
	}
	return err
}

// decision is the body of a request that answers a question or decides a proposal.
type decision struct {
	Accept bool `json:"accept" doc:"true to accept, false to reject"`
}

type answering struct {
	SessionPath
	Question string `path:"question" doc:"the id of the confirm_request"`
	Body     decision
}

func (s *Server) answerQuestion(ctx context.Context, in *answering) error {
	st, err := s.streamOf(ctx, in.ID)
	if err == nil {
		err = st.Answer(in.Question, in.Body.Accept)
	}
	return err
}

// again is the body of a request that regenerates an answer.
type again struct {
	Model     string `json:"model,omitempty" doc:"the model for this turn and later ones, as PROVIDER/NAME"`
	Confirmed bool   `json:"confirmed,omitempty" doc:"regenerate even if the old answer changed the window; its changes stay"`
}

type retrying struct {
	PairPath
	Body again
}

func (s *Server) retryPair(ctx context.Context, in *retrying) (responder, error) {
	st, err := s.streamOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	retry, confirm, err := st.PrepareRetry(ctx, in.Seq, in.Body.Confirmed)
	switch {
	case err != nil:
		return nil, err
	case confirm != nil:
		return nil, newProblem("changed_window", "the old answer changed the window, and its changes would stay; to regenerate it anyway, set confirmed")
	}
	if err := st.pickModel(ctx, in.Body.Model); err != nil {
		return nil, err
	}
	before, err := st.start(st.begin(retry.Prompt))
	if err != nil {
		return nil, err
	}
	return s.followTurn(ctx, st, before)
}

type deciding struct {
	PairPath
	Proposal string `path:"proposal" doc:"the id of the payload"`
	Body     decision
}

func (s *Server) decideProposal(ctx context.Context, in *deciding) (responder, error) {
	st, err := s.streamOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if !in.Body.Accept {
		_, err := st.Decide(ctx, in.Seq, []string{in.Proposal}, false, nil)
		return func(ctx huma.Context) { ctx.SetStatus(http.StatusNoContent) }, err
	}
	before, err := st.start(func() (begun, error) {
		after, err := st.Decide(context.Background(), in.Seq, []string{in.Proposal}, true, nil) // the turn outlives the request
		return st.Events(context.Background(), after), err
	})
	if err != nil {
		return nil, err
	}
	return s.followTurn(ctx, st, before)
}
