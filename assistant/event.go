package assistant

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is what a running turn reports. Events are values: they never point into live state.
// In the order in which they may come, from Status on again for each response:
//
//	TurnStarted        the prompt is durable
//	Status             what the turn does now
//	Retrying           a request, or a round of invalid calls, is tried again
//	ContextTrimmed     a request goes out with fewer pairs
//	ReasoningDelta     a piece of the model's thinking
//	TextDelta          a piece of the answer
//	PayloadFound       a payload in the answer
//	ToolStart          a call is about to run
//	ConfirmRequest     it asks the user first
//	ToolProgress       how far it is
//	CheckpointCreated  the window has changed: the checkpoint is from before
//	ToolComplete       its result; the next response follows with a Status
//	Queued             a message waits; at any time
//	Complete           the end of a turn that went well
//	Error              the end of one that failed
//	Cancelled          the end of one that the user cancelled
//
// The end is exactly one of the last three. A call that cannot run, of an unknown tool or
// with wrong arguments, has no ToolStart: only the model is told, with CodeUnknownTool or
// CodeInvalidArguments, and the call is a Silent one of the pair. Retrying comes from the second round in a row that has such a call.
//
//sumtype:decl
type Event interface {
	event() string // the "type" in JSON
}

type (
	// TurnStarted opens a turn's events: the prompt is durable and Seq is its
	// pair. Only a turn whose prompt could not be stored, or that was cancelled
	// before, has no TurnStarted.
	TurnStarted struct {
		Seq int64 `json:"seq"`
	}

	// Status is a short phrase about what the turn does before its next text.
	Status struct {
		Message string `json:"message"`
	}

	// TextDelta is a piece of the answer without its payloads, the blank line between two
	// responses, or the [[tool:N]] marker that follows a ToolComplete.
	TextDelta struct {
		Text string `json:"text"`
	}

	// ReasoningDelta is a piece of the model's thinking.
	ReasoningDelta struct {
		Text string `json:"text"`
	}

	// ToolStart reports a call that is about to run. Index counts from 0 in
	// the turn and is the N of the [[tool:N]] marker.
	ToolStart struct {
		Tool      string          `json:"tool"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Index     int             `json:"index"`
	}

	// ToolProgress reports how far a running call is.
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

	// PayloadFound reports a payload that the model wrote into its text; no TextDelta has it.
	PayloadFound struct {
		Payload Payload `json:"payload"`
	}

	// Complete ends a turn that went well.
	Complete struct {
		Payload ResponsePayload `json:"payload"`
	}

	// Error ends a turn that failed. What was done before stays.
	Error struct {
		Code    string `json:"code"` // a Kind or one of the Code constants
		Message string `json:"message"`
		Err     error  `json:"-"` // the cause, when the turn ended before TurnStarted
	}

	// Cancelled ends a turn that the user cancelled.
	Cancelled struct {
		Kept bool `json:"kept"` // the pair stays: a tool had run, or it has an older answer
	}

	// CheckpointCreated is reported after the first call that changed the window. The
	// checkpoint was durable before that call, and undoes the turn.
	CheckpointCreated struct {
		ID          string `json:"id"`
		Description string `json:"description"`
	}

	// ContextTrimmed reports a request that is sent with fewer pairs than
	// predicted, and the pairs it leaves out.
	ContextTrimmed struct {
		Sent    int       `json:"sent"`    // pairs still in the request
		Trimmed int       `json:"trimmed"` // pairs dropped so far
		Visible int       `json:"visible"`
		Attempt int       `json:"attempt"`          // 1 is the first request
		Tokens  int       `json:"tokens,omitempty"` // of Pairs together, estimated
		Pairs   []LeftOut `json:"pairs,omitempty"`  // left out so far, oldest first
	}

	// Queued reports the message that waits for the running response.
	Queued struct {
		Text string `json:"text"`
	}

	// Retrying reports that something is tried again: a request that failed
	// before its first byte, or, with Code CodeInvalidToolCalls, a round of
	// invalid calls. It is valid until the next text or tool.
	Retrying struct {
		Attempt int    `json:"attempt"`
		Reason  string `json:"reason"`
		Code    string `json:"code,omitempty"`
		AfterMS int64  `json:"after_ms"` // milliseconds until the next attempt
	}

	// ConfirmRequest asks the user whether a tool may do something lasting.
	// The turn waits for Session.Answer.
	ConfirmRequest struct {
		ID     string `json:"id"`
		Tool   string `json:"tool"`
		Diff   string `json:"diff"`
		Digest string `json:"digest"`           // names what would be done
		Note   string `json:"note,omitempty"`   // a sentence to show with it: who changed what was shown before
		Server string `json:"server,omitempty"` // the program that would carry it out, if it is not this one; see Tool.Server
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

// After is the delay before the request is sent again.
func (r Retrying) After() time.Duration { return time.Duration(r.AfterMS) * time.Millisecond }

// ResponsePayload is the whole answer of a turn.
type ResponsePayload struct {
	Message string `json:"message"` // with its [[tool:N]] markers
	Suggested
	Custom *CustomPayload `json:"custom_payload,omitempty"`
	Notice string         `json:"notice,omitempty"` // what winnow itself reports of the turn; "" for none
}

// CustomPayload is structured data of a turn, of type PayloadTools.
type CustomPayload struct {
	Type string             `json:"type"`
	Data []ToolHistoryEntry `json:"data"`
}

// ToolHistoryEntry is entry N of tool_history, the card of marker [[tool:N]].
type ToolHistoryEntry struct {
	ToolName string          `json:"tool_name"`
	Input    json.RawMessage `json:"input"`
	Output   string          `json:"output"`
	Success  bool            `json:"success"`
}

// SuggestedValue is a message that the user can choose to send next.
type SuggestedValue struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// SuggestedAction is a button of the answer.
type SuggestedAction struct {
	Label   string          `json:"label"`
	Action  string          `json:"action"`
	Handler string          `json:"handler"` // "client" runs in the program, "server" goes back to the session
	Data    json.RawMessage `json:"data,omitempty"`
	Style   string          `json:"style"` // "primary", "secondary", "warning"
}

// Events has the zero value of each type of event, in the order of the comment of Event, for
// documents and decoders.
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

// EncodeEvent writes e as one JSON object. Its "type" is the name of the Go type in snake
// case, such as tool_start; that of PayloadFound is payload.
func EncodeEvent(e Event) (json.RawMessage, error) {
	body, err := PlainJSON(e)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", e.event(), err)
	}
	return json.RawMessage(`{"type":"` + e.event() + `",` + string(body[1:])), nil // no event is without a field
}
