package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"winnow/assistant"
	"winnow/assistant/serve"
	"winnow/assistant/serve/mcp"
)

// serveAgent handles a request to /mcp, which follows the Model Context Protocol and is not in the OpenAPI document.
func (s *Server) serveAgent(w http.ResponseWriter, r *http.Request) {
	client := clientOf(r.Context())
	if !client.Role.May(assistant.RoleRead) {
		p := problemOf(&assistant.RoleError{Role: client.Role, Need: assistant.RoleRead})
		s.metrics.Refused(serve.ServerMCP, p.Code)
		s.log.Warn("request refused", "reason", p.Code, "user", client.User, "path", r.URL.Path)
		refuse(w, p)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mcp.MaxMessage))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		refuse(w, newProblem("too_large", "the message is larger than %d bytes", mcp.MaxMessage))
		return
	case err != nil:
		refuse(w, newProblem("body", "the body could not be read"))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the server's deadline would end a stream, or a call that asks the user
	err = s.opts.Agents.ServeHTTP(patientWriter{w, s.opts.Write}, r, client)
	switch {
	case errors.Is(err, mcp.ErrTooMany):
		s.metrics.Refused(serve.ServerMCP, "too_many")
		s.log.Warn("request refused", "reason", "too_many", "user", client.User, "path", r.URL.Path)
		refuse(w, newProblem("too_many", "%s", err))
	case err != nil:
		if p := problemOf(err); p != nil {
			refuse(w, p)
			return
		}
		s.log.Error("request failed", "path", r.URL.Path, "error", err)
		refuse(w, internalProblem())
	}
}

// patientWriter is a response that may take any time in total, but only a limited time for each write.
type patientWriter struct {
	http.ResponseWriter
	write time.Duration
}

// Write implements io.Writer.
func (w patientWriter) Write(p []byte) (int, error) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.write))
	return w.ResponseWriter.Write(p)
}

// Unwrap returns the wrapped response, for http.ResponseController.
func (w patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
