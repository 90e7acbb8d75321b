package markup

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Bounds of the payloads in a response. What is beyond them is text: a proposal
// that no person can read is not held back while it streams.
const (
	maxPayload  = 256 << 10 // bytes of JSON after a marker
	maxPayloads = 64        // that are read, valid or not
)

// Parser takes the payloads of a set of types out of streamed text. It
// holds text back only while it may still be a marker or its JSON, so that
// chunks may cut it anywhere and the result is always the same. What began like
// JSON and was none is text as a whole, not searched again: the time is linear
// in the text.
type Parser struct {
	kinds   []Kind
	markers *regexp.Regexp // any of their markers
	held    string         // text that may begin a marker
	open    *Kind          // whose marker was read; nil outside
	body    []byte         // what followed the marker so far
	scan    objectScan     // of body
	read    int            // payloads that were tried to read

	text strings.Builder // certain text that was not returned yet
	out  []Stretch
}

// Kind is a kind of payload that a model may write.
type Kind struct {
	Name   string
	Marker string // none is part of another
	// Read turns the JSON after the marker into the data. An error leaves the
	// text visible.
	Read func(raw json.RawMessage) (json.RawMessage, error)
}

// Stretch is what the parser made of a stretch of text: text, a payload or a
// notice.
type Stretch struct {
	Text   string
	Kind   string          // of the payload, its name; "" is none
	Data   json.RawMessage // of the payload
	Notice string          // why something that looked like a payload stayed text
}

// NewParser returns a parser for one answer.
func NewParser(kinds []Kind) *Parser {
	p := &Parser{kinds: kinds}
	var markers []string
	for _, k := range kinds {
		markers = append(markers, regexp.QuoteMeta(k.Marker))
	}
	if len(markers) > 0 {
		p.markers = regexp.MustCompile(strings.Join(markers, "|"))
	}
	return p
}

// Write takes a chunk and returns what is certain now.
func (p *Parser) Write(chunk string) []Stretch {
	text := p.held + chunk
	p.held = ""
	for text != "" {
		if p.open == nil {
			text = p.seek(text)
			continue
		}
		n, state := p.scan.read(text, maxPayload-len(p.body))
		p.body = append(p.body, text[:n]...)
		text = text[n:]
		switch state {
		case jsonOpen:
		case jsonWhole:
			p.closePayload()
		case jsonNone:
			p.giveUp("")
		case jsonBroken:
			p.giveUp("could not be read")
		case jsonLong:
			p.giveUp("was too long")
		}
	}
	return p.certain()
}

// Flush returns the rest at the end of the text.
func (p *Parser) Flush() []Stretch {
	if p.open != nil {
		p.giveUp("was not finished")
	}
	p.text.WriteString(p.held)
	p.held = ""
	return p.certain()
}

func (p *Parser) certain() []Stretch {
	p.flushText()
	out := p.out
	p.out = nil
	return out
}

func (p *Parser) flushText() {
	if p.text.Len() > 0 {
		p.out = append(p.out, Stretch{Text: p.text.String()})
		p.text.Reset()
	}
}

// seek passes text on up to the next marker, and returns what is behind it.
func (p *Parser) seek(text string) (rest string) {
	var at []int
	if p.markers != nil && p.read < maxPayloads {
		at = p.markers.FindStringIndex(text)
	}
	if at == nil {
		hold := 0 // the longest ending that a marker may begin with
		for _, t := range p.kinds {
			hold = max(hold, overlap(text, t.Marker))
		}
		p.text.WriteString(text[:len(text)-hold])
		p.held = text[len(text)-hold:]
		return ""
	}
	p.text.WriteString(text[:at[0]])
	i := slices.IndexFunc(p.kinds, func(t Kind) bool { return t.Marker == text[at[0]:at[1]] })
	p.open, p.body, p.scan = &p.kinds[i], nil, objectScan{}
	return text[at[1]:]
}

// closePayload reads the JSON after a marker; what cannot be read stays visible.
func (p *Parser) closePayload() {
	kind := p.open
	data, err := kind.Read(json.RawMessage(strings.TrimSpace(string(p.body))))
	if err != nil {
		p.giveUp(fmt.Sprintf("could not be read (%v)", err))
		return
	}
	p.read++
	p.flushText()
	p.out = append(p.out, Stretch{Kind: kind.Name, Data: data})
	p.open, p.body = nil, nil
}

// giveUp makes text of the marker and what followed it, with a notice unless why
// is "".
func (p *Parser) giveUp(why string) {
	kind := p.open
	p.text.WriteString(kind.Marker)
	p.text.Write(p.body)
	p.open, p.body = nil, nil
	if why != "" {
		p.read++
		p.flushText()
		p.out = append(p.out, Stretch{Notice: fmt.Sprintf("a %s %s and is shown as text", kind.Name, why)})
	}
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
