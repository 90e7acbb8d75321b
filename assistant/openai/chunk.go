package openai

import (
	"strings"

	"winnow/assistant"
)

// chunk is what one frame says, a delta or a whole completion alike.
type chunk struct {
	text      string
	refusal   string // said instead of an answer; it is shown as one
	reasoning string // the first of reasoning_content and reasoning that says something
	details   string // reasoning_details: mostly a copy of reasoning
	finish    string
	calls     []callDelta
	usage     *assistant.Usage
	failure   *failure // the endpoint's "error", when it is more than null
	choices   bool     // whether there was a "choices" at all
}

// callDelta is a piece of a tool call.
type callDelta struct {
	index     int64
	indexed   bool // the endpoint gave a usable index
	id        string
	name      string
	arguments string
}

// maxIndex is the highest tool index taken at its word; anything else is as
// good as none.
const maxIndex = 1 << 31

// readChunk reads data. It reports false when that is not one JSON object.
func readChunk(data []byte) (chunk, bool) {
	var ch chunk
	c := cursor{b: data}
	if c.peek() != '{' {
		return ch, false
	}
	c.object(func(name []byte) {
		switch string(name) {
		case "choices":
			ch.choices = true
			c.array(func() { ch.choice(&c) })
		case "usage":
			ch.readUsage(&c)
		case "error":
			ch.failure = readFailure(&c)
		default:
			c.skip()
		}
	})
	return ch, c.whole()
}

// choice reads one choice. Only the first is asked for: others are skipped.
func (ch *chunk) choice(c *cursor) {
	first, delta := true, false
	c.object(func(name []byte) {
		switch string(name) {
		case "index":
			n, ok := c.number()
			first = !ok || n == 0
		case "delta":
			delta = c.peek() == '{'
			ch.message(c, first)
		case "message": // a whole completion; some send it beside each delta, too
			ch.message(c, first && !delta)
			ch.number()
		case "finish_reason":
			if reason := c.str(); first && reason != "" && reason != "null" {
				ch.finish = reason
			}
		default:
			c.skip()
		}
	})
}

// number gives the calls of a whole message, which have no index, their place.
func (ch *chunk) number() {
	for i := range ch.calls {
		if d := &ch.calls[i]; !d.indexed {
			d.index, d.indexed = int64(i), true
		}
	}
}

// message reads a delta or a message.
func (ch *chunk) message(c *cursor, wanted bool) {
	if !wanted {
		c.skip()
		return
	}
	var second string
	c.object(func(name []byte) {
		switch string(name) {
		case "content":
			ch.text = content(c)
		case "refusal":
			c.strTo(&ch.refusal)
		case "reasoning_content":
			c.strTo(&ch.reasoning)
		case "reasoning":
			c.strTo(&second)
		case "reasoning_details":
			ch.details = reasoningDetails(c)
		case "tool_calls":
			c.array(func() { ch.calls = append(ch.calls, readCall(c)) })
		case "function_call": // the form before tool_calls
			if c.peek() == '{' {
				ch.calls = append(ch.calls, readFunction(c))
			} else {
				c.skip()
			}
		default:
			c.skip()
		}
	})
	if ch.reasoning == "" {
		ch.reasoning = second
	}
}

// content reads text that is a string or a list of parts.
func content(c *cursor) string {
	if c.peek() != '[' {
		return c.str()
	}
	var all strings.Builder
	c.array(func() {
		if c.peek() == '"' {
			all.WriteString(c.str())
			return
		}
		c.object(func(name []byte) {
			if string(name) == "text" {
				all.WriteString(c.str())
			} else {
				c.skip()
			}
		})
	})
	return all.String()
}

// reasoningDetails reads the texts and summaries of reasoning_details.
func reasoningDetails(c *cursor) string {
	var all strings.Builder
	c.array(func() {
		c.object(func(name []byte) {
			switch string(name) {
			case "text", "summary":
				all.WriteString(c.str())
			default:
				c.skip()
			}
		})
	})
	return all.String()
}

func readCall(c *cursor) callDelta {
	var d callDelta
	c.object(func(name []byte) {
		switch string(name) {
		case "index":
			if n, ok := c.number(); ok && n >= 0 && n <= maxIndex && n == float64(int64(n)) {
				d.index, d.indexed = int64(n), true
			}
		case "id":
			d.id = c.str()
		case "function", "custom":
			f := readFunction(c)
			d.name, d.arguments = f.name, f.arguments
		default:
			c.skip()
		}
	})
	return d
}

// readFunction reads a name and its arguments, which some send as an object
// instead of its text.
func readFunction(c *cursor) callDelta {
	var d callDelta
	c.object(func(name []byte) {
		switch string(name) {
		case "name":
			d.name = c.str()
		case "arguments", "input":
			if c.peek() == '{' {
				d.arguments = string(c.value())
			} else {
				d.arguments = c.str()
			}
		default:
			c.skip()
		}
	})
	return d
}

func (ch *chunk) readUsage(c *cursor) {
	if c.peek() != '{' {
		c.skip()
		return
	}
	u := &assistant.Usage{}
	c.object(func(name []byte) {
		switch string(name) {
		case "prompt_tokens":
			u.Prompt = c.count()
		case "completion_tokens":
			u.Completion = c.count()
		case "prompt_tokens_details", "completion_tokens_details":
			c.object(func(name []byte) {
				switch string(name) {
				case "cached_tokens":
					u.Cached = c.count()
				case "reasoning_tokens":
					u.Reasoning = c.count()
				default:
					c.skip()
				}
			})
		default:
			c.skip()
		}
	})
	ch.usage = u
}

// maxCount bounds what an endpoint may claim to have counted, so that sums of
// many claims stay numbers.
const maxCount = 1 << 40

// count reads a number that counts something: 0 for anything else.
func (c *cursor) count() int {
	n, ok := c.number()
	if !ok || !(n > 0) || n > maxCount {
		return 0
	}
	return int(n)
}
