package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// cancel cancels a turn once some of its answer has come.
func (r *rig) cancel(path string, turn *client) {
	r.t.Helper()
	turn.until("text_delta")
	r.get(nil, "POST", path+"/cancel", "")
	turn.rest()
}

// branch branches a session off and returns the path of the new one.
func (r *rig) branch(path string, seq int64) string {
	r.t.Helper()
	resp := r.do(r.request(r.t.Context(), "POST", fmt.Sprint(path, "/pairs/", seq, "/branch"), ""))
	defer resp.Body.Close()
	var made sessionInfo
	r.must(json.NewDecoder(resp.Body).Decode(&made))
	if resp.StatusCode != http.StatusCreated || resp.Header.Get("Location") != "/v1/sessions/"+made.ID {
		r.t.Fatalf("branch: %d %s %+v", resp.StatusCode, resp.Header.Get("Location"), made)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners[made.ID] = made.User
	return "/v1/sessions/" + made.ID
}

// told returns the messages and answers of a session.
func (r *rig) told(path string) (texts []string) {
	r.t.Helper()
	for _, p := range r.pairs(path) {
		texts = append(texts, string(p.UserText+": "+p.AssistantText))
	}
	return texts
}

func TestACancelledAnswerIsKept(t *testing.T) {
	never := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("half of it"), at.Stop{At: never}}, at.Answer{at.Say("whole")}))
	_, path := r.open("anna")
	r.cancel(path, r.send(path, `{"text":"tell"}`))
	if all := r.told(path); len(all) != 0 {
		t.Errorf("a cancelled answer is in the conversation: %q", all)
	}
	var offered, kept pairInfo
	r.get(&offered, "GET", path+"/cancelled", "")
	if offered.AssistantText != "half of it" || offered.State != assistant.PairPartial {
		t.Errorf("offered is %+v", offered)
	}
	r.get(&kept, "POST", path+"/cancelled/keep", "")
	if kept.AssistantText != "half of it" || kept.Included {
		t.Errorf("kept is %+v", kept)
	}
	r.problem(404, "nothing_cancelled", "GET", path+"/cancelled", "")
	r.problem(404, "nothing_cancelled", "POST", path+"/cancelled/keep", "")
	r.send(path, `{"text":"more"}`).rest()
	if all := r.told(path); !slices.Equal(all, []string{"tell: half of it", "more: whole"}) {
		t.Errorf("the conversation is %q", all)
	}
	for _, m := range r.script.Requests()[1].Messages {
		if m.Content == "half of it" {
			t.Error("what was kept of a cancelled answer is sent")
		}
	}
}

func TestACancelledAnswerIsAskedAgain(t *testing.T) {
	never := at.NewGate()
	r := newRig(t, at.NewScript(at.Answer{at.Say("half"), at.Stop{At: never}}, at.Answer{at.Say("whole")}, at.Answer{at.Say("other half"), at.Stop{At: never}}, at.Answer{at.Say("another")}))
	_, path := r.open("anna")
	r.cancel(path, r.send(path, `{"text":"tell"}`))
	if all := r.post(path+"/cancelled/retry", `{}`).rest(); all[len(all)-1].kind() != "complete" {
		t.Errorf("the turn: %v", all)
	}
	if all := r.told(path); !slices.Equal(all, []string{"tell: whole"}) {
		t.Errorf("the conversation is %q", all)
	}
	// A cancelled answer to an older message does not replace its answer, asked again it is another answer.
	seq := r.pairs(path)[0].Seq
	r.cancel(path, r.post(fmt.Sprint(path, "/pairs/", seq, "/retry"), `{}`))
	if texts, chosen := r.texts(path, seq); !slices.Equal(texts, []string{"whole"}) || chosen != 0 {
		t.Errorf("the answers: %q, %d", texts, chosen)
	}
	r.post(path+"/cancelled/retry", `{"model":"test/other"}`).rest()
	if texts, chosen := r.texts(path, seq); !slices.Equal(texts, []string{"whole", "another"}) || chosen != 1 {
		t.Errorf("the answers: %q, %d", texts, chosen)
	}
	if p := r.pairs(path)[0]; p.Model != "test/other" {
		t.Errorf("the model is %s", p.Model)
	}
}

func TestASessionIsBranchedAndNamed(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("1")}, at.Answer{at.Say("2")}, at.Answer{at.Say("3")}, at.Answer{at.Say("4")}))
	_, path := r.open("anna")
	for _, text := range []string{"one", "two"} {
		r.send(path, `{"text":"`+text+`"}`).rest()
	}
	first := r.pairs(path)[0].Seq
	branch := r.branch(path, first)
	r.send(branch, `{"text":"else"}`).rest()
	further := r.branch(branch, first)
	r.send(further, `{"text":"further"}`).rest()
	for path, want := range map[string][]string{path: {"one: 1", "two: 2"}, branch: {"one: 1", "else: 3"}, further: {"one: 1", "further: 4"}} {
		if all := r.told(path); !slices.Equal(all, want) {
			t.Errorf("the conversation is %q, want %q", all, want)
		}
	}
	var shown, set sessionTitle
	r.get(&shown, "GET", path+"/title", "")
	r.get(&set, "POST", path+"/title", `{"title":"Counting"}`)
	if shown.Title != "one" || set.Title != "Counting" {
		t.Errorf("titles %q, %q", shown.Title, set.Title)
	}
	if r.get(&set, "POST", path+"/title", `{"title":""}`); set.Title != "one" {
		t.Errorf("the default title is %q", set.Title)
	}
}

// What works on cancelled answers, branches and titles needs a role, and a session of one's own.
func TestRolesOfVariants(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("hello")}))
	_, path := r.open("anna")
	r.send(path, `{"text":"hi"}`).rest()
	pair := fmt.Sprint(path, "/pairs/", r.pairs(path)[0].Seq)
	reader, writer := r.token("reader", assistant.RoleRead), r.token("writer", assistant.RoleWrite)
	_, answer := r.as(reader, "POST", "/v1/sessions", "{}")
	own := "/v1/sessions/" + r.idIn(answer)
	for target, body := range map[string]string{own + "/pairs/1/branch": "", own + "/cancelled/keep": "", own + "/cancelled/retry": "{}", own + "/title": `{"title":"x"}`} {
		if status, answer := r.as(reader, "POST", target, body); status != http.StatusForbidden {
			t.Errorf("a reader, %s: %d %s", target, status, answer)
		}
	}
	for target, body := range map[string]string{pair + "/branch": "", path + "/cancelled/keep": "", path + "/cancelled/retry": "{}", path + "/title": `{"title":"x"}`} {
		for _, token := range []string{reader, writer} {
			if status, answer := r.as(token, "POST", target, body); status != http.StatusForbidden {
				t.Errorf("%s: %d %s", target, status, answer)
			}
		}
	}
	for _, target := range []string{path + "/title", path + "/cancelled"} {
		if status, answer := r.as(reader, "GET", target, ""); status == http.StatusForbidden {
			t.Errorf("%s: %d %s", target, status, answer)
		}
	}
}

// cancelled causes what is refused of cancelled answers.
func (w *walk) cancelled() {
	_, w.frank = w.open("frank")
	w.send(w.frank, `{"text":"stop"}`).rest()
	retry := fmt.Sprint(w.frank, "/pairs/", w.pairs(w.frank)[0].Seq, "/retry")
	w.cancel(w.frank, w.post(retry, `{}`))
	w.refused("model", "POST", w.frank+"/cancelled/retry", `{"model":"no/model"}`)
	w.faults.broken.Store(true)
	w.refused("storage", "POST", w.frank+"/cancelled/keep", "")
	w.refused("storage", "POST", w.frank+"/cancelled/retry", "{}")
	w.faults.broken.Store(false)
	turn := w.post(w.frank+"/cancelled/retry", `{"model":"test/script"}`)
	turn.until("text_delta")
	w.refused("busy", "POST", w.frank+"/cancelled/retry", "{}")
	w.refused("busy", "POST", w.frank+"/cancelled/keep", "")
	w.get(nil, "POST", w.frank+"/cancel", "")
	turn.rest()
}
