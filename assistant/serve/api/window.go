package api

import (
	"encoding/json"
	"net/http"

	"winnow/assistant"
	"winnow/assistant/share"
)

// windowInfo is the window with what can be done by hand.
type windowInfo struct {
	Unsaved bool            `json:"unsaved"`
	Holder  *share.Holder   `json:"holder,omitempty" jsonschema:"whose turn changes it now"`
	Waiting []share.Holder  `json:"waiting,omitempty" jsonschema:"turns that wait for an answer of their user; others may change the window meanwhile"`
	Context json.RawMessage `json:"context" jsonschema:"what the assistant sees: rules, counts and models. Long lists are cut, which it says; counts are exact"`
	Tools   []toolInfo      `json:"tools" jsonschema:"for /v1/window/edit"`
}

type toolInfo struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Write       bool            `json:"write" jsonschema:"it changes the window"`
	Parameters  json.RawMessage `json:"parameters" jsonschema:"the JSON Schema of its arguments"`
}

func (s *Server) showWindow(*http.Request, none) (windowInfo, error) {
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
	Session string `json:"session" jsonschema:"the id of the session whose step it is"`
}

// edit is the body of a call of a tool.
type edit struct {
	Session   string                     `json:"session" jsonschema:"the id of the session whose step it is"`
	Tool      string                     `json:"tool"`
	Arguments map[string]json.RawMessage `json:"arguments,omitempty"`
}

// edited is the result of a tool.
type edited struct {
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (s *Server) editWindow(r *http.Request, in edit) (edited, error) {
	st, err := s.streamOf(in.Session)
	if err != nil {
		return edited{}, err
	}
	for _, t := range s.hub.Window().Tools() {
		if t.Name == in.Tool && t.Lasting {
			return edited{}, newProblem(http.StatusUnprocessableEntity, "lasting", "%s has to be confirmed: use /v1/window/save or /v1/window/discard, or ask the assistant", t.Name)
		}
	}
	args := json.RawMessage("{}")
	if in.Arguments != nil {
		if args, err = assistant.PlainJSON(in.Arguments); err != nil {
			return edited{}, err
		}
	}
	result, err := st.CallTool(r.Context(), in.Tool, args, nil)
	if err != nil {
		return edited{}, err
	}
	if !result.Success {
		p := newProblem(http.StatusUnprocessableEntity, result.ErrorCode, "%s", result.Message)
		p.Hint = result.Hint
		return edited{}, p
	}
	data, err := assistant.PlainJSON(result.Data)
	return edited{result.Message, data}, err
}

func (s *Server) planSave(r *http.Request, in byHand) (assistant.SavePlan, error) {
	st, err := s.streamOf(in.Session)
	if err != nil {
		return assistant.SavePlan{}, err
	}
	return st.PlanSave(r.Context(), "")
}

// shown is the body of a save or a discard.
type shown struct {
	Session string `json:"session" jsonschema:"the id of the session whose step it is"`
	Digest  string `json:"digest" jsonschema:"that of the plan that was shown to the user; another plan is a problem of the code plan_changed"`
}

func (in shown) basis() (assistant.Basis, error) {
	if in.Digest == "" {
		return assistant.Basis{}, newProblem(http.StatusUnprocessableEntity, "invalid", "digest is empty: it is that of the plan that was shown, from /v1/window/plan")
	}
	return assistant.Basis{Digest: in.Digest}, nil
}

func (s *Server) saveWindow(r *http.Request, in shown) (assistant.Saved, error) {
	st, err := s.streamOf(in.Session)
	if err != nil {
		return assistant.Saved{}, err
	}
	basis, err := in.basis()
	if err != nil {
		return assistant.Saved{}, err
	}
	return st.Save(r.Context(), basis)
}

// discarded is what a discard lost.
type discarded struct {
	Lost []assistant.Change `json:"lost"`
}

func (s *Server) discardChanges(_ *http.Request, in shown) (discarded, error) {
	st, err := s.streamOf(in.Session)
	if err != nil {
		return discarded{}, err
	}
	basis, err := in.basis()
	if err != nil {
		return discarded{}, err
	}
	lost, err := st.Discard("Discard the unsaved changes", basis)
	return discarded{append([]assistant.Change{}, lost...)}, err
}
