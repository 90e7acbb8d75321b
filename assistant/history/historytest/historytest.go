// Package historytest contains the tests that every implementation of history.Store must
// pass. Call Run with a function that opens an empty store:
//
//	historytest.Run(t, func(t *testing.T) history.Store { … })
//
// The suite uses the store from several goroutines at once; the caller closes the store.
// The suite tests the contract of Store. Behaviour of a single implementation, such as
// the handling of damaged files, is tested in its own package.
package historytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/filter"
	"winnow/assistant/history"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// Run tests the stores that open returns. open must return a new, empty store for each
// test.
func Run(t *testing.T, open func(t *testing.T) history.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, history.Store){
		"stored pairs are loaded":          pairsComeBack,
		"only payloads are read":           payloadsAreReadAlone,
		"a batch is all or nothing":        batchIsAllOrNone,
		"batches do what MemoryStore does": batchesDoWhatMemoryStoreDoes,
		"cut and uncut":                    cutAndUncut,
		"lines select pairs":               linesSelectPairs,
		"marks are restored":               marksAreRestored,
		"missing pairs are named":          missingPairsAreNamed,
		"topics form a tree":               topicsAreATree,
		"models are counted":               modelsAreCounted,
		"marks are grouped":                marksAreGrouped,
		"sessions are remembered":          sessionsAreRemembered,
		"messages use their session":       messagesUseTheirSession,
		"typed text is remembered":         memoryStays,
		"known ids are added once":         knownIDsAreAddedOnce,
		"goroutines share a store":         goroutinesShareIt,
		"pictures are stored once":         picturesAreStoredOnce,
		"queued messages have pictures":    aQueuedMessageHasItsPictures,
		"a pair has several answers":       aPairHasSeveralAnswers,
		"a queued message is stored once":  aQueuedMessageIsStoredOnce,
		"a session branches":               aSessionBranches,
		"a session is renamed":             aSessionIsRenamed,
		"a cancelled answer is offered":    aCancelledAnswerIsOffered,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// payloadsAreReadAlone checks that Payloads returns only the pairs that have payloads, in
// the requested order, and does not mistake similar text for payloads.
func payloadsAreReadAlone(t *testing.T, s history.Store) {
	t.Helper()
	first, plain, second := pair("s", "a", "b"), pair("s", `"payloads":[{"id":"x"}]`, `"payloads":[]`), pair("s", "c", "d")
	first.Payloads = []assistant.Payload{{ID: "p1", Type: "note", Data: json.RawMessage(`{"n":1}`), Summary: "one", Decision: "accepted"}, {ID: "p2", Type: "note", Summary: "two"}}
	plain.ToolCalls = []assistant.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(`{"payloads":[{"id":"y"}]}`)}}
	second.Payloads = []assistant.Payload{{ID: "p3", Type: "note", Data: json.RawMessage(`{}`)}}
	put(t, s, first, plain, second)
	got, err := s.Payloads(t.Context(), []int64{second.Seq, plain.Seq, first.Seq, 999})
	must(t, err)
	want := []assistant.Pair{
		{Seq: second.Seq, Payloads: []assistant.Payload{{ID: "p3", Type: "note"}}},
		{Seq: first.Seq, Payloads: []assistant.Payload{{ID: "p1", Type: "note", Summary: "one", Decision: "accepted"}, {ID: "p2", Type: "note", Summary: "two"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Payloads = %+v, want %+v", got, want)
	}
	if none, err := s.Payloads(t.Context(), nil); err != nil || len(none) > 0 {
		t.Errorf("Payloads of no pairs: %v, %v", none, err)
	}
}

// now is the creation time of the pairs in the suite.
var now = time.Date(2026, 3, 4, 5, 6, 7, 800900, time.FixedZone("", 3600))

func pair(session, user, answer string) *assistant.Pair {
	return &assistant.Pair{
		Session: session, Model: "openai/gpt-5", UserText: safetext.Text(user), AssistantText: safetext.Text(answer),
		Flag: true, State: assistant.PairComplete, CreatedAt: now,
	}
}

func put(t *testing.T, s history.Store, pairs ...*assistant.Pair) {
	t.Helper()
	must(t, s.Commit(t.Context(), &assistant.Batch{Put: pairs}))
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// line returns the Seqs that a line matches, and checks that Count and Stream agree.
func line(t *testing.T, s history.Store, text string, env history.Env) []int64 {
	t.Helper()
	q, err := filter.Parse(text)
	must(t, err)
	r, err := s.Filter(t.Context(), q, env)
	must(t, err)
	n, err := s.Count(t.Context(), q, env)
	must(t, err)
	streamed := []int64{}
	for refs, err := range s.Stream(t.Context(), q, env) {
		must(t, err)
		streamed = append(seqs(refs), streamed...)
	}
	got := seqs(r.Refs)
	if n != len(got) || !slices.Equal(streamed, got) {
		t.Errorf("%s: Filter %v, Count %d, Stream %v", text, got, n, streamed)
	}
	return got
}

func seqs(refs []assistant.Ref) []int64 {
	out := []int64{}
	for _, r := range refs {
		out = append(out, r.Seq)
	}
	return out
}

func pairsComeBack(t *testing.T, s history.Store) {
	t.Helper()
	p := pair("s1", "question <b> 👩\u200d🚀", "answer [[tool:0]]")
	p.Topic, p.Star, p.ID, p.Usage = "AI > Agents", 2, "an-id", &llm.Usage{Prompt: 3}
	p.Attachments = []assistant.Attachment{{Name: "a.txt", Type: "text/plain", Size: 3}}
	p.Payloads = []assistant.Payload{{ID: "p", Type: "t", Data: json.RawMessage(`{"a":[1]}`)}}
	p.ToolCalls = []assistant.ToolCall{
		{ID: "c", Name: "f", Arguments: json.RawMessage(`{ "n": 12345678901234567890 }`), Result: &assistant.ToolResult{Success: true, Data: json.RawMessage(`{"big":9007199254740993}`)}},
		{ID: "d", Name: "broken", Arguments: json.RawMessage("{\xff\x00")},
	}
	other := pair("s2", "two", "2")
	put(t, s, p, other)
	if p.Seq == 0 || other.Seq <= p.Seq || other.ID == "" {
		t.Fatalf("Seq %d and %d, ID %q", p.Seq, other.Seq, other.ID)
	}
	got, err := s.Load(t.Context(), []int64{other.Seq, 99, p.Seq})
	must(t, err)
	if len(got) != 2 || got[0].UserText != "two" || !got[1].CreatedAt.Equal(p.CreatedAt) {
		t.Fatalf("Load = %+v", got)
	}
	got[1].CreatedAt = p.CreatedAt
	if !reflect.DeepEqual(got[1], *p) {
		t.Errorf("Load = %+v\nwant %+v", got[1], *p)
	}
	refs, err := s.Refs(t.Context(), "s1", 3.5)
	must(t, err)
	if len(refs) != 1 || refs[0].Cost != assistant.PairCost(p, 3.5) || !refs[0].Contributes {
		t.Errorf("Refs = %+v; want cost %d", refs, assistant.PairCost(p, 3.5))
	}
}

func batchIsAllOrNone(t *testing.T, s history.Store) {
	t.Helper()
	first := pair("x", "one", "1")
	put(t, s, first)
	bad := pair("x", "two", "2")
	bad.ToolCalls = []assistant.ToolCall{{Name: "f", Result: &assistant.ToolResult{Data: func() {}}}}
	good := pair("x", "three", "3")
	b := &assistant.Batch{Delete: []int64{first.Seq}, Put: []*assistant.Pair{good, bad}, Intent: "i"}
	if err := s.Commit(t.Context(), b); err == nil || good.Seq != 0 || len(line(t, s, "", history.Env{})) != 1 {
		t.Errorf("Commit of an invalid batch: %v, Seq %d", err, good.Seq)
	}
	b.Put = b.Put[:1]
	must(t, s.Commit(t.Context(), b), s.Commit(t.Context(), &assistant.Batch{Delete: []int64{good.Seq}}), s.Commit(t.Context(), b))
	if got := line(t, s, "", history.Env{}); len(got) != 0 {
		t.Errorf("an intent was committed twice: %v", got)
	}
}

func cutAndUncut(t *testing.T, s history.Store) {
	t.Helper()
	a, b, c := pair("x", "1", ""), pair("y", "2", ""), pair("x", "3", "")
	put(t, s, a, b, c)
	must(t, s.Commit(t.Context(), &assistant.Batch{Cut: &assistant.Cut{Name: "cut", Sessions: []string{"x"}, From: c.Seq}}))
	if got := line(t, s, "", history.Env{}); !slices.Equal(got, []int64{a.Seq, b.Seq}) {
		t.Errorf("after a cut, the view is %v", got)
	}
	must(t, s.Commit(t.Context(), &assistant.Batch{Uncut: "cut"}))
	if got := line(t, s, "", history.Env{}); len(got) != 3 {
		t.Errorf("after undoing the cut, the view is %v", got)
	}
}

func linesSelectPairs(t *testing.T, s history.Store) {
	t.Helper()
	for i := range 6 {
		p := pair(fmt.Sprint("s", i%2), fmt.Sprint("question ", i), []string{"Kubernetes", "größe", "a/b"}[i%3])
		p.Star, p.Flag, p.Topic = i%4, i%2 == 0, []string{"", "AI", "AI > Agents"}[i%3]
		p.CreatedAt = now.AddDate(0, 0, i-6)
		if i == 4 {
			p.State, p.Attachments = assistant.PairError, []assistant.Attachment{{Name: "a"}}
		}
		p.Reasoning = safetext.Text([]string{"", "Thinking of über-models, v5.1", ""}[i%3])
		if i == 2 {
			p.Author = "Bob"
		}
		put(t, s, p)
	}
	must(t, s.SaveFilter(t.Context(), "good", "s>1"))
	env := history.Env{
		Env:  filter.Env{Now: now, Location: time.UTC, SelectedTopic: "AI", SelectedModel: "openai/gpt-5", Session: "s1"},
		Fits: func(base []assistant.Ref) int { return min(2, len(base)) },
	}
	all := line(t, s, "", env)
	for text, want := range map[string]string{
		"": "012345", "s>1": "23", "b": "024", "!b": "135", "e | i": "4", "t": "14", "t'AI...'": "1245", "t2": "45", "r2": "45", "x": "135", "x's0'": "024",
		"m": "012345", "m'gpt*'": "012345", "m'no'": "", "d<3d": "45", "d2026-03-03": "5", "c'KUBER'": "03", "c'GRÖSSE'": "", "c'GRÖßE'": "14", "c'b'": "0235",
		"c'q*3'": "3", `c/a\/b$/`: "25", "@good b": "2", "o": "45", "!o": "0123", "o1": "345", "b o": "24", "u": "01345", "u'bo*'": "2", "!u'BOB' b": "04", "u'nobody'": "",
		"kuber": "03", "QUESTION": "012345", "thinking": "14", "über-models": "14", "ÜBER": "14", "question thinking s1": "1", "kuber | thinking": "0134", "!question": "", "nowhere": "",
		"t'*'": "012345", "s0 | c'a/b'": "0245", "!(s0 | e)": "1235",
	} {
		got := ""
		for _, seq := range line(t, s, text, env) {
			got += fmt.Sprint(slices.Index(all, seq))
		}
		if got != want {
			t.Errorf("%s selects %s, want %s", text, got, want)
		}
	}
	if authors, err := s.Authors(t.Context()); err != nil || !slices.Contains(authors, "Bob") || slices.Contains(authors, "") {
		t.Errorf("Authors = %q, %v", authors, err)
	}
	root := env
	root.SelectedTopic = ""
	if got := line(t, s, "t4", root); !slices.Equal(got, all[2:]) {
		t.Errorf("with the root selected, t4 selects %v, want %v", got, all[2:])
	}
	env.User = "bob" // a served user with the name of a pair's author
	if got := line(t, s, "u", env); !slices.Equal(got, all[2:3]) {
		t.Errorf("u for user bob selects %v, want %v", got, all[2:3])
	}
	q, _ := filter.Parse("t'Agent' | x'zz'")
	if r, err := s.Filter(t.Context(), q, env); err != nil || len(r.Hints) != 2 {
		t.Errorf("Hints = %v, %v", r.Hints, err)
	}
	var fault *filter.Error
	q, _ = filter.Parse("@nobody")
	if _, err := s.Filter(t.Context(), q, env); !errors.As(err, &fault) {
		t.Errorf("Filter with an unknown saved filter: %v", err)
	}
}

func topicsAreATree(t *testing.T, s history.Store) {
	t.Helper()
	p := pair("x", "q", "a")
	p.Topic = "AI > Agents"
	put(t, s, p)
	ctx := t.Context()
	must(t, s.CreateTopic(ctx, "Work > Mail"), s.MoveTopic(ctx, "AI", "ML"), s.MoveTopic(ctx, "ML > Agents", "Work > Agents"), s.DeleteTopic(ctx, "Work"))
	got, err := s.Topics(ctx)
	must(t, err)
	if want := []history.Topic{{Path: "Agents", Pairs: 1, Total: 1}, {Path: "ML"}, {Path: "Mail"}}; !slices.Equal(got, want) {
		t.Errorf("Topics = %v, want %v", got, want)
	}
	for _, err := range []error{s.DeleteTopic(ctx, "None"), s.MoveTopic(ctx, "ML", "ML > ML"), s.MoveTopic(ctx, "ML", "Mail"), s.CreateTopic(ctx, " > "), s.MoveTopic(ctx, "ML", "")} {
		if !errors.Is(err, history.ErrTopic) {
			t.Errorf("the error is %v, want ErrTopic", err)
		}
	}
}

func modelsAreCounted(t *testing.T, s history.Store) {
	t.Helper()
	a, b, c, cut := pair("x", "1", ""), pair("y", "2", ""), pair("y", "3", ""), pair("z", "4", "")
	b.Model, c.State = "other", assistant.PairError
	put(t, s, a, b, c, cut)
	must(t, s.Commit(t.Context(), &assistant.Batch{Cut: &assistant.Cut{Name: "c", Sessions: []string{"z"}}}))
	want := []history.ModelCount{{Model: "openai/gpt-5", Pairs: 2, Failed: 1}, {Model: "other", Pairs: 1}}
	if got, err := s.Models(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("Models = %v, %v; want %v", got, err, want)
	}
}

func sessionsAreRemembered(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	must(t, s.Touch(ctx, history.Session{ID: "a", Folder: "/f", Model: "m"}), s.Touch(ctx, history.Session{ID: "b", Folder: "/f"}), s.Touch(ctx, history.Session{ID: "a", Page: "p"}))
	put(t, s, pair("a", "title", ""))
	last, found, err := s.LastSession(ctx, "/f")
	must(t, err)
	all, err := s.Sessions(ctx)
	must(t, err)
	if !found || last.ID != "a" || last.Model != "m" || last.Page != "p" || len(all) != 2 || all[0].Pairs != 1 || all[0].Title != "title" {
		t.Errorf("LastSession %+v, Sessions %+v", last, all)
	}
	want := assistant.Prompt{Text: "queued", Replaces: 3}
	must(t, s.SaveQueued(ctx, "a", assistant.Prompt{Text: "older"}), s.SaveQueued(ctx, "a", want), s.SetSessionState(ctx, "new", json.RawMessage(`{"tab":1}`)))
	if got, found, err := s.Queued(ctx, "a"); err != nil || !found || !reflect.DeepEqual(got, want) {
		t.Errorf("Queued = %+v, %v, %v", got, found, err)
	}
	must(t, s.ClearQueued(ctx, "a"), s.ClearQueued(ctx, "nobody"))
	if _, found, err := s.Queued(ctx, "a"); found || err != nil {
		t.Errorf("Queued after ClearQueued = %v, %v", found, err)
	}
	if state, err := s.SessionState(ctx, "new"); err != nil || string(state) != `{"tab":1}` {
		t.Errorf("SessionState = %s, %v", state, err)
	}
}

func memoryStays(t *testing.T, s history.Store) {
	t.Helper()
	ctx := t.Context()
	draft := history.Draft{Text: "typed", Stash: []string{"a", "b"}}
	must(t, s.SaveDraft(ctx, "k", draft), s.AddSent(ctx, "one"), s.AddSent(ctx, "two"), s.AddSent(ctx, "one"), s.AddFilterLine(ctx, "s3"),
		s.Set(ctx, "key", "value"), s.Set(ctx, "gone", "x"), s.Set(ctx, "gone", ""), s.SaveFilter(ctx, "f", "s1"))
	if got, err := s.Draft(ctx, "k"); err != nil || !reflect.DeepEqual(got, draft) {
		t.Errorf("Draft = %+v, %v", got, err)
	}
	if got, err := s.Sent(ctx, 9); err != nil || !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("Sent = %v, %v", got, err)
	}
	if got, err := s.FilterLines(ctx); err != nil || !slices.Equal(got, []string{"s3"}) {
		t.Errorf("FilterLines = %v, %v", got, err)
	}
	if got, err := s.Get(ctx, "key"); err != nil || got != "value" {
		t.Errorf("Get = %q, %v", got, err)
	}
	if err := s.SaveFilter(ctx, "f", "@f"); err == nil {
		t.Error("SaveFilter accepted a filter that refers to itself")
	}
	must(t, s.SaveFilter(ctx, "g", "s2"))
	if got, err := s.SavedFilters(ctx); err != nil || got["g"] != "s2" {
		t.Errorf("SavedFilters = %v, %v", got, err)
	}
}

func knownIDsAreAddedOnce(t *testing.T, s history.Store) {
	t.Helper()
	p := pair("x", "q", "a")
	put(t, s, p)
	again, other := *p, pair("x", "other", "")
	again.Seq, again.UserText, other.ID = 0, "changed", "other"
	if n, err := s.Append(t.Context(), []*assistant.Pair{&again, other}); n != 1 || err != nil {
		t.Errorf("Append = %d, %v", n, err)
	}
	got, err := s.Load(t.Context(), []int64{p.Seq})
	if err != nil || got[0].UserText != "q" || len(line(t, s, "", history.Env{})) != 2 {
		t.Errorf("after Append, Load = %+v, %v", got, err)
	}
}

func goroutinesShareIt(t *testing.T, s history.Store) {
	t.Helper()
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 10 {
				p := pair(fmt.Sprint("s", worker), fmt.Sprint(i), "answer")
				err := s.Commit(t.Context(), &assistant.Batch{Put: []*assistant.Pair{p}})
				refs, readErr := s.Refs(t.Context(), fmt.Sprint("s", worker), 3.5)
				if err = errors.Join(err, readErr); err != nil || len(refs) != i+1 {
					t.Errorf("worker %d reads %d pairs, want %d; %v", worker, len(refs), i+1, err)
				}
			}
		})
	}
	group.Wait()
	if got := line(t, s, "", history.Env{}); len(got) != 40 || !slices.IsSorted(got) {
		t.Errorf("%d pairs", len(got))
	}
	if r, err := s.Check(t.Context()); err != nil || len(r.Problems) > 0 || r.Pairs != 40 {
		t.Errorf("Check = %+v, %v", r, err)
	}
}
