package history

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/filter"
	"winnow/assistant/history"
)

func TestToolsThatWork(t *testing.T) {
	for name, c := range map[string]struct{ tool, args, message, data string }{
		"search words":          {"search_pairs", `{"query":"goat"}`, `2 messages match c'goat', newest first: 6 "sixth: a GOAT again"; 1 "first: what is a goat"`, `"ids":[6,1]`},
		"search all words":      {"search_pairs", `{"query":"goat animal horns"}`, `1 message matches`, `"count":1`},
		"search a phrase":       {"search_pairs", `{"query":"\"in a loop\""}`, `1 message matches c'in a loop'`, `"found":"They run kubernetes in a loop."`},
		"search a line":         {"search_pairs", `{"line":"t'AI...' !e"}`, `2 messages match`, `"ids":[2,1]`},
		"search both":           {"search_pairs", `{"line":"t'AI...' | t'Work'","query":"kubernetes"}`, `2 messages match`, `"ids":[4,2]`},
		"search limit":          {"search_pairs", `{"line":"b","limit":2}`, `5 "fifth: thanks" and 4 more`, `"truncated":true`},
		"search selected":       {"search_pairs", `{"line":"x"}`, `3 messages match x`, `"ids":[6,5,4]`},
		"search nothing":        {"search_pairs", `{"query":"zebra"}`, `no message matches c'zebra'`, `"ids":[],"pairs":[]`},
		"search a hint":         {"search_pairs", `{"line":"t'Wrok'"}`, `nearest: Work`, `"count":0`},
		"search apostrophes":    {"search_pairs", `{"query":"you're"}`, `1 message matches`, `"ids":[5]`},
		"search a star":         {"search_pairs", `{"query":"a*t"}`, `no message matches`, `"count":0`},
		"get":                   {"get_pair", `{"id":3}`, `message 3 from 2026-03-04 05:02`, `"state":"error: net","user":"third: what broke","user_text":"third: what broke"`},
		"topics":                {"list_topics", `{}`, `3 topics`, `"pairs_without_topic":2`},
		"topics under":          {"list_topics", `{"under":"ai"}`, `2 topics`, `{"topic":"AI > Agents","pairs":2,"with_subtopics":2}`},
		"sessions":              {"list_sessions", `{}`, `2 sessions`, `"this_session":true,"first_id":4,"began_with":"fourth: an invoice for kubernetes"`},
		"sessions limit":        {"list_sessions", `{"limit":1}`, `2 sessions`, `"truncated":true`},
		"summarise":             {"summarise_pairs", `{"line":"t'AI...'"}`, `3 messages to summarise`, `{"id":1,"user":"first: what is a goat","assistant":"An animal with horns."}`},
		"star ids":              {"star_pairs", `{"ids":[2,1,2],"stars":3}`, `2 messages now have 3 stars`, `"changed":2,"ids":"1-2"`},
		"star none":             {"star_pairs", `{"ids":[1],"stars":0}`, `nothing changed: 1 message already has no stars`, `"changed":0`},
		"flag line":             {"flag_pairs", `{"line":"x's1'","flag":false}`, `3 messages now have no flag`, `"ids":"1-3"`},
		"topic":                 {"set_topic", `{"ids":[5],"topic":"work"}`, `1 message now has the topic "Work"`, `"changed":1`},
		"topic some have":       {"set_topic", `{"ids":[4,5],"topic":"Work"}`, `1 message now has the topic "Work"; 1 already had this mark`, `"matched":2`},
		"topic new":             {"set_topic", `{"ids":[5,6],"topic":"Life>Goats","create":true}`, `the new topic "Life > Goats"`, `"ids":"5-6"`},
		"topic none":            {"set_topic", `{"ids":[1],"topic":""}`, `1 message now has no topic`, `"ids":"1"`},
		"search by saved":       {"search_pairs", `{"line":"@mine"}`, `1 message matches @mine`, `"ids":[4]`},
		"summarise within room": {"summarise_pairs", `{"line":"b","tokens":60}`, `1 message to summarise; 5 older messages did not fit`, `"truncated":true`},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := library(t)
			if err := s.SaveFilter(t.Context(), "mine", "t'Work'"); err != nil {
				t.Fatal(err)
			}
			r := call(t, w, c.tool, c.args)
			if !r.Success || !strings.Contains(r.Message, c.message) {
				t.Errorf("%s(%s) = %v %q, want %q in it", c.tool, c.args, r.Success, r.Message, c.message)
			}
			if got := asJSON(t, r.Data); !strings.Contains(plain(got), c.data) {
				t.Errorf("%s(%s) gives %s\nwant %s in it", c.tool, c.args, got, c.data)
			}
		})
	}
}

// plain undoes the escapes that JSON does not need.
func plain(raw string) string { return strings.NewReplacer(`\u003e`, ">", `\u003c`, "<").Replace(raw) }

func TestToolsThatRefuse(t *testing.T) {
	for name, c := range map[string]struct{ tool, args, code, message string }{
		"search for nothing":     {"search_pairs", `{"query":" \"\" "}`, assistant.CodeInvalidArguments, "specify words"},
		"search a broken line":   {"search_pairs", `{"line":"t'AI"}`, assistant.CodeInvalidArguments, "column "},
		"search with a command":  {"search_pairs", `{"line":"s3 :delete"}`, assistant.CodeInvalidArguments, ":delete"},
		"search an unknown name": {"search_pairs", `{"line":"@nobody"}`, assistant.CodeInvalidArguments, "column "},
		"get an unknown pair":    {"get_pair", `{"id":99}`, assistant.CodeFailed, "there is no message 99"},
		"list under unknown":     {"list_topics", `{"under":"Agent"}`, assistant.CodeFailed, "nearest: AI > Agents"},
		"summarise nothing":      {"summarise_pairs", `{"line":"s3"}`, assistant.CodeFailed, "no message matches"},
		"star without pairs":     {"star_pairs", `{"stars":1}`, assistant.CodeInvalidArguments, "specify ids, or a line"},
		"star with both":         {"star_pairs", `{"ids":[1],"line":"b","stars":1}`, assistant.CodeInvalidArguments, "not both"},
		"star an unknown pair":   {"star_pairs", `{"ids":[1,77,78],"stars":1}`, assistant.CodeFailed, "there are no messages 77-78"},
		"four stars":             {"star_pairs", `{"ids":[1],"stars":4}`, assistant.CodeInvalidArguments, "stars must be 0 to 3, not "},
		"minus one star":         {"star_pairs", `{"ids":[1],"stars":-1}`, assistant.CodeInvalidArguments, "stars must be 0 to 3, not "},
		"star a broken line":     {"star_pairs", `{"line":"s5","stars":1}`, assistant.CodeInvalidArguments, "column "},
		"star nothing":           {"star_pairs", `{"line":"t'Wrok'","stars":1}`, assistant.CodeFailed, "nearest: Work"},
		"flag an unknown pair":   {"flag_pairs", `{"ids":[0],"flag":true}`, assistant.CodeFailed, "there is no message 0"},
		"an unknown topic":       {"set_topic", `{"ids":[1],"topic":"Agent"}`, assistant.CodeFailed, "nearest: AI > Agents"},
	} {
		t.Run(name, func(t *testing.T) {
			s, w := library(t)
			if err := s.SaveFilter(t.Context(), "mine", "t'Work'"); err != nil {
				t.Fatal(err)
			}
			before := stateOf(t, w)
			r := call(t, w, c.tool, c.args)
			if r.Success || r.ErrorCode != c.code || !strings.Contains(r.Message, c.message) {
				t.Errorf("%s(%s) = %v %s %q, want %s with %q", c.tool, c.args, r.Success, r.ErrorCode, r.Message, c.code, c.message)
			}
			if after := stateOf(t, w); after != before {
				t.Errorf("a refused call changed %s\nto %s", before, after)
			}
		})
	}
}

func TestUnreadableLinesPointAtTheColumn(t *testing.T) {
	_, w := library(t)
	r := call(t, w, "search_pairs", `{"line":"s2 t'AI"}`)
	data, _ := r.Data.(map[string]any)
	if data["column"] != 5 || data["line"] != "s2 t'AI" || r.Hint == "" {
		t.Errorf("search = %+v, hint %q", data, r.Hint)
	}
}

func TestMarksReachTheStore(t *testing.T) {
	s, w := library(t)
	good(t, w, "star_pairs", `{"ids":[1,4],"stars":2}`)
	good(t, w, "flag_pairs", `{"line":"x's2'","flag":false}`)
	good(t, w, "set_topic", `{"line":"c'goat'","topic":"Goats","create":true}`)
	want := "1:2+Goats 2:0+AI > Agents 3:0+AI > Agents 4:2-Work 5:0- 6:0-Goats "
	if got := marksOf(t, s); got != want {
		t.Errorf("the store has %s\nwant %s", got, want)
	}
}

func TestAPairThatIsBeingAnsweredIsNotMarked(t *testing.T) {
	s, w := library(t)
	running := spoken("s2", "", "star me", "")
	running.State = assistant.PairSending
	put(t, s, running)
	if r := call(t, w, "star_pairs", `{"ids":[1,7],"stars":1}`); !r.Success || !strings.Contains(r.Message, "1 message now has 1 star; message 7 is still being answered") {
		t.Errorf("by id: %+v", r)
	}
	if r := call(t, w, "star_pairs", `{"line":"x","stars":1}`); !r.Success || !strings.Contains(r.Message, "3 messages now have 1 star; message 7 is still being answered") {
		t.Errorf("by line: %+v", r)
	}
	another := *running
	another.Seq, another.ID = 0, ""
	put(t, s, &another)
	if r := call(t, w, "star_pairs", `{"ids":[1,7,8],"stars":1}`); !r.Success || !strings.Contains(r.Message, "; messages 7-8 are still being answered and were left out") {
		t.Errorf("two pairs: %+v", r)
	}
	if got := marksOf(t, s); !strings.Contains(got, "6:1+ 7:0+") {
		t.Errorf("the store has %s", got)
	}
}

func TestMoreThanFiftyPairsAsk(t *testing.T) {
	s, w := library(t)
	var more []*assistant.Pair
	for i := range 46 {
		more = append(more, spoken("s3", "Many", fmt.Sprint("pair ", i), "ok"))
	}
	put(t, s, more[:44]...) // fifty in all
	for name, c := range map[string]struct {
		tool, args string
		shows      string // of 52 messages; "" never asks
	}{
		"star":      {"star_pairs", `{"line":"b","stars":1}`, "52 messages will have 1 star:\n1-52"},
		"flag":      {"flag_pairs", `{"line":"b","flag":false}`, "52 messages will have no flag:"},
		"topic":     {"set_topic", `{"line":"b","topic":"X","create":true}`, `52 messages will have the new topic "X":`},
		"few":       {"star_pairs", `{"line":"x's1'","stars":1}`, ""},
		"unchanged": {"flag_pairs", `{"line":"b","flag":true}`, ""},
		"broken":    {"star_pairs", `{"line":"b'","stars":1}`, ""},
	} {
		tl := tool(t, w, c.tool)
		if shown, err := tl.Preview(t.Context(), json.RawMessage(c.args)); shown.Ask || err != nil {
			t.Errorf("%s of 50 asks: %v, %v", name, shown.Ask, err)
		}
	}
	put(t, s, more[44:]...)
	good(t, w, "set_topic", `{"line":"x's3'","topic":"AI > Many","create":true}`)
	before := stateOf(t, w)
	for name, c := range map[string]struct{ tool, args, shows string }{
		"star":      {"star_pairs", `{"line":"b","stars":1}`, "52 messages will have 1 star:\n1-52"},
		"flag":      {"flag_pairs", `{"line":"b","flag":false}`, "52 messages will have no flag:"},
		"topic":     {"set_topic", `{"line":"b","topic":"X","create":true}`, `52 messages will have the new topic "X":`},
		"few":       {"star_pairs", `{"line":"x's1'","stars":1}`, ""},
		"unchanged": {"flag_pairs", `{"line":"b","flag":true}`, ""},
	} {
		tl := tool(t, w, c.tool)
		shown, err := tl.Preview(t.Context(), json.RawMessage(c.args))
		if err != nil || shown.Ask != (c.shows != "") || !strings.HasPrefix(string(shown.Text), c.shows) {
			t.Errorf("%s: Preview = %+v, %v; want %q", name, shown, err, c.shows)
		}
	}
	good(t, w, "set_topic", `{"line":"x's1' ","topic":"AI"}`)
	if stateOf(t, w) == before {
		t.Error("nothing changed at all")
	}
}

func TestGetPairHidesWhatWasRolledBackAndCutsLongTexts(t *testing.T) {
	s, w := library(t)
	long := spoken("s9", "", strings.Repeat("ä", maxTextChars+1), "evil \x1b]0;title\x07 text")
	put(t, s, long)
	data := good(t, w, "get_pair", `{"id":7}`)
	if n := len([]rune(data["user_text"].(string))); n != maxTextChars || data["truncated"] != true {
		t.Errorf("%d characters, truncated %v", n, data["truncated"])
	}
	if data["assistant_text"] != "evil  text" {
		t.Errorf("assistant text %q", data["assistant_text"])
	}
	err := s.Commit(t.Context(), &assistant.Batch{Cut: &assistant.Cut{Name: "c", Sessions: []string{"s9"}, From: 7}})
	if err != nil {
		t.Fatal(err)
	}
	if r := call(t, w, "get_pair", `{"id":7}`); r.Success {
		t.Errorf("a pair that was rolled back is read: %+v", r)
	}
	if r := call(t, w, "star_pairs", `{"ids":[7],"stars":1}`); r.Success {
		t.Errorf("a pair that was rolled back is starred: %+v", r)
	}
}

func TestGetPairTellsItsCalls(t *testing.T) {
	s, w := library(t)
	p := spoken("s1", "", "do it", "Done [[tool:0]]")
	p.ToolCalls = []assistant.ToolCall{{ID: "c", Name: "add", Arguments: json.RawMessage(`{"a":1}`), Result: &assistant.ToolResult{Success: true, Message: "added"}}}
	p.Attachments = []assistant.Attachment{{Name: "a.txt", Type: "text/plain", Size: 3}}
	put(t, s, p)
	got := asJSON(t, good(t, w, "get_pair", `{"id":7}`))
	for _, want := range []string{`"name":"add"`, `"arguments":"{\"a\":1}"`, `"message":"added"`, `"attachments":["a.txt"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("get_pair gives %s, want %s in it", got, want)
		}
	}
}

func TestSummaryStaysWithinItsRoom(t *testing.T) {
	s, w := library(t)
	for i := range 40 {
		put(t, s, spoken("long", "", strings.Repeat(fmt.Sprint("question ", i, " "), 50), strings.Repeat("answer \"quoted\"\n ", 200)))
	}
	for _, tokens := range []int{60, 500, 1000, 4000, 12000, 1 << 30} {
		r := call(t, w, "summarise_pairs", fmt.Sprintf(`{"line":"b","tokens":%d}`, tokens))
		if !r.Success {
			t.Fatalf("%d: %+v", tokens, r)
		}
		list := r.Data.(map[string]any)["pairs"].([]condensed)
		if got, room := jsonChars(list), estimateChars(min(tokens, maxSummaryTokens)); got > room+len("[]") || got < room/3 {
			t.Errorf("%d tokens: %d characters of %d, %d pairs", tokens, got, room, len(list))
		}
		for i := 1; i < len(list); i++ {
			if list[i].ID <= list[i-1].ID {
				t.Errorf("%d tokens: out of order: %d, %d", tokens, list[i-1].ID, list[i].ID)
			}
		}
	}
}

func TestLinesKnowWhatIsSelected(t *testing.T) {
	s, _ := library(t)
	asked := 0
	w := New(s, Options{Now: clock, Selected: func() Selected {
		return Selected{Session: "s1", Topic: "Work", Model: "anthropic/claude", Fits: func(base []assistant.Ref) int { asked++; return 2 }}
	}})
	for line, want := range map[string]string{"x": "[3,2,1]", "t": "[4]", "m": "[4]", "o": "[6,5]", "!o x": "[1]", "d<2d": "[6,5,4,3,2,1]"} {
		got := good(t, w, "search_pairs", `{"line":"`+line+`"}`)
		if ids := asJSON(t, got["ids"]); ids != want {
			t.Errorf("%s = %s, want %s", line, ids, want)
		}
	}
	if asked == 0 {
		t.Error("the boundary was not asked for")
	}
}

func TestSearchReadsQueriesAsTheyAreMeant(t *testing.T) {
	for query, want := range map[string]string{
		"goat": "c'goat'", ` two  words `: "c'two' c'words'", `a "b c" d`: "c'a' c'b c' c'd'",
		`"unclosed here`: "c'unclosed here'", "*": `c'\*'`, "it's": `c"it's"`,
	} {
		x := withWords(nil, plainWords(query))
		q, err := filter.Parse(want)
		if err != nil || filter.PrintExpr(q.Expr) != filter.PrintExpr(x) {
			t.Errorf("%q becomes %s, want %s, %v", query, filter.PrintExpr(x), want, err)
		}
	}
}

func TestToolsEndWithTheirContext(t *testing.T) {
	_, w := library(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range w.Tools() {
		args := map[string]string{"get_pair": `{"id":1}`, "search_pairs": `{"line":"b"}`, "star_pairs": `{"ids":[1],"stars":1}`}[x.Name]
		if args == "" {
			continue
		}
		if r := x.Run(ctx, json.RawMessage(args)); r.Success {
			t.Errorf("%s works after its context has ended: %+v", x.Name, r)
		}
	}
}

// A question about many pairs hides nothing, whatever the topic is called.
func TestAQuestionHidesNothing(t *testing.T) {
	s, w := library(t)
	for i := range confirmAbove {
		put(t, s, spoken("s3", "Many", fmt.Sprint("pair ", i), "ok"))
	}
	setTopic := tool(t, w, "set_topic")
	at.CheckConfirmation(t, func(name string) string {
		args, err := json.Marshal(map[string]any{"line": "b", "topic": name, "create": true})
		if err != nil || !utf8.ValidString(name) || history.TopicPath(name) != name {
			return ""
		}
		shown, err := setTopic.Preview(t.Context(), args)
		if err != nil || !shown.Ask {
			t.Fatalf("Preview = %+v, %v", shown, err)
		}
		return string(shown.Text)
	})
}
