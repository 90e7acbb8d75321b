package assistant

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// Event is what a running turn reports. The set is closed:
// one struct an event, spec §5.3. A turn ends with exactly one of Complete,
// Error and Cancelled. Events are values: they never point into live state.
//
//sumtype:decl
type Event interface{ event() }

type (
	// TurnStarted opens a turn's events: the prompt is durable and Seq is its
	// pair. Only a turn whose prompt could not be stored, or that was cancelled
	// before, has no TurnStarted.
	TurnStarted struct {
		Seq int64 `json:"seq"`
	}

	// Status is what happens until the first text comes, in a few words.
	Status struct {
		Message string `json:"message"`
	}

	// TextDelta is a piece of the answer, or the [[tool:N]] marker that follows a ToolComplete.
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

	// ToolComplete reports what came of a call.
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

	// PayloadFound reports a payload that the model wrote into its text. The
	// text of it does not come as a TextDelta.
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
	}

	// Cancelled ends a turn that the user broke off.
	Cancelled struct {
		// Kept says whether the pair stays, because a tool had run.
		Kept bool `json:"kept"`
	}

	// CheckpointCreated reports a durable checkpoint.
	CheckpointCreated struct {
		ID          string `json:"id"`
		Description string `json:"description"`
	}

	// ContextTrimmed reports a request that goes out with fewer pairs than
	// predicted, and which it leaves out.
	ContextTrimmed struct {
		Sent    int `json:"sent"`    // pairs still in the request
		Trimmed int `json:"trimmed"` // pairs dropped so far
		Visible int `json:"visible"`
		Attempt int `json:"attempt"`          // 1 is the first request
		Tokens  int `json:"tokens,omitempty"` // of Pairs together, estimated
		// Pairs are the ones left out so far, oldest first.
		Pairs []LeftOut `json:"pairs,omitempty"`
	}

	// Queued reports the message that waits for the running response.
	Queued struct {
		Text string `json:"text"`
	}

	// Retrying reports that something is tried again: a request that failed
	// before its first byte, or, with Code CodeInvalidToolCalls, a round of
	// invalid calls. It holds until the next text or tool.
	Retrying struct {
		Attempt int           `json:"attempt"`
		Reason  string        `json:"reason"`
		Code    string        `json:"code,omitempty"`
		After   time.Duration `json:"-"` // after_ms in JSON
	}

	// ConfirmRequest asks the user whether a tool may do something lasting.
	// The turn waits for Session.Answer.
	ConfirmRequest struct {
		ID   string `json:"id"`
		Tool string `json:"tool"`
		Diff string `json:"diff"`
	}
)

func (TurnStarted) event()       {}
func (Status) event()            {}
func (TextDelta) event()         {}
func (ReasoningDelta) event()    {}
func (ToolStart) event()         {}
func (ToolProgress) event()      {}
func (ToolComplete) event()      {}
func (PayloadFound) event()      {}
func (Complete) event()          {}
func (Error) event()             {}
func (Cancelled) event()         {}
func (CheckpointCreated) event() {}
func (ContextTrimmed) event()    {}
func (Queued) event()            {}
func (Retrying) event()          {}
func (ConfirmRequest) event()    {}

// Terminal reports whether e ends a turn.
func Terminal(e Event) bool {
	switch e.(type) {
	case Complete, Error, Cancelled:
		return true
	default:
		return false
	}
}

// ResponsePayload is the whole answer of a turn.
type ResponsePayload struct {
	Message string `json:"message"` // with its [[tool:N]] markers
	Suggested
	Custom *CustomPayload `json:"custom_payload,omitempty"`
	// Notice is what winnow itself reports of the turn; "" is nothing special.
	Notice string `json:"notice,omitempty"`
}

// CustomPayload is structured data of a turn: "tool_history" with a
// []ToolHistoryEntry.
type CustomPayload struct {
	Type string `json:"type"`
	Data any    `json:"data"`
}

// UnmarshalJSON reads a tool_history back into its entries, and the data of
// every other type as plain JSON values.
func (c *CustomPayload) UnmarshalJSON(data []byte) error {
	var raw struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	c.Type, c.Data = raw.Type, nil
	if raw.Type == PayloadTools {
		var entries []ToolHistoryEntry
		err := json.Unmarshal(raw.Data, &entries)
		c.Data = entries
		return err
	}
	if len(raw.Data) == 0 {
		return nil
	}
	return json.Unmarshal(raw.Data, &c.Data)
}

// ToolHistoryEntry is entry N of tool_history, the card of marker [[tool:N]].
type ToolHistoryEntry struct {
	ToolName string          `json:"tool_name"`
	Input    json.RawMessage `json:"input"`
	Output   string          `json:"output"`
	Success  bool            `json:"success"`
}

// SuggestedValue is a next message that one key sends.
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

// eventKinds are the names of the events on the wire, with their decoders.
var eventKinds = map[string]struct {
	of     Event
	decode func([]byte) (Event, error)
}{
	"turn_started":       {TurnStarted{}, decodeAs[TurnStarted]},
	"status":             {Status{}, decodeAs[Status]},
	"text_delta":         {TextDelta{}, decodeAs[TextDelta]},
	"reasoning_delta":    {ReasoningDelta{}, decodeAs[ReasoningDelta]},
	"tool_start":         {ToolStart{}, decodeAs[ToolStart]},
	"tool_progress":      {ToolProgress{}, decodeAs[ToolProgress]},
	"tool_complete":      {ToolComplete{}, decodeAs[ToolComplete]},
	"payload":            {PayloadFound{}, decodeAs[PayloadFound]},
	"complete":           {Complete{}, decodeAs[Complete]},
	"error":              {Error{}, decodeAs[Error]},
	"cancelled":          {Cancelled{}, decodeAs[Cancelled]},
	"checkpoint_created": {CheckpointCreated{}, decodeAs[CheckpointCreated]},
	"context_trimmed":    {ContextTrimmed{}, decodeAs[ContextTrimmed]},
	"queued":             {Queued{}, decodeAs[Queued]},
	"retrying":           {Retrying{}, decodeAs[Retrying]},
	"confirm_request":    {ConfirmRequest{}, decodeAs[ConfirmRequest]},
}

// eventNames are the same by type.
var eventNames = func() map[reflect.Type]string {
	names := map[reflect.Type]string{}
	for name, kind := range eventKinds {
		names[reflect.TypeOf(kind.of)] = name
	}
	return names
}()

// EncodeEvent writes e as one JSON object whose "type" names it.
func EncodeEvent(e Event) (json.RawMessage, error) {
	name, ok := eventNames[reflect.TypeOf(e)]
	if !ok {
		return nil, fmt.Errorf("event: %T has no name", e)
	}
	body, err := PlainJSON(e)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", name, err)
	}
	head := `{"type":"` + name + `"`
	if rest := string(body[1:]); rest != "}" {
		return json.RawMessage(head + "," + rest), nil
	}
	return json.RawMessage(head + "}"), nil
}

// DecodeEvent reads what EncodeEvent writes. An unknown type is an error that names it.
func DecodeEvent(data []byte) (Event, error) {
	var head struct {
		Type *string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	if head.Type == nil {
		return nil, errors.New(`event: "type" is missing`)
	}
	kind, ok := eventKinds[*head.Type]
	if !ok {
		return nil, fmt.Errorf("event: type %q is unknown", *head.Type)
	}
	e, err := kind.decode(data)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", *head.Type, err)
	}
	return e, nil
}

func decodeAs[E Event](data []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, err
	}
	return e, nil
}

// retryingJSON is a Retrying with its pause in milliseconds.
type retryingJSON struct {
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"`
	Code    string `json:"code,omitempty"`
	AfterMS int64  `json:"after_ms"`
}

// MarshalJSON writes After as after_ms.
func (r Retrying) MarshalJSON() ([]byte, error) {
	return PlainJSON(retryingJSON{r.Attempt, r.Reason, r.Code, r.After.Milliseconds()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Retrying) UnmarshalJSON(data []byte) error {
	var raw retryingJSON
	err := json.Unmarshal(data, &raw)
	*r = Retrying{raw.Attempt, raw.Reason, raw.Code, time.Duration(raw.AfterMS) * time.Millisecond}
	return err
}
