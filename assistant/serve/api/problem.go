package api

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/serve"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// problem is an error response as defined by RFC 9457.
type problem struct {
	Type   string `json:"type" doc:"urn:winnow: followed by the code" example:"urn:winnow:no_session"`
	Title  string `json:"title" doc:"the text of the HTTP status" example:"Not Found"`
	Status int    `json:"status" doc:"the HTTP status" example:"404"`
	Detail string `json:"detail" doc:"what is wrong with this request, as a sentence" example:"there is no such session"`
	Code   string `json:"code" doc:"identifies the problem for programs" example:"no_session"`

	Errors   []fieldError            `json:"errors,omitempty" doc:"for the code invalid: the invalid parts of the request, at most 10"`
	Holder   *windowlock.Holder      `json:"holder,omitempty" doc:"for the code held: the turn that is changing the window"`
	Column   int                     `json:"column,omitempty" doc:"for the code filter: the position of the error in the filter line, from 1"`
	By       []string                `json:"by,omitempty" doc:"for the codes plan_changed and precondition_failed: the users who changed the plan"`
	Plan     *assistant.SavePlan     `json:"plan,omitempty" doc:"for the codes plan_changed and precondition_failed: what a save or a discard would do now; show it, and repeat the request with its digest"`
	Steps    []checkpoint.Checkpoint `json:"steps,omitempty" doc:"for the codes plan_changed and precondition_failed: the steps that a rollback would undo now, oldest first"`
	Newest   string                  `json:"newest,omitempty" doc:"for the codes plan_changed and precondition_failed: the id of the step that is now the newest, for the body of the next rollback"`
	Conflict *assistant.Conflict     `json:"conflict,omitempty" doc:"for the code conflict: what another program changed in the file"`
	Others   []checkpoint.Checkpoint `json:"others,omitempty" doc:"for the code others_changed: the steps of other sessions"`
	Hint     string                  `json:"hint,omitempty" doc:"advice from the tool that failed"`
}

// fieldError describes one invalid part of a request. It never repeats the invalid value.
type fieldError struct {
	Location string `json:"location" doc:"body, query, path or header, followed by the name of the field" example:"body.text"`
	Message  string `json:"message" doc:"what is wrong with this part" example:"expected string"`
}

func (p *problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *problem) ContentType(string) string { return mediaProblem }

const mediaProblem = "application/problem+json"

func newProblem(code, format string, args ...any) *problem {
	status := http.StatusUnprocessableEntity // the status for the code of a failed tool
	if i := slices.IndexFunc(causes, func(c Cause) bool { return c.Code == code }); i >= 0 {
		status = causes[i].Status
	}
	return &problem{Type: "urn:winnow:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// problemOf returns the problem for an error. It returns nil for an error that the client did not cause and that an
// operator has to resolve.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*windowlock.LockedError](err); ok {
		p := newProblem("held", "%s", err)
		p.Holder = &e.Holder
		return p
	}
	if _, ok := errors.AsType[*assistant.RoleError](err); ok {
		return newProblem(assistant.CodeForbidden, "%s", err)
	}
	if _, ok := errors.AsType[*serve.LimitError](err); ok {
		return newProblem(codeLimit, "%s", strings.TrimPrefix(err.Error(), "open a session: "))
	}
	if e, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		p := newProblem("plan_changed", "%s", err)
		p.newPlan(e)
		return p
	}
	if e, ok := errors.AsType[*assistant.Conflict](err); ok {
		p := newProblem("conflict", "%s", err)
		p.Conflict = e
		return p
	}
	if e, ok := errors.AsType[*filter.Error](err); ok {
		p := newProblem("filter", "%s", err)
		p.Column = e.Column
		return p
	}
	if e, ok := errors.AsType[*history.StorageError](err); ok {
		return newProblem(codeStorage, "the history is currently unavailable: %s", e.Reason)
	}
	if config, ok := errors.AsType[*llm.ConfigError](err); ok {
		return newProblem("model", "%s", config.Reason)
	}
	for _, c := range causes {
		for _, known := range c.errs {
			if errors.Is(err, known) {
				return newProblem(c.Code, "%s", strings.TrimPrefix(known.Error(), "checkpoint: "))
			}
		}
	}
	return nil
}

// newPlan adds to a problem what the request would do now.
func (p *problem) newPlan(e *assistant.PlanChanged) {
	p.By, p.Steps, p.Newest = e.By, e.Steps, e.Newest
	if e.Plan.Digest != "" {
		p.Plan = &e.Plan
	}
}

// internalProblem returns the problem for an error of the server, which the caller has logged.
func internalProblem() *problem { return newProblem(codeInternal, "winnow failed; see its log") }

// failed returns the problem for an error of a handler. Errors of the server itself are logged.
func (s *Server) failed(o *huma.Operation, err error) *problem {
	p := problemOf(err)
	if p == nil || p.Code == codeStorage {
		s.log.Error("request failed", "method", o.Method, "path", o.Path, "error", err)
	}
	return cmp.Or(p, internalProblem())
}

// Limits of the texts in a problem.
const (
	maxErrors = 10  // maximum number of errors that it lists
	maxDetail = 300 // maximum width of its detail, in terminal cells
)

// checkFailed replaces the error that huma returns for a request that does not match its description. Values of the
// request are omitted, because a value may be an API key.
func checkFailed(status int, text string, errs ...error) huma.StatusError {
	var found []fieldError
	for _, err := range errs {
		if d, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			found = append(found, fieldError{location(d.Location), reason(d.Message)})
		}
	}
	slices.SortFunc(found, func(a, b fieldError) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Message, b.Message))
	})
	found = found[:min(len(found), maxErrors)]
	switch status {
	case http.StatusForbidden:
		if len(errs) > 0 {
			if p, ok := errors.AsType[*problem](errs[0]); ok {
				return p
			}
		}
	case http.StatusUnsupportedMediaType:
		return newProblem("media_type", "the body must be application/json")
	case http.StatusRequestEntityTooLarge:
		return newProblem("too_large", "the body is larger than %d bytes", maxBody)
	case http.StatusBadRequest:
		if len(found) > 0 {
			text = found[0].Message
		}
		return newProblem("json", "the body is not JSON: %s", text)
	case http.StatusRequestTimeout, http.StatusInternalServerError: // only reading the body causes these statuses, because handlers return problems
		return newProblem("body", "the body could not be read")
	}
	var said []string
	for _, f := range found {
		said = append(said, f.Location+": "+f.Message)
	}
	p := newProblem("invalid", "%s", cmp.Or(string(safetext.Line(strings.Join(said, "; "), maxDetail)), text))
	p.Errors = found
	return p
}

// fieldNames matches a location that consists of field names only, so that it cannot reveal a value.
var fieldNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w{1,20}(\.[A-Za-z_-]{1,30})*$`) })

// location returns the location of a fieldError, without parts that may be values.
func location(of string) string {
	if fieldNames().MatchString(of) {
		return of
	}
	part, _, _ := strings.Cut(of, ".")
	return part
}

// reason returns the message of a fieldError, without values.
func reason(of string) string {
	if strings.HasPrefix(of, "json: ") { // the message contains the value and the Go type
		return "not a valid value for this field"
	}
	return string(safetext.Line(of, maxDetail))
}

// jsonFormat encodes responses and decodes the bodies of requests.
var jsonFormat = huma.Format{Marshal: writeJSON, Unmarshal: huma.DefaultJSONFormat.Unmarshal}

// writeJSON writes a response that is also safe to display on a terminal.
func writeJSON(w io.Writer, v any) error {
	raw, err := assistant.PlainJSON(v)
	if err != nil {
		return err // never happens for the values of this package
	}
	_, _ = w.Write(append(safetext.JSON(raw), '\n')) // fails only if the client has disconnected
	return nil
}

// refuse responds with a problem to a request that reaches no operation.
func refuse(w http.ResponseWriter, p *problem) {
	w.Header().Set("Content-Type", mediaProblem)
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="winnow"`)
	}
	w.WriteHeader(p.Status)
	_ = writeJSON(w, p)
}

// noRoute responds to requests that match no operation.
func (s *Server) noRoute(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		try := r.Clone(r.Context())
		try.Method = method
		if _, pattern := s.mux.Handler(try); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 && !slices.Contains(allowed, r.Method) {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		refuse(w, newProblem("method", "%s is not allowed here, only %s", safetext.Line(r.Method, 20), strings.Join(allowed, ", ")))
		return
	}
	refuse(w, newProblem("no_route", "this path does not exist; GET /openapi.json lists all paths"))
}
