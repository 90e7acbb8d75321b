package modelfilter

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"winnow/assistant"
)

// callIn calls a tool of a window.
func callIn(t *testing.T, w assistant.Window, name, args string) assistant.ToolResult {
	t.Helper()
	for _, tool := range w.Tools() {
		if tool.Name == name {
			return tool.Run(context.Background(), json.RawMessage(args))
		}
	}
	t.Fatalf("there is no tool %s", name)
	return assistant.ToolResult{}
}

// What is done from a place of its own is done to the window, and does not move its pane; nor
// does the pane move the place.
func TestAPlaceIsNotThePane(t *testing.T) {
	w := fresh(t, "OPENAI_API_KEY=sk-1\nGEMINI_API_KEY=sk-2\n").Window
	shared := w.Provider()
	here, there := w.Place(), w.Place()
	if lost := assistant.Lost(here, w); lost != nil {
		t.Errorf("a place lacks %q", lost)
	}
	current := func(of assistant.Window) string {
		t.Helper()
		value, err := of.Context()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(value)
		var c struct {
			Current string `json:"current_provider"`
		}
		if err != nil || json.Unmarshal(raw, &c) != nil {
			t.Fatal(err)
		}
		return c.Current
	}
	want := func(when, pane, first, second string) {
		t.Helper()
		if w.Provider() != pane || current(w) != pane || current(here) != first || current(there) != second {
			t.Errorf("%s: the pane is at %s, the places at %s and %s; want %s, %s, %s", when, current(w), current(here), current(there), pane, first, second)
		}
	}
	other := "gemini"
	want("at first", shared, shared, shared)
	if r := callIn(t, here, "switch_provider", `{"provider":"`+other+`"}`); !r.Success || !strings.Contains(r.Message, other+" is now") && !strings.Contains(r.Message, "is now "+other) {
		t.Errorf("switch_provider: %+v", r)
	}
	want("after a switch", shared, other, shared)
	w.Lock()
	if r := callIn(t, here, "add_ignore_rule", `{"pattern":"*flash*"}`); !r.Success {
		t.Errorf("add_ignore_rule: %+v", r)
	}
	w.Unlock()
	want("after a turn that changed a rule", shared, other, shared)
	if s, err := w.On(other); err != nil || len(s.Rules(Ignore)) != 1 {
		t.Errorf("the rule of the place is not one of its provider: %v", err)
	}
	if r := callIn(t, here, "get_model_details", `{}`); !strings.HasPrefix(r.Message, other) {
		t.Errorf("get_model_details: %+v", r)
	}
	if r := callIn(t, there, "get_model_details", `{}`); !strings.HasPrefix(r.Message, shared) {
		t.Errorf("get_model_details at another place: %+v", r)
	}
	state, err := here.State()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SetProvider(other); err != nil {
		t.Fatal(err)
	}
	want("after the pane has moved", other, other, shared)
	if err := here.Apply(state); err != nil { // of a rollback: the pane was elsewhere
		t.Fatal(err)
	}
	want("after a rollback", other, other, shared)
	at, err := here.(assistant.Positioned).Position()
	if err != nil {
		t.Fatal(err)
	}
	if err := there.(assistant.Positioned).SetPosition(at); err != nil {
		t.Fatal(err)
	}
	if err := w.SetProvider(shared); err != nil {
		t.Fatal(err)
	}
	want("after a resumed session", shared, other, other)
	w.Lock()
	if r := callIn(t, w, "add_ignore_rule", `{"pattern":"*pro*","provider":"`+other+`"}`); !r.Success {
		t.Errorf("add_ignore_rule: %+v", r)
	}
	w.Unlock()
	want("after a turn of the pane's own user", other, other, other)
	for _, q := range Queries(here) {
		if r := q.Run(context.Background(), json.RawMessage("{}")); q.Name == "list_providers" && !strings.Contains(string(mustJSON(t, r.Data)), `"current_provider":"`+other+`"`) {
			t.Errorf("list_providers: %+v", r)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
