package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	"winnow/assistant"
	"winnow/assistant/serve"
)

// ObserveOptions configures Observe.
type ObserveOptions struct {
	Metrics *serve.Metrics
	Tokens  serve.Tokens
	Ready   func(context.Context) error // see Options.Ready
	Log     *slog.Logger
}

// Observe returns the handler for monitoring programs. It serves /healthz, /readyz and, for tokens with the role
// metrics or admin, /metrics.
func Observe(o ObserveOptions) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", showHealth)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { showReady(w, r, o.Ready, o.Log) })
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		who, p := find(o.Tokens, bearerToken(r), o.Log)
		switch {
		case p != nil:
			o.Metrics.Refused(serve.ServerHTTP, p.Code)
			refuse(w, p)
		case !who.Role.May(assistant.RoleMetrics):
			o.Metrics.Refused(serve.ServerHTTP, assistant.CodeForbidden)
			refuse(w, problemOf(&assistant.RoleError{Role: who.Role, Need: assistant.RoleMetrics}))
		default:
			o.Metrics.Handler().ServeHTTP(w, r)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, newProblem("no_route", "only /metrics, /healthz and /readyz are served here"))
	})
	return mux
}

// ServeObserved serves a handler returned by Observe until ctx ends.
func ServeObserved(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}
