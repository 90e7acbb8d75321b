package openai

import (
	"bytes"
	"errors"
)

// maxEvent bounds one event of an answer, so that a hostile endpoint cannot
// make the program keep more.
const maxEvent = 32 << 20

var errEventTooLong = errors.New("an event of the answer is longer than 32 MiB")

// frame is one event of a body: an SSE event, or one value of a JSON body.
type frame struct {
	event string // the SSE event name; "" when there was none
	data  []byte // valid until the next frame
}

// framing tells how a body is cut into frames.
type framing uint8

const (
	unknownFraming framing = iota // nothing but white space came so far
	sseFraming
	jsonFraming // one JSON value after the other: a whole completion, or NDJSON
	htmlFraming
)

// frames cuts a body into frames, whatever the pieces it arrives in. The zero
// value is ready to use and finds out the framing by itself.
type frames struct {
	framing framing
	bom     int // bytes of the byte order mark seen; -1: none can come any more

	line   []byte // SSE: a line that is not complete
	event  []byte // SSE: the name of the event that is being read
	data   []byte // SSE: its data lines, each with its new line
	skipLF bool   // SSE: the last line ended with CR
	blank  int    // SSE: events whose data is empty
	odd    int    // SSE: lines with an unknown field

	value jsonValue // JSON: the value that is being read
}

var byteOrderMark = []byte{0xef, 0xbb, 0xbf}

// write takes the next piece and calls yield with each frame that is complete.
// It stops when yield returns false.
func (f *frames) write(b []byte, yield func(frame) bool) error {
	b = f.start(b)
	switch f.framing {
	case sseFraming:
		return f.sse(b, yield)
	case jsonFraming:
		return f.json(b, yield)
	case htmlFraming:
		f.line = append(f.line, b[:min(len(b), maxPage-len(f.line))]...)
		if len(f.line) == maxPage {
			return errPage
		}
	default:
	}
	return nil
}

// maxPage is how much of a web page is read to find its title.
const maxPage = 16 << 10

// errPage says that a web page was found where an answer was expected.
var errPage = errors.New("a web page")

// end takes the end of the body: an event that lacks only its last new lines
// is still one.
func (f *frames) end(yield func(frame) bool) {
	if f.framing != sseFraming {
		return
	}
	if len(f.line) > 0 {
		f.field(f.line)
	}
	f.dispatch(yield)
}

// start skips the byte order mark and finds out the framing.
func (f *frames) start(b []byte) []byte {
	for len(b) > 0 && f.bom >= 0 {
		if f.bom == len(byteOrderMark) || b[0] != byteOrderMark[f.bom] {
			f.bom = -1
			break
		}
		f.bom++
		b = b[1:]
	}
	if f.framing != unknownFraming {
		return b
	}
	rest := bytes.TrimLeft(b, " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	switch rest[0] {
	case '{', '[':
		f.framing = jsonFraming
	case '<':
		f.framing = htmlFraming
	default:
		f.framing = sseFraming
	}
	return rest
}

// sse cuts lines that end with LF, CRLF or CR.
func (f *frames) sse(b []byte, yield func(frame) bool) error {
	lf := -2 // place of the next LF in b; -1: there is none; below -1: not looked for
	for i := 0; i < len(b); {
		if f.skipLF {
			f.skipLF = false
			if b[i] == '\n' {
				i++
				continue
			}
		}
		if lf < i && lf != -1 {
			if lf = bytes.IndexByte(b[i:], '\n'); lf >= 0 {
				lf += i
			}
		}
		end := lf
		if end < 0 {
			end = len(b)
		}
		if cr := bytes.IndexByte(b[i:end], '\r'); cr >= 0 {
			end = i + cr
			f.skipLF = true
		}
		if end == len(b) {
			return f.keep(b[i:])
		}
		if err := f.completeLine(b[i:end], yield); err != nil {
			return err
		}
		i = end + 1
	}
	return nil
}

// errStop ends the reading of a piece because yield wants no more.
var errStop = errors.New("stopped")

// maxName bounds what is kept of a line that is no data: the name of an event,
// a comment, an unknown field.
const maxName = 1 << 10

// keep adds tail to the line that is not complete yet.
func (f *frames) keep(tail []byte) error {
	if len(f.line) >= maxName && !bytes.HasPrefix(f.line, []byte("data")) {
		return nil
	}
	if len(f.line)+len(f.data)+len(tail) > maxEvent {
		return errEventTooLong
	}
	if need := len(f.line) + len(tail); need > cap(f.line) {
		f.line = append(make([]byte, 0, 2*need), f.line...) // doubling copies each byte once or twice
	}
	f.line = append(f.line, tail...)
	return nil
}

func (f *frames) completeLine(line []byte, yield func(frame) bool) error {
	if len(f.line) > 0 {
		if err := f.keep(line); err != nil {
			return err
		}
		line = f.line
		defer func() { f.line = release(f.line) }()
	}
	if len(line) == 0 {
		if !f.dispatch(yield) {
			return errStop
		}
		return nil
	}
	if len(f.data)+len(line) > maxEvent {
		return errEventTooLong
	}
	f.field(line)
	return nil
}

// field takes one line of an event. Comments, "id" and "retry" say nothing; a
// field that SSE does not know is what is left of a damaged line.
func (f *frames) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		f.event = append(f.event[:0], value[:min(len(value), maxName)]...)
	case "data":
		if len(f.data) == 0 && len(value) > keptBuffer && len(f.line) > 0 {
			f.data, f.line = append(value, '\n'), nil // a giant line is not copied
			return
		}
		f.data = append(append(f.data, value...), '\n')
	case "id", "retry":
	case "":
		if bytes.ContainsAny(value, `"{}`) { // no comment: the end of a line that was data
			f.odd++
		}
	default:
		f.odd++
	}
}

// dispatch hands over the event that is complete. One without data is none.
func (f *frames) dispatch(yield func(frame) bool) bool {
	more := true
	if data := bytes.TrimSpace(f.data); len(data) > 0 {
		more = yield(frame{event: eventName(f.event), data: data})
	} else if len(f.data) > 0 {
		f.blank++
	}
	f.event, f.data = f.event[:0], release(f.data)
	return more
}

// eventName avoids a copy for the names that nearly every event has.
func eventName(b []byte) string {
	switch string(b) {
	case "":
		return ""
	case "error":
		return "error"
	case "message":
		return "message"
	}
	return string(b)
}

// keptBuffer is how much room of a buffer outlives its event: enough for any
// token, little enough that one giant event does not stay in memory.
const keptBuffer = 64 << 10

// release empties a buffer, and lets go of one that has become large.
func release(b []byte) []byte {
	if cap(b) > keptBuffer {
		return nil
	}
	return b[:0]
}

// jsonValue finds where one JSON object or array ends, byte by byte. It looks
// at brackets and strings only; whether the value is valid is for its reader.
type jsonValue struct {
	text    []byte
	depth   int
	inside  bool // a string
	escaped bool // by the backslash before
}

// json cuts a body of JSON values that stand one after the other.
func (f *frames) json(b []byte, yield func(frame) bool) error {
	v := &f.value
	from := 0 // of the value in b
	for i, c := range b {
		switch {
		case v.step(c):
			if len(v.text)+i+1-from > maxEvent {
				return errEventTooLong
			}
			v.text = append(v.text, b[from:i+1]...)
			more := yield(frame{data: v.text})
			*v = jsonValue{text: release(v.text)}
			if from = i + 1; !more {
				return errStop
			}
		case v.depth == 0: // between two values
			from = i + 1
		}
	}
	if len(v.text)+len(b)-from > maxEvent {
		return errEventTooLong
	}
	v.text = append(v.text, b[from:]...)
	return nil
}

// step takes one byte and reports whether it closes the value.
func (v *jsonValue) step(c byte) bool {
	switch {
	case v.escaped:
		v.escaped = false
	case v.inside:
		v.escaped = c == '\\'
		v.inside = c != '"'
	case c == '"':
		v.inside = v.depth > 0
	case c == '{' || c == '[':
		v.depth++
	case (c == '}' || c == ']') && v.depth > 0:
		v.depth--
		return v.depth == 0
	}
	return false
}
