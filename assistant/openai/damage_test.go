package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// call is a whole call of a tool, its arguments in two pieces.
var call = assistanttest.CallEvent(0, "1", "add", `{"pattern":"gpt-4`) + assistanttest.CallEvent(0, "", "", `o*"}`)

// wholeCall is a call in one event.
var wholeCall = assistanttest.CallEvent(0, "1", "add", `{"pattern":"gpt-4o*"}`)

func TestADamagedAnswerIsMarked(t *testing.T) {
	finish, done := assistanttest.FinishEvent("tool_calls"), assistanttest.Done
	choice := func(first, second string) string {
		return `data: {"choices":[{"delta":` + first + `},{"delta":` + second + `}]}` + "\n\n"
	}
	foreign := `{"tool_calls":[{"index":0,"id":"9","function":{"name":"clear","arguments":"{}"}}]}`
	for name, test := range map[string]struct{ body, finish, calls string }{
		"an unreadable event in a call": {
			strings.Replace(call, "}\n\n", "}\n\ndata: {\"choices\":[{\"delta\"\n\n", 1) + finish + done, "tool_calls", "add",
		},
		"half a line": {
			strings.Replace(call, "}\n\n", "}\n\nta: {\"choices\":[]}\n\n", 1) + finish + done, "tool_calls", "add",
		},
		"a second finish_reason":        {call + assistanttest.FinishEvent("length") + finish + done, "length", "add"},
		"a call after the finish":       {assistanttest.TextEvent("a") + assistanttest.FinishEvent("stop") + call + done, "stop", "add"},
		"text after the finish":         {call + finish + assistanttest.TextEvent("a") + done, "tool_calls", "add"},
		"a choice 1, its index first":   {call + `data: {"choices":[{"index":1,"delta":` + foreign + `}]}` + "\n\n" + finish + done, "tool_calls", "add"},
		"a choice 1, its index last":    {call + `data: {"choices":[{"delta":` + foreign + `,"index":1}]}` + "\n\n" + finish + done, "tool_calls", "add"},
		"a choice of a very high index": {call + `data: {"choices":[{"delta":` + foreign + `,"index":4294967296}]}` + "\n\n" + finish + done, "tool_calls", "add"},
		"two choices without an index":  {choice(`{"content":"a"}`, foreign) + finish + done, "tool_calls", ""},
		"a call that comes twice":       {strings.Repeat(wholeCall, 2) + finish + done, "tool_calls", "add add"},
		"calls that are missing":        {assistanttest.TextEvent("I add it.") + finish + done, "tool_calls", ""},
	} {
		t.Run(name, func(t *testing.T) {
			parts, err := decode(nil, test.body)
			_, _, end := assistanttest.JoinParts(parts)
			if err != nil || end == nil || end.Damaged == "" || end.Finish != test.finish {
				t.Fatalf("end %+v, %v; want one that is damaged and ends by %s", end, err, test.finish)
			}
			var calls []string
			for _, c := range end.Calls {
				calls = append(calls, c.Name)
			}
			if got := strings.Join(calls, " "); got != test.calls {
				t.Errorf("calls %q, want %q", got, test.calls)
			}
		})
	}
}

// recorded are streams as endpoints send them, event by event. Arguments come
// in one piece, as most endpoints send them, or in pieces of a token.
var recorded = map[string][]string{
	"text": {
		assistanttest.Delta(`{"role":"assistant","content":""}`), assistanttest.TextEvent("Five models"),
		assistanttest.TextEvent(" are hidden."), assistanttest.FinishEvent("stop"), assistanttest.UsageEvent(9, 6), assistanttest.Done,
	},
	"calls in one piece": {
		assistanttest.TextEvent("I add two rules."), assistanttest.CallEvent(0, "a", "add", `{"pattern":"*-preview"}`),
		assistanttest.CallEvent(1, "b", "add", `{"pattern":"*-mini"}`), assistanttest.FinishEvent("tool_calls"), assistanttest.Done,
	},
	"a call in pieces": {
		assistanttest.CallEvent(0, "a", "add", ""), assistanttest.CallEvent(0, "", "", `{"`), assistanttest.CallEvent(0, "", "", `pattern`),
		assistanttest.CallEvent(0, "", "", `":"`), assistanttest.CallEvent(0, "", "", `gpt`), assistanttest.CallEvent(0, "", "", `-4`),
		assistanttest.CallEvent(0, "", "", `*"}`), assistanttest.FinishEvent("tool_calls"), assistanttest.Done,
	},
	"cut at its length": {
		assistanttest.CallEvent(0, "a", "add", `{"pattern":"*"}`), assistanttest.FinishEvent("length"), assistanttest.Done,
	},
}

// runnable returns the calls of a body that would run: none of an answer that
// failed, is damaged, or has no known end.
func runnable(body string) []llm.Call {
	parts, err := decode(nil, body)
	_, _, end := assistanttest.JoinParts(parts)
	if err != nil || end == nil || end.CallsRefused() != "" {
		return nil
	}
	return slices.DeleteFunc(end.Calls, func(c llm.Call) bool { return !json.Valid([]byte(c.Arguments)) })
}

func TestRecordedStreamsNeverRunAnotherCall(t *testing.T) {
	for name, events := range recorded {
		_, whole, _ := spoken(decode(nil, strings.Join(events, "")))
		check := func(what string, i int, changed ...string) {
			t.Helper()
			all := slices.Concat(events[:i], changed, events[i+1:])
			for _, c := range runnable(strings.Join(all, "")) {
				if !slices.ContainsFunc(whole.Calls, func(w llm.Call) bool { return w.Name == c.Name && w.Arguments == c.Arguments }) {
					t.Errorf("%s: event %d %s: runs %+v", name, i, what, c)
				}
			}
		}
		for i, event := range events {
			// Events are not numbered: a piece in the middle of a call's arguments
			// that is lost or doubled whole leaves no trace but invalid JSON.
			if !strings.Contains(event, `"arguments"`) || strings.Contains(event, `"name"`) {
				check("dropped", i)
				check("doubled", i, event, event)
			}
			for n := 1; n < len(event)-2; n++ {
				check(fmt.Sprintf("cut after byte %d", n), i, event[:n]+"\n\n")
				check(fmt.Sprintf("cut before byte %d", n), i, event[n:])
				if text, end, _ := spoken(decode(nil, strings.Join(slices.Concat(events[:i], []string{event[:n]}), ""))); end != nil && i < len(events)-3 {
					t.Errorf("%s: lost from byte %d of event %d on, it is whole: %q", name, n, i, text)
				}
			}
			if data, found := strings.CutPrefix(event, "data: {"); found {
				check("with its members in reverse", i, "data: "+reversed(t, "{"+data)+"\n\n")
			}
		}
	}
}

func TestEqualPiecesOfArgumentsInARowAreLegal(t *testing.T) {
	piece := func(text string) string { return assistanttest.CallEvent(0, "", "", text) }
	body := assistanttest.CallEvent(0, "a", "add", `{"n":1`) + piece("0") + piece("0") + piece("0") + piece("}") + assistanttest.FinishEvent("tool_calls")
	if calls := runnable(body); len(calls) != 1 || calls[0].Arguments != `{"n":1000}` {
		t.Errorf("runs %+v, want add with 1000", calls)
	}
}

// Calls run only after an end that is known to come after whole calls.
func TestCallsRunOnlyAfterAKnownFinish(t *testing.T) {
	for _, reason := range []string{"stop", "tool_calls", "function_call", "STOP", "tool_use", "TOOL_CALL", "end_turn", "eos", "stop_sequence", "COMPLETE"} {
		if calls := runnable(call + assistanttest.FinishEvent(reason) + assistanttest.Done); len(calls) != 1 {
			t.Errorf("%s: runs %+v, want one call", reason, calls)
		}
	}
	events := []string{assistanttest.Done}
	for _, reason := range []string{"length", "SAFETY", "RECITATION", "content_filter", "incomplete", "MALFORMED_FUNCTION_CALL", "abort", "null", "unheard of", "stopped", strings.Repeat("x", 1<<12)} {
		events = append(events, assistanttest.FinishEvent(reason))
	}
	for _, reason := range []string{`["stop"]`, `{"stop":1}`, "7", "true"} {
		events = append(events, `data: {"choices":[{"index":0,"delta":{},"finish_reason":`+reason+`}]}`+"\n\n")
	}
	for _, event := range events {
		parts, err := decode(nil, call+event)
		_, _, end := assistanttest.JoinParts(parts)
		if calls := runnable(call + event); len(calls) > 0 {
			t.Errorf("%s: runs %+v", event, calls)
		}
		if err == nil && (end.CallsRefused() == "" || len(end.CallsRefused()) > 200) {
			t.Errorf("%s: refused because %q", event, end.CallsRefused())
		}
	}
}

// wrongValues are of a type that no endpoint means.
var wrongValues = []string{`["gemini"]`, `[]`, `7`, `true`, `[{"a":1}]`, `[1]`}

// wronglyTyped are events in which a part of a call or its choice has a wrong type.
var wronglyTyped = func() (events []string) {
	const whole = `{"choices":[{"index":CHOICE,"delta":{"tool_calls":[{"index":INDEX,"id":ID,"function":{"name":NAME,"arguments":ARGUMENTS}}]}}]}`
	right := map[string]string{"CHOICE": "0", "INDEX": "0", "ID": `"1"`, "NAME": `"add"`, "ARGUMENTS": `"{}"`}
	for _, part := range slices.Sorted(maps.Keys(right)) {
		for _, wrong := range append(wrongValues, `"one"`, `{"a":"b"}`) {
			fits := map[string][]string{"INDEX": {"7"}, "ID": {`"one"`}, "NAME": {`"one"`}, "ARGUMENTS": {`"one"`, `{"a":"b"}`}}
			if slices.Contains(fits[part], wrong) {
				continue
			}
			text := strings.ReplaceAll(whole, part, wrong)
			for name, value := range right {
				text = strings.ReplaceAll(text, name, value)
			}
			events = append(events, "data: "+text+"\n\n")
		}
	}
	for _, part := range []string{
		`"choices":WRONG`, `"choices":[WRONG]`, `"choices":[{"delta":WRONG}]`, `"choices":[{"delta":{"tool_calls":WRONG}}]`,
		`"choices":[{"delta":{"tool_calls":[WRONG]}}]`, `"choices":[{"delta":{"tool_calls":[{"index":0,"function":WRONG}]}}]`, `"choices":[{"delta":{"function_call":WRONG}}]`,
	} {
		for _, wrong := range []string{`["gemini"]`, `7`, `true`, `[1]`, `"one"`} {
			events = append(events, "data: {"+strings.Replace(part, "WRONG", wrong, 1)+"}\n\n")
		}
	}
	return events
}()

// A wrong type is damage wherever it comes: before, among or after the calls of an answer.
func TestAWrongTypeRunsNothing(t *testing.T) {
	end := assistanttest.FinishEvent("tool_calls") + assistanttest.Done
	events := strings.SplitAfter(call+assistanttest.CallEvent(1, "2", "clear", "")+assistanttest.CallEvent(1, "", "", "{}"), "\n\n")
	events = events[:len(events)-1]
	if calls := runnable(strings.Join(events, "") + end); len(calls) != 2 {
		t.Fatalf("without a wrong type it runs %+v", calls)
	}
	for _, wrong := range wronglyTyped {
		for i := range len(events) + 1 {
			if calls := runnable(strings.Join(slices.Insert(slices.Clone(events), i, wrong), "") + end); len(calls) > 0 {
				t.Errorf("%s at %d: runs %+v", wrong, i, calls)
			}
		}
	}
}

func spoken(parts []llm.Part, err error) (string, *llm.End, error) {
	text, _, end := assistanttest.JoinParts(parts)
	return text, end, err
}

// reversed writes a JSON document with the members of each object in the
// opposite order.
func reversed(t *testing.T, doc string) string {
	t.Helper()
	var write func(d *json.Decoder) string
	write = func(d *json.Decoder) string {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		open, ok := token.(json.Delim)
		if !ok {
			text, _ := json.Marshal(token)
			return string(text)
		}
		var items []string
		for d.More() {
			item := write(d)
			if open == '{' {
				item += ":" + write(d)
			}
			items = append(items, item)
		}
		end, _ := d.Token()
		if open == '{' {
			slices.Reverse(items)
		}
		return open.String() + strings.Join(items, ",") + fmt.Sprint(end)
	}
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	return write(d)
}

func TestTheOrderOfMembersDoesNotMatter(t *testing.T) {
	for name, events := range recorded {
		var reversedBody strings.Builder
		for _, event := range events {
			if data, found := strings.CutPrefix(event, "data: {"); found {
				event = "data: " + reversed(t, "{"+data) + "\n\n"
			}
			reversedBody.WriteString(event)
		}
		if got, want := describe(decode(nil, reversedBody.String())), describe(decode(nil, strings.Join(events, ""))); got != want {
			t.Errorf("%s: reversed %q, want %q", name, got, want)
		}
	}
}

func TestAGiantEventComesInSmallParts(t *testing.T) {
	want := strings.Repeat("ä word ", 200_000)
	parts, err := decode(nil, assistanttest.TextEvent(want)+assistanttest.FinishEvent("stop"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if text, ok := p.(llm.Text); ok && len(text.Text) > maxPart {
			t.Fatalf("a part of %d bytes", len(text.Text))
		}
	}
	if text, _, _ := assistanttest.JoinParts(parts); text != want {
		t.Errorf("the parts add up to %d bytes, want %d", len(text), len(want))
	}
}

func TestContextLimitOfAnOverflow(t *testing.T) {
	for message, want := range map[string]int{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.":      8192,
		"This model's maximum context length is 128,000 tokens":                                                    128000,
		"the request exceeds the available context size (4096 tokens), context too long":                           4096,
		"prompt is too long: 210000 tokens > 200000 maximum; too many tokens":                                      200000,
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576). too many tokens":  1048576,
		"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45000": 30000,
		"too many tokens": 0,
		"context_length_exceeded: maximum context length is 3": 0,
	} {
		s := assistanttest.NewServer(t, assistanttest.Respond(400, fmt.Sprintf(`{"error":{"message":%q}}`, message)))
		_, err := newRig(t, s).ask(t)
		re, ok := err.(*llm.RequestError) //nolint:errorlint // that is what Stream yields
		if !ok || re.Kind != llm.KindOverflow || re.Limit != want {
			t.Errorf("%q: %+v, want a limit of %d", message, err, want)
		}
	}
}

func TestBodiesAreLoggedAtDebug(t *testing.T) {
	s := assistanttest.NewServer(t, assistanttest.Raw("text/event-stream", assistanttest.Stream("the answer "+testKey)))
	r := newRig(t, s)
	if _, err := r.ask(t); err != nil { // ask looks for the key in the log
		t.Fatal(err)
	}
	if log := r.log.Bytes(); !bytes.Contains(log, []byte("hello")) || !bytes.Contains(log, []byte("the answer [key]")) {
		t.Errorf("the bodies are not in the log: %s", log)
	}
}

func TestAStatusWithoutANameIsShownAsANumber(t *testing.T) {
	s := assistanttest.NewServer(t, assistanttest.Respond(529, `{"error":{"message":"Overloaded"}}`), assistanttest.Text("ok"))
	r := newRig(t, s)
	parts, err := r.ask(t)
	if all := retries(parts); err != nil || len(all) != 1 || all[0].Reason != "Overloaded (status 529)" {
		t.Errorf("retries %+v, %v", all, err)
	}
}
