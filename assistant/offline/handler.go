package offline

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	// ModelID is the only model; winnow shows it as "offline/rules".
	ModelID = "rules"
	// ContextWindow is the size the model list reports, in tokens. The rules
	// have no limit; this one keeps the context generous and bounded.
	ContextWindow = 128000

	// maxBody bounds a request: 20,000 models of context are about 4 MiB.
	maxBody = 32 << 20
)

// Options configures the model. The zero value asks for no token and streams
// without delay.
type Options struct {
	// Token is the bearer token to ask for; "" asks for none. Start makes its own.
	Token string
	// Delay is the pause between streamed chunks, so that streaming is seen; 0 is none.
	Delay time.Duration
}

// Model is the offline model as an http.Handler. It keeps nothing between
// requests and may be used from any goroutine.
type Model struct {
	opts Options
	mux  *http.ServeMux
}

// New returns the model. It does no I/O.
func New(opts Options) *Model {
	m := &Model{opts: opts, mux: http.NewServeMux()}
	m.mux.HandleFunc("GET /v1/models", m.models)
	m.mux.HandleFunc("GET /v1/models/{id}", m.model)
	m.mux.HandleFunc("POST /v1/chat/completions", m.complete)
	m.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "there is no "+r.Method+" "+clean(r.URL.Path)+" here")
	})
	return m
}

// ServeHTTP serves the OpenAI wire: GET /v1/models, POST /v1/chat/completions.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !m.authorized(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "the bearer token is missing or wrong")
		return
	}
	m.mux.ServeHTTP(w, r)
}

func (m *Model) authorized(r *http.Request) bool {
	if m.opts.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(token), []byte(m.opts.Token)) == 1
}

// card is the model's entry in a list.
func card() map[string]any {
	return map[string]any{"id": ModelID, "object": "model", "created": 0, "owned_by": "winnow", "context_window": ContextWindow}
}

func (m *Model) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{card()}})
}

func (m *Model) model(w http.ResponseWriter, r *http.Request) {
	if !known(r.PathValue("id")) {
		refuse(w, http.StatusNotFound, "model_not_found", "there is no model "+clean(r.PathValue("id"))+" here; the only one is "+ModelID)
		return
	}
	writeJSON(w, http.StatusOK, card())
}

func known(model string) bool { return model == ModelID || model == "offline/"+ModelID }

// complete answers a chat request, streamed or whole.
func (m *Model) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			refuse(w, http.StatusRequestEntityTooLarge, "request_too_large", "the request is larger than this model reads")
			return
		}
		refuse(w, http.StatusBadRequest, "invalid_request", "the request could not be read")
		return
	}
	var req chatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_json", "the request is not a chat request: "+clean(err.Error()))
		return
	}
	if !known(req.Model) {
		refuse(w, http.StatusNotFound, "model_not_found", "there is no model "+clean(req.Model)+" here; the only one is "+ModelID)
		return
	}
	if err := req.check(); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	a := newCompletion(body, answerTo(&req))
	if !req.Stream {
		writeJSON(w, http.StatusOK, a.whole())
		return
	}
	usage := req.StreamOptions != nil && req.StreamOptions.IncludeUsage
	a.stream(r.Context(), w, m.opts.Delay, usage)
}

// refuse writes an error in the wire's form.
func refuse(w http.ResponseWriter, status int, code, message string) {
	kind := "invalid_request_error"
	if status == http.StatusUnauthorized {
		kind = "authentication_error"
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "code": code, "param": nil}})
}

// writeJSON ignores the write's error: it means that the client has gone.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
