package assistant

import (
	"encoding/json"
	"fmt"
	"time"

	"winnow/assistant/safetext"
)

// Event is what a running turn reports. Events are values: they never point to
// live state. They come in this order, starting again at Status for each
// response:
//
//	TurnStarted        the prompt is stored
//	Status             what the turn is doing
//	Retrying           a request, or a round of invalid calls, is retried
//	ContextTrimmed     a request is sent with fewer pairs
//	ReasoningDelta     part of the model's reasoning
//	TextDelta          part of the answer
//	PayloadFound       a payload in the answer
//	ToolStart          a call is about to run
//	ConfirmRequest     the call needs the user's approval
//	ToolProgress       progress of the call
//	CheckpointCreated  the window has changed; the checkpoint holds its earlier state
//	ToolComplete       result of the call; the next response follows with a Status
//	Queued             a message waits; may come at any time
//	Complete           the turn succeeded
//	Error              the turn failed
//	Cancelled          the user cancelled the turn
//
// A turn ends with exactly one of the last three. A call that cannot run,
// because its tool is unknown or its arguments are invalid, has no ToolStart:
// only the model is told, with CodeUnknownTool or CodeInvalidArguments, and the
// call is Silent in the pair. Retrying is sent from the second consecutive
// round with such a call.
//
//sumtype:decl
type Event interface {
	event() string // the "type" in JSON
}

type (
	// TurnStarted is the first event of a turn: the prompt is stored, as the
	// pair with this Seq. It is missing only if the prompt could not be
	// stored, or if the turn was cancelled before that.
	TurnStarted struct {
		Seq int64 `json:"seq"`
	}

	// Status is a short phrase that describes what the turn is doing. It
	// applies until the next text of the turn.
	Status struct {
		Message string `json:"message"`
	}

	// TextDelta is one of these: part of the answer, without its payloads; the
	// blank line between two responses; or the [[tool:N]] marker that follows a
	// ToolComplete.
	TextDelta struct {
		Text safetext.Text `json:"text"`
	}

	// ReasoningDelta is part of the model's reasoning.
	ReasoningDelta struct {
		Text safetext.Text `json:"text"`
	}

	// ToolStart reports a call that is about to run. Index counts from 0 within
	// the turn and is the N of the [[tool:N]] marker.
	ToolStart struct {
		Tool      string          `json:"tool"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Index     int             `json:"index"`
	}

	// ToolProgress reports the progress of a running call.
	ToolProgress struct {
		Tool      string  `json:"tool"`
		Stage     string  `json:"stage"`
		Message   string  `json:"message"`
		Progress  float64 `json:"progress"` // 0 to 1
		Data      any     `json:"data"`
		Index     int     `json:"index"`
		ToolUseID string  `json:"tool_use_id"`
	}

	// ToolComplete reports the result of a call.
	ToolComplete struct {
		Tool      string   `json:"tool"`
		Index     int      `json:"index"`
		ToolUseID string   `json:"tool_use_id"`
		Success   bool     `json:"success"`
		Message   string   `json:"message"`
		ErrorCode string   `json:"error_code"`
		Data      any      `json:"data"`
		Payload   *Payload `json:"payload,omitempty"`
	}

	// PayloadFound reports a payload in the model's text; it is not repeated in
	// a TextDelta.
	PayloadFound struct {
		Payload Payload `json:"payload"`
	}

	// Complete ends a turn that succeeded.
	Complete struct {
		Payload ResponsePayload `json:"payload"`
	}

	// Error ends a turn that failed. What was done before the failure stays.
	Error struct {
		Code    string `json:"code"` // an llm.Kind or one of the Code constants
		Message string `json:"message"`
		Err     error  `json:"-"` // the cause, if the turn ended before TurnStarted
	}

	// Cancelled ends a turn that the user cancelled.
	Cancelled struct {
		Kept bool `json:"kept"` // the pair stays: a tool had run, or the pair has an older answer
	}

	// CheckpointCreated is reported after the first call that changed the
	// window. The checkpoint was stored before that call; rolling back to it
	// undoes the turn.
	CheckpointCreated struct {
		ID          string `json:"id"`
		Description string `json:"description"`
	}

	// ContextTrimmed reports a request that is sent with fewer pairs than
	// predicted, and which pairs were left out.
	ContextTrimmed struct {
		Sent    int       `json:"sent"`    // pairs still in the request
		Trimmed int       `json:"trimmed"` // pairs dropped so far
		Visible int       `json:"visible"`
		Attempt int       `json:"attempt"`          // 1 is the first request
		Tokens  int       `json:"tokens,omitempty"` // estimated total of Pairs
		Pairs   []LeftOut `json:"pairs,omitempty"`  // left out so far, oldest first
	}

	// Queued reports a message that waits for the running response to finish.
	Queued struct {
		Text string `json:"text"`
	}

	// Retrying reports a retry of a request that failed before its first byte
	// or, with Code CodeInvalidToolCalls, of a round of invalid calls. It
	// applies until the next text or tool.
	Retrying struct {
		Attempt int    `json:"attempt"`
		Reason  string `json:"reason"`
		Code    string `json:"code,omitempty"`
		AfterMS int64  `json:"after_ms"` // milliseconds until the next attempt
	}

	// ConfirmRequest asks the user whether a call may run. The turn waits for
	// Session.Answer.
	ConfirmRequest struct {
		ID     string        `json:"id"`
		Tool   string        `json:"tool"`
		Diff   safetext.Text `json:"diff"`             // what the call would do; see Preview.Text
		Digest string        `json:"digest"`           // identifies what would be done
		Note   safetext.Text `json:"note,omitempty"`   // who changed the plan, as a sentence, if the user is asked again; otherwise ""
		Server string        `json:"server,omitempty"` // the program that would run the call, if not this one; see Tool.Server
	}
)

func (TurnStarted) event() string       { return "turn_started" }
func (Status) event() string            { return "status" }
func (TextDelta) event() string         { return "text_delta" }
func (ReasoningDelta) event() string    { return "reasoning_delta" }
func (ToolStart) event() string         { return "tool_start" }
func (ToolProgress) event() string      { return "tool_progress" }
func (ToolComplete) event() string      { return "tool_complete" }
func (PayloadFound) event() string      { return "payload" }
func (Complete) event() string          { return "complete" }
func (Error) event() string             { return "error" }
func (Cancelled) event() string         { return "cancelled" }
func (CheckpointCreated) event() string { return "checkpoint_created" }
func (ContextTrimmed) event() string    { return "context_trimmed" }
func (Queued) event() string            { return "queued" }
func (Retrying) event() string          { return "retrying" }
func (ConfirmRequest) event() string    { return "confirm_request" }

// After returns the delay before the next attempt.
func (r Retrying) After() time.Duration { return time.Duration(r.AfterMS) * time.Millisecond }

// ResponsePayload is the whole answer of a turn.
type ResponsePayload struct {
	Message string `json:"message"` // the text of the answer, with its [[tool:N]] markers
	Suggested
	Custom *CustomPayload `json:"custom_payload,omitempty"`
	Notice safetext.Text  `json:"notice,omitempty"` // what winnow reports about the turn; "" if nothing
}

// CustomPayload is structured data about a turn, of type PayloadTools.
type CustomPayload struct {
	Type string             `json:"type"`
	Data []ToolHistoryEntry `json:"data"`
}

// ToolHistoryEntry is entry N of tool_history: the card for the marker
// [[tool:N]].
type ToolHistoryEntry struct {
	ToolName string          `json:"tool_name"`
	Input    json.RawMessage `json:"input"`
	Output   string          `json:"output"`
	Success  bool            `json:"success"`
}

// SuggestedValue is a message that the user can choose to send next.
type SuggestedValue struct {
	Label safetext.Text `json:"label"`
	Value safetext.Text `json:"value"`
}

// SuggestedAction is a button shown with the answer.
type SuggestedAction struct {
	Label   safetext.Text   `json:"label"`
	Action  string          `json:"action"`
	Handler string          `json:"handler"` // "client" runs in the program, "server" is sent back to the session
	Data    json.RawMessage `json:"data,omitempty"`
	Style   string          `json:"style"` // "primary", "secondary", "warning"
}

// Events returns the zero value of each event type, in the order of the comment
// on Event, for documentation and decoders.
func Events() []Event {
	return []Event{
		TurnStarted{},
		Status{},
		Retrying{},
		ContextTrimmed{},
		ReasoningDelta{},
		TextDelta{},
		PayloadFound{},
		ToolStart{},
		ConfirmRequest{},
		ToolProgress{},
		CheckpointCreated{},
		ToolComplete{},
		Queued{},
		Complete{},
		Error{},
		Cancelled{},
	}
}

// EncodeEvent writes e as one JSON object. Its "type" is the name of the Go
// type in snake case, such as tool_start; the exception is PayloadFound, whose
// type is payload.
func EncodeEvent(e Event) (json.RawMessage, error) {
	body, err := PlainJSON(e)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", e.event(), err)
	}
	return json.RawMessage(`{"type":"` + e.event() + `",` + string(body[1:])), nil // every event has at least one field
}
