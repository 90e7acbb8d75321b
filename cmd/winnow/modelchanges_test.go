package main

import (
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	at "winnow/assistant/assistanttest"
)

// enriched is a list of models as the proxy answers it.
func enriched(models string) at.Reply {
	return at.Respond(http.StatusOK, `{"object":"list","data":[`+models+`]}`)
}

// What has changed of the models since the last look is known to the commands and to agents, with the running proxy
// asked by each of them.
func TestChangesOfModelsOnTheCommandLineAndForAgents(t *testing.T) {
	proxy := at.NewServer(t).Models(enriched(`{"id":"openai/a","pricing":{"prompt":1e-6,"completion":2e-6},"status":"active"}`))
	b := newBench(t, "OPENAI_API_KEY=\nIGNORE_MODELS_OPENAI=*mini*\n")
	b.env = append(b.env, "PROXY_BASE_URL="+proxy.URL)
	type changes struct {
		Changes []struct {
			ID, Change, Status string
			Window             int     `json:"context_window"`
			PriceOut           float64 `json:"price_out"`
			Before             float64 `json:"price_out_before"`
		}
	}
	if got := told[changes](b, 0, "models", "--changes").Changes; len(got) != 0 {
		t.Errorf("changes of a first list: %+v", got)
	}
	proxy.Models(enriched(`{"id":"openai/a","pricing":{"prompt":1e-6,"completion":3e-6},"status":"deprecated"},
		{"id":"openai/b","pricing":{"prompt":1e-5,"completion":4e-5},"context_length":400000}`))
	got := told[changes](b, 0, "models", "--changes").Changes
	if len(got) != 3 || got[0].ID != "openai/b" || got[0].Change != "new" || got[0].PriceOut != 40 || got[0].Window != 400000 || got[0].Status == "" ||
		got[1].Change != "deprecated" || got[2].Change != "repriced" || got[2].Before != 2 || got[2].PriceOut != 3 {
		t.Errorf("changes %+v", got)
	}
	if text := string(b.run(0, "models", "--changes")); !strings.Contains(text, "openai/b") || !strings.Contains(text, "$40.00 out") || !strings.Contains(text, "was $2.00") {
		t.Errorf("models --changes prints\n%s", text)
	}
	proxy.Models(enriched(`{"id":"openai/c"}`)) // an agent has the proxy asked, too
	read, err := b.connect().client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "winnow://model_changes"})
	if err != nil {
		t.Fatal(err)
	}
	if text := read.Contents[0].Text; !strings.Contains(text, `"id":"openai/c"`) || !strings.Contains(text, `"change":"deprecated"`) || !strings.Contains(text, "(was $2.00)") {
		t.Errorf("the resource is %s", text)
	}
}
