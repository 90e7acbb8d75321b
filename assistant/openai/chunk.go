package openai

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"winnow/assistant/llm"
)

// chunk is the content of one frame: a delta or a complete completion. Texts are raw: the
// characters between the quotes of a JSON string; see unescaper.
type chunk struct {
	text       string // content and any refusal, which is shown as an answer
	reasoning  string // from reasoning_content or reasoning
	details    string // from reasoning_details, usually a copy of reasoning
	finish     string
	calls      []callDelta
	usage      *llm.Usage
	failure    *failure // the endpoint's "error", unless it is null or empty
	hasChoices bool     // the frame has a member "choices"
	damaged    string   // why the calls of the answer must not run; "" if they may
}

// callDelta is a piece of a tool call.
type callDelta struct {
	index     int64
	hasIndex  bool // the endpoint sent an index
	id        string
	name      string
	arguments string // raw
}

// maxIndex is the highest accepted index of a tool call; higher indexes are ignored.
const maxIndex = 1 << 31

// readChunk parses data, with members in any order. ok is false if data is not a single
// JSON object.
func readChunk(data []byte) (ch chunk, ok bool) {
	if len(data) == 0 || data[0] != '{' || !json.Valid(data) {
		return ch, false
	}
	doc := make(object, 0, usualMembers).read(gjson.ParseBytes(data))
	choices := doc.get("choices")
	ch.hasChoices = choices.Exists()
	for position, choice := range ch.objects(choices, "choices") {
		ch.choice(choice, position)
	}
	if usage := doc.get("usage"); usage.IsObject() {
		ch.usage = &llm.Usage{
			Prompt:     count(usage.Get("prompt_tokens")),
			Completion: count(usage.Get("completion_tokens")),
			Cached:     count(usage.Get("prompt_tokens_details.cached_tokens")),
			Reasoning:  count(usage.Get("completion_tokens_details.reasoning_tokens")),
		}
	}
	ch.failure = readFailure(doc.get("error"))
	return ch, true
}

// object is the members of a JSON object. Reading them once is faster than scanning the
// object for each name, as gjson.Result.Get does.
type object []objectMember

type objectMember struct {
	name  string
	value gjson.Result
}

// usualMembers is the capacity of an object that is not used again. An object with more
// members costs an allocation.
const usualMembers = 12

// read returns the members of v in the memory of o. There are none if v is not an object.
func (o object) read(v gjson.Result) object {
	o = o[:0]
	if v.IsObject() {
		v.ForEach(func(name, value gjson.Result) bool {
			o = append(o, objectMember{name.Str, value})
			return true
		})
	}
	return o
}

// get returns the first member with a name, or with a path such as "pricing.prompt" a member
// of a member.
func (o object) get(path string) gjson.Result {
	name, below, nested := strings.Cut(path, ".")
	for _, m := range o {
		if m.name == name && nested {
			return m.value.Get(below)
		} else if m.name == name {
			return m.value
		}
	}
	return gjson.Result{}
}

// damage records why the calls of the answer must not run.
func (ch *chunk) damage(format string, args ...any) {
	if ch.damaged == "" {
		ch.damaged = fmt.Sprintf(format, args...)
	}
}

// absent reports whether v is missing, null or "": some endpoints send null or "" instead
// of omitting a member.
func absent(v gjson.Result) bool {
	return v.Type == gjson.Null || v.Type == gjson.String && v.Str == ""
}

// objects returns the objects in the list v. If v is not a list, or has other elements, the
// chunk is damaged; name is what the reason calls the list.
func (ch *chunk) objects(v gjson.Result, name string) []gjson.Result {
	notObject := func(v gjson.Result) bool { return !v.IsObject() }
	if absent(v) {
		return nil
	}
	all := v.Array()
	if !v.IsArray() || slices.ContainsFunc(all, notObject) {
		ch.damage("its %s are not a list of objects", name)
	}
	return slices.DeleteFunc(all, notObject)
}

// object reports whether v is an object. If v is neither an object nor absent, the chunk is
// damaged.
func (ch *chunk) object(v gjson.Result, name string) bool {
	if !v.IsObject() && !absent(v) {
		ch.damage("its %s is not an object", name)
	}
	return v.IsObject()
}

// readString returns v if it is a string, otherwise "". If v is neither a string nor null,
// the chunk is damaged; name is what the reason calls v.
func (ch *chunk) readString(v gjson.Result, name string) string {
	if v.Type != gjson.String && v.Type != gjson.Null {
		ch.damage("a tool call's %s has the wrong type", name)
	}
	return v.Str
}

// choice reads one choice. Only one was requested, so a further choice is not read and
// damages the chunk.
func (ch *chunk) choice(v gjson.Result, position int) {
	o := make(object, 0, usualMembers).read(v)
	index, ok := float64(position), true
	if at := o.get("index"); at.Type != gjson.Null {
		index, ok = number(at)
	}
	switch {
	case !ok:
		ch.damage("its choice index is not a number")
		return
	case index != 0:
		ch.damage("it has a second choice, which was not requested")
		return
	}
	if delta := o.get("delta"); ch.object(delta, "delta") {
		ch.message(delta)
	} else if message := o.get("message"); ch.object(message, "message") { // a complete completion; some endpoints send a message next to each delta
		ch.message(message)
		for i := range ch.calls { // these calls usually have no index
			if d := &ch.calls[i]; !d.hasIndex {
				d.index, d.hasIndex = int64(i), true
			}
		}
	}
	if reason := o.get("finish_reason").String(); reason != "null" {
		ch.finish = reason
	}
}

func (ch *chunk) message(v gjson.Result) {
	o := make(object, 0, usualMembers).read(v)
	ch.text = ch.content(o.get("content")) + rawString(o.get("refusal"))
	if ch.reasoning = rawString(o.get("reasoning_content")); ch.reasoning == "" {
		ch.reasoning = rawString(o.get("reasoning"))
	}
	for _, detail := range o.get("reasoning_details").Array() {
		ch.details += rawString(detail.Get("text")) + rawString(detail.Get("summary"))
	}
	for _, call := range ch.objects(o.get("tool_calls"), "tool calls") {
		ch.calls = append(ch.calls, ch.call(call))
	}
	if f := o.get("function_call"); ch.object(f, "function call") { // the format before tool_calls
		ch.calls = append(ch.calls, ch.function(f))
	}
}

// content reads text that is a string or a list of parts. A number or a boolean is shown as
// JSON; an object is not text.
func (ch *chunk) content(v gjson.Result) string {
	switch {
	case v.Type == gjson.Null:
		return ""
	case !v.IsObject() && !v.IsArray():
		return rawText(v)
	case v.IsObject():
		ch.damage("its content is an object instead of text")
		return ""
	}
	var all strings.Builder
	for _, part := range v.Array() {
		if part.IsObject() {
			part = part.Get("text")
		}
		all.WriteString(rawString(part))
	}
	return all.String()
}

// rawString returns what is between the quotes of a string, or "" for any other value.
func rawString(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Raw[1 : len(v.Raw)-1]
}

// rawText is like rawString, but converts other values to a string.
func rawText(v gjson.Result) string {
	if v.Type != gjson.String {
		v = gjson.ParseBytes(gjson.AppendJSONString(nil, v.Raw))
	}
	return rawString(v)
}

func (ch *chunk) call(v gjson.Result) (d callDelta) {
	o := make(object, 0, usualMembers).read(v)
	f := o.get("function")
	if absent(f) {
		f = o.get("custom")
	}
	if ch.object(f, "function") {
		d = ch.function(f)
	}
	d.id = ch.readString(o.get("id"), "id")
	if index := o.get("index"); index.Type != gjson.Null {
		n, ok := number(index)
		if !ok || n != math.Trunc(n) {
			ch.damage("the index of a tool call is not a whole number")
		} else if n >= 0 && n <= maxIndex {
			d.index, d.hasIndex = int64(n), true
		}
	}
	return d
}

// function reads the name and the arguments of a call. Some endpoints send the arguments as
// an object instead of a string.
func (ch *chunk) function(v gjson.Result) callDelta {
	o := make(object, 0, usualMembers).read(v)
	arguments := o.get("arguments")
	if arguments.Type == gjson.Null {
		arguments = o.get("input")
	}
	d := callDelta{name: ch.readString(o.get("name"), "name")}
	if arguments.IsObject() {
		d.arguments = rawText(arguments)
	} else {
		_ = ch.readString(arguments, "arguments")
		d.arguments = rawString(arguments)
	}
	return d
}

// number reads a number or a string that contains one.
func number(v gjson.Result) (n float64, ok bool) {
	switch v.Type {
	case gjson.Number:
		return v.Num, true
	case gjson.String:
		n = v.Float()
		return n, n != 0 || v.Str != "" && strings.Trim(v.Str, "0.") == ""
	default:
		return 0, false
	}
}

// maxCount limits a count from an endpoint, so that sums do not overflow.
const maxCount = 1 << 40

// count reads a count. It returns 0 unless v is a number from 1 to maxCount.
func count(v gjson.Result) int {
	n, _ := number(v)
	if !(n > 0) || n > maxCount { // also false for NaN
		return 0
	}
	return int(n)
}

// unescaper decodes text that arrives in raw pieces. An endpoint may split a surrogate pair
// between two pieces. The zero value is ready to use.
type unescaper struct{ high string } // the escape of a high surrogate, such as \ud83d

// next returns the text of raw. A surrogate without its pair becomes U+FFFD.
func (u *unescaper) next(raw string) string {
	if raw == "" || u.high == "" && strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	raw, u.high = u.high+raw, ""
	const size = len(`\ud83d`)
	if at := len(raw) - size; at >= 0 && isHighSurrogate(raw[at:]) {
		before := raw[:at]
		if slashes := len(before) - len(strings.TrimRight(before, `\`)); slashes%2 == 0 { // otherwise this backslash is itself escaped
			raw, u.high = before, raw[at:]
		}
	}
	return gjson.Parse(`"` + raw + `"`).Str
}

// isHighSurrogate reports whether s is the escape of a high surrogate.
func isHighSurrogate(s string) bool {
	return strings.HasPrefix(s, `\u`) && strings.ContainsRune("dD", rune(s[2])) && strings.ContainsRune("89abAB", rune(s[3]))
}

// flush ends the text: a high surrogate still waiting for its pair becomes U+FFFD.
func (u *unescaper) flush() string {
	if u.high == "" {
		return ""
	}
	u.high = ""
	return "\ufffd"
}
