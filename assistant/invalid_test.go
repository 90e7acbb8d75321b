package assistant_test

import (
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

func TestInvalidCallsAreCorrectedSilently(t *testing.T) {
	for _, tt := range []struct{ call, args, want string }{
		{"add_wrod", `{"word":"x"}`, "Unknown tool: 'add_wrod'. Did you mean 'add_word'?"},
		{"add_word", `{"wrod":"x"}`, "Invalid parameter: 'wrod' is not a valid parameter. Did you mean 'word'?"},
		{"add_word", `{}`, "Missing required parameter: word"},
		{"add_word", `{"word":3}`, "Invalid arguments for 'add_word'"},
		{"add_word", `{"word":"x"`, "one complete JSON object"},
		{"add_word", `[]`, "one complete JSON object"},
		{"add_word", `null`, "one complete JSON object"},
		{"list_words", `{"word":"x"}`, "Invalid parameter: 'word'"},
	} {
		t.Run(tt.call+tt.args, func(t *testing.T) {
			r := newRig(t, at.NewScript(at.Answer{call(tt.call, tt.args)}, at.Answer{addWord("two")}, at.Answer{at.Say("ok")}))
			events := r.send("add")
			end[assistant.Complete](t, events)
			got := results(t, r.script.Requests()[1])[0]
			if got.Success || !strings.Contains(got.Message, tt.want) || got.Hint == "" {
				t.Errorf("the model is told %+v, want %q with a hint", got, tt.want)
			}
			wantEqual(t, "retrying shown", len(at.Only[assistant.Retrying](events)), 0)
			wantEqual(t, "cards", len(at.Only[assistant.ToolStart](events)), 1)
			wantEqual(t, "text", r.last().AssistantText, "[[tool:0]]\n\nok")
			wantList(t, "runs", r.window.Runs(), "add_word two")
		})
	}
}

func TestRetryingFromTheSecondAndAnErrorAtTheFourth(t *testing.T) {
	bad := call("add_word", `{"wrod":"x"}`)
	for n := 1; n <= 5; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var answers []at.Answer
			for range n {
				answers = append(answers, at.Answer{bad})
			}
			r := newRig(t, at.NewScript(append(answers, at.Answer{at.Say("ok")})...))
			events := r.send("add")
			retries := at.Only[assistant.Retrying](events)
			wantEqual(t, "retries shown", len(retries), min(n, 3)-1)
			for i, e := range retries {
				wantEqual(t, "attempt", e.Attempt, i+2)
			}
			if n < 4 {
				end[assistant.Complete](t, events)
				return
			}
			wantError(t, events, assistant.CodeInvalidToolCalls)
			wantEqual(t, "requests", len(r.script.Requests()), 4)
			wantEqual(t, "stored count", r.last().InvalidRounds, 4)
		})
	}
}

func TestAValidRoundResetsTheCount(t *testing.T) {
	bad, good := at.Answer{call("add_word", `{}`)}, at.Answer{call("list_words", `{}`)}
	r := newRig(t, at.NewScript(bad, bad, bad, good, bad, bad, bad, good, at.Answer{at.Say("ok")}))
	end[assistant.Complete](t, r.send("go"))
	wantEqual(t, "requests", len(r.script.Requests()), 9)
}

func TestAMixedRoundIsInvalidButItsGoodCallsRun(t *testing.T) {
	mixed := at.Answer{call("nothing", `{}`), call("list_words", `{}`)}
	r := newRig(t, at.NewScript(mixed))
	wantError(t, r.send("go"), assistant.CodeInvalidToolCalls)
	wantEqual(t, "runs", len(r.window.Runs()), 4)
}

func TestTheCountOfInvalidRoundsSurvivesAnInterruption(t *testing.T) {
	bad := at.Answer{call("add_word", `{}`)}
	r := newRig(t, at.NewScript(bad, bad, bad, at.Answer{at.Cut{}}, bad))
	wantError(t, r.send("go"), assistant.CodeInterrupted)
	r.open() // as after a restart
	wantError(t, r.turn(assistant.Prompt{Retry: r.last().Seq}), assistant.CodeInvalidToolCalls)
	wantEqual(t, "requests", len(r.script.Requests()), 5)
}

func TestTheLimitOfRounds(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("list_words", `{}`)}))
	complete := end[assistant.Complete](t, r.send("go"))
	wantEqual(t, "requests", len(r.script.Requests()), 5)
	wantIn(t, string(complete.Payload.Notice), "5 rounds", "kept")
	actions := complete.Payload.Actions
	if len(actions) != 1 || actions[0].Action != assistant.ActionContinue || actions[0].Handler != "server" {
		t.Errorf("actions = %+v", actions)
	}
	r.open()
	if p := r.last(); p.Suggested == nil || len(p.Suggested.Actions) != 1 || p.Notice == "" {
		t.Errorf("after a restart: %+v, notice %q", p.Suggested, p.Notice)
	}
	wantEqual(t, "continue sends", actions[0].Message(), "Continue")
}

func TestACutResponseRunsNothing(t *testing.T) {
	for name, last := range map[string]at.Step{
		"length": at.Finish{Reason: "length"}, "filtered": at.Finish{Reason: "content_filter"}, "lost": at.Cut{},
		"refused": at.Fail{Err: &llm.RequestError{Kind: llm.KindNet, Message: "gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, at.NewScript(at.Answer{at.Say("I"), addWord("two"), last}))
			end[assistant.Error](t, r.send("add"))
			wantList(t, "words", r.window.Words(), "one")
			wantEqual(t, "checkpoints", len(r.session.Checkpoints()), 1)
			if refs := r.session.Visible(); refs[0].Contributes {
				t.Error("a pair without a whole response is sent on")
			}
		})
	}
}

func TestACutAnswerSaysWhatCutIt(t *testing.T) {
	for reason, want := range map[string]string{"length": "length limit", "content_filter": "content filter"} {
		r := newRig(t, at.NewScript(at.Answer{at.Say("half"), at.Finish{Reason: reason}}))
		wantIn(t, string(end[assistant.Complete](t, r.send("hi")).Payload.Notice), want)
		r = newRig(t, at.NewScript(at.Answer{addWord("two"), at.Finish{Reason: reason}}))
		wantIn(t, end[assistant.Error](t, r.send("hi")).Message, want)
	}
}

func TestADamagedResponseRunsNothing(t *testing.T) {
	damaged := at.Finish{Damaged: "a part of it could not be read"}
	r := newRig(t, at.NewScript(at.Answer{at.Say("I add it."), addWord("two"), damaged}, at.Answer{addWord("three")}, at.Answer{at.Say("ok")}))
	notice := end[assistant.Complete](t, r.send("add")).Payload.Notice
	wantIn(t, string(notice), "a part of it could not be read")
	wantList(t, "runs", r.window.Runs(), "add_word three")
	wantIn(t, string(r.last().AssistantText), "I add it.")
	got := results(t, r.script.Requests()[1])[0]
	if got.Success || !strings.Contains(got.Message, "a part of it could not be read") {
		t.Errorf("the model is told %+v", got)
	}
	r = newRig(t, at.NewScript(at.Answer{at.Say("half"), damaged}))
	wantIn(t, string(end[assistant.Complete](t, r.send("hi")).Payload.Notice), "damaged")
}

func TestAResponseWithAnUnknownEndRunsNothing(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("I add it."), addWord("two"), at.Finish{Reason: "recitation"}}, at.Answer{at.Say("ok")}))
	wantIn(t, string(end[assistant.Complete](t, r.send("add")).Payload.Notice), `its finish_reason is "recitation"`)
	wantEqual(t, "runs", len(r.window.Runs()), 0)
}

func TestCallsOfAResponseAreBounded(t *testing.T) {
	var flood at.Answer
	for i := range 100 {
		flood = append(flood, addWord(fmt.Sprint("w", i)))
	}
	r := newRig(t, at.NewScript(flood, at.Answer{at.Say("ok")}))
	wantIn(t, string(end[assistant.Complete](t, r.send("add")).Payload.Notice), "only the first 64")
	wantEqual(t, "runs", len(r.window.Runs()), 64)
	told := results(t, r.script.Requests()[1])
	wantEqual(t, "results", len(told), 100)
	wantIn(t, told[99].Message, "at most 64 calls")
}
