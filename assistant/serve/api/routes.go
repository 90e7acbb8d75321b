package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// register adds all operations.
func (s *Server) register() {
	created := operation("openSession", "POST /v1/sessions", "Open a session, a new one or one of the history", "no_session", "open", "model", "too_many", codeStorage, "ending")
	created.DefaultStatus = http.StatusCreated
	add(s, created, s.openSession)
	answer(s, operation("listSessions", "GET /v1/sessions", "List the open sessions"), s.listSessions)
	answer(s, operation("getSession", "GET /v1/sessions/{id}", "Show an open session", "no_session"), s.getSession)
	nothing(s, operation("closeSession", "DELETE /v1/sessions/{id}", "Close a session; its conversation stays in the history", "no_session"), s.closeSession)

	send := operation("sendMessage", "POST /v1/sessions/{id}/messages", "Send a message and follow its turn to its end. While a turn runs, the message is queued, replacing one that waits, and the answer is 202", "no_session", "empty", "model", "filter", "ending")
	waits := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[queuedMessage](), true, "")
	send.Responses["202"] = &huma.Response{Description: "the message is queued", Content: map[string]*huma.MediaType{mediaJSON: {Schema: waits}}}
	events(s, send, s.sendMessage)
	events(s, operation("followEvents", "GET /v1/sessions/{id}/events", "Follow turns and changes in the window: from the start of the running turn, or after the event of Last-Event-ID", "no_session", "event_id", "events_gone"), s.followEvents)
	nothing(s, operation("cancelTurn", "POST /v1/sessions/{id}/cancel", "Cancel the running turn", "no_session"), s.cancelTurn)
	nothing(s, operation("answerQuestion", "POST /v1/sessions/{id}/answers/{question}", "Answer a confirm_request", "no_session", "not_asked"), s.answerQuestion)
	answer(s, operation("showRequest", "GET /v1/sessions/{id}/request", "The exact request that a message would send now", "no_session", codeStorage), s.showRequest)

	answer(s, operation("listPairs", "GET /v1/sessions/{id}/pairs", "The visible pairs, or the pairs that a filter line matches, the newest last", "no_session", "filter", codeStorage), s.listPairs)
	events(s, operation("retryPair", "POST /v1/sessions/{id}/pairs/{seq}/retry", "Answer a message again and follow the turn to its end. A failed pair is tried again in its place; the last pair gets another answer, and keeps the old one", "no_session", "no_pair", "busy", "not_last", "changed_window", "model", codeStorage, "ending"), s.retryPair)
	answer(s, operation("listAnswers", "GET /v1/sessions/{id}/pairs/{seq}/answers", "All answers to a message, oldest first", "no_session", "no_pair", codeStorage), s.listAnswers)
	answer(s, operation("chooseAnswer", "POST /v1/sessions/{id}/pairs/{seq}/choose", "Choose the answer that is shown and sent. The window does not change", "no_session", "no_pair", "no_answer", "busy", codeStorage), s.chooseAnswer)
	decide := operation("decideProposal", "POST /v1/sessions/{id}/pairs/{seq}/proposals/{proposal}", "Accept a proposal and follow the turn that carries it out, or reject it, which is answered with 204", "no_session", "no_pair", "busy", "decided", "not_proposal", codeStorage, "ending")
	decide.Responses["204"] = &huma.Response{Description: "it is rejected"}
	events(s, decide, s.decideProposal)

	answer(s, operation("listCheckpoints", "GET /v1/sessions/{id}/checkpoints", "The checkpoints of the session, oldest first", "no_session"), s.listCheckpoints)
	answer(s, operation("rollBack", "POST /v1/sessions/{id}/rollback", "Go back to a checkpoint. It must be confirmed when it would undo steps of other sessions, too", "no_session", "no_checkpoint", "busy", "held", "plan_changed", "others_changed"), s.rollBack)

	answer(s, operation("showWindow", "GET /v1/window", "The window as the assistant sees it, and who changes it now"), s.showWindow)
	answer(s, operation("editWindow", "POST /v1/window/edit", "Call a tool of the window by hand, as one step that can be undone", codeOfTool, "no_session", "busy", "held", "lasting", "unknown_tool", "invalid_arguments"), s.editWindow)
	answer(s, operation("planSave", "POST /v1/window/plan", "What a save would write, and the digest that names it. It changes nothing", "no_session", "not_saved"), s.planSave)
	answer(s, operation("saveWindow", "POST /v1/window/save", "Save the plan with this digest. If the plan is another one by now, the problem plan_changed has it", "no_session", "busy", "held", "plan_changed", "conflict", "not_saved"), s.saveWindow)
	answer(s, operation("discardChanges", "POST /v1/window/discard", "Discard what is not saved, if it is still the plan with this digest", "no_session", "busy", "held", "plan_changed", "nothing_unsaved", "not_saved"), s.discardChanges)

	s.raw(operation("showDocument", "GET /openapi.json", "The OpenAPI document"), mediaJSON, s.showDocument)
	s.raw(operation("showMetrics", "GET /metrics", "Metrics for Prometheus"), "text/plain", s.metrics.handler.ServeHTTP)
	health := operation("showHealth", "GET /healthz", "Whether the server answers. It needs no token")
	health.Security = []map[string][]string{{}}
	s.raw(health, "text/plain", showHealth)
}

// operation describes an operation, and what it refuses beside what all operations do.
func operation(id, route, summary string, codes ...string) huma.Operation {
	method, path, _ := strings.Cut(route, " ")
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary,
		Responses: map[string]*huma.Response{}, Metadata: map[string]any{codesKey: codes},
		MaxBodyBytes: maxBody + 1, // huma refuses a body of this size, too
	}
}

// codesKey is the key of the codes in the metadata of an operation.
const codesKey = "codes"

// codeOfTool stands for the codes of all tools.
const codeOfTool = "*"

// Operation is a request that the server answers.
type Operation struct{ Method, Path, Summary string }

// Operations lists all requests.
func Operations() ([]Operation, error) {
	s := &Server{}
	s.metrics = newMetrics(s)
	if err := s.describe(); err != nil {
		return nil, err
	}
	return s.operations, nil
}

// add registers an operation.
func add[In, Out any](s *Server, o huma.Operation, handle func(context.Context, *In) (*Out, error)) {
	s.operations = append(s.operations, Operation{o.Method, o.Path, o.Summary})
	o.BodyReadTimeout = s.opts.Body
	huma.Register(s.api, o, func(ctx context.Context, in *In) (*Out, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, s.failed(&o, err)
		}
		return out, nil
	})
}

// jsonBody is an answer with a body of JSON.
type jsonBody[T any] struct{ Body T }

// answer registers an operation that is answered with JSON.
func answer[In, T any](s *Server, o huma.Operation, handle func(context.Context, *In) (T, error)) {
	add(s, o, func(ctx context.Context, in *In) (*jsonBody[T], error) {
		value, err := handle(ctx, in)
		return &jsonBody[T]{value}, err
	})
}

// nothing registers an operation that is answered with 204.
func nothing[In any](s *Server, o huma.Operation, handle func(context.Context, *In) error) {
	add(s, o, func(ctx context.Context, in *In) (*struct{}, error) { return nil, handle(ctx, in) })
}

// follower answers a request with a stream, or with less when there is none to follow.
type follower = func(huma.Context)

// events registers an operation that is answered with a stream.
func events[In any](s *Server, o huma.Operation, handle func(context.Context, *In) (follower, error)) {
	o.Responses["200"] = &huma.Response{Content: map[string]*huma.MediaType{eventStream: {Schema: streamSchema()}}}
	add(s, o, func(ctx context.Context, in *In) (*huma.StreamResponse, error) {
		body, err := handle(ctx, in)
		return &huma.StreamResponse{Body: body}, err
	})
}

// raw registers an operation that writes its answer itself.
func (s *Server) raw(o huma.Operation, media string, handle http.HandlerFunc) {
	o.Responses["200"] = &huma.Response{Content: map[string]*huma.MediaType{media: {Schema: &huma.Schema{}}}}
	add(s, o, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			handle(w, r)
		}}, nil
	})
}

func (s *Server) showDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", mediaJSON)
	_, _ = w.Write(s.openapi) // a client that has gone
}

func showHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}
