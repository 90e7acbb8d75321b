package api

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// ifMatch adds the header to a request.
func ifMatch(tag string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("If-Match", tag) }
}

// with makes a request with a header and returns the response and its body.
func (r *rig) with(header, value, method, path, body string) (*http.Response, string) {
	r.t.Helper()
	req := r.request(r.t.Context(), method, path, body)
	req.Header.Set(header, value)
	return r.whole(req)
}

// whole makes a request and returns the response and its body, to the end of a stream.
func (r *rig) whole(req *http.Request) (*http.Response, string) {
	r.t.Helper()
	resp := r.do(req)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	r.must(err)
	return resp, string(text)
}

// A client that has a response does not get it again, and gets another one as soon as there is one.
func TestAResponseIsSentOnce(t *testing.T) {
	r := newRig(t, at.NewScript())
	id, path := r.open("anna")
	edit := func(word string) {
		r.get(nil, "POST", "/v1/window/edit", byHandOf(id, `,"tool":"add_word","arguments":{"word":"`+word+`"}`))
	}
	edit("ant")
	for _, get := range []string{"/v1/window", path, path + "/pairs", path + "/request", "/v1/sessions", "/v1/proposals", "/v1/tokens", "/openapi.json"} {
		resp, text := r.with("If-None-Match", `"x"`, "GET", get, "")
		tag := resp.Header.Get("ETag")
		if resp.StatusCode != http.StatusOK || tag == "" || text == "" {
			t.Errorf("%s: %d, ETag %q", get, resp.StatusCode, tag)
		}
		for _, have := range []string{tag, `"x", W/` + tag, "*"} {
			if again, text := r.with("If-None-Match", have, "GET", get, ""); again.StatusCode != http.StatusNotModified || text != "" || again.Header.Get("ETag") != tag {
				t.Errorf("%s, If-None-Match: %s: %d %q, ETag %s, want 304 and %s", get, have, again.StatusCode, text, again.Header.Get("ETag"), tag)
			}
		}
	}
	resp, _ := r.with("If-None-Match", `"x"`, "GET", "/v1/window", "")
	edit("bee")
	if changed, text := r.with("If-None-Match", resp.Header.Get("ETag"), "GET", "/v1/window", ""); changed.StatusCode != http.StatusOK || !strings.Contains(text, "bee") {
		t.Errorf("the changed window: %d %s", changed.StatusCode, text)
	}
}

// The ETag of a plan is enough to save, discard and go back by, and only as long as it is the plan.
func TestASaveMatchesThePlanThatWasShown(t *testing.T) {
	r := newRig(t, at.NewScript())
	anna, path := r.open("anna")
	bert, _ := r.open("bert")
	edit := func(session, word string) {
		r.get(nil, "POST", "/v1/window/edit", byHandOf(session, `,"tool":"add_word","arguments":{"word":"`+word+`"}`))
	}
	plan := func() string {
		resp, text := r.with("Accept", "*/*", "GET", "/v1/window/plan?session="+anna, "")
		var plan assistant.SavePlan
		r.must(json.Unmarshal([]byte(text), &plan))
		tag := resp.Header.Get("ETag")
		if tag != `"`+plan.Digest+`"` {
			t.Errorf("the ETag of the plan %s is %s", plan.Digest, tag)
		}
		return tag
	}
	edit(anna, "ant")
	shown := plan()
	edit(bert, "bee")
	for _, act := range []string{"save", "discard"} {
		resp, text := r.with("If-Match", shown, "POST", "/v1/window/"+act, byHandOf(anna, ""))
		var p problem
		r.must(json.Unmarshal([]byte(text), &p))
		if resp.StatusCode != http.StatusPreconditionFailed || p.Code != codePrecondition || p.Type != "urn:winnow:precondition_failed" || p.Plan == nil || quoted(p.Plan.Digest) != plan() {
			t.Errorf("%s: %d %s", act, resp.StatusCode, text)
		}
	}
	if saved := r.window.Saved(); slices.Contains(saved, "ant") {
		t.Errorf("saved: %q", saved)
	}
	if resp, text := r.with("If-Match", "W/"+plan(), "POST", "/v1/window/save", byHandOf(anna, "")); resp.StatusCode != http.StatusOK || !slices.Contains(r.window.Saved(), "bee") {
		t.Errorf("save: %d %s", resp.StatusCode, text)
	}
	edit(anna, "cat")
	if resp, text := r.with("If-Match", plan(), "POST", "/v1/window/discard", byHandOf(anna, "")); resp.StatusCode != http.StatusOK || slices.Contains(r.window.Words(), "cat") {
		t.Errorf("discard: %d %s", resp.StatusCode, text)
	}
	resp, text := r.with("Accept", "*/*", "GET", path+"/checkpoints", "")
	var list checkpointList
	r.must(json.Unmarshal([]byte(text), &list))
	newest := resp.Header.Get("ETag")
	if resp, text := r.with("If-Match", newest, "POST", path+"/rollback", `{"checkpoint":"`+list.Checkpoints[0].ID+`","scope":"window","confirmed":true}`); resp.StatusCode != http.StatusOK || newest != quoted(list.Newest) {
		t.Errorf("roll back to %s: %d %s", newest, resp.StatusCode, text)
	}
}
