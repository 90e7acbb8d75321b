package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

// grown makes a journal of n checkpoints of 1,000 rules, one of which each
// turn changes.
func grown(b *testing.B, n int) (j *Journal, path string) {
	b.Helper()
	path = journalPath(b)
	j = open(b, path, Options{wrap: quiet})
	state := ruleState(1000)
	must[Checkpoint](b)(j.Start("s", state))
	for i := range n {
		must[Checkpoint](b)(j.Add(Checkpoint{PairSeq: int64(i + 1)}, state))
		state = withRule(ruleState(1000), i%1000, fmt.Sprint("turn-", i))
		ok(b, j.Record(state, []ToolSummary{{Name: "add_ignore_rule", OK: true}}))
	}
	return j, path
}

func benchmarkAdd(b *testing.B, opts Options) {
	b.Helper()
	j := open(b, journalPath(b), opts)
	states := [2]json.RawMessage{ruleState(1000), withRule(ruleState(1000), 500, "changed")}
	must[Checkpoint](b)(j.Start("s", states[0]))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if _, err := j.Add(Checkpoint{}, states[n%2]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddDelta1000Rules(b *testing.B) {
	benchmarkAdd(b, Options{FullEvery: 1 << 30, wrap: quiet})
}

func BenchmarkAddFull1000Rules(b *testing.B) { benchmarkAdd(b, Options{FullEvery: 1, wrap: quiet}) }

func BenchmarkAddDelta1000RulesFsync(b *testing.B) { benchmarkAdd(b, Options{FullEvery: 1 << 30}) }

func BenchmarkRollbackOver1000(b *testing.B) {
	j, _ := grown(b, 1000)
	oldest := j.List("s")[9] // as far as can be from a full state
	for b.Loop() {
		in, err := j.BeginRollback(oldest.ID, RollbackOptions{Scope: ScopeBoth, FirstPair: 1})
		if err == nil {
			err = j.Finish(in)
		}
		b.StopTimer()
		ok(b, err)
		ok(b, j.Finish(beginUndo(b, j)))
		b.StartTimer()
	}
}

func BenchmarkOpen1000Checkpoints(b *testing.B) {
	j, path := grown(b, 1000)
	b.SetBytes(j.index.size)
	for b.Loop() {
		r, err := Open(path, Options{ReadOnly: true})
		if err != nil || len(r.List("s")) != 1001 {
			b.Fatal(err)
		}
	}
}

// ruleState is a state like that of the model filter, with n rules.
func ruleState(n int) json.RawMessage {
	type rule struct {
		Pattern string `json:"pattern"`
		Colour  int    `json:"colour"`
		Comment string `json:"comment"`
	}
	rules := make([]rule, n)
	for i := range rules {
		rules[i] = rule{fmt.Sprintf("vendor-%d/model-%d*", i%17, i), i % 12, "made by hand"}
	}
	doc, err := json.Marshal(map[string]any{
		"providers": []any{map[string]any{"name": "openai", "ignore": rules, "allow": []string{}}},
		"provider":  "openai", "search": "",
	})
	if err != nil {
		panic(err)
	}
	return doc
}

// withRule returns a ruleState changed at rule i.
func withRule(doc json.RawMessage, i int, pattern string) json.RawMessage {
	return bytes.Replace(doc, []byte(fmt.Sprintf("model-%d*", i)), []byte(pattern), 1)
}
