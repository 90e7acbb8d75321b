package offline

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// chatRequest is the body of POST /v1/chat/completions, as far as it is read.
type chatRequest struct {
	usage     bool                    // the stream ends with an estimate of the tokens
	tools     map[string]gjson.Result // the parameters of the offered tools
	system    string
	exchanges []*exchange
}

// exchange is one user message and the calls made for it.
type exchange struct {
	user   string
	calls  []*call
	rounds int // responses with calls
}

// call is a tool call of the conversation and what came of it.
type call struct {
	name   string
	text   string       // the arguments as this package encodes them
	args   gjson.Result // text, parsed
	result *result      // nil: no result in the request
	used   bool         // a step of this turn has its result
}

// ok reports whether the call succeeded.
func (c *call) ok() bool { return c.result != nil && c.result.Success }

// result is a tool result.
type result struct {
	Success bool
	Message string // what failed, when it did not succeed
	Code    string
	Data    gjson.Result
}

// readResult reads a tool message. Plain text is the message of a successful result.
func readResult(content string) *result {
	b := gjson.Parse(content)
	if !gjson.Valid(content) || !b.IsObject() {
		return &result{Success: true, Message: content}
	}
	return &result{Success: b.Get("success").Bool(), Message: b.Get("message").String(), Code: b.Get("error_code").String(), Data: b.Get("data")}
}

// readRequest reads a request's body.
func readRequest(body []byte) (*chatRequest, *requestError) {
	b := gjson.ParseBytes(body)
	if !gjson.ValidBytes(body) {
		return nil, &requestError{http.StatusBadRequest, "invalid_json", "the request is not JSON"}
	}
	if model := b.Get("model").String(); model != ModelID && model != "offline/"+ModelID {
		return nil, &requestError{http.StatusNotFound, "model_not_found", "there is no model " + clean(model) + " here; the only one is " + ModelID}
	}
	r := &chatRequest{usage: b.Get("stream_options.include_usage").Bool(), tools: map[string]gjson.Result{}}
	if b.Get("tool_choice").String() != "none" {
		for _, t := range b.Get("tools").Array() {
			r.tools[t.Get("function.name").String()] = t.Get("function.parameters.properties")
		}
	}
	messages := b.Get("messages").Array()
	if len(messages) == 0 {
		return nil, &requestError{http.StatusBadRequest, "invalid_request", "messages must not be empty"}
	}
	byID := map[string]*call{}
	for i, m := range messages {
		if problem := r.add(m, byID); problem != "" {
			return nil, &requestError{http.StatusBadRequest, "invalid_request", fmt.Sprintf("messages[%d]: %s", i, problem)}
		}
	}
	return r, nil
}

// add reads one message and returns what is wrong with it. byID are the calls
// without a result.
func (r *chatRequest) add(m gjson.Result, byID map[string]*call) (problem string) {
	content := m.Get("content")
	text := content.String()
	if content.IsArray() {
		text = strings.Join(stringsOf(content.Get("#.text")), "")
	} else if content.Type != gjson.String && content.Type != gjson.Null {
		return "content must be a string or a list of parts"
	}
	switch role := m.Get("role").String(); role {
	case "system", "developer":
		r.system = strings.TrimPrefix(r.system+"\n\n"+text, "\n\n")
	case "user":
		r.exchanges = append(r.exchanges, &exchange{user: text})
	case "assistant":
		calls := m.Get("tool_calls").Array()
		if len(calls) == 0 || len(r.exchanges) == 0 {
			break
		}
		now := r.exchanges[len(r.exchanges)-1]
		now.rounds++
		for _, c := range calls {
			a := args{}
			_ = json.Unmarshal([]byte(c.Get("function.arguments").String()), &a) // damaged arguments are none
			text := a.encode()
			k := &call{name: c.Get("function.name").String(), text: text, args: gjson.Parse(text)}
			now.calls = append(now.calls, k)
			byID[c.Get("id").String()] = k
		}
	case "tool":
		id := m.Get("tool_call_id").String()
		if k := byID[id]; k != nil {
			k.result = readResult(text)
			delete(byID, id)
		}
	default:
		return fmt.Sprintf("unknown role %q", clean(role))
	}
	return ""
}

// args are the arguments of a call.
type args map[string]any

// encode writes arguments with their keys in order.
func (a args) encode() string {
	b, err := json.Marshal(a)
	if err != nil || a == nil {
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
