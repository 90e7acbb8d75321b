package api

import (
	"net/http"
	"slices"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/serve"
	"winnow/assistant/workspace"
	"winnow/checkpoint"
)

// Cause is a reason why a request is refused. A tool that fails may also return a code of its own, with status 422.
type Cause struct {
	Code    string // the code of the problem
	Status  int
	Meaning string // a sentence for the documentation
	errs    []error
}

// Codes that this package handles specially.
const (
	codeStorage  = "storage"  // the disk or server of the history failed
	codeInternal = "internal" // an error inside winnow
	codeLimit    = "limit"    // a user has reached a limit

	codePrecondition = "precondition_failed"
)

// Causes returns all causes, ordered by status.
func Causes() []Cause { return slices.Clone(causes) }

// causes lists all causes, ordered by status.
var causes = []Cause{
	{Code: "json", Status: http.StatusBadRequest, Meaning: "the body is not a single JSON value"},
	{Code: "body", Status: http.StatusBadRequest, Meaning: "the body could not be read"},
	{Code: "event_id", Status: http.StatusBadRequest, Meaning: "Last-Event-ID is not the id of an event"},
	{Code: "unauthorized", Status: http.StatusUnauthorized, Meaning: "the token is missing or wrong"},
	{Code: assistant.CodeForbidden, Status: http.StatusForbidden, Meaning: "the role of the token does not allow this, or the session belongs to another user"},
	{Code: "wrong_origin", Status: http.StatusForbidden, Meaning: "a page of another site sent the request"},
	{Code: "no_route", Status: http.StatusNotFound, Meaning: "the path does not exist"},
	{Code: "no_session", Status: http.StatusNotFound, Meaning: "the session is not open here, or the history does not contain it", errs: []error{serve.ErrNoSession}},
	{Code: "no_pair", Status: http.StatusNotFound, Meaning: "the session does not contain this message or proposal", errs: []error{assistant.ErrNoPair}},
	{Code: "no_answer", Status: http.StatusNotFound, Meaning: "the message does not have this answer", errs: []error{assistant.ErrNoVariant}},
	{Code: "nothing_cancelled", Status: http.StatusNotFound, Meaning: "there is no cancelled answer", errs: []error{assistant.ErrNothingCancelled}},
	{Code: "no_token", Status: http.StatusNotFound, Meaning: "there is no token with this name", errs: []error{serve.ErrNoToken}},
	{Code: "no_tokens", Status: http.StatusNotFound, Meaning: "the server has no token file"},
	{Code: "not_asked", Status: http.StatusNotFound, Meaning: "this question is not open", errs: []error{assistant.ErrNotAsked}},
	{Code: "no_checkpoint", Status: http.StatusNotFound, Meaning: "the checkpoint does not exist", errs: []error{checkpoint.ErrUnknown}},
	{Code: "method", Status: http.StatusMethodNotAllowed, Meaning: "the path does not support this method"},
	{Code: "nothing_to_roll_back", Status: http.StatusConflict, Meaning: "neither the window nor the conversation has changed since the checkpoint", errs: []error{assistant.ErrNothingToRollBack}},
	{Code: "key_in_use", Status: http.StatusConflict, Meaning: "the first request with this Idempotency-Key is still running: repeat the request later"},
	{Code: "outcome_unknown", Status: http.StatusConflict, Meaning: "the server failed or stopped during the first request with this Idempotency-Key; the request may have been carried out"},
	{Code: "token_exists", Status: http.StatusConflict, Meaning: "there is already a token with this name", errs: []error{serve.ErrTokenExists}},
	{Code: "open", Status: http.StatusConflict, Meaning: "the session is already open", errs: []error{serve.ErrOpen}},
	{Code: "busy", Status: http.StatusConflict, Meaning: "a turn is running in the session", errs: []error{assistant.ErrBusy}},
	{Code: "held", Status: http.StatusConflict, Meaning: "the turn of another session is changing the window; holder identifies that turn"},
	{Code: "not_last", Status: http.StatusConflict, Meaning: "only the last answer can be regenerated", errs: []error{workspace.ErrNotLast}},
	{Code: "changed_window", Status: http.StatusConflict, Meaning: "the old answer changed the window, and its changes would stay: to regenerate it anyway, set confirmed"},
	{Code: "decided", Status: http.StatusConflict, Meaning: "the proposal has already been accepted or rejected", errs: []error{assistant.ErrDecided}},
	{Code: "plan_changed", Status: http.StatusConflict, Meaning: "the request would no longer do what was shown; the problem contains the new plan"},
	{Code: "conflict", Status: http.StatusConflict, Meaning: "another program changed the file; conflict lists its changes"},
	{Code: "others_changed", Status: http.StatusConflict, Meaning: "steps of other sessions would be undone: to roll back anyway, set confirmed"},
	{Code: "not_saved", Status: http.StatusConflict, Meaning: "this window does not support saving", errs: []error{assistant.ErrNotSaver}},
	{Code: "nothing_unsaved", Status: http.StatusConflict, Meaning: "there are no unsaved changes", errs: []error{workspace.ErrNothingUnsaved}},
	{Code: "events_gone", Status: http.StatusGone, Meaning: "the events after this id are no longer stored: read the pairs, then follow again without Last-Event-ID"},
	{Code: codePrecondition, Status: http.StatusPreconditionFailed, Meaning: "If-Match does not name the current plan or newest step; the problem contains the current one"},
	{Code: "too_large", Status: http.StatusRequestEntityTooLarge, Meaning: "the body is larger than 1 MiB"},
	{Code: "media_type", Status: http.StatusUnsupportedMediaType, Meaning: "the body is not application/json"},
	{Code: "wrong_host", Status: http.StatusMisdirectedRequest, Meaning: "the Host header names another server"},
	{Code: "key_reused", Status: http.StatusUnprocessableEntity, Meaning: "this Idempotency-Key was used for a different request"},
	{Code: "invalid", Status: http.StatusUnprocessableEntity, Meaning: "the request does not match openapi.json; errors lists the problems"},
	{Code: "empty", Status: http.StatusUnprocessableEntity, Meaning: "the message is empty", errs: []error{assistant.ErrEmpty}},
	{Code: "filter", Status: http.StatusUnprocessableEntity, Meaning: "the filter line is not valid; column is the position of the error"},
	{Code: "model", Status: http.StatusUnprocessableEntity, Meaning: "the model does not exist", errs: []error{assistant.ErrNoModel, llm.ErrModelGone}},
	{Code: "lasting", Status: http.StatusUnprocessableEntity, Meaning: "the tool needs a confirmation: use /v1/window/save or /v1/window/discard"},
	{Code: assistant.CodeUnknownTool, Status: http.StatusUnprocessableEntity, Meaning: "the window has no such tool"},
	{Code: assistant.CodeInvalidArguments, Status: http.StatusUnprocessableEntity, Meaning: "the arguments do not match the parameters of the tool"},
	{Code: "not_proposal", Status: http.StatusUnprocessableEntity, Meaning: "the payload is not a proposal, so it cannot be accepted or rejected", errs: []error{assistant.ErrNotProposal}},
	{Code: "no_basis", Status: http.StatusPreconditionRequired, Meaning: "the request does not identify what was shown to the user: it needs If-Match, or digest or newest in the body"},
	{Code: codeLimit, Status: http.StatusTooManyRequests, Meaning: "the user has used up today's turns or tokens, or has too many sessions or requests open"},
	{Code: codeInternal, Status: http.StatusInternalServerError, Meaning: "winnow failed; see its log"},
	{Code: codeStorage, Status: http.StatusServiceUnavailable, Meaning: "the history is currently unavailable"},
	{Code: "not_ready", Status: http.StatusServiceUnavailable, Meaning: "the history or the window is currently unavailable"},
	{Code: "too_many", Status: http.StatusServiceUnavailable, Meaning: "too many sessions are in use"},
	{Code: "ending", Status: http.StatusServiceUnavailable, Meaning: "the server is shutting down", errs: []error{serve.ErrClosed}},
}
