package api

import (
	"context"
	"encoding/json"

	"winnow/assistant"
	"winnow/assistant/windowlock"
)

// windowInfo is the window with what can be done by hand.
type windowInfo struct {
	Unsaved bool                `json:"unsaved" doc:"there are unsaved changes"`
	Holder  *windowlock.Holder  `json:"holder,omitempty" doc:"whose turn changes it now"`
	Waiting []windowlock.Holder `json:"waiting,omitempty" doc:"turns waiting for their user's answer; others may change the window in the meantime"`
	Context json.RawMessage     `json:"context" doc:"what the assistant sees: rules, counts and models. Long lists are cut, which it says; counts are exact"`
	Tools   []toolInfo          `json:"tools" nullable:"false" doc:"for /v1/window/edit"`
}

type toolInfo struct {
	Name        string          `json:"name" doc:"for the body of the call"`
	Description string          `json:"description" doc:"what it does"`
	Write       bool            `json:"write" doc:"it changes the window"`
	Parameters  json.RawMessage `json:"parameters" doc:"the JSON Schema of its arguments"`
}

func (s *Server) showWindow(context.Context, *struct{}) (windowInfo, error) {
	w := s.hub.Window()
	value, err := w.Context()
	if err != nil {
		return windowInfo{}, err
	}
	info := windowInfo{Tools: []toolInfo{}}
	if info.Context, err = assistant.PlainJSON(value); err != nil {
		return windowInfo{}, err
	}
	if d, ok := w.(assistant.Dirtier); ok {
		info.Unsaved = d.Dirty()
	}
	if h, held := s.hub.Holder(); held {
		info.Holder = &h
	}
	info.Waiting = s.hub.Waiting()
	for _, t := range w.Tools() {
		if !t.Lasting {
			spec := t.Spec()
			info.Tools = append(info.Tools, toolInfo{spec.Name, spec.Description, t.Write, spec.Parameters})
		}
	}
	return info, nil
}

// byHand is the body of a request that changes the window: it is a step of a session.
type byHand struct {
	Session string `json:"session" doc:"the id of the session whose step it is"`
}

// edit is the body of a call of a tool.
type edit struct {
	Session   string                     `json:"session" doc:"the id of the session whose step it is"`
	Tool      string                     `json:"tool" doc:"its name"`
	Arguments map[string]json.RawMessage `json:"arguments,omitempty" doc:"as its parameters say"`
}

// edited is the result of a tool.
type edited struct {
	Message string          `json:"message" doc:"what it did"`
	Data    json.RawMessage `json:"data,omitempty" doc:"its result"`
}

func (s *Server) editWindow(ctx context.Context, body *jsonBody[edit]) (edited, error) {
	in := body.Body
	st, err := s.streamOf(in.Session)
	if err != nil {
		return edited{}, err
	}
	for _, t := range s.hub.Window().Tools() {
		if t.Name == in.Tool && t.Lasting {
			return edited{}, newProblem("lasting", "%s needs a confirmation: use /v1/window/save or /v1/window/discard, or ask the assistant", t.Name)
		}
	}
	args := json.RawMessage("{}")
	if in.Arguments != nil {
		if args, err = assistant.PlainJSON(in.Arguments); err != nil {
			return edited{}, err
		}
	}
	result, err := st.CallTool(ctx, in.Tool, args, nil)
	if err != nil {
		return edited{}, err
	}
	if !result.Success {
		p := newProblem(result.ErrorCode, "%s", result.Message)
		p.Hint = result.Hint
		return edited{}, p
	}
	data, err := assistant.PlainJSON(result.Data)
	return edited{result.Message, data}, err
}

func (s *Server) planSave(ctx context.Context, in *jsonBody[byHand]) (assistant.SavePlan, error) {
	st, err := s.streamOf(in.Body.Session)
	if err != nil {
		return assistant.SavePlan{}, err
	}
	return st.PlanSave(ctx, "")
}

// basis is the body of a save or a discard.
type basis struct {
	Session string `json:"session" doc:"the id of the session whose step it is"`
	Digest  string `json:"digest" minLength:"1" doc:"digest of the plan shown to the user, from /v1/window/plan; if the plan has changed since, the problem has the code plan_changed"`
}

func (s *Server) saveWindow(ctx context.Context, in *jsonBody[basis]) (assistant.Saved, error) {
	st, err := s.streamOf(in.Body.Session)
	if err != nil {
		return assistant.Saved{}, err
	}
	return st.Save(ctx, assistant.Basis{Digest: in.Body.Digest})
}

// discarded is what a discard lost.
type discarded struct {
	Lost []assistant.Change `json:"lost" nullable:"false" doc:"the changes"`
}

func (s *Server) discardChanges(_ context.Context, in *jsonBody[basis]) (discarded, error) {
	st, err := s.streamOf(in.Body.Session)
	if err != nil {
		return discarded{}, err
	}
	lost, err := st.Discard("Discard the unsaved changes", assistant.Basis{Digest: in.Body.Digest})
	return discarded{append([]assistant.Change{}, lost...)}, err
}
