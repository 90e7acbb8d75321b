package safetext

import "strings"

// The controls that start or end a sequence.
const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b

	c1DCS = 0x90
	c1SOS = 0x98
	c1CSI = 0x9b
	c1ST  = 0x9c
	c1OSC = 0x9d
	c1PM  = 0x9e
	c1APC = 0x9f
)

// The maximum number of characters of a sequence that are dropped: more than any terminal interprets, but few enough
// that an unterminated sequence cannot hide an answer.
const (
	maxCSI    = 128
	maxString = 4096
)

type escapeState uint8

const (
	inText   escapeState = iota
	afterEsc             // after ESC
	inEsc                // after ESC and intermediates
	inCSI
	inOSC     // ends at BEL, ST, CAN, SUB or a line break
	inString  // SOS, PM, APC: ends at ST, CAN, SUB or a line break
	inDCS     // ends at ST, CAN or SUB, but not at a line break, which sixel data contains
	stringEsc // after ESC in a control string
)

// stateAfter returns the state after a C1 control that starts a sequence with a body, or inText for any other rune.
func stateAfter(r rune) escapeState {
	switch r {
	case c1CSI:
		return inCSI
	case c1OSC:
		return inOSC
	case c1DCS:
		return inDCS
	case c1SOS, c1PM, c1APC:
		return inString
	}
	return inText
}

// escapeParser recognises escape sequences, one rune at a time.
type escapeParser struct {
	state  escapeState
	length int // number of runes of the current sequence
}

// consume reports whether r belongs to a sequence. A rune that interrupts a sequence is text.
func (p *escapeParser) consume(r rune) bool {
	state := p.state
	switch {
	case stateAfter(r) != inText:
		return p.enter(stateAfter(r))
	case r == esc && state < inOSC:
		return p.enter(afterEsc)
	case state == inText:
		return false
	}
	p.length++
	switch state {
	case afterEsc:
		switch {
		case r >= 0x40 && r <= 0x5f && stateAfter(r+0x40) != inText: // ESC [ is CSI
			return p.enter(stateAfter(r + 0x40))
		case r >= 0x20 && r <= 0x2f:
			return p.enter(inEsc)
		}
		return p.end(r >= 0x30 && r <= 0x7e)
	case inEsc:
		return r >= 0x20 && r <= 0x2f && p.length <= maxCSI || p.end(r >= 0x30 && r <= 0x7e)
	case inCSI:
		return r >= 0x20 && r <= 0x3f && p.length <= maxCSI || p.end(r >= 0x40 && r <= 0x7e)
	case stringEsc:
		if r == '\\' {
			return p.end(true)
		}
		p.enter(afterEsc)
		return p.consume(r)
	default:
		return p.controlString(r)
	}
}

// controlString handles a rune within a control string.
func (p *escapeParser) controlString(r rune) bool {
	switch {
	case r == c1ST || r == can || r == sub || r == bel && p.state == inOSC:
		return p.end(true)
	case r == esc:
		p.state = stringEsc
	case p.length > maxString, p.state != inDCS && strings.ContainsRune("\r\n", r):
		return p.end(false)
	}
	return true
}

// enter starts a sequence, or its next part, with a rune that belongs to it.
func (p *escapeParser) enter(s escapeState) bool {
	*p = escapeParser{state: s}
	return true
}

// end ends the sequence; belongs reports whether its last rune is part of it.
func (p *escapeParser) end(belongs bool) bool {
	*p = escapeParser{}
	return belongs
}
