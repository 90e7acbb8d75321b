package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// Request is the body of POST /v1/chat/completions, as far as it is read.
type Request struct {
	Tools     map[string]gjson.Result // the parameters of each offered tool, by its name
	System    string
	Exchanges []*Exchange // oldest first; the last is the one to answer

	usage bool // the stream ends with an estimate of the tokens
}

// Exchange is one user message and the calls made for it.
type Exchange struct {
	User     string
	Pictures bool // there are some beside the text
	Calls    []*Call
	Rounds   int // responses with calls
}

// Call is a tool call of the conversation and what came of it.
type Call struct {
	Name   string
	Text   string       // the arguments as Args.Encode writes them
	Args   gjson.Result // Text, parsed
	Result *Result      // nil: no result in the request
}

// OK reports whether the call succeeded.
func (c *Call) OK() bool { return c.Result != nil && c.Result.Success }

// Result is a tool result.
type Result struct {
	Success bool
	Message string // what failed, when it did not succeed
	Code    string
	Data    gjson.Result
}

// readResult reads a tool message. Plain text is the message of a successful result.
func readResult(content string) *Result {
	b := gjson.Parse(content)
	if !gjson.Valid(content) || !b.IsObject() {
		return &Result{Success: true, Message: content}
	}
	return &Result{Success: b.Get("success").Bool(), Message: b.Get("message").String(), Code: b.Get("error_code").String(), Data: b.Get("data")}
}

// Read reads the body of a chat request. A damaged one, or one for another model, is an
// *Error.
func (s Server) Read(body []byte) (*Request, *Error) {
	b := gjson.ParseBytes(body)
	if !gjson.ValidBytes(body) {
		return nil, &Error{http.StatusBadRequest, "invalid_json", "the request is not JSON"}
	}
	if model := b.Get("model").String(); model != s.Model && model != s.Provider+"/"+s.Model {
		return nil, &Error{http.StatusNotFound, "model_not_found", "there is no model " + echo(model) + " here; the only one is " + s.Model}
	}
	r := &Request{usage: b.Get("stream_options.include_usage").Bool(), Tools: map[string]gjson.Result{}}
	if b.Get("tool_choice").String() != "none" {
		for _, t := range b.Get("tools").Array() {
			r.Tools[t.Get("function.name").String()] = t.Get("function.parameters.properties")
		}
	}
	messages := b.Get("messages").Array()
	if len(messages) == 0 {
		return nil, &Error{http.StatusBadRequest, "invalid_request", "messages must not be empty"}
	}
	byID := map[string]*Call{}
	for i, message := range messages {
		if problem := r.add(message, byID); problem != "" {
			return nil, &Error{http.StatusBadRequest, "invalid_request", fmt.Sprintf("messages[%d]: %s", i, problem)}
		}
	}
	return r, nil
}

// add reads one message and returns what is wrong with it. byID are the calls
// without a result.
func (r *Request) add(m gjson.Result, byID map[string]*Call) (problem string) {
	content := m.Get("content")
	text := content.String()
	if content.IsArray() {
		text = strings.Join(Strings(content.Get("#.text")), "")
	} else if content.Type != gjson.String && content.Type != gjson.Null {
		return "content must be a string or a list of parts"
	}
	switch role := m.Get("role").String(); role {
	case "system", "developer":
		r.System = strings.TrimPrefix(r.System+"\n\n"+text, "\n\n")
	case "user":
		r.Exchanges = append(r.Exchanges, &Exchange{User: text, Pictures: content.Get(`#(type=="image_url")`).Exists()})
	case "assistant":
		calls := m.Get("tool_calls").Array()
		if len(calls) == 0 || len(r.Exchanges) == 0 {
			break
		}
		now := r.Exchanges[len(r.Exchanges)-1]
		now.Rounds++
		for _, c := range calls {
			a := Args{}
			_ = json.Unmarshal([]byte(c.Get("function.arguments").String()), &a) // damaged arguments are none
			text := a.Encode()
			k := &Call{Name: c.Get("function.name").String(), Text: text, Args: gjson.Parse(text)}
			now.Calls = append(now.Calls, k)
			byID[c.Get("id").String()] = k
		}
	case "tool":
		id := m.Get("tool_call_id").String()
		if k := byID[id]; k != nil {
			k.Result = readResult(text)
			delete(byID, id)
		}
	default:
		return fmt.Sprintf("unknown role %q", echo(role))
	}
	return ""
}

// Args are the arguments of a call.
type Args map[string]any

// Encode writes arguments with their keys in order.
func (a Args) Encode() string {
	b, err := json.Marshal(a)
	if err != nil || a == nil {
		return "{}" // a value that JSON does not have is never put in
	}
	return string(b)
}

// Strings reads a list of strings; entries of another type are left out.
func Strings(list gjson.Result) []string {
	var out []string
	for _, v := range list.Array() {
		if v.Type == gjson.String {
			out = append(out, v.String())
		}
	}
	return out
}
