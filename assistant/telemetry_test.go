package assistant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/openai"
)

// stages are those of the records, in order.
func (r *rig) stages() []string {
	var out []string
	for _, rec := range r.records {
		out = append(out, string(rec.Stage))
	}
	return out
}

// TestTelemetryHoldsItsLaws runs turns of every kind of end and holds each
// record against the definitions of its fields and against the request that it
// tells of.
func TestTelemetryHoldsItsLaws(t *testing.T) {
	long := strings.Repeat("long ", 100_000)
	for name, tt := range map[string]struct {
		script []at.Answer
		prompt assistant.Prompt
		nta    int
		stages []string
		failed bool // the last record has an error
	}{
		"complete":         {[]at.Answer{{at.Say("ok")}}, assistant.Prompt{Text: "new"}, 0, []string{"complete"}, false},
		"tools":            {[]at.Answer{{addWord("two")}, {at.Say("ok")}}, assistant.Prompt{Text: "new"}, 0, []string{"complete", "complete"}, false},
		"trimmed":          {[]at.Answer{at.Overflow(), at.Overflow(), {at.Say("ok")}}, assistant.Prompt{Text: "new"}, 0, []string{"overflow_initial", "overflow_retry", "complete"}, false},
		"trimmed later":    {[]at.Answer{{addWord("two")}, at.Overflow(), at.Overflow(), {at.Say("ok")}}, assistant.Prompt{Text: "new"}, 0, []string{"complete", "overflow_initial", "overflow_retry", "complete"}, false},
		"trimmed twice":    {[]at.Answer{at.Overflow(), {addWord("two")}, at.Overflow(), {at.Say("ok")}}, assistant.Prompt{Text: "new"}, 0, []string{"overflow_initial", "complete", "overflow_initial", "complete"}, false},
		"exhausted":        {[]at.Answer{at.Overflow()}, assistant.Prompt{Text: "new"}, 2, []string{"overflow_initial", "overflow_retry", "overflow_exhausted"}, true},
		"no trimming":      {[]at.Answer{at.Overflow()}, assistant.Prompt{Text: "new"}, -1, []string{"overflow_exhausted"}, true},
		"error":            {[]at.Answer{{at.Cut{}}}, assistant.Prompt{Text: "new"}, 0, []string{"error"}, true},
		"error after trim": {[]at.Answer{at.Overflow(), {at.Cut{}}}, assistant.Prompt{Text: "new"}, 0, []string{"overflow_initial", "error"}, true},
		"cut at length":    {[]at.Answer{{addWord("two"), at.Finish{Reason: "length"}}}, assistant.Prompt{Text: "new"}, 0, []string{"error"}, true},
		"too large":        {[]at.Answer{{at.Say("ok")}}, assistant.Prompt{Text: long}, 0, []string{"prompt_too_large"}, true},
		"invalid calls":    {[]at.Answer{{call("nobody", "{}")}}, assistant.Prompt{Text: "new"}, 0, []string{"complete", "complete", "complete", "complete"}, false},
		"a pair replaced":  {[]at.Answer{{at.Say("ok")}}, assistant.Prompt{Text: "new", Replaces: 2}, 0, []string{"complete"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			set := assistant.Settings{Budget: budget.Params{MaxTrimAttempts: tt.nta, UserRequestAllowance: 70, CharsPerToken: 3}}
			r := trimRig(t, 5, at.NewScript(tt.script...), set)
			b := r.session.Boundary()
			r.turn(tt.prompt)
			wantList(t, "stages", r.stages(), tt.stages...)
			asked := r.script.Requests()
			if len(asked) == 0 {
				asked = []llm.Request{{}} // of what was not sent there is a record, too
			}
			wantEqual(t, "one record an attempt", len(r.records), len(asked))
			wantEqual(t, "the last one has an error", r.records[len(r.records)-1].LastErrorMessage != "", tt.failed)
			used, first := 0, r.records[0]
			for i, rec := range r.records {
				r.wantLaws(rec, first, set.Budget, b, tt.prompt.Text)
				wantEqual(t, "sent pairs", (rec.PredictedMessageCount - rec.TrimmedCount), len(rec.Selection))
				if rec.Stage != budget.StagePromptSize {
					wantEqual(t, "pairs in the request", len(said(asked[i]))-1, len(rec.Selection))
				}
				wantEqual(t, "attempts used", rec.AttemptsUsed, used)
				used++
				if !rec.OverflowMatched {
					used = 0
				}
				wantEqual(t, "no messages unasked", len(rec.Messages), 0)
			}
			if kept := r.session.Records(); !reflect.DeepEqual(kept, r.records) {
				t.Errorf("the session keeps\n%+v\ntold was\n%+v", kept, r.records)
			}
		})
	}
}

// wantLaws holds one record against the definitions.
func (r *rig) wantLaws(rec, first budget.Record, p budget.Params, b budget.Boundary, text string) {
	r.t.Helper()
	history, removed := 0, 0
	for _, s := range rec.Selection {
		history += s.Tokens
		wantEqual(r.t, "model of a pair", s.Model, "test/old")
	}
	for _, s := range rec.TrimmingRemoved {
		removed += s.Tokens
	}
	added := rec.AttemptTotalTokens - rec.AttemptHistoryTokens - rec.AUT // by the running turn
	matched := strings.HasPrefix(string(rec.Stage), "overflow")
	for what, pair := range map[string][2]int{
		"maxContext": {rec.Budget.MaxContext, b.ML}, "predictedMessageCount": {rec.PredictedMessageCount, len(rec.Selection) + rec.TrimmedCount},
		"predictedHistoryTokens": {rec.PredictedHistoryTokens, history + removed}, "predictedTotalTokens": {rec.PredictedTotalTokens, rec.PredictedHistoryTokens + p.URA()},
		"attemptHistoryTokens": {rec.AttemptHistoryTokens, history}, "AUT": {rec.AUT, p.Estimate(strings.TrimSpace(text))},
		"trimmedCount": {rec.TrimmedCount, len(rec.TrimmingRemoved)}, "trimmingRemovedTokens": {rec.TrimmingRemovedTokens, removed},
		"remainingReserve": {rec.RemainingReserve, rec.Budget.MaxUsableRaw - rec.AttemptTotalTokens},
		"frozen count":     {rec.PredictedMessageCount, first.PredictedMessageCount}, "frozen history": {rec.PredictedHistoryTokens, first.PredictedHistoryTokens},
		"frozen total": {rec.PredictedTotalTokens, first.PredictedTotalTokens}, "frozen usable": {rec.Budget.MaxUsableRaw, first.Budget.MaxUsableRaw},
	} {
		if pair[0] != pair[1] {
			r.t.Errorf("%s: %s = %d, want %d", rec.Stage, what, pair[0], pair[1])
		}
	}
	if rec.Model != "test/script" || rec.CharsPerToken != p.CPT() || added < 0 || rec.OverflowMatched != matched || (matched && rec.LastErrorMessage == "") {
		r.t.Errorf("record %+v", rec)
	}
}

// The JSON names are those of the design, and no other is there unasked.
func TestTelemetryNames(t *testing.T) {
	r := trimRig(t, 2, at.NewScript(at.Answer{at.Say("ok")}), assistant.Settings{})
	r.send("new")
	raw, err := json.Marshal(r.records[0])
	r.must(err)
	var fields map[string]json.RawMessage
	r.must(json.Unmarshal(raw, &fields))
	for _, name := range []string{
		"model", "budget", "selection", "predictedMessageCount", "predictedHistoryTokens", "predictedTotalTokens",
		"attemptHistoryTokens", "attemptTotalTokens", "AUT", "trimmedCount", "attemptsUsed", "charsPerToken",
		"remainingReserve", "stage", "messages",
	} {
		if fields[name] == nil {
			t.Errorf("%s is missing", name)
		}
		delete(fields, name)
	}
	if len(fields) > 0 {
		t.Errorf("more than the design has: %s", fields)
	}
}

// Messages come when asked for, as they were sent: without a key.
func TestTelemetryMessagesAreThoseOnTheWire(t *testing.T) {
	const key = "sk-live-0123456789abcdefghij"
	server := at.NewServer(t, at.Calls(addWord("two")), at.Text("Done."))
	client, err := openai.New(openai.Options{BaseURL: server.URL, Key: key, Name: "wire", Wait: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, at.NewScript(), func(o *assistant.Options) { o.TelemetryMessages = true })
	r.must(r.session.Registry().Add(llm.Provider{Name: "wire", Model: client}))
	r.must(r.session.SetModel("wire/m"))
	r.send("my key is " + key)
	for i, x := range server.Asked() {
		var got, want []string
		for _, m := range r.records[i].Messages {
			got = append(got, m.Role+": "+m.Content)
		}
		for _, m := range x.Chat.Messages {
			want = append(want, fmt.Sprintf("%s: %s", m.Role, m.Content))
		}
		wantList(t, "messages", got, want...)
		if all := strings.Join(got, "\n"); strings.Contains(all, key) || !strings.Contains(all, "my key is") {
			t.Errorf("request %d: %s", i, all)
		}
	}
	if kept := r.session.Records(); len(kept) != 2 || kept[0].Messages != nil {
		t.Error("the session keeps messages")
	}
}

func TestTheSessionKeepsTheNewestRecords(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("list_words", "{}")}), func(o *assistant.Options) { o.Settings.Iterations = 103 })
	r.send("a")
	kept := r.session.Records()
	wantEqual(t, "records", len(kept), 100)
	wantEqual(t, "the first is", kept[0].AttemptTotalTokens, r.records[3].AttemptTotalTokens)
	if _, ok := r.session.LastSend(); !ok {
		t.Error("no last send")
	}
	r.must(r.session.Renew(context.Background()))
	if _, ok := r.session.LastSend(); ok || r.session.Records() != nil {
		t.Error("a new session remembers the sends of the old one")
	}
}

func TestTheLastSendIsRemembered(t *testing.T) {
	r := trimRig(t, 4, at.NewScript(at.Overflow(), at.Answer{at.Say("ok")}, at.Overflow(), at.Answer{at.Cut{}}, at.Answer{at.Say("ok")}), assistant.Settings{})
	if _, ok := r.session.LastSend(); ok {
		t.Error("there was no send yet")
	}
	r.send("a")
	first, _ := r.session.LastSend()
	r.session.SetView(nil, "s3") // the counter forgets, the send does not
	if again, ok := r.session.LastSend(); !ok || !reflect.DeepEqual(first, again) || len(first.LeftOut) != 1 || first.LeftOut[0].ID != "id0" {
		t.Errorf("last send = %+v, then %+v", first, again)
	}
	first.LeftOut[0].ID = "forged"
	if again, _ := r.session.LastSend(); again.LeftOut[0].ID != "id0" {
		t.Error("a caller changed what the session remembers")
	}
	r.must(r.session.LoadView(context.Background()))
	r.send("b")
	if last, _ := r.session.LastSend(); last.Stage != budget.StageError || len(last.LeftOut) != 1 || last.Pair != r.last().Seq {
		t.Errorf("after an error: %+v", last)
	}
	r.send("c")
	if last, _ := r.session.LastSend(); last.Stage != budget.StageComplete || last.LeftOut != nil || last.Tokens != 0 {
		t.Errorf("after a send that fits: %+v", last)
	}
}

// What a screen asks for may be asked from any goroutine while a turn runs.
func TestASessionIsLookedAtWhileItWorks(t *testing.T) {
	limits := &llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 90_000, TokensLeft: 80_000, TokensReset: time.Minute}
	r := trimRig(t, 5, at.NewScript(
		at.Overflow(), at.Answer{addWord("two"), at.Finish{Limits: limits}}, at.Overflow(), at.Answer{addWord("three")}, at.Answer{at.Say("ok")},
	), assistant.Settings{})
	done := make(chan struct{})
	var looking sync.WaitGroup
	for range 3 {
		looking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				look(r.session)
				if refs := r.session.Visible(); len(refs) > 0 {
					seq := refs[len(refs)-1].Seq
					sent, err := r.session.SentRequests(context.Background(), seq)
					if once := places(sent); err != nil || len(slices.Compact(once)) != len(sent) {
						t.Errorf("the running pair has requests %v, %v", places(sent), err)
					}
					if err := r.session.Mark(context.Background(), someMarks(seq)); err != nil {
						t.Error(err)
					}
				}
				for _, rec := range r.session.Records() {
					_ = (rec.PredictedMessageCount - rec.TrimmedCount)
				}
				r.session.TopicMoved("A", "B")
			}
		})
	}
	for range 20 {
		r.send("new")
	}
	close(done)
	looking.Wait()
	for _, ref := range r.session.Visible()[5:] {
		if all := places(r.sent(ref.Seq)); len(all) == 0 || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("pair %d has requests %v", ref.Seq, all)
		}
	}
}

// places are response and attempt of requests.
func places(sent []assistant.SentRequest) []string {
	var out []string
	for _, s := range sent {
		out = append(out, fmt.Sprintf("%d.%d", s.Response, s.Attempt))
	}
	return out
}
