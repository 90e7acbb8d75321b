package assistant_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/budget"
)

// put stores a pair as it stands and returns its place.
func put(t interface{ Fatal(...any) }, s assistant.Store, p assistant.Pair) int64 {
	if err := s.Commit(context.Background(), &assistant.Batch{Put: []*assistant.Pair{&p}}); err != nil {
		t.Fatal(err)
	}
	return p.Seq
}

// drawnPair is a pair of any state, with a word of its own in every message.
func drawnPair(t *rapid.T, i int) assistant.Pair {
	p := assistant.Pair{
		ID: fmt.Sprint("id", i), Session: rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "session"),
		UserText: fmt.Sprintf("user-%d %s", i, words(rapid.IntRange(0, 12).Draw(t, "words"))),
		State:    rapid.SampledFrom([]assistant.PairState{assistant.PairComplete, assistant.PairComplete, assistant.PairError}).Draw(t, "state"),
	}
	for c := range rapid.IntRange(0, 2).Draw(t, "calls") {
		p.ToolCalls = append(p.ToolCalls, assistant.ToolCall{
			ID: fmt.Sprintf("c%d-%d", i, c), Name: "add_word", Arguments: []byte(`{"word":"x"}`), Response: c / 2,
			Result: &assistant.ToolResult{Success: true, Message: "added"},
		})
		p.AssistantText += fmt.Sprintf("[[tool:%d]]", c)
	}
	if rapid.Bool().Draw(t, "text") {
		p.AssistantText += fmt.Sprintf("\n\nassistant-%d", i)
	}
	return p
}

// history is what a request holds between the system prompt and its last message.
func history(req assistant.Request) []assistant.WireMessage {
	return req.Messages[1 : len(req.Messages)-1]
}

// wireOf is what pairs give to a request.
func wireOf(pairs []assistant.Pair) []assistant.WireMessage {
	script := at.NewScript(at.Answer{at.Say("ok")})
	registry := &assistant.Registry{}
	_ = registry.Add(assistant.Provider{Name: "test", Model: script})
	list := assistant.NewMessageList()
	for i := range pairs {
		list.Append(assistant.PairMessages(&pairs[i])...)
	}
	list.Append(&assistant.TextMessage{Text: "last", Role: assistant.RoleUser})
	c, _ := assistant.NewConversation(registry, list, assistant.Config{Model: "test/x"})
	for range c.Run(context.Background()) {
		continue
	}
	messages := script.Requests()[0].Messages
	return messages[:len(messages)-1]
}

func TestWhatYouSeeIsWhatIsSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, script := &assistant.MemoryStore{}, at.NewScript(at.Answer{at.Say("ok")})
		registry := registryOf(t, script)
		registry.Learn(assistant.ModelInfo{ID: "test/drawn", Context: rapid.IntRange(800, 1400).Draw(t, "context"), Known: true})
		s, err := assistant.NewSession(registry, assistant.Options{ID: "s1", Store: store, Model: "test/drawn"})
		if err != nil {
			t.Fatal(err)
		}
		pairs := map[int64]assistant.Pair{}
		for i := range rapid.IntRange(0, 25).Draw(t, "pairs") {
			p := drawnPair(t, i)
			p.Seq = put(t, store, p)
			pairs[p.Seq] = p
		}
		refs, err := store.Refs(context.Background(), "", budget.DefaultCharsPerToken)
		if err != nil {
			t.Fatal(err)
		}
		refs = slices.DeleteFunc(refs, func(assistant.Ref) bool { return rapid.IntRange(0, 3).Draw(t, "hide") == 0 })
		if err := s.Begin(context.Background()); err != nil {
			t.Fatal(err)
		}
		s.SetView(refs, "drawn", budget.FilterExecuted)

		seen := s.Boundary()
		var want []assistant.Pair
		for i, r := range s.Visible() {
			if seen.Includes(i) && r.Sends {
				want = append(want, pairs[r.Seq])
			}
		}
		if seen.X != len(want) {
			t.Fatalf("the counter says %d, %d pairs are included", seen.X, len(want))
		}
		shown, _, err := s.Request(context.Background(), "the new message")
		if err != nil {
			t.Fatal(err)
		}
		events, err := s.Send(context.Background(), assistant.Prompt{Text: "the new message"})
		if err != nil {
			t.Fatal(err)
		}
		for range events {
			continue
		}
		sent := script.Requests()[0]
		if !reflect.DeepEqual(shown, sent) {
			t.Fatalf("Request showed\n%+v\nsent was\n%+v", shown, sent)
		}
		last := sent.Messages[len(sent.Messages)-1]
		if last.Role != assistant.RoleUser || last.Content != "the new message" {
			t.Fatalf("last message = %+v", last)
		}
		if got, want := history(sent), wireOf(want); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("history sent\n%+v\nseen\n%+v", got, want)
		}
	})
}

func TestTheBoundaryIsRightBeforeTheFirstTurn(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	before := r.session.Boundary()
	if before.SYS == 0 {
		t.Fatal("the system prompt is not measured")
	}
	r.send("hi")
	if after := r.session.Boundary().SYS; after != before.SYS {
		t.Errorf("SYS %d before the turn, %d after", before.SYS, after)
	}
}

// trimRig has pairs pairs of about 20 tokens, and a model that takes all.
func trimRig(t testing.TB, pairs int, script *at.Script, set assistant.Settings) *rig {
	t.Helper()
	r := newRig(t, script, func(o *assistant.Options) { o.Settings = set })
	for i := range pairs {
		p := assistant.Pair{ID: fmt.Sprint("id", i), Session: "s1", Model: "test/old", State: assistant.PairComplete, UserText: fmt.Sprintf("user-%d", i)}
		if i%2 == 1 {
			p.ToolCalls = []assistant.ToolCall{{ID: fmt.Sprint("c", i), Name: "add_word", Arguments: []byte(`{}`), Result: &assistant.ToolResult{Success: true, Message: "ok"}}}
			p.AssistantText = "[[tool:0]]"
		}
		p.AssistantText += fmt.Sprintf("\n\nassistant-%d", i)
		put(t, r.store, p)
	}
	r.must(r.session.LoadView(context.Background()))
	return r
}

func TestOverflowDropsTheOldestPairEachTime(t *testing.T) {
	r := trimRig(t, 5, at.NewScript(at.Overflow(), at.Overflow(), at.Answer{at.Say("ok")}), assistant.Settings{})
	shown := r.session.Boundary()
	events := r.send("new")
	end[assistant.Complete](t, events)
	reqs := r.script.Requests()
	for i, want := range [][]string{
		{"user-0", "user-1", "user-2", "user-3", "user-4", "new"}, {"user-1", "user-2", "user-3", "user-4", "new"}, {"user-2", "user-3", "user-4", "new"},
	} {
		wantList(t, fmt.Sprint("request ", i), said(reqs[i]), want...)
		wholeExchanges(t, reqs[i])
	}
	trims := at.Only[assistant.ContextTrimmed](events)
	if len(trims) != 2 || trims[1] != (assistant.ContextTrimmed{Sent: 3, Trimmed: 2, Visible: 5, Attempt: 3}) {
		t.Errorf("events = %+v", trims)
	}
	wantEqual(t, "counter", r.session.Counter(), "[6-2]/6")
	wantEqual(t, "the boundary stays", r.session.Boundary().First, shown.First)
	var stages []string
	for _, rec := range r.records {
		stages = append(stages, string(rec.Stage))
	}
	wantList(t, "stages", stages, "overflow_initial", "overflow_retry", "complete")
	for i, rec := range r.records {
		wantEqual(t, "trimmed", rec.TrimmedCount, i)
		wantEqual(t, "selection", len(rec.Selection), 5-i)
		wantEqual(t, "messages", len(rec.Messages), len(reqs[i].Messages))
		wantEqual(t, "model", rec.Model, "test/script")
		wantEqual(t, "oldest of the selection", rec.Selection[0].ID, fmt.Sprint("id", i))
		wantEqual(t, "matched", rec.OverflowMatched, i < 2)
		wantEqual(t, "reserve", rec.RemainingReserve, rec.Budget.MaxUsableRaw-rec.AttemptTotalTokens)
	}
	wantEqual(t, "words of the refusal", r.records[0].LastErrorMessage != "", true)
}

// wholeExchanges holds every call of a request against its result.
func wholeExchanges(t interface{ Errorf(string, ...any) }, req assistant.Request) {
	open := []string{}
	for _, m := range req.Messages {
		switch {
		case m.Role == assistant.RoleTool:
			if len(open) == 0 || open[0] != m.CallID {
				t.Errorf("result %s answers no open call of %v", m.CallID, open)
				return
			}
			open = open[1:]
		case len(open) > 0:
			t.Errorf("calls %v have no results", open)
			return
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Errorf("calls %v have no results", open)
	}
}

func TestTrimmingIsExhausted(t *testing.T) {
	for name, tt := range map[string]struct{ pairs, max, requests int }{
		"no pair left": {3, 0, 4}, "limit of attempts": {5, 2, 3}, "default limit": {15, 0, 11}, "none allowed": {3, -1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := trimRig(t, tt.pairs, at.NewScript(at.Overflow()), assistant.Settings{Budget: budget.Params{MaxTrimAttempts: tt.max}})
			wantError(t, r.send("new"), assistant.CodeOverflowTrimmed)
			wantEqual(t, "requests", len(r.script.Requests()), tt.requests)
			wantEqual(t, "records", len(r.records), tt.requests)
			wantEqual(t, "last stage", r.records[len(r.records)-1].Stage, budget.StageExhausted)
			for _, req := range r.script.Requests() {
				if req.Messages[0].Role != assistant.RoleSystem || req.Messages[len(req.Messages)-1].Content != "new" {
					t.Errorf("request without system prompt or new text: %+v", req.Messages)
				}
			}
		})
	}
}

func TestALaterResponseTrimsOldPairsAndNeverItsOwnTurn(t *testing.T) {
	r := trimRig(t, 3, at.NewScript(at.Answer{addWord("two")}, at.Overflow(), at.Overflow(), at.Answer{at.Say("ok")}), assistant.Settings{})
	end[assistant.Complete](t, r.send("new"))
	reqs := r.script.Requests()
	wantList(t, "last request", said(reqs[3]), "user-2", "new")
	for _, req := range reqs[1:] {
		last := req.Messages[len(req.Messages)-1]
		wantEqual(t, "the turn's own result", last.Role, assistant.RoleTool)
		wholeExchanges(t, req)
	}
	var stages []string
	for _, rec := range r.records {
		stages = append(stages, string(rec.Stage))
	}
	wantList(t, "stages", stages, "complete", "overflow_initial", "overflow_retry", "complete")
}

func TestTelemetryOfOtherEnds(t *testing.T) {
	t.Run("error", func(t *testing.T) {
		r := newRig(t, at.NewScript(at.Answer{at.Cut{}}))
		r.send("a")
		if len(r.records) != 1 || r.records[0].Stage != budget.StageError || r.records[0].LastErrorMessage == "" {
			t.Errorf("records = %+v", r.records)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		gate := at.NewGate()
		r := newRig(t, at.NewScript(at.Answer{at.Stop{At: gate}}))
		events := r.begin(assistant.Prompt{Text: "a"})
		gate.Wait(t)
		r.session.Cancel()
		at.Events(t, events)
		if len(r.records) != 1 || r.records[0].Stage != budget.StageSent {
			t.Errorf("records = %+v", r.records)
		}
	})
	t.Run("limit of rounds", func(t *testing.T) {
		r := newRig(t, at.NewScript(at.Answer{call("list_words", "{}")}))
		r.send("a")
		wantEqual(t, "records", len(r.records), 5)
	})
}

func TestAMessageThatIsTooLargeIsNotSent(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Model = "test/small" })
	wantError(t, r.send(strings.Repeat("long ", 300)), assistant.CodePromptTooLarge)
	wantEqual(t, "requests", len(r.script.Requests()), 0)
	wantEqual(t, "kept", r.last().ErrorCode, assistant.CodePromptTooLarge)
	if len(r.records) != 1 || r.records[0].Stage != budget.StagePromptSize {
		t.Errorf("records = %+v", r.records)
	}
}

func TestNearLimit(t *testing.T) {
	r := trimRig(t, 4, at.NewScript(at.Answer{at.Say("ok")}), assistant.Settings{})
	wantEqual(t, "with room", r.session.NearLimit(), false)
	b := r.session.Boundary()
	used := b.SYS + b.HistoryTokens + b.URA
	r.session.Registry().Learn(assistant.ModelInfo{ID: "test/script", Context: used + 10, Known: true})
	r.session.ModelsChanged()
	wantEqual(t, "nearly full", r.session.NearLimit(), true)
	wantEqual(t, "all fit", r.session.Boundary().All(), true)
	r.session.Registry().Learn(assistant.ModelInfo{ID: "test/script", Context: used - 10, Known: true})
	r.session.ModelsChanged()
	wantEqual(t, "over", r.session.NearLimit() && !r.session.Boundary().All(), true)
}

func TestAModelChangeCountsFromTheNextSend(t *testing.T) {
	r := trimRig(t, 4, at.NewScript(at.Answer{at.Say("ok")}), assistant.Settings{})
	if _, err := assistant.NewSession(nil, assistant.Options{}); err == nil {
		t.Error("a session without registry")
	}
	if err := r.session.SetModel("nobody/x"); err == nil {
		t.Error("an unknown provider was taken")
	}
	b := r.session.Boundary()
	r.session.Registry().Learn(assistant.ModelInfo{ID: "test/tight", Context: b.SYS + b.URA + b.HistoryTokens/2, Known: true})
	r.must(r.session.SetModel("test/tight"))
	seen := r.session.Boundary()
	if seen.X == 0 || seen.X == 4 {
		t.Fatalf("included: %d of 4", seen.X)
	}
	r.send("n")
	req := r.script.Requests()[0]
	wantEqual(t, "name on the wire", req.Model, "tight")
	wantEqual(t, "sent", len(said(req)), seen.X+1)
}

// FuzzTrim sends into a model that takes only so many tokens, and holds every
// request against the promise: one oldest pair less each time, exchanges
// whole, the new text last, at most 1 + NTA requests.
func FuzzTrim(f *testing.F) {
	f.Add(uint8(5), uint16(60), uint8(0), "new")
	f.Add(uint8(20), uint16(1), uint8(3), "漢字")
	f.Add(uint8(0), uint16(0), uint8(1), "x")
	f.Fuzz(func(t *testing.T, pairs uint8, limit uint16, nta uint8, text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		model := limited{Script: at.NewScript(at.Answer{at.Say("ok")}), limit: int(limit)}
		store := &assistant.MemoryStore{}
		for i := range int(pairs % 32) {
			p := assistant.Pair{Session: "s1", State: assistant.PairComplete, UserText: fmt.Sprintf("user-%d", i), AssistantText: words(i % 7)}
			if i%3 == 0 {
				p.ToolCalls = []assistant.ToolCall{{ID: fmt.Sprint(i), Name: "t", Arguments: []byte(`{}`), Result: &assistant.ToolResult{Message: "r"}}}
				p.AssistantText = "[[tool:0]]" + p.AssistantText
			}
			put(t, store, p)
		}
		params := budget.Params{MaxTrimAttempts: int(nta % 12)}
		s, err := assistant.NewSession(registryOf(t, &model), assistant.Options{ID: "s1", Store: store, Model: "test/script", Settings: assistant.Settings{Budget: params}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.LoadView(context.Background()); err != nil {
			t.Fatal(err)
		}
		events, err := s.Send(context.Background(), assistant.Prompt{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		var last assistant.Event
		for last = range events {
			continue
		}
		reqs := model.Requests()
		if len(reqs) > 1+params.NTA() {
			t.Fatalf("%d requests, at most %d are allowed", len(reqs), 1+params.NTA())
		}
		for i, req := range reqs {
			wholeExchanges(t, req)
			users := said(req)
			if req.Messages[0].Role != assistant.RoleSystem || users[len(users)-1] != strings.TrimSpace(text) {
				t.Fatalf("request %d lost its system prompt or its text: %+v", i, req.Messages)
			}
			if i > 0 && !slices.Equal(users, said(reqs[i-1])[1:]) {
				t.Fatalf("request %d holds %q after %q", i, users, said(reqs[i-1]))
			}
		}
		_, complete := last.(assistant.Complete)
		if fits := model.size(reqs[len(reqs)-1]) <= int(limit); fits != complete {
			t.Fatalf("the last request fits: %v, the turn ended with %#v", fits, last)
		}
	})
}
