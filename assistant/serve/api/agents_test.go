package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	"winnow/assistant/serve/mcp"
	"winnow/assistant/serve/servetest"
	"winnow/assistant/windowlock"
)

// newAgentRig returns a rig that serves agents.
func newAgentRig(t testing.TB, change ...func(*mcp.AgentOptions)) *rig {
	t.Helper()
	return newRigOver(t, servetest.Obedient{}, func(o *Options) {
		o.AnswerWait, o.Interval = 20*time.Millisecond, 5*time.Millisecond
		agents := mcp.AgentOptions{Hub: o.Hub, Options: mcp.Options{Version: "test", Resources: map[string]string{"words": "the words"}}}
		for _, f := range change {
			f(&agents)
		}
		o.Agents = mcp.NewAgents(agents)
	})
}

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// agent connects an agent with a token. elicit answers its questions; nil means that it cannot be asked.
func (r *rig) agent(token, name string, elicit func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)) *sdk.ClientSession {
	r.t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, &sdk.ClientOptions{ElicitationHandler: elicit}).Connect(r.t.Context(),
		&sdk.StreamableClientTransport{Endpoint: r.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}}, nil)
	r.must(err)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// callTool calls a tool as an agent and returns its result.
func (r *rig) callTool(c *sdk.ClientSession, tool string, args any) assistant.ToolResult {
	r.t.Helper()
	res, err := c.CallTool(r.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	r.must(err)
	var out assistant.ToolResult
	r.must(json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &out))
	return out
}

// Each role may do its acts as an agent and no other: one cell a subtest. A tool that the role never allows is not
// offered.
func TestRolesOfAgents(t *testing.T) {
	const yes, no, gone = "", assistant.CodeForbidden, "not offered"
	word := map[string]any{"word": "mine"}
	acts := []struct {
		name, tool string
		args       func(newest string) any
		want       [5]string // read, propose, write, save, admin
	}{
		{"read the words", "count_words", nil, [5]string{yes, yes, yes, yes, yes}},
		{"list the checkpoints", "list_checkpoints", nil, [5]string{yes, yes, yes, yes, yes}},
		{"edit", "add_word", func(string) any { return word }, [5]string{gone, yes, yes, yes, yes}},
		{"undo the steps of others", "roll_back", func(newest string) any {
			return map[string]any{"checkpoint": newest, "newest": newest, "confirmed": true}
		}, [5]string{gone, no, no, yes, yes}},
		{"save", "save_words", nil, [5]string{gone, no, no, yes, yes}},
	}
	for i, role := range []assistant.Role{assistant.RoleRead, assistant.RolePropose, assistant.RoleWrite, assistant.RoleSave, assistant.RoleAdmin} {
		if testing.Short() && role != assistant.RolePropose {
			continue // under the race detector one role stands for all
		}
		for _, act := range acts {
			t.Run(string(role)+"/"+act.name, func(t *testing.T) {
				t.Parallel()
				r := newAgentRig(t)
				other, path := r.open("other")
				r.get(nil, "POST", "/v1/window/edit", `{"session":"`+other+`","tool":"add_word","arguments":{"word":"theirs"}}`)
				var steps checkpointList
				r.get(&steps, "GET", path+"/checkpoints", "")
				c := r.agent(r.token("user", role), "Agent", nil)
				tools, err := c.ListTools(t.Context(), nil)
				r.must(err)
				if offered := slices.ContainsFunc(tools.Tools, func(o *sdk.Tool) bool { return o.Name == act.tool }); offered != (act.want[i] != gone) {
					t.Fatalf("offered: %v", offered)
				}
				before := fmt.Sprint(r.window.Words())
				if act.want[i] == gone {
					if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: act.tool}); err == nil {
						t.Error("it was called")
					}
				} else {
					var args any
					if act.args != nil {
						args = act.args(steps.Newest)
					}
					if got := r.callTool(c, act.tool, args); got.ErrorCode != act.want[i] || got.Success != (act.want[i] == yes) {
						t.Errorf("%+v, want %q", got, act.want[i])
					}
				}
				after := fmt.Sprint(r.window.Words())
				if (act.want[i] != yes || !role.May(assistant.RoleWrite)) && after != before {
					t.Errorf("the window was %s and is %s", before, after)
				}
				if saved := slices.Contains(r.window.Saved(), "theirs"); saved != (act.name == "save" && role.May(assistant.RoleSave)) {
					t.Errorf("saved: %v", saved)
				}
			})
		}
	}
}

// The author of what an agent does is the user of its token, and a session in the history has it.
func TestAnAgentActsForTheUserOfItsToken(t *testing.T) {
	r := newAgentRig(t)
	c := r.agent(r.token("anna", assistant.RoleSave), "ben", nil)
	if got := r.callTool(c, "add_word", map[string]any{"word": "owl"}); !got.Success {
		t.Fatalf("add_word = %+v", got)
	}
	sessions := r.hub.Sessions()
	if len(sessions) != 1 || sessions[0].User() != "anna" || sessions[0].Session().Model() != "mcp/ben" {
		t.Fatalf("sessions %+v", sessions)
	}
	pairs, err := sessions[0].Session().Pairs(t.Context(), []int64{1})
	r.must(err)
	if len(pairs) != 1 || pairs[0].Author != "anna" || len(pairs[0].ToolCalls) != 1 {
		t.Errorf("pairs %+v", pairs)
	}
	res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "winnow://words"})
	r.must(err)
	if got := res.Contents[0].Text; got != `["one","owl"]` {
		t.Errorf("the resource is %s", got)
	}
	r.must(c.Close())
	r.wait("the session is closed", func() bool { return len(r.hub.Sessions()) == 0 })
}

// A session of an agent cannot be taken over with the token of another user, and ends with its own token.
func TestTheSessionOfAnAgentBelongsToItsToken(t *testing.T) {
	r := newAgentRig(t)
	c := r.agent(r.token("anna", assistant.RoleSave), "agent", nil)
	r.callTool(c, "add_word", map[string]any{"word": "owl"})
	foreign := func(method string) int {
		req := r.request(t.Context(), method, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		req.Header.Set("Authorization", "Bearer "+r.token("ben", assistant.RoleAdmin))
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", c.ID())
		resp, err := http.DefaultClient.Do(req)
		r.must(err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if got := foreign(method); got != http.StatusForbidden {
			t.Errorf("%s with the token of another user: %d", method, got)
		}
	}
	r.must(r.server.opts.Tokens.Remove("anna"))
	r.wait("the session is closed", func() bool { open, _ := r.server.opts.Agents.Counts(); return open == 0 && len(r.hub.Sessions()) == 0 })
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "count_words"}); err == nil {
		t.Error("the agent goes on after its token was removed")
	}
	if got := foreign("POST"); got != http.StatusNotFound {
		t.Errorf("the session still exists: %d", got)
	}
}

// Pages of other sites, other names of the server, other methods and tokens that may not look are refused.
func TestWhatIsNoRequestOfAnAgentIsRefused(t *testing.T) {
	r := newAgentRig(t)
	metrics := r.token("prometheus", assistant.RoleMetrics)
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for name, test := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"a page":          {func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"another host":    {func(q *http.Request) { q.Host = "evil.example" }, http.StatusMisdirectedRequest},
		"no token":        {func(q *http.Request) { q.Header.Del("Authorization") }, http.StatusUnauthorized},
		"a wrong token":   {func(q *http.Request) { q.Header.Set("Authorization", "Bearer nobody-has-this") }, http.StatusUnauthorized},
		"metrics alone":   {func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+metrics) }, http.StatusForbidden},
		"another method":  {func(q *http.Request) { q.Method = http.MethodPut }, http.StatusMethodNotAllowed},
		"no such session": {func(q *http.Request) { q.Header.Set("Mcp-Session-Id", "x") }, http.StatusNotFound},
		"no JSON":         {func(q *http.Request) { q.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType},
		"too large": {func(q *http.Request) {
			q.Body, q.ContentLength = io.NopCloser(io.LimitReader(zeros{}, mcp.MaxMessage+1)), mcp.MaxMessage+1
		}, http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			req := r.request(t.Context(), "POST", "/mcp", hello)
			req.Header.Set("Accept", "application/json, text/event-stream")
			test.change(req)
			resp, err := http.DefaultClient.Do(req)
			r.must(err)
			defer resp.Body.Close()
			if resp.StatusCode != test.status {
				raw, _ := io.ReadAll(resp.Body)
				t.Errorf("%d %s, want %d", resp.StatusCode, raw, test.status)
			}
		})
	}
	r.wait("nothing is left open", func() bool { open, _ := r.server.opts.Agents.Counts(); return open == 0 })
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// One user with too many agents does not keep others out.
func TestAgentsAreLimitedPerUser(t *testing.T) {
	r := newAgentRig(t, func(o *mcp.AgentOptions) { o.PerUser, o.Max = 2, 3 })
	anna, ben, eve := r.token("anna", assistant.RoleSave), r.token("ben", assistant.RoleSave), r.token("eve", assistant.RoleSave)
	first := r.agent(anna, "a", nil)
	r.agent(anna, "a", nil)
	connect := func(token string) error {
		c, err := sdk.NewClient(&sdk.Implementation{Name: "more"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: r.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}, nil)
		if err == nil {
			_ = c.Close()
		}
		return err
	}
	if connect(anna) == nil {
		t.Error("a third agent of one user was served")
	}
	third := r.agent(ben, "b", nil)
	if connect(eve) == nil {
		t.Error("a fourth agent was served")
	}
	if open, refused := r.server.opts.Agents.Counts(); open != 3 || refused < 2 {
		t.Errorf("%d open, %d refused", open, refused)
	}
	r.callTool(third, "count_words", nil)
	r.must(first.Close())
	r.wait("there is room", func() bool { open, _ := r.server.opts.Agents.Counts(); return open == 2 })
	if err := connect(eve); err != nil {
		t.Error(err)
	}
}

// A stream that broke is resumed after the last event that was read.
func TestTheStreamOfAnAgentIsResumed(t *testing.T) {
	r := newAgentRig(t)
	ask := func(method, session, last, body string) *http.Response {
		req := r.request(t.Context(), method, "/mcp", body)
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("MCP-Protocol-Version", "2025-11-25")
		}
		if last != "" {
			req.Header.Set("Last-Event-ID", last)
		}
		resp, err := http.DefaultClient.Do(req)
		r.must(err)
		if resp.StatusCode/100 != 2 && resp.StatusCode != http.StatusConflict {
			raw, _ := io.ReadAll(resp.Body)
			t.Fatalf("%s: %d %s", method, resp.StatusCode, raw)
		}
		return resp
	}
	resp := ask("POST", "", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	session := resp.Header.Get("Mcp-Session-Id")
	_, err := io.Copy(io.Discard, resp.Body)
	r.must(err)
	_ = resp.Body.Close()
	_ = ask("POST", session, "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`).Body.Close()
	call := ask("POST", session, "", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add_word","arguments":{"word":"owl"}}}`)
	first := ""
	for lines := bufio.NewScanner(call.Body); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			first = id
			break // the first event opens the stream; the answer is the next one
		}
	}
	_ = call.Body.Close() // the connection breaks before the answer is read
	var again *http.Response
	r.wait("the server notices that the connection broke", func() bool {
		again = ask("GET", session, first, "")
		return again.StatusCode != http.StatusConflict
	})
	defer again.Body.Close()
	text := ""
	for lines := bufio.NewScanner(again.Body); lines.Scan() && !strings.Contains(text, `"id":2`); {
		text += lines.Text()
	}
	if !strings.Contains(text, "added owl") {
		t.Errorf("the resumed stream has %s", text)
	}
}

// Three agents and a user by HTTP edit one window at the same time: nothing is lost or refused, and each change has
// its author.
func TestAgentsAndPeopleEditOneWindow(t *testing.T) {
	const each = 10
	r := newAgentRig(t)
	id, _ := r.open("dora")
	_, chat := r.open("carl")
	var running sync.WaitGroup
	for _, user := range []string{"anna", "ben", "eve"} {
		c := r.agent(r.token(user, assistant.RoleWrite), "agent", nil)
		running.Go(func() {
			for i := range each {
				if got := r.callTool(c, "add_word", map[string]any{"word": fmt.Sprint(user, i)}); !got.Success {
					t.Errorf("%s %d: %+v", user, i, got)
				}
			}
		})
	}
	running.Go(func() {
		for i := range each {
			if status, answer := r.call("POST", "/v1/window/edit", fmt.Sprintf(`{"session":"%s","tool":"add_word","arguments":{"word":"dora%d"}}`, id, i)); status != http.StatusOK {
				t.Errorf("dora %d: %d %s", i, status, answer)
			}
		}
	})
	running.Go(func() {
		for i := range each {
			if events := r.send(chat, fmt.Sprintf(`{"text":"call add_word carl%d"}`, i)).rest(); events[len(events)-1].kind() != "complete" {
				t.Errorf("carl %d: %+v", i, events[len(events)-1])
			}
		}
	})
	running.Wait()
	words := r.window.Words()
	if len(words) != 1+5*each {
		t.Errorf("%d words: %v", len(words), words)
	}
	by := map[string]int{}
	changes, _, err := r.hub.Changes().After(0)
	r.must(err)
	for _, c := range changes {
		if c.Kind == windowlock.ToolRan || c.Kind == windowlock.Edited {
			by[c.User]++
		}
	}
	for _, user := range []string{"anna", "ben", "eve", "dora", "carl"} {
		if by[user] != each {
			t.Errorf("%s made %d changes, want %d", user, by[user], each)
		}
	}
}

// The save of an agent that may save without a question keeps the window until it is done, is announced and counted.
// A save of nothing is not.
func TestTheSaveOfAnAgentIsAnnounced(t *testing.T) {
	r := newAgentRig(t)
	c := r.agent(r.token("anna", assistant.RoleSave), "agent", nil)
	r.callTool(c, "add_word", map[string]any{"word": "owl"})
	for range 2 {
		if got := r.callTool(c, "save_words", nil); !got.Success {
			t.Errorf("save_words = %+v", got)
		}
	}
	changes, _, err := r.hub.Changes().After(0)
	r.must(err)
	saves := 0
	for _, c := range changes {
		switch c.Kind {
		case windowlock.Saved:
			saves++
			if c.User != "anna" {
				t.Errorf("the save is of %q", c.User)
			}
		case windowlock.Waiting:
			t.Error("the window is given up for a question that nobody is asked")
		default:
		}
	}
	if metrics := r.metricsText(); saves != 1 || !strings.Contains(metrics, "winnow_saves_total 1\n") {
		t.Errorf("%d saves are announced, the metrics are %s", saves, metrics)
	}
}

// A question to the user of an agent is asked over HTTP.
func TestAnAgentAsksItsUser(t *testing.T) {
	for name, yes := range map[string]bool{"yes": true, "no": false} {
		t.Run(name, func(t *testing.T) {
			r := newAgentRig(t)
			asked := ""
			c := r.agent(r.token("anna", assistant.RoleSave), "agent", func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				asked = req.Params.Message
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": yes}}, nil
			})
			r.callTool(c, "add_word", map[string]any{"word": "owl"})
			if got := r.callTool(c, "save_words", nil); got.Success != yes || !strings.Contains(asked, "owl") {
				t.Errorf("save_words = %+v, asked %q", got, asked)
			}
			if saved := slices.Contains(r.window.Saved(), "owl"); saved != yes {
				t.Errorf("saved: %v", saved)
			}
		})
	}
}
