package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// chatRequest is the body of POST /v1/chat/completions, as far as it is read.
type chatRequest struct {
	stream, usage bool
	tools         map[string]gjson.Result // the parameters of the offered tools
	system        string
	exchanges     []*exchange
}

// exchange is one user message and the calls made for it.
type exchange struct {
	user   string
	calls  []*call
	rounds int // responses with calls
}

// call is a tool call of the conversation and what came of it.
type call struct {
	name     string
	text     string       // the arguments as this package encodes them
	args     gjson.Result // text, parsed
	res      *result      // nil: no result in the request
	consumed bool         // a step of this turn has taken it as its own
}

// ok reports that the call succeeded.
func (c *call) ok() bool { return c.res != nil && c.res.Success }

// result is a tool result.
type result struct {
	Success bool
	Message string // what failed, when it did not succeed
	Code    string
	Data    gjson.Result
	missing bool // the call was not made
}

// why is the reason of a failure, in the tool's own words.
func (r *result) why() string {
	return strings.TrimRight(cmp.Or(foreign(r.Message), "no reason was given"), ".")
}

// readResult reads a tool message. Plain text is a success that says so.
func readResult(content string) *result {
	b := gjson.Parse(content)
	if !gjson.Valid(content) || !b.IsObject() {
		return &result{Success: true, Message: content}
	}
	r := &result{Success: b.Get("success").Bool(), Message: b.Get("message").String(), Code: b.Get("error_code").String(), Data: b.Get("data")}
	if !r.Success {
		r.Message = cmp.Or(r.Message, b.Get("error").String(), b.Get("hint").String(), r.Code)
	}
	return r
}

// refusal is why a request is not answered, in the form of the wire.
type refusal struct {
	status        int
	code, message string
}

// readRequest reads a request's body.
func readRequest(body []byte) (*chatRequest, *refusal) {
	if !gjson.ValidBytes(body) {
		return nil, &refusal{http.StatusBadRequest, "invalid_json", "the request is not JSON"}
	}
	b := gjson.ParseBytes(body)
	if model := b.Get("model").String(); !known(model) {
		return nil, noModel(model)
	}
	r := &chatRequest{stream: b.Get("stream").Bool(), usage: b.Get("stream_options.include_usage").Bool(), tools: map[string]gjson.Result{}}
	if b.Get("tool_choice").String() != "none" {
		for _, t := range b.Get("tools").Array() {
			r.tools[t.Get("function.name").String()] = t.Get("function.parameters.properties")
		}
	}
	messages := b.Get("messages").Array()
	if len(messages) == 0 {
		return nil, &refusal{http.StatusBadRequest, "invalid_request", "messages must not be empty"}
	}
	byID := map[string]*call{}
	for i, m := range messages {
		if role, ok := r.add(m, byID); !ok {
			return nil, &refusal{http.StatusBadRequest, "invalid_request", fmt.Sprintf("messages[%d]: unknown role %q", i, cleanTo(role, 32))}
		}
		if c := m.Get("content"); c.Type != gjson.String && c.Type != gjson.Null && !c.IsArray() {
			return nil, &refusal{http.StatusBadRequest, "invalid_json", "content must be a string or a list of parts"}
		}
	}
	return r, nil
}

// add reads one message; false when its role is unknown.
func (r *chatRequest) add(m gjson.Result, byID map[string]*call) (role string, ok bool) {
	text := m.Get("content").String()
	if parts := m.Get("content"); parts.IsArray() {
		text = strings.Join(stringsOf(parts.Get("#.text")), "")
	}
	switch role = m.Get("role").String(); role {
	case "system", "developer":
		r.system = strings.TrimPrefix(r.system+"\n\n"+text, "\n\n")
	case "user":
		r.exchanges = append(r.exchanges, &exchange{user: text})
	case "assistant":
		if calls := m.Get("tool_calls").Array(); len(calls) > 0 && len(r.exchanges) > 0 {
			now := r.exchanges[len(r.exchanges)-1]
			now.rounds++
			for _, c := range calls {
				k := newCall(c.Get("function.name").String(), c.Get("function.arguments").String())
				now.calls = append(now.calls, k)
				byID[c.Get("id").String()] = k
			}
		}
	case "tool":
		id := m.Get("tool_call_id").String()
		if k := byID[id]; k != nil {
			k.res = readResult(text)
			delete(byID, id)
		}
	default:
		return role, false
	}
	return role, true
}

// newCall reads a call; damaged arguments are none.
func newCall(name, arguments string) *call {
	a := args{}
	if json.Unmarshal([]byte(arguments), &a) != nil {
		a = args{}
	}
	text := a.encode()
	return &call{name: name, text: text, args: gjson.Parse(text)}
}

// args are the arguments of a call.
type args map[string]any

// encode writes arguments with their keys in order.
func (a args) encode() string {
	b, err := json.Marshal(a)
	if err != nil {
		return "{}" // a value that JSON does not have is never put in
	}
	return string(b)
}

// stringsOf reads a list of strings; entries of another type are left out.
func stringsOf(list gjson.Result) []string {
	var out []string
	for _, v := range list.Array() {
		if v.Type == gjson.String {
			out = append(out, v.String())
		}
	}
	return out
}
