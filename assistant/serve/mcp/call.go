package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// SessionPrefix is the prefix of the ids of clients' sessions.
const SessionPrefix = "mcp-"

// confirmID is the id of the question in a result that asks the user for input.
const confirmID = "confirm"

// caller is an llm.Model that makes a single tool call and stores its result, so that a client's call runs like a call
// by a model.
type caller struct {
	call   llm.Call
	result assistant.ToolResult
}

// Stream implements llm.Model.
func (c *caller) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role != llm.RoleTool {
			yield(llm.End{Calls: []llm.Call{c.call}, Finish: "tool_calls"}, nil)
			return
		}
		if err := json.Unmarshal([]byte(last.Content), &c.result); err != nil {
			c.result = assistant.Fail(assistant.CodeFailed, "the result cannot be decoded: %v", err)
		}
		if yield(llm.Text{Text: safetext.Clean(c.result.Message)}, nil) {
			yield(llm.End{Finish: "stop"}, nil)
		}
	}
}

// answer is the user's answer to the question in the result of an earlier request.
type answer struct {
	given, yes bool
	shown      string // the digest of what was shown to the user
}

// call returns the handler of a tool. If the user has to be asked, the client calls the tool twice: the first result
// contains the question, and the second request contains the answer.
func (s *server) call(t assistant.Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		result, ask, applier := s.callWindow(ctx, t, req)
		if ask != nil {
			return ask, nil
		}
		if applier != nil {
			result = s.waitApplied(ctx, applier, result)
		}
		return s.resultOf(result), nil
	}
}

// callWindow calls a tool of the window. If ask is not nil, nothing has been done, and ask is the result that asks the
// user. applier is not nil if the call was a save that is now being applied.
func (s *server) callWindow(ctx context.Context, t assistant.Tool, req *sdk.CallToolRequest) (result assistant.ToolResult, ask *sdk.CallToolResult, applier assistant.Applier) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.open(ctx, t.Write)
	if err != nil {
		return assistant.Fail(assistant.CodeFailed, "nothing was done: %v", err), nil, nil
	}
	defer func() { s.logClose(s.close(w)) }()
	s.caller = caller{call: llm.Call{ID: "call", Name: t.Name, Arguments: string(req.Params.Arguments)}}
	session, release, err := s.session(ctx, w, t.Write, clientName(req))
	if err != nil {
		return failed(err), nil, nil
	}
	defer release()
	applies, _ := w.Window.(assistant.Applier)
	var before assistant.Applied
	if applies != nil {
		before = applies.Applied()
	}
	if ask, err = s.runTurn(ctx, session, &s.caller, req); err != nil {
		return assistant.Fail(assistant.CodeFailed, "%v", err), nil, nil
	}
	result = s.caller.result
	if result.ErrorCode == assistant.CodeLocked {
		result.Hint = lockedHint
	}
	if applies == nil || applies.Applied().Began.Equal(before.Began) {
		return result, ask, nil // the call was not a save
	}
	return result, ask, applies
}

// applyWait is how long a save waits for its changes to be applied before it returns its result. It is less than a
// minute, after which clients based on the TypeScript SDK give up.
const applyWait = 45 * time.Second

// waitApplied waits for a limited time until a save has been applied, and adds the outcome to the result. Other calls of
// the client can run in the meantime.
func (s *server) waitApplied(ctx context.Context, applier assistant.Applier, result assistant.ToolResult) assistant.ToolResult {
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(s.opts.ApplyWait, applyWait))
	defer cancel()
	applied := applier.WaitApplied(bounded)
	data := map[string]any{}
	if raw, err := assistant.PlainJSON(result.Data); err == nil {
		_ = json.Unmarshal(raw, &data) // data that is not an object is replaced
	}
	if data == nil {
		data = map[string]any{}
	}
	data["applied"] = applied
	result.Data = data
	if applied.State == assistant.AppliedRunning {
		result.Hint = "The save is still being applied; show_applied returns the result later."
		return result
	}
	result.Message += " " + string(applied.Message)
	return result
}

// lockedHint is the hint of a call that failed because another user or program has locked the window.
const lockedHint = "Read-only tools still work. Try again when the window is no longer locked."

// failed returns the result of a call that has done nothing.
func failed(err error) assistant.ToolResult {
	r := assistant.Fail(assistant.CodeFailed, "nothing was done: %v", err)
	switch {
	case errors.As(err, new(*assistant.RoleError)):
		r.ErrorCode = assistant.CodeForbidden
	case errors.As(err, new(*assistant.PlanChanged)):
		r.ErrorCode = assistant.CodePlanChanged
	case errors.As(err, new(*windowlock.LockedError)), errors.As(err, new(*checkpoint.LockedError)):
		r.ErrorCode, r.Hint = assistant.CodeLocked, lockedHint
	}
	return r
}

// models returns a registry whose only model is the caller.
func (s *server) models() (*llm.Registry, error) {
	registry := &llm.Registry{}
	return registry, registry.Add(llm.Provider{Name: "mcp", Model: &s.caller})
}

// session returns the session for one call; the caller must call release after the call. In a hub, all write tools of
// the connection use the same session. Without a hub, the session is created for the call; for a write tool, the
// session is named after the client, and its pairs and checkpoints are stored.
func (s *server) session(ctx context.Context, w Opened, write bool, client string) (_ *assistant.Session, release func(), err error) {
	if s.join != nil && write {
		if s.joined == nil {
			if s.joined, err = s.join(ctx, client); err != nil {
				return nil, nil, err
			}
		}
		return s.joined.Session(), s.joined.Use(), nil
	}
	registry, err := s.models()
	if err != nil {
		return nil, nil, err
	}
	o := assistant.Options{ID: SessionPrefix + client, Window: w.Window, Model: "mcp/" + client, Settings: s.opts.Settings, Log: s.opts.Log}
	if write {
		o.Journal, o.Store = w.Journal, s.opts.History
	}
	session, err := assistant.NewSession(registry, o)
	if err != nil {
		return nil, nil, err
	}
	w.Use(session)
	err = session.Start(ctx)
	s.restorePosition(w) // Start has moved the window to the position at the session's last write
	return session, func() {}, err
}

// clientName returns the name that the client gives itself, in a form that is valid in session names.
func clientName(req *sdk.CallToolRequest) string {
	const maxName = 40
	name := ""
	if info := req.ClientInfo(); info != nil {
		name = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, strings.ToLower(info.Name))
	}
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	return cmp.Or(name, "client")
}

// runTurn runs the turn of a call to its end. If ask is not nil, nothing has been done, and ask is the result that asks
// the user first.
func (s *server) runTurn(ctx context.Context, session *assistant.Session, c *caller, req *sdk.CallToolRequest) (ask *sdk.CallToolResult, err error) {
	text := assistant.CallInWords(c.call.Name, json.RawMessage(c.call.Arguments))
	after, err := session.Begin(ctx, assistant.Prompt{Text: text, Force: true, Confirmed: s.opts.AllowSave && !canAsk(req)})
	if err != nil {
		return nil, err
	}
	stopped := false                                                   // the turn was stopped at the question, before the tool ran
	for e := range session.Events(context.WithoutCancel(ctx), after) { // ctx ends the turn, but its events are still read
		switch e := e.(type) {
		case assistant.ToolProgress:
			s.progress(ctx, req, e)
		case assistant.ConfirmRequest:
			var yes bool
			if yes, ask, c.result = s.decide(req, e); ask == nil && c.result.Message == "" {
				err = session.Answer(e.ID, yes)
				continue
			}
			stopped = true
			session.Cancel()
		case assistant.Error:
			err = errors.New(e.Message)
		case assistant.Cancelled:
			if !stopped {
				err = context.Canceled
			}
		default: // the result is in c
		}
	}
	return ask, err
}

// decide returns the user's answer to a confirm request, or a result that asks the user, or a refusal that becomes the
// result of the call.
func (s *server) decide(req *sdk.CallToolRequest, e assistant.ConfirmRequest) (yes bool, ask *sdk.CallToolResult, refusal assistant.ToolResult) {
	user, asks := answerOf(req), canAsk(req)
	switch {
	case user.given && user.yes && user.shown != e.Digest:
		refusal = assistant.Fail(assistant.CodePlanChanged, "nothing was done: the plan has changed since it was shown to the user; call %s again. The new plan:\n%s", e.Tool, e.Diff)
		return false, nil, refusal
	case user.given:
		return user.yes, nil, refusal
	case asks:
		return false, s.question(e), refusal
	}
	refusal = assistant.Fail(assistant.CodeDeclined, "declined: %s requires confirmation by the user, and this client cannot ask for it", e.Tool)
	refusal.Hint = s.opts.HowToAllow
	return false, nil, refusal
}

// canAsk reports whether the client can ask its user.
func canAsk(req *sdk.CallToolRequest) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// question returns a result that asks the user to confirm a call.
func (s *server) question(e assistant.ConfirmRequest) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		InputRequests: sdk.InputRequestMap{confirmID: &sdk.ElicitParams{
			Mode: "form", Message: s.clean("Run " + e.Tool + "?\n\n" + string(e.Diff)),
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean","title":"Do it","default":false}},"required":["confirm"]}`),
		}},
		RequestState: e.Digest,
	}
}

// answerOf returns the user's answer that a request contains, or a zero answer.
func answerOf(req *sdk.CallToolRequest) answer {
	r, ok := req.Params.InputResponses[confirmID].(*sdk.ElicitResult)
	if !ok || r == nil {
		return answer{}
	}
	yes, _ := r.Content["confirm"].(bool)
	return answer{given: true, yes: yes && r.Action == "accept", shown: req.Params.RequestState}
}

// progress reports the progress of a call to a client that has requested it.
func (s *server) progress(ctx context.Context, req *sdk.CallToolRequest, e assistant.ToolProgress) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return
	}
	err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: s.clean(e.Message), Progress: e.Progress, Total: 1})
	if err != nil {
		s.opts.Log.Warn("the progress could not be reported", "error", err)
	}
}

// resultOf converts the result of a call for the client, which receives it both as text and as data.
func (s *server) resultOf(r assistant.ToolResult) *sdk.CallToolResult {
	r.Payload = nil                  // payloads are only for screens
	raw, _ := assistant.PlainJSON(r) // cannot fail: the data consists of values that JSON can represent
	text := s.clean(string(raw))
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: json.RawMessage(text), IsError: !r.Success}
}

// clean returns a text without secrets and without characters that could harm the client's screen, cut to maxText bytes.
func (s *server) clean(text string) string {
	text = string(safetext.Clean(text))
	if s.opts.Redact != nil {
		text = s.opts.Redact(text)
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}
