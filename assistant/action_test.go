package assistant_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"winnow/assistant"
	at "winnow/assistant/assistanttest"
)

// A client action is offered with its data, checked, and carried out by its handler.
func TestClientActions(t *testing.T) {
	var shown []string
	pages := &assistant.Pages{}
	err := pages.AddPage(assistant.Page{Name: "p", ClientActions: []assistant.ClientAction{
		assistant.NewClientAction("show", "Shows a word.", func(_ context.Context, a wordAction) error {
			if a.Word == "broken" {
				return errors.New("it is broken")
			}
			shown = append(shown, a.Word)
			return nil
		}),
		{Action: "elsewhere", Description: "The screen does it."},
	}})
	if err != nil {
		t.Fatal(err)
	}
	suggest := func(data string) at.Answer {
		return at.Answer{at.Say(`Well. SUGGESTED_ACTIONS: {"actions":[{"label":"Show","action":"show","data":` + data + `}]}`)}
	}
	r := newRig(t, at.NewScript(suggest(`{"word":"one","color":"red"}`), suggest(`{"word":1}`), suggest(`null`)),
		func(o *assistant.Options) {
			o.Pages, o.Window = pages, &paged{Window: at.NewWindow("one"), at: assistant.Location{Page: "p"}}
		})
	offered := end[assistant.Complete](t, r.send("a")).Payload.Actions
	wantEqual(t, "offered", len(offered), 1)
	wantIn(t, r.systemOf(0), "- show: Shows a word. (data: word)")
	for _, data := range []string{"a number", "no data"} {
		if p := end[assistant.Complete](t, r.send(data)).Payload; len(p.Actions) != 0 || !strings.Contains(string(p.Notice), "invalid data for show") {
			t.Errorf("%s: %+v", data, p)
		}
	}
	r.must(r.session.Perform(t.Context(), offered[0]))
	wantEqual(t, "shown", fmt.Sprint(shown), "[one]")
	for name, c := range map[string]struct {
		action assistant.SuggestedAction
		is     error // nil: any
	}{
		"unknown":      {assistant.SuggestedAction{Action: "hide"}, assistant.ErrNotAction},
		"of a screen":  {assistant.SuggestedAction{Action: "elsewhere"}, assistant.ErrNotAction},
		"of the model": {assistant.SuggestedAction{Action: "show", Handler: "server", Data: []byte(`{"word":"x"}`)}, assistant.ErrNotAction},
		"wrong data":   {assistant.SuggestedAction{Action: "show", Data: []byte(`{"word":2}`)}, nil},
		"no data":      {assistant.SuggestedAction{Action: "show"}, nil},
		"its own":      {assistant.SuggestedAction{Action: "show", Data: []byte(`{"word":"broken"}`)}, nil},
	} {
		if err := r.session.Perform(t.Context(), c.action); err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantEqual(t, "shown after the refusals", len(shown), 1)
}

// The program hears of a decision before it is stored, and can refuse it.
func TestDecisionsAreNoticed(t *testing.T) {
	for _, c := range []struct {
		name   string
		accept bool
		calls  bool
		refuse error
		want   string // noticed, decision and words
	}{
		{"accepted, with calls", true, true, nil, "[accepted two] accepted [one two]"},
		{"accepted, without", true, false, nil, "[accepted two] accepted [one]"},
		{"rejected", false, true, nil, "[rejected two] rejected [one]"},
		{"acceptance refused", true, true, errors.New("not now"), "[accepted two]  [one]"},
		{"rejection refused", false, false, errors.New("not now"), "[rejected two]  [one]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var noticed []string
			notice := func(how string) func(context.Context, assistant.Payload) error {
				return func(ctx context.Context, p assistant.Payload) error {
					if assistant.SessionOf(ctx) == nil || p.Decision != "" {
						t.Errorf("the decision is made already: %+v", p)
					}
					_, word, _ := strings.Cut(string(p.Data), `:"`)
					noticed = append(noticed, how+" "+strings.TrimSuffix(word, `"}`))
					return c.refuse
				}
			}
			kind := note
			kind.Global, kind.Accepted, kind.Rejected = true, notice("accepted"), notice("rejected")
			if !c.calls {
				kind.Calls = nil
			}
			pages := &assistant.Pages{}
			if err := pages.AddPayload(kind); err != nil {
				t.Fatal(err)
			}
			r := newRig(t, at.NewScript(at.Answer{at.Say(`NOTE: {"text":"two"}`)}), func(o *assistant.Options) { o.Pages = pages })
			r.send("a")
			p := r.last()
			after, err := r.session.Decide(t.Context(), p.Seq, []string{p.Payloads[0].ID}, c.accept)
			if !errors.Is(err, c.refuse) {
				t.Fatalf("Decide: %v", err)
			}
			if c.accept && err == nil {
				wantIn(t, end[assistant.Complete](t, at.Events(t, at.Read(r.session, after))).Payload.Message, "Carried out: a note")
			}
			wantEqual(t, "result", fmt.Sprint(noticed, " ", r.pair(p.Seq).Payloads[0].Decision, " ", r.window.Words()), c.want)
		})
	}
}
