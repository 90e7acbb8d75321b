package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
	"winnow/assistant/llm"
)

// house is a window with two pages. Its tools are registered with the pages, so that it
// has none itself.
type house struct {
	Lamp  int    `json:"lamp"` // in percent
	Radio string `json:"radio"`
	open  string // the page
}

func (h *house) Describe() string                  { return "You look after a house." }
func (h *house) Context() (any, error)             { return h, nil }
func (h *house) Tools() []assistant.Tool           { return nil }
func (h *house) State() (json.RawMessage, error)   { return json.Marshal(h) }
func (h *house) Apply(state json.RawMessage) error { return json.Unmarshal(state, h) }

// Where makes the house an assistant.Pager.
func (h *house) Where() assistant.Location { return assistant.Location{Page: h.open} }

// register registers the tools, then the pages that list them.
func (h *house) register(pages *assistant.Pages) error {
	type dim struct {
		Percent int `json:"percent"`
	}
	dimLamp := assistant.NewTool("dim_lamp", "Dim the lamp.", func(_ context.Context, a dim) (string, error) {
		h.Lamp = a.Percent
		return fmt.Sprintf("the lamp is at %d %%", h.Lamp), nil
	})
	type tune struct {
		Station string `json:"station"`
	}
	tuneRadio := assistant.NewTool("tune_radio", "Tune the radio.", func(_ context.Context, a tune) (string, error) {
		h.Radio = a.Station
		return "the radio plays " + h.Radio, nil
	})
	look := assistant.NewTool("look", "Look around.", func(context.Context, struct{}) (string, error) {
		return "all quiet", nil
	})
	dimLamp.Write, tuneRadio.Write, look.Global = true, true, true
	return errors.Join(
		pages.AddTool(dimLamp), pages.AddTool(tuneRadio), pages.AddTool(look),
		pages.AddPage(assistant.Page{Name: "lamp", Tools: []string{"dim_lamp"}}),
		pages.AddPage(assistant.Page{Name: "radio", Tools: []string{"tune_radio"}}),
	)
}

// What the model is offered depends on the page that is open.
func ExamplePages() {
	h, pages, script := &house{open: "lamp"}, &assistant.Pages{}, at.NewScript(at.Answer{at.Say("ok")})
	if err := h.register(pages); err != nil {
		log.Fatal(err)
	}
	registry := &llm.Registry{}
	if err := registry.Add(llm.Provider{Name: "house", Model: script}); err != nil {
		log.Fatal(err)
	}
	session, err := assistant.NewSession(registry, assistant.Options{Window: h, Pages: pages, Model: "house/butler"})
	if err != nil {
		log.Fatal(err)
	}
	for _, h.open = range []string{"lamp", "radio"} {
		after, err := session.Begin(context.Background(), assistant.Prompt{Text: "What can you do?"})
		if err != nil {
			log.Fatal(err)
		}
		for range session.Events(context.Background(), after) { // the turn ends with the last event
		}
		requests := script.Requests()
		for _, tool := range requests[len(requests)-1].Tools {
			fmt.Println(h.open+":", tool.Name)
		}
	}
	h.open = "lmap"
	_, err = assistant.NewSession(registry, assistant.Options{Window: h, Pages: pages, Model: "house/butler"})
	fmt.Println(err)
	// Output:
	// lamp: dim_lamp
	// lamp: look
	// radio: tune_radio
	// radio: look
	// config: page: the window is on page "lmap", which is not registered. Did you mean 'lamp'?
}
