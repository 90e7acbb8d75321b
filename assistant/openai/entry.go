package openai

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"winnow/assistant"
)

// entry is one element of a list of models, as far as it tells something. The
// fields are those of OpenAI, OpenRouter, vLLM, llama.cpp, LM Studio, Together,
// Mistral, LiteLLM and the enriched list of LLM-API-Key-Proxy.
type entry struct {
	id       string
	name     string // in place of a missing id
	mode     string // or type: "chat", "embedding", …
	contexts [4]int // in the order in which they are believed
	in, out  float64
	tools    verdict
	reasons  verdict
	images   verdict
	noChat   bool
}

// verdict is what an entry says about an ability.
type verdict int8

const (
	untold verdict = iota
	yes
	no
)

// The prices that endpoints give are per token; ours are per million.
const million = 1e6

// readEntry reads an element, leniently: whatever it cannot use it skips. A
// plain string is taken as an id.
func readEntry(raw []byte) entry {
	var e entry
	c := &cursor{b: raw}
	if c.peek() == '"' {
		e.id = c.str()
		return e
	}
	c.object(func(name []byte) { e.field(c, string(name)) })
	if e.id == "" {
		e.id = e.name
	}
	return e
}

func (e *entry) field(c *cursor, name string) {
	switch name {
	case "id":
		e.id = c.str()
	case "name", "model":
		c.strTo(&e.name)
	case "mode", "type":
		c.strTo(&e.mode)
	case "context_window", "max_context_length":
		e.context(0, c.count())
	case "context_length", "max_model_len":
		e.context(1, c.count())
	case "max_input_tokens":
		e.context(2, c.count())
	case "top_provider", "meta", "limits":
		c.object(func(inner []byte) { e.limit(c, string(inner)) })
	case "pricing":
		c.object(func(inner []byte) { e.price(c, string(inner)) })
	case "input_cost_per_token":
		e.in = c.price()
	case "output_cost_per_token":
		e.out = c.price()
	case "capabilities":
		e.capabilities(c)
	case "supported_parameters":
		e.parameters(c)
	case "architecture":
		c.object(func(inner []byte) { e.modalities(c, string(inner)) })
	case "supported_output_modalities":
		e.modalities(c, "output_modalities")
	default:
		c.skip()
	}
}

func (e *entry) context(rank, n int) {
	if n > 0 && e.contexts[rank] == 0 {
		e.contexts[rank] = n
	}
}

func (e *entry) limit(c *cursor, name string) {
	switch name {
	case "n_ctx":
		e.context(0, c.count())
	case "context_length", "max_context_window_tokens":
		e.context(2, c.count())
	case "n_ctx_train":
		e.context(3, c.count())
	default:
		c.skip()
	}
}

// price reads the prices of OpenRouter (per token) and Together (per million).
func (e *entry) price(c *cursor, name string) {
	switch name {
	case "prompt":
		e.in = c.price()
	case "completion":
		e.out = c.price()
	case "input":
		e.in = c.price() / million
	case "output":
		e.out = c.price() / million
	default:
		c.skip()
	}
}

// maxPrice is the highest price of a token that is believed, in dollars.
const maxPrice = 1

func (c *cursor) price() float64 {
	n, ok := c.number()
	if !ok || !(n > 0) || n > maxPrice*million {
		return 0
	}
	return n
}

// capabilities reads an object of flags, or a list of words.
func (e *entry) capabilities(c *cursor) {
	if c.peek() == '[' {
		c.array(func() { e.can(c.str(), yes) })
		return
	}
	c.object(func(name []byte) {
		v := untold
		switch c.peek() {
		case 't':
			v = yes
		case 'f':
			v = no
		}
		ability := string(name)
		c.skip()
		e.can(ability, v)
	})
}

func (e *entry) can(ability string, v verdict) {
	switch ability {
	case "function_calling", "tool_use", "tool_calling", "tools":
		e.tools = v
	case "reasoning", "thinking":
		e.reasons = v
	case "image_generation":
		e.images = v
	case "completion_chat":
		e.noChat = v == no
	}
}

// parameters reads the parameters that OpenRouter says a model takes.
func (e *entry) parameters(c *cursor) {
	if c.peek() != '[' {
		c.skip()
		return
	}
	e.tools, e.reasons = no, no
	c.array(func() {
		switch c.str() {
		case "tools":
			e.tools = yes
		case "reasoning", "include_reasoning":
			e.reasons = yes
		}
	})
}

func (e *entry) modalities(c *cursor, name string) {
	if name != "output_modalities" || c.peek() != '[' {
		c.skip()
		return
	}
	text, any := false, false
	c.array(func() {
		switch any = true; c.str() {
		case "text":
			text = true
		case "image":
			e.images = yes
		}
	})
	e.noChat = e.noChat || any && !text
}

// info is what the rest of the program is told. now is when it was read.
func (e *entry) info(provider string, now time.Time) assistant.ModelInfo {
	info := assistant.ModelInfo{
		ID: provider + "/" + e.id, Source: "live", Retrieved: now,
		Reasons: e.reasons == yes,
		Images:  e.images == yes || containsAny(strings.ToLower(e.id), imageIDs),
		PriceIn: e.in * million, PriceOut: e.out * million,
		NoChat: e.noChat || noChat(e.id, e.mode),
	}
	// An endpoint that says nothing about tools is asked, not doubted.
	info.Tools = e.tools != no && !info.NoChat
	for _, n := range e.contexts {
		if n > 0 {
			info.Context, info.Known = n, true
			break
		}
	}
	return info
}

// The parts of ids that tell what a model is when its entry does not.
var (
	imageIDs = []string{"dall-e", "gpt-image", "imagen", "stable-diffusion", "flux"}
	otherIDs = []string{"embed", "tts", "whisper", "moderation", "transcribe", "rerank", "sora", "veo-", "text-to-speech", "speech-to-text", "davinci-002", "babbage-002", "gpt-3.5-turbo-instruct"}
	// The modes of models that do something else than chat. An unknown mode may chat.
	otherModes = []string{"embed", "image", "audio", "speech", "tts", "stt", "transcri", "moderation", "rerank", "video", "realtime", "ocr"}
)

// noChat reports whether a model with this id and mode cannot chat.
func noChat(id, mode string) bool {
	id = strings.ToLower(id)
	return containsAny(strings.ToLower(mode), otherModes) || containsAny(id, otherIDs) || containsAny(id, imageIDs)
}

// sendable reports whether id can be both shown and sent.
func sendable(id string) bool {
	return utf8.ValidString(id) && !strings.ContainsFunc(id, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	})
}
