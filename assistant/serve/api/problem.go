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

	"github.com/danielgtaylor/huma/v2"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// problem is an answer of RFC 9457.
type problem struct {
	Type   string `json:"type" doc:"urn:winnow: and the code" example:"urn:winnow:no_session"`
	Title  string `json:"title" doc:"the words of the HTTP status" example:"Not Found"`
	Status int    `json:"status" doc:"the HTTP status" example:"404"`
	Detail string `json:"detail" doc:"what is wrong with this request, for people" example:"there is no such session"`
	Code   string `json:"code" doc:"names the problem, for programs" example:"no_session"`

	Errors   []fieldError            `json:"errors,omitempty" doc:"which parts of the request are wrong, of the code invalid; 10 at most"`
	Holder   *windowlock.Holder      `json:"holder,omitempty" doc:"whose turn changes the window now, of the code held"`
	Column   int                     `json:"column,omitempty" doc:"where a filter line cannot be read, from 1, of the code filter"`
	By       []string                `json:"by,omitempty" doc:"who changed it, of the code plan_changed"`
	Plan     *assistant.SavePlan     `json:"plan,omitempty" doc:"what a save or a discard would do now, of the code plan_changed: show it, and repeat the request with its digest"`
	Steps    []checkpoint.Checkpoint `json:"steps,omitempty" doc:"what a rollback would undo now, oldest first, of the code plan_changed"`
	Newest   string                  `json:"newest,omitempty" doc:"the newest step now, of the code plan_changed: for the body of the next rollback"`
	Conflict *assistant.Conflict     `json:"conflict,omitempty" doc:"what another program changed in the file, of the code conflict"`
	Others   []checkpoint.Checkpoint `json:"others,omitempty" doc:"the steps of other sessions, of the code others_changed"`
	Hint     string                  `json:"hint,omitempty" doc:"what a failed tool advises"`
}

// fieldError is what is wrong with one part of a request. It never repeats a value.
type fieldError struct {
	Location string `json:"location" doc:"the part: body, query, path or header, and the name in it" example:"body.text"`
	Message  string `json:"message" doc:"what is wrong with it" example:"expected string"`
}

func (p *problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *problem) ContentType(string) string { return mediaProblem }

const mediaProblem = "application/problem+json"

func newProblem(code, format string, args ...any) *problem {
	status := http.StatusUnprocessableEntity // a failed tool has a code of its own
	if i := slices.IndexFunc(causes, func(c Cause) bool { return c.Code == code }); i >= 0 {
		status = causes[i].Status
	}
	return &problem{Type: "urn:winnow:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// problemOf is the answer to an error; nil for one that a client neither caused nor can
// wait for.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*windowlock.HeldError](err); ok {
		p := newProblem("held", "%s", err)
		p.Holder = &e.Holder
		return p
	}
	if e, ok := errors.AsType[*assistant.PlanChanged](err); ok {
		p := newProblem("plan_changed", "%s", err)
		p.By, p.Steps, p.Newest = e.By, e.Steps, e.Newest
		if e.Plan.Digest != "" {
			p.Plan = &e.Plan
		}
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
		return newProblem(codeStorage, "the history cannot be used now: %s", e.Reason)
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

// failed is the answer to an error of a handler, which is logged when it is ours.
func (s *Server) failed(o *huma.Operation, err error) *problem {
	p := problemOf(err)
	if p == nil || p.Code == codeStorage {
		s.log.Error("request failed", "method", o.Method, "path", o.Path, "error", err)
	}
	return cmp.Or(p, newProblem(codeInternal, "winnow failed; its log says why"))
}

// The bounds of what a request adds to a problem.
const (
	maxErrors = 10
	maxDetail = 300 // cells
)

// checkFailed is huma's error for a request that does not fit its description. Values of
// the request are left out: one of them may be a key.
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
	case http.StatusUnsupportedMediaType:
		return newProblem("media_type", "the body must be application/json")
	case http.StatusRequestEntityTooLarge:
		return newProblem("too_large", "the body is larger than %d bytes", maxBody)
	case http.StatusBadRequest:
		if len(found) > 0 {
			text = found[0].Message
		}
		return newProblem("json", "the body is not JSON: %s", text)
	case http.StatusRequestTimeout, http.StatusInternalServerError: // handlers never leave an error to huma
		return newProblem("body", "the body could not be read")
	}
	var said []string
	for _, f := range found {
		said = append(said, f.Location+": "+f.Message)
	}
	p := newProblem("invalid", "%s", cmp.Or(safetext.Line(strings.Join(said, "; "), maxDetail), text))
	p.Errors = found
	return p
}

// fieldNames are locations without what may be a value.
var fieldNames = regexp.MustCompile(`^\w{1,20}(\.[A-Za-z_-]{1,30})*$`)

// location is the location of a fieldError.
func location(of string) string {
	if fieldNames.MatchString(of) {
		return of
	}
	part, _, _ := strings.Cut(of, ".")
	return part
}

// reason is the message of a fieldError.
func reason(of string) string {
	if strings.HasPrefix(of, "json: ") { // it has the value and the Go type
		return "not a value of this field"
	}
	return safetext.Line(of, maxDetail)
}

// jsonFormat reads and writes the bodies of requests and answers.
var jsonFormat = huma.Format{Marshal: writeJSON, Unmarshal: huma.DefaultJSONFormat.Unmarshal}

// writeJSON writes an answer that is safe on a terminal, too.
func writeJSON(w io.Writer, v any) error {
	raw, err := assistant.PlainJSON(v)
	if err != nil {
		return err // a value of this package that does not encode
	}
	_, _ = w.Write(append(safetext.JSON(raw), '\n')) // a client that has gone
	return nil
}

// refuse answers a request with a problem outside of an operation.
func refuse(w http.ResponseWriter, p *problem) {
	w.Header().Set("Content-Type", mediaProblem)
	w.WriteHeader(p.Status)
	_ = writeJSON(w, p)
}

// noRoute answers what is no operation.
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
		refuse(w, newProblem("method", "%s is not allowed here", safetext.Line(r.Method, 20)))
		return
	}
	refuse(w, newProblem("no_route", "there is no such path; GET /openapi.json lists them"))
}
