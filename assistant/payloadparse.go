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
// chunks may cut it anywhere and the result is always the same. What began like
// JSON and was none is text as a whole, not searched again: a hostile text
// costs no more than any other.
type payloadParser struct {
	types []PayloadType // FromLLM only; no marker is part of another
	held  string        // text that may begin a marker
	open  *PayloadType  // whose marker was read; nil outside
	body  []byte        // what followed the marker so far
	scan  objectScan    // of body
}

// found is what the parser made of a stretch of text: text, a payload or a notice.
type found struct {
	text    string
	payload *Payload
	notice  string // why something that looked like a payload stayed text
}

// write takes a chunk and returns what is certain now.
func (p *payloadParser) write(chunk string) []found { return p.take(nil, chunk) }

// flush returns the rest at the end of the text.
func (p *payloadParser) flush() []found {
	if p.open != nil {
		return p.giveUp(nil, "was not finished")
	}
	out := appendText(nil, p.held)
	p.held = ""
	return out
}

func (p *payloadParser) take(out []found, text string) []found {
	for text != "" {
		if p.open == nil {
			out, text = p.seek(out, text)
			continue
		}
		n, state := p.scan.read(text, maxPayload-len(p.body))
		p.body = append(p.body, text[:n]...)
		text = text[n:]
		switch state {
		case jsonOpen:
		case jsonWhole:
			out = p.close(out)
		case jsonNone:
			out = p.giveUp(out, "")
		case jsonBroken:
			out = p.giveUp(out, "could not be read")
		case jsonLong:
			out = p.giveUp(out, "was too long")
		}
	}
	return out
}

// seek passes text on up to the next marker, and returns what follows that.
func (p *payloadParser) seek(out []found, text string) ([]found, string) {
	text = p.held + text
	p.held = ""
	at, kind := p.next(text)
	if kind == nil {
		keep := p.mayBegin(text)
		p.held = text[len(text)-keep:]
		return appendText(out, text[:len(text)-keep]), ""
	}
	p.open, p.body, p.scan = kind, nil, objectScan{}
	return appendText(out, text[:at]), text[at+len(kind.Marker):]
}

// close reads the JSON after a marker; what cannot be read stays visible.
func (p *payloadParser) close(out []found) []found {
	kind := p.open
	data, err := kind.read(json.RawMessage(strings.TrimSpace(string(p.body))))
	if err != nil {
		out = append(appendText(out, kind.Marker+string(p.body)),
			found{notice: fmt.Sprintf("a %s could not be read and is shown as text: %v", kind.Name, err)})
	} else {
		out = append(out, found{payload: &Payload{Type: kind.Name, Data: data, Summary: kind.summary(data)}})
	}
	p.open, p.body = nil, nil
	return out
}

// giveUp makes text of the marker and what followed it.
func (p *payloadParser) giveUp(out []found, why string) []found {
	out = appendText(out, p.open.Marker+string(p.body))
	if why != "" {
		out = append(out, found{notice: fmt.Sprintf("a %s %s and is shown as text", p.open.Name, why)})
	}
	p.open, p.body = nil, nil
	return out
}

// next finds the first marker in text.
func (p *payloadParser) next(text string) (at int, kind *PayloadType) {
	for i := range p.types {
		if found := strings.Index(text, p.types[i].Marker); found >= 0 && (kind == nil || found < at) {
			at, kind = found, &p.types[i]
		}
	}
	return at, kind
}

// mayBegin is the length of the longest ending of text that a marker may begin with.
func (p *payloadParser) mayBegin(text string) int {
	keep := 0
	for _, t := range p.types {
		keep = max(keep, overlap(text, t.Marker))
	}
	return keep
}

func appendText(out []found, text string) []found {
	if text == "" {
		return out
	}
	return append(out, found{text: text})
}

type jsonState int

const (
	jsonOpen   jsonState = iota // an object, or white space before one, that is not finished
	jsonNone                    // no object begins here
	jsonBroken                  // an object begins that cannot be JSON
	jsonLong                    // an object that is too long
	jsonWhole                   // a whole object
)

// objectScan finds the end of a JSON object in text that comes in pieces. It
// counts braces outside strings; whether what is between them is JSON is for
// the reader to say.
type objectScan struct {
	depth           int
	quoted, escaped bool
}

// read scans up to limit bytes of text and returns how many it took.
func (s *objectScan) read(text string, limit int) (n int, state jsonState) {
	for i := range len(text) {
		if i == limit {
			return i, jsonLong
		}
		c := text[i]
		switch {
		case s.depth == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
		case s.depth == 0 && c != '{':
			return i, jsonNone
		case s.quoted && c < ' ':
			return i, jsonBroken // no string of JSON goes over a line
		case s.escaped:
			s.escaped = false
		case s.quoted && c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = !s.quoted
		case s.quoted:
		case c == '{':
			s.depth++
		case c == '}':
			if s.depth--; s.depth == 0 {
				return i + 1, jsonWhole
			}
		}
	}
	return len(text), jsonOpen
}
