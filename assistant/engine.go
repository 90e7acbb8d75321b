package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// engine carries out one turn: responses joined by tool calls. It knows models
// and tools; what surrounds the turn (window, history, checkpoints, budget) is
// its owner's business, reached through the hooks.
type engine struct {
	model  Model
	tools  *toolbox
	types  []PayloadType // the payloads a model may write
	limits Limits
	hooks  hooks
	now    func() time.Time

	pair      *Pair // what the turn has produced so far; its texts after settle
	text      strings.Builder
	reasoning strings.Builder
	shown     int  // calls that have a card: the N of the next marker
	response  int  // responses so far
	apart     bool // the next text starts a new paragraph
	invalid   int  // invalid rounds in a row
	rounds    int  // rounds with tools, the invalid ones left out
}

// Limits bound a turn. The zero value is the default.
type Limits struct {
	Iterations int // rounds of tool calls in a turn; 0 is 5
	Invalid    int // invalid rounds in a row that end the turn; 0 is 4
}

func (l Limits) orDefault() Limits {
	if l.Iterations <= 0 {
		l.Iterations = 5
	}
	if l.Invalid <= 0 {
		l.Invalid = 4
	}
	return l
}

// hooks are what an engine asks of the turn's owner. All are set.
type hooks struct {
	emit    func(Event)
	request func() Request
	// overflow makes the next request smaller; its error ends the turn.
	overflow func(*RequestError) error
	// record keeps the messages of a whole response, durably.
	record func([]Message) error
	// approve asks the user about a call that needs it.
	approve func(ctx context.Context, t Tool, args json.RawMessage) (bool, error)
	// before is called ahead of every write tool with the write calls of the
	// response; when it fails, nothing is written.
	before func(writes []ToolCall) error
	// after is called with what a write tool did.
	after func(ToolCall) error
	// stop says that the turn shall end after the running response.
	stop func() bool
}

// failure ends a turn with a code.
type failure struct {
	code    string
	message string
}

func (f *failure) Error() string { return f.code + ": " + f.message }

// limitNotice is what a turn says that used up its rounds.
const limitNotice = "Stopped after %d rounds of tool calls. Everything done so far is kept."

// run goes on until the assistant has said its last word. The error is nil for
// a complete turn, ctx's error for a cancelled one, else a *failure.
func (e *engine) run(ctx context.Context) error {
	defer e.settle()
	for {
		e.hooks.emit(Status{"Thinking…"})
		a, err := e.respond(ctx)
		if err != nil {
			return e.fail(ctx, err)
		}
		if len(a.calls) == 0 {
			e.settle()
			return e.hooks.record([]Message{&TextMessage{a.text, RoleAssistant}})
		}
		if a.end.Cut() {
			return &failure{CodeInterrupted, "the answer was cut at its length limit, so its tool calls were not run"}
		}
		if err := e.round(ctx, a); err != nil {
			return e.fail(ctx, err)
		}
		if e.hooks.stop() {
			return nil
		}
		if e.rounds >= e.limits.Iterations {
			e.offerContinue()
			return nil
		}
	}
}

func (e *engine) offerContinue() {
	e.pair.Notice = fmt.Sprintf(limitNotice, e.rounds)
	e.suggest(Suggested{Actions: []SuggestedAction{{
		Label: "Continue", Action: ActionContinue, Handler: "server", Style: "primary",
	}}})
}

// ActionContinue is the server action that goes on after the limit of rounds.
const ActionContinue = "continue"

// fail turns an error into the failure that ends the turn.
func (e *engine) fail(ctx context.Context, err error) error {
	var f *failure
	var re *RequestError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f):
		return f
	case errors.As(err, &re):
		words := re.Message
		if words == "" && re.Err != nil {
			words = re.Err.Error()
		}
		if re.Status != 0 {
			words = fmt.Sprintf("%s (status %d)", words, re.Status)
		}
		return &failure{string(re.Kind), words}
	}
	return &failure{string(KindUnknown), err.Error()}
}

// round runs the calls of a whole response, in order, each on its own.
func (e *engine) round(ctx context.Context, a answer) error {
	checked := make([]checkedCall, len(a.calls))
	wrong := ""
	for i, c := range a.calls {
		checked[i] = e.check(c, i)
		if r := checked[i].invalid; r != nil && wrong == "" {
			wrong = r.Message
		}
	}
	messages := make([]Message, 0, len(checked))
	for i := range checked {
		if err := e.call(ctx, checked, i); err != nil {
			return err
		}
		m := callMessage(*e.lastCall())
		if i == 0 {
			m.Message, m.joined = a.text, false
		}
		messages = append(messages, m)
	}
	e.response++
	e.settle()
	if err := e.hooks.record(messages); err != nil {
		return err
	}
	return e.count(wrong)
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
		return &failure{CodeInvalidToolCalls, fmt.Sprintf("the model made %d invalid tool calls in a row; the last: %s", e.invalid, wrong)}
	case e.invalid >= 2:
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

func (e *engine) check(c Call, i int) checkedCall {
	t, args, invalid := e.tools.check(c)
	if invalid != nil {
		args = validOrQuoted(c.Arguments)
	}
	id := c.ID
	if id == "" {
		id = fmt.Sprintf("call_%d_%d", e.response, i) // some endpoints give none
	}
	return checkedCall{
		ToolCall: ToolCall{ID: id, Name: c.Name, Arguments: args, Response: e.response, Silent: invalid != nil},
		tool:     t, invalid: invalid,
	}
}

// validOrQuoted keeps arguments that are not JSON as a JSON string.
func validOrQuoted(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	raw, _ := encodePlain(text)
	return raw
}

// call runs one checked call of a response and adds it to the pair.
func (e *engine) call(ctx context.Context, all []checkedCall, i int) error {
	c := &all[i]
	if c.invalid != nil {
		c.Result = c.invalid
		e.pair.ToolCalls = append(e.pair.ToolCalls, c.ToolCall)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	index := e.shown
	e.shown++
	e.breakParagraph()
	e.hooks.emit(Status{"Running " + c.Name + "…"})
	e.hooks.emit(ToolStart{Tool: c.Name, Input: c.Arguments, ToolUseID: c.ID, Index: index})
	began := e.now()
	result := e.carryOut(ctx, all, i, index)
	c.Result, c.Took = &result, e.now().Sub(began)
	e.pair.ToolCalls = append(e.pair.ToolCalls, c.ToolCall)
	if p := result.Payload; p != nil {
		e.pair.Payloads = append(e.pair.Payloads, *p)
	}
	if c.tool.Write {
		if err := e.hooks.after(c.ToolCall); err != nil {
			return err
		}
	}
	e.hooks.emit(ToolComplete{
		Tool: c.Name, Index: index, ToolUseID: c.ID, Success: result.Success,
		Message: result.Message, ErrorCode: result.ErrorCode, Data: result.Data, Payload: result.Payload,
	})
	e.addText(marker(index))
	e.apart = true
	return nil
}

// carryOut asks, makes the checkpoint and runs the tool.
func (e *engine) carryOut(ctx context.Context, all []checkedCall, i, index int) ToolResult {
	c := &all[i]
	allowed, err := e.hooks.approve(ctx, c.tool, c.Arguments)
	switch {
	case err != nil && ctx.Err() != nil:
		return Fail(CodeCancelled, "cancelled before it ran")
	case err != nil:
		return Fail(CodeFailed, "%v", err)
	case !allowed:
		return Fail(CodeDeclined, "declined by the user")
	}
	if c.tool.Write {
		if err := e.hooks.before(writesFrom(all, i)); err != nil {
			return Fail(CodeFailed, "nothing was changed: %v", err)
		}
	}
	r := c.tool.run(ctx, c.Arguments, func(p Progress) {
		e.hooks.emit(ToolProgress{
			Tool: c.Name, Stage: p.Stage, Message: p.Message, Progress: p.Done, Data: p.Data,
			Index: index, ToolUseID: c.ID,
		})
	})
	if r.Payload != nil {
		e.complete(r.Payload)
	}
	return r
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

func (e *engine) lastCall() *ToolCall { return &e.pair.ToolCalls[len(e.pair.ToolCalls)-1] }

// addText adds to the assistant's text and tells those who watch.
func (e *engine) addText(text string) {
	e.text.WriteString(text)
	e.hooks.emit(TextDelta{text})
}

// settle writes the texts into the pair. They grow in builders, so that a
// chunk costs the same at the end of a long answer as at its beginning.
func (e *engine) settle() {
	e.pair.AssistantText = strings.TrimSpace(e.text.String())
	e.pair.Reasoning = strings.TrimSpace(e.reasoning.String())
}

// breakParagraph sets what follows apart from the text before it.
func (e *engine) breakParagraph() {
	if t := e.text.String(); t != "" && !strings.HasSuffix(t, "\n\n") && !strings.HasSuffix(t, "]]") {
		e.addText("\n\n")
	}
	e.apart = false
}

// suggest adds to what is offered for the next step.
func (e *engine) suggest(s Suggested) {
	if e.pair.Suggested == nil {
		e.pair.Suggested = &Suggested{}
	}
	e.pair.Suggested.Values = append(e.pair.Suggested.Values, s.Values...)
	e.pair.Suggested.Actions = append(e.pair.Suggested.Actions, s.Actions...)
}

// complete gives a payload its id and summary.
func (e *engine) complete(p *Payload) {
	if p.ID == "" {
		p.ID = NewID(e.now())[16:] // the random part: short enough to be quoted by a model
	}
	for _, t := range e.types {
		if t.Name == p.Type && p.Summary == "" {
			p.Summary = t.summary(p.Data)
		}
	}
}
