package api

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"winnow/checkpoint/privatefile"
)

// register registers all operations.
func (s *Server) register() {
	created := operation("openSession", "POST /v1/sessions", "Open a new session, or a session from the history", "no_session", "open", "model", codeLimit, "too_many", codeStorage, "ending")
	created.DefaultStatus = http.StatusCreated
	add(s, created, s.openSession)
	answer(s, operation("listSessions", "GET /v1/sessions", "List the open sessions"), s.listSessions)
	answer(s, operation("getSession", "GET /v1/sessions/{id}", "Show an open session", "no_session"), s.getSession)
	nothing(s, operation("closeSession", "DELETE /v1/sessions/{id}", "Close a session; its conversation stays in the history", "no_session"), s.closeSession)

	send := operation("sendMessage", "POST /v1/sessions/{id}/messages", "Send a message and follow its turn to the end. While another turn is running, the message is added to the queued message instead, and the response is 202", "no_session", "empty", "model", "filter", codeLimit, "ending")
	waits := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[queuedMessage](), true, "")
	send.Responses["202"] = &huma.Response{Description: "the message is queued", Content: map[string]*huma.MediaType{mediaJSON: {Schema: waits}}}
	events(s, send, s.sendMessage)
	events(s, operation("followEvents", "GET /v1/sessions/{id}/events", "Follow turns and changes to the window: after the event that Last-Event-ID names, else from the start of the running turn, else from now on", "no_session", "event_id", "events_gone"), s.followEvents)
	nothing(s, operation("cancelTurn", "POST /v1/sessions/{id}/cancel", "Cancel the running turn", "no_session"), s.cancelTurn)
	nothing(s, operation("answerQuestion", "POST /v1/sessions/{id}/answers/{question}", "Answer a confirm_request", "no_session", "not_asked"), s.answerQuestion)
	answer(s, operation("showRequest", "GET /v1/sessions/{id}/request", "Show the exact request that a message would send now", "no_session", codeStorage), s.showRequest)

	answer(s, operation("listPairs", "GET /v1/sessions/{id}/pairs", "List the visible pairs, or the pairs that a filter line matches, oldest first", "no_session", "filter", codeStorage), s.listPairs)
	events(s, operation("retryPair", "POST /v1/sessions/{id}/pairs/{seq}/retry", "Answer a message again and follow the turn to the end. A failed pair is retried in its place; the last pair gets another answer and keeps the old one", "no_session", "no_pair", "busy", "not_last", "changed_window", "model", codeLimit, codeStorage, "ending"), s.retryPair)
	answer(s, operation("listAnswers", "GET /v1/sessions/{id}/pairs/{seq}/answers", "List all answers to a message, oldest first", "no_session", "no_pair", codeStorage), s.listAnswers)
	answer(s, operation("chooseAnswer", "POST /v1/sessions/{id}/pairs/{seq}/choose", "Choose which answer to a message is shown to users and sent to the model. The window does not change", "no_session", "no_pair", "no_answer", "busy", codeStorage), s.chooseAnswer)
	s.registerVariants()
	decide := operation("decideProposal", "POST /v1/sessions/{id}/pairs/{seq}/proposals/{proposal}", "Accept a proposal and follow the turn that carries it out, or reject the proposal; a rejection gets the response 204", "no_session", "no_pair", "busy", "decided", "not_proposal", codeStorage, "ending")
	decide.Responses["204"] = &huma.Response{Description: "the proposal has been rejected"}
	events(s, decide, s.decideProposal)

	answer(s, operation("listProposals", "GET /v1/proposals", "List the pairs with undecided proposals in all sessions, oldest first", codeStorage), s.listProposals)
	answer(s, operation("listTokens", "GET /v1/tokens", "List the name, role and expiry of each token, but not its value", "no_tokens"), s.listTokens)
	made := operation("addToken", "POST /v1/tokens", "Add a token. Only this response contains its value, which cannot be read again", "no_tokens", "token_exists")
	made.DefaultStatus = http.StatusCreated
	add(s, made, s.addToken)
	answer(s, operation("getToken", "GET /v1/tokens/{name}", "Show the name, role and expiry of a token, but not its value", "no_tokens", "no_token"), s.getToken)
	nothing(s, operation("removeToken", "DELETE /v1/tokens/{name}", "Remove a token. Its sessions end within a second", "no_tokens", "no_token"), s.removeToken)

	add(s, operation("listCheckpoints", "GET /v1/sessions/{id}/checkpoints", "List the checkpoints of the session, oldest first", "no_session"), s.listCheckpoints)
	answer(s, operation("rollBack", "POST /v1/sessions/{id}/rollback", "Go back to a checkpoint. A request that would also undo steps of other sessions must set confirmed", "no_session", "no_checkpoint", "nothing_to_roll_back", "busy", "held", "plan_changed", codePrecondition, "no_basis", "others_changed"), s.rollBack)

	answer(s, operation("showWindow", "GET /v1/window", "Show the window as the assistant sees it, and who is changing it", "no_session"), s.showWindow)
	answer(s, operation("exportWindow", "GET /v1/window/export", "Show the saved state of the window in full, for programs"), s.exportWindow)
	answer(s, operation("editWindow", "POST /v1/window/edit", "Call a tool of the window. The call is a step of the user, which can be undone", codeOfTool, "no_session", "busy", "held", "lasting", "unknown_tool", "invalid_arguments"), s.editWindow)
	add(s, operation("planSave", "GET /v1/window/plan", "Show what a save would write, and the digest that identifies it", "no_session", "not_saved"), s.planSave)
	answer(s, operation("saveWindow", "POST /v1/window/save", "Save the plan with this digest. If the plan has changed, the problem plan_changed contains the new one", "no_session", "busy", "held", "plan_changed", codePrecondition, "no_basis", "conflict", "not_saved"), s.saveWindow)
	answer(s, operation("discardChanges", "POST /v1/window/discard", "Discard the unsaved changes, if they still match this digest", "no_session", "busy", "held", "plan_changed", codePrecondition, "no_basis", "nothing_unsaved", "not_saved"), s.discardChanges)

	document := operation("showDocument", "GET /openapi.json", "Show the OpenAPI document")
	describeCondition(&document)
	s.raw(document, mediaJSON, s.showDocument)
	s.raw(operation("showMetrics", "GET /metrics", "Show metrics for Prometheus"), "text/plain", s.metrics.Handler().ServeHTTP)
	health := operation("showHealth", "GET /healthz", "Check whether the server responds. No token is needed")
	health.Security = []map[string][]string{{}}
	s.raw(health, "text/plain", showHealth)
	ready := operation("showReady", "GET /readyz", "Check whether the history and the window can be used. No token is needed", "not_ready")
	ready.Security = []map[string][]string{{}}
	s.raw(ready, "text/plain", s.showReady)
}

// operation returns the description of an operation. codes lists its causes, except the causes that every operation has.
func operation(id, route, summary string, codes ...string) huma.Operation {
	method, path, _ := strings.Cut(route, " ")
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary,
		Responses: map[string]*huma.Response{}, Metadata: map[string]any{codesKey: codes},
		MaxBodyBytes: maxBody + 1, // huma also refuses a body of exactly this size
	}
}

// codesKey is the key of the codes in the metadata of an operation.
const codesKey = "codes"

// codeOfTool stands for the codes of all tools.
const codeOfTool = "*"

// Operation describes a request that the server supports.
type Operation struct{ Method, Path, Summary string }

// Operations returns all requests that the server supports.
func Operations() ([]Operation, error) {
	s := &Server{}
	s.metrics = newMetrics(s)
	if err := s.describe(); err != nil {
		return nil, err
	}
	return s.operations, nil
}

// Document returns the OpenAPI document of the server.
func Document(version string) ([]byte, error) {
	s := &Server{opts: Options{Version: version}}
	s.metrics = newMetrics(s)
	if err := s.describe(); err != nil {
		return nil, err
	}
	return s.document()
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

// jsonBody is a request or response with a JSON body.
type jsonBody[T any] struct{ Body T }

// answer registers an operation that responds with JSON. The response to GET has an ETag.
func answer[In, T any](s *Server, o huma.Operation, handle func(context.Context, *In) (T, error)) {
	if o.Method == http.MethodGet {
		describeCondition(&o)
		add(s, o, func(ctx context.Context, in *In) (*tagged[T], error) {
			value, err := handle(ctx, in)
			if err != nil {
				return nil, err
			}
			return tag(ctx, value)
		})
		return
	}
	add(s, o, func(ctx context.Context, in *In) (*jsonBody[T], error) {
		value, err := handle(ctx, in)
		return &jsonBody[T]{value}, err
	})
}

// nothing registers an operation that responds with 204.
func nothing[In any](s *Server, o huma.Operation, handle func(context.Context, *In) error) {
	add(s, o, func(ctx context.Context, in *In) (*struct{}, error) { return nil, handle(ctx, in) })
}

// responder writes the response to a request: a stream, or a shorter response if there is nothing to follow.
type responder = func(huma.Context)

// events registers an operation that responds with a stream.
func events[In any](s *Server, o huma.Operation, handle func(context.Context, *In) (responder, error)) {
	o.Responses["200"] = &huma.Response{Content: map[string]*huma.MediaType{eventStream: {Schema: streamSchema()}}}
	add(s, o, func(ctx context.Context, in *In) (*huma.StreamResponse, error) {
		body, err := handle(ctx, in)
		return &huma.StreamResponse{Body: body}, err
	})
}

// raw registers an operation that writes its response itself.
func (s *Server) raw(o huma.Operation, media string, handle http.HandlerFunc) {
	o.Responses["200"] = &huma.Response{Content: map[string]*huma.MediaType{media: {Schema: &huma.Schema{}}}}
	add(s, o, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			handle(w, r)
		}}, nil
	})
}

func (s *Server) showDocument(w http.ResponseWriter, r *http.Request) {
	document, err := s.document()
	if err != nil {
		s.log.Error("http: encode the OpenAPI document", "error", err)
		refuse(w, internalProblem())
		return
	}
	tag := quoted(privatefile.Sum(document)[:32])
	w.Header().Set("ETag", tag)
	if hasTag(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", mediaJSON)
	_, _ = w.Write(document) // fails only if the client has disconnected
}

// showReady responds with status 200 if Options.Ready succeeds in time.
func (s *Server) showReady(w http.ResponseWriter, r *http.Request) {
	showReady(w, r, s.opts.Ready, s.log)
}

func showReady(w http.ResponseWriter, r *http.Request, ready func(context.Context) error, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if ready != nil {
		done := make(chan error, 1)
		go func() { done <- ready(ctx) }() // ready may never return
		var err error
		select {
		case err = <-done:
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			log.Error("not ready", "error", err)
			refuse(w, newProblem("not_ready", "the history or the window cannot be used; see the log of the server"))
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ready\n"))
}

// readyTime limits how long the check of /readyz may take.
const readyTime = 5 * time.Second

func showHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}
