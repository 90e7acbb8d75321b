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
	"winnow/assistant/llm"
	"winnow/assistant/message"
	"winnow/assistant/safetext"
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
		UserText: safetext.Text(fmt.Sprintf("user-%d %s", i, words(rapid.IntRange(0, 12).Draw(t, "words")))),
		State:    rapid.SampledFrom([]assistant.PairState{assistant.PairComplete, assistant.PairComplete, assistant.PairError}).Draw(t, "state"),
	}
	for c := range rapid.IntRange(0, 2).Draw(t, "calls") {
		p.ToolCalls = append(p.ToolCalls, assistant.ToolCall{
			ID: fmt.Sprintf("c%d-%d", i, c), Name: "add_word", Arguments: []byte(`{"word":"x"}`), Response: c / 2,
			Result: &assistant.ToolResult{Success: true, Message: "added"},
		})
		p.AssistantText += safetext.Sprintf("[[tool:%d]]", c)
	}
	if rapid.Bool().Draw(t, "text") {
		p.AssistantText += safetext.Sprintf("\n\nassistant-%d", i)
	}
	return p
}

// history is what a request holds between the system prompt and its last message.
func history(req llm.Request) []llm.Message {
	return req.Messages[1 : len(req.Messages)-1]
}

// wireOf is what pairs give to a request.
func wireOf(pairs []assistant.Pair) []llm.Message {
	script := at.NewScript(at.Answer{at.Say("ok")})
	registry := &llm.Registry{}
	_ = registry.Add(llm.Provider{Name: "test", Model: script})
	list := &message.List{}
	for i := range pairs {
		*list = append(*list, assistant.PairMessages(&pairs[i])...)
	}
	*list = append(*list, &message.Text{Text: "last", Role: llm.RoleUser})
	c, _ := assistant.NewConversation(registry, list, assistant.Config{Model: "test/x"})
	for _, err := range c.Run(context.Background()) {
		_ = err // only the request counts here
	}
	messages := script.Requests()[0].Messages
	return messages[:len(messages)-1]
}

func TestWhatYouSeeIsWhatIsSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, script := &assistant.MemoryStore{}, at.NewScript(at.Answer{at.Say("ok")})
		registry := registryOf(t, script)
		registry.Learn(llm.ModelInfo{ID: "test/drawn", Context: rapid.IntRange(800, 1400).Draw(t, "context"), Known: true})
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
		if err := s.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		s.SetView(refs, "drawn")

		seen := s.Boundary()
		var want []assistant.Pair
		for i, r := range s.Visible() {
			if seen.Includes(i) && r.Contributes {
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
		events, err := at.Send(context.Background(), s, assistant.Prompt{Text: "the new message"})
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
		if last.Role != llm.RoleUser || last.Content != "the new message" {
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
	fresh, err := assistant.NewSession(registryOf(t, r.script), r.options)
	r.must(err)
	r.must(fresh.Start(context.Background()))
	wantEqual(t, "SYS without a view", fresh.Boundary().SYS, before.SYS)

	options := r.options
	options.Model = "" // the endpoints are still being asked
	late, err := assistant.NewSession(registryOf(t, r.script), options)
	r.must(err)
	r.must(late.Start(context.Background()))
	r.must(late.SetModel(r.options.Model))
	wantEqual(t, "SYS with a model that is found later", late.Boundary().SYS, before.SYS)
	r.send("hi")
	if after := r.session.Boundary().SYS; after != before.SYS {
		t.Errorf("SYS %d before the turn, %d after", before.SYS, after)
	}
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
	wantEqual(t, "with room", r.session.Boundary().NearLimit(), false)
	b := r.session.Boundary()
	used := b.SYS + b.HistoryTokens + b.URA
	r.session.Registry().Learn(llm.ModelInfo{ID: "test/script", Context: used + 10, Known: true})
	wantEqual(t, "nearly full", r.session.Boundary().NearLimit(), true)
	wantEqual(t, "all fit", r.session.Boundary().All(), true)
	r.session.Registry().Learn(llm.ModelInfo{ID: "test/script", Context: used - 10, Known: true})
	wantEqual(t, "over", r.session.Boundary().NearLimit() && !r.session.Boundary().All(), true)
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
	r.session.Registry().Learn(llm.ModelInfo{ID: "test/tight", Context: b.SYS + b.URA + b.HistoryTokens/2, Known: true})
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
