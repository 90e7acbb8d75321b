package api

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/serve/servetest"
)

// as makes a request with a token and returns the status and the answer, the start of it for a stream.
func (r *rig) as(token, method, path, body string) (status int, answer string) {
	r.t.Helper()
	req := r.request(r.t.Context(), method, path, body)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	r.must(err)
	defer resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), eventStream) && method == http.MethodGet {
		return resp.StatusCode, ""
	}
	raw, err := io.ReadAll(resp.Body)
	r.must(err)
	return resp.StatusCode, string(raw)
}

// Each role may do its acts and no other: one cell a subtest.
func TestRolesOverHTTP(t *testing.T) {
	const no = http.StatusForbidden
	type row = [5]int // read, propose, write, save, admin
	acts := []struct {
		name, method, path, body string
		want                     row
	}{
		{"look at the window", "GET", "/v1/window", "", row{200, 200, 200, 200, 200}},
		{"export the window", "GET", "/v1/window/export", "", row{200, 200, 200, 200, 200}},
		{"list sessions", "GET", "/v1/sessions", "", row{200, 200, 200, 200, 200}},
		{"list pairs", "GET", "{own}/pairs", "", row{200, 200, 200, 200, 200}},
		{"follow another session", "GET", "{other}/events", "", row{200, 200, 200, 200, 200}},
		{"plan a save", "GET", "/v1/window/plan?session={id}", "", row{200, 200, 200, 200, 200}},
		{"call a reading tool", "POST", "/v1/window/edit", `{"session":"{id}","tool":"count_words"}`, row{200, 200, 200, 200, 200}},
		{"send", "POST", "{own}/messages", `{"text":"hello"}`, row{no, 200, 200, 200, 200}},
		{"send in another session", "POST", "{other}/messages", `{"text":"hello"}`, row{no, no, no, no, no}},
		{"edit", "POST", "/v1/window/edit", `{"session":"{id}","tool":"add_word","arguments":{"word":"{role}"}}`, row{no, 200, 200, 200, 200}},
		{"edit as another", "POST", "/v1/window/edit", `{"session":"{otherid}","tool":"add_word","arguments":{"word":"x"}}`, row{no, no, no, no, no}},
		{"have the assistant edit", "POST", "{own}/messages", `{"text":"call add_word by{role}"}`, row{no, 200, 200, 200, 200}},
		{"undo the steps of others", "POST", "{own}/rollback", `{"checkpoint":"{step}","newest":"{newest}","scope":"window","confirmed":true}`, row{no, no, no, 200, 200}},
		{"discard what others staged", "POST", "/v1/window/discard", `{"session":"{id}","digest":"{digest}"}`, row{no, no, no, 200, 200}},
		{"save", "POST", "/v1/window/save", `{"session":"{id}","digest":"{digest}"}`, row{no, no, no, 200, 200}},
		{"have the assistant save", "POST", "{own}/messages", `{"text":"call save_words"}`, row{no, 200, 200, 200, 200}}, // see below
		{"close another session", "DELETE", "{other}", "", row{no, no, no, no, 204}},
		{"read the tokens", "GET", "/v1/tokens", "", row{no, no, no, no, 200}},
		{"read the metrics", "GET", "/metrics", "", row{no, no, no, no, 200}},
	}
	for i, role := range []assistant.Role{assistant.RoleRead, assistant.RolePropose, assistant.RoleWrite, assistant.RoleSave, assistant.RoleAdmin} {
		if testing.Short() && role != assistant.RolePropose {
			continue // under the race detector one role stands for all
		}
		for _, act := range acts {
			t.Run(string(role)+"/"+act.name, func(t *testing.T) {
				t.Parallel() // the cells wait for the disk
				r := newObedientRig(t)
				other, otherPath := r.open("other")
				r.get(nil, "POST", "/v1/window/edit", `{"session":"`+other+`","tool":"add_word","arguments":{"word":"theirs"}}`)
				var steps checkpointList
				r.get(&steps, "GET", otherPath+"/checkpoints", "")
				plan := r.plan(other)
				token := r.token("user", role)
				status, answer := r.as(token, "POST", "/v1/sessions", "{}")
				if status != http.StatusCreated {
					t.Fatalf("open a session: %d %s", status, answer)
				}
				id := r.idIn(answer)
				fill := strings.NewReplacer(
					"{own}", "/v1/sessions/"+id, "{id}", id, "{otherid}", other, "{other}", otherPath, "{digest}", plan,
					"{role}", string(role), "{step}", steps.Newest, "{newest}", steps.Newest,
				)
				before := fmt.Sprint(r.window.Words())
				status, answer = r.as(token, act.method, fill.Replace(act.path), fill.Replace(act.body))
				if status != act.want[i] {
					t.Errorf("%d %s, want %d", status, answer, act.want[i])
				}
				after := fmt.Sprint(r.window.Words())
				if (status == no || role == assistant.RoleRead || role == assistant.RolePropose) && after != before {
					t.Errorf("the window was %s and is %s", before, after)
				}
				saved := strings.Contains(fmt.Sprint(r.window.Saved()), "theirs")
				if may := role.May(assistant.RoleSave); saved && (!may || !strings.Contains(act.name, "save")) {
					t.Errorf("%s has saved", role)
				}
			})
		}
	}
}

// newObedientRig returns a rig whose model does what messages ask for.
func newObedientRig(t testing.TB) *rig {
	t.Helper()
	return newRigOver(t, servetest.Obedient{}, func(o *Options) { o.AnswerWait = 20 * time.Millisecond })
}

// plan returns the digest of what a save would write.
func (r *rig) plan(session string) string {
	r.t.Helper()
	var plan assistant.SavePlan
	r.get(&plan, "GET", "/v1/window/plan?session="+session, "")
	return plan.Digest
}

// idIn returns the id in the answer that describes a session.
func (r *rig) idIn(answer string) string {
	r.t.Helper()
	_, rest, _ := strings.Cut(answer, `"id":"`)
	id, _, found := strings.Cut(rest, `"`)
	if !found {
		r.t.Fatalf("no id in %s", answer)
	}
	return id
}

// What somebody may only propose is a proposal, which somebody who may save accepts.
func TestAProposalIsAccepted(t *testing.T) {
	r := newObedientRig(t)
	_, chief := r.open("chief")
	token := r.token("junior", assistant.RolePropose)
	_, answer := r.as(token, "POST", "/v1/sessions", "{}")
	own := r.idIn(answer)
	status, answer := r.as(token, "POST", "/v1/window/edit", `{"session":"`+own+`","tool":"add_word","arguments":{"word":"owl"}}`)
	if status != 200 || !strings.Contains(answer, "proposed") {
		t.Fatalf("%d %s", status, answer)
	}
	if status, answer = r.as(token, "POST", "/v1/sessions/"+own+"/messages", `{"text":"call add_word elk"}`); status != 200 || !strings.Contains(answer, "Proposed, not done") {
		t.Fatalf("%d %s", status, answer)
	}
	if got := fmt.Sprint(r.window.Words()); got != "[one]" {
		t.Fatalf("the words are %s", got)
	}
	var open proposalList
	r.wait("both are proposed", func() bool { r.get(&open, "GET", "/v1/proposals", ""); return len(open.Pairs) == 2 })
	for _, p := range open.Pairs {
		if p.Author != "junior" {
			t.Errorf("the author of %q is %q", p.UserText, p.Author)
		}
		path := fmt.Sprintf("/pairs/%d/proposals/%s", p.Seq, p.Payloads[0].ID)
		if status, answer := r.as(token, "POST", "/v1/sessions/"+own+path, `{"accept":true}`); status != http.StatusForbidden {
			t.Errorf("the junior accepts: %d %s", status, answer)
		}
		r.post(chief+path, `{"accept":true}`).rest()
	}
	if got := fmt.Sprint(r.window.Words()); got != "[one owl elk]" {
		t.Errorf("the words are %s", got)
	}
	r.wait("nothing is proposed", func() bool { r.get(&open, "GET", "/v1/proposals", ""); return len(open.Pairs) == 0 })
}

// A token that is removed or has expired ends its sessions and streams.
func TestARemovedTokenEndsItsSessions(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"removed": func(r *rig) { r.must(r.server.opts.Tokens.Remove("anna")) },
		"by http": func(r *rig) { r.get(nil, "DELETE", "/v1/tokens/anna", "") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, at.NewScript(), func(o *Options) { o.Interval = 5 * time.Millisecond })
			_, ben := r.open("ben")
			id, path := r.open("anna")
			own, other := r.follow(t.Context(), path, 0), r.followAs(ben, r.token("anna", assistant.RoleSave))
			end(r)
			own.rest()
			_, err := io.ReadAll(other.Body)
			_ = other.Body.Close()
			if err != nil && !strings.Contains(err.Error(), "EOF") {
				t.Error(err)
			}
			r.wait("the session is closed", func() bool { _, err := r.hub.Session(id); return err != nil })
			if status, _ := r.as(r.tokens["anna"], "GET", "/v1/window", ""); status != http.StatusUnauthorized {
				t.Errorf("the removed token: %d", status)
			}
			r.get(nil, "GET", ben+"/pairs", "") // the team goes on
		})
	}
}

// followAs follows a session with a token.
func (r *rig) followAs(path, token string) *http.Response {
	r.t.Helper()
	req := r.request(r.t.Context(), "GET", path+"/events", "")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	r.must(err)
	return resp
}
