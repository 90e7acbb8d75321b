package markup

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"winnow/assistant/safetext"
)

// Limits of the payloads in a response. Anything beyond them is text, so that a proposal too long to read is not held
// back while it streams.
const (
	maxPayload  = 256 << 10 // bytes of JSON after a marker
	maxPayloads = 64        // number of payloads, valid or not
)

// Parser extracts the payloads of some Kinds from streamed text. It holds text back only while it may still be a
// marker or its JSON, so the result does not depend on where chunks end. What starts like JSON but turns out to be
// invalid becomes text and is not searched again, so the time is linear in the text.
type Parser struct {
	kinds   []Kind
	markers *regexp.Regexp   // matches any marker of kinds
	held    safetext.Text    // text that may be the beginning of a marker
	open    *Kind            // kind of the payload being read; nil between payloads
	body    safetext.Builder // the marker and the text received so far after it
	scan    objectScan       // scan state of body
	tried   int              // number of payloads so far, valid or not

	text safetext.Builder // text not yet added to out
	out  []Segment
}

// Kind is a kind of payload that a model may write.
type Kind struct {
	Name   string
	Marker string // must not contain the marker of another Kind
	// Read converts the JSON after the marker to the data. If it returns an error, the text stays visible.
	Read func(raw json.RawMessage) (json.RawMessage, error)
}

// Segment is a part of the parsed text: text, a payload or a notice.
type Segment struct {
	Text   safetext.Text
	Kind   string          // name of the payload's Kind; "" if it is not a payload
	Data   json.RawMessage // data of the payload
	Notice string          // why something that looked like a payload is shown as text
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

// Write parses a chunk and returns the completed segments.
func (p *Parser) Write(chunk safetext.Text) []Segment {
	text := p.held + chunk
	p.held = ""
	for text != "" {
		if p.open == nil {
			text = p.seek(text)
			continue
		}
		n, state := p.scan.read(text, len(p.open.Marker)+maxPayload-p.body.Len())
		p.body.Write(text[:n])
		text = text[n:]
		switch state {
		case jsonIncomplete:
		case jsonComplete:
			p.closePayload()
		case jsonAbsent:
			p.giveUp("")
		case jsonInvalid:
			p.giveUp("could not be read")
		case jsonTooLong:
			p.giveUp("was too long")
		}
	}
	return p.flush()
}

// Flush returns the remaining segments at the end of the text.
func (p *Parser) Flush() []Segment {
	if p.open != nil {
		p.giveUp("was not finished")
	}
	p.text.Write(p.held)
	p.held = ""
	return p.flush()
}

// flush returns the segments that have been parsed but not returned yet.
func (p *Parser) flush() []Segment {
	p.flushText()
	out := p.out
	p.out = nil
	return out
}

func (p *Parser) flushText() {
	if p.text.Len() > 0 {
		p.out = append(p.out, Segment{Text: p.text.From(0)})
		p.text.Reset()
	}
}

// seek adds text up to the next marker to the output and returns what follows the marker. Without a marker, it holds
// back the end of text that may be the beginning of one.
func (p *Parser) seek(text safetext.Text) (rest safetext.Text) {
	var at []int
	if p.markers != nil && p.tried < maxPayloads {
		at = p.markers.FindStringIndex(string(text))
	}
	if at == nil {
		hold := 0 // length of the longest suffix that may be the beginning of a marker
		for _, k := range p.kinds {
			hold = max(hold, overlap(string(text), k.Marker))
		}
		p.text.Write(text[:len(text)-hold])
		p.held = text[len(text)-hold:]
		return ""
	}
	p.text.Write(text[:at[0]])
	marker := text[at[0]:at[1]]
	i := slices.IndexFunc(p.kinds, func(k Kind) bool { return k.Marker == string(marker) })
	p.open, p.scan = &p.kinds[i], objectScan{}
	p.body.Reset()
	p.body.Write(marker)
	return text[at[1]:]
}

// closePayload reads the JSON after a marker. If that fails, marker and JSON become text.
func (p *Parser) closePayload() {
	kind := p.open
	data, err := kind.Read(json.RawMessage(p.body.From(len(kind.Marker)).TrimSpace()))
	if err != nil {
		p.giveUp(fmt.Sprintf("could not be read (%v)", err))
		return
	}
	p.tried++
	p.flushText()
	p.out = append(p.out, Segment{Kind: kind.Name, Data: data})
	p.open = nil
}

// giveUp converts the marker and the text after it to text, with a notice unless reason is "".
func (p *Parser) giveUp(reason string) {
	kind := p.open
	p.text.Write(p.body.From(0))
	p.open = nil
	if reason != "" {
		p.tried++
		p.flushText()
		p.out = append(p.out, Segment{Notice: fmt.Sprintf("A payload of type %s %s and is shown as text", kind.Name, reason)})
	}
}

type jsonState int

const (
	jsonIncomplete jsonState = iota // only white space, or the beginning of an object
	jsonAbsent                      // there is no object
	jsonInvalid                     // the object is not valid JSON
	jsonTooLong                     // the object is too long
	jsonComplete                    // a complete object
)

// objectScan finds the end of a JSON object in text that arrives in pieces. It counts braces outside strings;
// Kind.Read decides whether the object is valid.
type objectScan struct {
	depth           int
	quoted, escaped bool
}

// read scans up to limit bytes of text and returns how many belong to the object.
func (s *objectScan) read(text safetext.Text, limit int) (n int, state jsonState) {
	for i := range len(text) {
		if i == limit {
			return i, jsonTooLong
		}
		c := text[i]
		switch {
		case s.depth == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
		case s.depth == 0 && c != '{':
			return i, jsonAbsent
		case s.quoted && c < ' ':
			return i, jsonInvalid // JSON strings cannot contain control characters
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
				return i + 1, jsonComplete
			}
		}
	}
	return len(text), jsonIncomplete
}
