package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// round runs the calls of a whole response, in order, each on its own.
func (e *engine) round(ctx context.Context, a answer) error {
	checked := make([]checkedCall, len(a.calls))
	wrong := ""
	for i, c := range a.calls {
		checked[i] = e.check(c)
		checked[i].refuse(a.end, i)
		checked[i].ID = e.callID(c.ID, checked[:i])
		if r := checked[i].invalid; r != nil && wrong == "" {
			wrong = r.Message
		}
	}
	switch {
	case a.end.Damaged != "":
		e.note("A response was damaged on its way: " + a.end.Damaged + ". Its tool calls were not run.")
	case len(checked) > maxCalls:
		e.note(fmt.Sprintf("A response made %d tool calls; only the first %d were run.", len(checked), maxCalls))
	}
	first := len(e.pair.ToolCalls)
	for i := range checked {
		if err := e.call(ctx, checked, i); err != nil {
			return err
		}
	}
	e.response++
	e.settle()
	limit := e.count(wrong)
	if err := e.hooks.record(callMessages(e.pair.ToolCalls[first:], a.text), false); err != nil {
		return err
	}
	return limit
}

// callMessages are the messages of a response that said text and made calls.
func callMessages(calls []ToolCall, text string) []Message {
	out := make([]Message, len(calls))
	for i, c := range calls {
		m := callMessage(c)
		if i == 0 {
			m.Message, m.joined = text, false
		}
		out[i] = m
	}
	return out
}

// count keeps the limits: an invalid round is not an iteration.
func (e *engine) count(wrong string) error {
	if wrong == "" {
		e.invalid = 0
		e.rounds++
		e.pair.InvalidRounds = 0
		return nil
	}
	e.invalid++
	e.pair.InvalidRounds = e.invalid
	switch {
	case e.invalid >= e.limits.Invalid:
		return &TurnError{Code: CodeInvalidToolCalls, Message: fmt.Sprintf(
			"the model made invalid tool calls %d times in a row; the last: %s", e.invalid, wrong)}
	case e.invalid >= 2: // the first correction is silent
		e.hooks.emit(Retrying{Attempt: e.invalid, Reason: "invalid tool call"})
	}
	return nil
}

// checkedCall is a call with what the toolbox found.
type checkedCall struct {
	ToolCall
	tool    Tool
	invalid *ToolResult
}

func (e *engine) check(c Call) checkedCall {
	t, args, invalid := e.tools.check(c)
	if invalid != nil {
		args = validOrQuoted(c.Arguments)
	}
	return checkedCall{
		ToolCall: ToolCall{Name: c.Name, Arguments: args, Response: e.response, Silent: invalid != nil},
		tool:     t, invalid: invalid,
	}
}

// maxCalls bounds the calls of one response; the rest are refused.
const maxCalls = 64

// refuse refuses the call number i of a response that is damaged, or that makes
// too many calls.
func (c *checkedCall) refuse(end End, i int) {
	var refused ToolResult
	switch {
	case end.Damaged != "":
		refused = Fail(CodeFailed, "not run, because the response was damaged on its way: %s; make the call again", end.Damaged)
	case i >= maxCalls:
		refused = Fail(CodeFailed, "not run: a response may make %d calls at most", maxCalls)
	default:
		return
	}
	c.invalid, c.Silent = &refused, true
}

// callID is the id that the endpoint gave, made unique in the turn: some give
// none, some the same to every call, and each result must find its call.
func (e *engine) callID(given string, before []checkedCall) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(e.pair.ToolCalls, func(c ToolCall) bool { return c.ID == id }) ||
			slices.ContainsFunc(before, func(c checkedCall) bool { return c.ID == id })
	}
	id := given
	if id == "" || taken(id) {
		id = fmt.Sprintf("call_%d_%d", e.response, len(before))
	}
	for taken(id) {
		id += "x"
	}
	return id
}

// validOrQuoted keeps text that is not JSON as a JSON string.
func validOrQuoted(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, _ := PlainJSON(text) // a string always encodes
	return raw
}

// call runs one checked call of a response and adds it to the pair.
func (e *engine) call(ctx context.Context, all []checkedCall, i int) error {
	c := &all[i]
	if c.invalid != nil {
		c.Result = c.invalid
		e.keepCall(c.ToolCall)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	index := e.shown
	e.breakParagraph()
	e.hooks.emit(Status{"Running " + c.Name + "…"})
	e.hooks.emit(ToolStart{Tool: c.Name, Input: c.Arguments, ToolUseID: c.ID, Index: index})
	began := e.now()
	result, ran, err := e.carryOut(ctx, all, i, index)
	if err != nil {
		return err
	}
	c.Result, c.Took = &result, e.now().Sub(began)
	e.shown++
	e.keepCall(c.ToolCall)
	if p := result.Payload; p != nil {
		e.pair.Payloads = append(e.pair.Payloads, *p)
	}
	e.text.WriteString(marker(index))
	if c.tool.Write && ran {
		e.settle()
		err = e.hooks.after(c.ToolCall)
	}
	e.hooks.emit(ToolComplete{
		Tool: c.Name, Index: index, ToolUseID: c.ID, Success: result.Success,
		Message: result.Message, ErrorCode: result.ErrorCode, Data: result.Data, Payload: result.Payload,
	})
	e.hooks.emit(TextDelta{marker(index)})
	e.apart = true
	return err
}

func (e *engine) keepCall(c ToolCall) {
	e.pair.ToolCalls = append(e.pair.ToolCalls, c)
	e.hooks.made(c)
}

// carryOut asks, makes the checkpoint and runs the tool. The error is ctx's,
// when it ended before the tool began.
func (e *engine) carryOut(ctx context.Context, all []checkedCall, i, index int) (r ToolResult, ran bool, err error) {
	c := &all[i]
	allowed, err := e.hooks.approve(ctx, c.tool, c.Arguments)
	switch {
	case ctx.Err() != nil:
		return r, false, ctx.Err()
	case err != nil:
		return Fail(CodeFailed, "nothing was done: %v", err), false, nil
	case !allowed:
		return Fail(CodeDeclined, "declined by the user"), false, nil
	}
	if c.tool.Write {
		if err := e.hooks.before(writesFrom(all, i)); err != nil {
			return Fail(CodeFailed, "nothing was changed: %v", err), false, nil
		}
	}
	r = c.tool.run(ctx, c.Arguments, func(p Progress) {
		e.hooks.emit(ToolProgress{
			Tool: c.Name, Stage: p.Stage, Message: p.Message, Progress: p.Done, Data: p.Data,
			Index: index, ToolUseID: c.ID,
		})
	})
	if r.Payload != nil {
		p := *r.Payload
		e.complete(&p)
		r.Payload = &p
	}
	return r, true, nil
}

// writesFrom lists the write calls of a response that are still to run.
func writesFrom(all []checkedCall, i int) []ToolCall {
	var out []ToolCall
	for _, c := range all[i:] {
		if c.invalid == nil && c.tool.Write {
			out = append(out, c.ToolCall)
		}
	}
	return out
}
