package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"winnow/adapters/endpoints"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/tuitest"
)

// connector is a connectcard.Connector with one server; the model of the screen is its
// built-in one until another is connected.
type connector struct {
	pick      func(id string) error
	connected bool
}

func (c *connector) Search(context.Context) []endpoints.Candidate {
	return []endpoints.Candidate{{Kind: endpoints.KindResponds, Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Models: 1}}
}

func (c *connector) Check(context.Context, endpoints.Candidate, string, string) (*endpoints.Checked, error) {
	return &endpoints.Checked{Name: "test", Models: []llm.ModelInfo{{ID: "test/other"}}}, nil
}
func (c *connector) Try(context.Context, *endpoints.Checked, string) error { return nil }
func (c *connector) Storages() []endpoints.Storage                         { return nil }
func (c *connector) Save(_ context.Context, _ *endpoints.Checked, id string, _ endpoints.Storage) (endpoints.Saved, error) {
	return endpoints.Saved{Model: id, Folder: true}, c.pick(id)
}
func (c *connector) Host(string) string     { return "llm.example" }
func (c *connector) Connected() bool        { return c.connected }
func (c *connector) Offline(id string) bool { return id == "test/script" }
func (c *connector) SettingsPath() string   { return "config.toml" }

// connecting starts a program with a connector.
func connecting(t *testing.T, w, h int) (*fixture, *connector) {
	t.Helper()
	c := &connector{}
	d := startProgram(t, setup{w: w, h: h, answers: []at.Answer{say("hello back")}, change: func(o *Options) {
		o.Connect = c
	}})
	c.pick = d.session.SetModel
	return d, c
}

func TestTheFooterConnectsAModel(t *testing.T) {
	d, _ := connecting(t, 120, 32)
	d.Wait("f6 connect a model")
	d.Type(tuitest.Key("f6"))
	d.Wait("─ Connect a model ─")
	d.Wait("127.0.0.1:11434") // the search has found the server
	d.Type(tuitest.Enter)
	d.Wait("Which model from test")
	d.Type(tuitest.Enter)
	d.Wait("test/other is now in use.")
	d.Type(tuitest.Enter)
	d.hold("the overlay is closed", func() bool { return !strings.Contains(d.Frame(), "─ Connect a model ─") })
	if d.session.Model() != "test/other" || strings.Contains(d.Frame(), "f6 connect") {
		t.Errorf("%s answers:\n%s", d.session.Model(), d.Frame())
	}
	d.Type(tuitest.Key("ctrl+l"))
	d.Wait("connect another model…")
	d.Type("connect a", tuitest.Enter)
	d.Wait("What would you like to connect?")
}

// The first screen says who answers and how a model is connected; nothing lies above it.
func TestTheWelcomeSaysWhoAnswers(t *testing.T) {
	d, _ := connecting(t, 120, 32)
	d.Wait("built-in rules, no model connected · f6 connects one")
	if strings.Contains(d.Frame(), "─ Connect a model ─") {
		t.Errorf("the card is open:\n%s", d.Frame())
	}
	if err := d.session.SetModel("test/other"); err != nil {
		t.Fatal(err)
	}
	d.Wait("test/other · llm.example")
}

// The built-in rules answer although endpoints are connected if the user chose them: the first screen says how to
// choose a model.
func TestTheWelcomeSaysHowToLeaveTheBuiltInRules(t *testing.T) {
	d := startProgram(t, setup{w: 120, h: 32, change: func(o *Options) { o.Connect = &connector{connected: true} }})
	d.Wait("built-in rules, as chosen · ctrl+l lists the models")
	if strings.Contains(d.Frame(), "no model connected") {
		t.Errorf("the welcome says that no model is connected:\n%s", d.Frame())
	}
}

// Without a model the first screen says why, and does not claim that the built-in rules answer.
func TestTheWelcomeSaysWhyNoModelAnswers(t *testing.T) {
	d := startProgram(t, setup{noModel: true, change: func(o *Options) { o.Connect = &connector{} }})
	d.Wait("no model is selected")
	d.Message(Noticed{Err: errors.New("openai rejected the key (401)")})
	d.Wait("no model: openai rejected the key (401) · f6")
	if strings.Contains(d.Frame(), "built-in rules") {
		t.Errorf("the welcome says that rules answer:\n%s", d.Frame())
	}
}

// A screen over SSH connects nothing on the machine that serves it.
func TestAServedScreenConnectsNothing(t *testing.T) {
	d := startProgram(t, setup{})
	d.Type(tuitest.Key("f6"))
	d.Wait("to connect a model, run winnow config connect on the machine that runs winnow")
	if strings.Contains(d.Frame(), "f6 connect a model") {
		t.Errorf("the footer offers it:\n%s", d.Frame())
	}
}
