package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/assistant/message"
	"winnow/checkpoint"
)

// Options that cannot work are refused, and not found out by a tool that no model is given.
func TestNewSessionRefusesWhatCannotWork(t *testing.T) {
	pages := func(change func(p *assistant.Pages) error) *assistant.Pages {
		p := &assistant.Pages{}
		if err := change(p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	somewhere := pages(func(p *assistant.Pages) error { return p.AddPage(assistant.Page{Name: "words"}) })
	lonely := assistant.NewTool("lonely", "x", noop)
	journal, err := checkpoint.Open(filepath.Join(t.TempDir(), "journal"), checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	for name, c := range map[string]struct {
		options assistant.Options
		want    string
	}{
		"unknown page":      {assistant.Options{Pages: somewhere, Window: &paged{at: assistant.Location{Page: "wrods"}}}, `page "wrods", which is not registered. Did you mean 'words'?`},
		"tool nowhere":      {assistant.Options{Pages: pages(func(p *assistant.Pages) error { return p.AddTool(lonely) })}, `tool "lonely" is not Global and no page lists it`},
		"payload nowhere":   {assistant.Options{Pages: pages(func(p *assistant.Pages) error { return p.AddPayload(note) })}, `payload type "note" is not Global and no page lists it`},
		"tool twice":        {assistant.Options{Window: &twice{}}, `tool "switch_lamp" is registered twice`},
		"unknown provider":  {assistant.Options{Model: "tets/script"}, `no provider "tets". Did you mean 'test'?`},
		"model without one": {assistant.Options{Model: "script"}, `"script" is not PROVIDER/NAME`},
		"unknown policy":    {assistant.Options{Settings: assistant.Settings{Confirm: "allways"}}, `unknown policy "allways"`},
		"embedded mutex":    {assistant.Options{Window: &guarded{}}, "embeds a mutex"},
		"journal of what":   {assistant.Options{Journal: journal}, "a journal needs a window"},
	} {
		_, err := assistant.NewSession(registryOf(t, at.NewScript()), c.options)
		if refused, ok := errors.AsType[*llm.ConfigError](err); !ok || !strings.Contains(refused.Reason, c.want) {
			t.Errorf("%s: %v, want a *ConfigError with %q", name, err, c.want)
		}
	}
}

// A window that is not a Saver is not saved in silence.
func TestSavingNeedsASaver(t *testing.T) {
	r := newRig(t, at.NewScript(), func(o *assistant.Options) { o.Window = struct{ assistant.Window }{at.NewWindow("one")} })
	if _, err := r.session.Save(context.Background(), assistant.Basis{}); !errors.Is(err, assistant.ErrNotSaver) {
		t.Errorf("Save: %v, want ErrNotSaver", err)
	}
}

// twice is a lamp that offers its tool twice.
type twice struct{ lamp }

func (w *twice) Tools() []assistant.Tool { return append(w.lamp.Tools(), w.lamp.Tools()...) }

// guarded is a lamp that would wait for the session forever.
type guarded struct {
	sync.Mutex
	lamp
}

func TestAPageThatIsClosedMeanwhileFailsTheTurn(t *testing.T) {
	pages := &assistant.Pages{}
	if err := pages.AddPage(assistant.Page{Name: "words"}); err != nil {
		t.Fatal(err)
	}
	w := &paged{Window: at.NewWindow(), at: assistant.Location{Page: "words"}}
	r := newRig(t, at.NewScript(), func(o *assistant.Options) { o.Window, o.Pages = w, pages })
	w.mu.Lock()
	w.at.Page = "gone"
	w.mu.Unlock()
	if failed := end[assistant.Error](t, r.send("a")); !strings.Contains(failed.Message, `page "gone", which is not registered`) {
		t.Errorf("the turn ends with %+v", failed)
	}
}

func TestAToolsPayloadMustBeOfARegisteredType(t *testing.T) {
	card := assistant.PayloadType{Name: "card", Source: assistant.FromTool, Global: true, Schema: &jsonschema.Schema{Type: "object"}}
	written := note
	written.Global = true
	for name, c := range map[string]struct {
		payload assistant.Payload
		want    string // of the failure; "": it is a card
	}{
		"registered":   {assistant.Payload{Type: "card", Data: json.RawMessage(`{}`)}, ""},
		"unregistered": {assistant.Payload{Type: "crad", Data: json.RawMessage(`{}`)}, `payload of type "crad", which is not registered. Did you mean 'card'?`},
		"not a tool's": {assistant.Payload{Type: "note", Data: json.RawMessage(`{"text":"x"}`)}, "which only a model can write"},
		"wrong data":   {assistant.Payload{Type: "card", Data: json.RawMessage(`3`)}, "with invalid data"},
	} {
		pages := &assistant.Pages{}
		make := assistant.NewTool("make", "Makes.", func(context.Context, struct{}) (assistant.ToolResult, error) {
			r := assistant.OK("made", nil)
			r.Payload = &c.payload
			return r, nil
		})
		make.Global = true
		if err := errors.Join(pages.AddPayload(card), pages.AddPayload(written), pages.AddTool(make)); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, at.NewScript(at.Answer{call("make", "{}")}, at.Answer{at.Say("ok")}), func(o *assistant.Options) { o.Pages = pages })
		done := at.Only[assistant.ToolComplete](r.send("a"))[0]
		if done.Success != (c.want == "") || !strings.Contains(done.Message, c.want) || (done.Payload != nil) != done.Success || len(r.last().Payloads) > 0 != done.Success {
			t.Errorf("%s: %+v, want %q", name, done, c.want)
		}
	}
}

// A page names the tools and payloads it lists: a misspelt name is told with the nearest.
func TestAPageWithAMisspeltNameIsRefused(t *testing.T) {
	tool := assistant.NewTool("dim_lamp", "Dim the lamp.", func(context.Context, struct{}) (string, error) { return "", nil })
	pages := &assistant.Pages{}
	if err := errors.Join(pages.AddTool(tool), pages.AddPayload(assistant.PayloadType{Name: "card", Source: assistant.FromTool})); err != nil {
		t.Fatal(err)
	}
	for want, page := range map[string]assistant.Page{
		`tool "dim_lmap", which is not registered. Did you mean 'dim_lamp'?`: {Name: "a", Tools: []string{"dim_lmap"}},
		`payload "crad", which is not registered. Did you mean 'card'?`:      {Name: "a", Tabs: map[string]assistant.Tab{"t": {Payloads: []string{"crad"}}}},
	} {
		var config *llm.ConfigError
		if err := pages.AddPage(page); !errors.As(err, &config) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What a conversation cannot do is said before its first request.
func TestConversationsRefuseWhatCannotWork(t *testing.T) {
	registry := registryOf(t, at.NewScript())
	begin := func(c assistant.Config) (*assistant.Conversation, error) {
		return assistant.NewConversation(registry, nil, c)
	}
	good, err := begin(assistant.Config{Model: "test/script"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(b assistant.Builder) error { return second(b.Request("hello").Prompt(t.Context())) }
	run := func(c *assistant.Conversation) (err error) {
		for _, err = range c.Run(t.Context()) {
			break
		}
		return err
	}
	for name, err := range map[string]error{
		"no registry":            second(assistant.NewConversation(nil, &message.List{}, assistant.Config{})),
		"unknown provider":       second(begin(assistant.Config{Provider: "tets"})),
		"unknown model":          second(begin(assistant.Config{Model: "tets/script"})),
		"tool without a name":    second(begin(assistant.Config{Tools: []assistant.Tool{{}}})),
		"zero builder":           ask(assistant.Builder{}),
		"builder's model":        ask(good.Continuation().Model("tets/script")),
		"builder's provider":     ask(good.Continuation().Provider("tets")),
		"zero conversation":      run(&assistant.Conversation{}),
		"zero, with its builder": ask((&assistant.Conversation{}).Continuation()),
	} {
		if _, ok := errors.AsType[*llm.ConfigError](err); !ok {
			t.Errorf("%s: %v, want a *ConfigError", name, err)
		}
	}
	if len(*good.Messages()) != 0 {
		t.Errorf("refused deltas left %d messages", len(*good.Messages()))
	}
}
