package api

import (
	"cmp"
	"context"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"winnow/assistant"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
)

// guard refuses requests that must not reach a handler, and closes the connection if a handler panics.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("request panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				panic(http.ErrAbortHandler) // ends the connection, because part of the response may have been sent
			}
		}()
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(requestTime))
		r = r.WithContext(context.WithValue(r.Context(), remoteKey{}, s.remote(r)))
		if s.cors(w, r) {
			return
		}
		if p := s.refusal(r); p != nil {
			s.metrics.Refused(serve.ServerHTTP, p.Code)
			s.log.Warn("request refused", "reason", p.Code, "remote", remoteOf(r.Context()), "method", r.Method, "path", safetext.Line(r.URL.Path, 120))
			refuse(w, p)
			return
		}
		r, done, ok := s.clients.begin(r)
		defer done()
		if client := clientOf(r.Context()); !ok {
			s.metrics.Refused(serve.ServerHTTP, "requests")
			s.log.Warn("request refused", "reason", "requests", "user", client.User, "remote", remoteOf(r.Context()), "path", safetext.Line(r.URL.Path, 120))
			refuse(w, newProblem(codeLimit, "%s has reached the limit of %s: end one first", client.User, assistant.Counted(s.clients.most, "open request")))
			return
		} else if client.Key != "" {
			s.metrics.AddRequests(serve.ServerHTTP, 1)
			defer s.metrics.AddRequests(serve.ServerHTTP, -1)
		}
		seen := &seenWriter{ResponseWriter: w, status: http.StatusOK}
		defer s.access(r, seen, time.Now())
		next.ServeHTTP(seen, r)
	})
}

// refusal returns the problem that explains why a request is refused, or nil if it is allowed. It adds the client's
// credential to the context of the request.
func (s *Server) refusal(r *http.Request) *problem {
	origin := r.Header.Get("Origin")
	switch {
	case !s.ownHost(r.Host):
		return newProblem("wrong_host", "the Host header names another server")
	case origin != "" && !s.ownOrigin(origin, r.Host):
		return newProblem("wrong_origin", "requests from pages of other sites are refused")
	case r.URL.Path == "/healthz", r.URL.Path == "/readyz":
		return nil
	}
	client, p := s.clientFor(bearerToken(r))
	if p != nil {
		return p
	}
	*r = *r.WithContext(context.WithValue(r.Context(), clientKey{}, client))
	if conn, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		s.logins.End(conn)
	}
	return nil
}

// unauthorized returns the problem of a request with an unknown token or without a token.
func unauthorized(token string) *problem {
	if token == "" {
		return newProblem("unauthorized", "the request needs the header Authorization: Bearer TOKEN")
	}
	return newProblem("unauthorized", "the token is unknown: it was mistyped or removed, or it has expired")
}

// bearerToken returns the token of a request, or "" if it has none.
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// seenWriter is a response that records its status.
type seenWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *seenWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped response, for http.ResponseController.
func (w *seenWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// access counts a request that was not refused, and logs it with its user. Health checks are counted but not logged.
func (s *Server) access(r *http.Request, w *seenWriter, began time.Time) {
	kind := cmp.Or(r.Pattern, "none")
	s.metrics.Called(serve.ServerHTTP, kind, strconv.Itoa(w.status))
	if clientOf(r.Context()).Key != "" {
		s.log.Info("http: request", "user", clientOf(r.Context()).User, "kind", kind, "status", w.status, "remote", remoteOf(r.Context()), "took", time.Since(began).Round(time.Microsecond).String())
	}
}

// ownHost reports whether a Host header names this server: by its public address, by its own address, by a name of the
// loopback interface if the server listens there, or by a name in its certificate.
func (s *Server) ownHost(host string) bool {
	if public := s.opts.PublicURL; public != nil && strings.EqualFold(host, public.Host) {
		return true
	}
	own, ownPort, err := net.SplitHostPort(s.opts.Address)
	if err != nil {
		return false
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
		if s.opts.Cert != nil {
			port = "443"
		}
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	switch {
	case port != ownPort:
		return false
	case name == strings.ToLower(own), Loopback(own) && Loopback(name):
		return true
	}
	return s.opts.Cert != nil && s.opts.Cert().VerifyHostname(name) == nil
}

// ownOrigin reports whether an Origin header refers to this server.
func (s *Server) ownOrigin(origin, host string) bool {
	if public := s.opts.PublicURL; public != nil && strings.EqualFold(host, public.Host) {
		return sameOrigin(origin, public) || s.allowedPage(origin)
	}
	u, err := url.Parse(origin)
	scheme := "http"
	if s.opts.Cert != nil {
		scheme = "https"
	}
	return err == nil && u.Scheme == scheme && strings.EqualFold(u.Host, host) || s.allowedPage(origin)
}

// strict refuses requests that huma would accept: requests with an invalid query, from clients whose role is too low, or
// with a body that is not JSON.
func (s *Server) strict(ctx huma.Context, next func(huma.Context)) {
	ctx = withCondition(noNegotiation{ctx})
	u := ctx.URL()
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		_ = huma.WriteErr(s.api, ctx, http.StatusUnprocessableEntity, "", &huma.ErrorDetail{Location: "query", Message: "the query is not valid"})
		return
	}
	if need, client := roles[ctx.Operation().OperationID], clientOf(ctx.Context()); need != "" && !client.Role.May(need) {
		p := problemOf(&assistant.RoleError{Role: client.Role, Need: need})
		s.metrics.Refused(serve.ServerHTTP, p.Code)
		s.log.Warn("request refused", "reason", p.Code, "user", client.User, "operation", ctx.Operation().OperationID)
		_ = huma.WriteErr(s.api, ctx, p.Status, "", p)
		return
	}
	if ctx.Operation().RequestBody != nil {
		if media, _, err := mime.ParseMediaType(ctx.Header("Content-Type")); err != nil || media != mediaJSON {
			_ = huma.WriteErr(s.api, ctx, http.StatusUnsupportedMediaType, "")
			return
		}
	}
	next(ctx)
}

// noNegotiation hides the Accept header of a request: clients have no choice of types, and huma's parser of this header
// panics for some values.
type noNegotiation struct{ request }

// request is an alias, because a field named Context would conflict with the method Context.
type request = huma.Context

// Header implements huma.Context.
func (c noNegotiation) Header(name string) string {
	if name == "Accept" {
		return ""
	}
	return c.request.Header(name)
}

// Unwrap returns the wrapped context, for humago.
func (c noNegotiation) Unwrap() huma.Context { return c.request }

// Loopback reports whether a host can be reached only from this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
