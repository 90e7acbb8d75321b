package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// EncodeEvent writes e as one JSON object whose "type" tells what it is.
func EncodeEvent(e Event) (json.RawMessage, error) {
	name, ok := eventName(e)
	if !ok {
		return nil, fmt.Errorf("event: %T has no name", e)
	}
	body, err := PlainJSON(e)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", name, err)
	}
	if r, ok := e.(Retrying); ok {
		body, err = PlainJSON(retryingJSON{r.Attempt, r.Reason, r.After.Milliseconds()})
		if err != nil {
			return nil, err
		}
	}
	head := []byte(`{"type":"` + name + `"`)
	if bytes.Equal(body, []byte("{}")) {
		return append(head, '}'), nil
	}
	return append(append(head, ','), body[1:]...), nil
}

// retryingJSON is a Retrying with its pause in milliseconds.
type retryingJSON struct {
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"`
	AfterMS int64  `json:"after_ms"`
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
		return nil, fmt.Errorf(`event: "type" is missing`)
	}
	decode, ok := eventDecoders[*head.Type]
	if !ok {
		return nil, fmt.Errorf("event: type %q is unknown", *head.Type)
	}
	e, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", *head.Type, err)
	}
	return e, nil
}

// eventName is the discriminator of e on the wire.
func eventName(e Event) (string, bool) {
	switch e.(type) {
	case TurnStarted:
		return "turn_started", true
	case Status:
		return "status", true
	case TextDelta:
		return "text_delta", true
	case ReasoningDelta:
		return "reasoning_delta", true
	case ToolStart:
		return "tool_start", true
	case ToolProgress:
		return "tool_progress", true
	case ToolComplete:
		return "tool_complete", true
	case PayloadFound:
		return "payload", true
	case Complete:
		return "complete", true
	case Error:
		return "error", true
	case Cancelled:
		return "cancelled", true
	case CheckpointCreated:
		return "checkpoint_created", true
	case ContextTrimmed:
		return "context_trimmed", true
	case Queued:
		return "queued", true
	case Retrying:
		return "retrying", true
	case ConfirmRequest:
		return "confirm_request", true
	}
	return "", false
}

var eventDecoders = map[string]func([]byte) (Event, error){
	"turn_started":       decodeAs[TurnStarted],
	"status":             decodeAs[Status],
	"text_delta":         decodeAs[TextDelta],
	"reasoning_delta":    decodeAs[ReasoningDelta],
	"tool_start":         decodeAs[ToolStart],
	"tool_progress":      decodeAs[ToolProgress],
	"tool_complete":      decodeAs[ToolComplete],
	"payload":            decodeAs[PayloadFound],
	"complete":           decodeAs[Complete],
	"error":              decodeAs[Error],
	"cancelled":          decodeAs[Cancelled],
	"checkpoint_created": decodeAs[CheckpointCreated],
	"context_trimmed":    decodeAs[ContextTrimmed],
	"queued":             decodeAs[Queued],
	"retrying":           decodeRetrying,
	"confirm_request":    decodeAs[ConfirmRequest],
}

func decodeAs[E Event](data []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, err
	}
	return e, nil
}

func decodeRetrying(data []byte) (Event, error) {
	var r retryingJSON
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	return Retrying{r.Attempt, r.Reason, time.Duration(r.AfterMS) * time.Millisecond}, nil
}
