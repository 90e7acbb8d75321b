package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/serve/servetest"
)

// keyed makes a request with a key.
func (r *rig) keyed(key, path, body string) (*http.Response, string) {
	r.t.Helper()
	return r.with(keyHeader, key, "POST", path, body)
}

// wordsOf counts how often the window has a word.
func (r *rig) wordsOf(word string) (n int) {
	for _, w := range r.window.Words() {
		if w == word {
			n++
		}
	}
	return n
}

// A request that is repeated with its key is carried out once, and answered the same.
func TestARepeatedRequestIsCarriedOutOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "kept")
	r := newRigOver(t, servetest.Obedient{}, func(o *Options) { o.StoredResponses = file })
	id, path := r.open("anna")
	same := func(key, path, body string, status int) string {
		t.Helper()
		first, text := r.keyed(key, path, body)
		again, repeated := r.keyed(key, path, body)
		if first.StatusCode != status || again.StatusCode != status || repeated != text || first.Header.Get(replayedHeader) != "" || again.Header.Get(replayedHeader) != "true" {
			t.Errorf("%s: %d %s, again %d %s", path, first.StatusCode, text, again.StatusCode, repeated)
		}
		for _, name := range []string{"Content-Type", "Location"} {
			if first.Header.Get(name) != again.Header.Get(name) {
				t.Errorf("%s: %s was %q and is %q", path, name, first.Header.Get(name), again.Header.Get(name))
			}
		}
		return text
	}
	addCat := byHandOf(id, `,"tool":"add_word","arguments":{"word":"cat"}`)
	same("edit", "/v1/window/edit", addCat, http.StatusOK)
	if n := r.wordsOf("cat"); n != 1 {
		t.Errorf("the word was added %d times", n)
	}
	open := len(r.hub.Sessions())
	same("open", "/v1/sessions", `{}`, http.StatusCreated)
	if n := len(r.hub.Sessions()); n != open+1 {
		t.Errorf("%d sessions were opened", n-open)
	}
	turn := same("send", path+"/messages", `{"text":"hello"}`, http.StatusOK)
	if n := len(r.pairs(path)); n != 1 || !strings.Contains(turn, "hello") {
		t.Errorf("there are %d pairs; the turn: %s", n, turn)
	}
	same("cancel", path+"/cancel", "", http.StatusNoContent)
	same("save", "/v1/window/save", byHandOf(id, `,"digest":"`+r.plan(id)+`"`), http.StatusOK)
	if resp, text := r.keyed("edit", "/v1/window/edit", byHandOf(id, addDog)); resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, `"key_reused"`) {
		t.Errorf("another request with the key: %d %s", resp.StatusCode, text)
	}
	if resp, text := r.keyed("edit", "/v1/window/edit?x=1", addCat); !strings.Contains(text, `"key_reused"`) {
		t.Errorf("another path with the key: %d %s", resp.StatusCode, text)
	}
	bert, _ := r.open("bert")
	if resp, text := r.keyed("edit", "/v1/window/edit", byHandOf(bert, addDog)); resp.StatusCode != http.StatusOK {
		t.Errorf("the key of another user: %d %s", resp.StatusCode, text)
	}
	if raw, err := os.ReadFile(file); err != nil || !strings.Contains(string(raw), `"key":"edit"`) {
		t.Errorf("the file: %s, %v", raw, err)
	}
}

// What was refused can be repeated with its key when it is possible.
func TestARefusedRequestKeepsItsKey(t *testing.T) {
	r := newRigOf(t, at.NewScript(at.Answer{call("add_word", `{"word":"cat"}`), call("slow", "{}")}, at.Answer{at.Say("done")}), impatient)
	_, path := r.open("anna")
	bert, _ := r.open("bert")
	turn := r.send(path, `{"text":"slow"}`)
	r.window.Slow.Wait(t)
	body := byHandOf(bert, addDog)
	if resp, text := r.keyed("k", "/v1/window/edit", body); resp.StatusCode != http.StatusConflict || !strings.Contains(text, `"held"`) {
		t.Errorf("while a turn holds the window: %d %s", resp.StatusCode, text)
	}
	r.window.Slow.Open()
	turn.rest()
	if resp, text := r.keyed("k", "/v1/window/edit", body); resp.StatusCode != http.StatusOK || r.wordsOf("dog") != 1 {
		t.Errorf("afterwards: %d %s", resp.StatusCode, text)
	}
}

// A request whose client has gone is carried out, and its client gets the response later.
func TestAClientThatHasGoneGetsItsResponseLater(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("slow", "{}")}, at.Answer{at.Say("done")}))
	_, path := r.open("anna")
	req := r.request(t.Context(), "POST", path+"/messages", `{"text":"slow"}`)
	req.Header.Set(keyHeader, "k")
	gone := r.stream(r.do(req))
	r.window.Slow.Wait(t)
	r.must(gone.body.Close())
	r.wait("the server sees it", func() bool { return !strings.Contains(r.metricsText(), "winnow_followers 1") })
	req = r.request(t.Context(), "POST", path+"/messages", `{"text":"slow"}`)
	req.Header.Set(keyHeader, "k")
	again := r.stream(r.do(req))
	r.window.Slow.Open()
	if all := again.rest(); all[0].kind() != "turn_started" && all[len(all)-1].kind() != "complete" || len(r.pairs(path)) != 1 {
		t.Errorf("%d pairs; the turn again: %v", len(r.pairs(path)), all)
	}
}

// A call of a tool ends, and its response is stored, after its client has gone.
func TestACallOutlivesItsClient(t *testing.T) {
	r := newRig(t, at.NewScript())
	id, _ := r.open("anna")
	ctx, leave := context.WithCancel(t.Context())
	body := byHandOf(id, `,"tool":"slow"`)
	req := r.request(ctx, "POST", "/v1/window/edit", body)
	req.Header.Set(keyHeader, "k")
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.server.handler.ServeHTTP(httptest.NewRecorder(), req)
	}()
	r.window.Slow.Wait(t)
	leave()
	runtime.Gosched()
	r.window.Slow.Open()
	<-done
	if resp, text := r.keyed("k", "/v1/window/edit", body); resp.StatusCode != http.StatusOK || resp.Header.Get(replayedHeader) != "true" {
		t.Errorf("the response later: %d %s", resp.StatusCode, text)
	}
}

// metricsText returns the metrics.
func (r *rig) metricsText() string {
	_, text := r.call("GET", "/metrics", "")
	return text
}

// A key is known after the server has been restarted or killed.
func TestKeysOutliveTheServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	start := func(t *testing.T) *rig {
		t.Helper()
		return newRigOver(t, servetest.Obedient{}, func(o *Options) { o.StoredResponses, o.User = file, "anna" })
	}
	t.Run("first", func(t *testing.T) {
		r := start(t)
		resp, text := r.keyed("open", "/v1/sessions", `{}`)
		if resp.StatusCode != http.StatusCreated {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
		path := "/v1/sessions/" + r.idIn(text)
		r.keyed("send", path+"/messages", `{"text":"hello"}`)
		_, p := r.server.kept.begin("anna", "killed", printOf(r.request(t.Context(), "POST", "/v1/sessions", `{}`), []byte(`{}`)))
		if p != nil { // its end is never stored
			t.Fatal(p)
		}
		r.must(os.WriteFile(file+".session", []byte(path), 0o600))
	})
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"user":"anna","key":"cut`)
	_ = f.Close()
	t.Run("second", func(t *testing.T) {
		r := start(t)
		raw, err := os.ReadFile(file + ".session")
		r.must(err)
		path := string(raw)
		if resp, text := r.keyed("open", "/v1/sessions", `{}`); resp.StatusCode != http.StatusCreated || resp.Header.Get("Location") != path || len(r.hub.Sessions()) != 0 {
			t.Errorf("the session again: %d %s", resp.StatusCode, text)
		}
		if resp, text := r.keyed("send", path+"/messages", `{"text":"hello"}`); resp.StatusCode != http.StatusNotFound || !strings.Contains(text, "was sent") {
			t.Errorf("the message again: %d %s", resp.StatusCode, text)
		}
		if resp, text := r.keyed("killed", "/v1/sessions", `{}`); resp.StatusCode != http.StatusConflict || !strings.Contains(text, "outcome_unknown") {
			t.Errorf("the request of which nothing is known: %d %s", resp.StatusCode, text)
		}
	})
}

// What is stored is bounded: by time, by number and by size.
func TestStoredResponsesAreBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	now := time.Now()
	open := func() *keptAnswers {
		k, err := openKept(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = k.Close() })
		k.now = func() time.Time { return now }
		return k
	}
	k := open()
	add := func(user string, n, size int) {
		t.Helper()
		a, p := k.begin(user, fmt.Sprint("k", n), "x")
		if p != nil {
			t.Fatal(p)
		}
		a.Status, a.Body = 200, make([]byte, size)
		k.finish(a)
	}
	known := func(user string, n int) bool { return k.find(user, fmt.Sprint("k", n)) != nil }
	for n := range maxKeys + 10 {
		add("anna", n, 0)
	}
	if known("anna", 9) || !known("anna", 10) {
		t.Error("the number of keys is not bounded, or the newest are not stored")
	}
	for n := range 6 {
		add("bert", n, 1<<20)
	}
	if known("bert", 1) || !known("bert", 2) || !known("anna", 10) {
		t.Error("the size is not bounded, or it is that of another user")
	}
	add("carl", 0, 2*maxKeyBytes)
	if !known("carl", 0) {
		t.Error("the newest is not stored")
	}
	k = open()
	if len(k.users["anna"]) != maxKeys || len(k.users["bert"]) != 4 || !known("carl", 0) {
		t.Errorf("read: %d, %d", len(k.users["anna"]), len(k.users["bert"]))
	}
	if info, err := os.Stat(file); err != nil || info.Size() > 24<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	now = now.Add(keptFor)
	add("anna", 5000, 0)
	if n := len(k.users["anna"]); n != 1 {
		t.Errorf("%d keys are older than a day", n-1)
	}
}
