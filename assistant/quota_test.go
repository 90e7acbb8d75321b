package assistant_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// clocked is a rig whose clock a test sets.
func clocked(t testing.TB, script *at.Script) (r *rig, now *time.Time) {
	t.Helper()
	now = new(time.Time)
	*now = startTime
	return newRig(t, script, func(o *assistant.Options) { o.Now = func() time.Time { return *now } }), now
}

func TestWhatIsSentIsTakenOffTheQuota(t *testing.T) {
	gate := at.NewGate()
	limits := &llm.RateLimits{RequestsPerMinute: 10, RequestsLeft: 5, RequestsReset: 30 * time.Second, TokensPerMinute: 50_000, TokensLeft: 40_000, TokensReset: time.Minute}
	r, now := clocked(t, at.NewScript(at.Answer{at.Say("ok"), at.Finish{Limits: limits}}, at.Answer{at.Stop{At: gate}}))
	if q, ok := r.session.Quota(); ok {
		t.Errorf("before the first answer: %+v", q)
	}
	r.send("a")
	if q, ok := r.session.Quota(); !ok || q.RequestsLeft != 5 || q.TokensLeft != 40_000 {
		t.Fatalf("after an answer: %+v", q)
	}
	*now = now.Add(10 * time.Second)
	b := r.session.Boundary()
	events := r.begin(assistant.Prompt{Text: "b"})
	gate.Wait(t)
	q, _ := r.session.Quota()
	wantEqual(t, "requests left", q.RequestsLeft, 4)
	wantEqual(t, "tokens left", q.TokensLeft, 40_000-b.SYS-b.HistoryTokens-1)
	wantEqual(t, "reset", q.RequestsReset, 20*time.Second)
	r.session.Cancel() // no word from the endpoint: the estimate stands
	at.Events(t, events)
	*now = now.Add(20 * time.Second)
	q, _ = r.session.Quota()
	wantEqual(t, "requests left after the reset", q.RequestsLeft, 10)
	wantEqual(t, "tokens left before theirs", q.TokensLeft, 40_000-b.SYS-b.HistoryTokens-1)
	r.must(r.session.SetModel("test/small"))
	if q, ok := r.session.Quota(); ok {
		t.Errorf("another model: %+v", q)
	}
}

func TestTokensAMinuteBoundTheNextSend(t *testing.T) {
	gate := at.NewGate()
	limits := &llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 3000, TokensLeft: 2900, TokensReset: time.Second}
	r := trimRig(t, 6, at.NewScript(
		at.Answer{addWord("two"), at.Finish{Limits: limits}}, at.Answer{at.Stop{At: gate}, at.Say("ok")}, at.Answer{at.Say("ok")},
	), assistant.Settings{})
	r.session.Boundary()
	events := r.begin(assistant.Prompt{Text: "new"})
	gate.Wait(t)
	wantEqual(t, "ML while the turn runs", r.session.Boundary().ML, 100_000)
	gate.Open()
	at.Events(t, events)
	before := r.session.Recomputes()
	b := r.session.Boundary()
	wantEqual(t, "ML after it", b.ML, 3000)
	wantEqual(t, "computed", r.session.Recomputes()-before, 1)
	wantEqual(t, "known", b.Known, true)
	r.session.Boundary()
	wantEqual(t, "computed again", r.session.Recomputes()-before, 1)

	// So few that pairs fall out of context, and out of the next request.
	few := b.SYS + b.URA + b.HistoryTokens/2
	r.session.Registry().SetQuota("test/script", &llm.RateLimits{RequestsLeft: -1, TokensPerMinute: few, TokensLeft: -1}, 0, startTime)
	b = r.session.Boundary()
	if b.All() || b.ML != few {
		t.Fatalf("boundary %+v", b)
	}
	r.send("another")
	reqs := r.script.Requests()
	wantEqual(t, "sent pairs", len(said(reqs[2]))-1, b.X)
	wantEqual(t, "in the telemetry", r.records[len(r.records)-1].Budget.MaxContext, few)
	r.must(r.session.SetModel("test/small"))
	wantEqual(t, "another model", r.session.Boundary().ML, 300)
}

func TestARefusalSaysHowLongToWait(t *testing.T) {
	refusal := &llm.RequestError{
		Kind: llm.KindQuota, Status: 429, Message: "slow down", After: 40 * time.Second,
		Limits: &llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 900, TokensReset: 40 * time.Second},
	}
	r, now := clocked(t, at.NewScript(at.Answer{at.Fail{Err: refusal}}, at.Answer{at.Fail{Err: &llm.RequestError{Kind: llm.KindNet, After: time.Hour}}}))
	wantError(t, r.send("a"), "quota")
	q, ok := r.session.Quota()
	if !ok || q.Wait != 40*time.Second || q.TokensLeft != 0 || q.TokensPerMinute != 900 {
		t.Errorf("quota = %+v, %v", q, ok)
	}
	wantEqual(t, "a draft is over it", r.session.Draft(assistant.Prompt{Text: "x"}).OverQuota, true)
	*now = now.Add(40 * time.Second)
	wantEqual(t, "and not later", r.session.Draft(assistant.Prompt{Text: "x"}).OverQuota, false)
	wantError(t, r.send("b"), "net")
	if q, _ := r.session.Quota(); q.Wait != 0 {
		t.Errorf("a net failure asks to wait: %+v", q)
	}
}

func TestAConversationTeachesTheRegistry(t *testing.T) {
	registry := registryOf(t, at.NewScript(at.Answer{at.Say("ok"), at.Finish{Limits: &llm.RateLimits{RequestsLeft: -1, TokensPerMinute: 77, TokensLeft: 7}}}))
	c, err := assistant.NewConversation(registry, nil, assistant.Config{Model: "test/script"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Continuation().Request("hi").Prompt(context.Background()); err != nil {
		t.Fatal(err)
	}
	if q, ok := registry.Quota("test/script", time.Now()); !ok || q.TokensPerMinute != 77 {
		t.Errorf("quota = %+v, %v", q, ok)
	}
	if _, _, info, _ := registry.Open("test/script"); info.TPM != 77 || info.Context != 100_000 {
		t.Errorf("info = %+v", info)
	}
}

// text of so many tokens.
func tokens(n int) string { return strings.Repeat("x", n*7/2) }

func TestDraft(t *testing.T) {
	r := trimRig(t, 6, at.NewScript(at.Answer{at.Say("ok")}), assistant.Settings{})
	b := r.session.Boundary()
	costs := make([]int, 6)
	for i, ref := range r.session.Visible() {
		costs[i] = ref.Cost
	}
	room := b.URA + 30 // beside the pairs
	r.session.Registry().Learn(llm.ModelInfo{ID: "test/script", Context: b.SYS + b.HistoryTokens + room, Known: true})
	b = r.session.Boundary()
	usable := b.Usable
	for name, tt := range map[string]struct {
		aut               int
		reserve, over     bool
		trims, trimTokens int
	}{
		"nothing":               {0, false, false, 0, 0},
		"one":                   {1, false, false, 0, 0},
		"the reserve":           {100, false, false, 0, 0},
		"all that is free":      {room, false, false, 0, 0},
		"one too many":          {room + 1, true, false, 1, costs[0]},
		"as much as a pair":     {room + costs[0], true, false, 1, costs[0]},
		"more than a pair":      {room + costs[0] + 1, true, false, 2, costs[0] + costs[1]},
		"all that is usable":    {usable, true, false, 6, b.HistoryTokens},
		"more than the model":   {usable + 1, false, true, 0, 0},
		"much more than it can": {usable * 3, false, true, 0, 0},
	} {
		got := r.session.Draft(assistant.Prompt{Text: "  " + tokens(tt.aut) + "\n"})
		want := assistant.DraftCost{
			AUT: tt.aut, Total: b.SYS + b.HistoryTokens + tt.aut, Left: room - tt.aut, SYS: b.SYS, ML: b.ML,
			OverReserve: tt.reserve, Trims: tt.trims, TrimTokens: tt.trimTokens, OverBudget: tt.over,
		}
		if got != want {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
	}
	r.session.Registry().SetQuota("test/script", &llm.RateLimits{RequestsLeft: -1, TokensLeft: b.SYS + b.HistoryTokens + 10, TokensReset: 21 * time.Second}, 0, startTime)
	for n, want := range map[int]bool{0: false, 10: false, 11: true} {
		got := r.session.Draft(assistant.Prompt{Text: tokens(n)})
		if got.OverQuota != want || got.Quota.TokensReset != 21*time.Second {
			t.Errorf("%d tokens with 10 left: %+v", n, got)
		}
	}
}

// A draft costs no boundary, whatever has become of the view meanwhile.
func TestADraftComputesNothing(t *testing.T) {
	r := trimRig(t, 4, at.NewScript(at.Answer{at.Say("ok")}), assistant.Settings{})
	fresh, err := assistant.NewSession(registryOf(t, r.script), r.options)
	r.must(err)
	if c := fresh.Draft(assistant.Prompt{Text: "hello"}); c.AUT != 2 || c.Left != 100_000-2 || fresh.Recomputes() != 0 {
		t.Errorf("before the first boundary: %+v, %d computed", c, fresh.Recomputes())
	}
	r.session.Boundary()
	computed := r.session.Recomputes()
	for _, change := range []func(){
		func() {},
		func() { r.session.SetView(r.session.Visible()[:2], "r2") },
		func() { r.must(r.session.SetModel("test/small")) },
		func() { r.must(r.session.Delete(context.Background(), r.session.Visible()[0].Seq)) },
		func() { r.session.SetView(nil, "x") },
	} {
		change()
		for n := range 50 {
			r.session.Draft(assistant.Prompt{Text: tokens(n * 10)})
		}
	}
	wantEqual(t, "computed", r.session.Recomputes(), computed)
}

func BenchmarkDraft(b *testing.B) {
	r := trimRig(b, 2000, at.NewScript(at.Answer{at.Say("ok")}), assistant.Settings{})
	r.session.Boundary()
	text := tokens(1000)
	for b.Loop() {
		r.session.Draft(assistant.Prompt{Text: text})
	}
}
