package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"winnow/assistant"
	"winnow/assistant/assistanttest"
)

// editors are users who edit one window at the same time, each until enough says so.
type editors struct {
	*team
	enough func(edits int) bool
	dora   served // the HTTP API with the token of a user

	mu    sync.Mutex
	made  map[string]string // the author of each pattern
	saves int
}

// begin returns the next pattern of an author, or false if that is enough.
func (e *editors) begin(author, prefix string, n int) (pattern string, more bool) {
	if e.t.Failed() || e.enough(n) {
		return "", false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	pattern = fmt.Sprintf("%s-%04d*", prefix, n)
	e.made[pattern] = author
	return pattern, true
}

// agent edits through an agent, which also saves now and then.
func (e *editors) agent(a agent, author, prefix string, saves bool) {
	for n := 0; ; n++ {
		pattern, more := e.begin(author, prefix, n)
		if !more {
			return
		}
		if got := a.call("add_ignore_rule", map[string]any{"pattern": pattern}); !got.Success {
			e.t.Errorf("%s: %s: %+v", author, pattern, got)
		}
		if saves && n%3 == 2 {
			if got := a.call("save_changes", nil); !got.Success {
				e.t.Errorf("%s saves: %+v", author, got)
			}
		}
	}
}

// person edits on a screen: each rule is typed once, and is there before the next one is typed.
func (e *editors) person(v *vterm, author string) {
	v.press("\t")
	v.until("VIEW", func(f string) bool { return modeOf(f) == "VIEW" })
	v.press("\t")
	v.until("PANE", func(f string) bool { return modeOf(f) == "PANE" })
	for n := 0; ; n++ {
		pattern, more := e.begin(author, author, n)
		if !more {
			return
		}
		v.press("h" + pattern + "\r")
		added := regexp.MustCompile(`›.*` + regexp.QuoteMeta(pattern)) // the cursor is on it
		v.until(pattern, func(f string) bool {
			if strings.Contains(footer(f), "working") {
				e.t.Errorf("%s: %s is refused:\n%s", author, pattern, f)
			}
			return e.t.Failed() || added.MatchString(rulesOf(f))
		})
	}
}

// client edits and saves over HTTP. A save of what changed since its plan was shown is planned again.
func (e *editors) client(id, author string) {
	for n := 0; ; n++ {
		pattern, more := e.begin(author, author, n)
		if !more {
			return
		}
		body := fmt.Sprintf(`{"session":%q,"tool":"add_ignore_rule","arguments":{"pattern":%q}}`, id, pattern)
		if got := e.dora.call(http.MethodPost, "/v1/window/edit", body, ""); strings.Contains(got, `"code"`) {
			e.t.Errorf("%s: %s: %s", author, pattern, got)
		}
		if n%3 == 2 {
			e.save(id)
		}
	}
}

// save saves over HTTP what is planned, and checks that the receipt names the author of each change.
func (e *editors) save(id string) {
	for !e.t.Failed() {
		var plan assistant.SavePlan
		if raw := e.dora.call(http.MethodGet, "/v1/window/plan?session="+id, "", ""); json.Unmarshal([]byte(raw), &plan) != nil {
			e.t.Errorf("the plan is %s", raw)
		}
		raw := e.dora.call(http.MethodPost, "/v1/window/save", fmt.Sprintf(`{"session":%q,"digest":%q}`, id, plan.Digest), "")
		var saved assistant.Saved
		switch {
		case strings.Contains(raw, `"code":"plan_changed"`):
			continue
		case json.Unmarshal([]byte(raw), &saved) != nil || strings.Contains(raw, `"code"`):
			e.t.Errorf("the save answers %s", raw)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.saves++
		for _, c := range saved.Changes {
			if want := e.made[c.After]; want == "" || c.By.User != want {
				e.t.Errorf("the receipt of a save has %+v, which is of %q", c, want)
			}
		}
		return
	}
}

// check compares the rules, the file and the log with what was made.
func (e *editors) check() {
	var listed struct {
		Providers []struct{ Ignore []struct{ Pattern string } }
	}
	e.must(json.Unmarshal(e.run(0, "rules", "list", "--json"), &listed))
	rules := map[string]bool{}
	for _, r := range listed.Providers[0].Ignore {
		rules[r.Pattern] = true
	}
	file := e.envFile()
	edits, saved := map[string][]string{}, map[string]int{}
	for line := range strings.Lines(string(e.run(0, "log", "--json", "-n", "1000000"))) {
		var c struct {
			Kind, User string
			Changed    []struct{ After string }
		}
		e.must(json.Unmarshal([]byte(line), &c))
		for _, item := range c.Changed {
			switch {
			case e.made[item.After] == "":
			case c.Kind == "save":
				saved[item.After]++
			default:
				edits[item.After] = append(edits[item.After], c.User)
			}
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(e.made)) {
		author := e.made[pattern]
		if !rules[pattern] || !strings.Contains(file, pattern) {
			e.t.Errorf("%s of %s is lost", pattern, author)
		}
		if !slices.Equal(edits[pattern], []string{author}) || saved[pattern] != 1 {
			e.t.Errorf("the log has %s as made by %q and saved %d times; %s made it", pattern, edits[pattern], saved[pattern], author)
		}
	}
}

// TestAgentsAndPeopleOfAllKindsEditOneWindow lets three agents, two people over SSH and one over HTTP edit one window:
// a few changes each, with WINNOW_SOAK for a minute. Nothing is refused or lost, every change has its author, and each
// save names who made what.
func TestAgentsAndPeopleOfAllKindsEditOneWindow(t *testing.T) {
	t.Parallel()
	const few = 3
	s := serveSSH(t, "anna", "bert", "cleo")
	e := &editors{team: s, dora: s.running, made: map[string]string{}, enough: func(edits int) bool { return edits >= few }}
	e.dora.token = strings.TrimSpace(string(s.run(0, "token", "add", "dora")))
	eve := s.running.httpAgent(strings.TrimSpace(string(s.run(0, "token", "add", "eve"))))
	cleo, here := s.agent("cleo"), s.connectTo()
	anna, bert, id := s.screen("anna"), s.screen("bert"), e.dora.open(`{}`)
	if minutes := assistanttest.Rounds(0, 1); minutes > 0 {
		end := time.Now().Add(time.Duration(minutes) * time.Minute)
		e.enough = func(int) bool { return time.Now().After(end) }
	}
	var all sync.WaitGroup
	all.Go(func() { e.agent(here, "pipe-agent (mcp)", "here", false) })
	all.Go(func() { e.agent(cleo, "cleo", "cleo", true) })
	all.Go(func() { e.agent(eve, "eve", "eve", true) })
	all.Go(func() { e.person(anna, "anna") })
	all.Go(func() { e.person(bert, "bert") })
	all.Go(func() { e.client(id, "dora") })
	all.Wait()
	e.save(id)
	if !t.Failed() {
		e.check()
	}
	by := map[string]int{}
	for _, author := range e.made {
		by[author]++
	}
	t.Logf("%d changes by %v, %d saves with a receipt", len(e.made), by, e.saves)
}
