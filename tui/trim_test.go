package tui

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/budget"
	"winnow/assistant/history/sqlite"
	"winnow/assistant/llm"
	"winnow/assistant/openai"
	"winnow/assistant/safetext"
	"winnow/checkpoint"
	"winnow/tui/overlay"
	"winnow/tui/style"
	"winnow/tui/tuitest"
)

// wired is the whole program with an endpoint on the wire, and a history of
// pairs of one size.
type wired struct {
	*tuitest.Screen
	session *assistant.Session
	server  *at.Server
	pairs   []assistant.Pair

	mu      sync.Mutex
	records []budget.Record
}

// startWire opens the program on n pairs; the second of them has a tool call.
func startWire(t *testing.T, n int, replies ...at.Reply) *wired {
	t.Helper()
	r := &wired{server: at.NewServer(t, replies...)}
	clock := tuitest.NewClock()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "data", "history.db"), sqlite.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	journal, err := checkpoint.Open(filepath.Join(dir, "journal", "log"), checkpoint.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = journal.Close() })
	for i := range n {
		p := sizedPair(i)
		p.CreatedAt = clock.Now()
		if err := store.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{&p}}); err != nil {
			t.Fatal(err)
		}
		r.pairs = append(r.pairs, p)
	}
	client, err := openai.New(openai.Options{BaseURL: r.server.URL, Key: "sk-test", Name: "wire"})
	if err != nil {
		t.Fatal(err)
	}
	registry := &llm.Registry{}
	info := []llm.ModelInfo{{ID: "wire/m", Context: 100_000, Known: true, Tools: true}}
	if err := registry.Add(llm.Provider{Name: "wire", Model: client, Known: info}); err != nil {
		t.Fatal(err)
	}
	r.session, err = assistant.NewSession(registry, assistant.Options{
		ID: "s1", Window: at.NewWindow("one"), Store: store, Journal: journal, Model: "wire/m", Now: clock.Now, Telemetry: r.tell,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.session.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	model, err := New(Options{
		Parts: partsOf(r.session, store, nil, clock.Now), Now: clock.Now, ScreenSettings: overlay.ScreenSettings{FixedBackground: true, Style: style.Options{Dark: true, Unicode: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Screen = tuitest.Start(t, model, 100, 30, tuitest.Options{Clock: clock})
	r.Wait(fmt.Sprintf(" %d/%d", n, n))
	return r
}

// sizedPair is a pair that gives the messages of one exchange; the second pair
// gives those of a tool call too.
func sizedPair(i int) assistant.Pair {
	p := assistant.Pair{
		ID: fmt.Sprint("pair-", i), Session: "s1", Model: "wire/m", Flag: true, State: assistant.PairComplete,
		UserText: safetext.Text(fmt.Sprintf("question %02d %s", i, strings.Repeat("q", 100))), AssistantText: safetext.Text(fmt.Sprintf("answer %02d %s", i, strings.Repeat("a", 100))),
	}
	if i == 1 {
		p.AssistantText = "Looking.\n\n[[tool:0]]\n\n" + p.AssistantText
		p.ToolCalls = []assistant.ToolCall{{
			ID: "call_1", Name: "list_words", Arguments: []byte(`{}`), Result: &assistant.ToolResult{Success: true, Message: "1 words"},
		}}
	}
	return p
}

func (r *wired) tell(rec budget.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, rec)
}

func (r *wired) told() []budget.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// chats are the requests for completions that the endpoint got.
func (r *wired) chats() []at.Chat {
	var out []at.Chat
	for _, x := range r.server.Asked() {
		if strings.HasSuffix(x.Path, "/chat/completions") {
			out = append(out, x.Chat)
		}
	}
	return out
}

// holds fails the test unless a request is the system prompt, exactly the
// messages of pairs, and after them those of the running turn.
func holds(t *testing.T, name string, c at.Chat, pairs []assistant.Pair, turn ...string) {
	t.Helper()
	want := []string{"system"}
	for _, p := range pairs {
		want = append(want, string("user "+p.UserText))
		if len(p.ToolCalls) > 0 {
			want = append(want, "assistant Looking. + list_words", "tool for call_1")
		}
		want = append(want, string("assistant "+p.AssistantText[strings.LastIndex(string(p.AssistantText), "answer"):]))
	}
	want = append(want, turn...)
	got := make([]string, len(c.Messages))
	for i, m := range c.Messages {
		switch {
		case m.Role == "system":
			got[i] = m.Role
		case m.Role == "tool":
			got[i] = "tool for " + m.ToolCallID
		case len(m.ToolCalls) > 0:
			got[i] = m.Role + " " + m.Content + " + " + m.ToolCalls[0].Function.Name
		default:
			got[i] = m.Role + " " + m.Content
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// shorterBy refuses whatever is not so many tokens shorter than the first
// request, as an endpoint with a true limit does.
func shorterBy(tokens int, within at.Reply) at.Reply {
	limit := -1
	return func(x *at.Exchange) {
		if limit < 0 {
			limit = x.Chat.Tokens() - tokens
		}
		at.TokenLimit(limit, within)(x)
	}
}

// costOf is what pairs add to a request, as the endpoint counts them.
func costOf(pairs []assistant.Pair) int {
	sum := 0
	for i := range pairs {
		sum += assistant.PairCost(&pairs[i], budget.DefaultCharsPerToken)
	}
	return sum
}

func TestTrimDropsTheOldestPairEachTime(t *testing.T) {
	const n, drop = 6, 3
	var made []assistant.Pair
	for i := range drop {
		made = append(made, sizedPair(i))
	}
	gate := at.NewGate()
	r := startWire(t, n, shorterBy(costOf(made), at.Stalled(at.TextEvent("It fits "), gate, at.TextEvent("now.")+at.FinishEvent("stop")+at.Done)))
	before := r.session.Boundary()
	r.Type("and now?", tuitest.Send)
	gate.Wait(t)
	r.Wait("It fits")
	if b := r.session.Boundary(); b.First != before.First || b.X != before.X {
		t.Errorf("trimming moved the boundary from %+v to %+v", before, b)
	}
	if got := r.Frame(); strings.Contains(got, "off ") || strings.Contains(got, "sent from here on") {
		t.Errorf("trimming dims pairs:\n%s", got)
	}
	gate.Open()
	r.Wait("It fits now.")
	r.Wait(fmt.Sprintf(" [%d-%d]/%d", n, drop, n)) // of that send, without the pair that was just answered
	chats := r.chats()
	if len(chats) != drop+1 {
		t.Fatalf("%d requests went out, want %d", len(chats), drop+1)
	}
	for i, c := range chats {
		holds(t, fmt.Sprint("request ", i+1), c, r.pairs[i:], "user and now?")
	}
}

func TestTrimTellsTheTelemetry(t *testing.T) {
	const n, drop = 5, 2
	r := startWire(t, n, shorterBy(costOf([]assistant.Pair{sizedPair(0), sizedPair(1)}), at.Text("It fits.")))
	r.Type("and now?", tuitest.Send)
	r.Wait("It fits.")
	r.Wait(fmt.Sprintf("[%d-%d]/%d", n, drop, n))
	records := r.told()
	stages := []budget.Stage{budget.StageInitial, budget.StageRetry, budget.StageComplete}
	if len(records) != len(stages) {
		t.Fatalf("%d attempts are told, want %d: %+v", len(records), len(stages), records)
	}
	for i, rec := range records {
		var ids []string
		for _, sel := range rec.Selection {
			ids = append(ids, sel.ID)
		}
		var want []string
		for _, p := range r.pairs[i:] {
			want = append(want, p.ID)
		}
		if rec.Stage != stages[i] || rec.TrimmedCount != i || rec.AttemptsUsed != i || !slices.Equal(ids, want) {
			t.Errorf("attempt %d is %s, trimmed %d, used %d, of %v; want %s of %v", i, rec.Stage, rec.TrimmedCount, rec.AttemptsUsed, ids, stages[i], want)
		}
		if rec.PredictedMessageCount != n || rec.AttemptHistoryTokens != costOf(r.pairs[i:]) || rec.OverflowMatched != (i < drop) || (rec.LastErrorMessage != "") != (i < drop) {
			t.Errorf("attempt %d tells %+v", i, rec)
		}
	}
}

func TestTrimStopsAfterSoManyAttempts(t *testing.T) {
	const n = 14
	r := startWire(t, n, at.TokenLimit(0, at.Text("never")))
	r.Type("and now?", tuitest.Send)
	r.Wait("context_overflow_after_trimming")
	r.WaitGone("working")
	chats := r.chats()
	if len(chats) != 1+budget.DefaultMaxTrimAttempts {
		t.Fatalf("%d requests went out, want %d", len(chats), 1+budget.DefaultMaxTrimAttempts)
	}
	holds(t, "the last request", chats[len(chats)-1], r.pairs[budget.DefaultMaxTrimAttempts:], "user and now?")
	records := r.told()
	if last := records[len(records)-1]; last.Stage != budget.StageExhausted || last.TrimmedCount != budget.DefaultMaxTrimAttempts {
		t.Errorf("the last attempt is %s with %d trimmed", last.Stage, last.TrimmedCount)
	}
	if b := r.session.Boundary(); b.First != 0 || b.X != n || b.Y != n+1 {
		t.Errorf("after it the boundary is %+v", b)
	}
	r.Wait(fmt.Sprintf("[%d-%d]/%d", n, budget.DefaultMaxTrimAttempts, n))
}

func TestTrimStopsWhenNoPairIsLeft(t *testing.T) {
	r := startWire(t, 2, at.TokenLimit(0, at.Text("never")))
	r.Type("and now?", tuitest.Send)
	r.Wait("context_overflow_after_trimming")
	r.WaitGone("working")
	chats := r.chats()
	if len(chats) != 3 {
		t.Fatalf("%d requests went out, want 3", len(chats))
	}
	holds(t, "the last request", chats[2], nil, "user and now?")
}

func TestLaterResponsesTrimToo(t *testing.T) {
	// The first request fits; the second, longer by the exchange, has to give up
	// one pair, and never the running turn.
	limit := -1
	r := startWire(t, 4, func(x *at.Exchange) {
		if limit < 0 {
			limit = x.Chat.Tokens() + 10
			at.Calls(at.Call{ID: "call_new", Name: "list_words", Arguments: `{}`})(x)
			return
		}
		at.TokenLimit(limit, at.Text("There is one word."))(x)
	})
	r.Type("list the words", tuitest.Send)
	r.Wait("There is one word.")
	r.Wait("[4-1]/4")
	chats := r.chats()
	if len(chats) != 3 {
		t.Fatalf("%d requests went out, want 3", len(chats))
	}
	turn := []string{"user list the words", "assistant  + list_words", "tool for call_new"}
	holds(t, "the first request", chats[0], r.pairs, turn[:1]...)
	holds(t, "the second request", chats[1], r.pairs, turn...)
	holds(t, "the third request", chats[2], r.pairs[1:], turn...)
}

func TestAnAnswerThatSpeaksOfOverflowTrimsNothing(t *testing.T) {
	r := startWire(t, 3, at.Text("This model's maximum context length is 8192 tokens: context_length_exceeded, please reduce the length of the messages."))
	r.Type("what does that error say?", tuitest.Send)
	r.Wait("context_length_exceeded")
	r.Wait(" 4/4")
	if chats := r.chats(); len(chats) != 1 {
		t.Errorf("%d requests went out, want 1", len(chats))
	}
	if records := r.told(); len(records) != 1 || records[0].Stage != budget.StageComplete || records[0].TrimmedCount != 0 || records[0].OverflowMatched {
		t.Errorf("the telemetry tells %+v", records)
	}
	r.Type("go on", tuitest.Send)
	r.Wait(" 5/5")
	if chats := r.chats(); len(chats) == 2 {
		holds(t, "the next request", chats[1], r.pairs, "user what does that error say?",
			"assistant This model's maximum context length is 8192 tokens: context_length_exceeded, please reduce the length of the messages.", "user go on")
	} else {
		t.Errorf("%d requests went out, want 2", len(chats))
	}
}

func TestOtherRefusalsTrimNothing(t *testing.T) {
	r := startWire(t, 3, at.Respond(400, `{"error":{"message":"the parameter is too long for this field","code":"invalid_request"}}`))
	r.Type("hello", tuitest.Send)
	r.Wait("[error: ")
	r.WaitGone("working")
	if chats := r.chats(); len(chats) != 1 {
		t.Errorf("%d requests went out, want 1", len(chats))
	}
}

// 12: the counter is of one send: it follows each trim of the request that is
// tried again, and stays until the next boundary is computed.
func TestTheCounterFollowsEachTrim(t *testing.T) {
	s := newStill(t, style.Options{Unicode: true}, 100, 24)
	s.conv.boundary.Counter = "4/9"
	for trimmed, want := range map[int]string{1: "[4-1]/9", 2: "[4-2]/9"} {
		s.onTurnEvent(assistant.ContextTrimmed{Sent: 4 - trimmed, Trimmed: trimmed, Visible: 9, Attempt: trimmed})
		if head, _, _ := strings.Cut(s.frame(), "\n"); !strings.Contains(head, want) {
			t.Errorf("after %d trims the header is %q", trimmed, head)
		}
		if hud := strings.Join(s.Model.numbers(), "\n"); !strings.Contains(hud, want) {
			t.Errorf("after %d trims the HUD does not show %s", trimmed, want)
		}
	}
	s.do(s.show(assistant.Update{State: assistant.State{Shown: &assistant.Shown{Stamp: assistant.Stamp{Version: 1 << 20}, Counter: "1/1"}}}))
	if head, _, _ := strings.Cut(s.frame(), "\n"); !strings.Contains(head, "1/1") {
		t.Errorf("with the next boundary the header is %q", head)
	}
}
