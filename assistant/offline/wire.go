package offline

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// chatRequest is the body of POST /v1/chat/completions, as far as it is read.
type chatRequest struct {
	Model         string        `json:"model"`
	Messages      []chatMessage `json:"messages"`
	Tools         []chatTool    `json:"tools"`
	ToolChoice    any           `json:"tool_choice"`
	Stream        bool          `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type chatMessage struct {
	Role    string      `json:"role"`
	Content chatContent `json:"content"`
	Calls   []chatCall  `json:"tool_calls"`
	CallID  string      `json:"tool_call_id"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatTool struct {
	Function struct {
		Name       string `json:"name"`
		Parameters struct {
			Properties map[string]any `json:"properties"`
		} `json:"parameters"`
	} `json:"function"`
}

// chatContent is a message's text: a string, null, or a list of parts of which
// the text ones count.
type chatContent string

// UnmarshalJSON accepts the three forms of the wire.
func (c *chatContent) UnmarshalJSON(b []byte) error {
	var s *string
	if json.Unmarshal(b, &s) == nil {
		if s != nil {
			*c = chatContent(*s)
		}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return errors.New("content must be a string or a list of parts")
	}
	for _, p := range parts {
		*c += chatContent(p.Text)
	}
	return nil
}

// validate reports what makes a request unusable.
func (r *chatRequest) validate() error {
	if len(r.Messages) == 0 {
		return errors.New("messages must not be empty")
	}
	for i, m := range r.Messages {
		switch m.Role {
		case "system", "developer", "user", "assistant", "tool":
		default:
			return fmt.Errorf("messages[%d]: unknown role %q", i, cleanTo(m.Role, 32))
		}
	}
	return nil
}

// call is a tool call of the conversation and what came of it.
type call struct {
	name     string
	args     map[string]any
	res      *result // nil: no result in the request
	consumed bool    // a step of this turn has taken it as its own
}

// result is a tool result as read from a tool message.
type result struct {
	Success bool            `json:"success"`
	Message string          `json:"message"`
	Data    map[string]any  `json:"-"` // RawData when it is an object
	RawData json.RawMessage `json:"data"`
	Code    string          `json:"error_code"`
	Hint    string          `json:"hint"`
	Error   string          `json:"error"`
	missing bool            // the call was not made
}

// why is the reason of a failure, in the tool's own words.
func (r *result) why() string {
	for _, s := range []string{r.Message, r.Error, r.Hint, r.Code} {
		if s != "" {
			return strings.TrimRight(foreign(s), ".")
		}
	}
	return "no reason was given"
}

// readResult reads a tool message. Plain text is a success that says so.
func readResult(content string) *result {
	r := &result{}
	if err := json.Unmarshal([]byte(content), r); err != nil || !strings.HasPrefix(strings.TrimSpace(content), "{") {
		return &result{Success: true, Message: content}
	}
	_ = json.Unmarshal(r.RawData, &r.Data) // not an object: nothing is read of it
	return r
}

// exchange is one user message and the calls made for it.
type exchange struct {
	user   string
	calls  []*call
	rounds int // responses with calls
}

// conversation reads the messages into exchanges and the system text.
func (r *chatRequest) conversation() (system string, all []*exchange) {
	var sys []string
	var cur *exchange
	byID := map[string]*call{}
	for _, m := range r.Messages {
		switch m.Role {
		case "system", "developer":
			sys = append(sys, string(m.Content))
		case "user":
			cur = &exchange{user: string(m.Content)}
			all = append(all, cur)
		case "assistant":
			if cur == nil {
				continue
			}
			if len(m.Calls) > 0 {
				cur.rounds++
			}
			for _, c := range m.Calls {
				k := &call{name: c.Function.Name}
				_ = json.Unmarshal([]byte(c.Function.Arguments), &k.args) // damaged: no arguments
				cur.calls = append(cur.calls, k)
				byID[c.ID] = k
			}
		case "tool":
			if k := byID[m.CallID]; k != nil {
				k.res = readResult(string(m.Content))
				delete(byID, m.CallID)
			}
		}
	}
	return strings.Join(sys, "\n\n"), all
}

// text reads a string argument.
func (c *call) text(key string) string { s, _ := c.args[key].(string); return s }

// number reads a number of the data.
func (r *result) number(key string) (int, bool) {
	f, ok := r.Data[key].(float64)
	return int(f), ok
}

// list reads a list of strings of the data; entries of another type are left out.
func (r *result) list(key string) []string {
	l, _ := r.Data[key].([]any)
	var out []string
	for _, v := range l {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// tool finds an offered tool.
func (r *chatRequest) tool(name string) (chatTool, bool) {
	if s, _ := r.ToolChoice.(string); s == "none" {
		return chatTool{}, false
	}
	i := slices.IndexFunc(r.Tools, func(t chatTool) bool { return t.Function.Name == name })
	if i < 0 {
		return chatTool{}, false
	}
	return r.Tools[i], true
}

// takes reports whether a tool has a parameter.
func (t chatTool) takes(param string) bool {
	_, ok := t.Function.Parameters.Properties[param]
	return ok
}
