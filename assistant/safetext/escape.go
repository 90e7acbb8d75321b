package safetext

// The controls that shape a sequence.
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

// A sequence may swallow this many characters. Longer than any that a terminal
// sends or obeys, short enough that an unterminated one cannot hide an answer.
const (
	maxCSI    = 128
	maxString = 4096
)

// introduces reports the C1 controls that begin a sequence with a body.
func introduces(r rune) bool {
	return r == c1DCS || r == c1SOS || r == c1CSI || r == c1OSC || r == c1PM || r == c1APC
}

type escapeState uint8

const (
	inText   escapeState = iota
	afterEsc             // ESC was seen
	inEsc                // ESC and intermediates
	inCSI
	inOSC    // ends at BEL, ST or a line break
	inString // SOS, PM, APC: end at ST or a line break
	inDCS    // ends at ST only: sixel bodies hold line breaks
	stringEsc
)

// escapeParser recognises escape sequences rune by rune and keeps none of them.
type escapeParser struct {
	state     escapeState
	swallowed int
}

func (p *escapeParser) enter(s escapeState) { p.state, p.swallowed = s, 0 }

// opens maps an introducer, as C1 control or as the byte after ESC plus 0x40,
// to the state it leads to.
func opens(r rune) escapeState {
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

// swallow reports whether r belongs to a sequence. A rune that ends a sequence
// by not belonging to it is text again and judged anew.
func (p *escapeParser) swallow(r rune) bool {
	if r == esc && p.state < inOSC || introduces(r) {
		if r == esc {
			p.enter(afterEsc)
		} else {
			p.enter(opens(r))
		}
		return true
	}
	if p.state == inText {
		return false
	}
	switch p.state {
	case afterEsc:
		return p.first(r)
	case inEsc:
		return p.body(r, 0x20, 0x2f, 0x30, maxCSI)
	case inCSI:
		return p.body(r, 0x20, 0x3f, 0x40, maxCSI)
	case stringEsc:
		if r == '\\' {
			p.enter(inText)
			return true
		}
		p.enter(afterEsc)
		return p.swallow(r)
	default:
		return p.str(r)
	}
}

// first takes the rune after ESC.
func (p *escapeParser) first(r rune) bool {
	switch {
	case r >= 0x40 && r <= 0x5f && opens(r+0x40) != inText:
		p.enter(opens(r + 0x40))
	case r >= 0x20 && r <= 0x2f:
		p.enter(inEsc)
	case r >= 0x30 && r <= 0x7e:
		p.enter(inText)
	default:
		p.enter(inText)
		return false
	}
	return true
}

// body takes a rune of a sequence whose parameters lie in lo…hi and whose final
// is from final to 0x7e.
func (p *escapeParser) body(r, lo, hi, final rune, limit int) bool {
	switch {
	case r >= lo && r <= hi && p.swallowed < limit:
		p.swallowed++
	case r >= final && r <= 0x7e:
		p.enter(inText)
	default:
		p.enter(inText)
		return false
	}
	return true
}

// str takes a rune of a control string.
func (p *escapeParser) str(r rune) bool {
	p.swallowed++
	switch {
	case r == c1ST || r == can || r == sub || r == bel && p.state == inOSC:
		p.enter(inText)
	case r == esc:
		p.state = stringEsc
	case p.swallowed > maxString || p.state != inDCS && (r == '\n' || r == '\r'):
		p.enter(inText)
		return false
	}
	return true
}
