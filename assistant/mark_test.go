package assistant_test

import (
	"context"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// someMarks gives a pair three stars, no flag and the topic Mine.
func someMarks(seq int64) assistant.PairMark {
	star, flag, topic := 3, false, "Mine"
	return assistant.PairMark{Seq: seq, Star: &star, Flag: &flag, Topic: &topic}
}

// starMark gives a pair so many stars.
func starMark(seq int64, n int) assistant.PairMark { return assistant.PairMark{Seq: seq, Star: &n} }

// running is the pair that is being answered: the newest in view.
func (r *rig) running() int64 {
	r.t.Helper()
	return r.last().Seq
}

// wantMarks holds a pair against someMarks.
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
			seq := r.running()
			r.must(r.session.Mark(ctx, someMarks(seq)))
			wantEqual(t, "prompt", r.pair(seq).UserText, "a")
			gate.Open()
			at.Events(t, events)
			wantMarks(t, r.last())
			r.must(r.session.Mark(ctx, starMark(seq, 0)))
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
		r.must(r.session.Mark(ctx, someMarks(r.last().Seq)))
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
		r.must(r.session.Mark(ctx, someMarks(r.last().Seq)))
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
				return r.session.Mark(ctx, someMarks(p.Seq))
			}
			return nil
		})
		after, err := r.session.Decide(ctx, p.Seq, []string{p.Payloads[0].ID}, true)
		r.must(err)
		at.Events(t, at.Read(r.session, after))
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
	r.must(r.session.Mark(context.Background(), starMark(p.Seq, 1)))
	wantEqual(t, "stars", r.last().Star, 1)
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
