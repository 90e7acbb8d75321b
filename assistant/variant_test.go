package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/history/historytest"
	"winnow/assistant/safetext"
)

// texts are the texts of all answers of a pair, the chosen one in brackets.
func texts(p assistant.Pair) string {
	all, chosen := p.Answers()
	var out []string
	for i, v := range all {
		text := v.AssistantText
		if v.State != assistant.PairComplete {
			text += safetext.Text(" " + string(v.State) + " " + v.ErrorCode)
		}
		if i == chosen {
			text = "[" + text + "]"
		}
		out = append(out, string(text))
	}
	return strings.Join(out, " | ")
}

// What the assistant produced is in an answer, and the rest is of the message: each
// field of a pair is one or the other.
func TestAnAnswerHasWhatTheAssistantProduced(t *testing.T) {
	ofMessage := []string{
		"Seq", "Session", "Author", "Topic", "UserText", "Star", "Flag", "CreatedAt", "Attachments", "Variants", "Chosen", "AnswerTo",
	}
	renamed := map[string]string{"AnswerID": "ID", "AnsweredAt": "At"}
	p := historytest.FullPair()
	answer, pair := reflect.ValueOf(p.Answer()), reflect.ValueOf(*p)
	for i := range pair.NumField() {
		name := pair.Type().Field(i).Name
		if slices.Contains(ofMessage, name) || name == "ID" {
			continue
		}
		if other, ok := renamed[name]; ok {
			name = other
		}
		if f := answer.FieldByName(name); !f.IsValid() || !reflect.DeepEqual(f.Interface(), pair.Field(i).Interface()) {
			t.Errorf("Answer lacks %s", name)
		}
	}
	first := p.Answer()
	for range 2 { // there and back
		all, chosen := p.Answers()
		if err := (assistant.PairAnswer{ID: all[1-chosen].ID, Choose: true}).Apply(p); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(p.Answer(), first) || !reflect.DeepEqual(p, func() *assistant.Pair { f := historytest.FullPair(); f.ID = p.ID; return f }()) {
		t.Errorf("chosen there and back: %+v", p)
	}
}

// Answers are never lost, and their order never changes, whatever is added and chosen.
func TestNoAnswerIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := assistant.Pair{AssistantText: "0"}
		want, chosen := []string{"0"}, 0
		ids := []string{""}
		for n := range rapid.IntRange(1, 12).Draw(t, "steps") {
			choose := rapid.Bool().Draw(t, "choose")
			a := assistant.PairAnswer{Choose: choose}
			i := rapid.IntRange(0, len(ids)).Draw(t, "which")
			if i == len(ids) {
				ids, want = append(ids, fmt.Sprint("id", n)), append(want, "")
			}
			if a.ID = ids[i]; i == len(ids)-1 || rapid.Bool().Draw(t, "replace") {
				want[i] = fmt.Sprint(n + 1)
				a.Add = &assistant.Variant{ID: a.ID, AssistantText: safetext.Text(want[i])}
			}
			if choose {
				chosen = i
			}
			if err := a.Apply(&p); err != nil {
				t.Fatal(err)
			}
			all, at := p.Answers()
			var got []string
			for _, v := range all {
				got = append(got, string(v.AssistantText))
			}
			if !slices.Equal(got, want) || at != chosen || string(p.AssistantText) != want[chosen] {
				t.Fatalf("%q, %d chosen; want %q, %d", got, at, want, chosen)
			}
		}
	})
}

// An answer is never destroyed by asking again (A0).
func TestAGoodAnswerOutlivesARegeneration(t *testing.T) {
	gate := at.NewGate()
	for name, c := range map[string]struct {
		answer at.Answer
		cancel bool
		want   string // of the pair, afterwards
	}{
		"whole":     {at.Answer{at.Say("second")}, false, "first | [second]"},
		"refused":   {at.Answer{at.Fail{Err: errors.New("connection refused")}}, false, "[first]"},
		"cut":       {at.Answer{at.Say("half"), at.Cut{}}, false, "[first] | half error interrupted"},
		"cancelled": {at.Answer{at.Say("half"), at.Stop{At: gate}}, true, "[first]"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, at.NewScript(at.Answer{at.Say("zero")}, at.Answer{at.Say("first")}, c.answer, at.Answer{at.Say("next")}))
			r.send("before")
			r.send("ask")
			old := r.last()
			r.must(r.session.Mark(t.Context(), someMarks(old.Seq)))
			shown := r.session.Visible()
			events := r.begin(assistant.Prompt{Regenerate: old.Seq})
			if c.cancel {
				gate.Wait(t)
				wantEqual(t, "while it runs", r.last().AssistantText, "")
				stored, err := r.store.Load(t.Context(), []int64{old.Seq})
				r.must(err)
				wantEqual(t, "stored while it runs", texts(stored[0]), "[first]")
				r.session.Cancel()
			}
			all := r.checked(at.Events(t, events))
			p := r.last()
			wantEqual(t, "answers", texts(p), c.want)
			wantEqual(t, "pair", fmt.Sprint(p.Seq, p.ID, p.UserText, p.CreatedAt), fmt.Sprint(old.Seq, old.ID, "ask", old.CreatedAt))
			wantMarks(t, p)
			wantList(t, "sent", said(r.script.Requests()[2]), "before", "ask")
			wantEqual(t, "pairs in view", len(r.session.Visible()), 2)
			if e, ok := all[len(all)-1].(assistant.Cancelled); ok {
				wantEqual(t, "kept", e.Kept, true)
			}
			if !strings.Contains(c.want, "[second]") && !slices.Equal(r.session.Visible(), shown) {
				t.Errorf("view %+v, want %+v", r.session.Visible(), shown)
			}
			r.send("after")
			req := r.script.Requests()[3]
			wantEqual(t, "sent as the answer", safetext.Text(req.Messages[len(req.Messages)-2].Content), p.AssistantText)
			wantEqual(t, "requests of the chosen answer", len(r.sent(old.Seq)), 1)
		})
	}
}

// What tools have done for an answer is kept with it, also when it does not get whole or
// its program is killed, and the old answer stays the chosen one.
func TestToolsOfARegenerationAreKept(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, at.Answer{at.Say("I add."), addWord("two")}, at.Answer{at.Say("rest"), at.Stop{At: gate}}))
	r.send("ask")
	seq := r.last().Seq
	events := r.begin(assistant.Prompt{Regenerate: seq})
	gate.Wait(t)
	stored, err := r.store.Load(t.Context(), []int64{seq}) // what a kill leaves
	r.must(err)
	wantEqual(t, "stored while it runs", texts(stored[0]), "[first] | I add.\n\n[[tool:0]] error interrupted")
	wantEqual(t, "shown while it runs", r.last().AssistantText, "I add.\n\n[[tool:0]]")
	r.session.Cancel()
	wantEqual(t, "kept", end[assistant.Cancelled](t, r.checked(at.Events(t, events))).Kept, true)
	wantEqual(t, "answers", texts(r.last()), "[first] | I add.\n\n[[tool:0]] error cancelled")
	wantList(t, "words", r.window.Words(), "one", "two")
}

// An answer that cannot be stored leaves the old one.
func TestAnAnswerThatCannotBeStoredReplacesNothing(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, at.Answer{at.Say("second")}))
	r.send("ask")
	before := r.session.Visible()
	r.store.onCommit(func(*assistant.Batch) error { return errors.New("disk full") })
	end[assistant.Error](t, r.turn(assistant.Prompt{Regenerate: r.last().Seq}))
	wantEqual(t, "answers", texts(r.last()), "[first]")
	if !slices.Equal(r.session.Visible(), before) {
		t.Errorf("view %+v, want %+v", r.session.Visible(), before)
	}
}

// The chosen answer is the one that is sent and counted.
func TestChoosingAnAnswer(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("short")}, at.Answer{at.Say(words(400))}, at.Answer{at.Say("ok")}))
	ctx := context.Background()
	r.send("ask")
	seq := r.last().Seq
	r.turn(assistant.Prompt{Regenerate: seq})
	long := r.session.Boundary().HistoryTokens
	p, err := r.session.Choose(ctx, seq, 0)
	r.must(err)
	wantEqual(t, "returned", p.AssistantText, "short")
	wantEqual(t, "stored", r.last().AssistantText, "short")
	if short := r.session.Boundary().HistoryTokens; short >= long {
		t.Errorf("the boundary has %d tokens with the short answer, %d with the long one", short, long)
	}
	r.send("next")
	wantEqual(t, "sent", r.script.Requests()[2].Messages[2].Content, "short")
	for _, n := range []int{-1, 2} {
		if _, err := r.session.Choose(ctx, seq, n); !errors.Is(err, assistant.ErrNoVariant) {
			t.Errorf("answer %d: %v", n, err)
		}
	}
	if _, err := r.session.Choose(ctx, 99, 0); !errors.Is(err, assistant.ErrNoPair) {
		t.Errorf("a pair that is not there: %v", err)
	}
}

func TestNoAnswerIsChosenWhileATurnRuns(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, at.Answer{at.Stop{At: gate}}))
	r.send("ask")
	events := r.begin(assistant.Prompt{Regenerate: r.last().Seq})
	gate.Wait(t)
	if _, err := r.session.Choose(t.Context(), r.last().Seq, 0); !errors.Is(err, assistant.ErrBusy) {
		t.Errorf("Choose = %v", err)
	}
	r.session.Cancel()
	at.Events(t, events)
}

// The pair of a queued message is stored in the batch that forgets the message: a kill
// between the two would send it twice.
func TestAQueuedMessageIsForgottenWithItsPair(t *testing.T) {
	gate := at.NewGate()
	store := &stateStore{states: map[string]json.RawMessage{}}
	r := newRig(t, at.NewScript(at.Answer{at.Stop{At: gate}, at.Say("one")}, at.Answer{at.Say("two")}), func(o *assistant.Options) { o.Store = store })
	events := r.begin(assistant.Prompt{Text: "first"})
	gate.Wait(t)
	r.must(r.session.Queue(assistant.Prompt{Text: "queued"}))
	gate.Open()
	at.Events(t, events)
	p, ok := r.session.Dequeue()
	wantEqual(t, "waits", ok, true)
	cleared := store.cleared
	r.turn(p)
	wantEqual(t, "commits of its pair that forget it", store.forgot, 1)
	wantEqual(t, "other calls that forget it", store.cleared-cleared, 0)
}

func TestTheMemoryStoreAppliesTheAnswersOfABatchInOrder(t *testing.T) {
	historytest.AnswersOfOneBatch(t, &assistant.MemoryStore{})
}
