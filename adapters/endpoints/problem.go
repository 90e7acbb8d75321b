package endpoints

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"winnow/adapters/config"
	"winnow/assistant/llm"
	"winnow/assistant/openai"
)

// Code identifies a problem with a candidate.
type Code string

// The codes of problems.
const (
	BadAddress    Code = "bad_address"     // not the address of an endpoint
	KeyAsAddress  Code = "key_as_address"  // the address looks like a key; Problem.At is empty
	BadKey        Code = "bad_key"         // not a valid key
	KeySource     Code = "key_source"      // the key cannot be read from its source
	NoAnswer      Code = "no_answer"       // no response, or not in time
	WantsKey      Code = "wants_key"       // the endpoint requires a key
	RefusedKey    Code = "refused_key"     // the endpoint does not accept this key
	NotAnEndpoint Code = "not_an_endpoint" // another kind of server responds at the address
	NoModels      Code = "no_models"       // the endpoint lists no chat model
	Refused       Code = "refused"         // the endpoint refuses for another reason, such as a quota
	NotStored     Code = "not_stored"      // the key or the settings cannot be written
)

// Problem means that a candidate cannot be used or stored.
type Problem struct {
	Code     Code
	Endpoint string // name of the endpoint; "" if it has none yet
	At       string // address of the endpoint, or the file that cannot be written; may be ""
	Err      error  // the cause; may be nil
}

// Error returns the endpoint and At, if they are known, and the cause or, if there is none, the code.
func (p *Problem) Error() string {
	cause := string(p.Code)
	if p.Err != nil {
		cause = p.Err.Error()
	}
	switch {
	case p.Endpoint != "" && p.At != "":
		return fmt.Sprintf("%s (%s): %s", p.Endpoint, p.At, cause)
	case p.Endpoint != "" || p.At != "":
		return p.Endpoint + p.At + ": " + cause
	}
	return cause
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// AboutKey reports whether another key may solve the problem.
func (p *Problem) AboutKey() bool {
	return slices.Contains([]Code{BadKey, KeySource, WantsKey, RefusedKey}, p.Code)
}

var errNoModels = errors.New("there is no chat model")

// problemOf classifies the error of a request; hasKey means that a key was sent.
func problemOf(err error, name, at string, hasKey bool) *Problem {
	p := &Problem{Code: Refused, Endpoint: name, At: at, Err: err}
	request, isRequest := errors.AsType[*llm.RequestError](err)
	setting, isSetting := errors.AsType[*config.Error](err)
	switch {
	case errors.Is(err, openai.ErrEmptyList), errors.Is(err, errNoModels):
		p.Code = NoModels
	case errors.Is(err, context.DeadlineExceeded), isRequest && request.Kind == llm.KindNet && request.Status < http.StatusInternalServerError:
		p.Code = NoAnswer
	case isSetting:
		p.Code, p.Err = BadAddress, errors.New(setting.Reason)
	case !isRequest:
		p.Code = KeySource
	case request.Kind == llm.KindAuth && hasKey:
		p.Code = RefusedKey
	case request.Kind == llm.KindAuth:
		p.Code = WantsKey
	case request.Status < http.StatusBadRequest, request.Status == http.StatusNotFound, request.Status == http.StatusMethodNotAllowed: // 0 means no status
		p.Code = NotAnEndpoint
	}
	return p
}

// CodeOf returns the code of an error that is or wraps a *Problem, or "" for other errors.
func CodeOf(err error) Code {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Code
	}
	return ""
}
