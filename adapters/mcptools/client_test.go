package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/adapters/config"
	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// tool returns the tool with this name, or fails the test.
func tool(t *testing.T, c *Client, name string) assistant.Tool {
	t.Helper()
	for _, tool := range c.Tools() {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s in %v", name, c.Tools())
	return assistant.Tool{}
}

// call calls a tool as a turn does.
func call(ctx context.Context, tool assistant.Tool, args string) assistant.ToolResult {
	return tool.Call(ctx, json.RawMessage(args), func(assistant.Progress) {})
}

// data is the result of a call as JSON.
func data(t *testing.T, r assistant.ToolResult) string {
	t.Helper()
	raw, err := json.Marshal(r.Data)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestToolsOfACommand(t *testing.T) {
	s := command(t, "greeter", "good")
	s.AllowedTools = []string{"greet", "gone"}
	c := open(t, s)
	if tools := c.Tools(); len(tools) > 0 {
		t.Errorf("before the connection there are %d tools", len(tools))
	}
	reports := c.Reports(t.Context())
	if r := reports[0]; r.Err != nil || len(r.Tools) != 2 || len(r.LeftOut) > 0 || strings.Join(r.Unknown, " ") != "gone" {
		t.Fatalf("report = %+v", r)
	}
	greet, fail := tool(t, c, "greeter__greet"), tool(t, c, "greeter__fail")
	if greet.Lasting || !fail.Lasting {
		t.Error("allowed_tools run without asking, the others ask; a server's own hints do not count")
	}
	if greet.Write || greet.Server != "greeter" || !strings.Contains(greet.Description, "cannot be undone here") || !strings.HasSuffix(greet.Description, "say hi") {
		t.Errorf("greet = %+v", greet)
	}
	if problem := greet.Problem(json.RawMessage(`{"nam":"Ada"}`)); !strings.Contains(problem, "nam") {
		t.Errorf("a misspelt argument is %q", problem)
	}
	r := call(t.Context(), greet, `{"name":"Ada"}`)
	if !r.Success || data(t, r) != `{"text":"Hi Ada"}` || !strings.Contains(r.Message, "greet on greeter") || !strings.Contains(r.Message, "cannot be undone here") {
		t.Errorf("greet = %+v, %s", r, data(t, r))
	}
	if r = call(t.Context(), fail, `{}`); r.Success || r.ErrorCode != assistant.CodeFailed || !strings.Contains(r.Message, "no such door") {
		t.Errorf("fail = %+v", r)
	}
	shown, err := fail.Preview(t.Context(), json.RawMessage(`{"a":"b"}`))
	if err != nil || !shown.Ask || !strings.Contains(string(shown.Text), "fail on greeter") || !strings.Contains(string(shown.Text), "\"a\": \"b\"") || !strings.Contains(string(shown.Text), "cannot be undone here") {
		t.Errorf("the question is %+v, %v", shown, err)
	}
}

// Addresses are reached over streamable HTTP, with the headers of the settings.
func TestToolsOfAnAddress(t *testing.T) {
	t.Setenv("TEST_AUTHORIZATION", "Bearer tok-0123456789")
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return goodServer() }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer tok-0123456789" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	good := config.MCPServer{Name: "good", URL: server.URL, Headers: map[string]config.Secret{"Authorization": "env:TEST_AUTHORIZATION"}}
	bad := config.MCPServer{Name: "bad", URL: server.URL}
	unset := config.MCPServer{Name: "unset", URL: server.URL, Headers: map[string]config.Secret{"Authorization": "env:NO_SUCH_VARIABLE"}}
	c := open(t, good, bad, unset)
	reports := c.Reports(t.Context())
	if reports[0].Err != nil || len(reports[0].Tools) != 2 {
		t.Errorf("good = %+v", reports[0])
	}
	if err := reports[1].Err; err == nil || !strings.Contains(err.Error(), "does not accept the key (status 401)") {
		t.Errorf("bad = %v", err)
	}
	if err := reports[2].Err; err == nil || !strings.Contains(err.Error(), "NO_SUCH_VARIABLE is not set") {
		t.Errorf("unset = %v", err)
	}
	if r := call(t.Context(), tool(t, c, "good__greet"), `{"name":"Ada"}`); data(t, r) != `{"text":"Hi Ada"}` {
		t.Errorf("greet = %+v", r)
	}
}

func TestToolsAreReadFromAtMostMaxPages(t *testing.T) {
	many := sdk.NewServer(&sdk.Implementation{Name: "many", Version: "1"}, &sdk.ServerOptions{PageSize: 1})
	for i := range maxPages + 2 {
		sdk.AddTool(many, &sdk.Tool{Name: fmt.Sprintf("tool%02d", i)}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return nil, nil, nil
		})
	}
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return many }, nil))
	t.Cleanup(server.Close)
	c := open(t, config.MCPServer{Name: "many", URL: server.URL})
	if r := c.Reports(t.Context())[0]; r.Err != nil || len(r.Tools) != maxPages {
		t.Errorf("%d tools, %v; want %d", len(r.Tools), r.Err, maxPages)
	}
}

// The headers are for the address of the settings: no redirect carries them to another.
func TestHeadersDoNotFollowARedirect(t *testing.T) {
	leaked := false
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked = leaked || r.Header.Get("X-Key") != "" }))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	c := open(t, config.MCPServer{Name: "moved", URL: server.URL, Headers: map[string]config.Secret{"X-Key": "sk-0123456789"}})
	if err := c.Reports(t.Context())[0].Err; err == nil || !strings.Contains(err.Error(), "redirects") || leaked {
		t.Errorf("error = %v, leaked = %v", err, leaked)
	}
}

func TestAnAddressMustBeSafe(t *testing.T) {
	for url, want := range map[string]string{
		"http://mcp.example/mcp": "to allow it, set allow_http = true in the [[mcp]] entry", "https://user:pw@mcp.example": "user name or password", "ftp://mcp.example": "https://",
	} {
		c := open(t, config.MCPServer{Name: "a", URL: url})
		if err := c.Reports(t.Context())[0].Err; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

// A response over HTTP is bounded, like what a command sends.
func TestAnEndlessResponseEndsTheCall(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for chunk := []byte(strings.Repeat("x", 1<<16)); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	c := open(t, config.MCPServer{Name: "a", URL: server.URL})
	if err := c.Reports(t.Context())[0].Err; err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("error = %v", err)
	}
}

// A server that cannot be used takes nothing from the others, and says why.
func TestAServerThatEndsOrFloodsIsReported(t *testing.T) {
	for server, want := range map[string]string{
		"dead": "no licence found", "flood": "more than 16 MiB", "chatter": "more than 16 MiB",
	} {
		t.Run(server, func(t *testing.T) {
			var told notices
			c := openWith(t, Options{Servers: []config.MCPServer{command(t, "bad", server), command(t, "good", "good")}, Environ: os.Environ(), Notify: told.add})
			c.Start()
			if missing := c.Wait(t.Context()); missing != nil {
				t.Errorf("missing = %v", missing)
			}
			if got := told.String(); !strings.Contains(got, "MCP server bad: ") || !strings.Contains(got, want) || !strings.Contains(got, "MCP server good: 2 tools available") {
				t.Errorf("notices = %s", got)
			}
			if tools := c.Tools(); len(tools) != 2 {
				t.Errorf("%d tools, want those of the good server", len(tools))
			}
		})
	}
	c := open(t, config.MCPServer{Name: "none", Command: []string{"/no/such/program", "--key", "sk-0123456789"}})
	if err := c.Reports(t.Context())[0].Err; err == nil || !strings.Contains(err.Error(), "no such file") || strings.Contains(err.Error(), "sk-") {
		t.Errorf("a missing program: %v", err)
	}
}

// A server that does not answer keeps nobody waiting: not the start, not whoever gives up, and not the end.
func TestASilentServerBlocksNothing(t *testing.T) {
	for _, server := range []string{"silent", "deaf"} {
		t.Run(server, func(t *testing.T) {
			c := open(t, command(t, "slow", server), command(t, "good", "good"))
			c.Start()
			c.servers[1].connecting <- struct{}{} // its first connection is over
			<-c.servers[1].connecting
			for len(c.Tools()) == 0 { // until it has begun, at the first pass
				_, _ = c.servers[1].connect(t.Context())
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if missing := c.Wait(ctx); strings.Join(missing, " ") != "slow" {
				t.Errorf("missing = %v", missing)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if missing := c.Wait(t.Context()); missing != nil { // the connection in progress has ended
				t.Errorf("missing = %v", missing)
			}
		})
	}
}

func TestASilentServerIsGivenUp(t *testing.T) {
	c := open(t, command(t, "slow", "silent"))
	ctx, cancel := context.WithTimeout(t.Context(), closeTime)
	defer cancel()
	if err := c.Reports(ctx)[0].Err; err == nil {
		t.Error("a server that never answers is connected")
	}
}

// A call that does not end ends with the turn, and the server can be used afterwards.
func TestACallEndsWithItsContext(t *testing.T) {
	c := open(t, command(t, "slow", "hangs"))
	c.Reports(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan assistant.ToolResult, 1)
	go func() { result <- call(ctx, tool(t, c, "slow__hang"), `{}`) }()
	cancel()
	if r := <-result; r.Success || r.ErrorCode != assistant.CodeCancelled {
		t.Errorf("hang = %+v", r)
	}
	if r := call(t.Context(), tool(t, c, "slow__greet"), `{"name":"Ada"}`); !r.Success {
		t.Errorf("greet = %+v", r)
	}
}

func TestACallTimesOut(t *testing.T) {
	s := command(t, "slow", "hangs")
	s.Timeout = "20ms"
	c := open(t, s)
	c.Reports(t.Context())
	if r := call(t.Context(), tool(t, c, "slow__hang"), `{}`); r.ErrorCode != assistant.CodeTimeout {
		t.Errorf("hang = %+v", r)
	}
}

// A server that dies in a call is a failed call, with what it said last; the next call starts it again.
func TestAServerThatDiesInACall(t *testing.T) {
	c := open(t, command(t, "frail", "dies"))
	c.Reports(t.Context())
	r := call(t.Context(), tool(t, c, "frail__die"), `{}`)
	if r.Success || !strings.Contains(r.Message, "its effects are unknown") || !strings.Contains(r.Message, "exit status 7: out of paper") {
		t.Errorf("die = %+v", r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil { // its end is noticed in the background
		if r = call(ctx, tool(t, c, "frail__greet"), `{"name":"Ada"}`); r.Success {
			return
		}
	}
	t.Errorf("greet = %+v", r)
}

// What a server says about itself does not reach a provider or a terminal as it is.
func TestWhatAServerSaysIsChecked(t *testing.T) {
	c := open(t, command(t, "liar", "liar"))
	r := c.Reports(t.Context())[0]
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	reasons := map[string]string{}
	for _, l := range r.LeftOut {
		reasons[l.Tool] = l.Reason
	}
	for name, want := range map[string]string{
		"list": "a schema that is not an object", "text": "a schema that is not an object", "array": "not an object", "bomb": "too large", "wide": "too large",
		"deep": "too deeply nested", "self": "refers to itself", "root": "another document or to itself", "far": "another document",
		"large": "more than 32 KiB", "hidden": "a name with hidden characters, a‹U+200B›b", "wrong": "an invalid schema", "(unnamed)": "needs a name", "same name": "twice",
	} {
		if !strings.Contains(reasons[name], want) {
			t.Errorf("%s is left out because %q, want %q", name, reasons[name], want)
		}
	}
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]bool{}
	for _, tool := range c.Tools() {
		if !valid.MatchString(tool.Name) || seen[tool.Name] || strings.ContainsAny(tool.Description, "\x1b\u202e\u200b\U000e0041") || len([]rune(tool.Description)) > maxDescription+100 {
			t.Errorf("tool %q: %q", tool.Name, tool.Description)
		}
		seen[tool.Name] = true
	}
	if len(seen) != 4 || !seen["liar__same_name"] {
		t.Errorf("tools = %v", seen)
	}
	usable := tool(t, c, "liar__usable")
	spec := string(usable.Spec().Parameters)
	if strings.Contains(spec, "ignore") || strings.Contains(spec, "$ref") || strings.Contains(spec, "\u200b") || strings.Contains(spec, "anyOf") {
		t.Errorf("the schema is %s", spec)
	}
	if usable.Problem(json.RawMessage(`{"n":"x"}`)) == "" || usable.Problem(json.RawMessage(`{}`)) == "" || usable.Problem(json.RawMessage(`{"n":1}`)) != "" {
		t.Errorf("arguments are not checked against %s", spec)
	}
	if r := call(t.Context(), usable, `{"n":1}`); r.Success || !strings.Contains(r.Message, "expected a number") {
		t.Errorf("usable = %+v", r)
	}
}

// A command gets no key but its own, and an error does not repeat one.
func TestACommandGetsNoKeys(t *testing.T) {
	s := command(t, "child", "child")
	s.Env["OWN"] = "env:MINE"
	c := openWith(t, Options{Servers: []config.MCPServer{s}, Environ: append(os.Environ(), "PLAIN=plain", "MINE=own-0123456789", "SECRET_API_KEY=sk-0123456789")})
	err := c.Reports(t.Context())[0].Err
	if err == nil || !strings.Contains(err.Error(), "plain [") || strings.Contains(err.Error(), "sk-") || strings.Contains(err.Error(), "own-0123456789") {
		t.Errorf("the command says %v", err)
	}
}

func TestAResultIsBounded(t *testing.T) {
	s := &server{client: New(Options{}), config: config.MCPServer{Name: "a"}}
	r := s.result("read", &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("é", maxResult+5)}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("xyz")}}})
	got := r.Data.(Result)
	if len([]rune(got.Text)) != maxResult+1 || got.Cut == 0 {
		t.Errorf("%d characters are kept and %d left out", len([]rune(got.Text)), got.Cut)
	}
	r = s.result("read", &sdk.CallToolResult{StructuredContent: map[string]any{"a": 1}, Content: []sdk.Content{}})
	if data(t, r) != `{"text":"{\"a\":1}"}` {
		t.Errorf("structured content is %s", data(t, r))
	}
}

// A question about a call hides nothing, whatever the server calls its tool.
func TestAQuestionHidesNothing(t *testing.T) {
	c := open(t)
	at.CheckConfirmation(t, func(name string) string {
		s := &server{client: c, config: config.MCPServer{Name: "s"}}
		shown, err := s.tool("s__t", &sdk.Tool{Name: name}, true).Preview(t.Context(), json.RawMessage(`{"a":1}`))
		if err != nil {
			t.Fatal(err)
		}
		return string(shown.Text)
	})
}
