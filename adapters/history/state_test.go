package history

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	"winnow/assistant/history"
)

func TestStateIsCompactAndStable(t *testing.T) {
	s, w := library(t)
	good(t, w, "star_pairs", `{"ids":[1,2,3,5],"stars":2}`)
	good(t, w, "flag_pairs", `{"ids":[6],"flag":false}`)
	want := `{"version":1,"newest":6,"stars":{"2":["1-3","5"]},"grey":["6"],"topics":{"AI":["1"],"AI > Agents":["2-3"],"Work":["4"]}}`
	if got := plain(stateOf(t, w)); got != want {
		t.Errorf("State = %s\nwant %s", got, want)
	}
	if stateOf(t, New(s, Options{})) != stateOf(t, w) {
		t.Error("another window on the same store has another state")
	}
	empty := `{"version":1,"newest":0,"stars":{},"grey":[],"topics":{}}`
	if got := stateOf(t, New(newStore(t), Options{})); got != empty {
		t.Errorf("of an empty store State = %s", got)
	}
}

func TestTopicsThatDifferInCaseAreToldApart(t *testing.T) {
	s, w := library(t)
	put(t, s, spoken("s3", "ai", "seventh", ""))
	if got := stateOf(t, w); !strings.Contains(got, `"AI":["1"]`) || !strings.Contains(got, `"ai":["7"]`) {
		t.Errorf("State = %s", got)
	}
}

// TestAnyStateComesBack makes random changes and goes back to random moments.
func TestAnyStateComesBack(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		s, w := library(t)
		put(t, s, spoken("s3", "ai", "a topic that differs in case only", ""), spoken("s3", "AI > agents", "again", ""))
		states := []string{stateOf(t, w)}
		for range 25 {
			if r.IntN(3) == 0 {
				if err := w.Apply(json.RawMessage(states[r.IntN(len(states))])); err != nil {
					t.Fatal(err)
				}
				continue
			}
			name, args := randomCall(r)
			call(t, w, name, args) // some are refused, and change nothing
			states = append(states, stateOf(t, w))
		}
		for i, want := range states {
			if err := w.Apply(json.RawMessage(want)); err != nil {
				t.Fatalf("seed %d, state %d: %v", seed, i, err)
			}
			if got := stateOf(t, w); got != want {
				t.Fatalf("seed %d, state %d: %s\nwant %s", seed, i, got, want)
			}
		}
	}
}

func randomCall(r *rand.Rand) (name, args string) {
	paths := []string{"AI", "ai", "AI > Agents", "AI > agents", "Work", "Work > AI", "New", "New > Deep > Er", ""}
	path := func() string { return paths[r.IntN(len(paths))] }
	id := func() int { return 1 + r.IntN(8) }
	switch r.IntN(4) {
	case 0:
		return "star_pairs", fmt.Sprintf(`{"ids":[%d,%d],"stars":%d}`, id(), id(), r.IntN(4))
	case 1:
		return "flag_pairs", fmt.Sprintf(`{"line":"r%d","flag":%v}`, id(), r.IntN(2) == 0)
	}
	return "set_topic", fmt.Sprintf(`{"ids":[%d,%d],"topic":%q,"create":true}`, id(), id(), path())
}

func TestAStateSaysNothingOfNewerPairs(t *testing.T) {
	s, w := library(t)
	state := stateOf(t, w)
	newer := spoken("s2", "Own", "seventh", "")
	newer.Star, newer.Flag = 1, false
	put(t, s, newer, spoken("s2", "Own", "eighth", ""))
	good(t, w, "star_pairs", `{"ids":[1,8],"stars":3}`)
	good(t, w, "set_topic", `{"ids":[8],"topic":"Else","create":true}`)
	if err := w.Apply(json.RawMessage(state)); err != nil {
		t.Fatal(err)
	}
	want := "1:0+AI 2:0+AI > Agents 3:0+AI > Agents 4:0+Work 5:0+ 6:0+ 7:1-Own 8:0+Own "
	if got := marksOf(t, s); got != want {
		t.Errorf("the store has %s\nwant %s", got, want)
	}
	tree, err := s.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(tree, func(x history.Topic) bool { return x.Path == "Else" }) {
		t.Error("the topic that a tool made is still there")
	}
}

// A topic that only pairs of a cut conversation have must be there when they
// come back.
func TestAnUndoneRollbackFindsTheTopicsOfItsPairs(t *testing.T) {
	s, w := library(t)
	state := stateOf(t, w)
	put(t, s, spoken("s2", "Own > Child", "seventh", ""))
	if err := w.Apply(json.RawMessage(state)); err != nil {
		t.Fatal(err)
	}
	cut := &assistant.Batch{Cut: &assistant.Cut{Name: "c", Sessions: []string{"s2"}, From: 7}}
	for _, b := range []*assistant.Batch{cut, {Uncut: "c"}} {
		if err := w.Apply(json.RawMessage(state)); err != nil {
			t.Fatal(err)
		}
		if err := s.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if got := marksOf(t, s); !strings.HasSuffix(got, "7:0+Own > Child ") {
		t.Errorf("the store has %s", got)
	}
}

func TestStatesThatAreNotOursChangeNothing(t *testing.T) {
	_, w := library(t)
	before := stateOf(t, w)
	for name, raw := range map[string]string{
		"no JSON":         `{`,
		"another version": `{"version":2}`,
		"four stars":      `{"version":1,"newest":6,"stars":{"4":["1"]}}`,
		"stars in words":  `{"version":1,"newest":6,"stars":{"+1":["1"]}}`,
		"beyond newest":   `{"version":1,"newest":6,"stars":{"1":["7"]}}`,
		"endless":         `{"version":1,"newest":9223372036854775807,"grey":["1-9223372036854775807"]}`,
		"backwards":       `{"version":1,"newest":6,"grey":["4-2"]}`,
		"falling":         `{"version":1,"newest":6,"grey":["4","3"]}`,
		"no number":       `{"version":1,"newest":6,"grey":["x"]}`,
		"zero":            `{"version":1,"newest":6,"grey":["0"]}`,
		"an empty topic":  `{"version":1,"newest":6,"topics":{"":["1"]}}`,
		"an odd topic":    `{"version":1,"newest":6,"topics":{"A>B":[]}}`,
	} {
		if err := w.Apply(json.RawMessage(raw)); err == nil {
			t.Errorf("%s is applied", name)
		}
		if got := stateOf(t, w); got != before {
			t.Fatalf("%s changed %s\nto %s", name, before, got)
		}
	}
}

// A state of a version that had saved filters in it is applied, and they stay.
func TestFiltersOfAnOlderStateStay(t *testing.T) {
	s, w := library(t)
	if err := s.SaveFilter(t.Context(), "mine", "s3"); err != nil {
		t.Fatal(err)
	}
	old := strings.TrimSuffix(stateOf(t, w), "}") + `,"filters":{"other":"s1"}}`
	good(t, w, "star_pairs", `{"ids":[1],"stars":3}`)
	if err := w.Apply(json.RawMessage(old)); err != nil {
		t.Fatal(err)
	}
	if saved, err := s.SavedFilters(t.Context()); err != nil || len(saved) != 1 || saved["mine"] != "s3" || strings.Contains(stateOf(t, w), `"3"`) {
		t.Errorf("saved %v, %v, state %s", saved, err, stateOf(t, w))
	}
}

func TestApplyThatFailsMidwayIsUndone(t *testing.T) {
	s, w := library(t)
	target := stateOf(t, w)
	good(t, w, "star_pairs", `{"ids":[1,2,3],"stars":3}`)
	good(t, w, "set_topic", `{"ids":[1,2],"topic":"KI","create":true}`)
	before := stateOf(t, w)

	// The database refuses one topic: the last thing that is written.
	db, err := sql.Open("sqlite", "file:"+s.Path()+"?_pragma=busy_timeout(30000)") // the store may be indexing
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const refuse = "CREATE TRIGGER no BEFORE INSERT ON topic WHEN new.path = 'zz' BEGIN SELECT RAISE(ABORT, 'refused'); END"
	if _, err := db.ExecContext(t.Context(), refuse); err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(target, `"topics":{`, `"topics":{"zz":[],`, 1)
	if err := w.Apply(json.RawMessage(broken)); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Fatalf("Apply = %v", err)
	}
	if got := stateOf(t, w); got != before {
		t.Errorf("left %s\nwant %s", got, before)
	}
	if err := w.Apply(json.RawMessage(target)); err != nil || stateOf(t, w) != target {
		t.Errorf("after it %v, %s", err, stateOf(t, w))
	}
}

func TestRunsOfPairs(t *testing.T) {
	for _, c := range []struct {
		pairs seqs
		runs  string
	}{{nil, ""}, {seqs{4}, "4"}, {seqs{1, 2}, "1-2"}, {seqs{1, 3, 4, 5, 9}, "1, 3-5, 9"}} {
		if got := c.pairs.String(); got != c.runs {
			t.Errorf("%v is %q, want %q", []int64(c.pairs), got, c.runs)
		}
		back, err := parseRanges(c.pairs.ranges(), 9)
		if err != nil || !slices.Equal(back, c.pairs) {
			t.Errorf("%q comes back as %v, %v", c.runs, back, err)
		}
	}
}

func FuzzReadRuns(f *testing.F) {
	for _, seed := range []string{"", "1", "1-3 5", "3-1", "1-99999999999999999999", "1 1", "-", "1--2"} {
		f.Add(seed)
	}
	const last = 1000
	f.Fuzz(func(t *testing.T, text string) {
		pairs, err := parseRanges(strings.Fields(text), last)
		if err != nil {
			return
		}
		if len(pairs) > last || !slices.IsSorted(pairs) || len(pairs) > 0 && (pairs[0] < 1 || pairs[len(pairs)-1] > last) {
			t.Fatalf("%q gives %v", text, []int64(pairs))
		}
		if back, err := parseRanges(pairs.ranges(), last); err != nil || !slices.Equal(back, pairs) {
			t.Fatalf("%q does not come back: %v, %v", text, []int64(back), err)
		}
	})
}

func TestAChangeOfMarksInWords(t *testing.T) {
	_, w := library(t)
	empty := `{"version":1,"newest":6,"stars":{},"grey":[],"topics":{}}`
	for _, c := range []struct{ tool, args, want string }{
		{"star_pairs", `{"ids":[1,2],"stars":3}`, "gave 3 stars to 2 messages"},
		{"star_pairs", `{"ids":[1,3],"stars":1}`, "gave 1 star to 2 messages"},
		{"star_pairs", `{"ids":[1],"stars":0}`, "removed the stars from 1 message"},
		{"star_pairs", `{"ids":[1],"stars":0}`, ""},
		{"flag_pairs", `{"ids":[1,2],"flag":false}`, "removed the flag from 2 messages"},
		{"flag_pairs", `{"ids":[2],"flag":true}`, "flagged 1 message"},
		{"set_topic", `{"ids":[4],"topic":"AI > Agents"}`, "moved 1 message to AI > Agents"},
		{"set_topic", `{"ids":[4],"topic":""}`, "removed the topic from 1 message"},
	} {
		before := stateOf(t, w)
		good(t, w, c.tool, c.args)
		if got := w.DescribeChange(json.RawMessage(before), json.RawMessage(stateOf(t, w))); got != c.want {
			t.Errorf("%s %s is %q, want %q", c.tool, c.args, got, c.want)
		}
	}
	for after, want := range map[string]string{
		empty: "",
		`{"version":1,"newest":6,"stars":{"2":["1-3"],"3":["4"]},"grey":["6"],"topics":{"AI":[]}}`: "gave 2 stars to 3 messages; gave 3 stars to 1 message; removed the flag from 1 message; 1 more",
		`{"version":9}`: "",
		`{`:             "",
	} {
		if got := w.DescribeChange(json.RawMessage(empty), json.RawMessage(after)); got != want {
			t.Errorf("%s is %q, want %q", after, got, want)
		}
	}
}
