package budget

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestAttemptTrims(t *testing.T) {
	visible := pairs(500, 100, -1, 200, 300)
	b := Predict(visible, Limit{Context: 800, Known: true}, 50, Params{})
	a := NewAttempt(b, visible, 40, 50, Params{})
	if a.TooLarge() || a.PredictedCount() != 3 || !slices.Equal(a.Included(), []int{1, 3, 4}) {
		t.Fatalf("first attempt includes %v of X %d", a.Included(), a.PredictedCount())
	}
	type row struct {
		stage                              Stage
		history, total, trimmed, used, res int
	}
	check := func(r Record, want row) {
		t.Helper()
		got := row{r.Stage, r.AttemptHistoryTokens, r.AttemptTotalTokens, r.TrimmedCount, r.AttemptsUsed, r.RemainingReserve}
		if got != want {
			t.Errorf("record %+v, want %+v", got, want)
		}
		if r.PredictedMessageCount != 3 || r.PredictedHistoryTokens != 600 || r.PredictedTotalTokens != 700 || r.AUT != 40 ||
			r.Budget != (Budget{800, 750}) || r.CharsPerToken != 3.5 {
			t.Errorf("the frozen part moved: %+v", r)
		}
	}
	check(a.Record(), row{StageSent, 600, 640, 0, 0, 110})
	if !a.Overflow() || !slices.Equal(a.Included(), []int{3, 4}) {
		t.Fatalf("after one overflow: %v", a.Included())
	}
	check(a.Ended(), row{StageInitial, 600, 640, 0, 0, 110})
	check(a.Record(), row{StageSent, 500, 540, 1, 1, 210})
	if !a.Overflow() {
		t.Fatal("a second overflow was not tried again")
	}
	check(a.Ended(), row{StageRetry, 500, 540, 1, 1, 210})
	a.Complete()
	check(a.Ended(), row{StageComplete, 300, 340, 2, 2, 410})
	if a.Counter() != "[3-2]/5" {
		t.Errorf("counter %q, want [3-2]/5", a.Counter())
	}
	a.Fail()
	if a.Overflow() || a.Stage() != StageComplete {
		t.Errorf("an attempt that is over went on: %s", a.Stage())
	}
}

func TestAttemptExhausted(t *testing.T) {
	for name, c := range map[string]struct {
		pairs, nta, requests int
	}{
		"no pair left":     {3, 10, 4},
		"attempts used up": {30, 10, 11},
		"no trimming":      {3, -1, 1},
		"empty history":    {0, 10, 1},
	} {
		visible := make([]Cost, c.pairs)
		for i := range visible {
			visible[i] = Cost{1, true}
		}
		p := Params{MaxTrimAttempts: c.nta}
		a := NewAttempt(Predict(visible, Limit{}, 0, p), visible, 5, 0, p)
		requests := 1
		for a.Overflow() {
			requests++
		}
		if requests != c.requests || a.Stage() != StageExhausted || a.Ended().Stage != StageExhausted || !a.Ended().OverflowMatched {
			t.Errorf("%s: %d requests, stage %s; want %d, exhausted", name, requests, a.Stage(), c.requests)
		}
	}
}

func TestAttemptPromptTooLarge(t *testing.T) {
	b := Predict(pairs(10), Limit{Context: 1000}, 200, Params{})
	for aut, want := range map[int]bool{800: false, 801: true} {
		a := NewAttempt(b, pairs(10), aut, 200, Params{})
		if a.TooLarge() != want || (a.Stage() == StagePromptSize) != want || want && a.Overflow() {
			t.Errorf("AUT %d + SYS 200 of 1000: too large %v, stage %s", aut, a.TooLarge(), a.Stage())
		}
	}
}

func TestAttemptGoesOnAfterTools(t *testing.T) {
	visible := pairs(1, 2, 3, 4, 5)
	p := Params{MaxTrimAttempts: 2}
	a := NewAttempt(Predict(visible, Limit{}, 0, p), visible, 7, 0, p)
	a.Overflow()
	a.Overflow()
	a.Complete()
	a.Continue(1000)
	r := a.Record()
	if r.TrimmedCount != 2 || r.AttemptsUsed != 0 || r.AttemptTotalTokens != 12+7+1000 || r.Stage != StageSent {
		t.Errorf("next response: %+v", r)
	}
	if !a.Overflow() || a.Ended().Stage != StageInitial || !slices.Equal(a.Included(), []int{3, 4}) {
		t.Errorf("its first overflow: %s, %v", a.Ended().Stage, a.Included())
	}
}

func TestRecordNames(t *testing.T) {
	got, err := json.Marshal(Record{Model: "openai/gpt", Stage: StageSent, CharsPerToken: 3.5})
	want := `{"model":"openai/gpt","budget":{"maxContext":0,"maxUsableRaw":0},"selection":[],"predictedMessageCount":0,` +
		`"predictedHistoryTokens":0,"predictedTotalTokens":0,"attemptHistoryTokens":0,"attemptTotalTokens":0,"AUT":0,` +
		`"trimmedCount":0,"attemptsUsed":0,"charsPerToken":3.5,"remainingReserve":0,"stage":"sent","messages":[]}`
	if err != nil || string(got) != want {
		t.Errorf("a record is\n%s, want\n%s", got, want)
	}
	got, _ = json.Marshal(Record{
		LastErrorMessage: "too long", OverflowMatched: true,
		Selection: []Selected{{"p1", "m", 3}}, Messages: []Message{{"user", "hi"}},
	})
	var m map[string]any
	if err := json.Unmarshal(got, &m); err != nil || m["lastErrorMessage"] != "too long" || m["overflowMatched"] != true ||
		len(m["selection"].([]any)[0].(map[string]any)) != 3 || len(m["messages"].([]any)[0].(map[string]any)) != 2 {
		t.Errorf("a full record is %s, %v", got, err)
	}
}

func FuzzTrim(f *testing.F) {
	f.Add([]byte{10, 200, 3, 255, 0, 7}, uint16(400), uint16(20), uint16(30), int8(3), uint8(2))
	f.Add([]byte{}, uint16(0), uint16(9), uint16(1), int8(-1), uint8(0))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, uint16(1000), uint16(0), uint16(0), int8(0), uint8(20))
	f.Fuzz(func(t *testing.T, sizes []byte, ctx, sys, aut uint16, nta int8, overflows uint8) {
		visible := make([]Cost, len(sizes))
		for i, n := range sizes {
			visible[i] = Cost{int(n), n%5 > 0}
		}
		p := Params{MaxTrimAttempts: int(nta)}
		limit := Limit{Context: int(ctx)}
		b := Predict(visible, limit, int(sys), p)
		if first, x, history := bySuffix(visible, limit, int(sys), p); b.First != first || b.X != x || b.HistoryTokens != history {
			t.Fatalf("boundary %+v, want %d %d %d", b, first, x, history)
		}
		shown := b
		a := NewAttempt(b, visible, int(aut), int(sys), p)
		if a.TooLarge() {
			if a.Overflow() || a.Stage() != StagePromptSize {
				t.Fatal("a prompt that is too large was sent")
			}
			return
		}
		requests := 1
		for range overflows {
			before, was := slices.Clone(a.Included()), a.Record()
			if !a.Overflow() {
				if len(before) > 0 && requests <= p.NTA() || !slices.Equal(before, a.Included()) {
					t.Fatalf("gave up after %d requests with %v left", requests, before)
				}
				break
			}
			requests++
			now := a.Record()
			if !slices.Equal(a.Included(), before[1:]) {
				t.Fatalf("%v became %v, want exactly the oldest dropped", before, a.Included())
			}
			if now.AttemptHistoryTokens != was.AttemptHistoryTokens-visible[before[0]].Tokens ||
				now.AttemptTotalTokens-now.AttemptHistoryTokens != int(aut) || now.PredictedMessageCount != was.PredictedMessageCount {
				t.Fatalf("numbers %+v after %+v", now, was)
			}
		}
		if requests > 1+p.NTA() || b != shown || a.PredictedCount()-a.DroppedCount() != len(a.Included()) {
			t.Fatalf("%d requests, X %d, T %d, included %v", requests, a.PredictedCount(), a.DroppedCount(), a.Included())
		}
	})
}
