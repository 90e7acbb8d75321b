package tui

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"winnow/adapters/endpoints"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
	"winnow/tui/tuitest"
)

// connector is a connectcard.Connector with one server; the model of the screen is its
// built-in one until another is connected.
type connector struct {
	dismissed atomic.Int32
	pick      func(id string) error
}

func (c *connector) Search(context.Context) []endpoints.Candidate {
	return []endpoints.Candidate{{Kind: endpoints.Answers, Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", Models: 1}}
}

func (c *connector) Check(context.Context, endpoints.Candidate, string, string) (*endpoints.Checked, error) {
	return &endpoints.Checked{Name: "test", Models: []llm.ModelInfo{{ID: "test/other"}}}, nil
}
func (c *connector) Try(context.Context, *endpoints.Checked, string) error { return nil }
func (c *connector) Storages() []endpoints.Storage                         { return nil }
func (c *connector) Save(_ context.Context, _ *endpoints.Checked, id string, _ endpoints.Storage) (endpoints.Saved, error) {
	return endpoints.Saved{Model: id, Folder: true}, c.pick(id)
}
func (c *connector) Dismiss(context.Context) error { c.dismissed.Add(1); return nil }
func (c *connector) Offline(id string) bool        { return id == "test/script" }
func (c *connector) SettingsPath() string          { return "config.toml" }

// connecting starts a program with a connector; offer is when OfferConnect answers, nil
// never.
func connecting(t *testing.T, w, h int, offer chan bool) (*fixture, *connector) {
	t.Helper()
	c := &connector{}
	d := startProgram(t, setup{w: w, h: h, answers: []at.Answer{say("hello back")}, change: func(o *Options) {
		o.Connect = c
		if offer != nil {
			o.OfferConnect = func() bool { return <-offer }
		}
	}})
	c.pick = d.session.SetModel
	return d, c
}

func TestTheFooterConnectsAModel(t *testing.T) {
	d, c := connecting(t, 120, 32, nil)
	d.Wait("f6 connect a model")
	d.Type(tuitest.Key("f6"))
	d.Wait("─ Connect a model ─")
	d.Wait("1 model")
	d.Type(tuitest.Enter)
	d.Wait("Which model of test")
	d.Type(tuitest.Enter)
	d.Wait("test/other is now in use.")
	d.Type(tuitest.Enter)
	d.hold("the overlay is closed", func() bool { return !strings.Contains(d.Frame(), "─ Connect a model ─") })
	if d.session.Model() != "test/other" || strings.Contains(d.Frame(), "f6 connect") || c.dismissed.Load() != 0 {
		t.Errorf("%s answers, dismissed %d times:\n%s", d.session.Model(), c.dismissed.Load(), d.Frame())
	}
	d.Type(tuitest.Key("ctrl+l"))
	d.Wait("connect a model…")
	d.Type("connect a", tuitest.Enter)
	d.Wait("What would you like to connect?")
}

// An offer that is skipped is not made again; what is typed instead is the message.
func TestAnOfferGivesWay(t *testing.T) {
	for _, key := range []string{"esc", "text"} {
		offer := make(chan bool, 1)
		offer <- true
		d, c := connecting(t, 80, 24, offer)
		d.Wait("built-in rules answer")
		if key == "esc" {
			d.Type(tuitest.Esc)
		} else {
			d.Type("hide")
			d.box("hide")
		}
		d.hold("the offer is dismissed", func() bool { return c.dismissed.Load() == 1 && !strings.Contains(d.Frame(), "─ Connect a model ─") })
	}
}

// Who has begun to type is not interrupted, nor who set up a model.
func TestNoOfferWhileOneTypes(t *testing.T) {
	offer := make(chan bool)
	d, c := connecting(t, 80, 24, offer)
	d.Type("hide")
	d.box("hide")
	offer <- true
	d.Type(" it")
	d.box("hide it")
	if strings.Contains(d.Frame(), "─ Connect a model ─") || c.dismissed.Load() != 0 {
		t.Errorf("an offer interrupts:\n%s", d.Frame())
	}
	offer = make(chan bool, 1)
	offer <- false
	d, _ = connecting(t, 80, 24, offer)
	d.Type("x")
	d.box("x")
	if strings.Contains(d.Frame(), "─ Connect a model ─") {
		t.Errorf("an offer although a model is set up:\n%s", d.Frame())
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
