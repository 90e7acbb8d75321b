package assistant

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"winnow/assistant/attachment"
	"winnow/assistant/budget"
	"winnow/assistant/llm"
	"winnow/assistant/message"
	"winnow/assistant/nearest"
)

// Config configures a Conversation.
type Config struct {
	Provider   string        // preferred provider; "" means any
	Model      string        // preferred model: "provider/name", or just the name if Provider is set; "" means any
	Selection  llm.Selection // nil means DefaultSelection
	Tools      []Tool
	Reasoning  bool // use only models that reason
	Iterations int  // limit on tool-call rounds per Run; 0 means DefaultIterations
}

// Conversation owns a message.List and sends it to models. It must be used by
// one goroutine at a time.
type Conversation struct {
	registry *llm.Registry
	messages *message.List
	config   Config
	sampling llm.Sampling // sampling for the next Run
}

// NewConversation returns a conversation that uses the models of a registry.
// messages may be nil, or a stored list, which the conversation then owns. For
// an invalid config, such as an unknown provider, the error is a
// *llm.ConfigError.
func NewConversation(registry *llm.Registry, messages *message.List, config Config) (*Conversation, error) {
	if registry == nil {
		return nil, &llm.ConfigError{Field: "registry", Reason: "a conversation needs models"}
	}
	if _, err := newToolbox(config.Tools); err != nil {
		return nil, err
	}
	if err := checkModel(registry, config); err != nil {
		return nil, err
	}
	if messages == nil {
		messages = &message.List{}
	}
	return &Conversation{registry: registry, messages: messages, config: config}, nil
}

// checkModel rejects a preferred provider or model that DefaultSelection would
// not find. Another Selection may use names of its own, so nothing is checked
// if one is set.
func checkModel(registry *llm.Registry, config Config) error {
	providers := registry.Providers()
	switch {
	case config.Selection != nil:
		return nil
	case config.Provider != "" && !slices.Contains(providers, config.Provider):
		return &llm.ConfigError{Field: "provider", Reason: fmt.Sprintf("there is no provider %q.%s", config.Provider, nearest.Hint(config.Provider, providers))}
	case config.Model == "":
		return nil
	}
	id := config.Model
	if config.Provider != "" && !strings.HasPrefix(id, config.Provider+"/") {
		id = config.Provider + "/" + id
	}
	_, _, _, err := registry.Open(id)
	return err
}

// Messages returns the conversation's own list, not a copy.
func (c *Conversation) Messages() *message.List { return c.messages }

// Config returns the current configuration.
func (c *Conversation) Config() Config { return c.config }

// Continuation returns a builder for this conversation. It may be used while
// Run is still yielding: the next request includes the messages it adds. Config
// changes apply from the next Run.
func (c *Conversation) Continuation() Builder { return Builder{conversation: c} }

// Run continues the conversation until the assistant's final text. It yields
// each message when it is appended, and each tool call as soon as its result is
// available. It ends at the first error: a *llm.ConfigError, a *TurnError,
// ErrRounds or the error of ctx. Messages added before the error stay. Breaking
// out of the loop stops the conversation after the current response.
func (c *Conversation) Run(ctx context.Context) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		if c.registry == nil {
			yield(nil, &llm.ConfigError{Field: "conversation", Reason: "create the conversation with NewConversation"})
			return
		}
		r, err := c.newRun()
		c.sampling = llm.Sampling{}
		if err != nil {
			yield(nil, err)
			return
		}
		r.ctx, r.cancel = context.WithCancelCause(ctx)
		defer r.cancel(nil)
		r.yield = func(m message.Message) bool { return yield(m, nil) }
		err = r.respondAll()
		switch {
		case r.stopped:
		case err != nil:
			yield(nil, err)
		case r.rounds >= r.iterations:
			yield(nil, ErrRounds)
		}
	}
}

// run is one Run of a Conversation: the loop without confirmations,
// checkpoints, trimming and events.
type run struct {
	loop
	yield   func(message.Message) bool // returns false to stop the run after the current response
	stopped bool                       // yield returned false
}

func (r *run) nextRequest() llm.Request             { return r.requestOf(*r.list) }
func (r *run) overflow(err *llm.RequestError) error { return err }
func (r *run) responded(bool) error                 { return nil }
func (r *run) afterWrite(*checkedCall) error        { return nil }
func (r *run) emit(Event)                           {}
func (r *run) shouldStop() bool                     { return r.stopped }
func (r *run) added(m message.Message)              { r.stopped = r.stopped || !r.yield(m) }

func (r *run) runTool(calls []checkedCall) (result ToolResult, wrote bool, err error) {
	result = calls[0].tool.Call(r.ctx, calls[0].Arguments, func(Progress) {})
	if result.Payload != nil {
		result.Payload = new(r.fillPayload(*result.Payload))
	}
	return result, false, nil
}

// newRun prepares a run with the selected model.
func (c *Conversation) newRun() (*run, error) {
	model, name, id, err := c.choose(false)
	if err != nil {
		return nil, err
	}
	tools, err := newToolbox(c.config.Tools)
	if err != nil {
		return nil, err
	}
	r := &run{loop: loop{
		registry: c.registry, model: model, name: name, modelID: id, sampling: c.sampling, tools: tools,
		iterations: cmp.Or(max(c.config.Iterations, 0), DefaultIterations), now: time.Now, log: slog.New(slog.DiscardHandler), list: c.messages,
		answer: answer{pair: &Pair{}},
	}}
	r.host = r
	return r, nil
}

// choose selects the model for the next request. name is the endpoint's name
// for the model; id is "provider/name".
func (c *Conversation) choose(images bool) (model llm.Model, name, id string, err error) {
	selection := c.config.Selection
	if selection == nil {
		selection = llm.DefaultSelection
	}
	need := llm.Need{
		Provider: c.config.Provider, Model: c.config.Model, Images: images,
		Tools: len(c.config.Tools) > 0 && !images, Reasoning: c.config.Reasoning && !images, Tokens: c.estimate(),
	}
	id, err = selection(need, c.registry.Models())
	if err != nil {
		return nil, "", "", err
	}
	model, name, _, err = c.registry.Open(id)
	return model, name, id, err
}

// estimate returns the estimated size of the messages in tokens.
func (c *Conversation) estimate() int {
	sum := 0
	for _, m := range c.messages.Wire() {
		sum += budget.Estimate(m.Content) + attachment.Tokens(m.Pictures)
		for _, call := range m.Calls {
			sum += budget.Estimate(call.Arguments)
		}
	}
	return sum
}
