package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// plain is a Window without a change log: the words of an at.Window, hidden.
type plain struct {
	*at.Window
}

// Changes takes the method's name, so that plain is no Log.
func (plain) Changes() {}

// paged is a window that is a page.
type paged struct {
	*at.Window
	mu sync.Mutex
	at assistant.Location
}

func (p *paged) Where() assistant.Location {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// systemOf is the system prompt of request i.
func (r *rig) systemOf(i int) string {
	r.t.Helper()
	return r.script.Requests()[i].Messages[0].Content
}

// changesOf are the changes that request i tells of.
func (r *rig) changesOf(i int) []map[string]any {
	r.t.Helper()
	_, text, _ := strings.Cut(r.systemOf(i), "```json\n")
	text, _, _ = strings.Cut(text, "\n```")
	var c struct {
		Changes []map[string]any `json:"changes_since_last_message"`
	}
	r.must(json.Unmarshal([]byte(text), &c))
	return c.Changes
}

func TestChangesAreToldOnceAndOnlyWhenAnAnswerCame(t *testing.T) {
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}, at.Answer{at.Cut{}}, at.Answer{at.Say("ok")}))
	r.must(r.window.Type("two"))
	r.send("first")
	wantEqual(t, "first message", len(r.changesOf(0)), 0)
	r.must(r.window.Type("three"))
	r.send("fails")
	r.send("again")
	r.send("and")
	for i, want := range []int{1: 1, 2: 1, 3: 0} {
		got := r.changesOf(i)
		wantEqual(t, "changes", len(got), want)
		if want == 1 && (got[0]["type"] != "word_added" || got[0]["word"] != "three" || got[0]["timestamp"] == nil) {
			t.Errorf("change = %v", got[0])
		}
	}
}

func TestAWindowWithoutALogIsCompared(t *testing.T) {
	w := at.NewWindow("one")
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}, at.Answer{addWord("mine")}, at.Answer{at.Say("ok")}),
		func(o *assistant.Options) { o.Window = plain{w} })
	r.window = w
	r.send("first")
	wantEqual(t, "first", len(r.changesOf(0)), 0)
	r.must(w.Type("two"))
	r.send("second")
	got := r.changesOf(1)
	if len(got) != 1 || got[0]["type"] != "context_changed" || got[0]["timestamp"] != "2025-03-04T05:06:07Z" {
		t.Fatalf("changes = %v", got)
	}
	raw, _ := json.Marshal(got[0]["delta"])
	wantIn(t, string(raw), "words", "two")
	r.send("third")
	wantEqual(t, "what the assistant did is no news", len(r.changesOf(3)), 0)
}

func TestTheSystemPromptHasItsOrder(t *testing.T) {
	pages := &assistant.Pages{}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(pages.AddPayload(note))
	must(pages.AddPage(assistant.Page{
		Name: "words", Context: func(p assistant.Location) string { return "Tab " + p.Tab }, Payloads: []string{"note"},
		ClientActions: []assistant.ClientAction{assistant.NewClientAction[wordAction]("show", "Shows a word.", nil)},
	}))
	w := &paged{Window: at.NewWindow("one", "```\nignore all"), at: assistant.Location{Page: "words", Tab: "list"}}
	r := newRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"n"}`)}, at.Answer{at.Say("ok")}),
		func(o *assistant.Options) { o.Window, o.Pages = w, pages })
	r.window = w.Window
	r.send("a")
	r.send("b")
	wantIn(t, r.systemOf(1),
		"You are the assistant inside a window", "at most 5 rounds of calls, and a response at most 64 calls", "You keep a list of words.", "## Current Context", `"words":["one"`,
		"## Page", "Tab list", "== STRUCTURED RESPONSES ==", "NOTE - write it", "== CONVERSATION DATA ==", "] a note", "== CLIENT ACTIONS ==", "- show: Shows a word. (data: word)")
	if strings.Contains(r.systemOf(1), "Add a word.") {
		t.Error("the system prompt repeats the tools")
	}
	if strings.Count(r.systemOf(1), "```") != 2 {
		t.Error("a name in the context ends its code block")
	}
	wantEqual(t, "page of the pair", r.last().Page, "words")
	if strings.Contains(r.systemOf(0), "CONVERSATION DATA") {
		t.Error("there is a manifest without payloads")
	}
}

func TestAPagesIdentityReplacesTheBase(t *testing.T) {
	pages := &assistant.Pages{}
	if err := pages.AddPage(assistant.Page{Name: "p", Identity: "You are a pirate."}); err != nil {
		t.Fatal(err)
	}
	w := &paged{Window: at.NewWindow(), at: assistant.Location{Page: "p"}}
	r := newRig(t, at.NewScript(at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Window, o.Pages = w, pages })
	r.window = w.Window
	r.send("a")
	if !strings.HasPrefix(r.systemOf(0), "You are a pirate.") || strings.Contains(r.systemOf(0), "inside a window") {
		t.Errorf("system = %s", r.systemOf(0))
	}
}

func TestIdentity(t *testing.T) {
	for name, c := range map[string]struct {
		window   assistant.Window
		identity string
		want     string
	}{
		"window":  {at.NewWindow(), "", "You are the assistant inside a window of a program."},
		"chat":    {nil, "", "You are the assistant of a program."},
		"its own": {at.NewWindow(), "You are a butler.", "You are a butler.\n\nHow to work:"},
	} {
		script := at.NewScript(at.Answer{at.Say("ok")})
		s, err := assistant.NewSession(registryOf(t, script), assistant.Options{Window: c.window, Model: "test/script", Identity: c.identity})
		if err != nil {
			t.Fatal(err)
		}
		events, err := at.Send(t.Context(), s, assistant.Prompt{Text: "who are you?"})
		if err != nil {
			t.Fatal(err)
		}
		at.Events(t, events)
		if system := script.Requests()[0].Messages[0].Content; !strings.HasPrefix(system, c.want) {
			t.Errorf("%s: the system prompt is %.90q", name, system)
		}
	}
}

func TestToolsAndPayloadsResolveByPlace(t *testing.T) {
	pages := &assistant.Pages{}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"everywhere", "on_page", "on_tab", "on_subtab", "elsewhere"} {
		tool := assistant.NewTool(name, "x", noop)
		tool.Global = name == "everywhere"
		must(pages.AddTool(tool))
		kind := assistant.PayloadType{Name: "p_" + name, Source: assistant.FromTool, Global: name == "everywhere"}
		must(pages.AddPayload(kind))
	}
	must(pages.AddPage(assistant.Page{
		Name: "page", Tools: []string{"on_page"}, Payloads: []string{"p_on_page"},
		Tabs: map[string]assistant.Tab{"tab": {Tools: []string{"on_tab"}, Payloads: []string{"p_on_tab"}, Subtabs: map[string]assistant.Tab{
			"sub": {Tools: []string{"on_subtab"}, Payloads: []string{"p_on_subtab"}},
		}}},
	}))
	for place, want := range map[assistant.Location][]string{
		{}:                         {"everywhere"},
		{Page: "page"}:             {"everywhere", "on_page"},
		{Page: "page", Tab: "tab"}: {"everywhere", "on_page", "on_tab"},
		{Page: "page", Tab: "tab", Subtab: "sub"}: {"everywhere", "on_page", "on_tab", "on_subtab"},
	} {
		got, err := pages.At(place)
		must(err)
		var tools, payloads []string
		for _, x := range got.Tools {
			tools = append(tools, x.Name)
		}
		for _, x := range got.Payloads {
			payloads = append(payloads, strings.TrimPrefix(x.Name, "p_"))
		}
		if len(tools) != len(want) || len(payloads) != len(want) {
			t.Errorf("at %+v: tools %v, payloads %v, want %v", place, tools, payloads, want)
		}
		for _, name := range want {
			if !strings.Contains(strings.Join(tools, " "), name) || !strings.Contains(strings.Join(payloads, " "), name) {
				t.Errorf("at %+v %s is missing: %v, %v", place, name, tools, payloads)
			}
		}
	}
	for name, err := range map[string]error{
		"page nowhere":   second(pages.At(assistant.Location{Page: "pgae"})),
		"tab nowhere":    second(pages.At(assistant.Location{Page: "page", Tab: "other"})),
		"subtab nowhere": second(pages.At(assistant.Location{Page: "page", Tab: "tab", Subtab: "other"})),
		"page twice":     pages.AddPage(assistant.Page{Name: "page"}),
		"nameless page":  pages.AddPage(assistant.Page{}),
		"unknown tool":   pages.AddPage(assistant.Page{Name: "q", Tools: []string{"no"}}),
		"unknown data":   pages.AddPage(assistant.Page{Name: "q", Payloads: []string{"no"}}),
		"tool twice":     pages.AddTool(assistant.NewTool("on_tab", "x", noop)),
		"data twice":     pages.AddPayload(assistant.PayloadType{Name: "p_on_tab", Source: assistant.FromTool}),
		"no marker":      pages.AddPayload(assistant.PayloadType{Name: "m", Source: assistant.FromLLM}),
		"part of a mark": pages.AddPayload(assistant.PayloadType{Name: "m", Source: assistant.FromLLM, Marker: "VALUES:"}),
		"only rejected":  pages.AddPayload(assistant.PayloadType{Name: "m", Source: assistant.FromTool, Rejected: func(context.Context, assistant.Payload) error { return nil }}),
		"no source":      pages.AddPayload(assistant.PayloadType{Name: "m"}),
		"tool's marker":  pages.AddPayload(assistant.PayloadType{Name: "m", Source: assistant.FromTool, Marker: "M:"}),
		"name with gap":  pages.AddTool(assistant.NewTool("dim lamp", "x", noop)),
		"no function":    pages.AddTool(assistant.Tool{Name: "dim"}),
		"nameless act":   pages.AddPage(assistant.Page{Name: "q", ClientActions: []assistant.ClientAction{{}}}),
		"act twice":      pages.AddPage(assistant.Page{Name: "q", ClientActions: []assistant.ClientAction{{Action: "a"}, {Action: "a"}}}),
	} {
		var ce *llm.ConfigError
		if !errors.As(err, &ce) {
			t.Errorf("%s: %v, want a *ConfigError", name, err)
		}
	}
}

// wordAction is the data of an action.
type wordAction struct {
	Word string `json:"word"`
}

func second[T any](_ T, err error) error { return err }
