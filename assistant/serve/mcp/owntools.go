package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"winnow/assistant"
	"winnow/checkpoint"
)

// The arguments of the tools for checkpoints.
type (
	listArgs struct {
		Limit int `json:"limit,omitempty" jsonschema:"how many of the newest checkpoints to list; the default is 20"`
	}
	rollbackArgs struct {
		Checkpoint string `json:"checkpoint" jsonschema:"the id of the checkpoint to go back to"`
		Newest     string `json:"newest" jsonschema:"the value of newest from list_checkpoints; if there is a newer step, nothing is done"`
		Confirmed  bool   `json:"confirmed,omitempty" jsonschema:"true to also undo steps of other sessions"`
	}
)

// maxListed is the maximum number of checkpoints that are listed.
const maxListed = 200

// listed is a checkpoint as list_checkpoints returns it.
type listed struct {
	checkpoint.Checkpoint
	Own bool `json:"own"` // true if the client's session created the checkpoint
}

// ownTools returns the tools of this package, as opposed to the tools of the window: the tools for checkpoints, and the
// tools of Options.Queries. session is the result of sessionID.
func (s *server) ownTools(w Opened, session string) []assistant.Tool {
	const defaultListed = 20
	list := assistant.NewTool("list_checkpoints", "List the newest checkpoints of the window, oldest first. Each checkpoint is the state before a step; roll_back goes back to it.",
		func(_ context.Context, a listArgs) (assistant.ToolResult, error) {
			limit := a.Limit
			if limit <= 0 {
				limit = defaultListed
			}
			all := w.Journal.Steps()
			all = all[max(0, len(all)-min(limit, maxListed)):]
			out := make([]listed, 0, len(all))
			for _, c := range all {
				out = append(out, listed{c, session != "" && c.Session == session})
			}
			return assistant.OK(assistant.Counted(len(out), "checkpoint"), map[string]any{"checkpoints": out, "newest": newestStep(w.Journal)}), nil
		})
	list.Title, list.Idempotent = "List the checkpoints", true
	back := assistant.NewTool("roll_back", "Go back to the state before a step. Files are not changed: what was saved stays saved. Steps of other sessions are undone only if confirmed is true.",
		func(context.Context, rollbackArgs) (string, error) { return "", nil }) // see rollBack
	back.Title, back.Write, back.Destructive, back.Idempotent = "Go back to a checkpoint", true, true, true
	tools := []assistant.Tool{list, back}
	if s.opts.ExtraTools != nil {
		tools = append(tools, s.opts.ExtraTools(w.Window)...)
	}
	return tools
}

// sessionID returns the id of the session for a client's calls to write tools; "" if a hub has not opened it yet.
func (s *server) sessionID(client string) string {
	switch {
	case s.join == nil:
		return SessionPrefix + client
	case s.joined == nil:
		return ""
	}
	return s.joined.ID()
}

// newestStep returns the id of the newest step that a rollback could undo, or "".
func newestStep(j *checkpoint.Journal) string {
	all := j.List("")
	for _, c := range slices.Backward(all) {
		if c.Kind != checkpoint.KindStart && !c.Undone {
			return c.ID
		}
	}
	return ""
}

// callOwn returns the handler of one of ownTools.
func (s *server) callOwn(name string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		write := name == "roll_back"
		w, err := s.open(ctx, write)
		if err != nil {
			return s.resultOf(failed(err)), nil
		}
		defer func() { s.logClose(s.close(w)) }()
		args := req.Params.Arguments
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		tools := s.ownTools(w, s.sessionID(clientName(req)))
		tool := tools[slices.IndexFunc(tools, func(t assistant.Tool) bool { return t.Name == name })]
		if problem := tool.Problem(args); problem != "" {
			return s.resultOf(assistant.Fail(assistant.CodeInvalidArguments, "%s", problem)), nil
		}
		if !write {
			return s.resultOf(tool.Call(ctx, args, func(assistant.Progress) {})), nil
		}
		session, release, err := s.session(ctx, w, true, clientName(req))
		if err != nil {
			return s.resultOf(failed(err)), nil
		}
		defer release()
		var in rollbackArgs
		if err := json.Unmarshal(args, &in); err != nil {
			return s.resultOf(assistant.Fail(assistant.CodeInvalidArguments, "%v", err)), nil
		}
		return s.resultOf(rollBack(ctx, w.Journal, session, in)), nil
	}
}

// rollBack takes the window back to a checkpoint; the conversation stays.
func rollBack(ctx context.Context, j *checkpoint.Journal, session *assistant.Session, in rollbackArgs) assistant.ToolResult {
	if others := j.OthersSince(in.Checkpoint, session.ID()); len(others) > 0 && !in.Confirmed {
		r := assistant.Fail("others_changed", "nothing was done: %s of other sessions would also be undone", assistant.Counted(len(others), "step"))
		r.Hint, r.Data = "Show these steps to the user. If the user agrees, repeat the call with confirmed set to true.", map[string]any{"steps": others}
		return r
	}
	if _, err := session.Rollback(ctx, in.Checkpoint, checkpoint.ScopeWindow, in.Newest); err != nil {
		return failed(err)
	}
	return assistant.OK(fmt.Sprintf("went back to checkpoint %s; what was saved stays in its file", in.Checkpoint), nil)
}
