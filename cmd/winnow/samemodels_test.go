package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/adapters/modelfilter"
	"winnow/assistant/assistanttest"
	"winnow/assistant/serve"
)

// listedModels are the sources of models by id, as a front end reports them.
type listedModels map[string]string

// listedIn reads the models of openai from JSON that has a list "models", with a provider's other JSON around it.
func listedIn(t *testing.T, text string) listedModels {
	t.Helper()
	type list []struct {
		ID       string
		ListedBy string `json:"listed_by"`
	}
	var v struct {
		Models    list
		Providers []struct{ Models list }
		Data      struct{ Models list }
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	all := append(v.Models, v.Data.Models...)
	for _, p := range v.Providers {
		all = append(all, p.Models...)
	}
	out := listedModels{}
	for _, m := range all {
		if strings.HasPrefix(m.ID, "openai/") {
			out[m.ID] = m.ListedBy
		}
	}
	return out
}

// Every front end reports the union of what the proxy serves, what it served before and the catalogue, each model with
// its source. The proxy leaves out what it hides, which shortens no list.
func TestAllFrontEndsReportTheSameModels(t *testing.T) {
	const find = `{"where":"*","provider":"openai","limit":200}`
	proxy := assistanttest.NewServer(t, assistanttest.Calls(assistanttest.Call{Name: "find_models", Arguments: find}), assistanttest.Text("done")).
		Models(assistanttest.ModelList("openai/gpt-4o", "openai/served-before"))
	t.Chdir(t.TempDir())
	t.Setenv("WINNOW_LOCAL_SERVERS", "false")
	o := &office{t: t, file: ".env"}
	t.Setenv("WINNOW_HOME", t.TempDir())
	o.write("OPENAI_API_KEY=sk-test-aaaaaaaaaaaaaaaa\nPROXY_API_KEY=sk-for-proxy-123\nPROXY_BASE_URL=" + proxy.URL + "\n")
	command := func(args ...string) string {
		var out, fault bytes.Buffer
		if status := run(t.Context(), args, nil, &out, &fault); status != 0 {
			t.Fatalf("%v: status %d, %s", args, status, fault.String())
		}
		return out.String()
	}
	command("models")
	proxy.Models(assistanttest.ModelList("openai/gpt-4o", "openai/alias"))
	got := map[string]listedModels{
		"models":         listedIn(t, command("models", "--provider", "openai", "--json")),
		"models --where": listedIn(t, command("models", "--where", "*", "--provider", "openai", "--json")),
		"rules test":     listedIn(t, command("rules", "test", "--provider", "openai", "--json")),
	}
	command("-m", "proxy/openai/gpt-4o", "ask", "which models are there?")
	asked := proxy.Asked()
	for _, m := range asked[len(asked)-1].Chat.Messages {
		if m.Role == "tool" {
			got["ask"] = listedIn(t, m.Content)
		}
	}

	o.app = newApp(t.Context(), strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})
	o.must(newRoot(o.app).ParseFlags([]string{"-m", "offline/rules"}))
	var err error
	o.p, err = o.app.openHub(o.app.ctx, serve.Limits{})
	o.must(err)
	hub := o.p.window.hub.Load()
	o.end = append(o.end, func() { o.must(hub.Close(t.Context())); o.must(o.app.close()) })
	defer o.close()
	shown, _ := o.p.window.filter.Snapshot()
	got["screen"] = listedModels{}
	for _, m := range shown.(*modelfilter.Snapshot).Models {
		got["screen"][m.ID] = m.Source
	}
	http := o.openHTTP(hub).(*client)
	got["HTTP"] = listedIn(t, http.call("/v1/window/edit", map[string]any{"session": http.session, "tool": "find_models", "arguments": json.RawMessage(find)}, 200))
	agent := o.openAgent().(*agentSaver)
	res, err := agent.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "find_models", Arguments: json.RawMessage(find)})
	o.must(err)
	got["MCP"] = listedIn(t, res.Content[0].(*sdk.TextContent).Text)

	want := got["models"]
	if want["openai/gpt-4o"] != "proxy" || want["openai/alias"] != "proxy" || want["openai/served-before"] != "cache" || want["openai/gpt-4.1"] != "catalogue" || len(want) < 10 {
		t.Errorf("winnow models lists %v", want)
	}
	for frontEnd, models := range got {
		if !maps.Equal(models, want) {
			t.Errorf("%s lists %v, want %v", frontEnd, models, want)
		}
	}
	if len(got) != 7 {
		t.Errorf("%d front ends", len(got))
	}
	// Models of the catalogue alone are not expected of the proxy; what it served before is.
	if text := command("models", "--drift"); !strings.Contains(text, "openai: 2 as expected, 1 missing, 0 extra") || !strings.Contains(text, "- openai/served-before") {
		t.Errorf("the drift is %s", text)
	}
}
