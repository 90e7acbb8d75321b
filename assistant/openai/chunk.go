package openai

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/tidwall/gjson"

	"winnow/assistant"
)

// chunk is what one frame says, a delta or a whole completion alike. Texts are
// as they stand between the quotes of a JSON string; see pieces.
type chunk struct {
	text      string // content, and a refusal, which is shown as an answer
	reasoning string // the first of reasoning_content and reasoning that says something
	details   string // reasoning_details: mostly a copy of reasoning
	finish    string
	calls     []callDelta
	usage     *assistant.Usage
	failure   *failure // the endpoint's "error", when it is more than null
	choices   bool     // whether there was a "choices" at all
	damaged   string   // what about it cannot be trusted; "" for nothing
}

// callDelta is a piece of a tool call.
type callDelta struct {
	index     int64
	indexed   bool // the endpoint gave a usable index
	id        string
	name      string
	arguments string // as it stands between the quotes of a JSON string
}

// maxIndex is the highest tool index that is believed; any other counts as none.
const maxIndex = 1 << 31

// readChunk reads data, whatever the order of its members. It reports false
// when that is not one JSON object, or nests deeper than encoding/json goes.
func readChunk(data []byte) (chunk, bool) {
	var ch chunk
	if len(data) == 0 || data[0] != '{' || !json.Valid(data) {
		return ch, false
	}
	doc := gjson.ParseBytes(data)
	choices := doc.Get("choices")
	ch.choices = choices.Exists()
	if choices.IsArray() {
		position := 0
		choices.ForEach(func(_, choice gjson.Result) bool {
			ch.choice(choice, position)
			position++
			return true
		})
	}
	if usage := doc.Get("usage"); usage.IsObject() {
		ch.usage = &assistant.Usage{
			Prompt:     counted(usage.Get("prompt_tokens")),
			Completion: counted(usage.Get("completion_tokens")),
			Cached:     counted(usage.Get("prompt_tokens_details.cached_tokens")),
			Reasoning:  counted(usage.Get("completion_tokens_details.reasoning_tokens")),
		}
	}
	ch.failure = readFailure(doc.Get("error"))
	return ch, true
}

// choice reads one choice. Only one was asked for: what another says is not used.
func (ch *chunk) choice(v gjson.Result, position int) {
	if !v.IsObject() {
		return
	}
	index := float64(position)
	if n, ok := number(v.Get("index")); ok {
		index = n
	}
	if index != 0 {
		ch.damaged = "it has a second choice, which was not asked for"
		return
	}
	if delta := v.Get("delta"); delta.IsObject() {
		ch.message(delta)
	} else { // a whole completion; some send it beside each delta, too
		ch.message(v.Get("message"))
		for i := range ch.calls {
			if d := &ch.calls[i]; !d.indexed { // calls of a whole message have no index
				d.index, d.indexed = int64(i), true
			}
		}
	}
	if reason := v.Get("finish_reason").String(); reason != "null" {
		ch.finish = reason
	}
}

// message reads a delta or a message.
func (ch *chunk) message(v gjson.Result) {
	ch.text = ch.content(v.Get("content")) + rawString(v.Get("refusal"))
	if ch.reasoning = rawString(v.Get("reasoning_content")); ch.reasoning == "" {
		ch.reasoning = rawString(v.Get("reasoning"))
	}
	for _, detail := range v.Get("reasoning_details").Array() {
		ch.details += rawString(detail.Get("text")) + rawString(detail.Get("summary"))
	}
	if calls := v.Get("tool_calls"); calls.IsArray() {
		calls.ForEach(func(_, call gjson.Result) bool {
			ch.calls = append(ch.calls, readCall(call))
			return true
		})
	}
	if f := v.Get("function_call"); f.IsObject() { // the form before tool_calls
		ch.calls = append(ch.calls, readFunction(f))
	}
}

// content reads text that is a string or a list of parts. A number or a
// boolean is shown as it stands; anything else is not text.
func (ch *chunk) content(v gjson.Result) string {
	switch {
	case v.Type == gjson.Null:
		return ""
	case v.Type != gjson.JSON:
		return rawText(v)
	case !v.IsArray():
		ch.damaged = "its content is an object and no text"
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

// rawString returns what stands between the quotes of a string, "" for any
// other value.
func rawString(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Raw[1 : len(v.Raw)-1]
}

// rawText is rawString that writes any other value as a string.
func rawText(v gjson.Result) string {
	if v.Type == gjson.String {
		return rawString(v)
	}
	return rawString(gjson.ParseBytes(gjson.AppendJSONString(nil, v.Raw)))
}

func readCall(v gjson.Result) callDelta {
	f := v.Get("function")
	if !f.Exists() {
		f = v.Get("custom")
	}
	d := readFunction(f)
	d.id = v.Get("id").Str
	if n, ok := number(v.Get("index")); ok && n >= 0 && n <= maxIndex && n == math.Trunc(n) {
		d.index, d.indexed = int64(n), true
	}
	return d
}

// readFunction reads a name and its arguments, which some send as an object
// instead of its text.
func readFunction(v gjson.Result) callDelta {
	arguments := v.Get("arguments")
	if !arguments.Exists() {
		arguments = v.Get("input")
	}
	d := callDelta{name: v.Get("name").Str}
	if arguments.Type == gjson.String || arguments.IsObject() {
		d.arguments = rawText(arguments)
	}
	return d
}

// number reads a number, also one that is written as a string.
func number(v gjson.Result) (n float64, ok bool) {
	switch v.Type {
	case gjson.Number:
		return v.Num, true
	case gjson.String:
		n = v.Float()
		return n, n != 0 || strings.Trim(v.Str, "0.") == "" && v.Str != ""
	default:
		return 0, false
	}
}

// maxCount bounds what an endpoint may claim to have counted, so that sums of
// many claims stay numbers.
const maxCount = 1 << 40

// counted reads a number that counts something: 0 for anything else.
func counted(v gjson.Result) int {
	n, _ := number(v)
	if !(n > 0) || n > maxCount {
		return 0
	}
	return int(n)
}

// pieces joins the pieces of one text. An endpoint may cut a character in two,
// each half of a surrogate pair escaped in a chunk of its own. The zero value
// is ready to use.
type pieces struct{ half string } // the escape of a first half, waiting for the second

// halfLen is the length of an escape such as \ud83d.
const halfLen = 6

// next returns what raw, as it stands in a JSON string, means. A half without
// its other half becomes U+FFFD.
func (p *pieces) next(raw string) string {
	if raw == "" || p.half == "" && strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	raw, p.half = p.half+raw, ""
	if at := len(raw) - halfLen; at >= 0 && firstHalf(raw[at:]) {
		slashes := len(raw[:at]) - len(strings.TrimRight(raw[:at], `\`))
		if slashes%2 == 0 { // else the last one escapes the backslash of this
			raw, p.half = raw[:at], raw[at:]
		}
	}
	return gjson.Parse(`"` + raw + `"`).Str
}

// firstHalf reports whether s is the escape of the first half of a pair.
func firstHalf(s string) bool {
	return strings.HasPrefix(s, `\u`) && strings.ContainsRune("dD", rune(s[2])) && strings.ContainsRune("89abAB", rune(s[3]))
}

// flush gives up on a second half.
func (p *pieces) flush() string {
	if p.half == "" {
		return ""
	}
	p.half = ""
	return "\ufffd"
}
