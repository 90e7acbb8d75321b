package assistanttest

import (
	"fmt"
	"net/http"
	"strings"

	"winnow/assistant/chatapi"
)

// eventStream is the content type of streamed answers.
const eventStream = "text/event-stream"

// Text returns a reply that streams text word by word.
func Text(text string) Reply { return Raw(eventStream, Stream(text)) }

// Raw returns a reply with status 200 and this body, sending each event separately.
func Raw(contentType, body string) Reply {
	return func(x *Exchange) {
		x.Start(http.StatusOK, "Content-Type", contentType)
		for _, piece := range strings.SplitAfter(body, "\n\n") {
			x.Send(piece)
		}
	}
}

// Pieces returns a reply that streams body in pieces of size bytes.
func Pieces(body string, size int) Reply {
	return func(x *Exchange) {
		x.Start(http.StatusOK, "Content-Type", eventStream)
		rest := body
		for len(rest) > size {
			x.Send(rest[:size])
			rest = rest[size:]
		}
		x.Send(rest)
	}
}

// Respond returns a reply with a status, a body and headers, given as alternating names and
// values. A body that starts with { or [ is sent as JSON, one that starts with < as a web
// page.
func Respond(status int, body string, headers ...string) Reply {
	contentType := "text/plain"
	switch {
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		contentType = "application/json"
	case strings.HasPrefix(body, "<"):
		contentType = "text/html; charset=utf-8"
	}
	return func(x *Exchange) {
		x.Start(status, append([]string{"Content-Type", contentType}, headers...)...)
		x.Send(body)
	}
}

// Stalled returns a reply that sends the events in before, waits at the gate, and sends the
// events in after.
func Stalled(before string, at *Gate, after string) Reply {
	return func(x *Exchange) {
		x.Start(http.StatusOK, "Content-Type", eventStream)
		x.Send(before)
		if x.Stall(at) {
			x.Send(after)
		}
	}
}

// Unanswered returns a reply that sends nothing, not even headers, until the gate is open.
// Then it answers with late.
func Unanswered(at *Gate, late Reply) Reply {
	return func(x *Exchange) {
		if x.Stall(at) {
			late(x)
		}
	}
}

// CutAfter returns a reply that sends these events and closes the connection.
func CutAfter(body string) Reply {
	return func(x *Exchange) {
		x.Start(http.StatusOK, "Content-Type", eventStream)
		x.Send(body)
		x.Cut()
	}
}

// Calls returns a reply with tool calls, streamed in pieces. Calls without an id get one.
func Calls(calls ...Call) Reply {
	return func(x *Exchange) {
		var all strings.Builder
		for i, c := range calls {
			if c.ID == "" {
				c.ID = fmt.Sprintf("call_%d_%d", x.number, i)
			}
			half := len(c.Arguments) / 2
			all.WriteString(CallEvent(i, c.ID, c.Name, ""))
			all.WriteString(CallEvent(i, "", "", c.Arguments[:half]))
			all.WriteString(CallEvent(i, "", "", c.Arguments[half:]))
		}
		Raw(eventStream, all.String()+FinishEvent("tool_calls")+Done)(x)
	}
}

// TokenLimit returns a reply that rejects requests whose messages have more than limit
// tokens (Chat.Tokens), as OpenAI does, and answers other requests with accepted.
func TokenLimit(limit int, accepted Reply) Reply {
	return func(x *Exchange) {
		n := x.Chat.Tokens()
		if n <= limit {
			accepted(x)
			return
		}
		refused := chatapi.Problem{
			Code: "context_length_exceeded", Param: "messages",
			Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", limit, n),
		}
		Respond(http.StatusBadRequest, refused.JSON())(x)
	}
}

// ModelList returns a reply with a list of models with these ids.
func ModelList(ids ...string) Reply {
	models := make([]map[string]any, len(ids))
	for i, id := range ids {
		models[i] = map[string]any{"id": id, "owned_by": "test"}
	}
	return Respond(http.StatusOK, chatapi.Models(models...))
}
