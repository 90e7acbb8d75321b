package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/serve"
	"winnow/assistant/serve/mcp"
	"winnow/assistant/serve/servetest"
)

// counted checks metrics, and that the log names the reasons.
func (r *rig) counted(metrics []string, logged ...string) {
	r.t.Helper()
	text, log := r.metricsText(), r.log.String()
	for _, want := range metrics {
		if !strings.Contains(text, want+"\n") {
			r.t.Errorf("the metrics have no %s", want)
		}
	}
	for _, want := range logged {
		if !strings.Contains(log, want) {
			r.t.Errorf("the log has no %q", want)
		}
	}
}

// goesOn checks that a user can work.
func (r *rig) goesOn(user string) {
	r.t.Helper()
	id, path := r.open(user)
	r.get(nil, "POST", "/v1/window/edit", fmt.Sprintf(`{"session":%q,"tool":"add_word","arguments":{"word":%q}}`, id, user))
	r.get(nil, "GET", path+"/pairs", "")
}

// One user opens thousands of sessions: those above the limit are refused and counted, and others open theirs.
func TestThousandsOfSessionsOfOneUser(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector: one request at a time")
	}
	const limit = 20
	asked := at.Rounds(2_000, 10_000)
	log := &lockedBuffer{}
	r := newRigOf(t, at.NewScript(), func(o *serve.Options) {
		o.Limits.Sessions, o.Session.Log = limit, slog.New(slog.NewTextHandler(log, nil))
	})
	token, refused := r.token("mallory", assistant.RoleSave), 0
	for range asked {
		req := r.request(t.Context(), "POST", "/v1/sessions", "{}")
		req.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		r.server.Handler().ServeHTTP(w, req)
		switch answer := w.Body.String(); {
		case w.Code == http.StatusTooManyRequests && strings.Contains(answer, `"code":"limit"`):
			refused++
		case w.Code != http.StatusCreated:
			t.Fatalf("%d %s", w.Code, answer)
		}
	}
	if refused != asked-limit || len(r.hub.Sessions()) != limit {
		t.Errorf("%d are refused, %d are open", refused, len(r.hub.Sessions()))
	}
	r.goesOn("anna")
	r.counted([]string{fmt.Sprintf(`winnow_refused_total{reason="sessions",server="hub"} %d`, refused), fmt.Sprint("winnow_sessions ", limit+1)})
	if n := strings.Count(log.String(), `msg="a session or turn was refused because of a limit" user=mallory what=sessions limit=20`); n != refused {
		t.Errorf("%d refusals are logged", n)
	}
}

// One token opens a hundred streams: those above the limit are refused and counted, and others follow theirs.
func TestAHundredStreamsOfOneToken(t *testing.T) {
	const asked, limit = 100, 20
	r := newRig(t, at.NewScript(), func(o *Options) { o.Requests = limit })
	_, path := r.open("anna")
	token, open, refused := r.token("mallory", assistant.RoleRead), []*http.Response{}, 0
	for range asked {
		if resp := r.followAs(path, token); resp.StatusCode == http.StatusOK {
			open = append(open, resp)
			defer resp.Body.Close()
		} else if refused++; resp.StatusCode != http.StatusTooManyRequests || resp.Body.Close() != nil {
			t.Fatalf("a stream more: %d", resp.StatusCode)
		}
	}
	if len(open) != limit {
		t.Errorf("%d streams are open", len(open))
	}
	stream := r.follow(t.Context(), path, 0)
	r.goesOn("bert")
	stream.until(windowChanged)
	r.counted([]string{fmt.Sprintf(`winnow_refused_total{reason="requests",server="http"} %d`, refused), fmt.Sprintf(`winnow_open_requests{server="http"} %d`, limit+2)}, "reason=requests user=mallory")
	for _, resp := range open {
		_ = resp.Body.Close()
	}
	r.wait("the user may follow again", func() bool {
		resp := r.followAs(path, token)
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
}

// A token that has expired or was replaced is refused when it is sent again, as is everything that begins with it.
func TestReplayedTokensAreRefused(t *testing.T) {
	now := time.Now()
	r := newRig(t, at.NewScript(), func(o *Options) {
		o.Interval = 5 * time.Millisecond
		o.Tokens.Now = func() time.Time { return now } // read by the server's requests too: set before they begin
	})
	replaced := r.token("mallory", assistant.RoleSave)
	r.must(r.server.opts.Tokens.Remove("mallory"))
	fresh, _, err := r.server.opts.Tokens.Add("mallory", assistant.RoleSave, time.Hour)
	r.must(err)
	if status, _ := r.as(fresh, "GET", "/v1/window", ""); status != http.StatusOK {
		t.Errorf("the new token: %d", status)
	}
	late := r.server.opts.Tokens
	late.Now = func() time.Time { return now.Add(-2 * time.Hour) }
	expired, _, err := late.Add("eve", assistant.RoleAdmin, time.Hour)
	r.must(err)
	tokens := []string{replaced, expired, fresh + "x", fresh[:len(fresh)-1], strings.ToLower(fresh), "winnow_"}
	for i, token := range tokens {
		for _, path := range []string{"/v1/window", "/v1/tokens", "/mcp", "/metrics"} {
			if status, answer := r.as(token, "GET", path, ""); status != http.StatusUnauthorized || strings.Contains(answer, token) {
				t.Errorf("token %d at %s: %d %s", i, path, status, answer)
			}
		}
	}
	r.goesOn("anna")
	r.counted([]string{fmt.Sprintf(`winnow_refused_total{reason="unauthorized",server="http"} %d`, 4*len(tokens))}, "reason=unauthorized")
	if log := r.log.String(); strings.Contains(log, fresh[7:]) || strings.Contains(log, replaced[7:]) {
		t.Error("the log has a token")
	}
}

// A session ends when its token expires.
func TestAnExpiredTokenEndsItsSessions(t *testing.T) {
	var late atomic.Bool
	now := func() time.Time {
		if late.Load() {
			return time.Now().Add(2 * time.Hour)
		}
		return time.Now()
	}
	r := newRig(t, at.NewScript(), func(o *Options) { o.Interval, o.Tokens.Now = 5*time.Millisecond, now })
	token, _, err := r.server.opts.Tokens.Add("mallory", assistant.RoleSave, time.Hour)
	r.must(err)
	if status, answer := r.as(token, "POST", "/v1/sessions", "{}"); status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	late.Store(true)
	r.wait("the session ends", func() bool { return len(r.hub.Sessions()) == 0 })
	if status, _ := r.as(token, "GET", "/v1/window", ""); status != http.StatusUnauthorized {
		t.Errorf("the expired token: %d", status)
	}
	r.goesOn("anna")
	r.counted([]string{`winnow_ended_total{reason="revoked",server="http"} 1`}, "has expired")
}

// A token that is added and used while the server looks for removed tokens is not one of them.
func TestATokenAddedDuringTheCheckIsValid(t *testing.T) {
	var checks atomic.Bool
	var join func() // runs once, after the tokens have been read and before they are compared
	now := func() time.Time {
		if checks.CompareAndSwap(true, false) {
			join()
		}
		return time.Now()
	}
	r := newRigOver(t, servetest.Obedient{}, func(o *Options) {
		o.Interval, o.Tokens.Now = time.Hour, now // only Reload looks for removed tokens
		o.Agents = mcp.NewAgents(mcp.AgentOptions{Hub: o.Hub, Options: mcp.Options{Version: "test"}})
	})
	r.open("first")
	var c *sdk.ClientSession
	join = func() {
		r.open("late")
		c = r.agent(r.token("late", assistant.RoleSave), "Agent", nil)
	}
	checks.Store(true)
	r.server.Reload()
	if c == nil {
		t.Fatal("the tokens were not compared")
	}
	if n := len(r.hub.Sessions()); n != 2 {
		t.Errorf("%d sessions are open, want 2", n)
	}
	if _, err := c.ListTools(t.Context(), nil); err != nil {
		t.Errorf("the agent: %v", err)
	}
}
