package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// texts are the texts of the answers to a pair.
func (r *rig) texts(path string, seq int64) (texts []string, chosen int) {
	r.t.Helper()
	var list answerList
	r.get(&list, "GET", fmt.Sprint(path, "/pairs/", seq, "/answers"), "")
	for _, a := range list.Answers {
		texts = append(texts, string(a.AssistantText))
	}
	return texts, list.Chosen
}

// pairs are the visible pairs.
func (r *rig) pairs(path string) []pairInfo {
	r.t.Helper()
	var list pairList
	r.get(&list, "GET", path+"/pairs", "")
	return list.Pairs
}

// post follows the turn that a request begins.
func (r *rig) post(path, body string) *client {
	r.t.Helper()
	return r.stream(r.do(r.request(r.t.Context(), "POST", path, body)))
}

func TestAnAnswerIsRegeneratedAndChosen(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("one")}, at.Answer{at.Say("two")}, at.Answer{at.Say("three")}, at.Answer{at.Say("next")}))
	_, path := r.open("anna")
	r.send(path, `{"text":"hi"}`).rest()
	seq := r.pairs(path)[0].Seq
	pair := fmt.Sprint(path, "/pairs/", seq)
	if texts, chosen := r.texts(path, seq); !slices.Equal(texts, []string{"one"}) || chosen != 0 {
		t.Errorf("the answers: %q, %d", texts, chosen)
	}
	follower := r.follow(t.Context(), path, 0)
	if all := r.post(pair+"/retry", `{}`).rest(); all[len(all)-1].kind() != "complete" {
		t.Errorf("the turn: %v", all)
	}
	follower.until("complete") // others see it, too
	r.post(pair+"/retry", `{"model":"test/other"}`).rest()
	if texts, chosen := r.texts(path, seq); !slices.Equal(texts, []string{"one", "two", "three"}) || chosen != 2 {
		t.Errorf("the answers: %q, %d", texts, chosen)
	}
	if all := r.pairs(path); len(all) != 1 || all[0].AssistantText != "three" || all[0].Model != "test/other" {
		t.Errorf("the pairs: %+v", all)
	}
	var chosen pairInfo
	r.get(&chosen, "POST", pair+"/choose", `{"answer":1}`)
	if chosen.AssistantText != "two" || chosen.Seq != seq || !chosen.Included {
		t.Errorf("chosen is %+v", chosen)
	}
	r.send(path, `{"text":"more"}`).rest()
	var sent []string
	for _, m := range r.script.Requests()[3].Messages {
		sent = append(sent, m.Content)
	}
	if !slices.Contains(sent, "two") || slices.Contains(sent, "three") {
		t.Errorf("sent was %q", sent)
	}
	for body, code := range map[string]string{`{"answer":3}`: "no_answer", `{"answer":-1}`: "invalid", `{"answer":1.5}`: "invalid", `{"answer":1.0}`: "invalid", `{"answer":1e30}`: "invalid"} {
		status := http.StatusUnprocessableEntity
		if code == "no_answer" {
			status = http.StatusNotFound
		}
		r.problem(status, code, "POST", pair+"/choose", body)
	}
	r.problem(409, "not_last", "POST", pair+"/retry", `{}`)
	r.problem(422, "invalid", "POST", path+"/pairs/x/retry", `{}`)
}

func TestAFailedMessageIsTriedAgainInItsPlace(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Fail{Err: errors.New("cut")}}, at.Answer{at.Say("next")}, at.Answer{at.Say("now")}))
	_, path := r.open("anna")
	r.send(path, `{"text":"first"}`).rest()
	r.send(path, `{"text":"second"}`).rest()
	r.post(fmt.Sprint(path, "/pairs/", r.pairs(path)[0].Seq, "/retry"), `{}`).rest()
	all := r.pairs(path)
	if len(all) != 2 || all[0].UserText != "first" || all[0].AssistantText != "now" || all[0].State != assistant.PairComplete {
		t.Errorf("the pairs: %+v", all)
	}
	if texts, _ := r.texts(path, all[0].Seq); len(texts) != 1 {
		t.Errorf("a failed answer stays: %q", texts)
	}
}

// What an answer changed in the window stays when it is regenerated: the user is asked.
func TestAnAnswerThatChangedTheWindowIsAskedAbout(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("add_word", `{"word":"cat"}`)}, at.Answer{at.Say("done")}, at.Answer{at.Say("again")}))
	_, path := r.open("anna")
	r.send(path, `{"text":"add cat"}`).rest()
	retry := fmt.Sprint(path, "/pairs/", r.pairs(path)[0].Seq, "/retry")
	r.problem(409, "changed_window", "POST", retry, `{"model":"test/other"}`)
	if all := r.pairs(path); all[0].AssistantText == "again" {
		t.Errorf("it was regenerated: %+v", all)
	}
	r.post(retry, `{"confirmed":true}`).rest()
	if all := r.pairs(path); all[0].AssistantText != "again" || all[0].Model != "test/script" || !slices.Equal(r.window.Words(), []string{"one", "cat"}) {
		t.Errorf("%+v, %q", all[0], r.window.Words())
	}
}

func TestProposalsAreAcceptedAndRejected(t *testing.T) {
	propose := func(word string) at.Answer {
		return at.Answer{at.Say("How about this? " + proposalMarker + ` {"word":"` + word + `"}`)}
	}
	r := newRig(t, at.NewScript(propose("cat"), propose("dog"), at.Answer{at.Say("ok")}))
	_, path := r.open("anna")
	proposal := func() string {
		t.Helper()
		all := r.pairs(path)
		last := all[len(all)-1]
		if len(last.Payloads) != 1 {
			t.Fatalf("the payloads: %+v", last.Payloads)
		}
		return fmt.Sprint(path, "/pairs/", last.Seq, "/proposals/", last.Payloads[0].ID)
	}
	r.send(path, `{"text":"propose"}`).rest()
	first := proposal()
	follower := r.follow(t.Context(), path, 0)
	all := r.post(first, `{"accept":true}`).rest()
	if all[len(all)-1].kind() != "complete" || !slices.ContainsFunc(all, func(e wireEvent) bool { return e.kind() == "checkpoint_created" }) {
		t.Errorf("the turn: %v", all)
	}
	follower.until("complete")
	if !slices.Equal(r.window.Words(), []string{"one", "cat"}) {
		t.Errorf("the words: %q", r.window.Words())
	}
	for _, accept := range []string{"true", "false"} {
		if p := r.problem(409, "decided", "POST", first, `{"accept":`+accept+`}`); !strings.Contains(p.Detail, "already a decision") {
			t.Errorf("%+v", p)
		}
	}
	r.send(path, `{"text":"another"}`).rest()
	second := proposal()
	if status, body := r.call("POST", second, `{"accept":false}`); status != http.StatusNoContent || body != "" {
		t.Errorf("a rejection: %d %s", status, body)
	}
	r.problem(409, "decided", "POST", second, `{"accept":true}`)
	if !slices.Equal(r.window.Words(), []string{"one", "cat"}) {
		t.Errorf("the words: %q", r.window.Words())
	}
	decisions := []string{}
	for _, p := range r.pairs(path) {
		for _, payload := range p.Payloads {
			decisions = append(decisions, payload.Decision)
		}
	}
	if !slices.Equal(decisions, []string{"accepted", "rejected"}) {
		t.Errorf("the decisions: %q", decisions)
	}
}

func TestANewSessionIsShown(t *testing.T) {
	r := newRig(t, at.NewScript())
	resp := r.do(r.request(t.Context(), "POST", "/v1/sessions", `{}`))
	var made, shown sessionInfo
	r.must(json.NewDecoder(resp.Body).Decode(&made))
	r.get(&shown, "GET", resp.Header.Get("Location"), "")
	if shown.ID != made.ID || shown.Role != assistant.RoleAdmin {
		t.Errorf("%+v, want %+v", shown, made)
	}
}
