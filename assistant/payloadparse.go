package assistant

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxPayload bounds the JSON after a marker, in bytes. A longer one is text: a
// proposal that nobody can read is not held back while it streams.
const maxPayload = 256 << 10

// payloadParser takes the payloads of a set of types out of streamed text. It
// holds text back only while it may still be a marker or its JSON, so that
// chunks may cut it anywhere and the result is always the same.
type payloadParser struct {
	types []PayloadType // FromLLM only
	held  string
}

// found is what the parser made of a stretch of text: text, a payload or a notice.
type found struct {
	text    string
	payload *Payload
	notice  string // why something that looked like a payload stayed text
}

// write takes a chunk and returns what is certain now.
func (p *payloadParser) write(chunk string) []found {
	p.held += chunk
	return p.drain(false)
}

// flush returns the rest at the end of the text.
func (p *payloadParser) flush() []found { return p.drain(true) }

func (p *payloadParser) drain(end bool) []found {
	var out []found
	for {
		at, kind := p.next()
		if at < 0 {
			keep := 0
			if !end {
				keep = p.mayBegin()
			}
			out = appendText(out, p.held[:len(p.held)-keep])
			p.held = p.held[len(p.held)-keep:]
			return out
		}
		out = appendText(out, p.held[:at])
		p.held = p.held[at:]
		body := p.held[len(kind.Marker):]
		size, state := jsonObject(body)
		switch {
		case state == jsonOpen && !end && len(body) < maxPayload:
			return out // the rest is still to come
		case state != jsonWhole:
			out = appendText(out, kind.Marker)
			if state == jsonOpen {
				out = append(out, found{notice: fmt.Sprintf("a %s was not finished and is shown as text", kind.Name)})
			}
			p.held = body
		default:
			out = append(out, p.take(kind, body[:size])...)
			p.held = body[size:]
		}
	}
}

// take reads the JSON after a marker; what cannot be read stays visible.
func (p *payloadParser) take(kind PayloadType, raw string) []found {
	data, err := kind.read(json.RawMessage(strings.TrimSpace(raw)))
	if err != nil {
		return []found{
			{text: kind.Marker + raw},
			{notice: fmt.Sprintf("a %s could not be read and is shown as text: %v", kind.Name, err)},
		}
	}
	return []found{{payload: &Payload{Type: kind.Name, Data: data, Summary: kind.summary(data)}}}
}

// next finds the first marker in what is held.
func (p *payloadParser) next() (int, PayloadType) {
	at, which := -1, PayloadType{}
	for _, t := range p.types {
		if i := strings.Index(p.held, t.Marker); i >= 0 && (at < 0 || i < at) {
			at, which = i, t
		}
	}
	return at, which
}

// mayBegin is the length of the longest ending of what is held that a marker may begin with.
func (p *payloadParser) mayBegin() int {
	keep := 0
	for _, t := range p.types {
		keep = max(keep, overlap(p.held, t.Marker))
	}
	return keep
}

func appendText(out []found, text string) []found {
	switch {
	case text == "":
		return out
	case len(out) > 0 && out[len(out)-1].text != "":
		out[len(out)-1].text += text
		return out
	}
	return append(out, found{text: text})
}

type jsonState int

const (
	jsonNone  jsonState = iota // no object begins here
	jsonOpen                   // an object, or white space before one, that is not finished
	jsonWhole                  // a whole object
)

// jsonObject finds the object that text begins with, after white space, and
// returns its end. It counts braces outside strings; whether what is between
// them is JSON is for the reader to say.
func jsonObject(text string) (end int, state jsonState) {
	start := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) })
	switch {
	case start < 0:
		return 0, jsonOpen
	case text[start] != '{':
		return 0, jsonNone
	}
	depth, quoted := 0, false
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1, jsonWhole
			}
		}
	}
	return 0, jsonOpen
}
