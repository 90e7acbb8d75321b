package assistant_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// trimRig has pairs pairs of about 20 tokens, and a model that takes all.
func trimRig(t testing.TB, pairs int, script *at.Script, set assistant.Settings) *rig {
	t.Helper()
	r := newRig(t, script, func(o *assistant.Options) { o.Settings = set })
	for i := range pairs {
		p := assistant.Pair{ID: fmt.Sprint("id", i), Session: "s1", Model: "test/old", State: assistant.PairComplete, UserText: safetext.Text(fmt.Sprintf("user-%d", i))}
		if i%2 == 1 {
			p.ToolCalls = []assistant.ToolCall{{ID: fmt.Sprint("c", i), Name: "add_word", Arguments: []byte(`{}`), Result: &assistant.ToolResult{Success: true, Message: "ok"}}}
			p.AssistantText = "[[tool:0]]"
		}
		p.AssistantText += safetext.Sprintf("\n\nassistant-%d", i)
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
	refs := r.session.Visible()
	out := []assistant.LeftOut{{Seq: refs[0].Seq, ID: "id0", Tokens: refs[0].Cost}, {Seq: refs[1].Seq, ID: "id1", Tokens: refs[1].Cost}}
	both := refs[0].Cost + refs[1].Cost
	want := []assistant.ContextTrimmed{
		{Sent: 4, Trimmed: 1, Visible: 5, Attempt: 2, Tokens: refs[0].Cost, Pairs: out[:1]},
		{Sent: 3, Trimmed: 2, Visible: 5, Attempt: 3, Tokens: both, Pairs: out},
	}
	if !reflect.DeepEqual(trims, want) {
		t.Errorf("events = %+v\nwant %+v", trims, want)
	}
	last, ok := r.session.LastSend()
	if sent := (assistant.LastSend{Pair: r.last().Seq, Included: 5, Visible: 5, Stage: budget.StageComplete, LeftOut: out, Tokens: both}); !ok || !reflect.DeepEqual(last, sent) {
		t.Errorf("last send = %+v, %v\nwant %+v", last, ok, sent)
	}
	wantEqual(t, "counter", r.session.Counter(), "[5-2]/5")
	wantEqual(t, "the boundary stays", r.session.Boundary().First, shown.First)
	var stages []string
	for _, rec := range r.records {
		stages = append(stages, string(rec.Stage))
	}
	wantList(t, "stages", stages, "overflow_initial", "overflow_retry", "complete")
	for i, rec := range r.records {
		wantEqual(t, "trimmed", rec.TrimmedCount, i)
		wantEqual(t, "selection", len(rec.Selection), 5-i)
		wantEqual(t, "model", rec.Model, "test/script")
		wantEqual(t, "oldest of the selection", rec.Selection[0].ID, fmt.Sprint("id", i))
		wantEqual(t, "matched", rec.OverflowMatched, i < 2)
		removed := 0
		for n, gone := range rec.TrimmingRemoved {
			wantEqual(t, "removed", gone.ID, out[n].ID)
			removed += gone.Tokens
		}
		wantEqual(t, "tokens removed", rec.TrimmingRemovedTokens, removed)
		wantEqual(t, "pairs removed", len(rec.TrimmingRemoved), i)
		wantEqual(t, "reserve", rec.RemainingReserve, rec.Budget.MaxUsableRaw-rec.AttemptTotalTokens)
	}
	wantEqual(t, "words of the refusal", r.records[0].LastErrorMessage != "", true)
}

// wholeExchanges holds every call of a request against its result.
func wholeExchanges(t interface{ Errorf(string, ...any) }, req llm.Request) {
	open := []string{}
	for _, m := range req.Messages {
		switch {
		case m.Role == llm.RoleTool:
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
	for name, tt := range map[string]struct {
		pairs, max, requests int
		says                 string
	}{
		"no pair left":      {3, 0, 4, "too long for test/script, even without any earlier message:"},
		"limit of attempts": {5, 2, 3, "even without the oldest 2 of 5 earlier messages:"},
		"default limit":     {15, 0, 11, "even without the oldest 10 of 15 earlier messages:"},
		"none allowed":      {3, -1, 1, "and max_trim_attempts forbids leaving out earlier messages:"},
		"nothing before it": {0, 0, 1, "too long for test/script, and there is no earlier message to leave out:"},
	} {
		t.Run(name, func(t *testing.T) {
			r := trimRig(t, tt.pairs, at.NewScript(at.Overflow()), assistant.Settings{Budget: budget.Params{MaxTrimAttempts: tt.max}})
			wantIn(t, wantError(t, r.send("new"), assistant.CodeOverflowTrimmed).Message, tt.says)
			wantEqual(t, "requests", len(r.script.Requests()), tt.requests)
			wantEqual(t, "records", len(r.records), tt.requests)
			wantEqual(t, "last stage", r.records[len(r.records)-1].Stage, budget.StageExhausted)
			for _, req := range r.script.Requests() {
				if req.Messages[0].Role != llm.RoleSystem || req.Messages[len(req.Messages)-1].Content != "new" {
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
		wantEqual(t, "the turn's own result", last.Role, llm.RoleTool)
		wholeExchanges(t, req)
	}
	var stages []string
	for _, rec := range r.records {
		stages = append(stages, string(rec.Stage))
	}
	wantList(t, "stages", stages, "complete", "overflow_initial", "overflow_retry", "complete")
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
			p := assistant.Pair{Session: "s1", State: assistant.PairComplete, UserText: safetext.Text(fmt.Sprintf("user-%d", i)), AssistantText: safetext.Text(words(i % 7))}
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
		events, err := at.Send(context.Background(), s, assistant.Prompt{Text: text})
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
			if req.Messages[0].Role != llm.RoleSystem || users[len(users)-1] != strings.TrimSpace(text) {
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
