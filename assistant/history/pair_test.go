package history

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
)

// sample has numbers, arguments and texts that a careless encoding would change.
func sample() assistant.Pair {
	return assistant.Pair{
		ID: "id", Session: "s", Topic: "AI", Model: "m", UserText: "größe 👩\u200d🚀 日本", AssistantText: "a", Star: 2, Flag: true, State: assistant.PairError,
		ErrorCode: "net", CreatedAt: time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("", 3600)), Notice: "n",
		ToolCalls: []assistant.ToolCall{
			{Name: "json", Arguments: json.RawMessage(`{"n": 12345678901234567890}`), Result: &assistant.ToolResult{Data: json.RawMessage(`9007199254740993`)}},
			{Name: "cut", Arguments: json.RawMessage(`{"a":`)},
			{Name: "bytes", Arguments: json.RawMessage("\xff")},
		},
	}
}

func same(text string) string { return text }

// stored is what an engine reads back from the columns of a row.
func stored(t *testing.T, p *assistant.Pair) Row {
	t.Helper()
	r, err := NewRow(p, same)
	if err != nil {
		t.Fatal(err)
	}
	r.ToolCalls, r.Notice, r.State = nil, "", ""
	return r
}

func TestRowsComeBack(t *testing.T) {
	p := sample()
	r := stored(t, &p)
	if damaged, err := r.Decode(); damaged || err != nil || !reflect.DeepEqual(r.Pair, p) {
		t.Errorf("Decode = %v, %v: %+v; want %+v", damaged, err, r.Pair, p)
	}
}

// The offsets of thoughts are for the stored texts, so they are dropped with the hidden characters.
func TestThoughtsOfUncleanTextsAreDropped(t *testing.T) {
	const unclean = "a\u202e b"
	thoughts := []assistant.Thought{{From: 0, Place: 1}}
	for text, want := range map[string]int{"a b": 1, unclean: 0} {
		r := Row{AssistantText: "a", Reasoning: text}
		r.Thoughts = thoughts
		if _, err := r.Decode(); err != nil || len(r.Thoughts) != want || r.Pair.Reasoning != "a b" {
			t.Errorf("row with %q: %v, reasoning %q and %d thoughts, want %d", text, err, r.Pair.Reasoning, len(r.Thoughts), want)
		}
		form := `{"assistant_text":"` + text + `","thoughts":[{"place":1}]`
		var p assistant.Pair
		if err := DecodePair([]byte(form+`,"variants":[`+form+`}]}`), &p); err != nil || len(p.Thoughts) != want || len(p.Variants[0].Thoughts) != want || p.AssistantText != "a b" {
			t.Errorf("import of %q: %v, %+v; want %d thoughts", text, err, p, want)
		}
	}
}

func TestRowIsDamaged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Row)
		want   bool
	}{
		"nothing": {func(*Row) {}, false},
		"star":    {func(r *Row) { r.Star = 0 }, false},
		"topic":   {func(r *Row) { r.Topic = "" }, false},
		"user":    {func(r *Row) { r.UserText += "x" }, true},
		"id":      {func(r *Row) { r.ID = "other" }, true},
		"state":   {func(r *Row) { r.StateNumber = 2 }, true},
		"time":    {func(r *Row) { r.CreatedAt = r.CreatedAt.Add(1) }, true},
		"border":  {func(r *Row) { r.UserText, r.AssistantText = r.UserText+"a", "" }, true},
		"more":    {func(r *Row) { r.More += " " }, true},
	} {
		p := sample()
		r := stored(t, &p)
		c.change(&r)
		if damaged, err := r.Decode(); damaged != c.want || err != nil || (r.Notice == DamagedPair) != c.want {
			t.Errorf("%s: Decode = %v, %v, notice %q; want damaged %v", name, damaged, err, r.Notice, c.want)
		}
	}
}

func TestEveryTextOfARowIsRedacted(t *testing.T) {
	p := sample()
	p.UserText, p.AssistantText, p.Reasoning, p.ErrorCode, p.ErrorMessage, p.Notice = "key", "key", "key", "key", "key", "key"
	r, err := NewRow(&p, func(text string) string { return strings.ReplaceAll(text, "key", "-") })
	all := strings.Join([]string{r.UserText, r.AssistantText, r.Reasoning, r.ErrorCode, r.ErrorMessage, r.More}, "|")
	if err != nil || strings.Contains(all, "key") || p.UserText != "key" {
		t.Errorf("NewRow = %s, %v; the pair has %q", all, err, p.UserText)
	}
}

func TestExportedPairsComeBack(t *testing.T) {
	p := sample()
	raw, err := EncodePair(&p)
	if err != nil {
		t.Fatal(err)
	}
	var got assistant.Pair
	if err := DecodePair(raw, &got); err != nil || !got.CreatedAt.Equal(p.CreatedAt) {
		t.Fatalf("DecodePair = %v, created at %v", err, got.CreatedAt)
	}
	got.CreatedAt = p.CreatedAt                                              // of another *time.Location
	p.ToolCalls[0].Arguments = json.RawMessage(`{"n":12345678901234567890}`) // without white space
	if !reflect.DeepEqual(got, p) {
		t.Errorf("DecodePair(EncodePair(p)) = %+v; want %+v", got, p)
	}
}

func TestCheckPairRefuses(t *testing.T) {
	for name, change := range map[string]func(*assistant.Pair){
		"stars": func(p *assistant.Pair) { p.Star = 4 },
		"state": func(p *assistant.Pair) { p.State = "odd" },
		"year":  func(p *assistant.Pair) { p.CreatedAt = p.CreatedAt.AddDate(9000, 0, 0) },
	} {
		p := sample()
		if err := CheckPair(&p); err != nil {
			t.Errorf("%s, before: %v", name, err)
		}
		if change(&p); CheckPair(&p) == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

func TestCostRoundsEachPartUp(t *testing.T) {
	p := assistant.Pair{UserText: "12345678", AssistantText: "1234", State: assistant.PairComplete}
	r, err := NewRow(&p, same)
	if got := Cost(r.Parts, 3.5); err != nil || got != 3+2 {
		t.Errorf("Cost = %d, %v; want 5", got, err)
	}
}

func TestTopicPaths(t *testing.T) {
	for typed, want := range map[string]struct {
		path, parent string
		chain        []string
	}{
		"":             {"", "", nil},
		" > ":          {"", "", nil},
		" AI ":         {"AI", "", []string{"AI"}},
		"AI>Agents> ":  {"AI > Agents", "AI", []string{"AI", "AI > Agents"}},
		"A > B > C":    {"A > B > C", "A > B", []string{"A", "A > B", "A > B > C"}},
		" >A  >  B B ": {"A > B B", "A", []string{"A", "A > B B"}},
	} {
		path := TopicPath(typed)
		if path != want.path || ParentTopic(path) != want.parent || !slices.Equal(TopicChain(path), want.chain) {
			t.Errorf("%q: path %q, parent %q, chain %q; want %+v", typed, path, ParentTopic(path), TopicChain(path), want)
		}
	}
}
