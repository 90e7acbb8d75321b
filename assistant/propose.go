package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
)

// Decide answers a proposal of the model. Accepting carries it out through the
// write tools, with a checkpoint, as a turn of its own; rejecting is told to
// the model with the next message, and returns no channel.
func (s *Session) Decide(ctx context.Context, pair int64, payload string, accept bool) (<-chan Event, error) {
	found, kind, err := s.proposal(ctx, pair, payload)
	if err != nil {
		return nil, err
	}
	decision := "rejected"
	if accept {
		decision = "accepted"
	}
	var calls []Call
	if accept {
		if calls, err = kind.Calls(found.Data); err != nil {
			return nil, err
		}
	}
	if s.Busy() {
		return nil, ErrBusy
	}
	if err := s.decide(ctx, pair, payload, decision); err != nil || !accept {
		return nil, err
	}
	t := &turn{
		s: s, prompt: Prompt{Text: "Carry out: " + found.Summary},
		model: scripted{calls: calls, last: "Carried out: " + found.Summary}, name: "proposal",
	}
	return s.start(ctx, t)
}

func (s *Session) proposal(ctx context.Context, seq int64, id string) (Payload, PayloadType, error) {
	pairs, err := s.opts.Store.Load(ctx, []int64{seq})
	if err != nil {
		return Payload{}, PayloadType{}, err
	}
	for _, p := range pairs {
		for _, have := range p.Payloads {
			if have.ID != id {
				continue
			}
			if have.Decision != "" {
				return Payload{}, PayloadType{}, fmt.Errorf("this proposal was %s already", have.Decision)
			}
			var tools []Tool
			if s.opts.Window != nil {
				tools = s.opts.Window.Tools()
			}
			for _, t := range s.available(tools).Payloads {
				if t.Name == have.Type && t.Calls != nil {
					return have, t, nil
				}
			}
			return Payload{}, PayloadType{}, fmt.Errorf("a %s cannot be accepted or rejected", have.Type)
		}
	}
	return Payload{}, PayloadType{}, ErrNoPair
}

// decide writes the decision into the pair and the conversation's data.
func (s *Session) decide(ctx context.Context, seq int64, id, decision string) error {
	err := s.Mark(ctx, seq, func(p *Pair) {
		for i := range p.Payloads {
			if p.Payloads[i].ID == id {
				p.Payloads[i].Decision = decision
			}
		}
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.offered[id]; ok {
		p.Decision = decision
		s.offered[id] = p
	}
	return nil
}

// ActionPrompt is what choosing a server action sends.
func ActionPrompt(a SuggestedAction) Prompt {
	text := a.Label
	if len(a.Data) > 0 && string(a.Data) != "null" {
		text += "\n\n" + string(a.Data)
	}
	return Prompt{Text: text}
}

// scripted is a Model that calls what it was told to and then says one
// sentence: the user's own decision, carried out like a model's.
type scripted struct {
	calls []Call
	last  string
}

// Stream implements Model.
func (m scripted) Stream(_ context.Context, req Request) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		answered := req.Messages[len(req.Messages)-1].Role == RoleTool
		if !answered && len(m.calls) > 0 {
			yield(End{Calls: m.calls, Finish: "tool_calls"}, nil)
			return
		}
		if yield(Text{m.last}, nil) {
			yield(End{Finish: "stop"}, nil)
		}
	}
}

// Request is the exact request that Send would make now for a text: what is
// seen is what is sent. The body is the JSON document of the selected
// endpoint when it can show one.
func (s *Session) Request(ctx context.Context, text string) (Request, json.RawMessage, error) {
	model, name, info, err := s.openModel()
	if err != nil {
		return Request{}, nil, err
	}
	t := &turn{s: s, prompt: Prompt{Text: text}, model: model, name: name, info: info, ctx: ctx}
	s.mu.Lock()
	t.settings, t.modelID, t.session, t.topic = s.opts.Settings, s.model, s.id, s.topic
	kept := s.context
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.context = kept // looking changes nothing
		s.mu.Unlock()
	}()
	if err := t.loadPair(); err != nil {
		return Request{}, nil, err
	}
	system, err := t.system()
	if err != nil {
		return Request{}, nil, err
	}
	if err := t.include(system, t.systemCost(system)); err != nil {
		return Request{}, nil, err
	}
	req := t.request()
	if e, ok := model.(Encoder); ok {
		body, err := e.Encode(req)
		return req, body, err
	}
	body, err := encodePlain(req)
	return req, body, err
}
