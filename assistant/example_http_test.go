package assistant_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// serve answers a message with the events of its turn, as server-sent events. Package
// assistant/serve/api has a complete server, for many sessions and readers.
func serve(session *assistant.Session) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		after, err := session.Begin(r.Context(), assistant.Prompt{Text: r.FormValue("text")})
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for e := range session.Events(r.Context(), after) {
			body, err := assistant.EncodeEvent(e)
			if err != nil {
				return // the data of a tool always encodes
			}
			fmt.Fprintf(w, "data: %s\n\n", body)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// The events of a turn go over the wire as JSON.
func ExampleEncodeEvent() {
	registry := &llm.Registry{}
	if err := registry.Add(llm.Provider{Name: "house", Model: at.NewScript(at.Answer{at.Say("Good evening.")})}); err != nil {
		log.Fatal(err)
	}
	session, err := assistant.NewSession(registry, assistant.Options{Model: "house/butler", Identity: "You are a butler."})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(serve(session))
	defer server.Close()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server.URL+"?text=hello", nil)
	if err != nil {
		log.Fatal(err)
	}
	res, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if event, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			fmt.Println(event)
		}
	}
	// Output:
	// {"type":"turn_started","seq":1}
	// {"type":"status","message":"Thinking…"}
	// {"type":"text_delta","text":"Good evening."}
	// {"type":"complete","payload":{"message":"Good evening."}}
}
