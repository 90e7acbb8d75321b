package api

import (
	"context"
	"encoding/json"

	"winnow/assistant"
	"winnow/assistant/windowlock"
)

// windowInfo describes the window and the tools that a user can call.
type windowInfo struct {
	Unsaved bool                `json:"unsaved" doc:"true if there are unsaved changes"`
	Holder  *windowlock.Holder  `json:"holder,omitempty" doc:"the turn that is changing the window"`
	Waiting []windowlock.Holder `json:"waiting,omitempty" doc:"turns that wait for an answer from their user; meanwhile others may change the window"`
	Applied *assistant.Applied  `json:"applied,omitempty" doc:"the result of applying the newest save; absent before the first save, or if the user applies saves by hand. When applying ends, the event window_changed with the kind applied reports the result"`
	Context json.RawMessage     `json:"context" doc:"what the assistant sees: rules, counts and models. Long lists are cut and marked as cut; counts are exact"`
	Tools   []toolInfo          `json:"tools" nullable:"false" doc:"the tools that /v1/window/edit can call"`
}

type toolInfo struct {
	Name        string          `json:"name" doc:"the name of the tool, for the body of the call"`
	Description string          `json:"description" doc:"what the tool does"`
	Write       bool            `json:"write" doc:"true if the tool changes the window"`
	Parameters  json.RawMessage `json:"parameters" doc:"the JSON Schema of its arguments"`
}

type viewing struct {
	Session string `query:"session" doc:"the id of a session, to get the context at its position, such as its provider; the default is the position that the screens show"`
}

func (s *Server) showWindow(_ context.Context, in *viewing) (windowInfo, error) {
	w := s.hub.Window()
	if in.Session != "" {
		st, err := s.lookAt(in.Session)
		if err != nil {
			return windowInfo{}, err
		}
		w = st.Session.Session().Window()
	}
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
	if applier, ok := w.(assistant.Applier); ok {
		if last := applier.Applied(); last.State != "" {
			info.Applied = &last
		}
	}
	for _, t := range w.Tools() {
		if !t.Lasting {
			spec := t.Spec()
			info.Tools = append(info.Tools, toolInfo{spec.Name, spec.Description, t.Write, spec.Parameters})
		}
	}
	return info, nil
}

// exported is the saved state of the window.
type exported struct {
	Window json.RawMessage `json:"window" doc:"the saved state of the window in full, without staged changes; for the model filter: file, unsaved, and providers with their rules and models"`
}

func (s *Server) exportWindow(ctx context.Context, _ *struct{}) (exported, error) {
	w := s.hub.Window()
	e, ok := w.(assistant.Exporter)
	if !ok {
		state, err := w.State()
		return exported{state}, err
	}
	value, err := e.Export(ctx)
	if err != nil {
		return exported{}, err
	}
	raw, err := assistant.PlainJSON(value)
	return exported{raw}, err
}

// edit is the body of a tool call.
type edit struct {
	Session   string                     `json:"session" doc:"the id of the session that makes the step"`
	Tool      string                     `json:"tool" doc:"the name of the tool"`
	Arguments map[string]json.RawMessage `json:"arguments,omitempty" doc:"the arguments, as described by parameters"`
}

// edited is the result of a tool call.
type edited struct {
	Message string          `json:"message" doc:"what the tool did"`
	Data    json.RawMessage `json:"data,omitempty" doc:"the result of the tool"`
}

func (s *Server) editWindow(ctx context.Context, body *jsonBody[edit]) (edited, error) {
	in := body.Body
	st, err := s.streamOf(ctx, in.Session)
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

// planned is the response that contains the plan of a save.
type planned struct {
	ETag string `header:"ETag" doc:"the digest of the plan; for If-Match"`
	Body assistant.SavePlan
}

type planning struct {
	Session string `query:"session" required:"true" doc:"the id of the session in which the plan is shown"`
}

func (s *Server) planSave(ctx context.Context, in *planning) (*planned, error) {
	st, err := s.lookAt(in.Session)
	if err != nil {
		return nil, err
	}
	plan, err := st.PlanSave(ctx, "")
	return &planned{quoted(plan.Digest), plan}, err
}

// basis is the body of a request to save or discard.
type basis struct {
	Session string  `json:"session" doc:"the id of the session that saves or discards"`
	Digest  *string `json:"digest,omitempty" minLength:"1" doc:"the digest of the plan that was shown to the user, from /v1/window/plan; if the plan has changed since, the response is a problem with the code plan_changed. Required without If-Match"`
}

type based struct {
	Matching
	Body basis
}

// basisOf returns the session of a request and the basis of the request: the plan that was shown to its user.
func (s *Server) basisOf(ctx context.Context, in *based) (*stream, assistant.Basis, error) {
	st, err := s.streamOf(ctx, in.Body.Session)
	if err != nil {
		return nil, assistant.Basis{}, err
	}
	digest, err := in.basis(in.Body.Digest)
	if err == nil && digest == "" {
		err = notMatching("expected the digest of a plan") // without a digest, a save could write changes that were not shown to the user
	}
	return st, assistant.Basis{Digest: digest}, err
}

func (s *Server) saveWindow(ctx context.Context, in *based) (assistant.Saved, error) {
	st, basis, err := s.basisOf(ctx, in)
	if err != nil {
		return assistant.Saved{}, err
	}
	saved, err := st.Save(ctx, basis)
	return saved, in.failed(err)
}

// discarded is the result of a discard.
type discarded struct {
	Lost []assistant.Change `json:"lost" nullable:"false" doc:"the discarded changes"`
}

func (s *Server) discardChanges(ctx context.Context, in *based) (discarded, error) {
	st, basis, err := s.basisOf(ctx, in)
	if err != nil {
		return discarded{}, err
	}
	lost, err := st.Discard("Discard the unsaved changes", basis)
	return discarded{append([]assistant.Change{}, lost...)}, in.failed(err)
}
