package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

func TestPairsAreListedByPage(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("a")}, at.Answer{at.Fail{Err: errors.New("cut")}}, at.Answer{at.Say("c")}, at.Answer{at.Say("d")}))
	_, path := r.open("anna")
	for _, text := range []string{"one", "two", "three"} {
		r.send(path, `{"text":"`+text+`"}`).rest()
	}
	list := func(query string) (texts []string, all pairList) {
		t.Helper()
		r.get(&all, "GET", path+"/pairs?"+query, "")
		for _, p := range all.Pairs {
			texts = append(texts, fmt.Sprint(p.UserText, " ", p.Included))
		}
		return texts, all
	}
	whole := []string{"one true", "two false", "three true"} // the answer to two failed
	texts, all := list("")
	if !slices.Equal(texts, whole) || all.Matching != 3 || all.Filter != "x" {
		t.Errorf("the pairs are %q, %+v", texts, all)
	}
	second, first := "after="+cursor(all.Pairs[2].Seq), "after="+cursor(all.Pairs[0].Seq)
	for query, want := range map[string][]string{
		"limit=2": whole[1:], "limit=3": whole, second: whole[:2], second + "&limit=1": whole[1:2],
		"filter=c%27three%27": whole[2:], first: nil, "filter=c%27three%27&" + first: nil,
	} {
		if texts, _ := list(query); !slices.Equal(texts, want) {
			t.Errorf("%s: %q, want %q", query, texts, want)
		}
	}
	if p := r.problem(422, "filter", "GET", path+"/pairs?filter=s3%20%28", ""); p.Column != 5 {
		t.Errorf("a line that cannot be read: %+v", p)
	}
	sent, err := r.store.Sent(t.Context(), 10)
	if r.must(err); !slices.Equal(sent, []string{"three", "two", "one"}) {
		t.Errorf("sent messages: %q", sent)
	}

	r.send(path, `{"text":"four","filter":"c'three'"}`).rest()
	var sentTexts []string
	for _, m := range r.script.Requests()[3].Messages {
		if m.Role == llm.RoleUser {
			sentTexts = append(sentTexts, m.Content)
		}
	}
	if !slices.Equal(sentTexts, []string{"three", "four"}) {
		t.Errorf("with a filter line %q was sent", sentTexts)
	}
	if _, all := list(""); all.Filter != "c'three'" {
		t.Errorf("the view is %s", all.Filter)
	}
}

func TestARollbackOfTheConversationNeedsNoConfirmation(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("hello")}, at.Answer{call("add_word", `{"word":"cat"}`)}, at.Answer{at.Say("done")}))
	_, path := r.open("anna")
	bert, _ := r.open("bert")
	r.send(path, `{"text":"hi"}`).rest()
	r.send(path, `{"text":"add cat"}`).rest()
	r.get(nil, "POST", "/v1/window/edit", `{"session":"`+bert+`","tool":"add_word","arguments":{"word":"dog"}}`)
	var list checkpointList
	r.get(&list, "GET", path+"/checkpoints", "")
	var back rolledBack
	r.get(&back, "POST", path+"/rollback", `{"scope":"conversation","checkpoint":"`+list.Checkpoints[1].ID+`","newest":"`+list.Newest+`"}`)
	if back.Text != "add cat" || !slices.Equal(r.window.Words(), []string{"one", "cat", "dog"}) {
		t.Errorf("rolled back %+v: %q", back, r.window.Words())
	}
}

func TestAFollowerOfARunningTurnSeesItFromItsStart(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("first")}, at.Answer{at.Say("second "), call("slow", "{}")}, at.Answer{at.Say("done")}))
	_, path := r.open("anna")
	r.send(path, `{"text":"one"}`).rest()
	stream := r.send(path, `{"text":"two"}`)
	r.window.Slow.Wait(t)
	late := r.follow(t.Context(), path, 0)
	r.window.Slow.Open()
	if whole, seen := stream.rest(), late.until("complete"); !slices.Equal(seen, whole) {
		t.Errorf("the late follower saw %d events, the first %d", len(seen), len(whole))
	}
	late.body.Close()
	r.wait("nobody follows", func() bool {
		_, metrics := r.call("GET", "/metrics", "")
		return strings.Contains(metrics, "winnow_followers 0") && strings.Contains(metrics, "winnow_first_text_seconds_count 2")
	})
}

// What a terminal would obey is written as an escape, in answers and in events.
func TestNothingControlsATerminal(t *testing.T) {
	const evil = "a\u009b2Jb\u202ec"
	r := newRig(t, at.NewScript(at.Answer{at.Say(evil)}))
	_, path := r.open("anna")
	r.must(r.window.Type(evil))
	_, window := r.call("GET", "/v1/window", "")
	var stream strings.Builder
	for _, e := range r.send(path, `{"text":"hi"}`).rest() {
		stream.WriteString(e.data)
	}
	_, pairs := r.call("GET", path+"/pairs", "")
	for name, text := range map[string]string{"window": window, "stream": stream.String(), "pairs": pairs} {
		if strings.ContainsAny(text, "\u009b\u202e") {
			t.Errorf("the %s has control characters: %q", name, text)
		}
	}
	if !strings.Contains(window, `a\u009b2Jb\u202ec`) {
		t.Errorf("the window has other words: %s", window)
	}
}

func TestWhatIsOffered(t *testing.T) {
	r := newRig(t, at.NewScript())
	var w windowInfo
	r.get(&w, "GET", "/v1/window", "")
	if slices.ContainsFunc(w.Tools, func(i toolInfo) bool { return i.Name == "save_words" }) {
		t.Errorf("a tool that cannot be called is listed: %+v", w.Tools)
	}
	resp := r.do(r.request(t.Context(), "PATCH", "/v1/sessions", "{}"))
	defer resp.Body.Close()
	if allow := resp.Header.Get("Allow"); resp.StatusCode != 405 || allow != "GET, POST" {
		t.Errorf("PATCH: %d, allowed is %q", resp.StatusCode, allow)
	}
}

func TestAServerNeedsAToken(t *testing.T) {
	r := newRig(t, at.NewScript())
	if _, err := New(Options{Hub: r.hub, Address: "127.0.0.1:1"}); err == nil {
		t.Error("there is a server without a token")
	}
}

// A panic ends its connection and nothing else.
func TestAPanicInARequest(t *testing.T) {
	r := newRig(t, at.NewScript())
	r.window.panics.Store(true)
	if resp, err := http.DefaultClient.Do(r.request(t.Context(), "GET", "/v1/window", "")); err == nil {
		raw, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		t.Errorf("the answer is %d %s", resp.StatusCode, raw)
	}
	r.window.panics.Store(false)
	var w windowInfo
	r.get(&w, "GET", "/v1/window", "")
	if log := r.log.String(); !strings.Contains(log, "in the window") || !strings.Contains(log, "request panicked") {
		t.Errorf("the panic is not logged: %s", log)
	}
}

// The document is the same at each start.
func TestTheDocumentIsStable(t *testing.T) {
	r := newRig(t, at.NewScript())
	want, err := Document("test")
	r.must(err)
	for range 5 {
		again, err := New(Options{Hub: r.hub, Token: testToken, Version: "test"})
		r.must(err)
		if got, err := again.document(); err != nil || string(got) != string(want) {
			t.Fatalf("the document differs, %v", err)
		}
	}
	var shown, described map[string]any
	r.get(&shown, "GET", "/openapi.json", "")
	r.must(json.Unmarshal(want, &described))
	delete(shown, "servers") // the address
	delete(described, "servers")
	if !reflect.DeepEqual(shown, described) {
		t.Error("a server shows another document")
	}
}

// An act that would do something else than what was shown is refused with what it would do.
func TestAnotherPlanIsRefused(t *testing.T) {
	r := newRig(t, at.NewScript())
	anna, path := r.open("anna")
	bert, _ := r.open("bert")
	add := func(session, word string) {
		r.get(nil, "POST", "/v1/window/edit", `{"session":"`+session+`","tool":"add_word","arguments":{"word":"`+word+`"}}`)
	}
	add(anna, "cat")
	var plan assistant.SavePlan
	r.get(&plan, "GET", "/v1/window/plan?session="+anna, "")
	var list checkpointList
	r.get(&list, "GET", path+"/checkpoints", "")
	add(bert, "dog")
	body := `{"session":"` + anna + `","digest":"` + plan.Digest + `"}`
	for _, act := range []string{"/v1/window/save", "/v1/window/discard"} {
		p := r.problem(409, "plan_changed", "POST", act, body)
		if p.Plan == nil || len(p.Plan.Changes) != 2 || p.Plan.Digest == plan.Digest || !slices.Equal(p.By, []string{"bert"}) {
			t.Errorf("%s: %+v", act, p)
		}
	}
	back := `{"checkpoint":"` + list.Checkpoints[1].ID + `","confirmed":true,"newest":"`
	p := r.problem(409, "plan_changed", "POST", path+"/rollback", back+list.Newest+`"}`)
	if len(p.Steps) != 2 || p.Newest == list.Newest {
		t.Errorf("the rollback: %+v", p)
	}
	if !slices.Equal(r.window.Words(), []string{"one", "cat", "dog"}) || len(r.window.Saved()) != 1 {
		t.Errorf("words %q, saved %q", r.window.Words(), r.window.Saved())
	}
	r.get(&plan, "GET", "/v1/window/plan?session="+anna, "")
	r.get(nil, "POST", "/v1/window/save", `{"session":"`+anna+`","digest":"`+plan.Digest+`"}`)
	r.get(nil, "POST", path+"/rollback", back+p.Newest+`"}`)
	if !slices.Equal(r.window.Words(), []string{"one"}) || len(r.window.Saved()) != 3 {
		t.Errorf("words %q, saved %q", r.window.Words(), r.window.Saved())
	}
}
