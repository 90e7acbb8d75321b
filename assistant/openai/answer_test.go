package openai

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// decode reads a body that arrives in these pieces.
func decode(cause error, pieces ...string) ([]llm.Part, error) {
	c := &Client{}
	a := &answer{Client: c}
	var all []llm.Part
	for _, piece := range pieces {
		parts, _, err := a.write([]byte(piece))
		all = append(all, parts...)
		if err != nil {
			return all, err
		}
		if a.done {
			break
		}
	}
	parts, err := a.end(cause)
	return append(all, parts...), err
}

// describe writes parts in short: t: text, r: reasoning, ?: unreadable, end(finish calls).
func describe(parts []llm.Part, err error) string {
	var b strings.Builder
	last := ""
	for _, p := range parts {
		kind, text := "?", ""
		switch p := p.(type) {
		case llm.Text:
			kind, text = "t:", string(p.Text)
		case llm.Reasoning:
			kind, text = "r:", string(p.Text)
		case llm.End:
			kind, text = "end", fmt.Sprintf("(%s", p.Finish)
			for _, c := range p.Calls {
				text += fmt.Sprintf(" %s=%s%s", c.ID, c.Name, c.Arguments)
			}
			text += ")"
			if p.Damaged != "" {
				text += " damaged"
			}
		default:
		}
		if kind != last || kind == "?" {
			b.WriteString(" " + kind)
		}
		last = kind
		b.WriteString(text)
	}
	if err != nil {
		b.WriteString(" !" + string(llm.KindOf(err)))
	}
	return strings.TrimSpace(b.String())
}

func TestAnswer(t *testing.T) {
	text, finish, done := assistanttest.TextEvent, assistanttest.FinishEvent("stop"), assistanttest.Done
	for name, test := range map[string]struct{ body, want string }{
		"a plain stream":                       {assistanttest.Stream("a b c"), "t:a b c end(stop)"},
		"only [DONE]":                          {text("a") + done, "t:a end()"},
		"only finish_reason":                   {text("a") + finish, "t:a end(stop)"},
		"[DONE] without its new lines":         {text("a") + "data: [DONE]", "t:a end()"},
		"a cut stream":                         {text("a"), "t:a !interrupted"},
		"a cut call":                           {assistanttest.CallEvent(0, "1", "f", `{"a":1}`), "!interrupted"},
		"cut in the middle of an event":        {text("a") + `data: {"choices":[{"del`, "t:a ? !interrupted"},
		"an empty body":                        {"", "!net"},
		"only comments":                        {": hi\n\n: ho\n\n", "!unknown"},
		"no content, no finish":                {assistanttest.Delta(`{"role":"assistant"}`), "!interrupted"},
		"a byte order mark":                    {"\ufeff" + text("a") + done, "t:a end()"},
		"CRLF":                                 {strings.ReplaceAll(text("a")+text("b")+done, "\n", "\r\n"), "t:ab end()"},
		"CRLF inside an event":                 {"data: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"a\"}}]}\r\n\r\n" + done, "t:a end()"},
		"CR only":                              {strings.ReplaceAll(text("a")+text("b")+done, "\n", "\r"), "t:ab end()"},
		"comments and keep-alives":             {": x\n\n" + text("a") + ":\n:\n" + text("b") + done, "t:ab end()"},
		"empty data":                           {"data:\n\ndata: \n\n" + text("a") + "data\n\n" + text("b") + done, "t:ab end()"},
		"no space after the colon":             {strings.ReplaceAll(text("a")+done, "data: ", "data:"), "t:a end()"},
		"data over several lines":              {"data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"a\"}}]}\n\n" + done, "t:a end()"},
		"no empty line between events":         {strings.ReplaceAll(text("a")+text("b")+done, "\n\n", "\n") + "\n", "t:ab end()"},
		"an event: error":                      {text("a") + "event: error\ndata: {\"message\":\"boom\"}\n\n" + done, "t:a !unknown"},
		"an event: error that is text":         {text("a") + "event: error\ndata: rate limit\n\n" + done, "t:a !quota"},
		"an error object":                      {text("a") + `data: {"error":{"code":502,"message":"upstream"}}` + "\n\n" + done, "t:a !net"},
		"error null":                           {`data: {"error":null,"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + done, "t:a end()"},
		"error {}":                             {`data: {"error":{},"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + done, "t:a end()"},
		"overflow in the stream":               {`data: {"error":{"code":"context_length_exceeded"}}` + "\n\n", "!overflow"},
		"finish_reason error":                  {text("a") + assistanttest.FinishEvent("error"), "t:a !interrupted"},
		"one bad event":                        {text("a") + "data: {nonsense\n\n" + text("b") + finish, "t:a ? t:b end(stop) damaged"},
		"usage with empty choices":             {text("a") + finish + assistanttest.UsageEvent(1, 2), "t:a end(stop)"},
		"usage without choices":                {text("a") + finish + `data: {"usage":{"prompt_tokens":"1"}}` + "\n\n", "t:a end(stop)"},
		"ids that change":                      {strings.Replace(text("a"), "chatcmpl-1", "x", 1) + text("b") + done, "t:ab end()"},
		"choices of other kinds":               {`data: {"choices":null}` + "\n\n" + `data: {"choices":{}}` + "\n\n" + `data: {"choices":[null,7,{"delta":[]}]}` + "\n\n" + text("a") + done, "t:a end() damaged"},
		"odd fields":                           {`data: {"choices":[{"index":"0","delta":{"content":7,"x":[{}]}}],"created":{}}` + "\n\n" + text("a") + done, "t:7a end()"},
		"a second choice":                      {`data: {"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"stop"},{"index":0,"delta":{"content":"a"}}]}` + "\n\n", "t:a !interrupted"},
		"empty finish_reason":                  {`data: {"choices":[{"delta":{"content":"a"},"finish_reason":""}]}` + "\n\n", "t:a !interrupted"},
		"content in parts":                     {`data: {"choices":[{"delta":{"content":[{"type":"text","text":"a"},"b",{"type":"image"}]}}]}` + "\n\n" + done, "t:ab end()"},
		"a refusal":                            {assistanttest.Delta(`{"refusal":"I cannot"}`) + finish, "t:I cannot end(stop)"},
		"reasoning_content":                    {assistanttest.ReasoningEvent("reasoning_content", "h") + text("a") + done, "r:h t:a end()"},
		"reasoning":                            {assistanttest.ReasoningEvent("reasoning", "h") + text("a") + done, "r:h t:a end()"},
		"both at once":                         {assistanttest.Delta(`{"reasoning":"h","reasoning_content":"h"}`) + text("a") + done, "r:h t:a end()"},
		"reasoning_details alone":              {assistanttest.Delta(`{"reasoning_details":[{"type":"reasoning.text","text":"h"},{"type":"reasoning.summary","summary":"m"}]}`) + done, "r:hm end()"},
		"reasoning_details twice":              {assistanttest.Delta(`{"reasoning":"h","reasoning_details":[{"type":"reasoning.text","text":"h"}]}`) + assistanttest.Delta(`{"reasoning_details":[{"text":"h"}]}`) + done, "r:h end()"},
		"<think>":                              {text("<think>\nh</think>\n\na") + done, "r:h t:a end()"},
		"a split <think>":                      {text("<th") + text("ink>h</thi") + text("nk>") + text("\n") + text("a") + done, "r:h t:a end()"},
		"an empty <think>":                     {text("<think>\n\n</think>\n\na") + done, "t:a end()"},
		"<think> in prose":                     {text("use `<think>` or x<think>") + done, "t:use `<think>` or x<think> end()"},
		"<think> after text":                   {text("a ") + text("<think>h</think> b") + done, "t:a  r:h t:b end()"},
		"<think> that never ends":              {text("<think>h</th") + done, "r:h</th end()"},
		"half a tag at the end":                {text("a <thi") + done, "t:a <thi end()"},
		"escape sequences":                     {text("a\x1b[31mb\x1b]0;x\x07c") + assistanttest.ReasoningEvent("reasoning", "d\u202ee\u009b1mf") + done, "t:abc r:def end()"},
		"an escape cut in two":                 {text("a\x1b[") + text("31mb") + done, "t:ab end()"},
		"invalid UTF-8":                        {`data: {"choices":[{"delta":{"content":"a` + "\xff" + `b"}}]}` + "\n\n" + done, "t:a\ufffdb end()"},
		"a character in two events":            {`data: {"choices":[{"delta":{"content":"a` + "\xc3" + `"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"` + "\xa4" + `"}}]}` + "\n\n" + done, "t:aä end()"},
		"a surrogate pair":                     {assistanttest.Delta(`{"content":"\ud83d\ude00"}`) + done, "t:😀 end()"},
		"a surrogate pair in two events":       {assistanttest.Delta(`{"content":"a\ud83d"}`) + assistanttest.Delta(`{"content":"\ude00b"}`) + done, "t:a😀b end()"},
		"half a surrogate pair":                {assistanttest.Delta(`{"content":"a\ud83d"}`) + text("b") + assistanttest.Delta(`{"content":"\ude00"}`) + done, "t:a\ufffdb\ufffd end()"},
		"half a surrogate pair at the end":     {assistanttest.Delta(`{"content":"a\ud83d"}`) + done, "t:a\ufffd end()"},
		"a whole completion":                   {assistanttest.Completion("a b"), "t:a b end(stop)"},
		"a whole completion without its end":   {`{"choices":[{"message":{"content":"a"}}]}`, "t:a !interrupted"},
		"a whole completion with calls":        {`{"choices":[{"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"function":{"name":"g"}}]}}]}`, `end(tool_calls call_1=f{"a":1} call_2=g)`},
		"a message beside the delta":           {`data: {"choices":[{"delta":{"content":"a"},"message":{"content":"aa"},"finish_reason":"stop"}]}` + "\n\n", "t:a end(stop)"},
		"NDJSON":                               {strings.ReplaceAll(strings.ReplaceAll(text("a")+text("b")+finish, "data: ", ""), "\n\n", "\n"), "t:ab end(stop)"},
		"NDJSON of another wire":               {`{"message":{"content":"a"},"done":false}` + "\n" + `{"done":true}` + "\n", "!unknown"},
		"a JSON array":                         {`[{"choices":[{"delta":{"content":"a"}}]}]`, "? !unknown"},
		"a JSON error":                         {`{"error":{"message":"no credit","code":"insufficient_quota"}}`, "!quota"},
		"a web page":                           {"<!DOCTYPE html><title>Hi</title>", "!unknown"},
		"max_tokens means length":              {text("a") + assistanttest.FinishEvent("MAX_TOKENS"), "t:a end(length)"},
		"text after the finish":                {text("a") + finish + text("b") + done, "t:ab end(stop) damaged"},
		"nothing is read after [DONE]":         {text("a") + done + text("b"), "t:a end()"},
		"calls without a finish_reason":        {assistanttest.CallEvent(0, "1", "f", "{}") + done, "end( 1=f{})"},
		"an empty event among the calls":       {assistanttest.CallEvent(0, "1", "f", "{}") + "data:\n\n" + finish, "end(stop 1=f{}) damaged"},
		"an empty event before the calls":      {"data:\n\n" + assistanttest.CallEvent(0, "1", "f", "{}") + finish, "end(stop 1=f{})"},
		"nothing but [DONE]":                   {": hi\n\n" + done, "!unknown"},
		"only the role and [DONE]":             {assistanttest.Delta(`{"role":"assistant","content":""}`) + done, "!unknown"},
		"a number as content":                  {assistanttest.Delta(`{"content":42}`) + finish, "t:42 end(stop)"},
		"an object as content":                 {assistanttest.Delta(`{"content":{"a":1}}`) + finish, "end(stop) damaged"},
		"calls that are interleaved":           {assistanttest.CallEvent(0, "1", "f", "{") + assistanttest.CallEvent(1, "2", "g", "[") + assistanttest.CallEvent(0, "", "", "}") + assistanttest.CallEvent(1, "", "", "]") + finish, "end(stop 1=f{} 2=g[])"},
		"a name with controls":                 {assistanttest.CallEvent(0, "1\x1b[2J\n", "f\x00g", "{}") + finish, "end(stop 1=fg{})"},
		"arguments are kept as they came":      {assistanttest.CallEvent(0, "1", "f", "{\"a\":\"\u202e\x7f\"}") + finish, "end(stop 1=f{\"a\":\"\u202e\x7f\"})"},
		"the form before tool_calls":           {assistanttest.Delta(`{"function_call":{"name":"f","arguments":"{"}}`) + assistanttest.Delta(`{"function_call":{"arguments":"}"}}`) + assistanttest.FinishEvent("function_call"), "end(tool_calls call_1=f{})"},
		"deep nesting is refused, not crashed": {"data: " + strings.Repeat("[", 1<<20) + "\n\n" + text("a") + done, "? t:a end() damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(decode(nil, test.body)); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if got := describe(decode(nil, strings.Split(test.body, "")...)); len(test.body) < 1<<16 && got != test.want {
				t.Errorf("byte by byte: got %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestBrokenConnection(t *testing.T) {
	lost := errors.New("reset")
	for name, test := range map[string]struct{ body, want string }{
		"before anything":         {"", "!net"},
		"in the middle":           {assistanttest.TextEvent("a"), "t:a !interrupted"},
		"after the finish_reason": {assistanttest.TextEvent("a") + assistanttest.FinishEvent("stop"), "t:a end(stop)"},
		"a finish not received":   {assistanttest.TextEvent("a") + "data: [DONE]", "t:a !interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := describe(decode(lost, test.body)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	parts, err := decode(nil, assistanttest.Stream("a")+`data: {}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, end := assistanttest.JoinParts(parts); *end.Usage != (llm.Usage{Prompt: 1, Completion: 1}) {
		t.Errorf("usage = %+v", *end.Usage)
	}
	parts, _ = decode(nil, assistanttest.FinishEvent("stop")+`data: {"usage":{"prompt_tokens":10,"completion_tokens":-3,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1e300}}}`+"\n\n")
	if _, _, end := assistanttest.JoinParts(parts); *end.Usage != (llm.Usage{Prompt: 10, Cached: 4}) {
		t.Errorf("odd usage = %+v", *end.Usage)
	}
}

// TestLimits sends more than an answer may hold, without keeping it in the test.
func TestLimits(t *testing.T) {
	feed := func(piece string, n int) error {
		a := &answer{Client: &Client{}}
		for range n {
			if _, _, err := a.write([]byte(piece)); err != nil {
				return err
			}
		}
		return nil
	}
	megabyte := strings.Repeat("x", 1<<20)
	for name, test := range map[string]struct {
		piece string
		fits  int // pieces that are still accepted
		want  string
	}{
		"an answer":        {assistanttest.TextEvent(megabyte), 16, "16 MiB"},
		"arguments":        {assistanttest.CallEvent(0, "", "", megabyte), 15, "16 MiB"},
		"an event":         {"data: " + megabyte, 31, "32 MiB"},
		"lines of data":    {"data: " + megabyte + "\n", 31, "32 MiB"},
		"a JSON value":     {`{"x":"` + megabyte, 31, "32 MiB"},
		"unreadable":       {"data: {\n\n", maxUnreadable, "could not be read"},
		"calls are costly": {assistanttest.CallEvent(0, "", "f", "{}"), 60_000, "16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := feed(test.piece, test.fits); err != nil {
				t.Errorf("%d pieces: %v", test.fits, err)
			}
			if err := feed(test.piece, test.fits*2+2); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%d pieces: error %v, want one about %q", test.fits*2+2, err, test.want)
			}
		})
	}
}

// everything is a stream with all that makes chunking hard.
var everything = "\ufeff: hello\r\n\r\n" + assistanttest.TextEvent("<think>a 😀 </think>\n\ntext <") + "data: {bad\r\r" +
	assistanttest.Delta(`{"content":"thi\ud83d"}`) + assistanttest.Delta(`{"content":"\ude00 \u001b[1m é"}`) +
	assistanttest.CallEvent(1, "b", "g", `{"x":[1,2]}`) + assistanttest.CallEvent(0, "a", "f", `{}`) +
	"data: {\"choices\":[{\"delta\":\r\ndata: {\"reasoning\":\"ü\"}}]}\n\n" + assistanttest.FinishEvent("tool_calls") +
	assistanttest.UsageEvent(1, 2) + assistanttest.Done

func TestChunkingDoesNotMatter(t *testing.T) {
	want, err := decode(nil, everything)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(everything) {
		got, err := decode(nil, everything[:i], everything[i:])
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("cut at %d:\n%v %v\nwant\n%v", i, describe(got, nil), err, describe(want, nil))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var pieces []string
		for rest := everything; rest != ""; {
			n := min(1+r.IntN(40), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		if got, err := decode(nil, pieces...); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %v %v", pieces, describe(got, nil), err)
		}
	}
}

func FuzzSSE(f *testing.F) {
	f.Add([]byte(everything), []byte{3, 9, 1})
	f.Add([]byte(assistanttest.Completion("x")), []byte{1})
	f.Add([]byte("data: {\"choices\":[{\"finish_reason\":\"stop\"}]}"), []byte{200})
	f.Add([]byte("<html><title>x"), []byte{2})
	f.Add([]byte("\xef\xbb{\"error\":[]}"), []byte{})
	f.Add([]byte(call+assistanttest.FinishEvent("STOP")+assistanttest.Done), []byte{7})
	f.Add([]byte(wholeCall+assistanttest.FinishEvent("SAFETY")), []byte{1, 1})
	f.Fuzz(func(t *testing.T, body, cuts []byte) {
		want, wantErr := decode(nil, string(body))
		var pieces []string
		rest := string(body)
		for _, n := range cuts {
			k := min(int(n), len(rest))
			pieces, rest = append(pieces, rest[:k]), rest[k:]
		}
		got, err := decode(nil, append(pieces, rest)...)
		if describe(got, err) != describe(want, wantErr) || !reflect.DeepEqual(got, want) {
			t.Fatalf("cut: %s\nwhole: %s", describe(got, err), describe(want, wantErr))
		}
		checkPromises(t, body, got, err)
		event := wronglyTyped[len(body)%len(wronglyTyped)]
		if calls := runnable(event + string(body)); len(calls) > 0 {
			t.Errorf("after %s runs %+v", event, calls)
		}
	})
}

// checkPromises holds the parts of any body against the promises.
func checkPromises(t *testing.T, body []byte, parts []llm.Part, err error) {
	t.Helper()
	text, reasoning, end := assistanttest.JoinParts(parts)
	if !utf8.ValidString(text) || !utf8.ValidString(reasoning) || strings.ContainsAny(text+reasoning, "\x1b\x00\x7f\u009b\u202e") {
		t.Errorf("not clean: %q %q", text, reasoning)
	}
	if (end == nil) == (err == nil) {
		t.Errorf("end %v together with error %v", end, err)
	}
	if end == nil {
		return
	}
	if !strings.Contains(string(body), "[DONE]") && end.Finish == "" {
		t.Error("complete without finish_reason and [DONE]")
	}
	if end.CallsRefused() == "" && end.Finish != llm.FinishStop && end.Finish != llm.FinishCalls {
		t.Errorf("calls run after the finish_reason %q", end.Finish)
	}
	ids := map[string]bool{}
	for _, c := range end.Calls {
		if ids[c.ID] || c.ID == "" || !utf8.ValidString(c.ID+c.Name+c.Arguments) {
			t.Errorf("bad call %+v", c)
		}
		ids[c.ID] = true
	}
}
