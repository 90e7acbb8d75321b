package assistant

import (
	"encoding/json"
	"time"
)

// Event is what a running turn tells those who watch it. The set is closed:
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

	// Status is a word about what happens until the first text comes.
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
	// before its first byte, or a tool call that was invalid.
	Retrying struct {
		Attempt int           `json:"attempt"`
		Reason  string        `json:"reason"`
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
	// Notice is winnow's own word about how the turn ended; "" is nothing special.
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
