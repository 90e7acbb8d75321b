package offline

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"winnow/assistant/chatapi"
)

// request contains the parts of the body of POST /v1/chat/completions that are used.
type request struct {
	window
	tools  map[string]bool // the names of the offered tools
	system string
	past   []*exchange // oldest first
	now    *exchange   // the exchange to answer
}

// exchange is one user message and the calls made for it.
type exchange struct {
	user     string
	answer   string // the text of the last response
	pictures bool   // the message contains pictures
	calls    []*call
}

// call is a tool call of the conversation with its result.
type call struct {
	id, name, text string  // text: the arguments as args.encode writes them
	result         *result // nil: no result in the request
}

// result is a tool result.
type result struct {
	success bool
	message string // what was done, or why it failed
	code    string
	data    gjson.Result
}

// args are the arguments of a call.
type args map[string]any

// encode returns the arguments as JSON, sorted by name. It leaves out empty optional arguments.
func (a args) encode() string {
	maps.DeleteFunc(a, func(name string, v any) bool {
		list, isList := v.([]string)
		return v == "" && name != "reasoning" || isList && len(list) == 0
	})
	return chatapi.Encode(map[string]any(a))
}

// texts reads a list of strings.
func texts(list gjson.Result) (out []string) {
	for _, v := range list.Array() {
		out = append(out, v.String())
	}
	return out
}

// readRequest reads the body of a chat request. It returns a problem if the request is
// invalid or for another model.
func readRequest(body []byte) (*request, *chatapi.Problem) {
	in, refused := chatapi.Read(body)
	switch {
	case refused != nil:
		return nil, refused
	case in.Model != ModelID && in.Model != "offline/"+ModelID:
		what := "there is no model " + clean(in.Model) + " here; the only one is " + ModelID
		return nil, &chatapi.Problem{Status: http.StatusNotFound, Code: "model_not_found", Param: "model", Message: what}
	}
	r := &request{now: &exchange{}, tools: map[string]bool{}}
	for _, tool := range in.Tools {
		r.tools[tool.Function.Name] = true
	}
	for _, m := range in.Messages {
		r.add(m)
	}
	r.window = findWindow(r.system)
	return r, nil
}

// add adds one message. Messages of the assistant and of tools before the user's first
// message are dropped.
func (r *request) add(m chatapi.Message) {
	switch m.Role {
	case "user":
		if r.now.user != "" {
			r.past = append(r.past, r.now)
		}
		r.now = &exchange{user: m.Content, pictures: m.Pictures}
	case "assistant":
		r.now.answer = m.Content
		for _, c := range m.ToolCalls {
			a := args{}
			_ = json.Unmarshal([]byte(c.Function.Arguments), &a) // damaged arguments count as none
			r.now.calls = append(r.now.calls, &call{id: c.ID, name: c.Function.Name, text: a.encode()})
		}
	case "tool":
		i := slices.IndexFunc(r.now.calls, func(k *call) bool { return k.id == m.ToolCallID && k.result == nil })
		if b := gjson.Parse(m.Content); i >= 0 {
			r.now.calls[i].result = &result{b.Get("success").Bool(), b.Get("message").String(), b.Get("error_code").String(), b.Get("data")}
		}
	default:
		r.system += "\n\n" + m.Content
	}
}

// window is the part of the window's context that the model needs.
type window struct {
	provider  string // the current provider
	providers []string
	slots     map[string]string // values from the context for the slots of the examples
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
	free := texts(c.Get("models.without_rule")) // these are shown
	kinds := slices.DeleteFunc(strings.Fields(grammar()["kinds"][0]), func(kind string) bool {
		return !slices.ContainsFunc(free, regexp.MustCompile(`(?i)(?:^|[^a-z])`+kind+`(?:$|[^a-z])`).MatchString)
	})
	first := func(of []string) string { return strings.Join(of[:min(len(of), 1)], "") }
	w.slots = map[string]string{"$provider": w.provider, "$model": first(free), "$rule": c.Get("rules.ignore.0.pattern").String(), "$kind": first(kinds)}
	return w
}

// providerNamed returns the name by which the tools know s, the user's name for a provider or a
// group of providers. Each line of the grammar's providers lists the names of one provider.
func (w *window) providerNamed(s string) (string, bool) {
	if several, ok := map[string]string{"every-provider": everything, "major-providers": "major"}[s]; ok {
		return several, true
	}
	names := []string{s}
	for _, line := range grammar()["providers"] {
		if is(s, line) {
			names = append(names, strings.Fields(line)...)
		}
	}
	for _, want := range names {
		if i := slices.IndexFunc(w.providers, func(p string) bool { return strings.EqualFold(p, want) }); i >= 0 {
			return w.providers[i], true
		}
	}
	return "", false
}
