package historytest

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/history"
	"winnow/assistant/safetext"
)

// answer returns a complete answer with arguments, results and times that an imprecise
// encoding would change.
func answer(id, text string) *assistant.Variant {
	return &assistant.Variant{
		ID: id, At: now.Add(time.Hour), Model: "anthropic/opus", AssistantText: safetext.Text(text), State: assistant.PairComplete,
		ToolCalls: []assistant.ToolCall{
			{ID: "c", Name: "f", Arguments: json.RawMessage(`{ "n": 12345678901234567890 }`), Result: &assistant.ToolResult{Success: true, Data: json.RawMessage(`{"big":9007199254740993}`)}},
			{ID: "d", Name: "broken", Arguments: json.RawMessage("{\xff\x00")},
		},
	}
}

func aPairHasSeveralAnswers(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	p := pair("s1", "which?", "elephant")
	p.Star = 2
	put(t, s, p, pair("s1", "later", "x"))
	commit := func(a assistant.PairAnswer) error {
		return s.Commit(ctx, &assistant.Batch{Answers: []assistant.PairAnswer{a}})
	}
	want := []*assistant.Variant{nil, answer("b", "giraffe"), answer("c", "zebra")}
	check := func(when string, chosen int) {
		t.Helper()
		got, err := s.Load(ctx, []int64{p.Seq})
		must(t, err)
		all, at := got[0].Answers()
		if at != chosen || len(all) != len(want) || got[0].Star != 2 || got[0].UserText != "which?" || got[0].ID != p.ID || got[0].Notice != "" {
			t.Fatalf("%s: chosen answer %d of %d in %+v", when, at, len(all), got[0])
		}
		for i, v := range all[1:] {
			if !v.At.Equal(want[i+1].At) {
				t.Errorf("%s: the time of answer %d is %v, want %v", when, i+1, v.At, want[i+1].At)
			}
			if v.At = want[i+1].At; !reflect.DeepEqual(v, *want[i+1]) {
				t.Errorf("%s: answer %d is %+v, want %+v", when, i+1, v, *want[i+1])
			}
		}
		for i, needle := range []string{"elephant", "giraffe", "zebra"} {
			if found := line(t, s, "c'"+needle+"'", history.Env{}); slices.Equal(found, []int64{p.Seq}) != (i == chosen) {
				t.Errorf("%s: searching for %s finds %v", when, needle, found)
			}
		}
		refs, err := s.Refs(ctx, "s1", 3.5)
		must(t, err)
		if refs[0] != assistant.PairRef(&got[0], 3.5) {
			t.Errorf("%s: Refs = %+v, want %+v", when, refs[0], assistant.PairRef(&got[0], 3.5))
		}
		if models := line(t, s, "m'opus'", history.Env{}); (len(models) > 0) != (chosen > 0) {
			t.Errorf("%s: filtering by the chosen answer's model finds %v", when, models)
		}
	}
	unfinished := *want[1]
	unfinished.State, unfinished.AssistantText = assistant.PairError, "gir"
	must(t, commit(assistant.PairAnswer{Seq: p.Seq, ID: "b", Add: &unfinished}))
	must(t, commit(assistant.PairAnswer{Seq: p.Seq, ID: "b", Add: want[1], Choose: true}))
	must(t, commit(assistant.PairAnswer{Seq: p.Seq, ID: "c", Add: want[2]}))
	check("added", 1)
	for _, at := range []int{2, 0, 1, 0} {
		id := map[int]string{0: "", 1: "b", 2: "c"}[at]
		must(t, commit(assistant.PairAnswer{Seq: p.Seq, ID: id, Choose: true}))
		check("chosen "+id, at)
	}
	unknownAnswersAreRefused(t, s, p)
	check("refused", 0)
	answersGoWithTheirPair(t, s, p)
	AnswersOfOneBatch(t, s)
}

// AnswersOfOneBatch checks that the changes to answers in a batch follow its Put and each
// other. s may be any store.
func AnswersOfOneBatch(t *testing.T, s assistant.Store) {
	t.Helper()
	p := pair("batch", "which?", "elephant")
	must(t, s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}}))
	p.AssistantText = "an elephant"
	must(t, s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}, Answers: []assistant.PairAnswer{
		{Seq: p.Seq, ID: "b", Add: answer("b", "giraffe")},
		{Seq: p.Seq, ID: "c", Add: answer("c", "zebra"), Choose: true},
		{Seq: p.Seq, ID: "b", Choose: true},
	}}))
	got, err := s.Load(t.Context(), []int64{p.Seq})
	must(t, err)
	all, chosen := got[0].Answers()
	if len(all) != 3 || chosen != 1 || all[0].AssistantText != "an elephant" || all[2].AssistantText != "zebra" {
		t.Errorf("answer %d is chosen in %+v", chosen, all)
	}
}

// unknownAnswersAreRefused tries to change an answer that p does not have and to add one
// to a missing pair.
func unknownAnswersAreRefused(t *testing.T, s history.Store, p *assistant.Pair) {
	t.Helper()
	for want, refused := range map[error]assistant.PairAnswer{
		assistant.ErrNoVariant: {Seq: p.Seq, ID: "d", Choose: true}, assistant.ErrNoPair: {Seq: 99, Add: answer("x", "")},
	} {
		if err := s.Commit(t.Context(), &assistant.Batch{Answers: []assistant.PairAnswer{refused}}); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", refused, err, want)
		}
	}
}

// answersGoWithTheirPair checks that deleting p also deletes its answers and their
// requests.
func answersGoWithTheirPair(t *testing.T, s history.Store, p *assistant.Pair) {
	t.Helper()
	ctx := t.Context()
	sent := func(answer string) assistant.PairRequest {
		return assistant.PairRequest{Pair: p, SentRequest: assistant.SentRequest{Answer: answer, Attempt: 1, Body: json.RawMessage(`{}`)}}
	}
	must(t, s.Commit(ctx, &assistant.Batch{Requests: []assistant.PairRequest{sent(""), sent("b")}}))
	if got, err := s.Requests(ctx, p.Seq); err != nil || len(got) != 2 || got[0].Answer != "" || got[1].Answer != "b" {
		t.Errorf("Requests = %+v, %v", got, err)
	}
	must(t, s.Commit(ctx, &assistant.Batch{Delete: []int64{p.Seq}}))
	if got, err := s.Load(ctx, []int64{p.Seq}); err != nil || len(got) != 0 {
		t.Errorf("after deletion, Load = %+v, %v", got, err)
	}
	if got, err := s.Requests(ctx, p.Seq); err != nil || len(got) != 0 {
		t.Errorf("after deletion, Requests = %+v, %v", got, err)
	}
}

// aQueuedMessageIsStoredOnce checks that the commit that stores a pair also removes the
// queued message.
func aQueuedMessageIsStoredOnce(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	must(t, s.SaveQueued(ctx, "x", assistant.Prompt{Text: "one"}), s.SaveQueued(ctx, "y", assistant.Prompt{Text: "two"}))
	waits := func(session string, want bool) {
		t.Helper()
		if _, found, err := s.Queued(ctx, session); found != want || err != nil {
			t.Errorf("session %s: has a queued message: %v, %v; want %v", session, found, err, want)
		}
	}
	refused := &assistant.Batch{Put: []*assistant.Pair{pair("x", "one", "")}, Queued: []string{"x"}, Delete: []int64{99}}
	if err := s.Commit(ctx, refused); !errors.Is(err, assistant.ErrNoPair) {
		t.Errorf("Commit = %v, want ErrNoPair", err)
	}
	waits("x", true)
	must(t, s.Commit(ctx, &assistant.Batch{Put: []*assistant.Pair{pair("x", "one", "")}, Queued: []string{"x", "z"}}))
	waits("x", false)
	waits("y", true)
}
