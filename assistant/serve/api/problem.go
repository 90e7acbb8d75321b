package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/assistant/share"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// problem is an answer of RFC 9457.
type problem struct {
	Type   string `json:"type" jsonschema:"urn:winnow: and the code"`
	Title  string `json:"title" jsonschema:"the words of the HTTP status"`
	Status int    `json:"status"`
	Detail string `json:"detail" jsonschema:"what is wrong with this request"`
	Code   string `json:"code" jsonschema:"names the problem for programs"`

	Holder   *share.Holder           `json:"holder,omitempty" jsonschema:"who has the window, of the code held"`
	Column   int                     `json:"column,omitempty" jsonschema:"where a filter line cannot be read, from 1"`
	By       []string                `json:"by,omitempty" jsonschema:"who changed it, of the code plan_changed"`
	Plan     *assistant.SavePlan     `json:"plan,omitempty" jsonschema:"what a save or a discard would do now, of the code plan_changed: show it, and repeat the request with its digest"`
	Steps    []checkpoint.Checkpoint `json:"steps,omitempty" jsonschema:"what a rollback would undo now, oldest first, of the code plan_changed"`
	Newest   string                  `json:"newest,omitempty" jsonschema:"the newest step now, for the body of the rollback that is shown again"`
	Conflict *assistant.Conflict     `json:"conflict,omitempty" jsonschema:"what someone else changed, of the code conflict"`
	Others   []checkpoint.Checkpoint `json:"others,omitempty" jsonschema:"the steps of other sessions, of the code others_changed"`
	Hint     string                  `json:"hint,omitempty"`
}

func (p *problem) Error() string { return p.Detail }

func newProblem(status int, code, format string, args ...any) *problem {
	return &problem{Type: "urn:winnow:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// known are the errors that a client can cause, with their answers.
var known = []struct {
	err    error
	status int
	code   string
}{
	{serve.ErrNoSession, http.StatusNotFound, "no_session"},
	{serve.ErrOpen, http.StatusConflict, "open"},
	{serve.ErrClosed, http.StatusServiceUnavailable, "ending"},
	{assistant.ErrBusy, http.StatusConflict, "busy"},
	{assistant.ErrNoPair, http.StatusNotFound, "no_pair"},
	{assistant.ErrNotAsked, http.StatusNotFound, "not_asked"},
	{assistant.ErrEmpty, http.StatusUnprocessableEntity, "empty"},
	{assistant.ErrNoModel, http.StatusUnprocessableEntity, "model"},
	{llm.ErrModelGone, http.StatusUnprocessableEntity, "model"},
	{assistant.ErrNotSaver, http.StatusConflict, "not_saved"},
	{workspace.ErrNothingUnsaved, http.StatusConflict, "nothing_unsaved"},
	{checkpoint.ErrUnknown, http.StatusNotFound, "no_checkpoint"},
}

// codeStorage is the code of a history whose disk or server failed.
const codeStorage = "storage"

// problemOf is the answer to an error; nil for one that a client neither caused nor can
// wait for.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*share.HeldError](err); ok {
		p := newProblem(http.StatusConflict, "held", "%s", err)
		p.Holder = &e.Holder
		return p
	}
	if e, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		p := newProblem(http.StatusConflict, "plan_changed", "%s", err)
		p.By, p.Steps, p.Newest = e.By, e.Steps, e.Newest
		if e.Plan.Digest != "" {
			p.Plan = &e.Plan
		}
		return p
	}
	if e, ok := errors.AsType[*assistant.Conflict](err); ok {
		p := newProblem(http.StatusConflict, "conflict", "%s", err)
		p.Conflict = e
		return p
	}
	if e, ok := errors.AsType[*filter.Error](err); ok {
		p := newProblem(http.StatusUnprocessableEntity, "filter", "%s", err)
		p.Column = e.Column
		return p
	}
	if e, ok := errors.AsType[*history.StorageError](err); ok {
		return newProblem(http.StatusServiceUnavailable, codeStorage, "the history cannot be used now: %s", e.Reason)
	}
	if config, ok := errors.AsType[*llm.ConfigError](err); ok {
		return newProblem(http.StatusUnprocessableEntity, "model", "%s", config.Reason)
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return newProblem(k.status, k.code, "%s", strings.TrimPrefix(k.err.Error(), "checkpoint: "))
		}
	}
	return nil
}

// fail answers a request with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if p == nil || p.Code == codeStorage {
		s.log.Error("request failed", "method", r.Method, "path", r.Pattern, "error", err)
	}
	if p == nil {
		p = newProblem(http.StatusInternalServerError, "internal", "winnow failed; its log says why")
	}
	writeProblem(w, p)
}

func writeProblem(w http.ResponseWriter, p *problem) {
	writeJSON(w, "application/problem+json", p.Status, p)
}

// writeJSON writes an answer that is safe on a terminal, too.
func writeJSON(w http.ResponseWriter, media string, status int, v any) {
	raw, err := assistant.PlainJSON(v)
	if err != nil { // a value of this package that does not encode
		panic(err)
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(append(safetext.JSON(raw), '\n')) // a client that has gone
}

// noRoute answers what is not in the table.
func (s *Server) noRoute(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			try := r.Clone(r.Context())
			try.Method = method
			if _, pattern := mux.Handler(try); pattern != "/" {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) > 0 && !slices.Contains(allowed, r.Method) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			writeProblem(w, newProblem(http.StatusMethodNotAllowed, "method", "%s is not allowed here", safetext.Line(r.Method, 20)))
			return
		}
		writeProblem(w, newProblem(http.StatusNotFound, "no_route", "there is no such path; GET /openapi.json lists them"))
	}
}

// read reads the body of a request into v. It has to be one JSON value that fits the
// schema of its type.
func read(w http.ResponseWriter, r *http.Request, schema *schema, v any) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return newProblem(http.StatusUnsupportedMediaType, "media_type", "the body must be application/json")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return newProblem(http.StatusRequestEntityTooLarge, "too_large", "the body is larger than %d bytes", maxBody)
	}
	if err != nil {
		return newProblem(http.StatusBadRequest, "body", "the body could not be read")
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return newProblem(http.StatusBadRequest, "json", "the body is not JSON: %s", safetext.Line(err.Error(), maxDetail))
	}
	if err := schema.resolved.Validate(value); err != nil {
		return newProblem(http.StatusUnprocessableEntity, "invalid", "%s", safetext.Line(reason(err), maxDetail))
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return newProblem(http.StatusUnprocessableEntity, "invalid", "%s", safetext.Line(err.Error(), maxDetail))
	}
	return nil
}

// maxDetail bounds what a body adds to a detail, in cells.
const maxDetail = 300

// schemaWords are the words of a validator that tell a client nothing.
var schemaWords = strings.NewReplacer(
	"validating ", "", "root: type: ", "the body: ", "root: ", "", "/properties/", "", ": type: ", ": ", "required: ", "", "<invalid reflect.Value>", "null",
)

// reason is what a validator found, without the schemas on the way to it.
func reason(err error) string {
	text := err.Error()
	return schemaWords.Replace(text[max(0, strings.LastIndex(text, "validating ")):])
}
