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
	thoughts  []Thought // the blocks of reasoning
	shown     int       // calls that have a card: the N of the next marker
	response  int       // responses so far
	apart     bool      // the next text starts a new paragraph
	invalid   int       // invalid rounds in a row
	rounds    int       // rounds with tools, the invalid ones left out
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
	// heard is told what the endpoint said of its quotas: limits, nil for none,
	// and the pause that a refusal asked for, 0 for none.
	heard func(limits *RateLimits, wait time.Duration)
	// record keeps the messages of a whole response, durably. The final one
	// is followed by nothing.
	record func(messages []Message, final bool) error
	// approve asks the user about a call that needs it. Its error is ctx's.
	approve func(ctx context.Context, t Tool, args json.RawMessage) (bool, error)
	// before is called ahead of every write tool with the write calls of the
	// response; when it fails, nothing is written.
	before func(writes []ToolCall) error
	// after is called with what a write tool did, before anyone is told.
	after func(ToolCall) error
	// made is called with every call that has a result.
	made func(ToolCall)
	// stop says that the turn shall end after the running response.
	stop func() bool
}

// resume takes up what the pair holds already: nothing, or the whole responses
// of a turn that is tried again. Its limits go on where they were.
func (e *engine) resume() {
	e.text.WriteString(e.pair.AssistantText)
	e.reasoning.WriteString(e.pair.Reasoning)
	for _, b := range PairThoughts(e.pair) {
		e.thoughts = append(e.thoughts, b.Thought)
	}
	e.invalid = e.pair.InvalidRounds
	invalid := map[int]bool{} // responses
	for _, c := range e.pair.ToolCalls {
		if !c.Silent {
			e.shown++
		}
		e.response = c.Response + 1
		invalid[c.Response] = invalid[c.Response] || c.Silent
	}
	for _, bad := range invalid {
		if !bad {
			e.rounds++
		}
	}
}

// What a turn says of its end.
const (
	limitNotice = "Stopped after %d rounds of tool calls. Everything done so far is kept."
	emptyNotice = "The model gave an empty answer."
)

// run goes on until the assistant has said its last word. The error is nil for
// a complete turn, ctx's error for a cancelled one, else a *TurnError.
func (e *engine) run(ctx context.Context) error {
	defer e.settle()
	for {
		e.hooks.emit(Status{"Thinking…"})
		e.apart = e.text.Len() > 0
		a, err := e.respond(ctx)
		if err != nil {
			return e.fail(ctx, err)
		}
		if len(a.calls) == 0 {
			return e.fail(ctx, e.finish(a))
		}
		if a.end.Cut() {
			return &TurnError{Code: CodeInterrupted, Message: "the answer was " + a.end.cutBy() + ", so its tool calls were not run"}
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

// finish takes the final response.
func (e *engine) finish(a answer) error {
	e.settle()
	switch {
	case a.end.Cut():
		e.note("The answer was " + a.end.cutBy() + ".")
	case a.end.Damaged != "":
		e.note("The answer was damaged on its way: " + a.end.Damaged + ".")
	case e.pair.AssistantText == "" && len(e.pair.Payloads) == 0 && e.pair.Suggested == nil:
		e.note(emptyNotice)
	}
	return e.hooks.record([]Message{&TextMessage{a.text, RoleAssistant}}, true)
}

func (e *engine) offerContinue() {
	e.note(fmt.Sprintf(limitNotice, e.rounds))
	e.suggest(Suggested{Actions: []SuggestedAction{{
		Label: "Continue", Action: ActionContinue, Handler: "server", Style: "primary",
	}}})
}

// ActionContinue is the server action that goes on after the limit of rounds.
const ActionContinue = "continue"

// note says something about the turn that stays when the status line is gone.
func (e *engine) note(text string) {
	switch {
	case e.pair.Notice == "":
		e.pair.Notice = text
	case !strings.Contains(e.pair.Notice, text):
		e.pair.Notice += "\n" + text
	}
}

// fail turns an error into the one that ends the turn; nil stays nil.
func (e *engine) fail(ctx context.Context, err error) error {
	var f *TurnError
	var re *RequestError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f):
		return f
	case errors.As(err, &re):
		return &TurnError{Code: string(re.Kind), Message: re.Sentence(), Err: re}
	}
	return &TurnError{Code: string(KindUnknown), Message: err.Error(), Err: err}
}

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
	e.settleThoughts()
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

// complete gives a payload its id and summary, and JSON for data.
func (e *engine) complete(p *Payload) {
	if p.ID == "" {
		p.ID = NewID(e.now())[16:] // the random part: short enough to be quoted by a model
	}
	p.Data = validOrQuoted(string(p.Data))
	for _, t := range e.types {
		if t.Name == p.Type && p.Summary == "" {
			p.Summary = t.summary(p.Data)
		}
	}
	if p.Summary == "" {
		p.Summary = p.Type
	}
}
