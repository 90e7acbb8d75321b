package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	"winnow/assistant/llm"
	"winnow/assistant/safetext"
)

// SessionPrefix begins the ids of the sessions of clients.
const SessionPrefix = "mcp-"

// confirmID names the question to the user in the answer that asks it.
const confirmID = "confirm"

// caller is an llm.Model that makes one call and keeps the result, so that the call
// of a client runs like that of a model.
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
			c.result = assistant.Fail(assistant.CodeFailed, "the result cannot be read: %v", err)
		}
		if yield(llm.Text{Text: c.result.Message}, nil) {
			yield(llm.End{Finish: "stop"}, nil)
		}
	}
}

// answer is how a client's user has answered the question of an earlier request.
type answer struct {
	given, yes bool
	shown      string // digest of what was shown
}

// call answers a call of a tool. It runs twice when the user has to be asked: the
// first result asks the question, the second request has the answer.
func (s *server) call(t assistant.Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		w, err := s.open(ctx, t.Write)
		if err != nil {
			return s.resultOf(assistant.Fail(assistant.CodeFailed, "nothing was done: %v", err)), nil
		}
		defer func() { s.logClose(s.close(w)) }()
		c := &caller{call: llm.Call{ID: "call", Name: t.Name, Arguments: string(req.Params.Arguments)}}
		session, err := s.session(ctx, w, t.Write, req, c)
		if err != nil {
			return s.resultOf(assistant.Fail(assistant.CodeFailed, "nothing was done: %v", err)), nil
		}
		ask, err := s.runTurn(ctx, session, c, req)
		switch {
		case err != nil:
			return s.resultOf(assistant.Fail(assistant.CodeFailed, "%v", err)), nil
		case ask != nil:
			return ask, nil
		}
		if c.result.ErrorCode == assistant.CodeLocked {
			c.result.Hint = "Reading tools still work. Try again when the other program is done."
		}
		return s.resultOf(c.result), nil
	}
}

// session makes the session of one call. That of a write tool is named after the
// client; its pairs and checkpoints are stored.
func (s *server) session(ctx context.Context, w Opened, write bool, req *sdk.CallToolRequest, c *caller) (*assistant.Session, error) {
	client := clientName(req)
	registry := &llm.Registry{}
	if err := registry.Add(llm.Provider{Name: "mcp", Model: c}); err != nil {
		return nil, err
	}
	o := assistant.Options{ID: SessionPrefix + client, Window: w.Window, Model: "mcp/" + client, Settings: s.opts.Settings, Log: s.opts.Log}
	if write {
		o.Journal, o.Store = w.Journal, s.opts.History
	}
	session, err := assistant.NewSession(registry, o)
	if err != nil {
		return nil, err
	}
	w.Use(session)
	err = session.Start(ctx)
	s.restorePosition(w) // the start restored that of the session's last write
	return session, err
}

// clientName is the client's own name, fit for the name of a session.
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

// runTurn runs the turn of a call to its end. ask is the result that asks the user
// first; then nothing was done.
func (s *server) runTurn(ctx context.Context, session *assistant.Session, c *caller, req *sdk.CallToolRequest) (ask *sdk.CallToolResult, err error) {
	text := assistant.CallInWords(c.call.Name, json.RawMessage(c.call.Arguments))
	after, err := session.Begin(ctx, assistant.Prompt{Text: text, Force: true})
	if err != nil {
		return nil, err
	}
	stopped := false                                                   // at the question, before the tool ran
	for e := range session.Events(context.WithoutCancel(ctx), after) { // ctx ends the turn
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

// decide is the answer to a confirm request: that of the user, ask, which asks the
// user, or refusal, which is the result of the call.
func (s *server) decide(req *sdk.CallToolRequest, e assistant.ConfirmRequest) (yes bool, ask *sdk.CallToolResult, refusal assistant.ToolResult) {
	user, asks := answerOf(req), canAsk(req)
	switch {
	case user.given && user.yes && user.shown != e.Digest:
		refusal = assistant.Fail(assistant.CodePlanChanged, "nothing was done: the plan shown to the user has changed; call %s again. The plan now:\n%s", e.Tool, e.Diff)
		return false, nil, refusal
	case user.given:
		return user.yes, nil, refusal
	case asks:
		return false, s.question(e), refusal
	case s.opts.AllowSave:
		return true, nil, refusal
	}
	refusal = assistant.Fail(assistant.CodeDeclined, "declined: the user has to confirm %s, and this client cannot ask", e.Tool)
	refusal.Hint = s.opts.HowToAllow
	return false, nil, refusal
}

// canAsk reports whether the client can ask its user.
func canAsk(req *sdk.CallToolRequest) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// question asks the user to confirm a call.
func (s *server) question(e assistant.ConfirmRequest) *sdk.CallToolResult {
	return &sdk.CallToolResult{
		InputRequests: sdk.InputRequestMap{confirmID: &sdk.ElicitParams{
			Mode: "form", Message: s.clean("Run " + e.Tool + "?\n\n" + e.Diff),
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean","title":"Do it","default":false}},"required":["confirm"]}`),
		}},
		RequestState: e.Digest,
	}
}

// answerOf is the answer that comes with a request.
func answerOf(req *sdk.CallToolRequest) answer {
	r, ok := req.Params.InputResponses[confirmID].(*sdk.ElicitResult)
	if !ok || r == nil {
		return answer{}
	}
	yes, _ := r.Content["confirm"].(bool)
	return answer{given: true, yes: yes && r.Action == "accept", shown: req.Params.RequestState}
}

// progress reports the progress of a call to a client that asked for it.
func (s *server) progress(ctx context.Context, req *sdk.CallToolRequest, e assistant.ToolProgress) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return
	}
	err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: s.clean(e.Message), Progress: e.Progress, Total: 1})
	if err != nil {
		s.opts.Log.Warn("progress not reported", "error", err)
	}
}

// resultOf is the result of a call for the client, as text and as data.
func (s *server) resultOf(r assistant.ToolResult) *sdk.CallToolResult {
	r.Payload = nil                  // for a user's screen
	raw, _ := assistant.PlainJSON(r) // cannot fail: its data was decoded from JSON
	text := s.clean(string(raw))
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: json.RawMessage(text), IsError: !r.Success}
}

// clean is a text that is safe wherever the client shows it.
func (s *server) clean(text string) string {
	text = safetext.Clean(text)
	if s.opts.Redact != nil {
		text = s.opts.Redact(text)
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}
