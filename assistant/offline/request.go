package offline

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// request contains the parts of the body of POST /v1/chat/completions that are used.
type request struct {
	tools     map[string]bool // the names of the offered tools
	system    string
	exchanges []*exchange // oldest first; the last is the one to answer
	usage     bool        // the stream must report the tokens used, which are 0
}

// exchange is one user message and the calls made for it.
type exchange struct {
	user     string
	answer   string // the text of the last response
	pictures bool   // the message contains pictures
	calls    []*call
	rounds   int // responses with calls
}

// call is a tool call of the conversation with its result.
type call struct {
	id, name, text string  // text: the arguments as args.encode writes them
	result         *result // nil: no result in the request
}

// result is a tool result.
type result struct {
	success bool
	message string // what failed, if it did
	code    string
	data    gjson.Result
}

// args are the arguments of a call.
type args map[string]any

// encode writes arguments with their keys in order, without the empty ones.
func (a args) encode() string {
	maps.DeleteFunc(a, func(_ string, v any) bool {
		list, isList := v.([]string)
		return v == "" || isList && len(list) == 0
	})
	b, err := json.Marshal(a)
	if err != nil || a == nil {
		return "{}" // never happens: all values can be encoded
	}
	return string(b)
}

// texts reads a list of strings; entries of another type are left out.
func texts(list gjson.Result) (out []string) {
	for _, v := range list.Array() {
		if v.Type == gjson.String {
			out = append(out, v.String())
		}
	}
	return out
}

// readRequest reads the body of a chat request. It returns a *problem for an invalid
// request, or one for another model.
func readRequest(body []byte) (*request, *problem) {
	b := gjson.ParseBytes(body)
	messages := b.Get("messages").Array()
	switch model := b.Get("model").String(); {
	case !gjson.ValidBytes(body):
		return nil, &problem{http.StatusBadRequest, "invalid_json", "the request is not JSON"}
	case model != ModelID && model != "offline/"+ModelID:
		what := "there is no model " + clean(model) + " here; the only one is " + ModelID
		return nil, &problem{http.StatusNotFound, "model_not_found", what}
	case len(messages) == 0:
		return nil, &problem{http.StatusBadRequest, "invalid_request", "messages must not be empty"}
	}
	r := &request{usage: b.Get("stream_options.include_usage").Bool(), tools: map[string]bool{}}
	for _, name := range texts(b.Get("tools.#.function.name")) {
		r.tools[name] = b.Get("tool_choice").String() != "none"
	}
	for i, m := range messages {
		if wrong := r.add(m); wrong != "" {
			return nil, &problem{http.StatusBadRequest, "invalid_request", fmt.Sprintf("messages[%d]: %s", i, wrong)}
		}
	}
	return r, nil
}

// add reads one message and returns what is wrong with it.
func (r *request) add(m gjson.Result) (wrong string) {
	content := m.Get("content")
	text := content.String()
	if content.IsArray() {
		text = strings.Join(texts(content.Get("#.text")), "")
	} else if content.Type != gjson.String && content.Type != gjson.Null {
		return "content must be a string or a list of parts"
	}
	now := &exchange{} // messages before the first user message are dropped
	if n := len(r.exchanges); n > 0 {
		now = r.exchanges[n-1]
	}
	switch role := m.Get("role").String(); role {
	case "system", "developer":
		r.system += "\n\n" + text
	case "user":
		r.exchanges = append(r.exchanges, &exchange{user: text, pictures: content.Get(`#(type=="image_url")`).Exists()})
	case "assistant":
		calls := m.Get("tool_calls").Array()
		if now.answer = text; len(calls) > 0 {
			now.rounds++
		}
		for _, c := range calls {
			a := args{}
			_ = json.Unmarshal([]byte(c.Get("function.arguments").String()), &a) // damaged arguments count as none
			name := c.Get("function.name").String()
			now.calls = append(now.calls, &call{id: c.Get("id").String(), name: name, text: a.encode()})
		}
	case "tool":
		id := m.Get("tool_call_id").String()
		i := slices.IndexFunc(now.calls, func(k *call) bool { return k.id == id && k.result == nil })
		if i >= 0 {
			now.calls[i].result = readResult(text)
		}
	default:
		return fmt.Sprintf("unknown role %q", clean(role))
	}
	return ""
}

// readResult reads a tool message. Plain text is the message of a successful result.
func readResult(content string) *result {
	b := gjson.Parse(content)
	if !gjson.Valid(content) || !b.IsObject() {
		return &result{success: true, message: content}
	}
	return &result{b.Get("success").Bool(), b.Get("message").String(), b.Get("error_code").String(), b.Get("data")}
}

// window is the part of the window's context that the model needs.
type window struct {
	provider  string // the current one
	providers []string
}

// findWindow reads the last context object of the system text: JSON that begins
// a line and has "window_type"; every other field may be missing.
func findWindow(system string) (w window) {
	key := strings.LastIndex(system, `"window_type"`)
	if key < 0 {
		return w
	}
	c := gjson.Parse(system[strings.LastIndex(system[:key], "\n{")+1:])
	w.provider = c.Get("current_provider").String()
	w.providers = unique(append(texts(c.Get("providers.#.provider")), w.provider))
	return w
}

// sameProvider lists other names of a provider, tried in this order.
var sameProvider = map[string][]string{
	"gemini": {"google", "vertexai"}, "google": {"gemini", "vertexai"}, "xai": {"x-ai"}, "x-ai": {"xai"},
	"zai": {"z-ai"}, "mistral": {"mistralai"},
}

// providerNamed returns the window's name for a provider that the user named, or everything
// for all providers.
func (w *window) providerNamed(s string) (string, bool) {
	if is(s, "every-provider major-providers") {
		return everything, true
	}
	for _, want := range append([]string{s}, sameProvider[s]...) {
		i := slices.IndexFunc(w.providers, func(p string) bool { return strings.EqualFold(p, want) })
		if i >= 0 {
			return w.providers[i], true
		}
	}
	return "", false
}
