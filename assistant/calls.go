package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/llm"
	"winnow/assistant/markup"
	"winnow/assistant/nearest"
	"winnow/assistant/safetext"
	"winnow/assistant/windowlock"
	"winnow/checkpoint"
)

// maxCalls limits the tool calls of one response; further calls are rejected.
const maxCalls = 64

// checkedCall is a call with its tool, or with the reason why it may not run.
type checkedCall struct {
	ToolCall
	tool    Tool
	invalid *ToolResult // why it may not run; nil if it may
}

// runCalls runs the calls of a complete response in order, each independently.
func (t *loop) runCalls(a reply) error {
	checked := make([]checkedCall, len(a.end.Calls))
	problem := "" // what is wrong with the first invalid call
	for i, c := range a.end.Calls {
		checked[i] = t.check(c, a.end, i)
		if r := checked[i].invalid; r != nil && problem == "" {
			problem = r.Message
		}
	}
	switch refused := a.end.CallsRefused(); {
	case refused != "":
		t.note("A response was damaged in transit: " + refused + ". Its tool calls were not run.")
	case len(checked) > maxCalls:
		t.note(fmt.Sprintf("A response made %d tool calls; only the first %d were run.", len(checked), maxCalls))
	}
	at := len(*t.list)
	for i := range checked {
		if err := t.call(checked, i); err != nil {
			return err
		}
		m := callMessage(checked[i].ToolCall)
		if i == 0 {
			m.Message, m.Joined = a.text, false
		}
		// Messages added to a Conversation in the meantime go after the calls of this
		// response, which must stay adjacent.
		t.addMessage(m, at+i)
	}
	t.flushTexts()
	limitErr := t.countRound(problem)
	if err := t.responseDone(false); err != nil {
		return err
	}
	return limitErr
}

// countRound counts a round of tool calls against the limit. A non-empty problem means
// that the round was invalid; invalid rounds have a limit of their own.
func (t *loop) countRound(problem string) error {
	if problem == "" {
		t.invalid, t.pair.InvalidRounds = 0, 0
		t.rounds++
		return nil
	}
	t.invalid++
	t.pair.InvalidRounds = t.invalid
	switch {
	case t.invalid >= maxInvalidRounds:
		return &TurnError{Code: CodeInvalidToolCalls, Message: fmt.Sprintf(
			"the model made invalid tool calls %d times in a row; the last problem: %s", t.invalid, problem)}
	case t.invalid >= 2: // the first correction is not shown to the user
		t.correcting = true
		t.host.emit(Retrying{Attempt: t.invalid, Reason: "invalid tool call", Code: CodeInvalidToolCalls})
	}
	return nil
}

// check checks call i of a response. No call in a damaged response may run, because
// arguments may be missing.
func (t *loop) check(c llm.Call, end llm.End, i int) checkedCall {
	tool, args, invalid := t.tools.check(c)
	refuse := func(format string, args ...any) {
		invalid = new(Fail(CodeFailed, format, args...))
	}
	switch refused := end.CallsRefused(); {
	case refused != "":
		refuse("not run, because the response was damaged in transit: %s; make the call again", refused)
	case i >= maxCalls:
		refuse("not run: a response may contain at most %d calls", maxCalls)
	}
	if invalid != nil {
		args = validOrQuoted(c.Arguments)
	}
	return checkedCall{
		ToolCall: ToolCall{ID: t.callID(c.ID, i), Name: c.Name, Arguments: args, Response: t.response, Silent: invalid != nil},
		tool:     tool, invalid: invalid,
	}
}

// callID makes the id given by the endpoint unique within the turn, so that each result
// can be matched to its call. Some endpoints send no id, or the same one for every call.
func (t *loop) callID(given string, i int) string {
	if t.callIDs == nil {
		t.callIDs = map[string]bool{"": true}
		for _, c := range t.pair.ToolCalls {
			t.callIDs[c.ID] = true
		}
	}
	id := given
	if t.callIDs[id] {
		id = fmt.Sprintf("call_%d_%d", t.response, i)
	}
	for t.callIDs[id] {
		id += "x"
	}
	t.callIDs[id] = true
	return id
}

// validOrQuoted returns valid JSON unchanged, and other text as a JSON string.
func validOrQuoted(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, _ := PlainJSON(text) // a string can always be encoded
	return raw
}

// call runs all[i] and adds it to the pair. An invalid call is only added.
func (t *loop) call(all []checkedCall, i int) error {
	c := &all[i]
	if c.invalid != nil {
		c.Result = c.invalid
		t.addCall(c.ToolCall)
		return nil
	}
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	index := t.cards
	t.breakParagraph()
	t.correcting = false
	t.host.emit(Status{"Running " + c.Name + "…"})
	t.host.emit(ToolStart{Tool: c.Name, Input: c.Arguments, ToolUseID: c.ID, Index: index})
	began, waited := t.now(), t.waited
	result, wrote, err := t.host.runTool(all[i:])
	if err != nil {
		return err
	}
	c.Result, c.Took = &result, t.now().Sub(began)-(t.waited-waited)
	t.cards++
	t.addCall(c.ToolCall)
	if p := result.Payload; p != nil {
		t.pair.Payloads = append(t.pair.Payloads, *p)
	}
	t.text.Write(markup.CardMarker(index))
	if wrote {
		t.flushTexts()
		if err = t.host.afterWrite(c); err != nil {
			result = *c.Result
		}
	}
	t.host.emit(ToolComplete{
		Tool: c.Name, Index: index, ToolUseID: c.ID, Success: result.Success,
		Message: result.Message, ErrorCode: result.ErrorCode, Data: result.Data, Payload: result.Payload,
	})
	t.host.emit(TextDelta{markup.CardMarker(index)})
	t.newParagraph = true
	return err
}

// addCall adds a call to the pair. If the call was invalid or failed, it is logged without
// its arguments and message.
func (t *loop) addCall(c ToolCall) {
	t.pair.ToolCalls = append(t.pair.ToolCalls, c)
	switch r := c.Result; {
	case c.Silent:
		t.log.Warn("invalid tool call", "tool", c.Name, "code", r.ErrorCode)
	case r.ErrorCode == CodeTimeout:
		t.log.Warn("tool timed out", "tool", c.Name)
	case r.ErrorCode == CodePanic:
		t.log.Error("tool panicked", "tool", c.Name, "stack", r.stack)
	case !r.Success && r.ErrorCode != CodeDeclined && r.ErrorCode != CodeCancelled:
		t.log.Error("tool failed", "tool", c.Name, "code", r.ErrorCode)
	}
}

// runTool implements toolRunner. It checks the user's role, asks for approval, makes the
// checkpoint and runs the tool. For a user with RolePropose, it proposes the changes of a
// write tool instead.
func (t *turn) runTool(calls []checkedCall) (r ToolResult, wrote bool, err error) {
	c := &calls[0]
	writes := c.tool.Write && (c.tool.NoOp == nil || !c.tool.NoOp(c.Arguments))
	if err := t.mayCall(c, writes); err != nil {
		return Fail(CodeForbidden, "nothing was done: %v", err), false, nil
	}
	if writes {
		waiting := func(e *windowlock.LockedError) { t.emit(Status{e.Error()}) }
		if err := t.s.opts.Member.Lock(t.ctx, t.session, c.Name, waiting); err != nil {
			return r, false, err
		}
		if err := t.lockJournal(); err != nil {
			return journalFailed(t.ctx, err)
		}
		if t.s.opts.Role == RolePropose {
			return t.proposeCall(c), false, nil
		}
	}
	for {
		approved, shown, err := t.approve(c)
		switch {
		case t.ctx.Err() != nil:
			return r, false, t.ctx.Err()
		case err != nil:
			return Fail(CodeFailed, "nothing was done: %v", err), false, nil
		case !approved:
			return Fail(CodeDeclined, "not confirmed by the user"), false, nil
		}
		if writes {
			if err := t.beforeWrite(calls); err != nil {
				return Fail(CodeFailed, "nothing was changed: %v", err), false, nil
			}
		}
		where := t.position()
		r = t.callGuarded(c, shown, writes)
		if t.position() != where {
			t.payloadTypes = begun(t.payloadTypes, t.s.opts.Window)
		}
		if r.ErrorCode != CodePlanChanged || shown == "" { // otherwise the user is asked again, with the new plan
			break
		}
	}
	return t.checkPayload(c.Name, r), writes || c.tool.Server != "", nil
}

// mayCall returns a *RoleError if the user's role does not allow a call.
func (t *turn) mayCall(c *checkedCall, writes bool) error {
	switch {
	case c.tool.Lasting:
		return t.s.Needs(RoleSave)
	case c.tool.Server != "": // a server tool changes nothing in the window
		return t.s.Needs(RoleWrite)
	case writes:
		return t.s.Needs(RolePropose)
	}
	return nil
}

// callGuarded runs a call. If the call removes unsaved changes by other users and the
// user lacks RoleSave, the call's changes to the window are undone.
func (t *turn) callGuarded(c *checkedCall, shown string, writes bool) ToolResult {
	ctx := withShown(t.ctx, shown)
	if writes {
		ctx = context.WithValue(ctx, undoKey{}, t.undo)
	}
	run := func() ToolResult { return c.tool.Call(ctx, c.Arguments, t.progressOf(c)) }
	if !writes || t.s.opts.Role.May(RoleSave) {
		return run()
	}
	before, err := windowState(t.s.opts.Window)
	if err != nil {
		return Fail(CodeFailed, "nothing was changed: %v", err)
	}
	defer t.s.updates.window.step()()
	others, restore := t.s.othersUnsaved(), t.s.mark(before)
	r := run()
	if err := t.s.keeps(others); err != nil {
		if undone := restore(); undone != nil {
			return Fail(CodeFailed, "%v", undone)
		}
		return Fail(CodeForbidden, "nothing was changed: the call would undo unsaved changes by other users, and %v", err)
	}
	return r
}

// proposeCall proposes the changes that a call would make, instead of making them.
func (t *turn) proposeCall(c *checkedCall) ToolResult {
	w := t.s.opts.Window
	if _, ok := w.(Proposer); !ok {
		return Fail(CodeForbidden, "nothing was done: %v", &RoleError{t.s.opts.Role, RoleWrite})
	}
	before, err := windowState(w)
	if err != nil {
		return Fail(CodeFailed, "nothing was proposed: %v", err)
	}
	defer t.s.updates.window.step()()
	restore := t.s.mark(before)
	r := c.tool.Call(t.ctx, c.Arguments, t.progressOf(c))
	after, err := windowState(w)
	if err = errors.Join(err, restore()); err != nil {
		return Fail(CodeFailed, "nothing was proposed: %v", err)
	}
	if !r.Success {
		return r
	}
	payloads, err := t.s.proposalsOf(before, after)
	switch {
	case err != nil:
		return Fail(CodeForbidden, "nothing was proposed: %v", err)
	case len(payloads) == 0:
		return OK("Nothing to propose: the call would change nothing.", nil)
	}
	what := make([]string, len(payloads))
	for i, made := range payloads {
		t.addPayload(t.fillPayload(made))
		what[i] = made.Summary
	}
	return OK("Proposed, not done: "+strings.Join(what, "; ")+". The current user may only propose; a user with the save role can accept this.", nil)
}

// checkPayload fills in the payload of a result. A payload that matches no registered type
// is a bug in the tool, which has already run: the result becomes a failure that reports
// the bug.
func (t *turn) checkPayload(tool string, r ToolResult) ToolResult {
	if r.Payload == nil {
		return r
	}
	p := *r.Payload
	if t.s.opts.Pages != nil {
		types := t.s.PayloadTypes()
		i := slices.IndexFunc(types, samePayload(p.Type))
		switch {
		case i < 0:
			return Fail(CodeFailed, "%s has run, but it returned a payload of type %q, which is not registered.%s", tool, p.Type, nearest.Hint(p.Type, namesOf(types)))
		case types[i].Source == FromLLM:
			return Fail(CodeFailed, "%s has run, but it returned a payload of type %q, which only a model can write", tool, p.Type)
		case types[i].Schema != nil:
			if err := validate(types[i].Schema, p.Data); err != nil {
				return Fail(CodeFailed, "%s has run, but it returned a payload of type %q with invalid data: %v", tool, p.Type, err)
			}
		}
		p.Summary = cmp.Or(p.Summary, types[i].summary(p.Data))
	}
	r.Payload = new(t.fillPayload(p))
	return r
}

// journalFailed returns the result of runTool when the journal could not be locked.
func journalFailed(ctx context.Context, err error) (r ToolResult, wrote bool, _ error) {
	switch {
	case ctx.Err() != nil:
		return r, false, ctx.Err()
	case errors.As(err, new(*checkpoint.LockedError)), errors.As(err, new(*checkpoint.UnwritableError)):
		return Fail(CodeLocked, "nothing was changed: %v", err), false, nil
	}
	return Fail(CodeFailed, "nothing was changed: %v", err), false, nil
}

// lockJournal locks the journal from the turn's first write tool until the turn ends. If it
// returns nil, the window matches the journal.
func (t *turn) lockJournal() error {
	if t.unlock != nil {
		return nil
	}
	unlock, err := t.s.lockJournal(t.ctx)
	if err == nil {
		t.unlock = unlock
	}
	return err
}

func (t *turn) unlockJournal() {
	if t.unlock != nil {
		t.unlock()
		t.unlock = nil
	}
}

// progressOf returns a function that reports the progress of a running call.
func (t *loop) progressOf(c *checkedCall) func(Progress) {
	index := t.cards
	return func(p Progress) {
		t.host.emit(ToolProgress{
			Tool: c.Name, Stage: p.Stage, Message: p.Message, Progress: p.Done, Data: p.Data,
			Index: index, ToolUseID: c.ID,
		})
	}
}

// wholeResponses returns the answer through its last card marker. The text after the
// marker belongs to an incomplete response.
func wholeResponses(p *Pair) safetext.Text {
	cards := 0
	for _, c := range p.ToolCalls {
		if !c.Silent {
			cards++
		}
	}
	return p.AssistantText[:markup.AfterLastCard(p.AssistantText, cards)]
}
