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
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  struct {
			Properties map[string]struct {
				Description string `json:"description"`
			} `json:"properties"`
			Required []string `json:"required"`
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

// check reports what makes a request unusable.
func (r *chatRequest) check() error {
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
	Success bool           `json:"success"`
	Message string         `json:"message"`
	Data    map[string]any `json:"-"`
	RawData any            `json:"data"`
	Code    string         `json:"error_code"`
	Hint    string         `json:"hint"`
	Error   string         `json:"error"`
	missing bool           // the request does not offer the tool
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
	r.Data, _ = r.RawData.(map[string]any)
	return r
}

// exchange is one user message and the calls made for it.
type exchange struct {
	user   string
	calls  []*call
	rounds int    // responses with calls
	answer string // the assistant's last text
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
			if m.Content != "" {
				cur.answer = string(m.Content)
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

// idKeys are the names a result may give a list of models, likeliest first.
var idKeys = []string{"models", "matches", "matching_models", "affected_models", "items", "ids", "matched", "results"}

// models reads the models of a result: strings, or objects with an id.
func (r *result) models() []string {
	for _, k := range idKeys {
		if l, ok := r.Data[k].([]any); ok {
			return idsOf(l)
		}
	}
	if l, ok := r.RawData.([]any); ok {
		return idsOf(l)
	}
	return nil
}

func idsOf(l []any) []string {
	out := make([]string, 0, len(l))
	for _, v := range l {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case map[string]any:
			for _, k := range []string{"id", "model", "display_name", "name"} {
				if s, ok := v[k].(string); ok {
					out = append(out, s)
					break
				}
			}
		}
	}
	return out
}

// affected reads how many models a change touched, and which.
func (r *result) affected() (n int, ids []string, known bool) {
	switch v := r.Data["affected_models"].(type) {
	case []any:
		ids = idsOf(v)
		n, known = len(v), true
	case float64:
		n, known = int(v), true
	}
	if c, ok := r.number("affected_count"); ok {
		n, known = max(c, n), true
	}
	return n, ids, known
}

// untouched reports that a tool that clears a list found it empty.
func (r *result) untouched() bool {
	n, _, known := r.affected()
	_, removed := r.Data["removed_rules"]
	return known && n == 0 && !removed && strings.HasPrefix(r.Message, "There were no ")
}

// total reads how many models a query found: a count beside a cut list wins.
func (r *result) total() int {
	n := len(r.models())
	for _, k := range []string{"count", "total", "total_count", "match_count", "matched_count"} {
		if c, ok := r.number(k); ok {
			return max(c, n)
		}
	}
	return n
}

func (r *result) number(key string) (int, bool) {
	f, ok := r.Data[key].(float64)
	return int(f), ok
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
