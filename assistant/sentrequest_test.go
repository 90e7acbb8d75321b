package assistant_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/openai"
)

// sent reads the kept requests of a pair.
func (r *rig) sent(seq int64) []assistant.SentRequest {
	r.t.Helper()
	got, err := r.session.SentRequests(context.Background(), seq)
	r.must(err)
	return got
}

// wantSent holds kept requests against what the model was asked, byte for byte,
// and against response, attempt and trimmed pairs, one string each.
func (r *rig) wantSent(got []assistant.SentRequest, asked []llm.Request, places ...string) {
	r.t.Helper()
	var have []string
	for _, s := range got {
		have = append(have, fmt.Sprintf("%d.%d-%d", s.Response, s.Attempt, s.Trimmed))
		if s.Model != "test/script" || !s.At.Equal(startTime) {
			r.t.Errorf("request to %s at %v", s.Model, s.At)
		}
	}
	wantList(r.t, "requests", have, places...)
	for i, req := range asked {
		body, err := r.script.Encode(req)
		r.must(err)
		if i < len(got) && !bytes.Equal(got[i].Body, body) {
			r.t.Errorf("request %d is kept as\n%s\nsent was\n%s", i, got[i].Body, body)
		}
	}
}

func TestRequestsAreKeptAsTheyWereSent(t *testing.T) {
	r := trimRig(t, 3, at.NewScript(
		at.Answer{addWord("two")}, at.Overflow(), at.Overflow(), at.Answer{call("nobody", "{}")}, at.Answer{at.Say("ok")},
		at.Answer{at.Say("next")},
	), assistant.Settings{})
	r.send("new")
	first := r.last()
	r.send("another")
	asked := r.script.Requests()
	r.wantSent(r.sent(first.Seq), asked[:5], "0.1-0", "1.1-0", "1.2-1", "1.3-2", "2.1-2")
	r.wantSent(r.sent(r.last().Seq), asked[5:], "0.1-0")
	if got := r.sent(1); got != nil {
		t.Errorf("a pair of another time has %v", got)
	}
	r.must(r.session.Delete(context.Background(), first.Seq))
	if got := r.sent(first.Seq); got != nil {
		t.Errorf("a deleted pair has %v", got)
	}
}

func TestRequestsOfOtherEndsAreKept(t *testing.T) {
	t.Run("error and retry", func(t *testing.T) {
		r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Cut{}}, at.Answer{at.Say("ok")}))
		r.send("a")
		r.turn(assistant.Prompt{Retry: r.last().Seq})
		r.wantSent(r.sent(r.last().Seq), r.script.Requests(), "0.1-0", "1.1-0", "1.1-0")
	})
	t.Run("cancelled after a tool", func(t *testing.T) {
		gate := at.NewGate()
		r := newRig(t, at.NewScript(at.Answer{addWord("two")}, at.Answer{at.Stop{At: gate}}))
		events := r.begin(assistant.Prompt{Text: "a"})
		gate.Wait(t)
		seq := r.running()
		r.wantSent(r.sent(seq), r.script.Requests(), "0.1-0", "1.1-0") // the one that is out, too
		r.session.Cancel()
		at.Events(t, events)
		r.wantSent(r.sent(seq), r.script.Requests(), "0.1-0", "1.1-0")
	})
	t.Run("not sent", func(t *testing.T) {
		r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Model = "test/small" })
		r.send(strings.Repeat("long ", 300))
		wantEqual(t, "requests", len(r.sent(r.last().Seq)), 0)
	})
	t.Run("a store that keeps none", func(t *testing.T) {
		r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Store = bare{&assistant.MemoryStore{}} })
		r.send("a")
		wantEqual(t, "requests", len(r.sent(r.last().Seq)), 0)
	})
}

// bare is a Store and nothing else.
type bare struct{ assistant.Store }

func TestAReplacedPairComesBackWithItsRequests(t *testing.T) {
	gate := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}, at.Answer{at.Stop{At: gate}}))
	r.send("a")
	old := r.last().Seq
	events := r.begin(assistant.Prompt{Text: "b", Replaces: old})
	gate.Wait(t)
	wantEqual(t, "requests of what is deleted", len(r.sent(old)), 0)
	r.session.Cancel()
	at.Events(t, events)
	r.wantSent(r.sent(r.last().Seq), r.script.Requests()[:1], "0.1-0")
}

func TestAProposalSendsNothing(t *testing.T) {
	r := noteRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"two"}`)}))
	r.send("propose")
	p := r.last()
	after, err := r.session.Decide(context.Background(), p.Seq, []string{p.Payloads[0].ID}, true)
	r.must(err)
	told := len(r.records)
	end[assistant.Complete](t, r.checked(at.Events(t, at.Read(r.session, after))))
	wantEqual(t, "requests", len(r.sent(r.last().Seq)), 0)
	wantEqual(t, "records of attempts", len(r.records)-told, 0)
}

// What is kept is what the endpoint got, and no key is in it.
func TestKeptRequestsAreTheBytesOnTheWire(t *testing.T) {
	const key = "sk-live-0123456789abcdefghij"
	server := at.NewServer(t,
		at.Respond(400, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`),
		at.Calls(addWord("two")), at.Text("Done."))
	client, err := openai.New(openai.Options{
		BaseURL: server.URL, Key: key, Headers: map[string]string{"X-Secret": key}, Name: "wire",
		Wait: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, at.NewScript())
	r.must(r.session.Registry().Add(llm.Provider{Name: "wire", Model: client}))
	r.must(r.session.SetModel("wire/m"))
	end[assistant.Complete](t, r.send("my key is "+key+", is it safe?"))
	got, asked := r.sent(r.last().Seq), server.Asked()
	if len(got) != 2 || len(asked) != 3 {
		t.Fatalf("%d requests kept of %d on the wire", len(got), len(asked))
	}
	for i, s := range got {
		if !bytes.Equal(s.Body, asked[i+1].Body) { // the first was refused and sent again without the field
			t.Errorf("kept\n%s\non the wire\n%s", s.Body, asked[i+1].Body)
		}
		if bytes.Contains(s.Body, []byte(key)) {
			t.Error("a key is in a kept request")
		}
	}
}
