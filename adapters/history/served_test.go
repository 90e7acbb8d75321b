package history

import (
	"encoding/json"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/serve"
	"winnow/assistant/serve/servetest"
)

// What the tools find in a window that several share is of the session that calls them: u
// are the pairs of its user, and m those of its model, whether its turn calls or the user.
func TestToolsFindWhatTheirSessionMeans(t *testing.T) {
	search := at.Answer{at.Call{Name: "search_pairs", Arguments: `{"line":"u m"}`}}
	hub := servetest.Start(t, servetest.Options{
		Model: at.NewScript(at.Answer{at.Say("1")}, at.Answer{at.Say("2")}, at.Answer{at.Say("3")}, search, at.Answer{at.Say("4")}, search, at.Answer{at.Say("5")}),
		Change: func(o *serve.Options) {
			o.Session.Window = New(o.History, Options{Selected: func() Selected { return Selected{Model: "none"} }})
		},
	})
	sessions := map[string]*serve.Session{}
	turn := func(user, text string) (found string) {
		s := sessions[user]
		if s == nil {
			var err error
			if s, err = hub.Open(t.Context(), serve.Join{User: user}); err != nil {
				t.Fatal(err)
			}
			sessions[user] = s
		}
		events, err := at.Send(t.Context(), s, assistant.Prompt{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range at.Events(t, events) {
			if end, ok := e.(assistant.ToolComplete); ok {
				found = end.Message
			}
		}
		return found
	}
	turn("anna", "a goat")
	turn("bert", "a cow")
	turn("bert", "a horse")
	for user, want := range map[string]string{"anna": "1 message matches", "bert": "2 messages match"} {
		if got := turn(user, "which pairs are mine?"); !strings.HasPrefix(got, want) {
			t.Errorf("in the turn of %s the tool finds %s", user, got)
		}
		r, err := sessions[user].CallTool(t.Context(), "search_pairs", json.RawMessage(`{"line":"u m !c'mine'"}`), nil)
		if err != nil || !strings.HasPrefix(r.Message, want) {
			t.Errorf("called by %s it finds %s, %v", user, r.Message, err)
		}
	}
}
