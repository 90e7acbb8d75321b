package api

import (
	"net/http"
	"sync"
)

// routes are all requests. Their schemas are made at the first call: a program that
// serves nothing does not wait for them.
var routes = sync.OnceValue(func() []route {
	return []route{
		answer("POST", "/v1/sessions", "Open a session, a new one or one of the history", http.StatusCreated, (*Server).openSession),
		answer("GET", "/v1/sessions", "List the open sessions", http.StatusOK, (*Server).listSessions),
		answer("DELETE", "/v1/sessions/{id}", "Close a session; its conversation stays in the history", http.StatusNoContent, (*Server).closeSession),
		events("POST", "/v1/sessions/{id}/messages", "Send a message and follow its turn to its end. While a turn runs, the message is queued in the place of one that waits, and the answer is 202", (*Server).sendMessage),
		events("GET", "/v1/sessions/{id}/events", "Follow turns and changes in the window: from the start of the running turn, or after the event of Last-Event-ID", (*Server).followEvents),
		answer("POST", "/v1/sessions/{id}/cancel", "Cancel the running turn, if there is one", http.StatusNoContent, (*Server).cancelTurn),
		answer("POST", "/v1/sessions/{id}/answers/{question}", "Answer a confirm_request", http.StatusNoContent, (*Server).answerQuestion),
		answer("GET", "/v1/sessions/{id}/pairs", "The visible pairs, or those that a filter line matches, the newest last", http.StatusOK, (*Server).listPairs,
			parameter{"filter", "string", "a line of the filter language; the view stays as it is"},
			parameter{"limit", "integer", "how many, 100 if not given and 1000 at most"},
			parameter{"before", "integer", "only pairs before this seq"}),
		answer("GET", "/v1/sessions/{id}/request", "The exact request that a message would send now", http.StatusOK, (*Server).showRequest,
			parameter{"text", "string", "the message"}),
		answer("GET", "/v1/sessions/{id}/checkpoints", "The checkpoints of the session, oldest first", http.StatusOK, (*Server).listCheckpoints),
		answer("POST", "/v1/sessions/{id}/rollback", "Go back to a checkpoint. It must be confirmed when it would undo steps of other sessions, too", http.StatusOK, (*Server).rollback),
		answer("GET", "/v1/window", "The window as the assistant sees it, and who changes it now", http.StatusOK, (*Server).showWindow),
		answer("POST", "/v1/window/edit", "Call a tool of the window by hand, as one step that can be undone", http.StatusOK, (*Server).editWindow),
		answer("POST", "/v1/window/plan", "What a save would write, and the digest that names it. It changes nothing", http.StatusOK, (*Server).planSave),
		answer("POST", "/v1/window/save", "Save the plan with this digest; another plan by now is the problem plan_changed, which has it", http.StatusOK, (*Server).saveWindow),
		answer("POST", "/v1/window/discard", "Discard what is not saved, if it is still the plan with this digest", http.StatusOK, (*Server).discardChanges),
		{method: "GET", path: "/openapi.json", summary: "This document", status: http.StatusOK, media: "application/json", serve: (*Server).showDocument},
		{method: "GET", path: "/metrics", summary: "Metrics for Prometheus", status: http.StatusOK, media: "text/plain", serve: (*Server).showMetrics},
		{method: "GET", path: "/healthz", summary: "Whether the server answers; needs no token", status: http.StatusOK, media: "text/plain", public: true, serve: (*Server).showHealth},
	}
})

// route is one request.
type route struct {
	method, path, summary string
	query                 []parameter
	in                    *schema // of the body; nil: there is none
	out                   *schema // of the answer; nil: it is no JSON
	status                int
	media                 string // of the answer
	public                bool   // needs no token
	serve                 func(s *Server, w http.ResponseWriter, r *http.Request) error
}

type parameter struct{ name, kind, means string }

// none is the body of a request or an answer without one.
type none struct{}

// answer is a route that is answered with the JSON of an Out.
func answer[In, Out any](method, path, summary string, status int, f func(*Server, *http.Request, In) (Out, error), query ...parameter) route {
	in, out := schemaOf[In](), schemaOf[Out]()
	return route{
		method: method, path: path, summary: summary, query: query, in: in, out: out, status: status, media: "application/json",
		serve: func(s *Server, w http.ResponseWriter, r *http.Request) error {
			body, err := bodyOf[In](w, r, in)
			if err != nil {
				return err
			}
			result, err := f(s, r, body)
			switch {
			case err != nil:
				return err
			case out == nil:
				w.WriteHeader(status)
			default:
				writeJSON(w, "application/json", status, result)
			}
			return nil
		},
	}
}

// events is a route that is answered with a stream.
func events[In any](method, path, summary string, f func(*Server, http.ResponseWriter, *http.Request, In) error) route {
	in := schemaOf[In]()
	return route{
		method: method, path: path, summary: summary, in: in, status: http.StatusOK, media: eventStream,
		serve: func(s *Server, w http.ResponseWriter, r *http.Request) error {
			body, err := bodyOf[In](w, r, in)
			if err != nil {
				return err
			}
			return f(s, w, r, body)
		},
	}
}

func bodyOf[In any](w http.ResponseWriter, r *http.Request, in *schema) (body In, err error) {
	if in != nil {
		err = read(w, r, in, &body)
	}
	return body, err
}

func (s *Server) handle(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if err := r.serve(s, w, req); err != nil {
			s.fail(w, req, err)
		}
	})
}

func (s *Server) showDocument(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.openapi) // a client that has gone
	return nil
}

func (s *Server) showHealth(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
	return nil
}
