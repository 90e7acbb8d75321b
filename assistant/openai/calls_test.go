package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

func assemble(deltas ...callDelta) []llm.Call {
	var cs calls
	for _, d := range deltas {
		d.arguments = escaped(d.arguments)
		cs.add(d)
	}
	return cs.list()
}

// escaped writes text as it stands in a JSON string.
func escaped(text string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) }

func TestCalls(t *testing.T) {
	at := func(i int64, id, name, args string) callDelta { return callDelta{i, true, id, name, args} }
	no := func(id, name, args string) callDelta { return callDelta{0, false, id, name, args} }
	for name, test := range map[string]struct {
		deltas []callDelta
		want   string
	}{
		"in order":                          {[]callDelta{at(0, "a", "f", "{"), at(0, "", "", "}"), at(1, "b", "g", "{}")}, "a=f{} b=g{}"},
		"in any order":                      {[]callDelta{at(5, "b", "g", "{}"), at(2, "a", "f", "{}")}, "a=f{} b=g{}"},
		"interleaved":                       {[]callDelta{at(0, "a", "f", "{"), at(1, "b", "g", "["), at(0, "", "", "}"), at(1, "", "", "]")}, "a=f{} b=g[]"},
		"a late index":                      {[]callDelta{no("a", "f", "{"), at(0, "", "", "}")}, "a=f{}"},
		"without index, by id":              {[]callDelta{no("a", "f", "{"), no("b", "g", "{"), no("a", "", "}"), no("b", "", "}")}, "a=f{} b=g{}"},
		"without index and id":              {[]callDelta{no("", "f", "{"), no("", "", "}"), no("", "g", "{}")}, "call_1=f{} call_2=g{}"},
		"one index for all":                 {[]callDelta{at(0, "a", "f", "{}"), at(0, "b", "f", "{}")}, "a=f{} b=f{}"},
		"one index, pieces by id":           {[]callDelta{at(0, "a", "f", ""), at(0, "b", "g", ""), at(0, "a", "", "{}"), at(0, "b", "", "[]")}, "a=f{} b=g[]"},
		"one index, no ids":                 {[]callDelta{at(0, "", "f", `{"a":1}`), at(0, "", "f", `{"a":2}`)}, `call_1=f{"a":1} call_2=f{"a":2}`},
		"a name repeated":                   {[]callDelta{at(0, "a", "f", "{"), at(0, "a", "f", "}"), at(0, "a", "f", "")}, "a=f{}"},
		"a name in pieces":                  {[]callDelta{at(0, "a", "get_", ""), at(0, "", "weather", ""), at(0, "", "", "{}")}, "a=get_weather{}"},
		"a name that grows":                 {[]callDelta{at(0, "a", "get_", ""), at(0, "a", "get_weather", "{}")}, "a=get_weather{}"},
		"an id that changes":                {[]callDelta{at(0, "a", "f", "{"), at(0, "b", "", "}")}, "a=f{}"},
		"an id that comes late":             {[]callDelta{at(0, "", "f", "{"), at(0, "a", "", "}")}, "a=f{}"},
		"ids that are equal":                {[]callDelta{at(0, "a", "f", "{}"), at(1, "a", "g", "{}")}, "a=f{} call_2=g{}"},
		"a given id that is taken":          {[]callDelta{at(0, "", "f", "{}"), at(1, "call_1", "g", "{}")}, "call_2=f{} call_1=g{}"},
		"an index of 2^31":                  {[]callDelta{at(1<<31, "a", "f", "{}"), at(0, "b", "g", "{}")}, "b=g{} a=f{}"},
		"nothing":                           {[]callDelta{at(0, "", "", "")}, ""},
		"braces in strings do not close it": {[]callDelta{at(0, "a", "f", `{"x":"}`), at(0, "a", "f", `\"}"}`)}, `a=f{"x":"}\"}"}`},
		"half a character":                  {[]callDelta{at(0, "a", "f", "\"\xff\"")}, "a=f\"\ufffd\""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range assemble(test.deltas...) {
				got = append(got, c.ID+"="+c.Name+c.Arguments)
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("got  %s\nwant %s", s, test.want)
			}
		})
	}
}

func TestOddIndexes(t *testing.T) {
	for index, damaged := range map[string]bool{"-1": false, "1e300": false, "1.5": true, `"x"`: true, "null": false, "{}": true, "[1]": true, "4294967296": false} {
		body := fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%s,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}`, index)
		ch, ok := readChunk([]byte(body))
		if !ok || len(ch.calls) != 1 || ch.calls[0].hasIndex || (ch.damaged != "") != damaged {
			t.Errorf("index %s: %v %+v %q, want a call without an index", index, ok, ch.calls, ch.damaged)
		}
	}
	if ch, _ := readChunk([]byte(`{"choices":[{"delta":{"tool_calls":[{"index":"2"}]}}]}`)); !ch.calls[0].hasIndex || ch.calls[0].index != 2 {
		t.Errorf("an index in quotes is not read: %+v", ch.calls)
	}
}

// FuzzToolAssembly deals whole calls out in pieces, in an order that the input
// decides, and wants them back.
func FuzzToolAssembly(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 0, 1, 1}, uint8(3), true)
	f.Add([]byte{9, 9, 1, 4, 200}, uint8(10), false)
	f.Add([]byte{}, uint8(1), true)
	f.Fuzz(func(t *testing.T, order []byte, count uint8, hasIndex bool) {
		n := 1 + int(count)%12
		type source struct {
			id, name, rest string
			begun          bool
		}
		sources := make([]source, n)
		want := make([]llm.Call, n)
		for i := range sources {
			// Each call is written with a letter of its own, so that a byte in the wrong one shows.
			letter := strings.Repeat(string(rune('a'+i)), 1+i)
			want[i] = llm.Call{ID: "id" + letter, Name: "n" + letter, Arguments: `{"` + letter + `":"` + letter + `"}`}
			sources[i] = source{id: want[i].ID, name: want[i].Name, rest: want[i].Arguments}
		}
		var cs calls
		var pieces []callDelta
		give := func(i, size int) {
			s := &sources[i]
			size = min(size, len(s.rest))
			d := callDelta{index: int64(i), hasIndex: hasIndex, arguments: escaped(s.rest[:size])}
			if !s.begun || !hasIndex {
				d.id = s.id
			}
			if !s.begun {
				d.name = s.name
			}
			s.begun, s.rest = true, s.rest[size:]
			cs.add(d)
			pieces = append(pieces, d)
		}
		if !hasIndex { // without an index the order of appearance is the order
			for i := range sources {
				give(i, 0)
			}
		}
		for _, b := range order {
			give(int(b)%n, int(b)/n%5)
		}
		for i := range sources {
			give(i, len(sources[i].rest))
		}
		if got := cs.list(); !slices.Equal(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		if len(order) > 0 { // one member of one piece has a wrong type: no call runs
			at, value := int(order[0])%len(pieces), wrongValues[int(count)%len(wrongValues)]
			if calls := runnable(bodyOf(pieces, at, int(order[len(order)-1]), value)); len(calls) > 0 {
				t.Fatalf("runs %+v, although piece %d has a member %s", calls, at, value)
			}
		}
	})
}

// bodyOf is an answer with these pieces of calls, one member of piece at replaced.
func bodyOf(pieces []callDelta, at, member int, value string) string {
	var body strings.Builder
	for i, d := range pieces {
		members := []string{`"` + d.id + `"`, `"` + d.name + `"`, `"` + d.arguments + `"`}
		if i == at {
			members[member%len(members)] = value
		}
		index := ""
		if d.hasIndex {
			index = fmt.Sprintf(`"index":%d,`, d.index)
		}
		fmt.Fprintf(&body, `data: {"choices":[{"delta":{"tool_calls":[{%s"id":%s,"function":{"name":%s,"arguments":%s}}]}}]}`+"\n\n", index, members[0], members[1], members[2])
	}
	return body.String() + assistanttest.FinishEvent("tool_calls")
}

// FuzzCallChunks wants calls from any JSON to be ordered, named apart and bounded.
func FuzzCallChunks(f *testing.F) {
	f.Add([]byte(`[{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0}]`))
	f.Add([]byte(`[{"index":-1,"function":{"name":7,"arguments":{"a":[]}}},{"id":"a"}]`))
	f.Fuzz(func(t *testing.T, deltas []byte) {
		ch, ok := readChunk([]byte(`{"choices":[{"delta":{"tool_calls":` + string(deltas) + `}}]}`))
		if !ok {
			return
		}
		size := 0
		var cs calls
		for _, d := range ch.calls {
			size += cs.add(d)
		}
		seen := map[string]bool{}
		for _, c := range cs.list() {
			if c.ID == "" || seen[c.ID] || len(c.Arguments) > 3*size {
				t.Fatalf("bad call %+v", c)
			}
			seen[c.ID] = true
			if json.Valid([]byte(c.Arguments)) && strings.HasPrefix(c.Arguments, "{") && strings.Count(c.Arguments, "{") > size {
				t.Fatalf("arguments grew: %q", c.Arguments)
			}
		}
	})
}
