package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/serve"
)

func call(name, args string) at.Call { return at.Call{Name: name, Arguments: args} }

func TestATurnShowsEveryEventAndEndsOnce(t *testing.T) {
	invalid := at.Answer{call("no_such_tool", "{}")}
	script := at.NewScript(
		at.Answer{
			at.Emit{Part: llm.Retry{Attempt: 1, Reason: "busy", After: time.Millisecond}},
			at.Think("Let me see."), at.Say("I add it. "),
			call("add_word", `{"word":"cat"}`), call("progress", "{}"), call("save_words", "{}"),
		},
		at.Answer{at.Say("Done.\n\nSUGGESTED_VALUES: {\"values\": [{\"label\": \"More\", \"value\": \"more\"}]}"), at.Finish{Usage: &llm.Usage{Prompt: 7, Completion: 3}}},
		at.Overflow(), at.Answer{at.Say("Shorter.")},
		invalid, invalid, at.Answer{at.Fail{Err: errors.New("cut")}},
		at.Answer{at.Say("x"), call("slow", "{}")}, at.Answer{at.Say("not reached")},
		at.Answer{at.Say("The message that waited.")},
	)
	r := newRig(t, script)
	_, path := r.open("anna")
	follower := r.follow(t.Context(), path, 0) // of all turns
	seen := map[string]bool{}
	check := func(all []wireEvent, end string) {
		t.Helper()
		for i, e := range all {
			seen[e.kind()] = true
			if i > 0 && e.id != all[i-1].id+1 {
				t.Errorf("event %d has the id %d after %d", i, e.id, all[i-1].id)
			}
			if e.terminal() != (i == len(all)-1) {
				t.Errorf("event %d of %d is %s", i, len(all), e.data)
			}
		}
		if last := all[len(all)-1]; last.kind() != end {
			t.Errorf("the turn ended with %s, want %s", last.data, end)
		}
	}
	ask := func(text string) *client { return r.send(path, fmt.Sprintf(`{"text":%q}`, text)) }

	stream := ask("add cat and save")
	first := stream.until("confirm_request")
	var question struct{ ID string }
	r.must(json.Unmarshal([]byte(first[len(first)-1].data), &question))
	r.get(nil, "POST", path+"/answers/"+question.ID, `{"accept":true}`)
	r.problem(404, "not_asked", "POST", path+"/answers/"+question.ID, `{"accept":true}`)
	check(append(first, stream.rest()...), "complete")
	if !slices.Equal(r.window.Saved(), []string{"one", "cat"}) {
		t.Errorf("saved %q", r.window.Saved())
	}
	check(ask("too long").rest(), "complete")
	check(ask("invalid").rest(), "error")

	stream = ask("wait")
	r.window.Slow.Wait(t)
	status, answer := r.call("POST", path+"/messages", `{"text":"later"}`)
	if status != http.StatusAccepted || !strings.Contains(answer, "later") {
		t.Errorf("a message while a turn runs: %d %s", status, answer)
	}
	r.get(nil, "POST", path+"/cancel", "")
	check(stream.rest(), "cancelled")

	var list sessionList
	r.get(&list, "GET", "/v1/sessions", "")
	if list.Sessions[0].Busy || list.Sessions[0].Queued != "later" {
		t.Errorf("after a cancelled turn the message that waited is sent or lost: %+v", list.Sessions[0])
	}

	for _, kind := range []string{
		"status", "text_delta", "reasoning_delta", "tool_start", "tool_progress", "tool_complete", "complete", "error", "cancelled",
		"checkpoint_created", "context_trimmed", "queued", "retrying", "confirm_request", "turn_started", windowChanged,
	} {
		if !seen[kind] {
			t.Errorf("no turn showed %s; seen: %v", kind, slices.Sorted(maps.Keys(seen)))
		}
	}
	_, metrics := r.call("GET", "/metrics", "")
	for _, line := range []string{
		`winnow_turns_total{end="complete"} 2`, `winnow_turns_total{end="error"} 1`, `winnow_turns_total{end="cancelled"} 1`,
		`winnow_turn_failures_total{code="`, `winnow_tokens_total{kind="prompt"} 7`, `winnow_turn_seconds_count 4`, `winnow_sessions 1`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics have no %s:\n%s", line, metrics)
		}
	}
	r.stop()
	var ends []string
	for running, all := false, follower.rest(); len(all) > 0; all = all[1:] {
		switch e := all[0]; {
		case e.kind() == "turn_started":
			running = true
		case e.terminal():
			if ends = append(ends, e.kind()); !running {
				t.Errorf("%s ends no turn", e.data)
			}
			running = false
		}
	}
	if want := []string{"complete", "complete", "error", "cancelled"}; !slices.Equal(ends, want) {
		t.Errorf("the turns ended with %q, want %q", ends, want)
	}
}

func TestAQueuedMessageFollowsByItself(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("slow", "{}")}, at.Answer{at.Say("second")}))
	_, path := r.open("anna")
	follower := r.follow(t.Context(), path, 0)
	stream := r.send(path, `{"text":"first"}`)
	r.window.Slow.Wait(t)
	if status, _ := r.call("POST", path+"/messages", `{"text":"next"}`); status != http.StatusAccepted {
		t.Errorf("status %d", status)
	}
	var list sessionList
	r.get(&list, "GET", "/v1/sessions", "")
	if len(list.Sessions) != 1 || !list.Sessions[0].Busy || list.Sessions[0].Queued != "next" {
		t.Errorf("sessions: %+v", list.Sessions)
	}
	r.window.Slow.Open()
	stream.rest()
	follower.until("complete")
	follower.until("complete")
	var pairs pairList
	r.get(&pairs, "GET", path+"/pairs", "")
	if len(pairs.Pairs) != 2 || pairs.Pairs[1].UserText != "next" || pairs.Pairs[1].AssistantText != "second" {
		t.Errorf("pairs: %+v", pairs.Pairs)
	}
}

// TestNothingIsLostOrRepeated kills the connection after a few events and continues by
// the id of the last one, a hundred times over one turn.
func TestNothingIsLostOrRepeated(t *testing.T) {
	const kills = 100
	var long at.Answer
	for i := range 10 * kills {
		long = append(long, at.Say(fmt.Sprintf("%d ", i)))
	}
	r := newRig(t, at.NewScript(long))
	_, path := r.open("anna")
	whole := r.send(path, `{"text":"count"}`)
	before := r.follow(t.Context(), path, 0) // from the start of the turn, if it still runs
	first, _ := whole.next()
	before.body.Close()

	got := []wireEvent{first}
	killed := 0
	for done := false; !done; {
		ctx, kill := context.WithCancel(t.Context())
		c := r.follow(ctx, path, got[len(got)-1].id)
		for range 1 + rand.IntN(15) {
			e, ok := c.next()
			if !ok {
				t.Fatal("the stream ended")
			}
			got = append(got, e)
			if done = e.terminal(); done {
				break
			}
		}
		kill()
		killed++
	}
	want := append([]wireEvent{first}, whole.rest()...)
	if !slices.Equal(got, want) {
		t.Errorf("%d events in pieces, %d in one", len(got), len(want))
	}
	var text strings.Builder
	for i, e := range got {
		var delta struct{ Text string }
		if e.kind() == "text_delta" {
			r.must(json.Unmarshal([]byte(e.data), &delta))
		}
		text.WriteString(delta.Text)
		if i > 0 && e.id != got[i-1].id+1 {
			t.Errorf("id %d after %d", e.id, got[i-1].id)
		}
	}
	if words := strings.Fields(text.String()); len(words) != 10*kills || words[len(words)-1] != fmt.Sprint(10*kills-1) {
		t.Errorf("%d words after %d kills", len(words), killed)
	}
	t.Logf("%d kills, %d events", killed, len(got))
}

func TestIDsOfAnotherRunAreRefused(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("hello")}))
	_, path := r.open("anna")
	all := r.send(path, `{"text":"hi"}`).rest()
	for id, want := range map[string]struct {
		status int
		code   string
	}{
		"1":                                {http.StatusGone, "events_gone"},
		"0":                                {http.StatusGone, "events_gone"},
		"-1":                               {http.StatusBadRequest, "event_id"},
		"abc":                              {http.StatusBadRequest, "event_id"},
		"99999999999999999999":             {http.StatusBadRequest, "event_id"},
		fmt.Sprint(all[len(all)-1].id + 1): {http.StatusGone, "events_gone"},
	} {
		req := r.request(t.Context(), "GET", path+"/events", "")
		req.Header.Set("Last-Event-ID", id)
		resp := r.do(req)
		var p problem
		r.must(json.NewDecoder(resp.Body).Decode(&p))
		resp.Body.Close()
		if resp.StatusCode != want.status || p.Code != want.code {
			t.Errorf("id %s: %d %+v", id, resp.StatusCode, p)
		}
	}
}

func TestASlowReaderIsDroppedAndContinues(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 16<<10)
	var long at.Answer
	for range 64 { // 2 MiB with the last event: more than the buffers of a connection
		long = append(long, at.Say(big))
	}
	r := newRig(t, at.NewScript(long), func(o *Options) { o.Write = 3 * time.Second })
	_, path := r.open("anna")
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(8 << 10)
		}
		return conn, err
	}
	few := &http.Client{Transport: &http.Transport{DialContext: dial}}
	resp, err := few.Do(r.request(t.Context(), "POST", path+"/messages", `{"text":"flood"}`))
	r.must(err)
	slow := r.stream(resp)
	first, _ := slow.next()
	fast := r.follow(t.Context(), path, first.id).until("complete") // the turn did not wait for the slow one
	r.wait("the slow reader is dropped", func() bool {
		_, metrics := r.call("GET", "/metrics", "")
		return strings.Contains(metrics, "winnow_followers_dropped_total 1")
	})
	got := append([]wireEvent{first}, slow.rest()...)
	if len(got) >= len(fast) {
		t.Fatal("the slow reader was not dropped")
	}
	got = append(got, r.follow(t.Context(), path, got[len(got)-1].id).until("complete")...)
	if !slices.Equal(got[1:], fast) {
		t.Errorf("%d events with a drop, %d without", len(got)-1, len(fast))
	}
}

func TestSilenceIsCommented(t *testing.T) {
	r := newRig(t, at.NewScript(), func(o *Options) { o.Comment = 5 * time.Millisecond })
	_, path := r.open("anna")
	c := r.follow(t.Context(), path, 0)
	for comments := 0; comments < 3; {
		line, err := c.lines.ReadString('\n')
		r.must(err)
		if strings.HasPrefix(line, ":") {
			comments++
		}
	}
}

func TestAQuestionThatNobodyAnswersIsAnsweredWithNo(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("add_word", `{"word":"cat"}`), call("save_words", "{}")}, at.Answer{at.Say("ok")}),
		func(o *Options) { o.AnswerWait = 20 * time.Millisecond })
	_, path := r.open("anna")
	all := r.send(path, `{"text":"save"}`).rest()
	if last := all[len(all)-1]; last.kind() != "complete" {
		t.Errorf("the turn ended with %s", last.data)
	}
	if slices.Contains(r.window.Runs(), "save_words") {
		t.Error("the words were saved without an answer")
	}
}

func TestTheEndGivesEveryStreamItsLastEvent(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("I wait. "), call("slow", "{}")}), func(o *Options) { o.Drain = 50 * time.Millisecond })
	_, path := r.open("anna")
	stream := r.send(path, `{"text":"wait"}`)
	idle := r.follow(t.Context(), path, 0)
	r.window.Slow.Wait(t)
	r.stop()
	all := stream.rest()
	last := all[len(all)-1]
	if last.kind() != "error" || !strings.Contains(last.data, assistant.CodeInterrupted) {
		t.Errorf("the turn ended with %s", last.data)
	}
	if rest := idle.rest(); !slices.ContainsFunc(rest, wireEvent.terminal) {
		t.Errorf("a follower got %v", rest)
	}
	if !errors.Is(stream.end, io.EOF) || !errors.Is(idle.end, io.EOF) {
		t.Errorf("the streams ended with %v and %v: they were cut", stream.end, idle.end)
	}
	if err := <-r.served; err != nil {
		t.Error(err)
	}
	r.served <- nil // for the cleanup
}

func TestTheEndLetsATurnComplete(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("slow", "{}")}, at.Answer{at.Say("done")}), func(o *Options) { o.Drain = time.Minute })
	_, path := r.open("anna")
	stream := r.send(path, `{"text":"wait"}`)
	r.window.Slow.Wait(t)
	r.stop()
	r.wait("the server is ending", func() bool {
		st := r.server.open()[0]
		_, err := st.start(st.begin(assistant.Prompt{}))
		return errors.Is(err, serve.ErrClosed)
	})
	r.window.Slow.Open()
	all := stream.rest()
	if last := all[len(all)-1]; last.kind() != "complete" {
		t.Errorf("the turn ended with %s", last.data)
	}
}
