package api

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	at "winnow/assistant/assistanttest"
	"winnow/assistant/history"
	"winnow/assistant/serve"
)

func TestAnIdleSessionEndsAndCanBeContinued(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("hello")}), func(o *Options) { o.Idle = 20 * time.Millisecond })
	session, path, release := r.hold("anna")
	id := session.ID()
	r.must(session.SaveDraft(t.Context(), history.Draft{Text: "a draft"}))
	r.send(path, `{"text":"hi"}`).rest()
	release()
	r.wait("the session ends", func() bool { return len(r.hub.Sessions()) == 0 })
	r.problem(404, "no_session", "GET", path+"/pairs", "")
	if log := r.log.String(); !strings.Contains(log, "unused for too long") {
		t.Errorf("the log: %s", log)
	}
	if !strings.Contains(r.metricsText(), `winnow_ended_total{reason="idle",server="http"} `) {
		t.Error("the end of the session is not counted")
	}
	for !r.continues(id) { // it may end again before it is read
	}
	draft, err := session.Draft(t.Context())
	if r.must(err); draft.Text != "a draft" {
		t.Errorf("the draft is %q", draft.Text)
	}
}

// hold opens a session that does not end before release.
func (r *rig) hold(user string) (s *serve.Session, path string, release func()) {
	r.t.Helper()
	for {
		id, path := r.open(user)
		if s, err := r.hub.Session(id); err == nil { // it has not ended yet
			return s, path, s.Use()
		}
	}
}

// continues opens a session again and reports whether its pair could be read.
func (r *rig) continues(id string) bool {
	r.t.Helper()
	r.wait("the session is opened again", func() bool {
		status, _ := r.call("POST", "/v1/sessions", `{"session":"`+id+`"}`)
		return status == 201
	})
	status, pairs := r.call("GET", "/v1/sessions/"+id+"/pairs", "")
	if status == 200 && !strings.Contains(pairs, `"hello"`) {
		r.t.Errorf("the conversation is lost: %s", pairs)
	}
	return status == 200
}

func TestASessionInUseDoesNotEnd(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{call("slow", "{}")}, at.Answer{at.Say("done")}), func(o *Options) { o.Idle = 20 * time.Millisecond })
	anna, path, release := r.hold("anna")
	r.follow(t.Context(), path, 0)
	release()
	bert, path, release := r.hold("bert")
	turn := r.send(path, `{"text":"hi"}`)
	r.window.Slow.Wait(t)
	turn.body.Close() // its client is gone, and the turn runs
	release()
	for range 5 { // others end meanwhile
		other, _ := r.open("someone")
		r.wait("an unused session ends", func() bool { _, err := r.hub.Session(other); return err != nil })
	}
	open := func(s *serve.Session) bool { return slices.Contains(r.hub.Sessions(), s) }
	if !open(anna) || !open(bert) {
		t.Errorf("a session in use has ended")
	}
	r.window.Slow.Open()
	r.wait("the session ends after its turn", func() bool { return !open(bert) })
	if !open(anna) {
		t.Error("a session with a follower has ended")
	}
}

// users are the users of the open sessions.
func (r *rig) users() (users []string) {
	for _, s := range r.hub.Sessions() {
		users = append(users, s.User())
	}
	return users
}

func TestTooManySessionsCloseThoseThatNobodyUses(t *testing.T) {
	r := newRig(t, at.NewScript())
	r.server.most = 5
	r.open("bert")
	for range 10 {
		r.open("anna")
	}
	_, carl := r.open("carl")
	if got, want := r.users(), []string{"bert", "anna", "anna", "anna", "carl"}; !slices.Equal(got, want) {
		t.Errorf("open are the sessions of %q, want %q", got, want)
	}
	r.counted([]string{`winnow_ended_total{reason="room",server="http"} 7`})
	for _, s := range r.hub.Sessions() {
		r.follow(t.Context(), "/v1/sessions/"+s.ID(), 0)
	}
	r.problem(503, "too_many", "POST", "/v1/sessions", `{}`)
	r.get(nil, "DELETE", carl, "")
	r.open("dora")
}

func TestConnectionsWithoutATokenKeepNobodyOut(t *testing.T) {
	r := newRig(t, at.NewScript())
	_, path := r.open("anna")
	stream := r.follow(t.Context(), path, 0) // a connection with the token stays
	var dropped int
	for i := range 3 * serve.MaxLogins {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
		r.must(err)
		defer conn.Close()
		if i%2 == 0 {
			_, _ = fmt.Fprintf(conn, "GET /v1/wind") // it may be dropped already
		}
	}
	r.wait("the oldest are dropped", func() bool {
		dropped = strings.Count(r.log.String(), "a connection without a token was closed")
		return dropped >= 3*serve.MaxLogins-serve.MaxAddressLogins
	})
	if !strings.Contains(r.metricsText(), `winnow_refused_total{reason="logins",server="http"} `) {
		t.Errorf("%d dropped connections are not counted", dropped)
	}
	r.get(nil, "GET", "/v1/window", "")
	r.get(nil, "POST", "/v1/window/edit", `{"session":"`+path[len("/v1/sessions/"):]+`","tool":"add_word","arguments":{"word":"cat"}}`)
	stream.until(windowChanged)
}
