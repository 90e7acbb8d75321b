package assistant_test

import (
	"context"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// setMarks gives a pair three stars, the red flag and the topic Mine.
func setMarks(p *assistant.Pair) { p.Star, p.Flag, p.Topic = 3, false, "Mine" }

// wantMarks holds a pair against setMarks.
func wantMarks(t testing.TB, p assistant.Pair) {
	t.Helper()
	if p.Star != 3 || p.Flag || p.Topic != "Mine" {
		t.Errorf("star %d, flag %v, topic %q; want what the user set", p.Star, p.Flag, p.Topic)
	}
}

func TestMarksOfTheRunningPairStand(t *testing.T) {
	ctx := context.Background()
	for name, answers := range map[string][]at.Answer{
		"complete":     {{at.Say("ok")}},
		"after a tool": {{addWord("two")}, {at.Say("ok")}},
		"an error":     {{at.Cut{}}},
	} {
		t.Run(name, func(t *testing.T) {
			gate := at.NewGate()
			answers[0] = append(at.Answer{at.Stop{At: gate}}, answers[0]...)
			r := newRig(t, at.NewScript(answers...))
			events := r.begin(assistant.Prompt{Text: "a"})
			gate.Wait(t)
			seq, ok := r.session.Running()
			if !ok {
				t.Fatal("no pair runs")
			}
			r.must(r.session.Mark(ctx, seq, setMarks))
			wantEqual(t, "prompt", r.pair(seq).UserText, "a")
			gate.Open()
			at.Events(t, events)
			wantMarks(t, r.last())
			r.must(r.session.Mark(ctx, seq, func(p *assistant.Pair) { p.Star = 0 }))
			if p := r.last(); p.Star != 0 || p.Topic != "Mine" || p.State == assistant.PairSending {
				t.Errorf("after the turn: %+v", p)
			}
		})
	}
	t.Run("a retry", func(t *testing.T) {
		gate := at.NewGate()
		r := newRig(t, at.NewScript(at.Answer{at.Cut{}}, at.Answer{at.Stop{At: gate}, at.Say("ok")}))
		r.send("a")
		events := r.begin(assistant.Prompt{Retry: r.last().Seq})
		gate.Wait(t)
		r.must(r.session.Mark(ctx, r.last().Seq, setMarks))
		gate.Open()
		at.Events(t, events)
		wantMarks(t, r.last())
		wantEqual(t, "answer", r.last().AssistantText, "ok")
	})
	t.Run("a replacement that is cancelled", func(t *testing.T) {
		gate := at.NewGate()
		r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}, at.Answer{at.Stop{At: gate}}))
		r.send("a")
		events := r.begin(assistant.Prompt{Text: "b", Replaces: r.last().Seq})
		gate.Wait(t)
		r.must(r.session.Mark(ctx, r.last().Seq, setMarks))
		r.session.Cancel()
		at.Events(t, events)
		wantMarks(t, r.last())
		wantEqual(t, "pair", r.last().UserText, "a")
	})
	t.Run("the holder of a proposal", func(t *testing.T) {
		r := noteRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"two"}`)}))
		r.send("a")
		p := r.last()
		marked := false
		r.store.onCommit(func(b *assistant.Batch) error {
			if !marked { // right before the commit of the decision
				marked = true
				return r.session.Mark(ctx, p.Seq, setMarks)
			}
			return nil
		})
		events, err := r.session.Decide(ctx, p.Seq, p.Payloads[0].ID, true)
		r.must(err)
		at.Events(t, events)
		wantMarks(t, r.pair(p.Seq))
		wantEqual(t, "decision", r.pair(p.Seq).Payloads[0].Decision, "accepted")
	})
}

// A mark leaves everything else of a pair alone, also what changes at the same time.
func TestAMarkWritesNothingElse(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
	r.send("a")
	p := r.last()
	r.store.onCommit(func(b *assistant.Batch) error {
		if len(b.Put) != 0 || len(b.Marks) != 1 || b.Marks[0].Flag != nil || b.Marks[0].Topic != nil {
			t.Errorf("a star commits %+v", b)
		}
		return nil
	})
	r.must(r.session.Mark(context.Background(), p.Seq, func(p *assistant.Pair) { p.Star = 1 }))
	r.store.onCommit(func(*assistant.Batch) error { t.Error("no change was committed"); return nil })
	r.must(r.session.Mark(context.Background(), p.Seq, func(p *assistant.Pair) { p.UserText = "forged" }))
	if err := r.session.Mark(context.Background(), 99, setMarks); err == nil {
		t.Error("a pair that is not there was marked")
	}
}

func TestTheTopicFollows(t *testing.T) {
	for name, tt := range map[string]struct {
		topic, from, to, want string
		moved                 bool
	}{
		"renamed":           {"AI", "AI", "ML", "ML", true},
		"below it":          {"AI > Agents", "AI", "Work > ML", "Work > ML > Agents", true},
		"dissolved":         {"AI > Agents", "AI > Agents", "AI", "AI", true},
		"to the root":       {"AI > Agents", "AI", "", "Agents", true},
		"itself to root":    {"AI", "AI", "", "", true},
		"another":           {"Work", "AI", "ML", "Work", false},
		"only like it":      {"AIR", "AI", "ML", "AIR", false},
		"above it":          {"AI", "AI > Agents", "AI > Bots", "AI", false},
		"nothing is moved":  {"", "", "New", "", false},
		"no topic is there": {"", "AI", "ML", "", false},
	} {
		r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}))
		r.session.SetTopic(tt.topic)
		moved := r.session.TopicMoved(tt.from, tt.to)
		if got := r.session.Topic(); got != tt.want || moved != tt.moved {
			t.Errorf("%s: topic %q, %v; want %q, %v", name, got, moved, tt.want, tt.moved)
		}
		r.send("a")
		wantEqual(t, name, r.last().Topic, tt.want)
	}
}
