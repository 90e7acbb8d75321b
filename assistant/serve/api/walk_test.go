package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
)

// walk goes through the operations of the document.
type walk struct {
	*rig
	anna, path string // a session with a pair
	pair       string // its path
	frank      string // a session with a cancelled answer
	bodies     map[string]string
}

func startWalk(t *testing.T, script *at.Script) *walk {
	t.Helper()
	w := &walk{rig: newRigOf(t, script, impatient)}
	w.anna, w.path = w.open("anna")
	w.send(w.path, `{"text":"hi"}`).rest()
	w.pair = fmt.Sprint(w.path, "/pairs/", w.pairs(w.path)[0].Seq)
	w.bodies = map[string]string{ // that fit, by operation; of a session that is not open
		"openSession": `{"session":"none"}`, "sendMessage": `{"text":"hi"}`, "answerQuestion": `{"accept":true}`, "retryPair": `{}`,
		"chooseAnswer": `{"answer":0}`, "decideProposal": `{"accept":true}`, "rollBack": `{"checkpoint":"x","newest":""}`,
		"askAgain": `{}`, "setTitle": `{"title":"Cats"}`,
		"editWindow": `{"session":"none","tool":"add_word"}`,
		"addToken":   `{"name":"anna"}`,
		"saveWindow": `{"session":"none","digest":"x"}`, "discardChanges": `{"session":"none","digest":"x"}`,
	}
	return w
}

// each calls f for every operation, with the path of the open session or of none.
func (w *walk) each(f func(o *described, method, open, none string)) {
	for _, path := range slices.Sorted(maps.Keys(w.document.Paths)) {
		for method, o := range w.document.Paths[path] {
			fill := func(id string) string {
				return strings.NewReplacer("{id}", id, "{seq}", "1", "{question}", "x", "{name}", "nobody", "{proposal}", "x").Replace(path)
			}
			f(o, strings.ToUpper(method), fill(w.anna), fill("none"))
		}
	}
}

// refused makes a request that has to be refused.
func (w *walk) refused(code, method, path, body string, change ...func(*http.Request)) {
	w.t.Helper()
	req := w.request(w.t.Context(), method, path, body)
	for _, c := range change {
		c(req)
	}
	resp := w.do(req)
	defer resp.Body.Close()
	if resp.StatusCode < http.StatusBadRequest { // it may be a stream
		w.t.Errorf("%s %s %.100s: %d, want %s", method, path, body, resp.StatusCode, code)
		return
	}
	raw, err := io.ReadAll(resp.Body)
	w.must(err)
	if !strings.Contains(string(raw), `"code":"`+code+`"`) {
		w.t.Errorf("%s %s %.100s: %d %s, want %s", method, path, body, resp.StatusCode, raw, code)
	}
}

// requests sets how many requests may be open with one token.
func (w *walk) requests(most int) {
	w.server.clients.mu.Lock()
	defer w.server.clients.mu.Unlock()
	w.server.clients.most = most
}

// every causes what all operations refuse.
func (w *walk) every() {
	w.each(func(o *described, method, open, none string) {
		body := w.bodies[o.OperationID]
		if (o.RequestBody == nil) != (body == "") {
			w.t.Fatalf("the body of %s is not in the table", o.OperationID)
		}
		if o.Security == nil {
			w.refused("unauthorized", method, open, body, func(r *http.Request) { r.Header.Del("Authorization") })
			w.requests(0)
			w.refused("limit", method, open, body)
			w.requests(DefaultRequests)
		}
		w.refused("wrong_host", method, open, body, func(r *http.Request) { r.Host = "evil.example" })
		w.refused("wrong_origin", method, open, body, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })
		for _, query := range []string{"no_such_word=1", "%zz=1"} {
			w.refused("invalid", method, open+"?"+query, body)
		}
		if o.RequestBody != nil {
			w.refused("invalid", method, open, `{"no_such_field":1}`)
			w.refused("json", method, open, `{`)
			w.refused("too_large", method, open, body+strings.Repeat(" ", maxBody))
			for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "a+application/json", "application/problem+json"} {
				w.refused("media_type", method, open, body, func(r *http.Request) { r.Header.Set("Content-Type", media) })
			}
			w.broken(o, method, open)
		}
		w.keys(o, method, open, body)
		if method != http.MethodDelete && (strings.Contains(none, "none") || strings.Contains(body, "none")) {
			w.refused("no_session", method, none, body)
		}
	})
	w.refused("no_session", "DELETE", "/v1/sessions/none", "")
}

// keys causes what is refused because of a key.
func (w *walk) keys(o *described, method, path, body string) {
	w.t.Helper()
	if !slices.ContainsFunc(o.Parameters, func(p parameter) bool { return p.Name == keyHeader }) {
		return
	}
	key := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(keyHeader, name) }
	}
	w.refused("invalid", method, path, body, key("a b"))
	req := w.request(w.t.Context(), method, path, body)
	user := w.server.opts.User
	if token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer "); token != testToken {
		user = "anna"
	}
	running, p := w.server.kept.begin(user, o.OperationID, printOf(req, []byte(body)))
	if p != nil {
		w.t.Fatal(p)
	}
	w.refused("key_in_use", method, path, body, key(o.OperationID))
	w.server.kept.interrupt(running)
	w.refused("outcome_unknown", method, path, body, key(o.OperationID))
	running.Print = "another request"
	w.refused("key_reused", method, path, body, key(o.OperationID))
}

// broken sends a body that is cut.
func (w *walk) broken(o *described, method, path string) {
	w.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(w.t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	w.must(err)
	defer conn.Close()
	w.must(conn.SetDeadline(time.Now().Add(30 * time.Second)))
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		method, path, strings.TrimPrefix(w.url, "http://"), testToken)
	w.must(err)
	raw, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(raw), `"code":"body"`) {
		w.t.Errorf("%s: %s, %v", path, raw, err)
	}
	w.document.note(o.OperationID + " body")
}

// storage causes what a failed disk does.
func (w *walk) storage() {
	w.faults.broken.Store(true)
	defer w.faults.broken.Store(false)
	w.refused("storage", "POST", "/v1/sessions", `{"session":"x"}`)
	w.refused("storage", "GET", w.path+"/pairs", "")
	w.refused("storage", "GET", w.path+"/request", "")
	w.refused("storage", "GET", w.pair+"/answers", "")
	w.refused("storage", "POST", w.pair+"/retry", "{}")
	w.refused("storage", "POST", w.pair+"/choose", `{"answer":0}`)
	w.refused("storage", "POST", w.pair+"/proposals/x", `{"accept":true}`)
	w.refused("storage", "POST", w.pair+"/branch", "")
	w.refused("storage", "GET", w.path+"/title", "")
	w.refused("storage", "POST", w.path+"/title", `{"title":"Cats"}`)
	w.must(w.store.Set(w.t.Context(), "open proposals:words", "[1]"))
	w.refused("storage", "GET", "/v1/proposals", "")
}

func byHandOf(session, more string) string { return `{"session":"` + session + `"` + more + `}` }

const addDog = `,"tool":"add_word","arguments":{"word":"dog"}`

// single causes what one operation refuses, in a window that nobody changes.
func (w *walk) single() {
	w.get(nil, "POST", w.path+"/cancel", "")
	unknown := w.path + "/pairs/999"
	w.refused("open", "POST", "/v1/sessions", byHandOf(w.anna, ""))
	w.refused("model", "POST", "/v1/sessions", `{"model":"no/model"}`)
	w.refused("empty", "POST", w.path+"/messages", `{"text":" "}`)
	w.refused("model", "POST", w.path+"/messages", `{"text":"a","model":"no/model"}`)
	w.refused("filter", "POST", w.path+"/messages", `{"text":"a","filter":"("}`)
	w.refused("filter", "GET", w.path+"/pairs?filter=%28", "")
	w.refused("event_id", "GET", w.path+"/events", "", func(r *http.Request) { r.Header.Set("Last-Event-ID", "x") })
	w.refused("events_gone", "GET", w.path+"/events", "", func(r *http.Request) { r.Header.Set("Last-Event-ID", "1") })
	w.refused("not_asked", "POST", w.path+"/answers/x", `{"accept":true}`)
	w.refused("no_pair", "POST", unknown+"/retry", "{}")
	w.refused("no_pair", "GET", unknown+"/answers", "")
	w.refused("no_pair", "POST", unknown+"/choose", `{"answer":0}`)
	w.refused("no_pair", "POST", unknown+"/proposals/x", `{"accept":true}`)
	w.refused("no_pair", "POST", unknown+"/branch", "")
	w.refused("nothing_cancelled", "GET", w.path+"/cancelled", "")
	w.refused("nothing_cancelled", "POST", w.path+"/cancelled/keep", "")
	w.refused("nothing_cancelled", "POST", w.path+"/cancelled/retry", "{}")
	w.refused("no_answer", "POST", w.pair+"/choose", `{"answer":7}`)
	w.refused("model", "POST", w.pair+"/retry", `{"model":"no/model"}`)
	w.refused("no_checkpoint", "POST", w.path+"/rollback", `{"checkpoint":"x","newest":"y"}`)
	w.refused("lasting", "POST", "/v1/window/edit", byHandOf(w.anna, `,"tool":"save_words"`))
	w.refused("unknown_tool", "POST", "/v1/window/edit", byHandOf(w.anna, `,"tool":"rm"`))
	w.refused("invalid_arguments", "POST", "/v1/window/edit", byHandOf(w.anna, `,"tool":"add_word","arguments":{"word":1}`))
	w.refused("nothing_unsaved", "POST", "/v1/window/discard", byHandOf(w.anna, `,"digest":"x"`))
	w.refused("no_session", "GET", "/v1/window/plan?session=none", "")
	w.refused("no_session", "GET", "/v1/window?session=none", "")
	w.get(nil, "GET", "/v1/window?session="+w.anna, "")
	for path, body := range map[string]string{"/v1/window/save": byHandOf(w.anna, ""), "/v1/window/discard": byHandOf(w.anna, ""), w.path + "/rollback": `{"checkpoint":"x"}`} {
		w.refused("no_basis", "POST", path, body)
		for _, tag := range []string{"x", `"x", "y"`, `*`} {
			w.refused("invalid", "POST", path, body, ifMatch(tag))
		}
		w.refused("invalid", "POST", path, body[:len(body)-1]+`,"digest":"x","newest":"x"}`, ifMatch(`"y"`))
	}
	w.refused("invalid", "POST", "/v1/window/save", byHandOf(w.anna, ""), ifMatch(`""`))
}

// busy causes what is refused while a turn runs, which has changed the window.
func (w *walk) busy() {
	bert, bertPath := w.open("bert")
	stream := w.send(w.path, `{"text":"slow"}`)
	w.window.Slow.Wait(w.t)
	for who, code := range map[string]string{w.anna: "busy", bert: "held"} {
		w.refused(code, "POST", "/v1/window/edit", byHandOf(who, addDog))
		w.refused(code, "POST", "/v1/window/save", byHandOf(who, `,"digest":"x"`))
		w.refused(code, "POST", "/v1/window/discard", byHandOf(who, `,"digest":"x"`))
	}
	var list checkpointList
	w.get(&list, "GET", w.path+"/checkpoints", "")
	back := `{"checkpoint":"` + list.Checkpoints[0].ID + `","newest":"` + list.Newest + `","confirmed":true}`
	w.refused("busy", "POST", w.path+"/rollback", back)
	w.refused("held", "POST", bertPath+"/rollback", back)
	w.refused("busy", "POST", w.pair+"/retry", "{}")
	w.refused("busy", "POST", w.pair+"/choose", `{"answer":0}`)
	w.refused("busy", "POST", w.pair+"/branch", "")
	w.refused("busy", "POST", w.pair+"/proposals/x", `{"accept":true}`)
	w.get(nil, "POST", w.path+"/messages", `{"text":"later"}`)
	w.get(nil, "GET", w.path, "")
	var info windowInfo
	w.get(&info, "GET", "/v1/window", "")
	follower := w.follow(w.t.Context(), w.path, 0)
	w.window.Slow.Open()
	stream.rest()
	follower.until("complete")
	follower.until("complete") // of the message that waited
	w.refused("not_last", "POST", w.pair+"/retry", "{}")
}

// changed causes what is refused because somebody else was there.
func (w *walk) changed() {
	w.get(nil, "POST", "/v1/window/edit", byHandOf(w.anna, `,"tool":"add_word","arguments":{"word":"ant"}`))
	var list checkpointList
	w.get(&list, "GET", w.path+"/checkpoints", "")
	var plan assistant.SavePlan
	w.get(&plan, "GET", "/v1/window/plan?session="+w.anna, "")
	carl, _ := w.open("carl")
	w.get(nil, "POST", "/v1/window/edit", byHandOf(carl, addDog))
	basis := byHandOf(w.anna, `,"digest":"`+plan.Digest+`"`)
	w.refused("plan_changed", "POST", "/v1/window/save", basis)
	w.refused("plan_changed", "POST", "/v1/window/discard", basis)
	w.refused(codePrecondition, "POST", "/v1/window/save", byHandOf(w.anna, ""), ifMatch(quoted(plan.Digest)))
	w.refused(codePrecondition, "POST", "/v1/window/discard", byHandOf(w.anna, ""), ifMatch(quoted(plan.Digest)))
	back := `{"checkpoint":"` + list.Checkpoints[len(list.Checkpoints)-1].ID + `","newest":"` + list.Newest + `"`
	w.refused("others_changed", "POST", w.path+"/rollback", back+"}")
	w.refused("plan_changed", "POST", w.path+"/rollback", back+`,"confirmed":true}`)
	w.refused(codePrecondition, "POST", w.path+"/rollback", `{"checkpoint":"`+list.Checkpoints[len(list.Checkpoints)-1].ID+`","confirmed":true}`, ifMatch(quoted(list.Newest)))
	w.get(&plan, "GET", "/v1/window/plan?session="+w.anna, "")
	basis = byHandOf(w.anna, `,"digest":"`+plan.Digest+`"`)
	w.window.Conflict = &assistant.Conflict{Path: "words"}
	w.refused("conflict", "POST", "/v1/window/save", basis)
	w.window.Conflict = nil
	w.get(nil, "POST", "/v1/window/discard", basis)
	w.get(&list, "GET", w.path+"/checkpoints", "")
	start := list.Checkpoints[0].ID
	w.get(nil, "POST", w.path+"/rollback", `{"checkpoint":"`+start+`","newest":"`+list.Newest+`","scope":"window","confirmed":true}`)
	w.get(&list, "GET", w.path+"/checkpoints", "")
	w.refused("nothing_to_roll_back", "POST", w.path+"/rollback", `{"checkpoint":"`+start+`","newest":"`+list.Newest+`","scope":"window","confirmed":true}`)
}

// proposed causes what is refused of proposals, and of answers that changed the window.
func (w *walk) proposed() {
	_, path := w.open("erin")
	w.send(path, `{"text":"propose","model":"test/other","filter":"x"}`).rest()
	all := w.pairs(path)
	if len(all[0].Payloads) == 0 {
		w.t.Fatalf("nothing is proposed: %+v", all[0])
	}
	payload := fmt.Sprint(path, "/pairs/", all[0].Seq, "/proposals/", all[0].Payloads[0].ID)
	w.post(payload, `{"accept":true}`).rest()
	w.refused("decided", "POST", payload, `{"accept":true}`)
	w.send(path, `{"text":"add a word"}`).rest()
	all = w.pairs(path)
	last := fmt.Sprint(path, "/pairs/", all[len(all)-1].Seq)
	w.refused("changed_window", "POST", last+"/retry", "{}")
	w.post(last+"/retry", `{"confirmed":true,"model":"test/script"}`).rest()
	w.get(nil, "GET", last+"/answers", "")
	w.get(nil, "POST", last+"/choose", `{"answer":0}`)
	w.send(path, `{"text":"values"}`).rest()
	all = w.pairs(path)
	values := all[len(all)-1]
	if len(values.Payloads) == 0 {
		w.t.Fatalf("the answer has no payload: %+v", values)
	}
	w.refused("not_proposal", "POST", fmt.Sprint(path, "/pairs/", values.Seq, "/proposals/", values.Payloads[0].ID), `{"accept":true}`)
	w.get(nil, "GET", path+"/pairs?limit=1&filter=u", "")
	w.get(nil, "GET", path+"/request?text=x", "")
}

// ending causes what is refused at the end and when too many are there.
func (w *walk) ending() {
	for _, s := range w.hub.Sessions() {
		defer s.Use()()
	}
	w.server.most = 1
	w.refused("too_many", "POST", "/v1/sessions", "{}")
	w.refused("too_many", "POST", w.pair+"/branch", "")
	w.server.most = DefaultSessions
	draining := func(on bool) {
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		w.server.draining = on
	}
	draining(true)
	w.refused("ending", "POST", "/v1/sessions", "{}")
	w.refused("ending", "POST", w.path+"/messages", `{"text":"hi"}`)
	w.refused("ending", "POST", w.pair+"/branch", "")
	w.refused("ending", "POST", w.frank+"/cancelled/retry", "{}")
	all := w.pairs(w.path)
	last := fmt.Sprint(w.path, "/pairs/", all[len(all)-1].Seq)
	w.refused("ending", "POST", last+"/retry", `{"confirmed":true}`)
	w.refused("ending", "POST", last+"/proposals/x", `{"accept":true}`)
	draining(false)
}

// roles causes what roles refuse.
func (w *walk) roles() {
	watcher, reader := w.token("watcher", assistant.RoleMetrics), w.token("reader", assistant.RoleRead)
	w.each(func(o *described, method, open, none string) {
		token := watcher
		if o.OperationID == "showMetrics" {
			token = reader
		}
		if o.Security == nil {
			w.refused(assistant.CodeForbidden, method, open, w.bodies[o.OperationID], func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
		}
	})
}

// tokenFile causes what the operations on tokens refuse.
func (w *walk) tokenFile(t *testing.T) {
	t.Helper()
	made, _ := w.whole(w.request(t.Context(), "POST", "/v1/tokens", `{"name":"zoe","role":"propose","seconds":60}`))
	w.get(nil, "GET", "/v1/tokens", "")
	var zoe tokenInfo
	if w.get(&zoe, "GET", made.Header.Get("Location"), ""); zoe.Name != "zoe" || zoe.Role != assistant.RolePropose {
		t.Errorf("the token at %s: %+v", made.Header.Get("Location"), zoe)
	}
	w.refused("token_exists", "POST", "/v1/tokens", `{"name":"zoe"}`)
	w.get(nil, "DELETE", "/v1/tokens/zoe", "")
	w.refused("no_token", "DELETE", "/v1/tokens/zoe", "")
	w.refused("no_token", "GET", "/v1/tokens/zoe", "")
	r := newRig(t, at.NewScript(), func(o *Options) { o.Tokens.Path = "" })
	r.document = w.document
	r.problem(404, "no_tokens", "GET", "/v1/tokens", "")
	r.problem(404, "no_tokens", "GET", "/v1/tokens/zoe", "")
	r.problem(404, "no_tokens", "POST", "/v1/tokens", `{"name":"zoe"}`)
	r.problem(404, "no_tokens", "DELETE", "/v1/tokens/zoe", "")
}

// unsavable is a window without a saved state.
type unsavable struct{ assistant.Window }

// noSave causes what is refused of a window that has nothing to save.
func (w *walk) noSave(t *testing.T) {
	t.Helper()
	r := newRig(t, at.NewScript(), func(o *Options) {
		o.Hub = servetest.Start(t, servetest.Options{Model: at.NewScript(), Change: func(o *serve.Options) { o.Session.Window = unsavable{o.Session.Window} }}).Hub
	})
	r.document = w.document
	id, _ := r.open("anna")
	r.problem(409, "not_saved", "GET", "/v1/window/plan?session="+id, "")
	r.problem(409, "not_saved", "POST", "/v1/window/save", byHandOf(id, `,"digest":"x"`))
	r.problem(409, "not_saved", "POST", "/v1/window/discard", byHandOf(id, `,"digest":"x"`))
}

// limited causes what is refused beyond the limits of a user.
func (w *walk) limited(t *testing.T) {
	t.Helper()
	r := newRig(t, at.NewScript(), func(o *Options) {
		o.Ready = func(context.Context) error { return errors.New("the disk is full") }
		script := at.NewScript(at.Answer{at.Say("hello")}, at.Answer{at.Say("half"), at.Stop{At: at.NewGate()}})
		o.Hub = servetest.Start(t, servetest.Options{Model: script, Change: func(o *serve.Options) {
			o.Limits = serve.Limits{Turns: 2, Sessions: 1}
		}}).Hub
	})
	r.document = w.document
	if p := r.problem(503, "not_ready", "GET", "/readyz", ""); strings.Contains(p.Detail, "disk") {
		t.Errorf("anyone can read %s", p.Detail)
	}
	_, path := r.open("anna")
	r.send(path, `{"text":"hi"}`).rest()
	r.cancel(path, r.post(path+"/pairs/1/retry", `{}`))
	r.problem(429, codeLimit, "POST", path+"/messages", `{"text":"hi"}`)
	r.problem(429, codeLimit, "POST", path+"/cancelled/retry", `{}`)
	r.problem(429, codeLimit, "POST", path+"/pairs/1/branch", "")
	r.problem(429, codeLimit, "POST", path+"/pairs/1/retry", `{}`)
	req := r.request(t.Context(), "POST", "/v1/sessions", `{}`)
	req.Header.Set("Authorization", "Bearer "+r.token("anna", assistant.RoleSave))
	if resp := r.do(req); resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a session more: %d", resp.StatusCode)
	}
}

// TestTheDocumentIsTrue walks through the document: each operation is served, each code
// that it describes can be caused, and each field occurs. That no answer differs from the
// document is checked by the rig, in all tests.
func TestTheDocumentIsTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector: one request at a time")
	}
	never := at.NewGate()
	stalls := at.Answer{at.Say("half"), at.Stop{At: never}}
	script := at.NewScript(
		at.Answer{at.Say("hello")},
		at.Answer{call("add_word", `{"word":"cat"}`), call("slow", "{}")},
		at.Answer{at.Say("later")}, // to the message that waits, which comes before the results
		at.Answer{at.Say("How about this? " + proposalMarker + ` {"word":"bee"}`)},
		at.Answer{call("add_word", `{"word":"fox"}`)}, at.Answer{at.Say("done")}, at.Answer{at.Say("again")},
		at.Answer{at.Say("Some values. SUGGESTED_VALUES: " + `{"values": [{"label": "More", "value": "more"}]}` + " " + noteMarker + ` {"word":"x"}`)},
		at.Answer{at.Say("one")}, stalls, stalls,
	)
	w := startWalk(t, script)
	w.every()
	w.storage()
	w.single()
	w.busy()
	w.changed()
	w.proposed()
	w.cancelled()
	w.ending()
	w.noSave(t)
	w.limited(t)
	w.roles()
	w.tokenFile(t)
	for path, item := range w.document.Paths {
		for method, o := range item {
			if o.OperationID == "" || len(o.Responses) < 3 {
				t.Errorf("%s %s is hardly described", method, path)
			}
		}
	}
	if missing := w.document.missing(w.document.codes()); len(missing) > 0 {
		t.Errorf("described and never answered: %q", missing)
	}
	used := strings.Join(w.document.codes(), " ") + " no_route method internal "
	for _, c := range causes {
		if !strings.Contains(used, " "+c.Code+" ") {
			t.Errorf("no operation refuses with %s", c.Code)
		}
	}
}
