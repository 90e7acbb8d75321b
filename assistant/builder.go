package assistant

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"winnow/assistant/llm"
	"winnow/assistant/message"
	"winnow/assistant/nearest"
	"winnow/assistant/safetext"
)

// Builder composes what comes next in a conversation. It is immutable: every
// method returns a new builder. Builders may share a conversation; they never
// copy its messages. Nothing is added to the conversation until Conversation,
// Prompt or PromptForImage is called.
type Builder struct {
	conversation *Conversation
	deltas       []delta
	sampling     *llm.Sampling // sampling for the next Run; nil keeps the current one
}

// delta is one change to apply: a message or a new config value.
type delta struct {
	name  string
	apply func(messages *[]message.Message, config *Config) error
}

func (b Builder) with(name string, apply func(*[]message.Message, *Config) error) Builder {
	b.deltas = append(slices.Clip(b.deltas), delta{name, apply})
	return b
}

// message adds a message with the given text. The text is sanitised when the
// delta is created.
func (b Builder) message(name, text string, build func(text string) message.Message) Builder {
	text = string(safetext.Clean(strings.TrimSpace(text)))
	return b.with(name, func(messages *[]message.Message, _ *Config) error {
		if text == "" {
			return ErrEmpty
		}
		*messages = append(*messages, build(text))
		return nil
	})
}

// Agent adds the description of the assistant.
func (b Builder) Agent(text string) Builder {
	return b.message("agent", text, func(text string) message.Message { return &message.Agent{Text: text} })
}

// Assistant adds an example answer by the assistant.
func (b Builder) Assistant(text string) Builder {
	return b.message("assistant", text, func(text string) message.Message { return &message.Text{Text: text, Role: llm.RoleAssistant} })
}

// Context adds background information for the model, as a user message.
func (b Builder) Context(text string) Builder {
	return b.message("context", text, func(text string) message.Message { return &message.Text{Text: text, Role: llm.RoleUser} })
}

// Request adds a user message.
func (b Builder) Request(text string) Builder {
	return b.message("request", text, func(text string) message.Message { return &message.Text{Text: text, Role: llm.RoleUser} })
}

// Sampling sets the sampling parameters for the next Run only.
func (b Builder) Sampling(s llm.Sampling) Builder {
	b.sampling = &s
	return b
}

// Provider sets the preferred provider from here on. It clears a preferred
// model of another provider, unless this builder set that model.
func (b Builder) Provider(name string) Builder {
	return b.with("provider", func(_ *[]message.Message, c *Config) error {
		providers := b.conversation.registry.Providers()
		if !slices.Contains(providers, name) {
			return &llm.ConfigError{Field: "provider", Reason: fmt.Sprintf("there is no provider %q.%s", name, nearest.Hint(name, providers))}
		}
		current := c.Provider // provider of the preferred model
		if p, _, found := strings.Cut(c.Model, "/"); found && slices.Contains(providers, p) {
			current = p
		}
		if current != "" && current != name && c.Model == b.conversation.config.Model {
			c.Model = ""
		}
		c.Provider = name
		return nil
	})
}

// Model sets the preferred model from here on: "provider/name", or just the
// name within the preferred provider.
func (b Builder) Model(name string) Builder {
	return b.with("model", func(_ *[]message.Message, c *Config) error {
		if name == "" {
			return &llm.ConfigError{Field: "model", Reason: "the name is empty"}
		}
		if p, _, found := strings.Cut(name, "/"); found && slices.Contains(b.conversation.registry.Providers(), p) {
			c.Provider = p
		}
		c.Model = name
		return nil
	})
}

// Tools adds tools to the conversation.
func (b Builder) Tools(tools ...Tool) Builder {
	return b.with("tools", func(_ *[]message.Message, c *Config) error {
		all := append(slices.Clip(c.Tools), tools...)
		if _, err := newToolbox(all); err != nil {
			return err
		}
		c.Tools = all
		return nil
	})
}

// Conversation applies the deltas and returns the conversation, ready to run.
// If one of them fails, none is applied and the error is a *DeltaError. A
// second call applies them again.
func (b Builder) Conversation() (*Conversation, error) {
	if b.conversation == nil || b.conversation.registry == nil {
		return nil, &llm.ConfigError{Field: "conversation", Reason: "call Continuation on a conversation from NewConversation to get a builder"}
	}
	c := b.conversation
	var messages []message.Message
	config := c.config
	for _, d := range b.deltas {
		if err := d.apply(&messages, &config); err != nil {
			return nil, &DeltaError{d.name, err}
		}
	}
	if config.Model != c.config.Model || config.Provider != c.config.Provider {
		if err := checkModel(c.registry, config); err != nil {
			return nil, &DeltaError{"model", err}
		}
	}
	*c.messages = append(*c.messages, messages...)
	c.config = config
	if b.sampling != nil {
		c.sampling = *b.sampling
	}
	return c, nil
}

// Prompt applies the deltas, runs the conversation and returns the assistant's
// last text, even if there is an error.
func (b Builder) Prompt(ctx context.Context) (string, error) {
	c, err := b.Conversation()
	if err != nil {
		return "", err
	}
	text := ""
	for m, err := range c.Run(ctx) {
		if err != nil {
			return text, err
		}
		if t, ok := m.(*message.Text); ok {
			text = t.Text
		}
	}
	return text, nil
}

// PromptForImage applies the deltas and returns one image that the model
// generates from the agent and user messages.
func (b Builder) PromptForImage(ctx context.Context) (llm.Image, error) {
	c, err := b.Conversation()
	if err != nil {
		return llm.Image{}, err
	}
	model, name, _, err := c.choose(true)
	if err != nil {
		return llm.Image{}, err
	}
	imageModel, ok := model.(llm.ImageModel)
	if !ok {
		return llm.Image{}, &llm.ConfigError{Field: "model", Reason: "this endpoint cannot generate images"}
	}
	var texts []string
	for _, m := range *c.messages {
		switch m := m.(type) {
		case *message.Agent:
			texts = append(texts, m.Text)
		case *message.Text:
			if m.Role == llm.RoleUser {
				texts = append(texts, m.Text)
			}
		case *message.ToolCall:
		}
	}
	return imageModel.Image(ctx, name, strings.Join(texts, "\n\n"))
}
